"""Figures as pure functions: results or rows in, a plotly Figure out. They draw; they never compute and never touch a page."""

from .bases import Bases, bases_over_points, basis_images
from .clusters import class_purity, class_sizes, cluster_sizes, confusion
from .compare import agreement, curves, curves_apart
from .concepts import concept_terms
from .constraints import constraint_effect, link_matrix
from .convergence import convergence
from .coordinates import Colouring, Points, affinity, affinity_and_coordinates, coordinates
from .selection import consensus_matrix, correlation_bars, criterion_curves, setting_map
from .study import heat_map, scores_against_k, sensitivity

__all__ = [
    "Bases",
    "Colouring",
    "Points",
    "affinity",
    "affinity_and_coordinates",
    "agreement",
    "bases_over_points",
    "basis_images",
    "class_purity",
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
    "curves_apart",
    "heat_map",
    "link_matrix",
    "scores_against_k",
    "sensitivity",
    "setting_map",
]
