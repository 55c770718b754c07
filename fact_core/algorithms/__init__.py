"""The methods, one file each."""

from .base import Algorithm, Family, Needs, algorithm, algorithms, configured, find

__all__ = ["Algorithm", "Family", "Needs", "algorithm", "algorithms", "configured", "find"]
