"""Tables and lines of text, and the encodings they come in."""

from __future__ import annotations

import csv
import gzip
import io
import json

import numpy as np
import pytest
from corpus_files import LABELS, TEXTS, counts_of, reasons, refused

from fact_core.corpus import load_corpus, read_upload
from fact_core.corpus.decoding import decode


def csv_bytes(rows, delimiter=",", encoding="utf-8", **how) -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, **how).writerows(rows)
    return out.getvalue().encode(encoding)


def table(header=("label", "text"), rows=None):
    return [list(header), *([label, text] for label, text in (rows or zip(LABELS, TEXTS, strict=True)))]


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".csv", ";"), (".csv", "\t"), (".csv", "|"), (".tsv", "\t")])
@pytest.mark.parametrize("packed", [False, True])
def test_csv_round_trip(tmp_path, suffix, delimiter, packed):
    data = csv_bytes(table(), delimiter)
    path = tmp_path / f"animals{suffix}{'.gz' * packed}"
    path.write_bytes(gzip.compress(data) if packed else data)
    corpus = load_corpus(path)
    assert corpus.name == "animals"
    assert list(corpus.documents) == TEXTS
    assert [corpus.label_names[i] for i in corpus.labels] == LABELS
    assert corpus.fingerprint == read_upload(path.name, path.read_bytes()).fingerprint


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".json"])
def test_json_lines_round_trip(suffix):
    rows = [{"text": t, "label": g, "n": 3, "more": {"a": 1}} for g, t in zip(LABELS, TEXTS, strict=True)]
    data = "\n".join(json.dumps(r) for r in rows).encode()
    corpus = read_upload(f"animals{suffix}", data)
    assert list(corpus.documents) == TEXTS
    assert corpus.label_names == ("money", "pets")
    assert corpus.fingerprint == read_upload(f"x{suffix}.gz", gzip.compress(data)).fingerprint
    for whole in (rows, {"version": 1, "data": rows}):
        assert corpus.fingerprint == read_upload("x.json", json.dumps(whole, indent=2).encode()).fingerprint


def test_json_of_strings_lists_and_odd_values():
    assert len(read_upload("x.jsonl", "\n".join(json.dumps(t) for t in TEXTS).encode())) == 6
    rows = [{"text": [t, "and more"], "topics": [g], "flag": True, "none": None} for g, t in zip(LABELS, TEXTS, strict=True)]
    corpus = read_upload("x.jsonl", "\n".join(json.dumps(r) for r in rows).encode())
    assert corpus.label_names == ("money", "pets")
    assert "more" not in corpus.documents[0].split()[0]
    lines = [json.dumps({"text": t}) for t in TEXTS]
    corpus = read_upload("x.jsonl", "\n".join([*lines[:3], "{broken", "17", *lines[3:]]).encode())
    assert len(corpus) == 6
    assert reasons(corpus)["not JSON (the first is line 4)"] == 1
    assert reasons(corpus)["neither object nor text"] == 1


def test_lines_round_trip(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("\n\n".join(TEXTS) + "\n", encoding="utf-8")
    corpus = load_corpus(path)
    assert list(corpus.documents) == TEXTS
    assert corpus.labels is None
    assert reasons(corpus) == {"blank": 5}
    assert len(read_upload("notes.txt.gz", gzip.compress("\r\n".join(TEXTS).encode()))) == 6
    # A line ends where files end lines, not at every character Unicode calls a separator.
    assert len(read_upload("notes.txt", "red\u2028apple pie\nblue\x0bocean wave".encode())) == 2


@pytest.mark.parametrize("names", [("category", "body"), ("Topic", "Abstract"), ("CLASS", " Text "), ("target", "tweet")])
def test_columns_are_known_by_name(names):
    corpus = read_upload("t.csv", csv_bytes(table(names)))
    assert list(corpus.documents) == TEXTS
    assert corpus.label_names == ("money", "pets")


def test_columns_are_found_by_what_they_hold():
    rows = [
        [str(i), "de" if i % 2 else "en", f"a longer sentence about {word} number {word}"]
        for i, word in enumerate(["apple", "river", "stone"] * 8)
    ]
    corpus = read_upload("t.csv", csv_bytes([["nr", "lang", "stuff"], *rows]))
    assert corpus.documents[0].startswith("a longer")
    assert corpus.label_names == ("de", "en")
    several = [[*r[:2], "x" if i % 3 else "y", r[2]] for i, r in enumerate(rows)]
    assert read_upload("t.csv", csv_bytes([["nr", "lang", "letter", "stuff"], *several])).labels is None
    measured = [[f"{i % 3}.5", r[2]] for i, r in enumerate(rows)]
    assert read_upload("t.csv", csv_bytes([["score", "stuff"], *measured])).labels is None


def test_columns_can_be_named():
    rows = [["text", "summary", "who"], *([f"{t} indeed", t, "ab"[i % 2]] for i, t in enumerate(TEXTS))]
    data = csv_bytes(rows)
    assert read_upload("t.csv", data).documents[0] == TEXTS[0] + " indeed"
    corpus = read_upload("t.csv", data, text_column="Summary", label_column="who")
    assert list(corpus.documents) == TEXTS
    assert corpus.label_names == ("a", "b")
    with refused("column in t.csv", "summary"):
        read_upload("t.csv", data, text_column="summery")
    with refused("column in t.csv"):
        read_upload("t.csv", data, label_column="nothing like it")


def test_tables_without_a_header():
    rows = [
        [str(i % 3 + 1), f"Headline {chr(97 + i) * 3}", f"{w} story told at some length about {w} and others"]
        for i, w in enumerate(["cat", "dog", "cow", "hen"] * 6)
    ]
    corpus = read_upload("news.csv", csv_bytes(rows, quoting=csv.QUOTE_ALL))
    assert len(corpus) == 24
    assert corpus.label_names == ("1", "2", "3")
    assert corpus.documents[0] == rows[0][2]
    assert len(read_upload("news.csv", csv_bytes(table()[1:]))) == 6  # "pets" comes again below, so it is no name
    assert read_upload("news.csv", csv_bytes(rows), text_column="column 2").titles[0].startswith("Headline")


def test_titles_are_kept():
    rows = [["id", "title", "text"], *([i, f"T{i}", t] for i, t in enumerate(TEXTS))]
    corpus = read_upload("t.csv", csv_bytes(rows))
    assert corpus.titles[2] == "T2"
    assert corpus.labels is None


def test_labels_that_are_all_different_are_no_classes():
    assert read_upload("t.csv", csv_bytes(table(rows=[(f"l{i}", t) for i, t in enumerate(TEXTS)]))).labels is None


def test_rows_without_a_class_are_left_out_and_told():
    corpus = read_upload("t.csv", csv_bytes([*table(), ["", "a text without class"]]))
    assert len(corpus) == 6
    assert reasons(corpus) == {"no class in the column label": 1}


def test_texts_with_line_breaks_quotes_and_great_length():
    texts = ['He said "no", then\nleft; twice', "word " * 60_000, *TEXTS]
    corpus = read_upload("t.csv", csv_bytes([["text"], *([t] for t in texts)]))
    assert list(corpus.documents) == [t for t in texts]
    assert len(read_upload("t.csv", csv_bytes([["text"], *([t] for t in texts)], lineterminator="\r"))) == 8


def test_a_quotation_mark_nobody_closes():
    lines = ["label\ttext", *(f"{g}\t{t}" for g, t in zip(LABELS, TEXTS, strict=True))]
    lines[2] = 'pets\t"A cat and a dog'
    corpus = read_upload("t.tsv", "\n".join(lines).encode())
    assert len(corpus) == 6
    assert corpus.documents[1] == '"A cat and a dog'


def test_lines_of_another_width_are_left_out_and_told():
    corpus = read_upload("t.csv", csv_bytes([*table(), ["pets", "too", "many"], ["few"]]))
    assert len(corpus) == 6
    assert reasons(corpus) == {"not the 2 fields the others have": 2}
    with refused("quotation marks"):
        read_upload("t.csv", ("label,text\n" + "\n".join(f"{g},{t}, and more, still" for g, t in zip(LABELS, TEXTS, strict=True))).encode())


def test_prose_with_commas_is_one_column():
    texts = [f"{t}, as they say, {'well, ' * i}friends" for i, t in enumerate(TEXTS)]
    corpus = read_upload("t.csv", "\n".join(texts).encode())
    assert list(corpus.documents) == texts


ENCODINGS = [
    ("Le café était très agréable, l'été à la plage où nous avons mangé des gâteaux sucrés", "cp1252"),
    ("Die schöne Straße führt über die Brücke, größere Häuser stehen daneben", "latin-1"),
    ("Съешь же ещё этих мягких французских булок, да выпей чаю вместе с нами", "cp1251"),
    ("Съешь же ещё этих мягких французских булок, да выпей чаю вместе с нами", "koi8-r"),
    ("Zażółć gęślą jaźń, proszę państwa, to jest zdanie w języku polskim", "cp1250"),
    ("これは日本語の文章です。文字コードの検出を確認するために書かれています。", "shift_jis"),
    ("A plain page of English with one résumé and “quotes” as Word writes them – that’s it", "cp1252"),
]


@pytest.mark.parametrize(("text", "encoding"), ENCODINGS)
def test_encodings_are_detected(text, encoding):
    for name in (encoding, "utf-8", "utf-8-sig", "utf-16", "utf-32"):
        page = "\n".join([text] * 4)
        assert decode("page.txt", page.encode(name)) == page
    assert decode("page.txt", f"{TEXTS[0]} é".encode("utf-16-le")) == f"{TEXTS[0]} é"


def test_encodings_reach_the_corpus():
    texts = ["été à Paris", "hiver à Nîmes", "forêt près de Nice"]
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        data = csv_bytes([["texte", "text"], *(["x", t] for t in texts)], encoding=encoding)
        assert "été" in read_upload("t.csv", data).terms


def test_a_few_damaged_bytes_do_not_change_the_encoding():
    page = "Été à la plage, forêt, hiver. " * 100
    assert decode("page.txt", page.encode()[:-1] + b"\xff").startswith(page[:-2])


def test_text_options_reach_the_counts():
    data = csv_bytes(table())
    plain = read_upload("t.csv", data)
    assert "cats" in plain.terms
    stemmed = read_upload("t.csv", data, stem="porter", stop_words="none", min_df=2, weighting="tf")
    assert "cats" not in stemmed.terms
    assert "the" in stemmed.terms
    np.testing.assert_allclose(np.linalg.norm(stemmed.matrix.toarray(), axis=1), 1)
    assert counts_of(stemmed).max() > 1


def test_what_cannot_be_read():
    for name in ("t.csv", "t.tsv", "t.txt", "t.jsonl", "t.json"):
        with refused("is empty"):
            read_upload(name, b"")
        with refused("empty" if "json" not in name else "no JSON objects"):
            read_upload(name, b" \n\n ")
        with refused("not text"):
            read_upload(name, np.random.default_rng(0).bytes(5000))
        with refused("PDF"):
            read_upload(name, b"%PDF-1.7 and so on")
        with refused("ZIP archive or office document"):
            read_upload(name, b"PK\x03\x04 a spreadsheet")
        with refused("image"):
            read_upload(name, b"\x89PNG\r\n\x1a\n" + bytes(range(200)))
    with refused("cut short"):
        read_upload("t.csv.gz", gzip.compress(csv_bytes(table()))[:-20])
    with refused("no column of texts", "“b”"):
        read_upload("t.csv", csv_bytes([["a", "b"], ["1", "2"], ["3", "4"]]))
    with refused("no column of texts"):
        read_upload("t.jsonl", b'{"a": 1}\n{"a": 2}')
    with refused("header but no documents"):
        read_upload("t.csv", b"label,text\n")
    with refused("one document"):
        read_upload("t.csv", b"label,text\npets,the only cat\n")
    with refused("one line"):
        read_upload("t.txt", b"all in one line\n")
    with refused("same terms"):
        read_upload("t.csv", csv_bytes([["text"], *[["cats and dogs"]] * 5]))
    with refused("no document has a word"):
        read_upload("t.csv", csv_bytes([["text"], ["1 2"], ["3 4"], ["..."]]), text_column="text")
    with refused("all its values are empty"):
        read_upload("t.csv", csv_bytes([["text", "label"], *([t, " "] for t in TEXTS)]), label_column="label")
    with refused("line 1"):
        read_upload("t.jsonl", "\n".join(TEXTS).encode())
    with refused("not JSON"):
        read_upload("t.json", b"[" * 100_000)
    with refused("option matrix", "table"):
        read_upload("t.csv", csv_bytes(table()), matrix="X")
    with refused("option text_column"):
        read_upload("t.txt", b"one text\nanother text here\n", text_column="text")


def test_a_little_damage_is_not_the_end():
    lines = "\n".join(TEXTS).encode()
    for stray in (b"\0", b"\x81", b"\xff", b"\xc3"):
        assert len(read_upload("t.txt", lines[:30] + stray + lines[30:])) == 6
    assert decode("late.txt", b"plain words " * 50_000 + b"\xe9t\xe9") == "plain words " * 50_000 + "été"
