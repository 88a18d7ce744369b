"""Learning from samples that come a few at a time and are not kept: online PNMF and OPNMF.

With the Euclidean distance all that W needs of the samples seen is XᵀX. A sketch R of a few rows with RᵀR ≈ XᵀX stands for them:
the samples of a batch are added to it as rows, and where these become too many they are reduced to their leading singular
directions. The rule runs on the sketch (QNMF, end of §3: "we do not need to operate on the whole data matrix but only on a small
intermediate variable").

Other divergences have no such summary. There, and with ``solver="paper"``, numerator and denominator of the rule are averaged over
batches, and each batch takes one step (NNP Eq. 38, with the running average that it needs to be stable).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays.data import dense
from ..arrays.reading import Sketch
from ..divergences import Beta
from ..factorization import Task
from ..model import Model
from ..problem import bind
from ..solvers import Multiplicative, Solver, Stopping
from ..solvers.multiplicative import above_floor
from ._base import Factorizer
from ._starts import Run, run_start

_ITERATIONS = 100
"""Of the rule on the sketch, at most, for each batch."""
_ROWS_PER_COMPONENT = 4
"""Of the sketch."""


@dataclass
class Stream:
    """What is kept of the samples seen."""

    W: np.ndarray
    n_samples: int = 0
    n_steps: int = 0
    started_at: int = 0
    """How many samples had been seen when a new start was last tried."""
    sketch: Any = None
    energy: float = 0.0
    """‖X‖² of all samples."""
    numerator: Any = 0.0
    denominator: Any = 0.0


class OnlineMixin(Factorizer):
    """`partial_fit`, in memory that does not depend on how many samples there are."""

    def _keep(self, X: Any, run: Run) -> None:
        super()._keep(X, run)
        self._stream: Stream | None = None

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Go on learning from a batch of samples, which is then forgotten.

        The first batch is fitted as a whole, to start from; it should have several times as many samples as there are components.
        After `fit`, learning goes on from its components, of whose samples nothing else is known.

        With the Euclidean distance, `objective_` is about all samples seen, as far as the sketch of them tells. With other
        divergences, and with ``solver="paper"``, it is about the last batch, before its step; and features that the first batch
        lacks are learned slowly, if at all.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            The next batch.
        y : None
            Not used.
        """
        begun = hasattr(self, "factors_")
        X = self._read(X, reset=not begun)
        if not begun:
            self.fit(X)
        stream = getattr(self, "_stream", None) or Stream(getattr(self, "_soft_factors", self.factors_)["W"], started_at=X.shape[0])
        stream.n_samples += X.shape[0]
        model, solver = self._minimised(self._model()), self._get_solver()[0]
        if model.divergence == Beta(2) and not (isinstance(self.solver, str) and self.solver == "paper"):
            stream.sketch = merged(stream.sketch, X, min(X.shape[1], _ROWS_PER_COMPONENT * stream.W.shape[1]))
            stream.energy += float((X.multiply(X) if sparse.issparse(X) else X * X).sum(dtype=np.float64))
            run = self._learned(stream, model, solver)
            stream.W = run.factors["W"]
            missing = stream.energy - float((stream.sketch**2).sum(dtype=np.float64))
            run = self._hardened(Sketch(stream.sketch), replace(run, model=self._model()))
            self.objective_ = run.objective + max(missing, 0.0) / 2
        else:
            stream.W, objective = averaged_step(X, model, solver, stream)
            run = Run(model, {"W": stream.W}, objective, self.history_, 1, self.status_)
            run = self._hardened(X, replace(run, model=self._model()))
            self.objective_ = run.objective
        stream.n_steps += 1
        self._stream = stream
        self.factors_, self.components_ = run.factors, np.ascontiguousarray(run.factors["W"].T)
        self.n_iter_, self.status_, self.history_ = self.n_iter_ + run.n_iter, run.status, run.history
        self.reconstruction_err_ = float(np.sqrt(2 * max(self.objective_, 0.0)))
        return self

    def _learned(self, stream: Stream, model: Model, solver: str | Solver) -> Run:
        """More iterations on the sketch. Whenever the samples have doubled, new starts are tried too: the first were too few."""
        task = Task(Sketch(stream.sketch), model, stream.W.shape[1], horizon=self.max_iter)
        stopping = Stopping(tol=self.tol, max_iter=self.max_iter)
        brief = replace(stopping, max_iter=min(self.max_iter, _ITERATIONS))
        runs = [run_start(task, solver, {"W": stream.W}, 0, brief, resumes=True)]
        if stream.n_samples >= 2 * stream.started_at and isinstance(self.init, str):
            stream.started_at = stream.n_samples
            rank = stream.W.shape[1]
            start: str | tuple[str, ...] = self.init
            if self.init == "auto":
                start = self._auto_init if rank <= stream.W.shape[0] else "random"
            runs.append(run_start(task, solver, start, stream.n_steps, stopping))
        return min(runs, key=lambda run: run.comparable)


def merged(sketch: Any, X: Any, most: int) -> np.ndarray:
    """A sketch with the rows of X added to it, of `most` rows at the most: its leading singular directions."""
    for start in range(0, X.shape[0], most):
        block = X[start : start + most]
        sketch = dense(block) if sketch is None else _reduced(sketch, block, most)
    return sketch


def _reduced(sketch: np.ndarray, block: Any, most: int) -> np.ndarray:
    """The rows of both, combined: Vᵀ M with V the leading eigenvectors of M Mᵀ; a sparse block stays sparse."""
    across = np.asarray(block @ sketch.T)
    gram = np.block([[sketch @ sketch.T, across.T], [across, dense(block @ block.T)]])
    _, V = np.linalg.eigh(gram.astype(np.float64))
    V = V[:, -most:].astype(sketch.dtype)
    return V[: len(sketch)].T @ sketch + np.asarray(block.T @ V[len(sketch) :]).T


def averaged_step(X: Any, model: Any, solver: Any, stream: Stream) -> tuple[np.ndarray, float]:
    """One step along the averages of both sides of the rule, NNP Eq. 38; the objective is that of the batch, before the step."""
    rule, constraint, n = model.rules["W"], model.constraints["W"], X.shape[0]
    point = bind(model, X, {"W": stream.W})
    numerator, denominator = point.sides("W")
    weight = 1 / (stream.n_steps + 1) ** _FORGETTING
    # Averaged as they act, times W: features not seen so far have next to nothing in W, and huge ratios.
    stream.numerator = stream.numerator + weight * (stream.W * numerator / n - stream.numerator)
    stream.denominator = stream.denominator + weight * (stream.W * denominator / n - stream.denominator)
    exponent = solver.exponent if isinstance(solver, Multiplicative) and solver.exponent else rule.exponent
    multiplier = np.clip(rule.law.multiplier(np, stream.numerator, stream.denominator, exponent), 1 / _LARGEST, _LARGEST)
    return constraint.restore(np, above_floor(np, stream.W * multiplier)), point.objective()[0]


_FORGETTING = 0.6
_LARGEST = 10.0
"""By what one batch may multiply an entry."""
