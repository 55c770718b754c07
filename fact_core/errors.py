"""The one exception a person can cause."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class FactScopeError(ValueError):
    """Something a person asked for cannot be done; the message is one sentence made for that person.

    The command line prints it and exits with 2, the application shows it where the person looked.
    Mistakes of ours are never of this type: they must stay loud.
    """


def unknown(what: str, name: object, known: Iterable[str]) -> FactScopeError:
    """The sentence for a name nobody knows, with the nearest known ones."""
    names = list(known)
    near = get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"did you mean “{near[0]}”?" if near else f"there is {', '.join(names)}." if names else "there is none."
    return FactScopeError(f"There is no {what} “{name}”: {hint}")
