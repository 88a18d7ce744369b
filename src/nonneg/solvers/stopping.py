"""When to stop, and what to call it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral

from ..exceptions import IncompatibleError
from ..naming import is_number
from ..solution import Status


@dataclass(frozen=True)
class Stopping:
    """The rules of stopping.

    Parameters
    ----------
    tol : float
        A run has converged when, from one check to the next, the objective changes by at most `tol` times its value (or times
        what it would be for a relative error of 0.3 %, if that is more), or by no more than rounding does, and no constraint comes
        closer to holding by more than a thousandth (see `steady`). All scale with the data. With 0 it runs to `max_iter`, or
        until no factor can move.
    max_iter : int
    check_every : int
        Iterations from one check to the next; only then is the objective needed, and looked at.
    step_tol : float
        A run has also converged when one iteration changes no factor by more than `step_tol` times its norm. 0 does not look.
    steady : float
        By what share of its violation a constraint may come closer to holding from one check to the next, for a run to have
        converged; infinity does not look, as the papers do not.
    patience : int
        Iterations in a row that may bring neither a lower objective nor a smaller violation; any number with `tol` 0.
    """

    tol: float = 1e-5
    max_iter: int = 1000
    check_every: int = 10
    patience: int = 300
    step_tol: float = 0.0
    steady: float = 1e-3

    def __post_init__(self) -> None:
        if not isinstance(self.steady, int | float) or not self.steady >= 0:
            raise IncompatibleError(f"steady must be a number that is not negative; got {self.steady!r}.")
        for name in ("tol", "step_tol"):
            if not is_number(getattr(self, name)) or getattr(self, name) < 0:
                raise IncompatibleError(f"{name} must be a number that is not negative; got {getattr(self, name)!r}.")
        for name, least in (("max_iter", 0), ("check_every", 1), ("patience", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise IncompatibleError(f"{name} must be an int of at least {least}; got {value!r}.")


_EXACT = 1e-5
"""What share of the size of the data is next to nothing, a relative error of 0.3 %: an exact fit falls forever."""
_CLOSE = 1e-2
"""A violation that counts as none, when it comes to how fast it falls."""


@dataclass
class Watch:
    """Sees the checks of one run, and says when it is over."""

    stopping: Stopping
    eps: float
    value: float = math.inf
    violation: float = math.inf
    improved_at: int = 0
    checked_at: int = 0

    def check(
        self, iteration: int, value: float, magnitude: float, violation: float, stalled: bool, step: float = math.inf
    ) -> Status | None:
        if not math.isfinite(value):
            return Status.NON_FINITE
        change, closer = self.value - value, self.violation - violation
        share = (iteration - self.checked_at) / self.stopping.check_every  # the last check may come early
        self.checked_at = iteration
        self.value, self.violation = value, violation
        rounding = 4 * self.eps * magnitude
        size = max(abs(value), _EXACT * magnitude)
        settled = abs(change) <= self.stopping.tol * share * size + rounding
        is_steady = settled and abs(closer) <= self.stopping.steady * share * max(violation, _CLOSE)
        if iteration and step <= self.stopping.step_tol:
            return Status.CONVERGED
        is_stuck = stalled and violation > _CLOSE  # short of its constraint, and with no step that helps
        if iteration and self.stopping.tol and ((is_steady and not is_stuck) or (stalled and abs(value) <= 4 * rounding)):
            return Status.CONVERGED
        if change > 0 or closer > 0:
            self.improved_at = iteration
        if stalled or (self.stopping.tol and iteration - self.improved_at >= self.stopping.patience):
            return Status.NO_PROGRESS
        return Status.MAX_ITER if iteration >= self.stopping.max_iter else None
