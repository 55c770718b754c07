"""Figures as pure functions: results or rows in, a plotly Figure out. They draw; they never compute and never touch a page."""

from .clusters import cluster_sizes, confusion
from .concepts import concept_terms
from .convergence import convergence

__all__ = ["cluster_sizes", "concept_terms", "confusion", "convergence"]
