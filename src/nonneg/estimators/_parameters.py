"""The parameters that all estimators share: defaults, meaning, checks."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..data import read_array
from ..data.device import check_device
from ..data.reading import check_missing
from ..divergences import get_divergence
from ..exceptions import SOLVERS_OF_SCIKIT_LEARN, DataError, IncompatibleError, ShapeError, is_count, unknown, users_line
from ..model import Model
from ..solve.checkpoints import read_checkpoint
from ..solve.initialization import CLUSTERING
from ..solve.initialization import NAMES as INITIALIZATIONS
from ..solve.signature import infer_shapes
from ..solve.solvers import NAMES as SOLVERS
from ..solve.solvers import Solver, Stopping
from ..solve.starts import Named, Start
from ..solve.strategy import RANDOM
from ._fixed import read_fixed_components
from ._hardening import check_hardening
from .annotations import Callback, Device, Init, RandomState, Rank, SolverName, Store
from .shareable import KnownParameters


class Procedure(NamedTuple):
    """How a solver is run: from which initialization, and when it stops. `_paper` is the papers' own."""

    solver: str | Solver
    init: str | tuple[Start, ...] = (RANDOM,)
    stops_on_step: bool = False
    """Whether `tol` is about how far a factor moves in one iteration, rather than about the objective."""
    check_every: int = 10
    """Iterations between two looks at the objective."""
    steady: float = 1e-3
    """Of constraints, as in `Stopping`."""


_PENALTY = (
    "NMF(alpha_W=..., alpha_H=..., l1_ratio=...) and NonnegativeSparseCoding(alpha=...) have penalties on entries, and "
    "nonneg.constraints.Sparse is one for any factor of Factorization."
)
_ELSEWHERE = {
    "beta_loss": "scikit-learn's beta_loss is divergence here, with the same names and numbers.",
    "alpha_W": _PENALTY,
    "alpha_H": _PENALTY,
    "l1_ratio": _PENALTY,
    "shuffle": "Coordinate descent always visits rows in random order.",
    "n_components": "The number of components is n_clusters here.",
    "n_clusters": "The number of clusters is n_components here.",
}
"""Parameters of scikit-learn's NMF, and of clusterers, in the words of this library."""


@dataclass(eq=False, repr=False)
class Parameters(KnownParameters, ABC):
    """Parameters and their reading. A subclass adds its model, and the factor that an array given as `init` is."""

    n_components: Rank = "auto"
    _: KW_ONLY
    init: Init = "auto"
    solver: SolverName = "auto"
    n_init: int = 1
    max_iter: int = 5000
    tol: float = 1e-5
    random_state: RandomState = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0
    callback: Callback = None
    checkpoint: Store = None
    missing: str = "raise"
    device: Device = None

    _called_otherwise: ClassVar[Mapping[str, str]] = _ELSEWHERE
    _paper: ClassVar[Procedure]
    _auto_init: ClassVar[str | tuple[Start, ...]] = (Named("kmeans"),)
    """Starts to try, or "auto"."""
    _auto_solver: ClassVar[str] = "auto"
    """The name of the default solver."""
    _clustered: ClassVar[tuple[int, ...]] = (1,)
    """The axes of X whose items the components group: features (1), samples (0), or both."""

    @abstractmethod
    def _model(self) -> Model:
        """The model of X."""

    def _model_of(self, shape: tuple[int, int]) -> Model:
        """The model of X of this shape, on which weights of penalties may depend."""
        return self._model()

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        """The factors that an array given as `init` stands for."""
        raise IncompatibleError("init must be a name or a dict of factors here; an array does not say which factor it is.")

    @property
    def _init(self) -> Any:
        """`init`; None is "auto", as in scikit-learn."""
        return "auto" if self.init is None else self.init

    def _start_shape(self, shape: tuple[int, int]) -> tuple[int, int]:
        """The shape of `init` as an array, for a factor of the given shape."""
        (start,) = self._start(np.empty(shape)).values()
        return start.shape if start.shape == shape else (shape[1], shape[0])

    def _rank(self, shape: tuple[int, int]) -> Any:
        """`n_components`, checked."""
        given, most = self.n_components, min(shape)
        if given is None or (isinstance(given, str) and given == "auto"):
            if not isinstance(self._init, str):
                return None  # the factors given as `init` say it
            fixed = getattr(self, "fixed_components", None)
            return most if fixed is None else len(read_fixed_components(fixed))
        if not isinstance(given, Integral) or isinstance(given, bool) or given < 1:
            raise ShapeError(f"n_components must be an int of at least 1, or 'auto'; got {given!r}.")
        return int(given)

    def _check_numbers(self) -> None:
        """Refuse invalid parameters before any work."""
        Stopping(tol=self.tol, max_iter=self.max_iter)
        check_missing(self.missing)
        check_device(self.device)
        how = getattr(self, "orthogonality", "soft")
        if not isinstance(how, str) or how != "soft":
            check_hardening(how)
        if not isinstance(self.verbose, Integral | bool):
            raise IncompatibleError(f"verbose must be an int, or True or False; got {self.verbose!r}.")
        if self.callback is not None and not callable(self.callback):
            raise IncompatibleError(f"callback must be a function of one argument, or None; got {self.callback!r}.")
        if self.checkpoint is not None:
            read_checkpoint(self.checkpoint)
        if not isinstance(self.warm_start, bool | np.bool_):
            raise IncompatibleError(f"warm_start must be True or False; got {self.warm_start!r}.")
        if not is_count(self.n_init, 1):
            raise IncompatibleError(f"n_init must be an int of at least 1; got {self.n_init!r}.")
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or isinstance(self.n_jobs, bool) or not self.n_jobs):
            raise IncompatibleError(f"n_jobs must be None or an int other than 0, as in joblib; got {self.n_jobs!r}.")

    def _check_names(self) -> None:
        """Refuse names of divergences, solvers and initializations that are not known."""
        if hasattr(self, "divergence"):
            get_divergence(self.divergence)
        self._get_solver()
        if isinstance(self._init, str) and self._init not in ("auto", *INITIALIZATIONS):
            raise unknown("init", self._init, ("auto", *INITIALIZATIONS), "an array, or a dict of factors")

    def _check_shapes(self, X: Any, model: Model, rank: Any, given: Mapping[str, Any] | None) -> None:
        """Refuse sizes that do not fit, in the estimator's words."""
        given = {name: np.shape(factor) for name, factor in (given or {}).items()}
        model.check_given(given)
        fixed = getattr(self, "fixed_components", None)
        fixed = None if fixed is None else read_fixed_components(fixed)
        if fixed is not None and np.shape(fixed)[1:] != (X.shape[1],):
            raise ShapeError(f"fixed_components has shape {np.shape(fixed)}; each row must have the {X.shape[1]} features of X.")
        if fixed is not None and rank is not None and len(fixed) > rank:
            raise ShapeError(f"fixed_components gives {len(fixed)} components, more than n_components={rank}.")
        try:
            known = given if rank is None else {name: shape for name, shape in given.items() if name in model.fixed}
            shapes = infer_shapes(model, X.shape, rank, known)
        except ShapeError as error:
            raise ShapeError(str(error).replace("rank", "n_components")) from None
        for name, shape in given.items():
            if shape != shapes.get(name, shape):
                is_start = not isinstance(self._init, Mapping) and name in model.learned
                wanted, was = (shapes[name], shape) if not is_start else (self._start_shape(shapes[name]), np.shape(self._init))
                raise ShapeError(f"init{'' if is_start else f'[{name!r}]'} has shape {was}, but {wanted} is needed here.")

    def _get_solver(self) -> tuple[str | Solver, Procedure]:
        """The solver and the options of its run."""
        if isinstance(self.solver, str) and self.solver == "paper":
            return self._paper.solver, self._paper
        solver = self._auto_solver if isinstance(self.solver, str) and self.solver == "auto" else self.solver
        if isinstance(solver, str) and solver in SOLVERS_OF_SCIKIT_LEARN:
            ours = SOLVERS_OF_SCIKIT_LEARN[solver]
            warnings.warn(
                f"{type(self).__name__}: solver={solver!r} of scikit-learn is solver={ours!r} here; 'auto' takes the quickest.",
                UserWarning,
                stacklevel=users_line(),
            )
            solver = ours
        if not isinstance(solver, Solver) and (not isinstance(solver, str) or solver not in ("auto", *SOLVERS)):
            raise unknown("solver", self.solver, ("auto", "paper", *SOLVERS), "an object of nonneg.solvers")
        return solver, Procedure(solver, self._auto_init)

    def _read_init(self, X: Any, model: Model, rank: Any, procedure: Procedure) -> str | tuple[Start, ...] | dict[str, np.ndarray]:
        """The name of an initialization, starts to try, or the factors to start from."""
        init = self._init
        if isinstance(init, str):
            if init != "auto" and init not in INITIALIZATIONS:
                raise unknown("init", init, ("auto", *INITIALIZATIONS), "an array, or a dict of factors")
            if init != "auto":
                return init
            named = {start.name for start in procedure.init if isinstance(start, Named)}
            return procedure.init if not CLUSTERING & named or self._can_cluster(X.shape, rank) else (RANDOM,)
        if isinstance(init, Integral | float | bool):
            raise IncompatibleError(f"init must be a name, an array or a dict of factors; got {init!r}.")
        if self.n_init > 1:
            raise IncompatibleError(f"init gives the factors, so n_init={self.n_init} would repeat the same run. Use n_init=1.")
        given = dict(init) if isinstance(init, Mapping) else self._start(_read_start(init))
        if procedure is self._paper:  # OPNMF's codes depend on the lift of zeros
            floor = getattr(procedure.solver, "floor", None) or 0.0
            return {name: np.where(np.equal(value, 0), floor, value) if floor else value for name, value in given.items()}
        read = _without_zeros if self.max_iter else _read_factor
        return {name: read(value, name) if name in model.learned else value for name, value in given.items()}

    def _can_cluster(self, shape: tuple[int, int], rank: Any) -> bool:
        """Whether there are as many samples (0) or features (1) as components, for starts that cluster them."""
        return all(rank <= shape[axis] for axis, rank in zip(self._clustered, np.atleast_1d(rank), strict=True))


def _read_start(array: Any) -> np.ndarray:
    """An array given as `init`, checked."""
    values = read_array(array, "init")
    if not values.any():
        raise DataError("init is zero everywhere, and a multiplicative rule cannot leave zero. Start from positive numbers.")
    return values


def _read_factor(value: Any, name: str) -> np.ndarray:
    """A factor given as `init`, checked."""
    return read_array(value, f"init[{name!r}]")


def _without_zeros(value: Any, name: str) -> np.ndarray:
    """A starting factor with its zeros made a thousandth of the mean: a multiplicative rule would take long to leave less."""
    factor = _read_factor(value, name)
    return np.where(factor > 0, factor, 1e-3 * factor.mean()) if factor.any() else factor
