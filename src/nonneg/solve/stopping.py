"""Convergence: the rules of stopping, and the watch that applies them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from ..exceptions import IncompatibleError, is_count, is_number
from ..kernels.tuned import tuned
from .solution import Status


@dataclass(frozen=True)
class Stopping:
    """The rules of stopping.

    Parameters
    ----------
    tol : float
        A run has converged if one of three holds. From one check to the next, the objective changes by at most `tol` times its
        value (or its value at a relative error of 0.3 %, if that is more), or by rounding only. The extrapolated remaining decrease
        is at most 600 · `tol` of the value, and at most 0.6 %. Or, after 70 iterations, the last doubling of their number has
        gained at most 450 · `tol` of it, at most 0.45 %, and at most a quarter more than the doubling before. Constraints must be
        steady (see `steady`), a few more iterations must confirm it, and the point must be nearly stationary (see `Watch`). All
        scale with the data. With 0 it runs to `max_iter`, or until no factor can move.
    max_iter : int
        Most iterations of a run.
    check_every : int
        Iterations from one check to the next, which computes the objective.
    patience : int
        Iterations in a row that may bring neither the lowest objective nor the smallest violation so far; any number with `tol` 0.
    step_tol : float
        A run has also converged when one iteration changes no factor by more than `step_tol` times its norm. 0 does not look.
    steady : float
        Share of its violation by which a constraint may come closer to holding between checks of a converged run; a hundred times
        as much over the latter half of all iterations. Infinity takes the first check with a settled objective for the end, as the
        papers do.
    noise : float
        The objective by chance alone, if it is known, as for counts. If it exceeds the objective, changes are compared with it: a
        fit to noise gains less and less, but goes on for long.

    See Also
    --------
    Solver : Takes the steps.
    nonneg.factorize : Takes these settings as ``tol``, ``max_iter`` and ``check_every``.

    Examples
    --------
    >>> from nonneg.solvers import Stopping
    >>> Stopping(tol=1e-6, max_iter=200).max_iter
    200
    """

    tol: float = 1e-5
    max_iter: int = 1000
    check_every: int = 10
    patience: int = 300
    step_tol: float = 0.0
    steady: float = 1e-3
    noise: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.steady, int | float) or not self.steady >= 0:
            raise IncompatibleError(f"steady must be a number that is not negative; got {self.steady!r}.")
        for name in ("tol", "step_tol", "noise"):
            if not is_number(getattr(self, name)) or getattr(self, name) < 0:
                raise IncompatibleError(f"{name} must be a number that is not negative; got {getattr(self, name)!r}.")
        for name, least in (("max_iter", 0), ("check_every", 1), ("patience", 1)):
            if not is_count(getattr(self, name), least):
                raise IncompatibleError(f"{name} must be an int of at least {least}; got {getattr(self, name)!r}.")


_EXACT = tuned(1e-5, by="recorded_defaults", on="2026-11-15")
"""Share of the size of the data that is negligible, a relative error of 0.3 %: an exact fit falls forever."""
_SOLVED = 1e-9
"""Share of the size of the data that is zero: then the point need not be stationary. Components that an exact fit does not need
drift to any scale, and large ones make all other entries seem too small."""
_GAIN, _MOST = tuned((600.0, 6e-3), by="recorded_defaults", on="2026-11-16")
"""Remaining decrease of a converged run: in units of `tol`, and as a share of the objective, at most."""
_SPANS = tuned(((0.5, 3.0), (0.5**0.5, 1.0)), by="recorded_defaults", on="2026-11-16")
"""Shares of the iterations from which the remaining decrease is extrapolated, and the tolerance of each."""
_CRAWLS, _LONG, _FASTER = tuned((((0.5, 0.75), (0.5**0.5, 0.5)), 70, 1.25), by="recorded_defaults", on="2026-11-17")
"""Slow runs: (share of iterations, tolerated gain since then, in units of the remaining decrease), iterations before a run counts
as slow, and the largest ratio of a gain to the one before."""
_HALF_STEADY = tuned(100.0, by="recorded_defaults", on="2026-11-16")
"""Tolerance in units of `steady` over the latter half of the iterations."""
_FEW = tuned(4, by="recorded_defaults", on="2026-11-15")
"""Points of a curve that are too few to extrapolate."""
_CLOSE = tuned(1e-2, by="recorded_defaults", on="2026-11-15")
"""A violation below this falls fast enough."""
_HOLDS = tuned(3e-3, by="recorded_defaults", on="2026-11-17")
"""A violation below which the constraint holds. That of an exact fit falls for thousands of iterations."""


STATIONARY = tuned(0.02, by="recorded_defaults", on="2026-11-16")
"""KKT residual below which a point is nearly stationary; see `Point.kkt_residual`."""


@dataclass
class Watch:
    """Sees the checks of one run, and decides when it is over.

    An objective that is steady between checks may still be far from its minimum. It may go round in a cycle, of which checks at
    equal distances see the same point; or lie on a plateau near a saddle, as every random start of many components does for a
    while. So further iterations must confirm convergence: the objective is the same after each of them, unlike in a cycle, and does
    not fall faster and faster. On a plateau it does, since the distance from a saddle grows geometrically. (A constraint that is
    not restored, such as orthogonality, may make it fall faster by holding less; that is no gain.)

    The point must be nearly stationary, too: factors stuck at zero have a steady objective.

    Many curves fall like a power of the number of iterations, and settle long after the distance from the limit is negligible. So
    the remaining decrease is extrapolated from the last doubling of the iterations, and their last growth by √2, each compared with
    the one before. Gains that grow, as on a plateau, have no limit. Gains that stay the same have none either; if they are small, a
    long run ends. The objective must not rise during confirmation, as it would in a cycle.
    """

    stopping: Stopping
    eps: float
    window: float = 1.0
    """Iterations that show whether the objective falls faster and faster, in intervals between checks."""
    shape_by: int = 40
    """Iterations before which nothing is extrapolated: components have not taken shape."""
    value: float = math.inf
    violation: float = math.inf
    checked_at: int = 0
    least: tuple[float, float] = (math.inf, math.inf)
    """The lowest objective and the smallest violation so far."""
    improved_at: int = 0
    settled: list[tuple[float, float]] = field(default_factory=list)
    """The objective and the violation in each iteration since they have settled."""
    by_curve: bool = False
    """Whether they have settled by extrapolation only."""
    curve: list[tuple[int, float, float]] = field(default_factory=list)
    """Iteration, objective and violation (of the last check) of each known point."""

    def next_check(self, iteration: int) -> int:
        """The iteration of the next check."""
        every = self.stopping.check_every
        return iteration + 1 if self.settled else (iteration // every + 1) * every

    def check(
        self,
        iteration: int,
        value: float,
        magnitude: float,
        violation: float,
        stalled: bool,
        step: float = math.inf,
        kkt_residual: Callable[[], float] = lambda: 0.0,
    ) -> Status | None:
        """Why the run is over, if it is.

        Parameters
        ----------
        iteration : int
        value, magnitude : float
            The minimised value, and the size of the terms that it is a difference of.
        violation : float
            Of the constraints that are not restored fully.
        stalled : bool
            Whether the last iteration could not move any factor.
        step : float
            Length of the last iteration, relative to the factors.
        kkt_residual : callable
            Distance of the point from being stationary; called only if the run seems to be over.
        """
        if not math.isfinite(value):
            return Status.NON_FINITE
        tol, rounding = self.stopping.tol, 4 * self.eps * magnitude
        is_confirmed = self._confirms(
            iteration, value, violation, rounding, max(abs(value), _EXACT * magnitude, self.stopping.noise)
        )
        if iteration and step <= self.stopping.step_tol:
            return Status.CONVERGED
        if stalled and iteration:  # nothing more will happen
            is_close = violation <= _CLOSE or abs(value) <= 4 * rounding
            return Status.CONVERGED if tol and is_close and kkt_residual() <= STATIONARY else Status.NO_PROGRESS
        if tol and is_confirmed and (abs(value) <= max(4 * rounding, _SOLVED * magnitude) or kkt_residual() <= STATIONARY):
            return Status.CONVERGED
        if tol and iteration - self.improved_at >= self.stopping.patience:
            return Status.NO_PROGRESS
        return Status.MAX_ITER if iteration >= self.stopping.max_iter else None

    def _confirms(self, iteration: int, value: float, violation: float, rounding: float, size: float) -> bool:
        """Record a check; whether it confirms that the run has converged."""
        stopping, steps = self.stopping, iteration - self.checked_at
        fallen, closer = self.value - value, self.violation - violation
        share = 1.0 if self.settled else steps / stopping.check_every  # a single iteration may do more than its share
        is_steady = violation <= _HOLDS or abs(closer) <= stopping.steady * share * max(violation, _CLOSE)
        is_steady = steps > 0 and is_steady and abs(fallen) <= stopping.tol * share * size + rounding
        if self.curve and self.curve[-1][0] == iteration:  # known from the solver
            self.curve.pop()
        self.curve.append((iteration, value, violation))
        is_spent = fallen >= -rounding and not math.isinf(stopping.steady) and self._is_spent(rounding)
        if not self.settled:
            self.by_curve = not is_steady
        is_settled = is_spent or (is_steady and not self.by_curve)
        self.settled = [*self.settled, (value, violation)] if is_settled else []
        self.value, self.violation, self.checked_at = value, violation, iteration
        if value < self.least[0] or violation < self.least[1]:
            self.improved_at, self.least = iteration, (min(value, self.least[0]), min(violation, self.least[1]))
        if math.isinf(stopping.steady):
            return is_settled
        window = max(int(self.window * stopping.check_every), 1)
        return len(self.settled) > 2 * window and self._stays_settled(window, is_spent)

    def _stays_settled(self, window: int, is_spent: bool) -> bool:
        """Whether the iterations since the run has settled confirm it; looked at twice as long if they are undecided."""
        span = len(self.settled) - 1
        if span not in (2 * window, 4 * window, 8 * window):
            return False
        values, violations = np.array(self.settled).T
        if span == 8 * window:
            self.settled = []
        return is_spent or (not self.by_curve and (_flattens(values) or bool(violations[-1] > violations[0])))

    def _is_spent(self, rounding: float) -> bool:
        """Whether the extrapolated remaining decrease and constraint violation are negligible.

        A long run is not waited for if its gains are small and do not grow, though no end of them is in sight.
        """
        n, now, violation = self.curve[-1]
        if n < self.shape_by or len(self.curve) <= _FEW:
            return False
        enough = min(_GAIN * self.stopping.tol, _MOST) * max(abs(now), self.stopping.noise)
        if not all(self._gains(share)[2] <= times * enough + rounding for share, times in _SPANS):
            if n < _LONG:
                return False
            for share, times in _CRAWLS:
                before, gained, _ = self._gains(share)
                if not 0 <= gained <= min(times * enough, _FASTER * before):
                    return False
        closer = abs(self._at(n / 2)[1] - violation)
        return closer <= _HALF_STEADY * self.stopping.steady * max(violation, _CLOSE)

    def _gains(self, share: float) -> tuple[float, float, float]:
        """Three decreases of the objective: before a share of the iterations, since then, and still to come.

        The last is extrapolated: each growth of the number of iterations by the same factor brings the same share of the decrease
        before it, as in a power law. It is at least the last decrease, and infinite if decreases grow.
        """
        n, now, _ = self.curve[-1]
        (first, _), (second, _) = self._at(share * share * n), self._at(share * n)
        before, gained = first - second, second - now
        if gained <= 0:
            return before, gained, -gained
        return before, gained, max(gained, gained * gained / (before - gained)) if before > gained else math.inf

    def _at(self, iteration: float) -> tuple[float, float]:
        """The objective and the violation at an iteration, interpolated linearly between checks."""
        place = max(bisect_left(self.curve, iteration, key=itemgetter(0)), 1)
        (before, *start), (after, *end) = self.curve[place - 1 : place + 1]
        share = (iteration - before) / (after - before)
        value, violation = (one + share * (other - one) for one, other in zip(start, end, strict=True))
        return value, violation


def _flattens(values: np.ndarray) -> bool:
    """Whether a curve significantly flattens, or does not fall.

    A parabola is fitted to it. With times from −1 to 1 the standard error of the slope is √(3/n) of that of the values, and of the
    bend √(45/4n); three times that is significant.
    """
    times = np.linspace(-1.0, 1.0, len(values))
    offsets = values - values[-1]
    bend, slope, level = np.polynomial.polynomial.polyfit(times, offsets, 2)[::-1]
    deviation = float(np.std(offsets - (level + times * (slope + times * bend))))
    clear = 3 * deviation / math.sqrt(len(values))
    return bool(slope >= -math.sqrt(3) * clear or bend > math.sqrt(45 / 4) * clear)
