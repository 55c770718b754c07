"""Scenes, numbers of rows and whatever else is made of them as plain data and arrays, the way they come from a worker's process."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from ..corpus.model import Corpus
from .scene import Cloud, Grid, Measure, Numbers, Panel, Scene

KNOWN = {cls.__name__: cls for cls in (Scene, Panel, Cloud, Grid, Measure, Numbers)}
Arrays = dict[str, np.ndarray]


def packed(value: Any) -> tuple[dict[str, Any], Arrays]:
    arrays: Arrays = {}

    def plain(part: Any) -> Any:
        if isinstance(part, np.ndarray) and part.dtype.kind in "biuf":
            arrays[name := str(len(arrays))] = part
            return {"array": name}
        if isinstance(part, np.ndarray | np.generic):
            return plain(part.tolist())
        if is_dataclass(part):
            return {"kind": type(part).__name__, "has": {f.name: plain(getattr(part, f.name)) for f in fields(part)}}
        if isinstance(part, dict):
            return {"map": {str(name): plain(own) for name, own in part.items()}}
        return [plain(own) for own in part] if isinstance(part, tuple | list) else part

    return {"whole": plain(value)}, arrays


def unpacked(about: dict[str, Any], arrays: Arrays) -> Any:
    def made(part: Any) -> Any:
        if isinstance(part, list):
            return tuple(map(made, part))
        if not isinstance(part, dict):
            return part
        if "array" in part:
            return arrays[part["array"]]
        inside = {name: made(own) for name, own in (part["has"] if "kind" in part else part["map"]).items()}
        return KNOWN[part["kind"]](**inside) if "kind" in part else inside

    return made(about["whole"])


def entitled(scene: Scene, corpus: Corpus) -> Scene:
    """The scene with the titles of these documents, which workers are not given and other people must not see."""

    def with_titles(panel: Panel) -> Panel:
        return replace(panel, view=replace(panel.view, titles=corpus.titles)) if isinstance(panel.view, Cloud) else panel

    return replace(scene, panels=tuple(map(with_titles, scene.panels)))
