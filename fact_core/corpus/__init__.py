"""Files, uploads, built-ins → Corpus."""

from .builtin import DEFAULT_VIEW, GAUSSIAN_MEANS
from .export import as_mat, as_npz
from .files import READABLE
from .load import CorpusInfo, Kind, available_corpora, load_corpus, read_upload, read_uploads
from .model import Corpus, Dropped, TermWeighting, from_matrix
from .text import Stemming, TextOptions, from_texts

__all__ = [
    "DEFAULT_VIEW",
    "GAUSSIAN_MEANS",
    "READABLE",
    "Corpus",
    "CorpusInfo",
    "Dropped",
    "Kind",
    "Stemming",
    "TermWeighting",
    "TextOptions",
    "as_mat",
    "as_npz",
    "available_corpora",
    "from_matrix",
    "from_texts",
    "load_corpus",
    "read_upload",
    "read_uploads",
]
