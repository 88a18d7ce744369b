"""Held-out likelihood: what a chain says about pairs of neighbours that it was not fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..rules import Choice, smallest_close
from ..subjects import Chain, Rank, Subject
from .base import Found, HeldOut, column, mean_and_error

SMOOTHED = 1e-3
"""The share of a probability that is spread over all pairs, so that none is impossible."""
CLOSE = 1e-3
"""The least `tol` of a fit, in ten iterations; ranks have to differ by twenty times as much to count. See `Likelihood`."""


@dataclass(frozen=True)
class Likelihood(HeldOut):
    """Minus the mean logarithm of the probability of held-out pairs, less what they would have if they were known.

    Whole sequences are held out where there are twice as many as folds, pairs at random otherwise. Fits end where ten iterations
    change their divergence by a thousandth, or by a thousandth of what it is by chance; by the estimator's own `tol` if that is
    more, and not before `max_iter` if that is 0. Further on they would follow the chance of the pairs that they are fitted to, and
    with more states than there are, for thousands of iterations.

    Parameters
    ----------
    n_repeats : int, default=1
        How often pairs are dealt out anew.
    n_folds : int, default=5
    tolerance : float, default=0.02
        A rank that is better by less than this share is no better.
    """

    n_repeats: int = 1
    n_folds: int = 5
    tolerance: float = 0.02

    name: ClassVar[str] = "likelihood"
    shown: ClassVar[str] = "likelihood"
    label: ClassVar[str] = "divergence from held-out pairs"

    def obstacle(self, subject: Subject) -> str | None:
        if not isinstance(subject, Chain):
            return f"it is about sequences of symbols, and this is about {subject.kind}"
        pairs = int(subject.data.sum())
        return None if pairs >= 2 * self.n_folds else f"{pairs} pairs are too few for {self.n_folds} folds"

    def parts(self, subject: Subject, generator: np.random.Generator, y: np.ndarray | None) -> list[Any]:
        assert isinstance(subject, Chain)
        return [part for _ in range(self.n_repeats) for part in subject.dealt_out(self.n_folds, generator)]

    def measure(self, subject: Subject, part: Any, rank: Rank, seed: int) -> Found:
        assert isinstance(subject, Chain)
        tol = float(subject.parameters["tol"])
        chain = subject.fit(subject.data - part, rank, seed, tol=max(tol, CLOSE) if tol else 0.0)
        expected = chain.emissionprob_.T @ chain.joint_ @ chain.emissionprob_
        expected = (1 - SMOOTHED) * expected + SMOOTHED / expected.size
        shares = part / part.sum()
        seen = shares > 0
        return {"error": float(np.sum(shares[seen] * np.log(shares[seen] / expected[seen])))}

    def row(self, found: Sequence[Found]) -> dict[str, float]:
        return mean_and_error(column(found, "error"), self.name)

    def choose(self, ranks: Sequence[int], found: Sequence[Sequence[Found]], axis: int = 0) -> Choice:
        return smallest_close(ranks, np.array([column(parts, "error") for parts in found]), self.label, self.tolerance)
