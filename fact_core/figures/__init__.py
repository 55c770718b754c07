"""Figures as pure functions: results or rows in, a plotly Figure out. They draw; they never compute and never touch a page."""

from .clusters import class_sizes, cluster_sizes, confusion
from .compare import agreement, curves
from .concepts import concept_terms
from .constraints import constraint_effect, link_matrix
from .convergence import convergence
from .coordinates import Colouring, Points, affinity, coordinates
from .selection import consensus_matrix, correlation_bars, criterion_curves, setting_map
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
    "consensus_matrix",
    "constraint_effect",
    "convergence",
    "coordinates",
    "correlation_bars",
    "criterion_curves",
    "curves",
    "heat_map",
    "link_matrix",
    "scores_against_k",
    "sensitivity",
    "setting_map",
]
