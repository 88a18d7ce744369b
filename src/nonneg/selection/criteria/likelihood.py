"""Held-out likelihood of a chain on pairs of neighbours that it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...kernels.tuned import tuned
from ..subjects import Chain, Rank, Subject
from .base import Folded, Found

SMOOTHED = tuned(1e-3, by="ranks", on="2026-11-16")
"""The share of a probability that is spread over all pairs, so that none is impossible."""
CLOSE = tuned(1e-3, by="ranks", on="2026-11-17")
"""The least `tol` of a fit, in ten iterations; ranks have to differ by twenty times as much to count. See `Likelihood`."""


@dataclass(frozen=True)
class Likelihood(Folded):
    """Minus the mean logarithm of the probability of held-out pairs, less that under their own frequencies.

    Whole sequences are held out if there are twice as many as folds, else random pairs. Fits end once ten iterations
    change their divergence by a thousandth, or by a thousandth of its value by chance; by the estimator's own `tol` if that is
    more, and not before `max_iter` if that is 0. Further on they would follow the chance of the pairs that they are fitted to, and
    with more states than there are, for thousands of iterations.

    Parameters
    ----------
    n_repeats : int, default=1
        How often pairs are dealt out anew.
    n_folds : int, default=5
        Number of folds that pairs or sequences are divided into.
    tolerance : float, default=0.02
        Smallest difference between ranks that counts: this share of the lowest error, or of the explained error if that is less.
        The explained error is the fall from the product of margins to the lowest rank.

    See Also
    --------
    nonneg.selection.rank_scan : Judges ranks by it.
    nonneg.QNMFHMM : A chain.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import QNMFHMM
    >>> from nonneg.datasets import make_hidden_chain
    >>> from nonneg.selection import rank_scan
    >>> from nonneg.selection.criteria import Likelihood
    >>> X = make_hidden_chain(3, 9, 2000).data
    >>> rank_scan(QNMFHMM(n_init=1), X, [2, 3], criteria=Likelihood(n_folds=2), random_state=0).best_
    3
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
        rest = subject.data - part
        chain = subject.fit(rest, rank, seed, tol=max(tol, CLOSE) if tol else 0.0)
        margins = np.outer(rest.sum(axis=1), rest.sum(axis=0)) / rest.sum() ** 2
        return {
            "error": _divergence(part, chain.emissionprob_.T @ chain.joint_ @ chain.emissionprob_),
            "margins": _divergence(part, margins),
        }


def _divergence(pairs: np.ndarray, expected: np.ndarray) -> float:
    """Kullback–Leibler divergence of the shares of held-out pairs from their smoothed probabilities."""
    expected = (1 - SMOOTHED) * expected + SMOOTHED / expected.size
    shares = pairs / max(pairs.sum(), 1)  # of few pairs, none may be held out, which says nothing
    seen = shares > 0
    return float(np.sum(shares[seen] * np.log(shares[seen] / expected[seen])))
