"""Numbers in words: as few digits as they need."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np


def short(value: float, digits: int = 4) -> str:
    """A number with so many significant digits; with one less if it has a power of ten."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        return f"{float(f'{value:.{digits}g}'):.{max(digits, 6)}g}".replace("-", "−")
    mantissa, _, power = f"{value:.{digits - 2}e}".partition("e")
    return f"{float(mantissa):.{digits}g}e{int(power)}".replace("-", "−")


def told_apart(values: Iterable[float], most: int = 12) -> list[str]:
    """Numbers with as few digits as tell each from the next, if it differs; `most` digits at the most."""
    given = [float(value) for value in values]
    for digits in range(4, most + 1):
        texts = [short(value, digits) for value in given]
        if all(a != b or one == other for (a, b), (one, other) in zip(pairwise(texts), pairwise(given), strict=True)):
            break
    return texts


def change(values: np.ndarray) -> str:
    """The change of numbers from the first to the last: "falls from 3 to 2"."""
    first, last = float(values[0]), float(values[-1])
    verb = "falls" if last < first else "rises"
    if first == last:
        return f"stays at {short(last)}"
    shown = told_apart([first, last], most=6)
    if shown[0] == shown[1]:
        return f"is {short(last)} from the first check on, and {verb} by no more than {short(abs(first - last))}"
    return f"{verb} from {shown[0]} to {shown[1]}"
