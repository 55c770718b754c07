"""Finished runs, kept on disk."""

from .corpora import read_corpus, save_corpus
from .store import Claim, Kept, Store, home

__all__ = ["Claim", "Kept", "Store", "home", "read_corpus", "save_corpus"]
