"""Looking up a part of a model by the name that the user gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from .exceptions import IncompatibleError

T = TypeVar("T")


def find(kind: str, given: Any, known: Mapping[str, T], otherwise: str) -> T:
    """The object with a name, whatever its case and hyphens; or an error that lists the names there are.

    Parameters
    ----------
    kind : str
        What is being looked up, for the message.
    given : object
        What the user gave, a name or not.
    known : dict
        The objects by name.
    otherwise : str
        What may be given in place of a name.
    """
    found = known.get(given.lower().replace("_", "-").replace(" ", "-")) if isinstance(given, str) else None
    if found is None:
        raise IncompatibleError(f"Unknown {kind} {given!r}. Known names: {', '.join(map(repr, known))}; or {otherwise}.")
    return found
