"""What discriminants with weights of one sign share: scatters of classes, directions one after the other, and a decision."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..arrays.data import dense
from ..exceptions import DataError, IncompatibleError, ShapeError
from ..naming import is_number
from ._fisher import Formed, Metric, Result, Scatter, Summed, definiteness, exact, oja, ratio_of, rayleigh

FORMED = 2000
"""With no more features than this S_W is formed; with more, only products with X are taken."""
TRIED = 2000
"""With no more features than this every choice of signs is tried to the end; with more, the one that promises most."""
_NOTHING = 1e-12
"""Means that differ by less, in units of the largest entry, are the same."""
RIDGE = 1e-3
"""What is added to a singular S_W, as a share of the mean of its diagonal."""


class Groups(NamedTuple):
    """X with its classes: what the scatter matrices are made of, with each feature in units of its largest entry."""

    X: Any
    """Centred, if dense; as it is, if sparse."""
    codes: np.ndarray
    means: np.ndarray
    """Of the classes, less those of all."""
    shares: np.ndarray
    """Of the samples in each class."""
    centre: np.ndarray
    """What was taken off X; zero if it is sparse."""
    sizes: np.ndarray
    """The units of the features."""
    noise: float
    """A scatter that is no larger than this is none: what rounding leaves of a constant feature."""

    @classmethod
    def of(cls, X: Any, codes: np.ndarray) -> Groups:
        indicators = np.eye(codes.max() + 1)[codes]
        counts = indicators.sum(axis=0)
        shares = counts / len(codes)
        if sparse.issparse(X):
            X = X.astype(np.float64)
            sizes = _sizes(np.asarray(dense(abs(X).max(axis=0))).ravel())
            X = sparse.csr_array(X @ sparse.diags_array(1 / sizes))
            means = np.asarray((X.T @ indicators).T) / counts[:, None]
            return cls(X, codes, means - shares @ means, shares, np.zeros(X.shape[1]), sizes, 1e-13)
        X = np.asarray(X, dtype=np.float64)
        centre = np.where(X.max(axis=0) == X.min(axis=0), X[0], X.mean(axis=0))  # a constant feature becomes exactly zero
        X = X - centre
        sizes = _sizes(np.abs(X).max(axis=0))
        X /= sizes
        return cls(X, codes, (indicators.T @ X) / counts[:, None], shares, centre, sizes, 1e-26)

    def within(self) -> list[tuple[float, Any]]:
        """S_W = Σ ± TᵀT, NNP Eq. 48; of sparse X as that of X less that of the means, so that X stays sparse."""
        n = len(self.codes)
        if not sparse.issparse(self.X):
            return [(1.0, (self.X - self.means[self.codes]) / np.sqrt(n))]
        own = self.means + np.asarray(self.X.mean(axis=0)).ravel()
        return [(1.0, self.X / np.sqrt(n)), (-1.0, np.sqrt(self.shares)[:, None] * own)]

    def between(self) -> np.ndarray:
        """F of S_B = F Fᵀ, NNP Eq. 47."""
        return (np.sqrt(self.shares)[:, None] * self.means).T

    def one_against_rest(self, c: int) -> tuple[np.ndarray, np.ndarray]:
        """F of one class and all others taken as one, and what the means of those add to the scatter within."""
        share = self.shares[c]
        others = np.arange(len(self.shares)) != c
        rest = self.shares[others] @ self.means[others] / (1 - share)
        F = np.sqrt(share * (1 - share)) * (self.means[c] - rest)
        return F[:, None], np.sqrt(self.shares[others])[:, None] * (self.means[others] - rest)


class Task(NamedTuple):
    """One ratio to be made large: that of F Fᵀ to a scatter."""

    scatter: Scatter
    F: np.ndarray
    sides: list[np.ndarray]
    """Signs of the features that may be tried."""
    label: str
    printed: tuple[Scatter, np.ndarray] | None = None
    """B and F of NNP Eq. 21, where they are others."""


@dataclass(eq=False, repr=False)
class Discriminant(ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What both have in common: a ratio of scatters for each direction, and a decision from the projections."""

    n_components: Any = "auto"
    _: KW_ONLY
    rule: str = "rayleigh"
    ridge: Any = "auto"
    solver: str = "auto"
    init: Any = "auto"
    max_iter: int = 1000
    tol: float = 1e-4

    _items: ClassVar[str]
    """What has a weight."""

    # ---- reading

    def _read_labels(self, y: Any) -> np.ndarray:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(
                f"y has one class, {self.classes_[0]!r}: there is nothing to tell apart. The number of classes must be two or more."
            )
        return codes

    def _check_parameters(self, n_features: int) -> None:
        if not isinstance(self.rule, str) or self.rule not in ("rayleigh", "oja"):
            raise IncompatibleError(f"Unknown rule {self.rule!r}. Known names: 'rayleigh', 'oja'.")
        if not isinstance(self.max_iter, Integral) or isinstance(self.max_iter, bool) or self.max_iter < 1:
            raise IncompatibleError(f"max_iter must be an int of at least 1; got {self.max_iter!r}.")
        if not is_number(self.tol) or self.tol < 0:
            raise IncompatibleError(f"tol must be a number of at least 0; got {self.tol!r}.")
        if not is_auto(self.ridge) and not (is_number(self.ridge) and self.ridge >= 0):
            raise IncompatibleError(f"ridge must be a number of at least 0, or 'auto'; got {self.ridge!r}.")
        if not isinstance(self.solver, str) or self.solver not in ("auto", "exact", "multiplicative"):
            raise IncompatibleError(f"Unknown solver {self.solver!r}. Known names: 'auto', 'exact', 'multiplicative'.")
        if self.rule == "oja":
            if self.solver == "exact":
                raise IncompatibleError("solver='exact' is for Fisher's ratio; rule='oja' is multiplicative. Use rule='rayleigh'.")
            if not is_auto(self.ridge) and self.ridge > 0:
                raise IncompatibleError(
                    f"ridge={self.ridge!r} is of no use to rule='oja', which inverts nothing. Use ridge='auto'."
                )
        k = self.n_components
        if not is_auto(k):
            if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
                raise ShapeError(f"n_components must be an int of at least 1, or 'auto'; got {k!r}.")
            if k > 1 and self.rule == "oja":
                raise IncompatibleError(
                    f"n_components={k} with rule='oja': NNP Eq. 21 is for one direction, and the paper has none for several. Use "
                    "rule='rayleigh', or n_components='auto' for one a class."
                )
            if k > n_features:
                raise ShapeError(f"n_components={k} directions cannot be had from {n_features} {self._items}. Use at most as many.")

    def _read_init(self, n_features: int) -> np.ndarray | None:
        if isinstance(self.init, str):
            if self.init != "auto":
                raise IncompatibleError(f"init must be 'auto' or an array; got {self.init!r}.")
            return None
        start = np.asarray(self.init, dtype=np.float64)
        if start.shape != (n_features,):
            raise ShapeError(f"init must have one weight for each of the {n_features} {self._items}; its shape is {start.shape}.")
        if not np.isfinite(start).all() or start.min() < 0 or not start.any():
            raise DataError("init must be finite, must not be negative anywhere, and not zero everywhere.")
        return start

    @property
    def _solver(self) -> str:
        return "exact" if self.solver == "auto" else self.solver

    # ---- learning

    @abstractmethod
    def _signs(self, groups: Groups, c: int | None) -> list[np.ndarray]:
        """1 or −1 for each feature: how it may count in the direction of a class, or of no one class; the best are kept."""

    def _printed(self, groups: Groups, c: int | None) -> tuple[Scatter, np.ndarray] | None:
        """B and F of NNP Eq. 21 for a class, or for all, where they are other than S_W and that of S_B."""
        return None

    def _learn(self, X: Any, codes: np.ndarray) -> None:
        n_features = X.shape[1]
        self._check_parameters(n_features)
        start = self._read_init(n_features)
        groups = Groups.of(X, codes)
        if not np.abs(groups.means).max() > _NOTHING:
            raise DataError(
                f"The classes have the same mean in each of the {n_features} {self._items}, so that no direction tells them apart. "
                "The means have to differ between classes."
            )
        found: list[tuple[np.ndarray, Result]] = []
        flips, ranges, ridges = [], [], []
        for task in self._tasks(groups):
            F, signs = task.F, task.sides[0]
            for _ in range(1 if is_auto(self.n_components) else int(self.n_components)):
                if not np.abs(F).max() > _NOTHING:
                    self._say_nothing_left(task.label, len(found))
                    if not is_auto(self.n_components):
                        break
                    result, w, ridge = Result(np.zeros(n_features), 0.0, 1, "tol"), np.zeros(n_features), 0.0
                else:
                    sides = self._promising(groups, task) if n_features > TRIED else task.sides
                    runs = [(self._direction(groups, task._replace(F=F), side, start), side) for side in sides]
                    (result, w, ridge, F), signs = max(runs, key=lambda run: run[0][0].ratio)
                    task = task._replace(sides=[signs])  # further directions have the same signs
                found.append((w / groups.sizes, result))
                flips.append(signs < 0)
                ranges.append(definiteness(*self._plain(groups, task, signs)))
                ridges.append(ridge)
        self._flips = np.array(flips)
        self._keep(groups, found, ranges, ridges)

    def _promising(self, groups: Groups, task: Task) -> list[np.ndarray]:
        """Of the signs that may be tried, those with the largest ratio at the means."""

        def first_look(signs: np.ndarray) -> float:
            G, _ = self._metric(groups, task, signs)
            F = task.F * G.units[:, None]
            return max(ratio_of(G, F, w) for w in np.maximum(np.hstack([F, -F]), 0.0).T)

        return task.sides if len(task.sides) == 1 else [max(task.sides, key=first_look)]

    def _direction(
        self, groups: Groups, task: Task, signs: np.ndarray, start: np.ndarray | None
    ) -> tuple[Result, np.ndarray, float, np.ndarray]:
        """A direction, in units of the features, the ridge, and what it leaves of F."""
        if self.rule == "oja":
            G, F = self._plain(groups, task, signs)
            result = oja(G, F, np.ones(len(F)) if start is None else start, int(self.max_iter), self.tol)
            w = G.units * result.w
            fisher = Metric(task.scatter, np.ones(len(F)), np.zeros(len(F)))
            return result._replace(ratio=ratio_of(fisher, task.F, w)), w, 0.0, np.zeros_like(task.F)
        G, ridge = self._metric(groups, task, signs)
        F, has_unit = task.F * G.units[:, None], G.units != 0
        if start is not None:
            start = np.divide(start * groups.sizes, np.abs(G.units), out=np.zeros(len(F)), where=has_unit)
        result = self._best(G, F, start, np.where(has_unit, 1.0, 0.0))
        Gw = G.product(result.w)
        left = F - np.outer(Gw, (result.w @ F) / (result.w @ Gw))  # of the means, what is not in this projection
        left = np.divide(left, G.units[:, None], out=np.zeros_like(F), where=has_unit[:, None])
        return result, G.units * result.w, ridge, left

    def _plain(self, groups: Groups, task: Task, signs: np.ndarray) -> tuple[Metric, np.ndarray]:
        """B and F of NNP Eq. 21, in the units in which X was given."""
        scatter, F = task.printed or (task.scatter, task.F)
        units = signs * groups.sizes
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
            yield Task(scatter([]), F, self._signs(groups, 1), "", self._printed(groups, 1))
        elif is_auto(self.n_components):
            for c in range(count):
                F, rows = groups.one_against_rest(c)
                label = f" class {self.classes_[c]!r} from the others"
                yield Task(scatter([(1.0, rows)]), F, self._signs(groups, c), label, self._printed(groups, c))
        else:
            yield Task(scatter([]), groups.between(), self._signs(groups, None), "", self._printed(groups, None))

    def _metric(self, groups: Groups, task: Task, signs: np.ndarray) -> tuple[Metric, float]:
        """The matrix below the line, with features in units in which its diagonal is one, and the ridge in it."""
        diagonal, between = np.asarray(task.scatter.diagonal), np.sum(task.F**2, axis=1)
        is_still = diagonal <= groups.noise
        varying = ~is_still | (between > groups.noise)
        squares = groups.sizes**2
        base = float((diagonal * squares)[varying].mean())
        if is_still[varying].all():  # no class varies at all: the direction between the means, at any ridge
            base = float((between * squares)[varying].mean())
        singular = bool(is_still[varying].any()) or _is_singular(task.scatter, varying, len(groups.codes) - len(groups.shares))
        ridge = (RIDGE if singular else 0.0) if is_auto(self.ridge) else float(self.ridge)
        if ridge == 0 and is_still[varying].any():
            raise DataError(
                f"ridge={self.ridge!r}, but {int(is_still[varying].sum())} of the {len(varying)} {self._items} do not vary within "
                "any class and differ between classes, so that the ratio has no bound. Use ridge='auto', or a small number."
            )
        added = ridge * base / squares
        total = np.where(varying, diagonal + added, 1.0)
        units, share = np.where(varying, signs / np.sqrt(total), 0.0), np.where(varying, added / total, 1.0)
        return Metric(task.scatter, units, share), ridge * base

    def _best(self, G: Metric, F: np.ndarray, given: np.ndarray | None, ones: np.ndarray) -> Result:
        """The best of what comes from all ones and from the means, each in units of its scatter."""
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
            runs = [rayleigh(G, F, start, int(self.max_iter), self.tol) for start in starts]
        best = max(runs, key=lambda run: run.ratio)
        return best._replace(w=best.w / np.sqrt(max(float(best.w @ G.product(best.w)), np.finfo(float).tiny)))

    def _say_nothing_left(self, label: str, found: int) -> None:
        if label:
            warnings.warn(f"The means say nothing that would tell{label}: its direction is zero.", stacklevel=4)
        else:
            warnings.warn(
                f"{found} direction{'s' * (found != 1)} have all that tells the classes apart; n_components={self.n_components} of "
                "them cannot be had.",
                stacklevel=4,
            )

    def _keep(self, groups: Groups, found: list[tuple[np.ndarray, Result]], ranges: list[Any], ridges: list[float]) -> None:
        results = [result for _, result in found]
        self.definiteness_ = np.array(ranges)
        self.definite_ = bool(np.all(self.definiteness_[:, 0] > 0))
        self.fisher_ratio_ = np.array([result.ratio for result in results])
        self.ridge_ = np.array(ridges)
        self.n_iter_ = max(result.n_iter for result in results)
        self._decide(groups, np.array([w for w, _ in found]))
        for result in results:
            if result.stopped == "negative":
                warnings.warn(
                    f"{type(self).__name__}: rule='oja' stopped after {result.n_iter - 1} iterations, as the next w would have "
                    "negative entries: NNP Eq. 56 does not hold here. Use rule='rayleigh'.",
                    ConvergenceWarning,
                    stacklevel=4,
                )
            elif result.stopped == "max_iter" and self.tol:
                warnings.warn(
                    f"{type(self).__name__}: the rule ran for {result.n_iter} iterations unsettled. Raise max_iter or tol.",
                    ConvergenceWarning,
                    stacklevel=4,
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
        self._directions = W
        self._weights = weights @ W
        self.intercept_ = offsets - weights @ (middle * units) - self._weights @ groups.centre

    # ---- what can be asked

    @abstractmethod
    def _features(self, X: Any) -> Any:
        """X as what the directions are directions of."""

    def transform(self, X: Any) -> np.ndarray:
        """The projections of samples on the directions, (n_samples, n_directions).

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return np.asarray(self._features(X) @ self._directions.T)

    def decision_function(self, X: Any) -> np.ndarray:
        """How much speaks for each class: (n_samples, n_classes); for two, (n_samples,), above zero for the second.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        scores = np.asarray(self._features(X) @ self._weights.T) + self.intercept_
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
        return tags


def described(items: str) -> str:
    return f"""    rule : {{"rayleigh", "oja"}}, default="rayleigh"
        "rayleigh" makes the ratio as large as it can be. "oja" is the paper's rule, as printed, which does not: see the notes.
    ridge : float or "auto", default="auto"
        What is added to the diagonal of S_W, as a share of its mean. "auto" is 0, or 0.001 where S_W is singular, as with more
        {items} than samples.
    solver : {{"auto", "exact", "multiplicative"}}, default="auto"
        How the ratio is made large. "exact" takes exact steps: for a class and the others, they lead to the best weights there are.
        "multiplicative" is the rule of the notes, under which the ratio never falls either, but which is slow where {items} are
        much alike. "auto" is "exact" for "rayleigh".
    init : "auto" or array of shape (n_{items},), default="auto"
        Where to start. "auto" is from all ones, and with "rayleigh" also from the means of the classes, the best being kept.
    max_iter : int, default=1000
        Steps, at most, from each start.
    tol : float, default=1e-4
        Iterations stop once the ratio grows by less than this share; with "oja", once the direction changes by less than this. 0
        runs to `max_iter`."""


_ATTRIBUTES = """    fisher_ratio_ : array of shape (n_directions,)
        wᵀS_B w / wᵀS_W w of each direction, with the ridge where there is one.
    definite_ : bool
        Whether S_W S_B + S_B S_W is positive definite, as NNP Eq. 56 wants it, for each direction. See the notes.
    definiteness_ : array of shape (n_directions, 2)
        Its least and its largest eigenvalue.
    ridge_ : array of shape (n_directions,)
        What was added to the diagonal of S_W.
    classes_ : array of shape (n_classes,)
    n_iter_ : int
        Steps, the most of any direction.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Only where X has feature names that are all strings."""


def filled(cls: Any) -> Any:
    """The class, with what both say alike put into its docstring."""
    text = cls.__doc__.replace("    {SHARED}", described(cls._items))
    cls.__doc__ = text.replace("    {ATTRIBUTES}", _ATTRIBUTES)
    return cls


def is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _sizes(largest: np.ndarray) -> np.ndarray:
    return np.where(largest > 0, largest, 1.0)


def _is_singular(scatter: Scatter, varying: np.ndarray, freedom: int) -> bool:
    """Whether S_W is, among the features that vary: more features than samples, or features that follow from others."""
    if varying.sum() > freedom:
        return True
    if not isinstance(scatter, Formed):
        return False
    sizes = np.sqrt(scatter.diagonal[varying])
    try:
        pivots = np.diagonal(np.linalg.cholesky(scatter.block(np.flatnonzero(varying)) / np.outer(sizes, sizes)))
    except np.linalg.LinAlgError:
        return True
    return bool(pivots.min() ** 2 < 1e-10)
