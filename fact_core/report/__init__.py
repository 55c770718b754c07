"""Figures and tables for reports: what each is made of as plain data, the files they become, and archives that can be made again."""
