"""Figures as pure functions: results or rows in, a plotly Figure out. They draw; they never compute and never touch a page."""

from .clusters import class_sizes, cluster_sizes, confusion
from .compare import agreement, curves
from .concepts import concept_terms
from .constraints import constraint_effect, link_matrix
from .convergence import convergence
from .coordinates import Colouring, Points, affinity, coordinates
from .study import heat_map, scores_against_k, sensitivity

__all__ = [
    "Colouring",
    "Points",
    "affinity",
    "agreement",
    "class_sizes",
    "cluster_sizes",
    "concept_terms",
    "confusion",
    "constraint_effect",
    "convergence",
    "coordinates",
    "curves",
    "heat_map",
    "link_matrix",
    "scores_against_k",
    "sensitivity",
]
