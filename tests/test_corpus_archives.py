"""ZIP archives, folders and several files at once."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest
from corpus_files import LABELS, TEXTS, image, reasons, refused, zipped

from fact_core.corpus import TermWeighting, formats, load_corpus, read_upload, read_uploads


def by_class(top: str = "") -> dict[str, bytes | str]:
    return {f"{top}{label}/{i}.txt": text for i, (label, text) in enumerate(zip(LABELS, TEXTS, strict=True))}


def unpack(files, folder) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())


@pytest.mark.parametrize("top", ["", "corpus/", "a/b/"])
def test_one_folder_a_class(tmp_path, top):
    files = by_class(top)
    corpus = read_upload("animals.zip", zipped(files))
    assert corpus.name == "animals"
    assert len(corpus) == 6
    assert corpus.label_names == ("money", "pets")
    assert sorted(corpus.documents) == sorted(TEXTS)
    for title, document, label in zip(corpus.titles, corpus.documents, corpus.labels, strict=True):
        assert files[title] == document
        assert corpus.label_names[label] in title
    unpack(files, tmp_path / "animals")
    again = load_corpus(tmp_path / "animals")
    assert again.fingerprint == corpus.fingerprint
    assert again.name == "animals"


def test_flat_files_have_no_classes(tmp_path):
    files = {f"{i}": text for i, text in enumerate(TEXTS)}  # as 20 Newsgroups: names without suffix
    assert read_upload("x.zip", zipped(files)).labels is None
    assert read_upload("x.zip", zipped({f"all/{k}": v for k, v in files.items()})).labels is None
    unpack(files, tmp_path)
    assert len(load_corpus(str(tmp_path))) == 6


def test_splits_of_the_same_classes_are_joined():
    files = {f"{'train' if i % 2 else 'test'}/{g}/{i}": t for i, (g, t) in enumerate(zip(LABELS, TEXTS, strict=True))}
    assert read_upload("x.zip", zipped(files)).label_names == ("money", "pets")


def test_what_is_left_out_is_told():
    extra = {
        "__MACOSX/pets/._0.txt": b"\0\1",
        "pets/.DS_Store": b"\0",
        "pets/more.zip": zipped({"a": "b"}),
        "pets/empty.txt": "",
        "README.md": "about these files",
        "pets/noise.bin": np.random.default_rng(0).bytes(2000),
    }
    corpus = read_upload("x.zip", zipped({**by_class(), **extra}))
    assert len(corpus) == 6
    assert reasons(corpus) == {
        "hidden": 2,
        "an archive inside the archive": 1,
        "empty": 1,
        "beside the folders of the classes": 1,
        "not text": 1,
    }


def test_texts_in_an_archive_may_differ_in_encoding():
    files = {"a/1.txt": "forêt et été".encode("cp1252"), "a/2.txt": "forêt et hiver".encode("utf-16"), "b/3.txt": "plage et été".encode()}
    assert {"forêt", "été"} <= set(read_upload("x.zip", zipped(files)).terms)


def test_images_become_grey_pixels(tmp_path):
    rng = np.random.default_rng(0)
    grey = rng.integers(0, 255, (4, 10, 8))
    files = {f"{'ab'[i % 2]}/{i}.png": image(p) for i, p in enumerate(grey)}
    corpus = read_upload("faces.zip", zipped({**files, "a/notes.txt": "about them", "b/broken.png": b"\x89PNG\r\n\x1a\n broken"}))
    assert corpus.image_shape == (10, 8)
    assert corpus.label_names == ("a", "b")
    assert corpus.weighting is TermWeighting.NONE
    np.testing.assert_array_equal(corpus.counts.reshape(-1, 10, 8), grey[[0, 2, 1, 3]])
    np.testing.assert_allclose(np.linalg.norm(corpus.matrix, axis=1), 1)
    assert reasons(corpus) == {"not an image": 1, "cannot be opened as an image": 1}
    colour = {"1.jpg": image(rng.integers(0, 255, (10, 8, 3)), "JPEG"), "2.png": image(rng.integers(0, 255, (12, 8)))}
    assert read_upload("x.zip", zipped(colour)).image_shape == (32, 32)  # two sizes
    large = {f"{i}.png": image(rng.integers(0, 255, (112, 92))) for i in range(2)}
    assert read_upload("x.zip", zipped(large)).image_shape == (64, 53)


def test_an_archive_of_one_table_is_that_table():
    table = "label,text\n" + "\n".join(f"{g},{t}" for g, t in zip(LABELS, TEXTS, strict=True))
    corpus = read_upload("archive.zip", zipped({"data/train.csv": table, "README.txt": "about it"}))
    assert corpus.name == "train"
    assert corpus.label_names == ("money", "pets")
    assert reasons(corpus) == {"beside train.csv": 1}
    with refused("2 tables", "a.csv", "b.csv"):
        read_upload("archive.zip", zipped({"a.csv": table, "b.csv": table}))


def test_several_uploads_are_documents():
    corpus = read_uploads([(f"{i}.txt", t.encode()) for i, t in enumerate(TEXTS)], stem="porter", name="mine")
    assert list(corpus.documents) == TEXTS
    assert corpus.titles[0] == "0.txt"
    assert corpus.name == "mine"
    pictures = [(f"{i}.png", image(np.random.default_rng(i).integers(0, 255, (6, 6)))) for i in range(3)]
    assert read_uploads(pictures).image_shape == (6, 6)
    with refused("2 tables"):
        read_uploads([("a.csv", b"text\na b\nc d\n"), ("b.csv", b"text\na b\nc d\n")])
    with refused("No file"):
        read_uploads([])


def test_nothing_is_written_and_paths_that_lead_out_are_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {"../../evil/1.txt": TEXTS[0], "/etc/2.txt": TEXTS[2], "c:\\windows\\3.txt": TEXTS[3], "4.txt": TEXTS[4]}
    corpus = read_upload("x.zip", zipped(files | {"..\\..\\5.txt": TEXTS[5]}))
    assert len(corpus) == 2
    assert reasons(corpus)["a path that leads out of the archive"] == 3
    assert not list(tmp_path.iterdir())


def test_links_are_not_followed(tmp_path):
    (tmp_path / "secret.txt").write_text("a secret word of somebody else")
    packed = io.BytesIO(zipped(by_class()))
    with zipfile.ZipFile(packed, "a") as archive:
        link = zipfile.ZipInfo("pets/link.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, str(tmp_path / "secret.txt"))
    folder = tmp_path / "animals"
    unpack(by_class(), folder)
    (folder / "pets" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "more").symlink_to(tmp_path, target_is_directory=True)
    for corpus in (read_upload("animals.zip", packed.getvalue()), load_corpus(folder)):
        assert reasons(corpus) == {"a link to another file": 1}
        assert sorted(corpus.documents) == sorted(TEXTS)


def test_only_the_decoders_of_the_listed_kinds_see_an_image():
    pictures = {f"{i}.png": image(np.random.default_rng(i).integers(0, 255, (9, 9))) for i in range(4)}
    corpus = read_upload("x.zip", zipped(pictures | {"4.png": image(np.eye(9) * 200, "PCX"), "5.gif": image(np.eye(9) * 200, "SGI")}))
    assert len(corpus) == 4
    assert reasons(corpus) == {"cannot be opened as an image": 2}


def test_bombs_are_refused(monkeypatch):
    bomb = zipped({f"{i}.txt": b"a " * 4_000_000 for i in range(3)})
    with refused("200 times"):
        read_upload("bomb.zip", bomb)
    monkeypatch.setenv("FACTSCOPE_UNPACKED", "1MB")
    with refused("more than 1 MB"):
        read_upload("large.zip", zipped({f"{i}.txt": np.random.default_rng(i).bytes(2**19) for i in range(3)}))
    monkeypatch.setenv("FACTSCOPE_FILES", "3")
    with refused("6 files"):
        read_upload("many.zip", zipped(by_class()))
    import gzip

    monkeypatch.setenv("FACTSCOPE_UNPACKED", "1MB")
    with refused("more than 1 MB"):
        read_upload("bomb.csv.gz", gzip.compress(b"a," * 2**20))


def test_a_size_that_lies_is_found_out():
    """A member that says it is small and is not is cut off at what it said, and fails its check."""
    data = bytearray(zipped({"1.txt": "word " * 2000, "2.txt": TEXTS[0], "3.txt": TEXTS[2]}))
    central = data.index(b"PK\x01\x02")
    data[central + 24 : central + 28] = struct.pack("<I", 100)
    corpus = read_upload("x.zip", bytes(data))
    assert len(corpus) == 2
    assert reasons(corpus) == {"not text": 1}


def test_what_cannot_be_read(tmp_path):
    with refused("cannot be read as a ZIP archive"):
        read_upload("x.zip", b"this is no archive")
    with refused("cannot be read as a ZIP archive"):
        read_upload("x.zip", zipped(by_class())[:-30])
    with refused("no files"):
        read_upload("x.zip", zipped({}))
    with refused("no files"):
        load_corpus(tmp_path)
    with refused("neither texts nor images"):
        read_upload("x.zip", zipped({f"{i}.bin": np.random.default_rng(i).bytes(999) for i in range(3)}))
    with refused("no image that can be opened"):
        read_upload("x.zip", zipped({"1.png": b"no", "2.png": b"picture"}))
    with refused("one image"):
        read_upload("x.zip", zipped({"1.png": image(np.eye(5) * 200)}))
    with refused("one document"):
        read_upload("x.zip", zipped({"1.txt": TEXTS[0]}))
    with refused("are equal"):
        read_upload("x.zip", zipped({f"{i}.png": image(np.eye(5) * 200) for i in range(3)}))
    with refused("option stop_words", "images"):
        read_upload("x.zip", zipped({f"{i}.png": image(np.eye(5) * i) for i in range(3)}), stop_words="none")
    with refused("option label_column"):
        read_upload("x.zip", zipped(by_class()), label_column="label")
    locked = bytearray(zipped(by_class()))
    for place in (locked.index(b"PK\x01\x02") + 8, 6):
        locked[place] |= 1
    with refused("password"):
        read_upload("x.zip", bytes(locked))
    with refused(".csv", ".mat"):
        read_upload("x.xlsx", b"PK\x03\x04")
    with refused(".csv"):
        read_upload("nosuffix", b"some bytes")


def test_every_format_has_one_reader():
    assert {".mat", ".csv", ".tsv", ".jsonl", ".ndjson", ".zip", ".txt", ".npz", ".mtx"} <= set(formats.READERS)
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(io.BytesIO(b""))


def test_adding_a_format_is_adding_one_function(monkeypatch):
    monkeypatch.setattr(formats, "READERS", dict(formats.READERS))

    @formats.reads(".loud")
    def read_loud(name, data, options):
        return formats.read_texts(name, data.decode().lower().split("!"), options)

    assert list(read_upload("x.loud", b"RED APPLE!BLUE SEA").terms) == ["apple", "blue", "red", "sea"]


def test_an_uploaded_folder_keeps_its_classes():
    texts = {"sea": "ship wave harbour sail anchor", "star": "planet orbit comet moon telescope"}
    files = [(f"mine/{name}/{i}.txt", " ".join(words.split()[i % 3 :]).encode()) for name, words in texts.items() for i in range(6)]
    corpus = read_uploads(files)
    assert corpus.label_names == ("sea", "star")
    assert len(read_uploads([("../../" + name, data) for name, data in files])) == 12
