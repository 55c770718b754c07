"""Widgets whose values are in the link, and survive a change of page.

Streamlit can bind a widget to the link and keep its state itself, but the link then carries the shown label instead of the value, and the
first change of page loses the value. Here the link seeds the session, the session keeps every value that was chosen (widgets forget
theirs when a page does not draw them), and the link follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from fact_core.parameters import Param


def _linked(key: str, default: Any, valid: Callable[[list[str]], Any], draw: Callable[[], Any]) -> Any:
    """Draw a widget of this key; `valid` turns the link's texts into a value, or raises where it cannot."""
    kept: dict[str, Any] = st.session_state.setdefault("chosen", {})
    if key in st.session_state:
        st.session_state[key] = st.session_state[key]  # said again, the value also reaches the widget of this key on another page
    else:
        try:
            given = st.query_params.get_all(key)
            st.session_state[key] = kept[key] if key in kept else valid(given) if given else default
        except (ValueError, KeyError, IndexError):
            st.session_state[key] = default
    value = kept[key] = draw()
    if value == default:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = [str(v) for v in value] if isinstance(value, list) else "" if value is None else str(value)
    return value


def put(key: str, value: Any) -> None:
    """Choose for the person, before the widget is drawn."""
    st.session_state.setdefault("chosen", {})[key] = value
    st.session_state[key] = value


def _drop(key: str, fits: Callable[[Any], bool]) -> None:
    """Forget a value that the widget could not show, such as a class of another corpus."""
    kept = st.session_state.setdefault("chosen", {})
    for place in (st.session_state, kept):
        if key in place and not fits(place[key]):
            del place[key]


def choice(label: str, names: dict[str, str], default: str, key: str, **more: Any) -> str:
    """One of several values, shown under their names."""
    _drop(key, lambda value: value in names)
    draw = lambda: st.selectbox(label, list(names), key=key, format_func=names.__getitem__, **more)  # noqa: E731
    return _linked(key, default, lambda given: _among(given[0], names), draw)


def option(label: str, names: dict[str, str], default: str, key: str, **more: Any) -> str:
    """One of a few values, all in sight."""
    _drop(key, lambda value: value in names)
    draw = lambda: st.segmented_control(label, list(names), key=key, format_func=names.__getitem__, required=True, **more)  # noqa: E731
    return _linked(key, default, lambda given: _among(given[0], names), draw)


def choices(label: str, options: Sequence[str], default: list[str], key: str, **more: Any) -> list[str]:
    """Any of several values."""
    _drop(key, lambda value: set(value) <= set(options))
    draw = lambda: st.multiselect(label, options, key=key, **more)  # noqa: E731
    return _linked(key, default, lambda given: [_among(g, options) for g in given], draw)


def stops(label: str, values: Sequence[float], default: float, key: str, **more: Any) -> float:
    """A slider over given values, such as those of a logarithmic scale, and one more where it was chosen elsewhere."""
    low, high = min(values), max(values)
    _drop(key, lambda value: isinstance(value, int | float) and low <= value <= high)
    for given in (st.session_state.get(key), st.session_state.get("chosen", {}).get(key), *st.query_params.get_all(key)[:1]):
        with suppress(TypeError, ValueError):
            values = sorted({*values, _within(float(given), low, high)})
    draw = lambda: st.select_slider(label, values, key=key, format_func=lambda v: f"{v:g}", **more)  # noqa: E731
    return _linked(key, default, lambda given: _among(float(given[0]), values), draw)


def slider(label: str, low: Any, high: Any, default: Any, key: str, step: Any = None, **more: Any) -> Any:
    """A slider over whole or decimal numbers, as its bounds are."""
    _drop(key, lambda value: low <= value <= high)
    draw = lambda: st.slider(label, low, high, step=step, key=key, **more)  # noqa: E731
    return _linked(key, default, lambda given: _within(type(low)(given[0]), low, high), draw)


def number(label: str, low: int, high: int, default: int | None, key: str, **more: Any) -> Any:
    """A field for a whole number, which may be empty where the default is."""
    _drop(key, lambda value: value is None or low <= value <= high)
    draw = lambda: st.number_input(label, low, high, value=None, key=key, **more)  # noqa: E731
    valid = lambda given: None if given[0] == "" else _within(int(given[0]), low, high)  # noqa: E731
    return _linked(key, default, valid, draw)


def values(label: str, param: Param, default: Iterable[Any], key: str) -> list[Any]:
    """A field for several values of a parameter; raises `FactScopeError` with a sentence where one cannot be taken."""
    usual = ", ".join(param.show(v) for v in default)
    draw = lambda: st.text_input(label, key=key, help=f"Between {param.low:g} and {param.high:g}, with commas between them.")  # noqa: E731
    said = _linked(key, usual, lambda given: given[0], draw)
    return list(dict.fromkeys(param.check(part.strip()) for part in (said or usual).replace(";", ",").split(",") if part.strip()))


def switch(label: str, key: str, **more: Any) -> bool:
    draw = lambda: st.toggle(label, key=key, **more)  # noqa: E731
    return _linked(key, False, lambda given: given[0].lower() in ("true", "1"), draw)


def _among(value: Any, options: Any) -> Any:
    if value not in options:
        raise ValueError
    return value


def _within(value: Any, low: Any, high: Any) -> Any:
    if not low <= value <= high:
        raise ValueError
    return value
