"""The papers' own: non-negative W with a large trace, with and without orthogonality, and kernel PNMF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from ...data.given import Gram, Signed
from ...exceptions import IncompatibleError, is_number
from ...factorization import factorize
from ...model import Model
from ...solve.progress import is_interrupted
from ...solve.solution import Solution
from ...solve.solvers import Multiplicative, Solver
from .._partitions import indicators, trace_of
from ..similarities import Similarity
from .base import Effort, Method, Partitioned
from .kernel_kmeans import KernelKMeans
from .pod import POD

LIFT = 0.2
"""What ONL adds to an indicator, so that a multiplicative rule can change all of it."""


@dataclass(frozen=True)
class NonnegativeLearning(Method):
    """max tr(WᵀSW) over W ≥ 0, from W* + 0.2, where W* is the best of so many partitions by kernel K-means and POD (ONL §4.3).

    Attributes
    ----------
    exponent : float
        1 for NL and ONL (Eq. 39, 41), ½ for √NL and √ONL (Eq. 40, 42).
    orthogonal : bool
        With Wᵀ W = I: ONL and √ONL. Without, the rule ends far from a partition, as the paper shows.
    start : {"partition", "random"}
        From the best of so many partitions, or from random numbers.
    """

    similarity: ClassVar[str] = "discriminative-kmeans"
    exponent: float = 0.5
    orthogonal: bool = True
    start: Literal["partition", "random"] = "partition"

    def __post_init__(self) -> None:
        check_start(self.start)
        if not is_number(self.exponent) or self.exponent <= 0:
            raise IncompatibleError(f"exponent must be a number above 0; got {self.exponent!r}.")
        if not isinstance(self.orthogonal, bool):
            raise IncompatibleError(f"orthogonal must be True or False; got {self.orthogonal!r}.")

    def partition(self, S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> Partitioned:
        start = a_start(self.start, S, count, generator, effort)
        solution = learned(S, start, Multiplicative(exponent=self.exponent), effort, orthogonal=self.orthogonal)
        W = solution.factors["W"]
        return Partitioned(W.argmax(axis=1), W, solution.n_iter)


@dataclass(frozen=True)
class NSC(Method):
    """Non-negative spectral clustering: max tr(UᵀAU) with UᵀDU = I, by U ∘ √[(AU)/(DU UᵀAU)] (Ding et al. 2008).

    With W = D^½U and S = D^(-½)AD^(-½) this is √ONL (QNMF §5.1).
    """

    start: Literal["partition", "random"] = "partition"

    def __post_init__(self) -> None:
        check_start(self.start)

    def partition(self, S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> Partitioned:
        return NonnegativeLearning(0.5, start=self.start).partition(S, count, generator, effort)


@dataclass(frozen=True)
class KernelProjection(Method):
    """PNMF of data with the kernel S: W ∘ [2SW/(WWᵀSW + SWWᵀW)]^(1/3) (QNMF §5.1)."""

    similarity: ClassVar[str] = "random-walk"
    start: Literal["partition", "random"] = "partition"

    def __post_init__(self) -> None:
        check_start(self.start)

    def partition(self, S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> Partitioned:
        if S.negative is not None:
            raise IncompatibleError(
                "method='kernel-pnmf' needs a similarity without negative entries, and this one has some. Use 'random-walk', "
                "'regularized', 'normalized' or 'adjacency'; or method='sqrt-onl'."
            )
        start = a_start(self.start, S, count, generator, effort)
        W, n_iter = projected(S, start, effort)
        return Partitioned(W.argmax(axis=1), W, n_iter)


def check_start(start: Any) -> None:
    """An error if it is not the name of a start."""
    if not isinstance(start, str) or start not in ("partition", "random"):
        raise IncompatibleError(f"start can be 'partition' or 'random'; got {start!r}.")


def a_start(start: str, S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> np.ndarray:
    """A start of a multiplicative rule."""
    if start == "random":
        return generator.random((S.n, count)) + 1e-3
    return best_start(S, count, generator, effort) + LIFT


def best_start(S: Similarity, count: int, generator: np.random.Generator, effort: Effort) -> np.ndarray:
    """The indicators of the best partition that kernel K-means and POD find."""
    found = [method.partition(S, count, generator, effort._replace(max_iter=100)) for method in (KernelKMeans(), POD())]
    best = max(found, key=lambda partition: trace_of(S, partition.labels, count))
    return indicators(best.labels, count, S.weights)


def learned(S: Similarity, start: np.ndarray, solver: str | Solver, effort: Effort, *, orthogonal: bool = True) -> Solution:
    """W with a large tr(WᵀSW)."""
    model = Model("W.T S W", "trace", {"W": "orthogonal"} if orthogonal else None, data="S")
    negative = sparse.csr_array((S.n, S.n)) if S.negative is None else S.negative
    settings: Any = {"max_iter": effort.max_iter, "tol": effort.tol, "callback": is_interrupted}
    return factorize(Signed(S.positive, negative), model, init={"W": start}, solver=solver, **settings)


def projected(S: Similarity, start: np.ndarray, effort: Effort) -> tuple[np.ndarray, int]:
    """W with a small tr(S) − 2 tr(WᵀSW) + tr(WᵀSW WᵀW); the rule needs products with S only."""
    settings: Any = {"max_iter": effort.max_iter, "tol": effort.tol, "callback": is_interrupted}
    solution = factorize(Gram(S.positive, checked=False), "W W.T X", init={"W": start}, solver="adaptive", **settings)
    return solution.factors["W"], solution.n_iter
