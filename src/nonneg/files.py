"""Read and write tables, images, brain images and graphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import io
from .data.opening import open_data
from .io import (
    KINDS,
    FileError,
    Kind,
    Layout,
    Path_,
    Source,
    Table,
    Wanted,
    check_writable,
    kind_of,
    kind_to_write,
    write,
    written_whole,
)

__all__ = [
    "FileError",
    "KINDS",
    "Kind",
    "Layout",
    "Source",
    "Table",
    "check_writable",
    "kind_of",
    "kind_to_write",
    "read",
    "write",
    "written_whole",
]


def read(
    path: Path_ | Sequence[Path_],
    *,
    variable: str | None = None,
    mask: Path_ | Layout | None = None,
    ignore: Sequence[str] = (),
    graph: bool = False,
    in_blocks: bool = False,
    parts: int = 0,
) -> Table:
    r"""Read a file of any kind.

    Parameters
    ----------
    path : path, or list of them
        A file; a folder of images, or of Parquet files that are parts of one table; or several files, images or volumes of the
        same shape, one sample each.
    variable : str, optional
        Name of the array, in files with several.
    mask : path or Layout, optional
        A volume that is neither zero nor NaN at the voxels to read; or the layout of a table. For NIfTI.
    ignore : sequence of str, optional
        Columns to leave out, by name; those of text are kept in ``Table.aside``. For tables of text and Parquet.
    graph : bool, default=False
        Whether text is a list of edges rather than a table.
    in_blocks : bool, default=False
        Whether a matrix of more than a gigabyte, or a quarter of the memory that is free, is left on disk, to be read in
        blocks by `fit`, `transform` and `nonneg.factorize`: .npy, .h5ad, .h5, .zarr and .parquet can. The
        matrix of so many scans lies in a temporary file in any case, and is an array mapped from it if this is False.
    parts : int, default=0
        How many parts are to be learned. Fewer scans than that are refused before they are read.

    Returns
    -------
    Table
        Values and, if the file has them, names and layout.

    See Also
    --------
    write : Writes a table.
    nonneg.open_data : Arrays too large for memory.
    nonneg.graph.read_graph : Graphs.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from nonneg.files import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "trees.csv")
    ...     size = path.write_text("plot,oak,ash\nnorth,3,1\nsouth,0,2\n")
    ...     table = read(path)
    >>> table.values
    array([[3., 1.],
           [0., 2.]])
    >>> table.samples.tolist(), table.features.tolist()
    (['north', 'south'], ['oak', 'ash'])
    """
    place = mask if mask is None or isinstance(mask, Layout) else Path(mask)
    wanted = Wanted(variable, place, tuple(ignore), open_data if in_blocks else None, parts)
    return io.read(path, wanted, graph=graph)
