"""FactScope's library: document collections factorised into concepts."""

from .corpus import Corpus, from_matrix, load_corpus
from .errors import FactScopeError
from .fit import fit
from .result import Result

__version__ = "0.1.0"
__all__ = ["Corpus", "FactScopeError", "Result", "fit", "from_matrix", "load_corpus"]
