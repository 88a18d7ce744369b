"""Base of discriminants with weights of one sign: scatters of classes, directions one after the other, and a decision."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import repeat
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ...exceptions import DataError, IncompatibleError, ShapeError, is_count, is_number, users_line
from ...kernels.tuned import tuned
from ...solve.initialization import make_generator
from ...solve.progress import current_listener
from .._naming import with_sample_names
from ..annotations import Init, RandomState
from ..shareable import Shareable
from .fisher import Between, EntrywiseBetween, Formed, Metric, Scatter, Summed, definiteness, exact, ratio_of, unconstrained
from .groups import Groups, Task, scaled
from .rayleigh import RULES, Entries, Result, check_iterations, oja, rayleigh, read_start
from .ridges import choose

FORMED = tuned(2000, by="tuned", on="2026-11-15")
"""With no more features than this S_W is formed; with more, only products with X are taken."""
TRIED = tuned(2000, by="tuned", on="2026-11-15")
"""With no more features than this every choice of signs is tried to the end; with more, the one that promises most."""
_NOTHING = 1e-12
"""Means that differ by less, in units of the largest entry, are the same."""
RIDGE = tuned(1e-3, by="tuned", on="2026-11-15")
"""The least that is added to a singular S_W, as a share of the diagonal."""


@dataclass(eq=False, repr=False)
class Discriminant(ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Shareable, BaseEstimator):
    """Base of both: a ratio of scatters for each direction, and a decision from the projections.

    Parameters
    ----------
    n_init : int, default=10
        Random starts of "oja", the best being kept.
    max_iter : int, default=1000
        Steps, at most, from each start.
    tol : float, default=1e-4
        Iterations stop once the ratio grows by less than this share; with "oja", once the direction changes by less than this. 0
        runs to `max_iter`.
    random_state : int, Generator, RandomState or None, default=None
        Of the random starts of "oja".
    n_components : int or "auto", default="auto"
        How many directions. "auto" is one a class, which tells it from all others, and one for two classes. A number has the
        directions one after the other that tell all classes apart, each in the means without the projections before it.
    rule : {"rayleigh", "oja", "oja-total"}, default="rayleigh"
        "rayleigh" makes the ratio as large as it can be. "oja" is the paper's rule, as printed, which does not: see the notes.
        "oja-total" is the same for wᵀS_T w in place of wᵀS_B w (NNP Eq. 52 and 53), with S_T formed.
    positive : bool, default=True
        Whether weights must not be negative. False is Fisher's discriminant without the constraint: LDA with its ridge, and, of
        samples by a kernel, KFDA (NNP Fig. 5).

    Attributes
    ----------
    n_iter_ : int
        Steps, the most of any direction.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Only if X has feature names that are all strings.
    intercept_ : array of shape (n_classes,), or (1,) for two
        Thresholds of equal probability of classes, for Gaussian projections of one covariance and classes as frequent as in `fit`.
    fisher_ratio_ : array of shape (n_directions,)
        wᵀS_B w / wᵀS_W w of each direction, with the ridge if there is one.
    definite_ : bool
        Whether S_W S_B + S_B S_W is positive definite, as NNP Eq. 56 wants it, for each direction. See the notes.
    definiteness_ : array of shape (n_directions, 2)
        Its least and its largest eigenvalue, divided by the larger one without its sign.
    alpha_ : array of shape (n_directions,)
        Ridge on the diagonal of S_W, as a share of it: `alpha`, or the chosen one.
    classes_ : array of shape (n_classes,)
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    rule: str = "rayleigh"
    positive: bool = True
    alpha: float | str = "auto"
    solver: str = "auto"
    init: Init = "auto"
    n_init: int = 10
    max_iter: int = 1000
    tol: float = 1e-4
    random_state: RandomState = None

    _in_memory_because: ClassVar[str] = "it looks at the samples of one class at a time, which may lie anywhere in X"
    _items: ClassVar[str]
    """Name of the weighted items."""

    # ---- reading

    @property
    def _is_printed(self) -> bool:
        """Whether the rule is that of NNP Eq. 21."""
        return isinstance(self.rule, str) and self.rule.startswith("oja")

    def _read_labels(self, y: Any) -> np.ndarray:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(
                f"y has one class, {shown(self.classes_[0])}: there is nothing to tell apart. The number of classes must be two or "
                "more."
            )
        return codes

    def _check_parameters(self) -> None:
        """Refuse invalid parameters before any work."""
        if not isinstance(self.positive, bool | np.bool_):
            raise IncompatibleError(f"positive must be True or False; got {self.positive!r}.")
        if not isinstance(self.rule, str) or self.rule not in (*RULES, "oja-total"):
            raise IncompatibleError(f"Unknown rule {self.rule!r}. Known names: 'rayleigh', 'oja', 'oja-total'.")
        check_iterations(self.max_iter, self.tol)
        if not is_count(self.n_init, 1):
            raise IncompatibleError(f"n_init must be an int of at least 1; got {self.n_init!r}.")
        make_generator(self.random_state)
        if not is_auto(self.alpha) and not (is_number(self.alpha) and self.alpha >= 0):
            raise IncompatibleError(f"alpha must be a number of at least 0, or 'auto'; got {self.alpha!r}.")
        if not isinstance(self.solver, str) or self.solver not in ("auto", "exact", "multiplicative"):
            raise IncompatibleError(f"Unknown solver {self.solver!r}. Known names: 'auto', 'exact', 'multiplicative'.")
        if isinstance(self.init, str) and self.init != "auto":
            raise IncompatibleError(f"init must be 'auto' or an array; got {self.init!r}.")
        k = self.n_components
        if not is_auto(k) and not is_count(k, 1):
            raise ShapeError(f"n_components must be an int of at least 1, or 'auto'; got {k!r}.")
        if self._is_printed:
            self._check_printed_rule()

    def _check_printed_rule(self) -> None:
        """Refuse parameters that rule='oja' has no use for."""
        k = self.n_components
        if not self.positive:
            raise IncompatibleError(f"positive=False with rule={self.rule!r}, which keeps w ≥ 0. Use rule='rayleigh'.")
        if self.solver == "exact":
            raise IncompatibleError("solver='exact' is for Fisher's ratio; rule='oja' is multiplicative. Use rule='rayleigh'.")
        if is_number(self.alpha) and self.alpha > 0:
            raise IncompatibleError(f"alpha={self.alpha!r} is of no use to rule='oja', which inverts nothing. Use alpha='auto'.")
        if is_count(k, 2):
            raise IncompatibleError(
                f"n_components={k} with rule='oja': NNP Eq. 21 is for one direction, and the paper has none for several. Use "
                "rule='rayleigh', or n_components='auto' for one a class."
            )

    def _check_number(self, n_features: int) -> None:
        k = self.n_components
        if is_count(k) and k > n_features:
            raise ShapeError(f"n_components={k} directions cannot be had from {n_features} {self._items}. Use at most as many.")

    @property
    def _solver(self) -> str:
        return "exact" if self.solver == "auto" else self.solver

    # ---- learning

    @abstractmethod
    def _signs(self, groups: Groups, c: int | None) -> list[np.ndarray]:
        """1 or −1 for each feature: how it may count in the direction of a class, or of no one class; the best are kept."""

    def _printed(self, groups: Groups, c: int | None) -> tuple[Scatter, np.ndarray] | None:
        """B and F of NNP Eq. 21 for a class, or for all, if they differ from S_W and F of S_B."""
        return None

    def _part(self, X: Any, rows: np.ndarray, known: np.ndarray) -> Any:
        """Some samples, as those see them that others are known to."""
        return X[rows]

    def _learn(self, X: Any, codes: np.ndarray) -> None:
        n_features = X.shape[1]
        self._check_number(n_features)
        starts = self._starts(n_features)
        groups = Groups.of(X, codes)
        if not np.abs(groups.between()).max() > _NOTHING:
            raise DataError(
                f"The classes have the same mean in each of the {n_features} {self._items}, so that no direction tells them apart. "
                "The means have to differ between classes."
            )
        found: list[tuple[np.ndarray, Result]] = []
        flips, ranges, ridges = [], [], []
        listener, count = current_listener(), len(self.classes_) if is_auto(self.n_components) and len(self.classes_) > 2 else 1
        for number, (task, ridge) in enumerate(zip(self._tasks(groups), self._ridges(X, codes), strict=False)):
            listener.phase(f"directions, class {number + 1} of {count}" if count > 1 else "directions")
            F, signs = task.F, task.sides[0]
            if is_auto(self.alpha) and self.rule == "rayleigh":
                ridge = max(ridge, self._floor(groups, task))
            for _ in range(1 if is_auto(self.n_components) else int(self.n_components)):
                if not np.abs(F).max() > _NOTHING:
                    self._say_nothing_left(task, len(found))
                    if not is_auto(self.n_components):
                        break
                    result, w = Result(np.zeros(n_features), 0.0, 1, "tol"), np.zeros(n_features)
                else:
                    sides = self._promising(groups, task, ridge) if n_features > TRIED else task.sides
                    runs = [(self._direction(groups, task._replace(F=F), side, starts, ridge), side) for side in sides]
                    (result, w, F), signs = max(runs, key=lambda run: run[0][0].ratio)
                    task = task._replace(sides=[signs])  # further directions have the same signs
                found.append((w / groups.sizes, result))
                flips.append(signs < 0)
                ranges.append(definiteness(*self._plain(groups, task, signs)))
                ridges.append(ridge)
        self._flips = np.array(flips)
        self._keep(groups, found, ranges, ridges)

    def _starts(self, n_features: int) -> list[np.ndarray]:
        """The given start, or random ones in (0, 1) for the printed rule (NNP §5.2); none if they follow from the means."""
        if not isinstance(self.init, str):
            start = read_start(self.init, n_features, self._items)
            return [start / start.max()] if self._is_printed else [start]
        if not self._is_printed:
            return []
        generator = make_generator(self.random_state)
        return [generator.uniform(np.nextafter(0, 1), 1, n_features) for _ in range(self.n_init)]

    def _ridges(self, X: Any, codes: np.ndarray) -> Iterator[float]:
        """The ridge of each task."""
        if self._is_printed or not is_auto(self.alpha):
            return repeat(0.0 if self._is_printed else float(self.alpha))
        return choose(self, X, codes, X.shape[1] <= FORMED)

    def _promising(self, groups: Groups, task: Task, ridge: float) -> list[np.ndarray]:
        """Of the signs that may be tried, those with the largest ratio at the means."""

        def first_look(signs: np.ndarray) -> float:
            G = self._metric(groups, task, signs, ridge)
            F = task.F * G.units[:, None]
            return max(ratio_of(G, F, w) for w in np.maximum(np.hstack([F, -F]), 0.0).T)

        return task.sides if len(task.sides) == 1 else [max(task.sides, key=first_look)]

    def _direction(
        self, groups: Groups, task: Task, signs: np.ndarray, starts: list[np.ndarray], ridge: float
    ) -> tuple[Result, np.ndarray, np.ndarray]:
        """A direction in units of the features, and F deflated by it."""
        if self._is_printed:
            G, F = self._plain(groups, task, signs)
            A = EntrywiseBetween(F) if self.rule == "oja" else Entries(F @ F.T + G.formed())  # S_T = S_B + S_W
            runs = [oja(A, G, given, int(self.max_iter), self.tol) for given in starts]
            directions = [G.units * (run.w / run.w.max()) for run in runs]
            fisher = Metric(task.scatter, np.ones(len(F)), np.zeros(len(F)))
            ratios = [ratio_of(fisher, task.F, w) for w in directions]
            best = max(range(len(runs)), key=lambda number: (runs[number].stopped != "negative", ratios[number]))
            return runs[best]._replace(ratio=ratios[best]), directions[best], np.zeros_like(task.F)
        G = self._metric(groups, task, signs, ridge)
        F, has_unit = task.F * G.units[:, None], G.units != 0
        start = starts[0] if starts else None
        if start is not None:
            mantissas, powers = np.frexp(start)
            powers = powers + groups.powers
            start = np.ldexp(mantissas, powers - powers[start > 0].max())
            start = np.divide(start * groups.sizes, np.abs(G.units), out=np.zeros(len(F)), where=has_unit)
        result = self._best(G, F, start, np.where(has_unit, 1.0, 0.0)) if self.positive else unconstrained(G, F)
        Gw = G.product(result.w)
        length = result.w @ Gw
        if not length > 0:
            raise DataError(
                f"alpha={self.alpha!r}, but there are weights under which classes differ and no class varies within itself, so "
                "that the ratio has no bound. Use alpha='auto', or a small number."
            )
        left = F - np.outer(Gw, (result.w @ F) / length)  # the means deflated by this projection
        left = np.divide(left, G.units[:, None], out=np.zeros_like(F), where=has_unit[:, None])
        return result, G.units * result.w, left

    def _plain(self, groups: Groups, task: Task, signs: np.ndarray) -> tuple[Metric, np.ndarray]:
        """B and F of NNP Eq. 21, in the units in which X was given, but for a power of two, to which the rule is blind."""
        scatter, F = task.printed or (task.scatter, task.F)
        units = signs * groups.plain_units()
        return Metric(scatter, units, np.zeros(len(units))), F * units[:, None]

    def _tasks(self, groups: Groups) -> Iterator[Task]:
        """One task a class, or one for all; for two classes one."""
        count, within = len(groups.shares), groups.within()
        is_formed = groups.X.shape[1] <= FORMED
        S = np.asarray(Summed(within).block(np.arange(groups.X.shape[1]))) if is_formed else None

        def scatter(extra: list[tuple[float, Any]]) -> Scatter:
            if S is None:
                return Summed([*within, *extra])
            return Formed(S + sum(T.T @ T for _, T in extra))

        if count == 2:
            F, _ = groups.one_against_rest(1)
            yield Task(scatter([]), F, self._signs(groups, 1), 1, self._printed(groups, 1))
        elif is_auto(self.n_components):
            for c in range(count):
                F, rows = groups.one_against_rest(c)
                yield Task(scatter([(1.0, rows)]), F, self._signs(groups, c), c, self._printed(groups, c))
        else:
            yield Task(scatter([]), groups.between(), self._signs(groups, None), None, self._printed(groups, None))

    def _floor(self, groups: Groups, task: Task) -> float:
        """The least ridge: none, or a little if S_W is singular among the features that vary."""
        diagonal, between = _diagonals(task)
        is_still = diagonal <= groups.noise
        varying = ~is_still | (between > groups.noise)
        freedom = len(groups.codes) - len(groups.shares)
        return RIDGE if is_still[varying].any() or _is_singular(task.scatter, varying, freedom) else 0.0

    def _metric(self, groups: Groups, task: Task, signs: np.ndarray, ridge: float) -> Metric:
        """The matrix below the line, with features in units in which its diagonal is one.

        A feature's ridge is a share of its own scatter, so that its unit does not matter.
        """
        diagonal, between = _diagonals(task)
        is_still = diagonal <= groups.noise
        varying = ~is_still | (between > groups.noise)
        if ridge == 0 and is_still[varying].any():
            raise DataError(
                f"alpha={self.alpha!r}, but {int(is_still[varying].sum())} of the {len(varying)} {self._items} do not vary within "
                "any class and differ between classes, so that the ratio has no bound. Use alpha='auto', or a small number."
            )
        added = ridge * np.where(is_still, groups.total, diagonal)
        total = np.where(varying, diagonal + added, 1.0)
        units, share = np.where(varying, signs / np.sqrt(total), 0.0), np.where(varying, added / total, 1.0)
        return Metric(task.scatter, units, share)

    def _best(self, G: Metric, F: np.ndarray, given: np.ndarray | None, ones: np.ndarray) -> Result:
        """The best of the starts from all ones and from the means, each in units of its scatter."""
        if given is not None and not given.any():
            raise DataError(f"init is zero in all {self._items} that vary. Use a positive weight in one of them at least.")
        # The means are the directions of naive Bayes, as the diagonal of G is one here.
        starts = [ones, *np.maximum(np.hstack([F, -F]), 0.0).T] if given is None else [given]
        if self._solver == "exact":
            if F.shape[1] == 1 and given is None:
                starts = starts[1:]  # both sides of the means: there is no third
            runs = [exact(G, F, start, int(self.max_iter), self.tol) for start in starts if start.any()]
        else:  # no weight is zero at first, to be free to move
            starts = [start + 1e-3 * start.max() * ones for start in starts if start.any()]
            runs = [rayleigh(Between(F), G, start, int(self.max_iter), self.tol) for start in starts]
        best = max(runs, key=lambda run: run.ratio)
        w = best.w / best.w.max()
        length = float(w @ G.product(w))
        return best._replace(w=w / np.sqrt(length) if length > 0 else w)  # the caller refuses a zero

    def _say_nothing_left(self, task: Task, found: int) -> None:
        """Warn that the directions found have all that tells the classes apart."""
        if is_auto(self.n_components):
            assert task.c is not None
            name = shown(self.classes_[task.c])
            warnings.warn(
                f"The means say nothing that would tell class {name} from the others: its direction is zero.",
                stacklevel=users_line(),
            )
        else:
            several = "One direction has" if found == 1 else f"{found} directions have"
            warnings.warn(
                f"{several} all that tells the classes apart; n_components={self.n_components} cannot be had.",
                stacklevel=users_line(),
            )

    def _keep(self, groups: Groups, found: list[tuple[np.ndarray, Result]], ranges: list[Any], ridges: list[float]) -> None:
        results = [result for _, result in found]
        self.definiteness_ = np.array([np.array(values) / (np.abs(values).max() or 1.0) for values in ranges])
        self.definite_ = bool(np.all(self.definiteness_[:, 0] > 0))
        self.fisher_ratio_ = np.array([result.ratio for result in results])
        self.alpha_ = np.array(ridges)
        self.n_iter_ = max(result.n_iter for result in results)
        self._decide(groups, np.array([w for w, _ in found]))
        for result in results:
            if result.stopped == "negative":
                warnings.warn(
                    f"{type(self).__name__}: rule='oja' stopped after {result.n_iter - 1} iterations, as the next w would have "
                    "negative entries: NNP Eq. 56 does not hold here. Use rule='rayleigh'.",
                    ConvergenceWarning,
                    stacklevel=users_line(),
                )
            elif result.stopped == "max_iter" and self.tol:
                warnings.warn(
                    f"{type(self).__name__}: the rule ran for {result.n_iter} iterations unsettled. Raise max_iter or tol.",
                    ConvergenceWarning,
                    stacklevel=users_line(),
                )

    def _decide(self, groups: Groups, W: np.ndarray) -> None:
        """Directions of unit scatter, NNP Eq. 46, and log-posteriors of Gaussians with one covariance in their space."""
        X, codes = groups.X, groups.codes
        projected = np.asarray(X @ (W * groups.sizes).T)
        middle = projected.mean(axis=0)
        projected -= middle
        means = np.array([projected[codes == c].mean(axis=0) for c in range(len(self.classes_))])
        inner = projected - means[codes]
        lengths = np.sqrt(np.mean(inner**2, axis=0))
        spread = np.sqrt(np.mean(projected**2, axis=0))
        units = 1 / np.where(lengths > 1e-7 * spread, lengths, np.where(spread > 0, spread, 1.0))
        W, means, inner = W * units[:, None], means * units, inner * units
        covariance = inner.T @ inner / len(codes)
        covariance += 1e-12 * max(1.0, np.trace(covariance)) * np.eye(len(W))  # directions may be the same
        weights = np.linalg.solve(covariance, means.T).T  # classes × directions
        offsets = np.log(groups.shares) - 0.5 * np.sum(weights * means, axis=1)
        if len(self.classes_) == 2:
            weights, offsets = weights[1:] - weights[:1], offsets[1:] - offsets[:1]
        self._powers, self._directions, self._weights = groups.powers, W, weights @ W
        self.intercept_ = offsets - weights @ (middle * units) - self._weights @ groups.centre

    # ---- public methods

    @abstractmethod
    def _features(self, X: Any) -> tuple[Any, Any]:
        """X in the space of the directions, and its given precision."""

    @with_sample_names
    def transform(self, X: Any) -> np.ndarray:
        """The projections of samples on the directions, (n_samples, n_directions).

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X, dtype = self._features(X)
        return np.asarray(scaled(X, self._powers) @ self._directions.T, dtype=dtype)

    def decision_function(self, X: Any) -> np.ndarray:
        """How much speaks for each class: (n_samples, n_classes); for two, (n_samples,), above zero for the second.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X, _ = self._features(X)
        scores = np.asarray(scaled(X, self._powers) @ self._weights.T) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        """
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)])

    @property
    def _n_features_out(self) -> int:
        return len(self._directions)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def is_auto(value: Any) -> bool:
    """Whether a value is "auto"; arrays are not compared."""
    return isinstance(value, str) and value == "auto"


def shown(label: Any) -> str:
    """A class as its user wrote it."""
    return repr(label.item() if isinstance(label, np.generic) else label)


def _diagonals(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """The diagonals of the scatter within classes and of that between them."""
    return np.asarray(task.scatter.diagonal), np.sum(task.F**2, axis=1)


def _is_singular(scatter: Scatter, varying: np.ndarray, freedom: int) -> bool:
    """Whether S_W is, among the features that vary: more features than samples, or features that follow from others."""
    if varying.sum() > freedom:
        return True
    if not varying.any() or not isinstance(scatter, Formed):
        return False
    sizes = np.sqrt(scatter.diagonal[varying])
    try:
        pivots = np.diagonal(np.linalg.cholesky(scatter.block(np.flatnonzero(varying)) / np.outer(sizes, sizes)))
    except np.linalg.LinAlgError:
        return True
    return bool(pivots.min() ** 2 < 1e-10)
