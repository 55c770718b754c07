"""Processes that factorise for a server, so that the server never does."""

from .crew import Crew
from .errands import Complete, Edges, Errand, Fit, Follow, Look, Play, Print, Stopped

__all__ = ["Complete", "Crew", "Edges", "Errand", "Fit", "Follow", "Look", "Play", "Print", "Stopped"]
