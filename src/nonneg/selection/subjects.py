"""Adapters through which `rank_scan` fits any estimator to parts of its data.

There are four kinds: a matrix of samples and features, a square matrix of similarities between items, sequences of symbols (as
pairs of neighbours), and graphs. A criterion asks the kind that it knows for parts, and for fits to them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ..data import Observed, as_dense, is_elsewhere
from ..data.device import in_memory, name_of
from ..data.weighted import count_missing
from ..estimators import NMTF, BiORNM3F, BiQNMF, Factorizer, KernelPNMF, SymmetricNMF
from ..exceptions import DataError, IncompatibleError, ShapeError
from ..graph.clustering import GraphClustering
from ..hmm import HiddenChain, distinct, read_sequences
from ..kernels.csr import checked

Rank = int | tuple[int, int]


class Subject(ABC):
    """An estimator and its data."""

    kind: ClassVar[str]
    """Kind of the data, in words."""
    has_two_ranks = False
    """Whether samples and features have a rank each."""
    has_missing = False
    """Whether entries are missing."""

    def __init__(self, estimator: Any, data: Any) -> None:
        self.estimator, self.data = estimator, data
        self.parameters: dict[str, Any] = estimator.get_params(deep=False)
        self.parameter = next(name for name in ("n_components", "n_clusters", "n_states") if name in self.parameters)
        if not isinstance(self.parameters.get("init", "auto"), str):
            raise IncompatibleError(
                f"init of {self.name} gives factors, which have one rank, and a scan needs starts of any. Use the name of one."
            )

    @property
    def name(self) -> str:
        return type(self.estimator).__name__

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, int]:
        """The most that ranks can be, of samples and of features: how many of them there are."""

    @property
    @abstractmethod
    def extent(self) -> str:
        """How large the data are, in words."""

    def with_rank(self, rank: Rank, seed: int, **changes: Any) -> Any:
        """The estimator as it is to be fitted, on its own and in silence."""
        given = {self.parameter: rank, "random_state": seed, "n_jobs": None, "verbose": 0, "warm_start": False} | changes
        return clone(self.estimator).set_params(**{name: value for name, value in given.items() if name in self.parameters})

    def fit(self, data: Any, rank: Rank, seed: int, **changes: Any) -> Any:
        """The estimator fitted to data like those of the subject."""
        return self.with_rank(rank, seed, **changes).fit(data)

    def fit_ahead(self, wanted: Sequence[tuple[Rank, int]], **changes: Any) -> None:  # noqa: B027
        """Make fits to all data that `fit` will be asked for, by rank and seed, where a device makes them in one batch."""

    def identity(self) -> dict[str, Any]:
        """Properties that a continued scan must share with the one before, as JSON."""
        own = {name: value for name, value in self.parameters.items() if name not in (self.parameter, *_NOT_ABOUT_RESULTS)}
        return {"estimator": self.name, "parameters": {name: repr(value) for name, value in own.items()}, "data": self._digest()}

    def _digest(self) -> str:
        return digest(self.data)


_NOT_ABOUT_RESULTS = ("random_state", "n_jobs", "verbose", "warm_start", "device")


def digest(*arrays: Any) -> str:
    """A short text that other arrays do not have."""
    found = blake2b(digest_size=16)
    for array in arrays:
        parts = (array.data, array.indices, array.indptr) if sparse.issparse(array) else (array,)
        for part in parts:
            part = np.ascontiguousarray(part)
            found.update(f"{part.dtype.str} {part.shape}".encode())
            found.update(part.tobytes())
    return found.hexdigest()


def _cut_out(X: Any, rows: np.ndarray, columns: np.ndarray | None) -> Any:
    """Some rows, and of these some columns, of an array or a sparse array."""
    taken = X[rows] if columns is None else X[rows][:, columns]
    return sparse.csr_array(taken) if sparse.issparse(taken) else np.ascontiguousarray(taken)


def refuse_far(X: Any) -> None:
    """Refuse data that are not in memory."""
    if is_elsewhere(X):
        raise DataError(
            "rank_scan needs all of X in memory, since it fits parts of X many times, and takes neither files nor data in blocks. "
            "Read X first: numpy.load, with mmap_mode='r' where it is large, nonneg.files.read(path).values, or .compute() of a "
            "Dask collection."
        )


def _to_be_compared(X: Any) -> Any:
    """X in double precision, if it is not very large: fits in single precision end with errors that differ from rank to rank.

    It is divided by a power of two if squares of its entries, or of their differences, could become 0 or ∞.
    """
    X = X.astype(np.float64) if X.dtype.itemsize < 8 and X.shape[0] * X.shape[1] <= _LARGE else X
    peak = float(np.nanmax(X.data if sparse.issparse(X) else X, initial=0.0))
    return X if peak == 0 or 1e-75 < peak < 1e75 else X * 2.0 ** -np.round(np.log2(peak))


_LARGE = 2**27
"""Entries up to which data in single precision are scanned in double precision."""


def _where(estimator: Any, X: Any) -> Any:
    """A copy of an estimator that works where X lies: parts of X are taken in main memory."""
    copied = clone(estimator)
    return copied if estimator.device is not None else copied.set_params(device=name_of(X))


class Matrix(Subject):
    """X ≈ a product form: samples in rows, features in columns."""

    kind = "a matrix of samples and features"

    def __init__(self, estimator: Any, X: Any) -> None:
        refuse_far(X)
        data: Any = in_memory(clone(estimator)._read(X, reset=True))
        super().__init__(_where(estimator, X), _to_be_compared(data.values))
        self._is_single = data.values.dtype.itemsize < 8 and self.estimator.device not in (None, "cpu")
        """Whether fits ahead are in the single precision of X, which is enough to see where they end, and faster on a device."""
        self._ahead: dict[tuple[Rank, int], Any] = {}
        """Models that `fit_ahead` has made, until `fit` is asked for them."""
        self.has_two_ranks = isinstance(estimator, NMTF | BiQNMF | BiORNM3F)
        self.has_missing = count_missing(data) > 0
        self.is_observed = self.has_missing and sparse.issparse(data.values)

    @property
    def sizes(self) -> tuple[int, int]:
        n, m = self.data.shape
        return (int(n), int(m)) if self.has_two_ranks else (min(n, m),) * 2

    @property
    def extent(self) -> str:
        return f"X is {self.data.shape[0]} × {self.data.shape[1]}"

    def block(self, rows: np.ndarray, columns: np.ndarray | None = None) -> Any:
        """Some samples, and of these some features."""
        return _cut_out(self.data, rows, columns)

    def fit(self, data: Any, rank: Rank, seed: int, **changes: Any) -> Any:
        ahead = self._ahead.pop((rank, seed), None) if data is self.data else None
        return ahead if ahead is not None else super().fit(self.as_given(data), rank, seed, **changes)

    def fit_ahead(self, wanted: Sequence[tuple[Rank, int]], **changes: Any) -> None:
        copies = [self.with_rank(rank, seed, **changes) for rank, seed in wanted]
        data = self.as_given(self.data.astype(np.float32) if self._is_single else self.data)
        if len(copies) > 1 and type(self.estimator)._fit_together(copies, data):
            self._ahead = dict(zip(wanted, copies, strict=True))

    def as_given(self, data: Any) -> Any:
        """Data like those of the subject, as the estimator takes them: an `Observed` if stored entries are all that is known."""
        return Observed(data) if self.is_observed else data

    def _digest(self) -> str:
        return f"observed {super()._digest()}" if self.is_observed else super()._digest()

    def orthogonal(self, model: Any) -> dict[str, str]:
        """Names of the orthogonal factors of a fitted model, with the axis; those of `BiQNMF` are orthogonal by its form."""
        if isinstance(model, BiQNMF):
            return {"L": "columns", "R": "columns"}
        found: dict[str, str] = model._orthogonal()
        return found


class Items(Subject):
    """X ≈ W Wᵀ of similarities between items, or kernel PNMF of them."""

    kind = "similarities between items"

    def __init__(self, estimator: Any, X: Any) -> None:
        refuse_far(X)
        estimator._check_missing()
        K = estimator._checked_similarities(clone(estimator)._read(X, reset=True))
        super().__init__(_where(estimator, X).set_params(kernel="precomputed"), K)
        if K.shape[0] != K.shape[1]:
            raise DataError(f"X must be square with kernel='precomputed'; its shape is {K.shape}.")

    @property
    def sizes(self) -> tuple[int, int]:
        return (int(self.data.shape[0]),) * 2

    @property
    def extent(self) -> str:
        return f"X has {self.sizes[0]} items"

    def block(self, rows: np.ndarray, columns: np.ndarray) -> Any:
        return _cut_out(self.data, rows, columns)


class Chain(Subject):
    """Sequences of symbols, as counts of pairs of neighbours, for chains."""

    kind = "sequences of symbols"

    def __init__(self, estimator: Any, X: Any, lengths: Any = None) -> None:
        self._pairs, self._sequence_of = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64)
        if _is_square(X):
            counts = np.asarray(as_dense(checked(X, "X")), dtype=np.float64)
            if not np.isfinite(counts).all() or (counts < 0).any() or (counts % 1).any():
                raise DataError(
                    "X is square, so it is read as counts of pairs, which are whole numbers; for sequences give a list."
                )
            self.symbols = np.arange(len(counts))
        else:
            read = read_sequences(X, lengths)
            self.symbols, codes = distinct(read.symbols)
            follows = np.ones(len(codes), dtype=bool)
            follows[read.offsets[:-1]] = False
            second = np.flatnonzero(follows)
            self._pairs = np.column_stack([codes[second - 1], codes[second]])
            self._sequence_of = np.searchsorted(read.offsets, second, side="right") - 1
            counts = self._counted(np.ones(len(second), dtype=bool))
        if not counts.any():
            raise DataError("X has no pairs of neighbours to learn from: sequences need two symbols or more.")
        super().__init__(estimator, counts)

    @property
    def sizes(self) -> tuple[int, int]:
        occur = self.data.any(axis=0) | self.data.any(axis=1)
        return (int(occur.sum()),) * 2

    @property
    def extent(self) -> str:
        return f"{self.sizes[0]} symbols occur"

    def _counted(self, chosen: np.ndarray) -> np.ndarray:
        n = len(self.symbols)
        first, second = self._pairs[chosen].T
        return np.bincount(first * n + second, minlength=n * n).reshape(n, n).astype(np.float64)

    def dealt_out(self, count: int, generator: np.random.Generator) -> list[np.ndarray]:
        """The counts as a sum of so many: of whole sequences if there are two for each, else of random pairs."""
        names = np.unique(self._sequence_of)
        if len(names) >= 2 * count:
            groups = np.array_split(generator.permutation(names), count)
            return [self._counted(np.isin(self._sequence_of, group)) for group in groups]
        thinned = generator.multinomial(self.data.astype(np.int64), np.full(count, 1 / count))
        return [thinned[..., number].astype(np.float64) for number in range(count)]

    def fit(self, data: Any, rank: Rank, seed: int, **changes: Any) -> Any:
        """A chain fitted to counts."""
        return self.with_rank(rank, seed, **changes).fit_pairs(data, self.symbols)


class Vertices(Subject):
    """A graph, known by its adjacency matrix."""

    kind = "a graph"

    def __init__(self, estimator: Any, X: Any) -> None:
        A, _ = clone(estimator)._adjacency(X)
        method = "refined" if estimator.method == "auto" else estimator.method  # block models agree on parts of few vertices
        super().__init__(clone(estimator).set_params(kernel="precomputed", symmetrize=None, method=method), A)

    @property
    def sizes(self) -> tuple[int, int]:
        return (int(self.data.shape[0]),) * 2

    @property
    def extent(self) -> str:
        return f"the graph has {self.sizes[0]} vertices"

    def similarity(self) -> Any:
        """The matrix S of the whole graph."""
        return clone(self.estimator).set_params(n_clusters=1, n_init=1).fit(self.data).similarity_


def can_be_scanned(cls: type) -> bool:
    """Whether ranks of such estimators can be scanned."""
    return issubclass(cls, Factorizer | SymmetricNMF | KernelPNMF | HiddenChain | GraphClustering)


def subject_of(estimator: Any, X: Any, lengths: Any = None) -> Subject:
    """An estimator with its data; refuses estimators without ranks to scan."""
    if isinstance(estimator, type):
        raise IncompatibleError(f"estimator is the class {estimator.__name__}; give an object: {estimator.__name__}().")
    if isinstance(estimator, HiddenChain):
        return Chain(estimator, X, lengths)
    if lengths is not None:
        raise IncompatibleError("lengths are those of sequences, which only chains have.")
    if isinstance(estimator, GraphClustering):
        return Vertices(estimator, X)
    if isinstance(estimator, SymmetricNMF | KernelPNMF):
        return Items(estimator, X)
    if isinstance(estimator, Factorizer):
        return Matrix(estimator, X)
    raise IncompatibleError(
        "estimator must be a factorization, a chain or a GraphClustering of nonneg, or a Pipeline that ends with one; got "
        f"{estimator!r}."
    )


def read_ranks(ranks: Any, subject: Subject, most: Mapping[str, tuple[int, int]]) -> list[list[Rank]]:
    """The ranks to scan, in order: one list, or one for samples and one for features, the other rank being the largest.

    Parameters
    ----------
    ranks : iterable of int, dict, or "auto"
        As in `rank_scan`.
    subject : Subject
    most : dict
        The largest ranks, of samples and of features, that each criterion can judge.
    """
    fixed = subject.parameters.get("fixed_components")
    n_fixed = len(fixed) if fixed is not None and np.ndim(fixed) == 2 else 0
    if isinstance(ranks, str) and ranks == "auto":
        axes = _take_usual(subject, most, n_fixed)
    elif isinstance(ranks, Mapping):
        axes = _read_by_axis(ranks, subject)
    else:
        axes = [_counts(ranks, "ranks")] * (2 if subject.has_two_ranks else 1)
    if axes[0][0] < n_fixed:
        raise ShapeError(f"ranks begins with {axes[0][0]}; fixed_components are {n_fixed}, so that ranks begin there at least.")
    _refuse_too_large(axes, subject, most)
    if not subject.has_two_ranks:
        return [list(axes[0])]
    top = axes[0][-1], axes[1][-1]
    return [[(k, top[1]) for k in axes[0]], [(top[0], k) for k in axes[1]]]


_USUAL = range(2, 13)
"""The ranks of "auto", as far as the data and the criteria allow."""


def _take_usual(subject: Subject, most: Mapping[str, tuple[int, int]], n_fixed: int) -> list[list[int]]:
    """The ranks of "auto", not below the number of fixed components."""
    tops = [min(_USUAL[-1], *(sizes[which] for sizes in most.values())) for which in range(2 if subject.has_two_ranks else 1)]
    return [list(range(min(max(_USUAL[0], n_fixed), top), top + 1)) for top in tops]


def _read_by_axis(ranks: Mapping[str, Any], subject: Subject) -> list[list[int]]:
    """The ranks of samples and of features from a dict, which only models with two ranks take."""
    if not subject.has_two_ranks or set(ranks) != {"samples", "features"}:
        given = f"ranks is a dict with {', '.join(map(repr, ranks)) or 'nothing'}"
        raise ShapeError(
            f"{given}; {subject.name} has two ranks, and both are needed: 'samples' and 'features'."
            if subject.has_two_ranks
            else f"{given}, which is for models with two ranks; {subject.name} has one: give the ranks themselves."
        )
    return [_counts(ranks[name], f"ranks[{name!r}]") for name in ("samples", "features")]


def _refuse_too_large(axes: list[list[int]], subject: Subject, most: Mapping[str, tuple[int, int]]) -> None:
    """Refuse ranks above the least that a criterion can judge."""
    for which, axis in enumerate(axes):
        name, size = min(((name, sizes[which]) for name, sizes in most.items()), key=lambda each: each[1])
        if axis[-1] > size:
            part = f", and {name!r} fits parts of it" if size < subject.sizes[which] else ""
            raise ShapeError(f"ranks goes up to {axis[-1]}; at most {size} can be scanned here: {subject.extent}{part}.")


def _counts(ranks: Any, name: str) -> list[int]:
    try:
        given = list(ranks) if not isinstance(ranks, str) else None
    except TypeError:
        given = None
    if given is None:
        raise ShapeError(f"{name} must be ints of at least 1, such as range(1, 11), or 'auto'; got {ranks!r}.")
    if not given:
        raise ShapeError(f"{name} is empty; give the ranks to scan, such as range(1, 11).")
    for rank in given:
        if isinstance(rank, bool | np.bool_) or not isinstance(rank, int | np.integer) or rank < 1:
            raise ShapeError(f"{name} must be ints of at least 1; {rank!r} is among them.")
    found = sorted(int(rank) for rank in given)
    twice = [a for a, b in pairwise(found) if a == b]
    if twice:
        raise ShapeError(f"{name} has {twice[0]} more than once.")
    return found


def _is_square(X: Any) -> bool:
    shape: tuple[int, ...] = tuple(getattr(X, "shape", ()))
    return len(shape) == 2 and shape[0] == shape[1] > 1
