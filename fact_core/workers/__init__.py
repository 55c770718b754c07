"""Processes that factorise for a server, so that the server never does."""

from .crew import Crew

__all__ = ["Crew"]
