"""Texts → counts."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
from corpus_files import LABELS, TEXTS, counts_of, reasons, refused

from fact_core.corpus import TextOptions, from_texts
from fact_core.corpus.text import Stemming


def test_tokens_are_letters_of_any_script():
    tokens = TextOptions(stop_words="none").analyser()
    assert tokens("A CAT, a Dog_House; x2y 3rd 1999 don't") == ["cat", "dog", "house", "rd", "don"]
    assert tokens("Été À l’ÉCOLE Straße ΕΛΛΗΝΙΚΆ Москва") == ["été", "école", "straße", "ελληνικά", "москва"]
    assert tokens("e\u0301te\u0301") == ["été"]  # the same word, written with combining accents
    assert tokens("हिन्दी भाषा") == ["हिन्दी", "भाषा"]  # vowel signs belong to the word


def test_counts_agree_with_a_plain_count():
    corpus = from_texts(TEXTS, LABELS, options=TextOptions(stop_words=("the", "and")))
    for row, text in zip(counts_of(corpus), TEXTS, strict=True):
        plain = Counter(w for w in text.lower().split() if len(w) > 1 and w not in ("the", "and"))
        assert {t: c for t, c in zip(corpus.terms, row, strict=True) if c} == plain
    assert corpus.has_text
    assert list(corpus.documents) == TEXTS
    assert corpus.titles[0] == TEXTS[0]
    assert corpus.label_names == ("money", "pets")


def test_stop_words():
    with_all = set(from_texts(TEXTS, options=TextOptions(stop_words="none")).terms)
    english = set(from_texts(TEXTS).terms)
    own = set(from_texts(TEXTS, options=TextOptions(stop_words=["Market"])).terms)  # type: ignore[arg-type]
    assert with_all - own == {"market"}
    assert {"the", "and", "on"} <= with_all - english
    assert "market" in english
    # The English list used elsewhere loses words that are topics, and keeps halves of contractions.
    kept = set(from_texts(["the computer system doesn't fire", "interest of the bill isn't thick", "cat dog"]).terms)
    assert kept >= {"computer", "system", "fire", "interest", "bill", "thick"}
    assert not kept & {"doesn", "isn"}


@pytest.mark.parametrize(
    ("stem", "expected"), [("none", {"running", "runs", "generously"}), ("porter", {"run", "gener"}), ("snowball", {"run", "generous"})]
)
def test_stemming(stem, expected):
    corpus = from_texts(["running runs", "generously cats", "cats dogs"], options=TextOptions(stem=stem))
    assert expected <= set(corpus.terms)


def test_rare_terms_stay_in_small_corpora_only():
    words = ["alpha", "beta", "gamma", "delta"]
    small = [f"{words[i % 4]} only{'abcdefghijklmnopqrst'[i]}" for i in range(20)]
    assert len(from_texts(small).terms) == 24
    large = [f"{words[i % 4]} {words[(i + 1) % 3]} q{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(60)]
    corpus = from_texts(large)
    assert set(corpus.terms) == set(words)
    assert reasons(corpus) == {"in fewer than 2 documents (min_df)": 60}
    assert len(from_texts(large, options=TextOptions(min_df=1)).terms) == 64


def test_document_frequency_bounds():
    texts = ["aa bb ff", "aa cc", "aa bb dd", "ee aa ff"]
    assert set(from_texts(texts, options=TextOptions(min_df=2)).terms) == {"aa", "bb", "ff"}
    assert set(from_texts(texts, options=TextOptions(min_df=0.5)).terms) == {"aa", "bb", "ff"}
    corpus = from_texts(texts, options=TextOptions(max_df=0.9))
    assert "aa" not in corpus.terms
    assert reasons(corpus) == {"in more than 3.6 documents (max_df)": 1}
    assert "aa" not in from_texts(texts, options=TextOptions(max_df=3)).terms
    with refused("at least 4", "lower min_df"):
        from_texts(texts, options=TextOptions(min_df=4, max_df=3))


def test_two_documents_are_a_corpus():
    corpus = from_texts(["red apple pie", "blue ocean wave"])
    assert len(corpus) == 2
    assert len(corpus.terms) == 6
    np.testing.assert_allclose(np.linalg.norm(corpus.matrix.toarray(), axis=1), 1)


def test_a_new_text_is_read_as_the_old_ones_were():
    corpus = from_texts(TEXTS, LABELS, options=TextOptions(stem="porter"))
    np.testing.assert_array_equal(corpus.reader(TEXTS, corpus.terms).toarray(), counts_of(corpus))
    part = corpus.select(["pets"])
    np.testing.assert_array_equal(part.reader(part.documents, part.terms).toarray(), counts_of(part))
    new = part.reader(["Cats purring, unknown words", ""], part.terms)
    assert new.shape == (2, len(part.terms))
    assert dict(zip(part.terms, new.toarray()[0], strict=True))["cat"] == 1
    again = pickle.loads(pickle.dumps(corpus.reader))  # our own object, as it travels to worker processes
    assert again == corpus.reader
    assert again.stem is Stemming.PORTER


def test_empty_documents_are_left_out_and_told():
    corpus = from_texts([*TEXTS, "", "123 456", "the and of"])
    assert len(corpus) == 6
    assert reasons(corpus)["no term left that carries weight"] == 3
    assert corpus.population == 6


def test_headlines():
    corpus = from_texts(["word " * 100 + "end", "\n\n  First line\nsecond line", "other text"])
    assert corpus.titles[0].endswith("word…")
    assert len(corpus.titles[0]) <= 70
    assert corpus.titles[1] == "First line second line"


def test_half_characters_do_not_travel():
    corpus = from_texts(["broken \ud800 text", "whole sentence"])
    corpus.documents[0].encode()


def test_what_cannot_be_read_as_text():
    with refused("no documents"):
        from_texts([])
    with refused("one document"):
        from_texts(["alone here"])
    with refused("no document has a word"):
        from_texts(["", " ", "12"])
    with refused("no document has a word"):
        from_texts(["the", "and of"])
    with refused("same terms"):
        from_texts(["same words here", "same words here", "same words here"])
    with refused("one document with content"):
        from_texts(["some words", ""], weighting="tf")
    with refused("Stop words"):
        TextOptions(stop_words="klingon")
    with refused("stemming", "porter"):
        TextOptions(stem="portr")  # type: ignore[arg-type]
    for bad in (0, -1, 1.5, True, "2"):
        with refused("min_df"):
            TextOptions(min_df=bad)  # type: ignore[arg-type]
    with refused("max_df"):
        TextOptions(max_df=-0.1)
