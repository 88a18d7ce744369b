"""Blocks held out (Gabriel's bi-cross-validation): error of a rank on pairs of samples and features that it has not seen.

Samples are dealt out into folds, and so are features. A model is fitted to the block of the samples and the features that remain;
held-out samples get codes from the features that remain, held-out features get loadings from the samples that remain, and the
product of the two is compared with the entries that nothing was fitted to. If a factor is orthogonal, a held-out item belongs
to one component, as all others do. Of similarities, items are held out, and similarities between them compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ...data import as_dense, read_data
from ...divergences import Objective
from ...estimators.encoding import encode
from ...model import Model
from ...planning.plans import multiply
from ...solve.solving import objective_of
from ..subjects import Items, Matrix, Rank, Subject
from .base import Folded, Found, folds, others

FLOOR = 1e-3
"""Least approximation, as a share of the mean entry, if the divergence from zero is infinite."""


@dataclass(frozen=True)
class Gabriel(Folded):
    """The error on held-out blocks. It separates signal from noise, also if components are not unique; it needs no labels.

    Parameters
    ----------
    n_repeats : int, default=1
        How often samples and features are dealt out anew.
    n_folds : int, default=3
        Folds of samples, and folds of features: its square is the number of blocks.
    tolerance : float, default=0.02
        Smallest difference between ranks that counts: this share of the lowest error, or of the explained error if that is less.
        The explained error is the fall from the product of margins to the lowest rank.

    See Also
    --------
    nonneg.selection.rank_scan : Judges ranks by it.
    Speckled : Holds out single entries.
    Halves : Components that other data would show again.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMF
    >>> from nonneg.selection import rank_scan
    >>> from nonneg.selection.criteria import Gabriel
    >>> draw = np.random.default_rng(0)
    >>> X = draw.random((24, 2)) @ draw.random((2, 16))
    >>> rank_scan(NMF(), X, [1, 2], criteria=Gabriel(), random_state=0).best_
    2
    """

    n_repeats: int = 1
    n_folds: int = 3
    tolerance: float = 0.02

    name: ClassVar[str] = "gabriel"
    shown: ClassVar[str] = "gabriel"
    label: ClassVar[str] = "error on held-out blocks"

    def obstacle(self, subject: Subject) -> str | None:
        obstacle = self._kind_of_obstacle(subject)
        if obstacle is not None:
            return obstacle
        if min(subject.data.shape) < 2 * self.n_folds:
            return f"X is {' × '.join(map(str, subject.data.shape))}, and {self.n_folds} folds need {2 * self.n_folds} at least"
        return None

    def _kind_of_obstacle(self, subject: Subject) -> str | None:
        if isinstance(subject, Items):
            return None if subject.name == "SymmetricNMF" else "its codes do not give similarities back, so none can be held out"
        if not isinstance(subject, Matrix):
            return f"it holds out blocks of a matrix, and this is about {subject.kind}"
        if not subject.estimator._transforms:
            return f"the form {subject.estimator.form!r} has no codes for new samples"
        if subject.has_missing:
            return "values are missing, and a block is compared as a whole; use 'speckled', which holds out single entries"
        if subject.parameters.get("fixed_components") is not None:
            return "fixed components have all features, and a block has some of them only; use 'halves'"
        return None

    def most(self, subject: Subject) -> tuple[int, int]:
        n, m = (size - -(-size // self.n_folds) for size in subject.data.shape)
        return (n, m) if subject.has_two_ranks else (min(n, m),) * 2

    def parts(self, subject: Subject, generator: np.random.Generator, y: np.ndarray | None) -> list[Any]:
        n, m = subject.data.shape
        found: list[Any] = []
        for _ in range(self.n_repeats):
            if isinstance(subject, Items):  # as many parts as blocks of a matrix
                for _ in range(self.n_folds):
                    found += [(fold, fold) for fold in folds(n, self.n_folds, generator)]
                continue
            of_samples, of_features = folds(n, self.n_folds, generator), folds(m, self.n_folds, generator)
            found += [(rows, columns) for rows in of_samples for columns in of_features]
        return found

    def measure(self, subject: Subject, part: Any, rank: Rank, seed: int) -> Found:
        rows, columns = part
        if isinstance(subject, Items):
            return _of_items(subject, rows, rank, seed)
        assert isinstance(subject, Matrix)
        return _of_block(subject, rows, columns, rank, seed)


def _of_block(subject: Matrix, rows: np.ndarray, columns: np.ndarray, rank: Rank, seed: int) -> dict[str, float]:
    """The form fitted to the rest is codes · middle · loadings; held-out items are coded one by one."""
    n, m = subject.data.shape
    other_rows, other_columns = others(n, rows), others(m, columns)
    seen, of_rows = subject.block(other_rows, other_columns), subject.block(rows, other_columns)
    of_columns = _turned(subject.block(other_rows, columns))
    model = subject.fit(seen, rank, seed)
    form, divergence, one_of = model.model_, model.model_.divergence.separable, subject.orthogonal(model)
    left, right = model._cut(form)
    last = right[-1]
    if last.name == form.data or len(right) == 1:  # loadings are all that stands after the codes
        middle = np.eye(len(model.components_))
    else:
        middle = np.asarray(as_dense(multiply(right[:-1], model.factors_, {form.data: read_data(seen)})))
    if left[0].name != form.data and one_of.get(left[0].name) == "columns":
        codes, new_codes = model.factors_[left[0].name], one_each(of_rows, model.components_, divergence)
    else:
        codes, new_codes = model._codes(seen), model._codes(of_rows)
    facing = np.ascontiguousarray((codes @ middle).T)
    has_one = one_of.get(last.name) == ("columns" if last.transposed else "rows")
    loadings = one_each(of_columns, facing, divergence) if has_one else encode(of_columns, facing, divergence)
    held = subject.block(rows, columns)
    return {
        "error": _error(held, new_codes @ middle, loadings.T, divergence),
        "margins": _error(held, *_margins(of_rows, of_columns, seen), divergence),
    }


def _margins(of_rows: Any, of_columns: Any, seen: Any) -> tuple[np.ndarray, np.ndarray]:
    """Predict a held-out block by the sums of its rows and columns over the entries that are seen: rank 1, without a fit."""
    total = float(seen.sum())
    sums_of_rows, sums_of_columns = (np.asarray(X.sum(axis=1), dtype=np.float64).ravel() for X in (of_rows, of_columns))
    return sums_of_rows[:, None] / (total if total > 0 else 1.0), sums_of_columns[None, :]


def _error(held: Any, codes: np.ndarray, components: np.ndarray, divergence: Objective) -> float:
    return beyond_rounding(divergence_between(held, codes, components, divergence), held, divergence)


def _turned(X: Any) -> Any:
    """Xᵀ, stored by rows."""
    return sparse.csr_array(X.T) if sparse.issparse(X) else np.ascontiguousarray(X.T)


def _of_items(subject: Items, items: np.ndarray, rank: Rank, seed: int) -> dict[str, float]:
    """The error of held-out similarities between items, and the error of the product of margins."""
    known = others(subject.data.shape[0], items)
    seen, of_items = subject.block(known, known), subject.block(items, known)
    model = subject.fit(seen, rank, seed)
    codes = model.transform(of_items).astype(np.float64)
    divergence = model.model_.divergence.separable
    # The diagonal is left out: the similarity of an item to itself is often a convention.
    between = np.triu_indices(len(items), 1)
    held = np.asarray(as_dense(subject.block(items, items)), dtype=np.float64)[between][None, :]
    left, right = _margins(of_items, of_items, seen)
    one = np.ones((1, 1))
    return {
        "error": _error(held, one, (codes @ codes.T)[between][None, :], divergence),
        "margins": _error(held, one, (left @ right)[between][None, :], divergence),
    }


def one_each(X: Any, components: np.ndarray, divergence: Objective) -> np.ndarray:
    """Codes with one entry for each sample: the component that approximates it best, and as much of it as fits best."""
    C = np.asarray(components, dtype=np.float64)
    if divergence.is_poisson:
        shares = C / np.maximum(C.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        floor = FLOOR / C.shape[1]
        gains = np.asarray(X @ np.log((1 - FLOOR) * shares + floor).T)
        amounts = np.asarray(X.sum(axis=1)).reshape(-1, 1) / np.maximum(C.sum(axis=1), np.finfo(np.float64).tiny)
    else:
        squares = np.maximum(np.sum(C * C, axis=1), np.finfo(np.float64).tiny)
        amounts = np.asarray(X @ C.T) / squares
        gains = amounts**2 * squares
    gains[:, ~C.any(axis=1)] = -np.inf
    best = gains.argmax(axis=1)
    codes = np.zeros((X.shape[0], len(C)))
    each = np.arange(len(codes))
    if not (divergence.is_poisson or divergence.is_quadratic):
        for k in np.unique(best):
            codes[best == k, k] = encode(X[best == k], C[k : k + 1], divergence)[:, 0]
        return codes
    codes[each, best] = amounts[each, best]
    return codes


def beyond_rounding(error: float, X: Any, divergence: Objective) -> float:
    """The error, or zero if negligible beside that of an approximation wrong by half: then all ranks are the same."""
    mean = float(X.sum()) / max(X.shape[0] * X.shape[1], 1)
    if not mean > 0:
        return error
    half_off = divergence_between(np.array([[mean]]), np.ones((1, 1)), np.array([[mean / 2]]), divergence)
    return 0.0 if abs(error) <= NEGLIGIBLE * half_off else error


NEGLIGIBLE = 1e-12
"""Share of rounding, or of a converged fit's error."""


def divergence_between(X: Any, codes: np.ndarray, components: np.ndarray, divergence: Objective) -> float:
    """D(X ‖ codes · components) for each entry of X; if infinite from zero, to a little more than the product."""
    codes, components = np.asarray(codes, dtype=np.float64), np.asarray(components, dtype=np.float64)
    size = X.shape[0] * X.shape[1]
    if divergence.is_quadratic and not sparse.issparse(X):
        return float(np.sum((X - codes @ components) ** 2)) / 2 / size
    if divergence.infinite_at_zero:
        floor = np.full((len(codes), 1), FLOOR * float(X.sum()) / size)
        codes, components = np.hstack([codes, floor]), np.vstack([components, np.ones(components.shape[1])])
    if not codes.any() or not components.any():
        codes, components = np.full((len(codes), 1), np.finfo(np.float64).tiny), np.ones((1, X.shape[1]))
    largest = float(components.max())  # it is the codes that have the scale of the data, for the engine to measure them in
    return objective_of(X, Model("H C", divergence, {"C": "fixed"}), {"H": codes * largest, "C": components / largest}) / size
