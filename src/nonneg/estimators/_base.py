"""What all estimators share. All of scikit-learn is here: reading X, parameters, starts, attributes, transform.

An estimator is a `Model` of X (n_samples × n_features) and a few words about how to start. What can be done with new samples
follows from the form. Where X itself comes first, as in ``X W W.T``, new samples are projected: codes are ``X W``. Where a
learned factor comes first, as in ``W H`` or ``W W.T X``, its rows are the codes of the samples, and those of new ones are solved
for, the rest being known.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ..arrays.contraction import low_rank, multiply
from ..arrays.data import dense
from ..arrays.reading import read_data
from ..constraints import Constraint, FixedMultiplier, Orthogonal
from ..encoding import encode
from ..exceptions import DataError, IncompatibleError, ShapeError
from ..expression import Word
from ..factorization import objective_of
from ..initialization import STARTS
from ..metrics import orthogonality, orthogonality_error
from ..model import Model
from ..shapes import infer_shapes
from ..solution import Status
from ..solvers import NAMES as SOLVERS
from ..solvers import Solver, get_solver
from ._hardening import HARDENINGS, hardened
from ._starts import Run, Stage, run_starts


class Orthogonality(NamedTuple):
    """How orthogonal a factor is, by the two measures of the papers."""

    rho: float
    """1 − the mean cosine between two components: NNP Eq. 65, 1 is best."""
    error: float
    """‖WᵀW − I‖ with components of unit length: PNMF Eq. 38, 0 is best."""


class Protocol(NamedTuple):
    """How a paper ran its rule."""

    solver: Solver
    init: str = "random"
    stops_on_step: bool = False
    """Whether `tol` is about how far a factor moves in one iteration, rather than about the objective."""


@dataclass(eq=False, repr=False)
class Factorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The base of the estimators; see `_model`, `_stages` and `_start` for what they add."""

    n_components: Any = "auto"
    _: KW_ONLY
    init: Any = "auto"
    solver: Any = "auto"
    n_init: int = 1
    max_iter: int = 5000
    tol: float = 1e-5
    random_state: Any = None
    n_jobs: Any = None
    warm_start: bool = False
    verbose: int = 0

    _paper: ClassVar[Protocol]
    _auto_init: ClassVar[str] = "kmeans"
    _auto_solver: ClassVar[str] = "adaptive"
    _clustered: ClassVar[tuple[int, ...]] = (1,)
    """The axes of X whose items the components group: features (1), samples (0), or both."""
    _reconstructs: ClassVar[bool] = True
    """Whether samples can be made of codes."""

    # ---- what an estimator says about itself

    def _model(self) -> Model:
        """The model of X."""
        raise NotImplementedError

    def _stages(self, model: Model, solver: Solver) -> list[Stage]:
        """What to minimise with what, one after the other, each from where the last one ended."""
        return [Stage(model, solver)]

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        """The factors that an array given as `init` stands for."""
        raise IncompatibleError("init must be a name or a dict of factors here; an array does not say which factor it is.")

    # ---- fitting

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the factors of X.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Non-negative.
        y : None
            Not used; there for pipelines.
        """
        X = self._read(X, reset=True)
        run = self._fit(X)
        self._keep(X, run)
        self._warn(run.status)
        return self

    def _warn(self, status: Status) -> None:
        """Say so where a fit did not end as it should."""
        if status is Status.NON_FINITE or (status is Status.MAX_ITER and self.tol):
            warnings.warn(f"{type(self).__name__}: {status.sentence}", ConvergenceWarning, stacklevel=3)

    def _read(self, X: Any, *, reset: bool) -> Any:
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32))
        return check_non_negative(X)

    def _fit(self, X: Any) -> Run:
        model, rank = self._model(), self._rank(X.shape)
        solver, protocol = self._get_solver()
        self._check_counts()
        init = self._read_init(X, model, rank, protocol)
        if isinstance(init, Mapping) and self.n_init > 1:
            raise IncompatibleError(f"init gives the factors, so n_init={self.n_init} would repeat the same run. Use n_init=1.")
        stages = self._stages(model, solver)
        tolerances = {"tol": 0.0, "step_tol": self.tol, "check_every": 1} if protocol.stops_on_step else {"tol": self.tol}
        runs = run_starts(
            self._data(X), stages, rank, init, self.n_init, self.random_state, self.n_jobs, self.verbose, self.max_iter, tolerances
        )
        best = min(runs, key=lambda run: run.objective if np.isfinite(run.objective) else np.inf)
        self.objectives_ = np.array([run.objective for run in runs])
        return self._hardened(X, replace(best, model=model))

    def _data(self, X: Any) -> Any:
        """X as the engine is to see it."""
        return X

    def _keep(self, X: Any, run: Run) -> None:
        """Store what was found."""
        self.factors_ = run.factors
        self.n_components_ = self._rank(X.shape)
        self.components_ = self._components(X, run)
        self.objective_, self.n_iter_, self.status_, self.history_ = run.objective, run.n_iter, run.status, run.history
        self.reconstruction_err_ = float(np.sqrt(2 * max(self._divergence_of(X, run), 0.0)))

    def _divergence_of(self, X: Any, run: Run) -> float:
        if all(constraint.penalty(np, np.ones((1, 1))) is None for constraint in run.model.constraints.values()):
            return run.objective
        bare = Model(run.model.form, run.model.divergence)
        return objective_of(self._data(X), bare, run.factors)

    # ---- parameters

    def _rank(self, shape: tuple[int, int]) -> Any:
        """`n_components`, checked."""
        given, most = self.n_components, min(shape)
        if given is None or (isinstance(given, str) and given == "auto"):
            return most
        if not isinstance(given, Integral) or isinstance(given, bool) or given < 1:
            raise ShapeError(f"n_components must be an int of at least 1, or 'auto'; got {given!r}.")
        return int(given)

    def _check_counts(self) -> None:
        if not isinstance(self.n_init, Integral) or isinstance(self.n_init, bool) or self.n_init < 1:
            raise IncompatibleError(f"n_init must be an int of at least 1; got {self.n_init!r}.")

    def _get_solver(self) -> tuple[Solver, Protocol]:
        """The solver, and what else belongs to the way it is run."""
        if isinstance(self.solver, str) and self.solver == "paper":
            return self._paper.solver, self._paper
        solver = self._auto_solver if isinstance(self.solver, str) and self.solver == "auto" else self.solver
        if isinstance(solver, str) and solver not in SOLVERS:
            raise IncompatibleError(
                f"Unknown solver {self.solver!r}. Known names: 'auto', 'paper', {', '.join(map(repr, SOLVERS))}; or an object of "
                "nonneg.solvers."
            )
        return get_solver(solver), Protocol(get_solver(solver), self._auto_init)

    def _read_init(self, X: Any, model: Model, rank: Any, protocol: Protocol) -> str | dict[str, np.ndarray]:
        """The name of a start, or the factors to start from."""
        init, warm = self.init, self._warm_factors(X, model, rank)
        if warm:
            return warm
        if isinstance(init, str):
            if init != "auto" and init not in STARTS:
                known = ", ".join(map(repr, ("auto", *STARTS)))
                raise IncompatibleError(f"Unknown init {init!r}. Known names: {known}; or an array, or a dict of factors.")
            if init != "auto":
                return init
            return protocol.init if self._can_cluster(X.shape, rank) or protocol.init not in ("kmeans", "angular") else "random"
        if isinstance(init, Mapping):
            return dict(init)
        if init is None or isinstance(init, Integral | float | bool):
            raise IncompatibleError(f"init must be a name, an array or a dict of factors; got {init!r}.")
        return self._start(dense(read_data(init, "init").array))

    def _can_cluster(self, shape: tuple[int, int], rank: Any) -> bool:
        """Whether there are as many samples (0) or features (1) as components, where a start would make clusters of them."""
        return all(rank <= shape[axis] for axis, rank in zip(self._clustered, np.atleast_1d(rank), strict=True))

    def _warm_factors(self, X: Any, model: Model, rank: Any) -> dict[str, np.ndarray]:
        """Where the last fit ended, if it is to be gone on from: the factors that still have the right size."""
        if not self.warm_start or not hasattr(self, "factors_") or self.components_.shape[1] != X.shape[1]:
            return {}
        shapes = infer_shapes(model, X.shape, rank, {})
        return {name: self.factors_[name] for name in model.learned if self.factors_[name].shape == shapes[name]}

    # ---- orthogonality

    def _orthogonal(self, model: Model) -> dict[str, Constraint]:
        """The factors that are to be orthogonal."""
        return {name: c for name, c in model.constraints.items() if isinstance(c, Orthogonal | FixedMultiplier)}

    def _hardened(self, X: Any, run: Run) -> Run:
        """The run after what `orthogonality` asks for, and `orthogonality_`."""
        orthogonal = self._orthogonal(run.model)
        if not orthogonal:
            return run
        how = getattr(self, "orthogonality", "soft")
        if how not in HARDENINGS:
            raise IncompatibleError(f"orthogonality must be one of {', '.join(map(repr, HARDENINGS))}; got {how!r}.")
        if how != "soft":
            run = hardened(self._data(X), run, {name: c.axis for name, c in orthogonal.items()}, how, self.max_iter, self.tol)  # type: ignore[attr-defined]
        self.orthogonality_ = {}
        for name, constraint in orthogonal.items():
            W = run.factors[name] if constraint.axis == "columns" else run.factors[name].T  # type: ignore[attr-defined]
            self.orthogonality_[name] = Orthogonality(orthogonality(W), orthogonality_error(W))
        return run

    # ---- what follows from the form

    @property
    def _is_projective(self) -> bool:
        model = self._model()
        return model.form[0].name == model.data

    @property
    def _transforms(self) -> bool:
        """Whether codes can be had for new samples: the form begins with the data, or with the factor of the samples."""
        model = self._model()
        first = model.form[0]
        return not first.transposed and (first.name == model.data or first.name in model.learned)

    def _cut(self, model: Model) -> tuple[Word, Word]:
        """The form, cut into codes and components."""
        form = model.form
        if form[0].name != model.data:
            return form[:1], form[1:]
        shapes = {name: factor.shape for name, factor in self.factors_.items()}
        return low_rank(form, shapes | {model.data: (2**62, self.n_features_in_)})

    def _components(self, X: Any, run: Run) -> np.ndarray:
        _, right = self._cut(run.model)
        return np.asarray(dense(multiply(right, {**run.factors, run.model.data: X})))

    @available_if(lambda self: self._transforms)
    def transform(self, X: Any) -> np.ndarray:
        """What each sample is made of: its codes, (n_samples, n_components).

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            Non-negative.
        """
        check_is_fitted(self)
        X, model = self._read(X, reset=False), self._model()
        if self._is_projective:
            left, _ = self._cut(model)
            return np.asarray(dense(multiply(left, {**self.factors_, model.data: X})))
        constraint = model.constraints[model.form[0].name].on_new_rows
        return encode(X, self.components_, model.divergence, constraint, max_iter=self.max_iter)

    @available_if(lambda self: self._reconstructs)
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Samples made of given codes.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Codes, as `transform` gives them.
        """
        check_is_fitted(self)
        codes = np.asarray(dense(X))
        if codes.ndim != 2 or codes.shape[1] != self.components_.shape[0]:
            raise ShapeError(
                f"Codes must have one column for each of the {self.components_.shape[0]} components; got shape {codes.shape}."
            )
        return codes @ self.components_

    @available_if(lambda self: self._reconstructs and self._transforms)
    def score(self, X: Any, y: Any = None) -> float:
        """Minus the divergence between X and what its codes give back, per sample; 0 is best.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        y : None
            Not used.
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        return self._score(X, self.transform(X))

    def _score(self, X: Any, codes: np.ndarray) -> float:
        model = Model("H C", self._model().divergence, {"C": "fixed"})
        return -objective_of(X, model, {"H": codes, "C": self.components_}) / X.shape[0]

    # ---- scikit-learn's machinery

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def check_non_negative(X: Any) -> Any:
    entries = X.data if sparse.issparse(X) else X
    if entries.size and entries.min() < 0:
        try:
            read_data(X)
        except DataError as error:
            raise DataError(f"Negative values in data passed to X: {error}") from None
    return X
