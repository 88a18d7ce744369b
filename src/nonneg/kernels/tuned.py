"""Numbers that were set by measurement, with where they come from; docs/develop/numbers.md lists them."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def tuned(value: T, *, by: str, on: str) -> T:
    """A number, or several, that no formula gives; the sentence below each says what it decides.

    Parameters
    ----------
    value : number or tuple of numbers
    by : str
        The file in benchmarks/ whose figures it moves, and which is run with other values to set it again.
    on : str
        When this value was set.
    """
    return value
