"""The names of the papers' tables: a method plus options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .algorithms import algorithms
from .errors import unknown


@dataclass(frozen=True)
class Preset:
    """A row of a published table."""

    name: str
    key: str
    options: dict[str, Any] = field(default_factory=dict)


def _presets() -> tuple[Preset, ...]:
    ncw = {"weighting": "ncw"}
    # The normalised cut is equivalent to weighted kernel k-means; k-means on the scaled documents stays 7 points below LCCF table 4.
    exact = {"weighting": "ncw_exact"}
    linear = [
        Preset("KM", "kmeans"), Preset("KM-NCW", "kmeans", exact),
        Preset("AA", "spectral"), Preset("NC", "spectral", ncw), Preset("LSI", "lsi"),
        Preset("NMF", "nmf"), Preset("NMF-NCW", "nmf", ncw), Preset("GNMF", "gnmf"), Preset("SparseNMF", "sparse_nmf"),
        Preset("CF", "cf"), Preset("CF-NCW", "cf", ncw), Preset("LCCF", "lccf"), Preset("LCCF-NCW", "lccf", ncw), Preset("LCF", "lcf"),
        Preset("AA-HHt", "hht"), Preset("NC-HHt", "hht", ncw), Preset("AA-PSPt", "pspt"), Preset("NC-PSPt", "pspt", ncw),
        Preset("CCF", "ccf"), Preset("SemiLCCF", "semi_lccf"), Preset("CNPCF", "cnpcf"), Preset("GDCF", "gdcf"), Preset("RCF", "rcf"),
    ]  # fmt: skip
    kernelised = {"KM", "AA", "NC", "CF", "LCCF"}  # LCCF tables 4 to 7, lower halves
    poly2 = [Preset(f"{p.name} poly2", p.key, p.options | {"kernel": "poly2"}) for p in linear if p.name.removesuffix("-NCW") in kernelised]
    return (*linear, *poly2)


PRESETS: dict[str, Preset] = {p.name: p for p in _presets()}
_by_name = {name.lower(): p for name, p in PRESETS.items()}


def resolve(name: str) -> Preset:
    """A key or a preset's name, in any case, as a preset."""
    wanted = str(name).strip().lower()
    if wanted in algorithms():
        return Preset(algorithms()[wanted].title, wanted)
    if wanted in _by_name:
        return _by_name[wanted]
    raise unknown("method", name, [*algorithms(), *PRESETS])
