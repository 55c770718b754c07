"""Processes that factorise for a server, so that the server never does."""

from .crew import Crew, Stopped

__all__ = ["Crew", "Stopped"]
