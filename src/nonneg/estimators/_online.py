"""Learning from samples that come a few at a time and are not kept: online PNMF and OPNMF.

With the Euclidean distance all that W needs of the samples seen is XᵀX. A sketch R of a few rows with RᵀR ≈ XᵀX stands for them:
the samples of a batch are added to it as rows, and if these become too many they are reduced to their leading singular
directions. The rule runs on the sketch (QNMF, end of §3: "we do not need to operate on the whole data matrix but only on a small
intermediate variable").

Other divergences have no such summary. There, and with ``solver="paper"``, numerator and denominator of the rule are averaged over
batches, and each batch takes one step (NNP Eq. 38, with the running average that it needs to be stable). That is a loop of its own,
over calls of `partial_fit`: the engine's goes over data that stay the same, and its steps average nothing. Each step uses its rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..data import Data, Sketch, as_dense, read_data
from ..data.base import items_of
from ..data.weighted import LowRank, count_rows, has_gaps
from ..exceptions import IncompatibleError, ShapeError, is_number
from ..kernels.host import above_floor
from ..kernels.namespace import to_host
from ..kernels.tuned import tuned
from ..model import Model
from ..solve.initialization.items import Items, leading_singular
from ..solve.problem import Units, absorbed, bind, choose_units, point_at
from ..solve.restarts import run_stages
from ..solve.solution import Solution
from ..solve.solvers import Multiplicative, Solver, Stopping
from ..solve.strategy import Options, choose
from ..solve.surrogate import begun_sketch
from ._base import Factorizer
from ._libraries import fit_with_library

_ITERATIONS = tuned(100, by="estimators", on="2026-11-15")
"""Of the rule on the sketch, at most, for each batch."""
_ROWS_PER_COMPONENT = tuned(4, by="estimators", on="2026-11-15")
"""Of the sketch."""


@dataclass(frozen=True)
class Stream:
    """Summary of the samples seen."""

    W: np.ndarray
    unit: float = 1.0
    """Divisor of all samples, if their squares would overflow."""
    n_samples: float = 0
    """How many, or the sum of their weights."""
    n_steps: int = 0
    started_at: float = 0
    """`n_samples` when a new start was last tried."""
    sketch: Any = None
    energy: float = 0.0
    """‖X‖² of all samples."""
    numerator: Any = 0.0
    denominator: Any = 0.0


class OnlineMixin(Factorizer):
    """`partial_fit`, in memory that does not depend on how many samples there are."""

    _made_of: ClassVar[tuple[type, ...]] = (Stream,)
    forgetting: float

    @property
    def _has_sketch(self) -> bool:
        """Whether a sketch tells all that the rule needs."""
        return self._model().divergence.is_quadratic and not (isinstance(self.solver, str) and self.solver == "paper")

    def _keep(self, X: Data, solution: Solution) -> None:
        """Keep also a sketch of the samples in the span of a few products with W, or both sides of the rule, for `partial_fit`."""
        super()._keep(X, solution)
        model, W = self._model(), self._soft_factors["W"]
        is_weighted = X.costs.weighted
        count = count_rows(X) if is_weighted else X.shape[0]
        stream = Stream(W, choose_units(model, X).data, n_samples=count, n_steps=1, started_at=count)
        X = self._complete(X) if is_weighted else X
        X = X if stream.unit == 1 else X.in_units(stream.unit)
        if self._has_sketch:
            own = begun_sketch(X, "rows", W.shape[1]).sketch if X.costs.out_of_core else X
            self._stream = replace(stream, sketch=projected(own, W), energy=X.power_sum(2))
        else:
            numerator, denominator = map(to_host, point_at(model, X, {"W": W}).sides("W"))
            self._stream = replace(stream, numerator=W * numerator / count, denominator=W * denominator / count)

    def _complete(self, X: Any) -> Data:
        """Samples with missing entries filled inside the form; a sketch takes weights of samples, and none of entries."""
        X = absorbed(self._model(), X)
        if has_gaps(X):
            inside = X.inside or X.filled(LowRank(self._settled(X), self.components_))
            return inside if self._has_sketch else X.with_inside(inside)
        return items_of(X) if self._has_sketch else X

    @fit_with_library
    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Go on learning from a batch of samples, which is then forgotten.

        The first batch is fitted as a whole, to start from; it should have several times as many samples as there are components.
        After `fit`, learning goes on from its components, weighted by its number of samples.

        With the Euclidean distance, `objective_` is about all samples seen, as far as the sketch of them tells. With other
        divergences, and with ``solver="paper"``, it is about the last batch, before its step; and features that the first batch
        lacks are learned slowly, if at all.

        Parameters
        ----------
        X : array, sparse array, path or open file of shape (n_samples, n_features)
            The next batch.
        y : None
            Not used.
        """
        begun = hasattr(self, "factors_")
        if not begun:
            self.fit(X)
        self._check_numbers()
        if not is_number(self.forgetting) or self.forgetting < 0:
            raise IncompatibleError(f"forgetting must be a number that is not negative; got {self.forgetting!r}.")
        X = self._read(X, reset=False)
        if begun and self.n_components not in (None, "auto", self.components_.shape[0]):
            raise ShapeError(
                f"n_components={self.n_components}, but {self.components_.shape[0]} components have been learned so far; a stream "
                "keeps their number. Use fit to begin anew."
            )
        stream = self._stream if begun else Stream(self._stream.W, self._stream.unit, started_at=X.shape[0])
        model, solver = self._model(), self._get_solver()[0]
        X = self._complete(X)
        stream = in_larger_units(stream, choose_units(model, X).data, model.divergence.degree)
        stream, X = replace(stream, n_samples=stream.n_samples + X.shape[0]), X.in_units(stream.unit)
        if self._has_sketch:
            energy = stream.energy + X.power_sum(2)  # a pass, which checks files: blocks of rows are not checked
            sketch = merged(stream.sketch, X, min(X.shape[1], _ROWS_PER_COMPONENT * stream.W.shape[1]))
            stream = replace(stream, sketch=sketch, energy=energy)
            solution, stream = self._learned(stream, model, solver)
            solution = self._hardened(read_data(Sketch(sketch)), solution)
            objective = solution.objective + max(stream.energy - float(np.sum(sketch * sketch, dtype=np.float64)), 0.0) / 2
        else:
            stream, objective = averaged_step(X, model, solver, stream, forgetting=self.forgetting)
            solution = Solution({"W": stream.W}, objective, self.history_, 1, self.status_, model)
            solution = self._hardened(X, solution)
            objective = solution.objective
        self._stream = replace(stream, n_steps=stream.n_steps + 1)
        _, doublings = model.divergence.in_units(math.log2(stream.unit))
        self.objective_ = Units(doublings=doublings).objective_to_user(objective)
        self.factors_, self.components_ = solution.factors, np.ascontiguousarray(solution.factors["W"].T)
        self.n_iter_, self.status_, self.history_ = self.n_iter_ + solution.n_iter, solution.status, solution.history
        self.reconstruction_err_ = float(np.sqrt(2 * max(objective, 0.0))) * 2.0 ** (doublings / 2)
        return self

    def _learned(self, stream: Stream, model: Model, solver: str | Solver) -> tuple[Solution, Stream]:
        """More iterations on the sketch. Whenever the samples have doubled, new starts are tried too: the first were too few."""
        problem = bind(model, Sketch(stream.sketch), stream.W.shape[1], horizon=self.max_iter)
        stopping = Stopping(tol=self.tol, max_iter=self.max_iter)
        brief = replace(stopping, max_iter=min(self.max_iter, _ITERATIONS))
        warm = Options({"W": stream.W}, solver, brief, is_warm=True)
        solutions = [run_stages(problem, choose(problem.signature, warm), 0)]
        if stream.n_samples >= 2 * stream.started_at and isinstance(self._init, str):
            stream = replace(stream, started_at=stream.n_samples)
            start = self._auto_init if self._init == "auto" else self._init
            strategy = choose(problem.signature, Options(start, solver, stopping))
            solutions.append(run_stages(problem, strategy, stream.n_steps))
        # Components and their order stay, unless a new start leads clearly lower.
        best = solutions[-1] if solutions[-1].scaled_objective < (1 - _CLEARLY) * solutions[0].scaled_objective else solutions[0]
        return best, replace(stream, W=best.factors["W"])


_CLEARLY = tuned(1e-3, by="estimators", on="2026-11-16")
"""Relative decrease of the objective that a new start must bring to replace components."""


def in_larger_units(stream: Stream, unit: float, degree: float | None) -> Stream:
    """The stream in the larger of its own units and those of a batch, beside which earlier samples may be next to nothing.

    It stays as it is if D(cX ‖ cX̂) is not c^degree · D(X ‖ X̂), or earlier samples would count for more.
    """
    if unit <= stream.unit or degree is None or degree < 0:
        return stream
    share = stream.unit / unit
    return replace(
        stream,
        unit=unit,
        sketch=None if stream.sketch is None else stream.sketch * share,
        energy=stream.energy * share**2,
        numerator=stream.numerator * share**degree,
        denominator=stream.denominator * share**degree,
    )


def projected(X: Data, W: np.ndarray) -> np.ndarray:
    """A sketch of X, of twice as many rows as there are components, in the space of W and XᵀX W.

    It takes three products with X, the last of them twice as wide.
    """
    xp = X.namespace.xp
    F = X.namespace.asarray(W)
    Q = xp.linalg.qr(xp.concat([F, X.apply(X.apply(F), transposed=True)], axis=1))[0]
    codes = xp.astype(X.apply(Q), xp.float64)
    values, V = xp.linalg.eigh(codes.T @ codes)
    rows = xp.sqrt(xp.maximum(values, xp.zeros_like(values)))[:, None] * (xp.astype(Q, xp.float64) @ V).T
    return to_host(xp.astype(rows, F.dtype))


def merged(sketch: Any, X: Data, most: int) -> np.ndarray:
    """A sketch with the rows of X added to it, of `most` rows at the most: its leading singular directions.

    Rows are added a few at a time; of a batch of very many, its own leading directions are.
    """
    if X.shape[0] > _MANY * most:
        items = Items(X, 0)
        _, S, VT = leading_singular(items, most, seed=0)
        own = (items.unit * S[:, None] * VT).astype(X.namespace.dtype)
        return own if sketch is None else _reduced(sketch, own, most)
    for start in range(0, X.shape[0], most):
        block = X.take(np.arange(start, min(start + most, X.shape[0])), axis=0)
        sketch = as_dense(block) if sketch is None else _reduced(sketch, block, most)
    return sketch


_MANY = tuned(64, by="estimators", on="2026-11-16")
"""How many times as many rows as a sketch has are added to it one block after the other: more take longer than singular vectors."""


def _reduced(sketch: np.ndarray, block: Any, most: int) -> np.ndarray:
    """The rows of both, combined: Vᵀ M with V the leading eigenvectors of M Mᵀ; a sparse block stays sparse."""
    across = np.asarray(block @ sketch.T)
    gram = np.block([[sketch @ sketch.T, across.T], [across, as_dense(block @ block.T)]])
    _, V = np.linalg.eigh(gram.astype(np.float64))
    V = V[:, -most:].astype(sketch.dtype)
    return V[: len(sketch)].T @ sketch + np.asarray(block.T @ V[len(sketch) :]).T


def averaged_step(
    X: Data, model: Any, solver: Any, stream: Stream, codes: Any = None, forgetting: float = 0.6
) -> tuple[Stream, float]:
    """One step along the averages of both sides of the rule, NNP Eq. 38; the objective is that of the batch, before the step.

    With codes of the batch the step is of H in W H, which the stream has transposed. A batch counts in the averages by the power
    `forgetting` of its share of all samples seen; 0 leaves nothing of earlier batches, and the printed step.
    """
    name, is_turned, n, W = "W" if codes is None else "H", codes is not None, X.shape[0], stream.W
    rule, constraint = model.rules[name], model.constraints[name]
    point = point_at(model, X, {"W": codes, "H": W.T} if is_turned else {"W": W})
    sides = [side.T if is_turned else side for side in map(to_host, point.sides(name))]
    weight = (n / stream.n_samples) ** forgetting
    # Averaged as they act, times W: features not seen so far have next to nothing in W, and huge ratios.
    numerator, denominator = (
        average + weight * (W * side / n - average)
        for average, side in zip((stream.numerator, stream.denominator), sides, strict=True)
    )
    exponent = solver.exponent if isinstance(solver, Multiplicative) and solver.exponent else rule.exponent
    multiplier = rule.law.multiplier(np, numerator, denominator, exponent)
    multiplier = np.clip(multiplier, 1 / _LARGEST, _LARGEST) if forgetting else multiplier
    stepped = (constraint.T if is_turned else constraint).restore(np, above_floor(np, W * multiplier))
    return replace(stream, W=stepped, numerator=numerator, denominator=denominator), point.objective()[0]


_LARGEST = tuned(10.0, by="estimators", on="2026-11-15")
"""Bounds of an entry's factor in one batch."""
