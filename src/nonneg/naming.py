"""Reading what the user gave to set up a model: names of its parts, and numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, TypeVar

from .exceptions import IncompatibleError

T = TypeVar("T")


def is_number(value: Any) -> bool:
    """Whether it is a finite real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


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
        hint = f" Did you mean {given.__name__}(...)?" if isinstance(given, type) else ""
        raise IncompatibleError(f"Unknown {kind} {given!r}.{hint} Known names: {', '.join(map(repr, known))}; or {otherwise}.")
    return found
