"""NNMF-HMM, the baseline of QNMF's chain: alternating least squares, negative entries made zero."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from ..estimators.docstrings import documented
from ..solve.context import Context
from ..solve.initialization import make_generator
from ..solve.progress import current_listener
from ..solve.solution import History, Record, Status
from ..solve.stopping import Stopping, Watch
from ._chain import HiddenChain, LearnedChain


@documented
@dataclass(eq=False, repr=False)
class NNMFHMM(HiddenChain):
    r"""A hidden Markov chain by alternating pseudo-inverses, with negative entries made zero; for comparison.

    .. math:: \min_{W, Y} \tfrac12 \|X - W Y W^T\|^2

    In turns, W ← [X (Y Wᵀ)⁺]₊ for the first of its two places, the second as it was, and Y ← [W⁺ X (W⁺)ᵀ]₊; each is divided by its
    sums. The objective goes up and down, and need not end low. The lowest point is returned.

    Parameters
    ----------
    n_init : int, default=1
        Random starts, of which the best is kept.
    max_iter : int, default=10000
        Most iterations of a start.
    tol : float, default=0.0
        Stop when the objective changes by at most `tol` times its value in ten iterations; 0 runs to `max_iter`.

    Attributes
    ----------
    emissionprob_, joint_, transmat_, startprob_, symbols_, symbol_groups_ : array
        As those of `QNMFHMM`.
    objective_ : float
        ½‖X − W Y Wᵀ‖² of the result.
    objectives_ : array of shape (n_init,)
    history_ : History
        Every tenth iteration of the best start.
    constraint_errors_ : dict of float
        Σₖ|1 − Σᵢ W_ik| and |1 − ΣY| of the last step before normalising.

    See Also
    --------
    QNMFHMM : Fitted to the joint probability of pairs.
    hmm.pair_counts : Pairs of a sequence.

    Notes
    -----
    QNMF §5.3, after Lakshminarayanan and Raich 2010. It has a loop of its own: its steps are pseudo-inverses with negative entries
    cut off, which follow from no objective, so that the engine has no rule for them. A column that has become zero altogether is
    made uniform again.

    Examples
    --------
    >>> from nonneg import NNMFHMM
    >>> model = NNMFHMM(2, max_iter=100, random_state=0).fit(["banana", "panorama", "salami", "tomato", "potato", "radio"])
    >>> model.emissionprob_.shape
    (2, 12)
    """

    def _factorize(self, X: Any, n_pairs: float, context: Context) -> LearnedChain:
        X = X.toarray() if sparse.issparse(X) else X
        generator = make_generator(self.random_state)
        runs: list[tuple[LearnedChain, float]] = []
        while len(runs) < self.n_init and not (runs and context.interrupt.is_set()):
            runs.append(self._run(X, generator, context, f"start {len(runs) + 1} of {self.n_init}"))
        self.objectives_ = np.array([lowest for _, lowest in runs])
        return runs[int(self.objectives_.argmin())][0]

    def _run(self, X: np.ndarray, generator: Any, context: Context, name: str) -> tuple[LearnedChain, float]:
        listener = current_listener()
        W = _divided(1.0 - generator.uniform(size=(X.shape[0], self.n_states)), 0)
        Y = _divided(1.0 - generator.uniform(size=(self.n_states, self.n_states)), None)
        watch = Watch(Stopping(tol=self.tol, max_iter=self.max_iter, patience=self.max_iter), float(np.finfo(float).eps))
        history, begin, size = History(), perf_counter(), float(np.vdot(X, X))
        errors = {"W": 0.0, "Y": 0.0}
        best, lowest, iteration, status = (W, Y), _half_square(X, W, Y), 0, None
        value = lowest
        while True:
            if iteration in (0, watch.next_check(watch.checked_at), self.max_iter):
                status = watch.check(iteration, value, size, 0.0, stalled=False)
                status = Status.STOPPED_BY_USER if context.interrupt.is_set() else status
                listener.phase(f"{name}, iteration {iteration}, objective {value:.6g}")
                history.append(Record(iteration, perf_counter() - begin, value, dict(errors), {}))
                if status is not None:
                    return LearnedChain(*best, history, iteration, status, errors), lowest
            iteration += 1
            stepped = np.maximum(X @ np.linalg.pinv(Y @ W.T), 0.0)
            W = _divided(stepped, 0)
            inverse = np.linalg.pinv(W)
            joint = np.maximum(inverse @ X @ inverse.T, 0.0)
            Y = _divided(joint, None)
            errors = {"W": float(np.abs(1 - stepped.sum(axis=0)).sum()), "Y": float(abs(1 - joint.sum()))}
            value = _half_square(X, W, Y)
            if value < lowest:
                best, lowest = (W, Y), value

    def _objective(self, X: Any, W: np.ndarray, Y: np.ndarray) -> float:
        return _half_square(X.toarray() if sparse.issparse(X) else X, W, Y)


def _half_square(X: np.ndarray, W: np.ndarray, Y: np.ndarray) -> float:
    """½‖X − W Y Wᵀ‖²."""
    rest = X - W @ Y @ W.T
    return 0.5 * float(np.vdot(rest, rest))


def _divided(factor: np.ndarray, axis: int | None) -> np.ndarray:
    """Divided by its sums; columns of zeros become uniform."""
    sums = factor.sum(axis=axis, keepdims=True)
    factor = np.where(sums > 0, factor, 1.0)
    return factor / factor.sum(axis=axis, keepdims=True)
