"""Base of all estimators: `fit`, `transform`, `score`, and the fitted attributes.

Parameters are in `_parameters`, the reading of X in `validation`.

An estimator is a `Model` of X (n_samples × n_features) and options of the start. The form says how new samples
are coded. If X itself comes first, as in ``X W W.T``, new samples are projected: codes are ``X W``. If a
learned factor comes first, as in ``W H`` or ``W W.T X``, its rows are the codes of the samples, and those of new ones are solved
for, the rest being known.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..algebra.expression import Word
from ..data import (
    Data,
    Observed,
    as_dense,
    is_elsewhere,
    is_location,
    lazily,
    names_of,
    opened,
    opened_to_fit,
    read_data,
    read_weighted,
    refuse_name,
)
from ..data.checking import check_observed
from ..data.device import check_device, in_memory, is_on_device, on_host, placed
from ..data.reading import check_missing, combined, with_nan
from ..data.weighted import count_missing, imputed_by
from ..divergences import Objective
from ..exceptions import DataError, IncompatibleError, Stopped, users_line
from ..kernels.namespace import to_host
from ..metrics.bases import measure_overlap
from ..model import Model
from ..planning.plans import low_rank, multiply
from ..solve.checkpoints import read_checkpoint
from ..solve.context import Context
from ..solve.initialization import make_generator
from ..solve.problem import bind, counts_filled, signature_of
from ..solve.restarts import make_first_pass, solve_ranks, solve_restarts
from ..solve.signature import infer_shapes
from ..solve.solution import Explanation, Solution, Status
from ..solve.solving import error_of, objective_of
from ..solve.stopping import Stopping
from ..solve.strategy import Options, choose, explain_strategy
from ._callbacks import Callbacks, told_to_callbacks, with_callbacks
from ._hardening import check_partition, hardened
from ._libraries import fit_with_library, with_library
from ._naming import with_sample_names
from ._panels import restricted
from ._parameters import Parameters
from .encoding import encode, within_reach
from .shareable import Shareable
from .validation import check_features, check_width, read_codes, read_samples, warn_of_empty


class Orthogonality(NamedTuple):
    """How orthogonal a factor is, by the two measures of the papers.

    See Also
    --------
    nonneg.metrics.orthogonality : The first measure.
    nonneg.metrics.orthogonality_error : The second measure.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import OPNMF
    >>> X = np.kron(np.eye(3), np.ones((4, 5)))
    >>> measured = OPNMF(3, random_state=0).fit(X).orthogonality_["W"]
    >>> round(measured.rho, 3), bool(measured.error < 1e-3)
    (1.0, True)
    """

    rho: float
    """1 − the mean cosine between two components: NNP Eq. 65, 1 is best."""
    error: float
    """‖WᵀW − I‖ with components of unit length: PNMF Eq. 38, 0 is best."""


_MANY = 100
"""Warn above so many components if the user has not chosen the number."""


def _can_transform(estimator: Any) -> bool:
    if estimator._transforms:
        return True
    raise AttributeError(
        f"{type(estimator).__name__} with the form {estimator.form!r} has no codes for new samples: that takes a form that begins "
        "with X, or with a factor that is learned and not transposed."
    )


@dataclass(eq=False, repr=False)
class Factorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Shareable, Callbacks, Parameters, BaseEstimator):
    """Base of the estimators, which add `_model`, `_orthogonal` and `_start`.

    Parameters
    ----------
    divergence : str, float or Objective, default="euclidean"
        How X and its approximation are compared: a name such as "euclidean", "kullback-leibler" or
        "itakura-saito"; a number b for ``Beta(b)``, numbered as scikit-learn's ``beta_loss``; or an object of
        `nonneg.divergences`.
    init : {"auto", "random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "angular", "coclusters"} or array or dict, default="auto"
        How to start. "auto" is "nndsvda". An array is the components to start from, (n_components, n_features); a
        dict gives factors by name, the others are drawn at random. Zeros in them become a thousandth of the mean,
        from which they can come back.
    solver : {"auto", "paper", "coordinate", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "coordinate" for the Euclidean distance, "quasi-newton" for other divergences, "adaptive" with
        constraints. "paper" is the papers' own protocol: exponent 1 and the best scale after each step, from a
        random start. "multiplicative" is the rule with the exponent that the theory proves; "adaptive" increases
        it while the objective falls; "coordinate" takes exact steps in one entry after the other; "quasi-newton"
        learns from its last steps (L-BFGS); or an object of `nonneg.solvers`.
    n_init : int, default=1
        How many restarts; the one with the lowest objective is kept. `objectives_` tells how much they differ.
    max_iter : int, default=5000
        The most iterations of a start.
    tol : float, default=1e-5
        A run has converged when ten iterations change the objective by no more than `tol` times its value, or when
        its extrapolated remaining decrease is at most 600 · `tol` of it (and at most 0.6 %); more iterations
        confirm it, and the point is nearly stationary. 0 runs to `max_iter`.
    random_state : int, Generator, RandomState or None, default=None
        For the starts. The same seed gives the same result.
    n_jobs : int, default=None
        How many starts run at the same time, as in joblib.
    warm_start : bool, default=False
        Whether another `fit` goes on from the end of the last one, if sizes allow.
    verbose : int, default=0
        1 prints progress, a line a second at the most.
    callback : callable, default=None
        Called at every check with a `Progress`; returning True ends the run. With several starts, it sees them all.
    checkpoint : str, path or Checkpoint, default=None
        A file in which the fit is written down every minute. Fitting again with it goes on from there, to the same bits; for other
        data or parameters it is refused. Clones, as those of a grid search, need a folder; see `nonneg.Checkpoint`.
    missing : {"raise", "ignore"}, default="raise"
        Treatment of NaN, masked entries and NA in X. With "ignore" they have no part in the objective, codes are
        those of the known entries, and `inverse_transform` estimates the missing ones. See `Observed` for sparse X.
    device : {None, "auto", "cpu", "cuda", "cuda:1", ...}, default=None
        Where to work. None is where X lies: main memory for NumPy, SciPy and files, its device for a tensor. A card, "cuda" or
        "cuda:1", takes PyTorch with CUDA, or CuPy: X is moved there, and results are of the kind of X. "cpu" moves a tensor to
        main memory; "auto" takes a card where there is one and X is so large that it is quicker.
    n_components : int or "auto", default="auto"
        How many components. "auto" takes as many as there are samples or features, whichever is less; more than
        100 are warned of, since that may take long.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The parts that samples are made of, one in each row.
    factors_ : dict of arrays
        Every factor of the form, by name, as the fit left it.
    model_ : Model
        The minimised objective: ``print(model_)`` shows it and its multiplicative rules.
    solver_ : str
        Name of the solver, also if `solver` is "auto": "coordinate", "newton", "multiplicative", …
    reconstruction_err_ : float
        √(2 D) with D the divergence between X and its approximation, as in scikit-learn: ‖X − X̂‖ for the
        Euclidean distance.
    objective_ : float
        Objective at the end: D and the penalties of constraints, if they have any.
    objectives_ : array of shape (n_init,)
        The objective that each start ended at.
    n_iter_ : int
        Iterations of the start that was kept.
    status_ : Status
        Why it ended; ``status_.sentence`` explains.
    history_ : History
        Objective, violation and exponents at every check of the start that was kept.
    strategy_ : Explanation
        Stages that ran, each with its reason and cost; ``print`` shows them.
    n_features_in_ : int
        How many features X had.
    feature_names_in_ : array of shape (n_features_in_,)
        Only if X has feature names that are all strings.
    n_components_ : int
        How many components there are.
    """

    _made_of: ClassVar[tuple[type, ...]] = (Orthogonality,)
    _reconstructs: ClassVar[bool] = True
    """Whether codes can be mapped back to samples."""
    _takes_signs: ClassVar[bool] = False
    """Whether X may have negative entries."""
    _begins_euclidean: ClassVar[bool] = False
    """Whether runs minimise the Euclidean distance, and `_finished` goes on with the divergence of the model."""

    save, report = with_library(Shareable.save), with_library(Shareable.report)

    # ---- fitting

    @fit_with_library
    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, weights: Any = None) -> Any:
        """Learn the factors of X.

        Parameters
        ----------
        X : array, sparse array, table, AnnData, Observed, path or open file of shape (n_samples, n_features)
            Non-negative.
        y : None
            Not used; there for pipelines.
        sample_weight : array of shape (n_samples,), default=None
            By which the loss of each sample is multiplied: a sample of weight 2 is one that is there twice.
        weights : array of the shape of X, or pair of arrays (samples, features), default=None
            The same for each entry. An entry of weight 0 is missing, whatever stands there. A path, an open file or a memory map,
            too, which is read as X is; for X in files or on Dask also a Dask array.
        """
        context = Context(self.callback, verbose=bool(self.verbose))
        X = self._read_to_fit(X if type(X) is np.ndarray else opened_to_fit(X), sample_weight, weights)
        before = 0 if X.log is None else X.log.before
        with told_to_callbacks(self, self._n_starts) if vars(self).get("_skl_callbacks") else nullcontext(), context.watching(X):
            solution = self._fit(X, context)
        X = imputed_by(X, solution.data) if X.costs.weighted else X
        if X.log is not None:
            X.log.before = before  # nested fits reset it
        self._keep(X, solution)
        self._end(solution, context)
        return self

    @classmethod
    def _fit_together(cls, copies: Sequence[Any], X: Any) -> bool:
        """Fit copies of one estimator that differ in rank and seed, where a device takes them in one batch; whether it has."""
        data = copies[0]._read_to_fit(X)
        is_single = all(copy._n_starts == 1 and copy._kept_of_start is None and copy.checkpoint is None for copy in copies)
        if not is_single or data.namespace.is_host or data.costs.weighted or data.costs.out_of_core or data.facts.peak == 0:
            return False
        for copy in copies[1:]:
            copy.n_features_in_ = copies[0].n_features_in_
        planned = [copy._planned(data) for copy in copies]
        ranks, (model, *_) = [rank for _, rank, *_ in planned], planned[0]
        if not all(isinstance(rank, int) for rank in ranks) or any(given is not None for *_, given in planned):
            return False
        context = Context()
        with context.watching(data):
            problem = bind(model, data, max(ranks), None, horizon=copies[0].max_iter * len(copies))
            seeds = [int(make_generator(copy.random_state).uniform() * 2**31) for copy in copies]
            found = solve_ranks(problem, [options[0] for *_, options, _ in planned], ranks, seeds, context)
        for copy, solution in zip(copies, found or (), strict=False):
            best = copy._best_of(data, [solution])
            copy._keep(data, best)
            copy._end(best, context)
        return found is not None

    def _end(self, solution: Solution, context: Context) -> None:
        """Print how a fit ended, warn if it ended early, and raise after Ctrl-C, now that all attributes are of one fit."""
        context.listener.done(
            f"{solution.status.sentence} Objective {solution.objective:.8g} after {solution.n_iter} iterations", type(self).__name__
        )
        if solution.status is Status.NON_FINITE or (solution.status is Status.MAX_ITER and self.tol):
            warnings.warn(f"{type(self).__name__}: {solution.status.sentence}", ConvergenceWarning, stacklevel=users_line())
        if context.interrupt.is_set() and self.status_ is Status.STOPPED_BY_USER:
            raise Stopped(f"{type(self).__name__} was interrupted; it holds the best so far.")
        if context.interrupt.is_set():  # too late to change anything: a start may have been over, here or in a checkpoint
            raise Stopped(
                f"{type(self).__name__} was interrupted when its fit was over; it holds all of it. {self.status_.sentence}"
            )

    def _read(self, X: Any, *, reset: bool, weights: Any = None) -> Data:
        """X as checked data. Files and data on other machines are checked when they are first read."""
        check_missing(self.missing)
        check_device(self.device)
        is_array = type(X) is np.ndarray
        if not is_array:
            X = opened(X)
            refuse_name(X)
        ignores, given = self.missing == "ignore", X
        if not is_array and is_on_device(X):
            data = self._checked(read_weighted(X, missing=self.missing, weights=weights), unknown=not reset)
            check_features(self, data.shape[1], None, reset=reset)
        else:
            if isinstance(X, Data | Observed):
                check_features(self, X.shape[1], X.feature_names if isinstance(X, Data) else None, reset=reset)
                X = read_weighted(X, missing=self.missing, weights=weights)
            else:
                has_weights = ignores or weights is not None
                given = read_samples(self, with_nan(X) if ignores else X, reset=reset, allows_nan=has_weights)
                X = read_weighted(given, missing=self.missing, weights=weights) if has_weights else given
            data = X if isinstance(X, Data) and X.costs.out_of_core else self._checked(X, unknown=not reset)
            if isinstance(given, Observed) or (ignores and not isinstance(given, Data)):
                warn_of_empty(self, given, is_fit=reset)
        return data if self.device is None else placed(data, self.device)

    def _checked(self, X: Any, **settings: Any) -> Data:
        """X as data, or an error that locates a negative entry, in scikit-learn's words and ours."""
        try:
            return read_data(X, signed=self._takes_signs, **settings)
        except DataError as error:
            if " negative entr" not in str(error):
                raise
            raise DataError(f"Negative values in data passed to X: {error}") from None

    def _fit(self, X: Data, context: Context) -> Solution:
        """The best solution of all starts."""
        first, rank, options, given = self._planned(X)
        context.checkpoint = None if self.checkpoint is None else read_checkpoint(self.checkpoint)
        if X.costs.out_of_core:
            make_first_pass(X, first, rank, options[0], given, resumes=context.resumes)
            check_observed(X, "X")
        if X.facts.peak == 0:
            raise DataError("X is zero everywhere: there is nothing in it to factorize.")
        problem = bind(first, X, rank, given, horizon=self.max_iter * len(options))
        solutions = solve_restarts(problem, options, self.random_state, context, self.n_jobs, self._kept_of_start)
        return self._best_of(X, solutions)

    def _best_of(self, X: Data, solutions: list[Solution]) -> Solution:
        """The solution of a fit, given those of its starts, improved, scaled and hardened as this estimator does."""
        if X.log is not None:
            X.log.over = None  # no more interruption from here: finish, so that the result is kept
        is_weighted = X.costs.weighted
        solutions = [self._finished(imputed_by(X, found.data) if is_weighted else X, found) for found in solutions]
        for solution in solutions:
            solution.factors.update((name, to_host(factor)) for name, factor in solution.factors.items())
        self.objectives_ = np.array([solution.objective for solution in solutions])
        found = in_scale(self._chosen(X, solutions), self._norm)
        return self._hardened(imputed_by(X, found.data) if is_weighted else X, found)

    @property
    def _n_starts(self) -> int:
        """The number of runs of a fit."""
        return self.n_init

    _kept_of_start: ClassVar[Any] = None
    """The part of the solution of one start that is kept until all have ended, as a method; all of it by default."""

    def _chosen(self, X: Data, solutions: list[Solution]) -> Solution:
        """The solution of a fit, given those of its starts: the best."""
        return min(solutions, key=lambda found: found.scaled_objective if np.isfinite(found.scaled_objective) else np.inf)

    def _planned(self, X: Data) -> tuple[Model, Any, list[Options], Mapping[str, Any] | None]:
        """The model of the runs, the rank, the options of each restart, and the given factors, all checked before any work."""
        model, rank = self._model_of(X.shape), self._rank(X.shape)
        solver, procedure = self._get_solver()
        self._check_numbers()
        self._check_model(model, rank)
        warm = self._warm_factors(X, model, rank) if self.warm_start else {}
        init = warm or self._read_init(X, model, rank, procedure)
        given = init if isinstance(init, Mapping) else None
        self._check_shapes(X, model, rank, given)
        by_step = {"tol": 0.0, "step_tol": self.tol, "check_every": 1}
        settings: dict[str, Any] = by_step if procedure.stops_on_step else {"tol": self.tol, "check_every": procedure.check_every}
        stopping = Stopping(max_iter=self.max_iter, steady=procedure.steady, **settings)
        options = [Options(init, solver, stopping, number, bool(warm)) for number in range(self._n_starts if given is None else 1)]
        first = model if not self._begins_euclidean else Model(model.form, "euclidean", model.constraints)
        return first, rank, options, given

    def _explain(self, X: Any, sample_weight: Any = None, weights: Any = None) -> Explanation:
        """The explanation of a fit to X, for `nonneg.explain`."""
        own = clone(self)
        return own._explain_data(own._read_to_fit(X, sample_weight, weights))

    def _read_to_fit(self, X: Any, sample_weight: Any = None, weights: Any = None) -> Data:
        """X as data to be fitted."""
        return self._read(X, reset=True, weights=weights if sample_weight is None else _with_samples(sample_weight, weights, X))

    def _explain_data(self, X: Data) -> Explanation:
        """The explanation of a fit to data that were read."""
        model, rank, options, given = self._planned(X)
        signature = signature_of(model, X, rank, given, self.max_iter * len(options))
        explanation = explain_strategy(signature, choose(signature, options[0]), model.line, len(options))
        return replace(explanation, note=self._note)

    @property
    def _note(self) -> str:
        """A remark on the model, if it differs from the promise of the class name."""
        return ""

    def _check_model(self, model: Model, rank: Any) -> None:
        """Refuse a divergence, or an orthogonality, without an algorithm; warn of a large default rank, which takes long."""
        how = getattr(self, "orthogonality", "soft")
        if how not in ("soft", 0):
            check_partition(model, how, list(self._orthogonal()))
        if not model.divergence.approximates:
            raise IncompatibleError(f"divergence={self.divergence!r} approximates nothing; use nonneg.factorize for it.")
        count, given = 0 if rank is None else int(np.max(rank)), getattr(self, "n_components", 0)
        if count > _MANY and (given is None or (isinstance(given, str) and given == "auto")):
            warnings.warn(
                f"{type(self).__name__}: n_components='auto' takes as many components as there can be, {count} here, which may "
                "take long, and compresses nothing. Give a number, or find one by nonneg.selection.rank_scan.",
                UserWarning,
                stacklevel=users_line(),
            )

    def _finished(self, X: Data, solution: Solution) -> Solution:
        """The end of a run, improved before it is compared with those of other starts."""
        return solution

    def _warm_factors(self, X: Data, model: Model, rank: Any) -> dict[str, np.ndarray]:
        """The factors of the last fit that still have the right shape."""
        if not hasattr(self, "factors_") or self.components_.shape[1] != X.shape[1]:
            return {}
        given = self._init if isinstance(self._init, Mapping) else {}
        fixed = {name: given[name] for name in model.fixed if name in given}
        rank = self.components_.shape[0] if rank is None else rank  # the `init` of the last fit said it
        shapes = infer_shapes(model, X.shape, rank, {name: np.shape(value) for name, value in fixed.items()})
        factors = self._soft_factors
        warm = {name: factors[name] for name in model.learned if name in factors and factors[name].shape == shapes[name]}
        return fixed | warm if warm else {}

    def _keep(self, X: Data, solution: Solution) -> None:
        """Set the fitted attributes."""
        self.factors_, self.model_, self.solver_ = solution.factors, solution.model, solution.solver
        self.strategy_ = None if solution.strategy is None else replace(solution.strategy, note=self._note)
        self.components_ = self._components(X, solution)
        rank = self._rank(X.shape)
        self.n_components_ = self._count() if rank is None else rank
        self.objective_, self.n_iter_ = solution.objective, solution.n_iter
        self.status_ = solution.status
        self.reconstruction_err_ = self._error(X, solution)
        self.__dict__.pop("_mean_code", None)
        if self.missing == "ignore" and solution.model.form[0].name == solution.model.data:
            self._mean_code = self._code_of_mean(X)
        # All passes of the fit: of all starts, and after the last check.
        self.history_ = solution.history if X.log is None else solution.history.ending_with(readings=X.log.of_fit)

    def _count(self) -> Any:
        """The number of components, if given factors set it."""
        return self.components_.shape[0]

    def _error(self, X: Data, solution: Solution) -> float:
        """√(2 D), also if D itself is too large or too small for a float."""
        model = solution.model
        is_known = 0 < solution.objective < np.inf and not any(c.has_penalty for c in model.constraints.values())
        if is_known and not (X.costs.weighted and counts_filled(model, X)):
            return float(np.sqrt(2 * solution.objective))
        signed = {name: constraint for name, constraint in model.constraints.items() if constraint.is_signed}
        plain = Model(model.form, model.divergence, signed).with_signs(model.signed)
        return error_of(X, plain, solution.factors)

    _norm: ClassVar[str] = "l2"
    """The norm by which components of free factors are one."""

    # ---- orthogonality

    def _orthogonal(self) -> dict[str, str]:
        """The factors that should be orthogonal, and which axis of them: those with such a constraint."""
        axes = {name: constraint.as_whole.orthogonal_axis for name, constraint in self._model().constraints.items()}
        return {name: axis for name, axis in axes.items() if axis is not None}

    def _hardened(self, X: Data, solution: Solution) -> Solution:
        """Apply `orthogonality` to a solution, and measure `orthogonality_`."""
        axes = self._orthogonal()
        self._soft_factors = solution.factors  # the start of a stream or a warm start
        self.__dict__.pop("orthogonality_", None)
        if not axes:
            return solution
        how = getattr(self, "orthogonality", "soft")
        if how != "soft" and how != 0:
            solution = hardened(in_memory(X), solution, axes, how, self.max_iter, self.tol)
        self.orthogonality_ = {}
        for name, axis in axes.items():
            W = solution.factors[name] if axis == "columns" else solution.factors[name].T
            self.orthogonality_[name] = Orthogonality(*measure_overlap(W, None if X.namespace.is_host else X.namespace))
        return solution

    # ---- attributes by form

    @property
    def _transforms(self) -> bool:
        """Whether codes can be had for new samples: the form begins with the data, or with the factor of the samples."""
        try:
            model = self._model()
        except ValueError:  # `fit` refuses invalid parameters, not `hasattr`
            return True
        first = model.form[0]
        return not first.transposed and (first.name == model.data or first.name in model.learned)

    def _cut(self, model: Model) -> tuple[Word, Word]:
        """The form, cut into codes and components."""
        form = model.form
        if form[0].name != model.data:
            return form[:1], form[1:]
        shapes = {name: factor.shape for name, factor in self.factors_.items()}
        return low_rank(form, shapes | {model.data: (2**62, self.n_features_in_)})

    def _components(self, X: Data, solution: Solution) -> np.ndarray:
        _, right = self._cut(solution.model)
        return np.asarray(as_dense(multiply(right, solution.factors, {solution.model.data: X})))

    @available_if(_can_transform)
    @with_library
    @with_sample_names
    def transform(self, X: Any) -> np.ndarray:
        """Codes of samples, (n_samples, n_components). Codes of a Dask collection are a lazy collection.

        Parameters
        ----------
        X : array, sparse array, table, AnnData, Observed, path or open file of shape (n_samples, n_features)
            Non-negative.
        """
        return self._transformed(X)

    def _transformed(self, X: Any) -> Any:
        """The codes of samples; those of a Dask collection are computed when they are asked for."""
        check_is_fitted(self)
        lazy = lazily(X, self._codes_of_block, self.components_.shape[0], self.components_.dtype)
        if lazy is None:
            return self._codes(X)
        check_features(self, X.shape[1], names_of(X), reset=False)
        return lazy

    def _codes(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._codes_of(self._read(X, reset=False))

    def _codes_of_block(self, block: Any, origin: Any) -> np.ndarray:
        """The codes of some rows of a collection, the names of whose columns have been looked at."""
        return self._codes_of(self._checked(read_weighted(block, missing=self.missing), unknown=True, origin=origin))

    def _codes_of(self, X: Data) -> np.ndarray:
        """The codes of samples that have been read."""
        model = self.model_
        if model.form[0].name == model.data:
            with np.errstate(over="ignore", invalid="ignore"):
                codes = self._codes_by_product(X) if not count_missing(X) else self._settled(X)
            if not np.isfinite(codes).all():
                raise DataError(
                    f"X has entries of up to {X.facts.peak:g} and the components of up to {self.components_.max():g}: codes would "
                    f"be more than {codes.dtype} can hold. Divide X by a number first."
                )
            return codes
        constraint = model.constraints[model.form[0].name].on_new_rows
        return encode(X, self.components_, model.divergence, constraint)

    def _codes_by_product(self, X: Data) -> np.ndarray:
        """Codes of samples in forms that begin with codes."""
        left, _ = self._cut(self.model_)
        return np.asarray(as_dense(multiply(left, self.factors_, {self.model_.data: X})))

    def _code_of_mean(self, X: Data) -> np.ndarray:
        """The code of the mean sample, which is the mean of all codes: one reading of data that are far."""
        shares = X.namespace.ones(X.shape[0], 1) / X.shape[0]
        mean = to_host(as_dense(X.apply(shares, transposed=True))).T
        return np.asarray(mean @ self._projection(X), dtype=np.float64)[0]

    def _projection(self, X: Data) -> np.ndarray:
        """The matrix M of codes X M; the identity if there are as many components as features."""
        left, _ = self._cut(self.model_)
        if len(left) == 1:
            return np.eye(self.n_features_in_, dtype=self.components_.dtype)
        return np.asarray(as_dense(multiply(left[1:], self.factors_, {self.model_.data: X})))

    def _settled(self, X: Any) -> np.ndarray:
        """Codes with missing entries imputed by the codes; the mean of the fit for samples without known entries."""
        projection = self._projection(X)
        prior = self.__dict__.get("_mean_code", np.zeros(projection.shape[1]))
        codes = np.maximum(in_memory(X).settled(projection, self.components_, prior).U, 0.0)
        if self.model_.divergence.requires_positive_data:
            codes[~codes.any(axis=1)] = prior  # all below zero: more than all of X is hidden, as components weigh it
        return codes

    @available_if(lambda self: self._reconstructs)
    @with_library
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Samples made of given codes. Those of a Dask array are one, too, and lazy.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            Codes, as `transform` gives them.
        """
        check_is_fitted(self)
        dtype = np.result_type(getattr(X, "dtype", self.components_.dtype), self.components_.dtype) if is_elsewhere(X) else None
        lazy = lazily(X, self._samples_of, self.components_.shape[1], dtype)
        if lazy is None:
            return self._samples_of(X)
        check_width((lazy.shape[0], X.shape[1]), self.components_.shape[0])
        return lazy

    def _samples_of(self, X: Any, origin: Any = None) -> np.ndarray:
        """Approximation of X by codes, or by a block of codes of a collection."""
        with np.errstate(over="ignore", invalid="ignore"):  # codes as large as numbers are may stand for more
            return read_codes(X, self.components_.shape[0]) @ self.components_

    @available_if(_can_transform)
    def restrict(self, features: Any) -> Any:
        """A copy for a panel: it codes samples that have these features only, in this order.

        Components that are projected onto keep their lengths.

        Parameters
        ----------
        features : sequence of str or int, or array of bool
            Names, as in the fit; or numbers, or a mask.

        Returns
        -------
        estimator
            Fitted; it refuses other features by name.
        """
        return restricted(self, features)

    @available_if(lambda self: self._reconstructs and _can_transform(self))
    @with_library
    def score(self, X: Any, y: Any = None) -> float:
        """Minus the divergence between X and its approximation, per sample; 0 is best.

        Parameters
        ----------
        X : array, sparse array, table, AnnData, Observed, path or open file of shape (n_samples, n_features)
        y : None
            Not used.
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        return self._score(X, self._codes_of(X))

    def _score(self, X: Any, codes: np.ndarray) -> float:
        signed = self._takes_signs
        return -divergence_of(X, codes, self.components_, self.model_.divergence, signed=signed) / X.shape[0]

    # ---- scikit-learn's machinery

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = not self._takes_signs
        tags.input_tags.allow_nan = self.missing == "ignore"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.array_api_support = True
        return tags


def _with_samples(sample_weight: Any, weights: Any, X: Any) -> Any:
    """Weights of samples, and of entries, as one."""
    if sample_weight is None:
        return weights
    if is_location(sample_weight) or isinstance(sample_weight, Data):
        raise DataError("sample_weight must be one number for each sample, in memory; got a file. Read it first: numpy.load.")
    of_samples = np.asarray(on_host(sample_weight))
    if of_samples.dtype.kind not in "fiub":
        raise DataError(f"sample_weight must be numbers; got an array of {of_samples.dtype}.")
    if of_samples.ndim == 0:
        of_samples = np.full(X.shape[0], float(of_samples))
    if of_samples.ndim != 1:
        raise DataError(
            f"sample_weight must be one number for each sample; got shape {of_samples.shape}. Sample weights must be 1D array or "
            "scalar."
        )
    if not of_samples.any():
        raise DataError("Sample weights must contain at least one non-zero number: there is nothing to approximate.")
    return combined(weights, of_samples, X)


def divergence_of(X: Any, codes: np.ndarray, components: np.ndarray, divergence: Objective, *, signed: bool = False) -> float:
    """D(X ‖ codes · components); it is the codes that have the scale of the data, for the engine to measure them in."""
    size = float(abs(components).max()) or 1.0
    model = Model("H C", divergence, {"C": "fixed"}, signed=["X"] if signed else None)
    return objective_of(X, model, {"H": codes * size, "C": within_reach(components, divergence) / size})


def in_scale(solution: Solution, norm: str = "l2") -> Solution:
    """A solution of W H, both factors free, with rows of H of unit norm, "l1" or "l2"; W takes up the scale.

    The model leaves the scale of each component open, and the initialization would decide it. Given factors that never moved stay
    as they are; so does a solution whose codes would overflow.
    """
    model, names = solution.model, solution.model.form.names
    is_product = len(model.form) == 2 and len(set(names)) == 2
    if not solution.n_iter or not is_product or not all(n in model.learned and model.constraints[n].any_lengths for n in names):
        return solution
    first, last = model.form
    W, H = solution.factors[first.name], solution.factors[last.name]
    if not isinstance(W, np.ndarray) or not isinstance(H, np.ndarray):
        return solution
    codes, components = W.T if first.transposed else W, H.T if last.transposed else H
    peak = components.max(axis=1, keepdims=True).astype(np.float64)  # avoids overflow of squares
    peak = np.where(peak > 0, peak, 1.0)
    shape = components / peak
    length = np.linalg.norm(shape, 1 if norm == "l1" else 2, axis=1, keepdims=True)
    length = np.where(length > 0, length, 1.0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        codes = (codes * peak.T * length.T).astype(W.dtype)
    components = (shape / length).astype(H.dtype)
    if not np.isfinite(codes).all():
        return solution
    factors = {first.name: codes.T if first.transposed else codes, last.name: components.T if last.transposed else components}
    return replace(
        solution, factors={**solution.factors, **{name: np.ascontiguousarray(factor) for name, factor in factors.items()}}
    )
