"""The result of a factorization: records, explanation, solution. Data only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self

import numpy as np

from ..data import Data, Need, as_dense
from ..exceptions import IncompatibleError
from ..kernels.namespace import Array
from ..model import Model
from ..planning.plans import multiply


class Status(StrEnum):
    """Why a run ended: a string, explained by `sentence`.

    See Also
    --------
    Solution : Has one.
    nonneg.solvers.Stopping : The rules of stopping.

    Examples
    --------
    >>> import nonneg
    >>> nonneg.Status("max_iter").sentence
    'Stopped at max_iter before convergence (raise max_iter or tol).'
    """

    CONVERGED = "converged", "Converged (relative change below tol, KKT residual below 0.02)."
    MAX_ITER = "max_iter", "Stopped at max_iter before convergence (raise max_iter or tol)."
    NO_PROGRESS = "no_progress", "Stopped: no step improves the objective or a constraint any more."
    NON_FINITE = (
        "non_finite",
        "Stopped: the objective is infinite or NaN; the last finite point is returned (try float64, or rescale X).",
    )
    UNCHECKED = "unchecked", "Stopped: factors are steady within tol; the objective is not given, so nothing shows whether it fell."
    STOPPED_BY_CALLBACK = "stopped_by_callback", "Stopped by the callback."
    STOPPED_BY_USER = "stopped_by_user", "Stopped by the user before convergence; the best point so far is returned."

    sentence: str

    def __new__(cls, value: str, sentence: str) -> Self:
        member = str.__new__(cls, value)
        member._value_, member.sentence = value, sentence
        return member


@dataclass(frozen=True)
class Record:
    """The state of a run at one check."""

    iteration: int
    seconds: float
    objective: float
    violation: Mapping[str, float]
    """For each constrained factor, its distance from the constraint; zero is best. Stochastic factors satisfy theirs exactly: for
    them, the distance of the last step before it was restored."""
    exponent: Mapping[str, float]
    """For each learned factor, the exponent of its last step."""
    readings: int = 0
    """Passes over data out of core so far."""


@dataclass(frozen=True, eq=False)
class Progress(Record):
    """Argument of callbacks: the record of a check, with the current learned factors.

    For divergences that do not depend on the scale of X̂ (γ, Rényi), the factors of the `Solution` are rescaled once more at the
    end.
    """

    factors: Mapping[str, Array] = field(default_factory=dict, repr=False)
    reading_seconds: float = 0.0
    """Seconds of the last pass over data out of core."""
    readings_left: int | None = None
    """Further passes, at most."""


class History(list[Record]):
    """The records of a run, one for each check; ``history.objective`` and the like are their columns."""

    def followed_by(self, other: History) -> History:
        """One history after the other, iterations and seconds counted on."""
        if not self:
            return History(other)
        last = self[-1]
        later = [
            replace(record, iteration=record.iteration + last.iteration, seconds=record.seconds + last.seconds)
            for record in other[1:]
        ]
        return History([*self, *later])

    def ending_with(self, **columns: Any) -> History:
        """The same history with other values in its last record."""
        return History([*self[:-1], *(replace(record, **columns) for record in self[-1:])])

    def __getitem__(self, index: Any) -> Any:
        return History(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    @property
    def iteration(self) -> np.ndarray:
        return np.array([record.iteration for record in self])

    @property
    def seconds(self) -> np.ndarray:
        return np.array([record.seconds for record in self])

    @property
    def objective(self) -> np.ndarray:
        return np.array([record.objective for record in self])

    @property
    def readings(self) -> np.ndarray:
        return np.array([record.readings for record in self])

    @property
    def violation(self) -> dict[str, np.ndarray]:
        return self._columns("violation")

    @property
    def exponent(self) -> dict[str, np.ndarray]:
        return self._columns("exponent")

    def _columns(self, name: str) -> dict[str, np.ndarray]:
        keys = getattr(self[-1], name) if self else ()
        return {key: np.array([getattr(record, name)[key] for record in self]) for key in keys}

    def __repr__(self) -> str:
        if not self:
            return "History(empty)"
        first, last = self[0], self[-1]
        return (
            f"History({len(self)} checks, iterations {first.iteration}–{last.iteration}, objective "
            f"{first.objective:.6g} → {last.objective:.6g}, {last.seconds:.2f} s)"
        )


@dataclass(frozen=True)
class Took:
    """Cost of a stage of a fit.

    Attributes
    ----------
    seconds : float
    iterations : int, optional
        None for a stage that only looked for a start.
    passes : int, optional
        Passes over data out of core.
    """

    seconds: float
    iterations: int | None = None
    passes: int | None = None

    def __str__(self) -> str:
        counts = ((self.iterations, "iteration", "iterations"), (self.passes, "pass", "passes"))
        parts = [f"{count} {one if count == 1 else several}" for count, one, several in counts if count is not None]
        return ", ".join([*parts, f"{self.seconds:.2g} s"])


@dataclass(frozen=True)
class Step:
    """One line of an explanation: the start, or the descent.

    Attributes
    ----------
    name : str
    text : str
    why : str
        The reason.
    took : Took, optional
        After a fit.
    """

    name: str
    text: str
    why: str = ""
    took: Took | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Explanation:
    """How a fit is done, in lines for people; `str` gives them all.

    Attributes
    ----------
    data : str
        Shape, storage and place of X.
    solved : str
        The model.
    first_pass : str
        Results of the first pass over X.
    steps : tuple of Step
        The stages.
    memory : str
        Peak memory beyond X.
    passes : str
        Passes over X.
    note : str
        A remark on the model.
    device : str
        The device, the precision there, and the bytes and the least time of a pass over X; empty for main memory.
    """

    data: str
    solved: str
    first_pass: str
    steps: tuple[Step, ...]
    memory: str
    passes: str
    note: str = ""
    device: str = ""

    @property
    def lines(self) -> list[tuple[str, str, str]]:
        """Name, text and reason of each line; after a fit the text ends with the cost of the stage."""
        stages = [
            (f"{number} {step.name}", step.text if step.took is None else f"{step.text}: {step.took}", step.why)
            for number, step in enumerate(self.steps, 1)
        ]
        device = [("device", self.device, "")] if self.device else []
        head = [("X", self.data, ""), *device, ("solved", self.solved, self.note), ("first pass", self.first_pass, "")]
        return [*head, *stages, ("memory", self.memory, ""), ("passes", self.passes, "")]

    def __str__(self) -> str:
        width = max(len(name) for name, *_ in self.lines) + 2
        return "\n".join(f"{name:{width}}{text}{f'  ({why})' if why else ''}" for name, text, why in self.lines)


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of `nonneg.factorize`.

    Attributes
    ----------
    factors : dict of arrays
        Every factor of the form, learned or fixed, by name, as the run left it. For divergences that do not depend on scale (γ,
        Rényi) the first free factor is scaled so that ΣX̂ = ΣX.
    objective : float
        Of `factors`: the divergence, or the trace if that is maximised. No check of `history` was better by more than rounding,
        unless a constraint is only approached, as orthogonality is: then it is that of the last check.
    history : History
        Iteration, seconds, objective, constraint violation and exponent at every check.
    n_iter : int
    status : Status
        Why the run ended. ``status == "converged"`` works; ``status.sentence`` explains.
    model : Model
    data : Data
        The approximated data.
    scaled_objective : float
        The minimised value, in the units of the solver: of two solutions for the same data the lower one is better, also if their
        objectives over- or underflow.
    solver : str
        The name of the solver: "coordinate", "newton", "multiplicative", …
    strategy : Explanation, optional
        The stages of the fit, and the cost of each.

    See Also
    --------
    factorize : Returns one.
    Status : The ways in which a run ends.
    nonneg.plot.convergence : Draws its history.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> X = np.random.default_rng(0).random((12, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=2, random_state=0)
    >>> solution.factors["W"].shape, solution.reconstruct().shape, solution.status == "converged"
    ((12, 2), (12, 8), True)
    """

    factors: dict[str, Array]
    objective: float
    history: History
    n_iter: int
    status: Status
    model: Model
    data: Data | None = field(default=None, repr=False)
    scaled_objective: float = field(default=math.nan, repr=False)
    solver: str = ""
    strategy: Explanation | None = field(default=None, repr=False)

    def reconstruct(self) -> Array:
        """The product of the form: X̂, a dense array."""
        if not self.model.form:
            raise IncompatibleError("An objective of one's own has no product to reconstruct.")
        name, is_there = self.model.data, self.data is not None and Need.PRODUCTS in self.data.costs.gives
        if name in self.model.form.names and not is_there:
            raise IncompatibleError(f"{name} itself is not known, only its Gram matrix, so there is nothing to reconstruct.")
        return as_dense(multiply(self.model.form, self.factors, {name: self.data} if self.data is not None else {}))

    def __str__(self) -> str:
        shapes = ", ".join(f"{name} {tuple(factor.shape)}" for name, factor in self.factors.items())
        return f"{self.model}\n\n{shapes}\nobjective {self.objective:.6g} after {self.n_iter} iterations. {self.status.sentence}"

    def __repr__(self) -> str:
        return f"Solution({self.model.title!r}, objective={self.objective:.6g}, n_iter={self.n_iter}, status={self.status.value!r})"
