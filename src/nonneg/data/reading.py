"""Read the user's input as data, or refuse it with a reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DataError
from ..io.opening import is_location
from ..kernels.csr import to_csr
from ..kernels.host import as_dense
from ..kernels.namespace import Array, Namespace, is_array, namespace_of, to_host, without_gradient
from .annotated import matrix_of
from .base import Data, Total, request
from .checking import Origin, check_finite, check_observed, check_sign, check_symmetric, refuse_nan, refuse_text_columns
from .dense import DenseData
from .device import dense, in_memory
from .files import FileBlocks
from .given import Gram, Observed, Signed, Sketch
from .gram import GramData
from .opening import is_elsewhere, opened, refuse_name, rows_of, weights_in_memory
from .signed import Operator, SignedData
from .sketch import SketchData
from .sparse import SparseData
from .weighted import Pair, Scaled, Weighing, WeightedDense
from .weighted.weighing import observed, weigh
from .weighted.weights import check_weights, transposed


def read_data(
    X: Any,
    name: str = "X",
    *,
    signed: bool = False,
    symmetric: bool = False,
    positive: bool = False,
    unknown: bool = False,
    totals: Iterable[Total] = (),
    origin: Any = None,
) -> Data:
    """Check X and wrap it, in one reading.

    Parameters
    ----------
    X : array, sparse array, Gram, Data, path or open file, or anything NumPy can read as a matrix
    signed : bool
        Whether negative entries are allowed.
    symmetric : bool
        Whether X must be.
    positive : bool
        Whether zeros are not.
    unknown : bool
        Whether all entries may be missing, as those of new samples may be.
    totals : iterable
        Sums over all entries that will be asked for, to be found on the way.
    origin : optional
        The whole of which X is a part; its `place` names the place of an entry.
    """
    for kind, read in _GIVEN.items():
        if isinstance(X, kind):
            return read(X, name)
    if not isinstance(X, Data) and type(X) is not np.ndarray:
        X = read_weighted(X, name) if isinstance(X, Observed) else opened(matrix_of(opened(X)))
    data = X if isinstance(X, Data) else _wrapped(X, name)
    if 0 in data.shape:
        raise DataError(f"{name} is empty: its shape is {tuple(data.shape)}. At least one row and one column are needed.")
    if origin is not None:
        data.origin = origin
    request(data, totals, signed=signed)
    check_finite(data, name)
    if not unknown:
        check_observed(data, name)
    if symmetric:
        check_symmetric(data, name)
    if not signed:
        check_sign(data, name, positive)
    return data


MISSING = ("raise", "ignore")
"""Treatments of missing values."""


def check_missing(missing: Any) -> None:
    """Refuse an unknown treatment of missing values."""
    if not isinstance(missing, str) or missing not in MISSING:
        raise DataError(f"missing must be 'raise' or 'ignore'; got {missing!r}.")


def read_weighted(X: Any, name: str = "X", *, missing: str = "raise", weights: Any = None) -> Any:
    """Data with weights, if there are any or values are missing; else X unchanged.

    Parameters
    ----------
    X : array, sparse array, Observed, masked array, table, or Data
    missing : {"raise", "ignore"}
        With "ignore", NaN, masked and NA entries have no weight; with "raise" they are refused when X is read.
    weights : array of the shape of X, or pair of arrays (rows, columns)
        None for all ones. Entries not stored by sparse weights have weight 0. For data in files, or on a cluster, also
        a Dask array; or a `Scaled`. A path, or an open file, is read with X: in blocks, or into memory where X is there.
    """
    check_missing(missing)
    ignores = missing == "ignore"
    if isinstance(X, Gram | Signed | Sketch):
        if weights is not None:
            raise DataError(f"{name} is given by a {type(X).__name__}, without its entries, and weights are for entries.")
        return X
    X = opened(matrix_of(X))
    X = with_nan(X) if ignores else X
    if isinstance(X, Data) and X.in_blocks is not None:
        return _read_blocks(X, name, missing, weights)
    weights = weights_in_memory(weights)
    if isinstance(X, Observed):
        return _read_observed(X, name, weights)
    if weights is None and (isinstance(X, Data) or not ignores):
        return X
    return _read_in_memory(X, name, ignores, weights)


def _read_in_memory(X: Any, name: str, ignores: bool, weights: Any) -> Data:
    """An array, a sparse array or data in memory, with weights or without entries that are NaN."""
    data: Any = X if isinstance(X, Data) else _wrapped(X, name)
    if isinstance(X, Data) and X.costs.weighted:
        raise DataError("The data have weights already.")
    if sparse.issparse(X) and ignores and np.isnan(data.values.data).any():
        raise DataError(
            f"{name} is sparse and has NaN in it. In a sparse array entries that are not stored are zeros; where they are "
            "missing, give Observed(X), which may have NaN; where they are not, give a dense array."
        )
    if weights is not None and data.costs.storage == "sparse":  # their passes are kernels of the processor
        data = in_memory(data)
    given = None if weights is None else read_weights(weights, data.shape, name, data.namespace)
    if given is None or _is_one(given):
        return _without_nan(data) if ignores else data
    return _weighed(data, given, ignores, name)


def _wrapped(X: Any, name: str) -> Data:
    """An array or a sparse array as data, unchecked."""
    return _read_sparse(X, name) if sparse.issparse(X) else dense(*read_matrix(X, name))


def _without_nan(data: Any) -> Data:
    """Dense data with NaN as data with missing entries; other data as they are."""
    if not isinstance(data, DenseData) or not bool(data.namespace.xp.any(data.namespace.xp.isnan(data.values))):
        return data
    return WeightedDense(data.values, data.namespace, data.unit)


def _weighed(data: Any, weights: Any, ignores: bool, name: str) -> Data:
    """Data in memory with weights, NaN among them refused or left out."""
    is_array, xp = isinstance(data, DenseData) and not sparse.issparse(weights), data.namespace.xp
    if is_array and not ignores:
        refuse_nan(WeightedDense(data.values, data.namespace, data.unit, weights), name)
    has_all = isinstance(weights, Pair) and bool(xp.all(weights.columns > 0)) and bool(xp.any(weights.rows > 0))
    keeps_pairs = is_array and has_all and not bool(xp.any(xp.isnan(data.values)))
    return weigh(data, weights, ignores, name, keeps_pairs=keeps_pairs)


def _lie_elsewhere(weights: Any) -> bool:
    """Whether weights are in a file, or on other machines, and have to be read with the blocks of X."""
    entries = weights.entries if isinstance(weights, Scaled) else weights
    return entries is not None and (is_elsewhere(entries) or isinstance(entries, np.memmap))


def _read_small(blocks: FileBlocks, is_turned: bool, name: str, missing: str, weights: Any) -> Data:
    """Data in a file that fits into one block, as the same array in memory would be read; errors name the file."""
    values = blocks.whole_file()
    try:
        found = read_weighted(values.T if is_turned else values, name, missing=missing, weights=weights)
    except DataError as error:
        raise DataError(f"{blocks.source.name}: {error}") from error
    found = found if isinstance(found, Data) else _wrapped(found, name)
    found.log, found.origin = blocks.log, Origin(blocks.source, is_turned)
    return found


def _read_blocks(X: Any, name: str, missing: str, weights: Any) -> Data:
    """Data in blocks with weights; as they are without any. A pass tells whether anything is missing."""
    (blocks, is_turned), ignores = X.in_blocks, missing == "ignore"
    if isinstance(blocks, FileBlocks) and blocks.is_small and not X.costs.weighted and not _lie_elsewhere(weights):
        return _read_small(blocks, is_turned, name, missing, weights)
    if X.costs.weighted:
        if weights is not None:
            raise DataError("The data have weights already.")
        return X
    given = None if weights is None else _far_weights(weights, X, name)
    given = None if _is_one(given) else given
    if given is None and not ignores:
        return X
    keeps_pairs = isinstance(given, Pair) and (blocks.is_sparse or (not ignores and _has_all_features(given, is_turned)))
    found = blocks.weighted_by(Weighing(ignores, given, keeps_pairs))
    whole = found.unweighted() if given is None and not found.facts.missing else found
    return whole.T if is_turned else whole


def _has_all_features(weights: Pair, is_turned: bool) -> bool:
    """Whether all features have a weight, and some samples do."""
    samples, features = weights[::-1] if is_turned else weights
    return bool((features > 0).all()) and bool(samples.any())


def _far_weights(weights: Any, X: Any, name: str) -> Any:
    """The weights of data in blocks: a `Pair`, or an object with slices of rows."""
    blocks, is_turned = X.in_blocks
    if isinstance(weights, Scaled):
        by = read_weights(tuple(weights.by), X.shape, name)
        return Scaled(_far_weights(weights.entries, X, name), transposed(by) if is_turned else by)
    if isinstance(weights, tuple | list) or not (is_elsewhere(weights) or isinstance(weights, np.memmap)):
        given = read_weights(weights, X.shape, name, X.namespace)
        return transposed(given) if is_turned else given
    rows = rows_of(weights, blocks, is_turned)
    if tuple(rows.shape) != tuple(blocks.shape):
        shape = rows.shape[::-1] if is_turned else rows.shape
        of_features = isinstance(blocks, FileBlocks) and blocks.source.of_features and not isinstance(weights, Data)
        read = " A path is opened as X was, with blocks='features'." if of_features and is_location(weights) else ""
        raise DataError(f"weights must have the shape of {name}, {tuple(X.shape)}; got shape {tuple(shape)}.{read}")
    return rows


def read_array(X: Any, name: str) -> np.ndarray:
    """A matrix without negative entries, checked, as a dense array on the host: for factors that are given."""
    return to_host(as_dense(read_data(X, name).itself()))


def read_matrix(array: Any, name: str) -> tuple[Array, Namespace]:
    """A dense matrix with its namespace: float32 stays float32, anything else real becomes float64."""
    given = array
    if type(array) is not np.ndarray:
        given = array = matrix_of(array)
        refuse_masked(array, name)
        refuse_empty(array, name)
    if not is_array(array):
        try:
            array = np.asarray(array)
        except ValueError as error:
            raise DataError(f"{name} cannot be read as a matrix: {error}.") from error
    array = without_gradient(array)
    if getattr(array, "is_sparse", False) or getattr(array, "is_sparse_csr", False):
        raise DataError(f"{name} is a sparse tensor of {type(array).__module__}; give it as a SciPy sparse array, or dense.")
    if isinstance(array, np.ndarray):
        array = np.asarray(array)  # np.matrix and masked arrays are subclasses that multiply otherwise
    if array.ndim != 2:
        raise DataError(
            f"{name} must be a matrix with rows and columns; got {array.ndim} dimension{'s' * (array.ndim != 1)}, shape "
            f"{tuple(array.shape)}." + (" Reshape it with reshape(-1, 1) or reshape(1, -1)." if array.ndim == 1 else "")
        )
    namespace = namespace_of(array)
    if isinstance(array, np.ndarray) and array.dtype.kind not in "fiub":
        if array.dtype.kind == "c":
            raise DataError(f"{name} is complex; only real numbers can be non-negative.")
        if array.dtype.kind != "O":
            refuse_text_columns(given)
            raise DataError(f"{name} holds entries of type {array.dtype}, which are not numbers.")
        try:
            return array.astype(np.float64), namespace
        except (TypeError, ValueError) as error:
            refuse_text_columns(given, error)
            raise DataError(f"{name} holds entries that are not numbers: {error}.") from error
    if not isinstance(array, np.ndarray) and namespace.xp.isdtype(array.dtype, "complex floating"):
        raise DataError(f"{name} is complex; only real numbers can be non-negative.")
    return namespace.asarray(array), namespace


def refuse_masked(array: Any, name: str) -> None:
    """Refuse a masked array with masked entries."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise DataError(
            f"{name} is a masked array with missing entries, {int(np.sum(array.mask))} of them. Factorizations leave them out with "
            "missing='ignore'; or drop those rows or columns, or fill them in first, as with `filled`."
        )


def refuse_empty(X: Any, name: str) -> None:
    """Refuse a list without anything in it."""
    if isinstance(X, list | tuple) and not X:
        raise DataError(f"{name} is empty: there are no samples in it. At least one row and one column are needed.")


def with_nan(X: Any) -> Any:
    """X with NaN in place of masked entries of an array and NA of a table."""
    if isinstance(X, np.ma.MaskedArray):
        kept = X.dtype if X.dtype == np.float32 else np.float64
        return np.ma.filled(X.astype(kept), np.nan)
    if hasattr(X, "iloc") and hasattr(X, "to_numpy") and any(dtype.kind == "O" or hasattr(dtype, "na_value") for dtype in X.dtypes):
        try:
            return type(X)(X.to_numpy(dtype=np.float64, na_value=np.nan), index=X.index, columns=X.columns)
        except (TypeError, ValueError):
            return X  # refused later, by name
    return X


def read_weights(weights: Any, shape: tuple[int, ...], name: str, namespace: Namespace | None = None) -> Any:
    """Weights of the shape of X, or a pair of them, checked: an array, a sparse array, or a `Pair`."""
    if isinstance(weights, tuple | list) and len(weights) == 2 and not np.isscalar(weights[0]) and np.ndim(weights[0]) <= 1:
        of_rows, of_columns = (
            _weights_of_axis(part, count, f"The weights of {what}")
            for part, count, what in zip(weights, shape, ("rows", "columns"), strict=True)
        )
        pair = (of_rows, of_columns) if namespace is None else (namespace.asarray(of_rows), namespace.asarray(of_columns))
        return Pair(*pair)
    if sparse.issparse(weights):
        found = to_csr(weights, "weights", dtype=np.float64)
        found.sum_duplicates()
        check_weights(found.data, f"The weights of {name}")
    else:
        refuse_masked(weights, "weights")
        refuse_name(weights)
        found = without_gradient(weights) if is_array(weights) else np.asarray(weights)
        if isinstance(found, np.ndarray) and found.dtype.kind not in "fiub":
            raise DataError(f"weights must be numbers; got an array of {found.dtype}.")
        found = found if namespace is None else namespace.asarray(found)
        check_weights(found, f"The weights of {name}")
    if tuple(found.shape) != tuple(shape):
        raise DataError(
            f"weights must have the shape of {name}, {tuple(shape)}, or be a pair of arrays, of its {shape[0]} rows and its "
            f"{shape[1]} columns; got shape {tuple(found.shape)}."
        )
    if sparse.issparse(found) and found.nnz < shape[0] * shape[1]:
        return found
    return _as_pair(found.toarray() if sparse.issparse(found) else found)


def combined(weights: Any, of_rows: np.ndarray, data: Any) -> Any:
    """Weights of entries, or a pair, times weights of rows; a `Scaled` if weights of entries are read in blocks."""
    if weights is None:
        return of_rows, None
    if isinstance(weights, tuple | list) and len(weights) == 2:
        rows, columns = weights
        return of_rows * (1.0 if rows is None else np.asarray(rows)), columns
    if isinstance(data, Data) and data.costs.out_of_core and (is_elsewhere(weights) or isinstance(weights, np.memmap)):
        return Scaled(weights, Pair(of_rows, np.ones(data.shape[1])))
    weights = weights_in_memory(weights)
    if sparse.issparse(weights):
        return sparse.diags_array(of_rows.astype(np.float64)) @ weights
    return of_rows[:, None] * np.asarray(weights)


def _as_pair(weights: Array) -> Any:
    """Weights that are the same in all columns, or in all rows, as the pair that they are: it costs less, and proves more."""
    xp, first_column, first_row = namespace_of(weights).xp, weights[:, :1], weights[:1, :]
    if bool(xp.all(weights == first_column)):
        return Pair(first_column[:, 0], xp.ones_like(first_row[0, :]))
    if bool(xp.all(weights == first_row)):
        return Pair(xp.ones_like(first_column[:, 0]), first_row[0, :])
    return weights


def _is_one(weights: Any) -> bool:
    """Whether there may as well be no weights."""
    return isinstance(weights, Pair) and all(bool(namespace_of(part).xp.all(part == 1)) for part in weights)


def _weights_of_axis(weights: Any, count: int, what: str) -> np.ndarray:
    found = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    if found.shape != (count,):
        raise DataError(f"{what} must be an array of {count} numbers; got shape {found.shape}.")
    check_weights(found, what)
    return found


def _read_observed(X: Observed, name: str, weights: Any) -> Data:
    """Data known by the stored entries, zeros included; entries without weight or value are dropped."""
    stored = X.values
    if stored.ndim != 2 or np.dtype(stored.dtype).kind not in "fiub":
        raise DataError(f"{name} must be a sparse matrix of real numbers; got {stored.ndim} dimensions of {stored.dtype}.")
    dtype = np.dtype(np.float32 if stored.dtype == np.float32 else np.float64)
    values = to_csr(stored, name, dtype=dtype)
    if not values.has_canonical_format:
        values = sparse.csr_array(values, copy=True)  # the user's arrays are never changed
        values.sum_duplicates()
    if values.nnz != stored.nnz:
        raise DataError(f"{name} has entries that are stored twice; which of them was observed cannot be told.")
    given = None if weights is None else read_weights(weights, values.shape, name)
    found = None if given is None or _is_one(given) else _at(given, values)
    data = observed(values, found, Namespace(np, dtype, "cpu"))
    return _read_sparse(data.values, name) if found is None and not data.facts.missing else data


def _at(weights: Any, pattern: sparse.csr_array) -> np.ndarray:
    """The weights of the stored entries."""
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    if isinstance(weights, Pair):
        return np.asarray(weights.rows[rows] * weights.columns[pattern.indices])
    if sparse.issparse(weights):
        return np.asarray(weights[rows, pattern.indices]).ravel() if pattern.nnz else np.empty(0)
    return np.asarray(to_host(weights)[rows, pattern.indices])


def _read_sparse(X: Any, name: str) -> SparseData:
    if X.ndim != 2:
        raise DataError(f"{name} must be a matrix with rows and columns; got {X.ndim} dimension, shape {X.shape}.")
    if np.dtype(X.dtype).kind not in "fiub":
        raise DataError(f"{name} is sparse with entries of type {X.dtype}; only real numbers can be approximated.")
    dtype = X.dtype if X.dtype == np.float32 else np.float64
    values = to_csr(X, name, dtype=dtype)
    if not values.has_canonical_format or not np.all(values.data):
        values = sparse.csr_array(values, copy=True)  # the user's arrays are never changed
        values.sum_duplicates()
        values.eliminate_zeros()
    return SparseData(values, Namespace(np, np.dtype(dtype), "cpu"))


def _read_signed(X: Signed, name: str) -> SignedData:
    parts = []
    for part, label in ((X.positive, f"the positive part of {name}"), (X.negative, f"the negative part of {name}")):
        parts.append(part if isinstance(part, Operator) else _values(read_data(part, label)))
    positive, negative = parts
    if positive.shape != negative.shape or positive.shape[0] != positive.shape[1]:
        raise DataError(f"The two parts of {name} must be square and of one size; they are {positive.shape} and {negative.shape}.")
    return SignedData(positive, negative, Namespace(np, np.dtype(np.float64), "cpu"))


def _read_sketch(X: Sketch, name: str) -> SketchData:
    sketch = SketchData(*read_matrix(X.rows, f"the sketch of {name}"), energy=X.energy)
    if 0 in sketch.shape:
        raise DataError(f"The sketch of {name} is empty: its shape is {tuple(sketch.shape)}.")
    check_finite(sketch, f"the sketch of {name}")
    return sketch


def _read_gram(X: Gram, name: str) -> GramData:
    label = f"the Gram matrix of {name}"
    if isinstance(X.kernel, Operator):
        return GramData(X.kernel, Namespace(np, np.dtype(np.float64), "cpu"), bounded=False)
    data: Any = _wrapped(X.kernel, label)
    K, xp = data.values, data.namespace.xp
    if 0 in data.shape:
        raise DataError(f"The Gram matrix of {name} is empty.")
    check_finite(data, label)
    check_symmetric(data, label)
    check_sign(data, label, positive=False)
    if not X.checked:
        return GramData(K, data.namespace, bounded=False)
    entries, (rows, columns) = (K.data, K.nonzero()) if sparse.issparse(K) else (K, (None, None))
    diagonal = K.diagonal() if rows is not None else xp.linalg.diagonal(K)
    length = diagonal**0.5  # squares of extreme kernels are not representable
    most = length[rows] * length[columns] if rows is not None else length[:, None] * length[None, :]
    if bool(xp.any(_ROUNDED * most < entries)):
        raise DataError(
            f"The Gram matrix of {name} has entries with K_ij² far above K_ii K_jj, so it is not X Xᵀ of any X. A graph or a "
            "similarity becomes a kernel by adding a large enough number to its diagonal."
        )
    return GramData(K, data.namespace)


_ROUNDED = 2.0
"""By how much K_ij may exceed √(K_ii K_jj): kernels come rounded, some to whole numbers."""


def _values(data: Any) -> Any:
    """The array, or sparse array, of data that were read from one."""
    return data.values


_GIVEN: dict[type, Callable[[Any, str], Data]] = {
    Gram: _read_gram,
    Signed: _read_signed,
    Sketch: _read_sketch,
    SketchData: lambda sketch, name: sketch,
}
"""Readers of arguments that are given in place of X."""
