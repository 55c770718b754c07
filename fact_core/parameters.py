"""Parameters as data: whatever needs a slider, a check, a grid axis or a help text reads these declarations."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from .errors import FactScopeError, unknown


class Scale(str, Enum):
    LINEAR = "linear"
    LOG = "log"  # zero is allowed at the low end and stands left of the smallest power


@dataclass(frozen=True)
class Param:
    """One tunable number or choice of a method."""

    name: str
    default: Any
    symbol: str
    doc: str
    low: float = -math.inf
    high: float = math.inf
    scale: Scale = Scale.LINEAR
    choices: tuple[str, ...] = ()
    published: tuple[float, ...] = ()  # the values the papers use, marked on sliders and curves

    @property
    def whole(self) -> bool:
        return isinstance(self.default, int) and not isinstance(self.default, bool)

    def check(self, value: Any) -> Any:
        """The value in its own type, or a sentence."""
        if self.choices:
            text = value.value if isinstance(value, Enum) else str(value)
            if text not in self.choices:
                raise unknown(f"{self.doc} ({self.name})", value, self.choices)
            return text
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise FactScopeError(f"{self.label} must be a number, not “{value}”.") from None
        if not self.low <= number <= self.high:
            raise FactScopeError(f"{self.label} must lie between {self.low:g} and {self.high:g}, not {number:g}.")
        if not self.whole:
            return number
        if number != int(number):
            raise FactScopeError(f"{self.label} must be a whole number, not {number:g}.")
        return int(number)

    @property
    def label(self) -> str:
        return self.symbol if self.symbol == self.name else f"{self.symbol} ({self.name})"

    def show(self, value: Any) -> str:
        """A value as people write it."""
        return str(value) if self.choices else f"{value:g}"

    def grid(self) -> tuple[Any, ...]:
        """A few values over the whole range, for a study: two a decade on a logarithmic scale."""
        if self.choices:
            return self.choices
        if self.scale is Scale.LOG:
            bottom = max(self.low, self.high * 1e-4)
            decades = range(math.floor(math.log10(bottom)), math.ceil(math.log10(self.high)) + 1)
            values = {float(f"{m}e{d}") for d in decades for m in (1, 3)} | {float(v) for v in self.published}
            return tuple(sorted(v for v in values if bottom <= v <= self.high))
        if self.whole:
            spread = np.geomspace(max(self.low, 1), self.high, 8)
            return tuple(sorted({round(float(v)) for v in spread} | {int(v) for v in (self.default, *self.published)}))
        tenth = (self.high - self.low) / 10
        step = float(f"{tenth:.0e}")
        values = {float(f"{i * step:.6g}") for i in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)}
        return tuple(sorted(values | {float(v) for v in self.published if self.low <= v <= self.high}))

    def stops(self, count: int = 41) -> tuple[float, ...]:
        """The values a slider offers: evenly spaced, or per decade on a logarithmic scale."""
        if self.whole:
            return tuple(range(int(self.low), int(self.high) + 1))
        if self.scale is Scale.LINEAR:
            return tuple(float(f"{v:.6g}") for v in np.linspace(self.low, self.high, count))
        bottom = self.low if self.low > 0 else self.high * 1e-6
        decades = range(math.floor(math.log10(bottom)), math.ceil(math.log10(self.high)) + 1)
        values = {float(f"{m}e{d}") for d in decades for m in (1, 2, 5)}
        return tuple(sorted({v for v in values if bottom <= v <= self.high} | {self.low, self.high, float(self.default)}))


def param(default: Any, **declaration: Any) -> Any:
    """A dataclass field that carries a :class:`Param`; its name is filled in when the class is registered."""
    return dataclasses.field(default=default, metadata={"param": declaration})


def declared(cls: type) -> tuple[Param, ...]:
    """The parameters of a dataclass, in the order they were written."""
    return tuple(Param(name=f.name, default=f.default, **f.metadata["param"]) for f in dataclasses.fields(cls) if "param" in f.metadata)
