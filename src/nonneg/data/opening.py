"""From a path, an open file or a Dask collection to data."""

from __future__ import annotations

import os
from collections.abc import Callable
from textwrap import shorten
from typing import Any, Literal

import numpy as np

from ..exceptions import DataError, IncompatibleError, is_count
from ..io.base import altered_files_refused
from ..io.opening import OPENED, is_location, open_stored
from ..kernels.memory import available_bytes
from .annotated import is_annotated, variable_names
from .base import Data
from .device import is_sparse_tensor
from .files import BLOCK_BYTES, FileBlocks, RowsOfFile
from .transposed import TransposedData


def open_data(
    where: Any, *, key: str | None = None, blocks: Literal["samples", "features"] = "samples", block_bytes: int | None = None
) -> Data:
    """Open data in files, which may be larger than memory.

    `fit`, `transform`, `partial_fit` and `nonneg.factorize` take the result in place of X; they take a path, too, and open it
    with the defaults here. Blocks of rows are read when they are needed, the next one while the last is worked
    on. An entry that is negative or not finite is refused when it is first read; so is a file that changes between two readings.
    A file that fits into one block is read once, as an array in memory.

    Parameters
    ----------
    where : str, path, open file, or list of these
        A .npy file, an array of HDF5 (.h5, .hdf5) or zarr, an .h5ad of AnnData (dense, CSR or CSC), or Parquet, also a folder of
        its files as Dask and Spark write it; an open `h5py.Dataset`, `zarr.Array`, `numpy.memmap`, `pyarrow.parquet.ParquetFile`
        or backed `AnnData`, or its sparse `X`; or a list of files that are row blocks of one matrix.
    key : str, optional
        Which matrix, of a file that has several: ``"layers/counts"``, or ``"counts"`` for short.
    blocks : {"samples", "features"}, default="samples"
        The rows of the file. With "features" it holds Xᵀ, as a voxel × subject image does.
    block_bytes : int, optional
        Bytes of a block in memory, 2**27 by default; two are in memory at a time, with the results of one. If given, X is read in
        blocks even if one holds all of it.

    Returns
    -------
    Data
        To be given in place of X.

    See Also
    --------
    files.read : A file with names of rows and columns.
    Observed : Ratings, of which most are unknown.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib, nonneg
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "X.npy"
    ...     np.save(path, np.kron(np.eye(3), np.ones((20, 5))))
    ...     parts = nonneg.OPNMF(3, random_state=0).fit(nonneg.open_data(path)).components_
    >>> parts.shape
    (3, 15)
    """
    if blocks not in ("samples", "features"):
        raise IncompatibleError(f"blocks must be 'samples' or 'features', the rows of the file; got {blocks!r}.")
    if block_bytes is not None and not is_count(block_bytes, 1):
        raise IncompatibleError(f"block_bytes must be an int of at least 1; got {block_bytes!r}.")
    source = open_stored(where, key)
    if 0 in source.shape:
        raise DataError(f"{source.name} is empty: its shape is {source.shape}. At least one row and one column are needed.")
    source.of_features = blocks == "features"
    with altered_files_refused(source.name, "stored data"):
        data: Data = FileBlocks(source, block_bytes or BLOCK_BYTES, is_settled=block_bytes is not None)
    data = TransposedData(data) if source.is_turned != (blocks == "features") else data
    data.feature_names = source.feature_names if blocks == "samples" else None
    return data


def lazily(X: Any, function: Callable[[Any, Any], np.ndarray], columns: int, dtype: Any) -> Any:
    """A function applied lazily to each block of rows of a Dask collection; None for anything else.

    The function is told of the block and of its origin, by which messages name rows.
    """
    if not _may_be_dask(X):
        return None
    from .dask import by_blocks, is_collection

    return by_blocks(X, function, columns, dtype) if is_collection(X) else None


def names_of(X: Any) -> list[str] | None:
    """The names of the columns of a Dask table, if they are text."""
    names = list(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def sample_names(X: Any) -> list[Any] | None:
    """The names of samples of an AnnData or a file; None without names, and for anything else."""
    if is_annotated(X):
        return list(map(str, X.obs_names))
    data = open_data(X) if is_location(X) else X
    blocks = data.in_blocks[0] if isinstance(data, Data) and data.in_blocks else None
    if not isinstance(blocks, FileBlocks) or blocks.source.of_features:
        return None
    return blocks.source.sample_names


def is_elsewhere(X: Any) -> bool:
    """Whether X is out of core: data in blocks, a path, an open file or a Dask collection."""
    return (isinstance(X, Data) and X.costs.out_of_core) or _may_be_dask(X) or is_location(X)


def _may_be_dask(X: Any) -> bool:
    return type(X).__module__.startswith("dask")


def opened_to_fit(X: Any) -> Any:
    """Open X at the beginning of a fit, which counts passes from here on."""
    X = opened(X)
    if isinstance(X, Data) and X.log is not None:
        X.log.before = X.log.count
    return X


def opened(X: Any) -> Any:
    """Data for a path, an open file, a Dask collection, also in an AnnData, or a sparse tensor; anything else as it is.

    A memory map that is larger than the free memory is read in blocks.
    """
    if isinstance(X, Data):
        return X
    if is_sparse_tensor(X):
        from .device_sparse import of_tensor

        return of_tensor(X)
    if is_annotated(X) and not is_location(X) and _may_be_dask(X.X):
        data = opened(X.X)
        data.feature_names = variable_names(X)
        return data
    if isinstance(X, np.memmap) and X.ndim == 2:
        free = available_bytes()
        return open_data(X) if free is not None and X.nbytes > free else X
    if _may_be_dask(X):
        from .dask import is_collection, of_collection

        if not is_collection(X):
            return X
        data = of_collection(X)
        data.feature_names = names_of(X)
        return data
    return open_data(X) if is_location(X) else X


def rows_of(weights: Any, blocks: Any, is_turned: bool) -> Any:
    """Weights out of core, by rows of the blocks of X (columns of X if it is transposed)."""
    if isinstance(weights, np.memmap):
        return weights.T if is_turned else weights
    if _may_be_dask(weights):
        from .dask import DaskBlocks, as_array, weights_of_collection, without_mask

        if isinstance(blocks, DaskBlocks):
            return weights_of_collection(weights, blocks)
        array = without_mask(as_array(weights, "weights"))
        return array.T if is_turned else array
    of_features = isinstance(blocks, FileBlocks) and blocks.source.of_features
    of_weights, weights_turned = _in_file(weights, "features" if of_features else "samples")
    if weights_turned != is_turned:
        lie, lies = ("columns", "rows") if is_turned else ("rows", "columns")
        raise DataError(
            f"X is read in blocks of {lie}, and {of_weights.source.name}, with its weights, in blocks of {lies}: store both alike, "
            "or map the weights into memory (numpy.load with mmap_mode='r')."
        )
    return RowsOfFile(of_weights.source)


def weights_in_memory(weights: Any) -> Any:
    """Weights for X in memory; read and checked, if they are in a file."""
    refuse_name(weights)
    if not is_location(weights) and not (isinstance(weights, Data) and weights.costs.out_of_core):
        return weights
    blocks, is_turned = _in_file(weights, "samples")
    entries = RowsOfFile(blocks.source)[slice(0, blocks.shape[0])]
    return entries.T if is_turned else entries


def _in_file(weights: Any, blocks: Literal["samples", "features"]) -> tuple[FileBlocks, bool]:
    """Weights that lie in a file, and whether its rows are columns of X; a path is opened as it is said here."""
    found: Any = (weights if isinstance(weights, Data) else open_data(weights, blocks=blocks)).in_blocks
    if found is None or not isinstance(found[0], FileBlocks) or found[0].costs.weighted:
        raise DataError("weights are an array, a path, an open file, or a Dask array.")
    return found[0], bool(found[1])


_WORDS = 3
"""Words that the name of a file has at most; more are a text."""


def refuse_name(X: Any) -> None:
    """Refuse a graph, and texts that are not names of files that can be opened here."""
    if hasattr(X, "is_directed") and hasattr(X, "adj"):
        raise DataError(
            "X is a graph of networkx, and a matrix is needed: networkx.to_scipy_sparse_array(X). "
            "nonneg.graph.GraphClustering takes graphs."
        )
    is_array = isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "UO"
    names = [X] if isinstance(X, str) else list(X) if isinstance(X, list | tuple) or is_array else []
    if not names or not all(isinstance(name, str | os.PathLike) for name in names) or is_location(X):
        return
    if is_array and is_location(names):
        raise DataError("Names of files are given as a list, the row blocks of one matrix: names.tolist().")
    unknown = next(str(name) for name in names if not is_location(name))
    if not isinstance(X, str) and len(unknown.split()) > _WORDS:
        shown = shorten(unknown, 60, placeholder=" …")
        raise DataError(
            f"X is a list of {len(names)} texts, as {shown!r}. Their words are counted first: make_pipeline(CountVectorizer(), "
            "NMF(10)).fit(texts)."
        )
    of_list = "" if isinstance(X, str) else f"In a list of {len(names)}, "
    raise DataError(
        f"{of_list}{unknown!r} is no file, and its name ends like no kind of file. Known are {', '.join(OPENED)}, and "
        "lists of these, the row blocks of one matrix. Other files are read first: nonneg.files.read(path).values; of images and "
        "NIfTI volumes it takes a list, one sample each."
    )
