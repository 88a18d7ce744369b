"""Rules that choose a rank from a curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Choice(NamedTuple):
    """A rank, and why it was chosen.

    See Also
    --------
    RankScan : Has one for each criterion.

    Examples
    --------
    >>> from nonneg.selection import Choice
    >>> Choice(3, "the lowest error").rank
    3
    """

    rank: Any
    """An int; a pair if samples and features have ranks of their own."""
    why: str
    is_supported: bool = True
    """Whether the curve speaks for it; else it is only the smallest rank scanned."""


def smallest_close(ranks: Sequence[int], errors: np.ndarray, what: str, tolerance: float, baseline: np.ndarray) -> Choice:
    """Choose the smallest rank whose error is not distinguishable from the lowest.

    Errors are compared part by part, as ratios to the lowest rank, and summarised by the median: hard parts and single fits in poor
    local minima do not decide. A difference counts if it exceeds one standard error of that median and `tolerance`.

    Parameters
    ----------
    ranks : sequence of int
    errors : array of shape (ranks, parts)
    what : str
        The error in words.
    tolerance : float
        Smallest difference that counts, as a share of the lowest error, or of the explained error if that is less: in data whose
        error is mostly noise, a component is a small share of the error.
    baseline : array of shape (parts,)
        The error without components. The explained error is the fall from it, or from the highest rank of the curve, to the lowest.
    """
    logarithms = np.log(np.maximum(errors, np.finfo(np.float64).tiny))
    lowest = int(np.argmin(np.median(logarithms - logarithms.mean(axis=0), axis=1)))
    above = logarithms - logarithms[lowest]
    middle = np.median(above, axis=1)
    spread = 1.4826 * np.median(np.abs(above - middle[:, None]), axis=1)
    one_error = 1.2533 * spread / np.sqrt(errors.shape[1])  # the standard error of a median
    explained = np.median(np.log(np.maximum(baseline, np.finfo(np.float64).tiny)) - logarithms[lowest])
    tolerance *= min(1.0, float(np.expm1(min(max(explained, middle.max()), 1.0))))
    place = int(np.argmax(middle <= np.maximum(one_error, np.log1p(tolerance))))
    rank, best = ranks[place], ranks[lowest]
    least = f"lowest at {best}, by {100 * np.expm1(middle[place]):.1f} %" if middle[place] > 5e-4 else ""
    tail, note = f" by enough to count: it is {least}" if least else "", medians(errors.shape[1])
    if len(ranks) == 1:
        return Choice(rank, f"Rank {rank} is the only one that was scanned.")
    if place and not np.median(errors[place]) > 0:
        return Choice(rank, f"The {what} is nothing but rounding from rank {rank} on, and is not at {ranks[place - 1]}{note}.")
    if place == len(ranks) - 1:
        fall = 100 * -np.expm1(middle[place] - middle[place - 1])
        return Choice(
            rank,
            f"The {what} is still falling at {rank}, the largest rank scanned, {fall:.0f} % below that of {ranks[-2]}{note}: "
            "scan more.",
        )
    if rank == 1:
        return Choice(1, f"Rank 1: there is nothing beyond noise in more components; the {what} is not lower with any{tail}{note}.")
    if place == 0:
        beyond = f", and is {least}" if least else ""
        return Choice(
            rank,
            f"The {what} does not fall by enough to count after {rank}, the smallest rank scanned{beyond}{note}: scan smaller "
            "ranks.",
        )
    ratio = float(np.exp(min(middle[place - 1] - middle[place], 700.0)))
    lower = f"{ratio:.3g} times lower" if ratio >= 2 else f"{100 * (1 - 1 / ratio):.1f} % lower"
    return Choice(
        rank, f"The {what} at rank {rank} is {lower} than at {ranks[place - 1]}, and no rank above is better{tail}{note}."
    )


def medians(count: int) -> str:
    """Note about medians over so many parts, in a table of means."""
    return f" (medians over {count} parts; the table has means)" if count > 1 else ""


def last_above(ranks: Sequence[int], values: np.ndarray, threshold: float, what: str, note: str = "") -> Choice:
    """The largest rank at which a value is still above a threshold; the smallest one if there is none.

    A note names the kind of the values, if the table has others.
    """
    above = np.flatnonzero(values >= threshold)
    if not len(above):
        return Choice(
            ranks[0],
            f"The {what} is below {threshold:g} at every rank{note}: nothing here is reproduced, and {ranks[0]} is only the "
            "smallest rank scanned.",
            False,
        )
    place = int(above[-1])
    rank = ranks[place]
    if place == len(ranks) - 1:
        return Choice(
            rank,
            f"The {what} is {values[place]:.3g} at {rank}, the largest rank scanned, still above {threshold:g}{note}: scan more.",
        )
    following = f"{values[place + 1]:.3g} at {ranks[place + 1]}"
    return Choice(
        rank, f"Rank {rank} is the largest with a {what} above {threshold:g}: {values[place]:.3g}, and {following}{note}."
    )
