"""Tables, images, volumes and graphs in files: one reader and one writer for all of them.

The kind of a file follows from its content, or from its name if that is ambiguous, as for text. Each kind is one file here and a
line in `KINDS`. Libraries that a kind needs are imported when such a file is read, and named if they are missing. Nothing that
is read can run code; whatever is written is there whole or not at all.

>>> import tempfile, numpy as np
>>> from pathlib import Path
>>> path = Path(tempfile.mkdtemp()) / "parts.csv"
>>> write(Table(np.eye(2), features=["a", "b"]), path)
>>> read(path).features.tolist()
['a', 'b']
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..exceptions import FileError
from . import delimited, edges
from .atomic import check_writable, written_whole
from .base import Kind, Source, Wanted, altered_files_refused
from .kinds import KINDS
from .table import Layout, Table

__all__ = [
    "FileError",
    "KINDS",
    "Kind",
    "Layout",
    "Source",
    "Table",
    "Wanted",
    "check_writable",
    "kind_of",
    "kind_to_write",
    "read",
    "read_graph",
    "write",
    "written_whole",
]

Path_ = str | os.PathLike[str]


def read(path: Path_ | Sequence[Path_], wanted: Wanted | None = None, *, graph: bool = False) -> Table:
    """Read a file of any kind: `nonneg.files.read`, with its options as a value.

    Parameters
    ----------
    path : path, or list of them
    wanted : Wanted, optional
    graph : bool, default=False
        Whether text is a list of edges rather than a table.

    Returns
    -------
    Table
    """
    wanted = wanted or Wanted()
    several = [Path(one) for one in path] if isinstance(path, list | tuple) else None
    if several is not None and len(several) != 1:
        if not several:
            raise FileError("There is no file to read.")
        kind, sources = _common_kind(several), [Source(one) for one in several]
    else:
        source = Source(Path(several[0] if several else path))  # type: ignore[arg-type]
        kind, sources = kind_of(source.path, graph=graph), [source]
    kind.check_wanted(wanted, sources[0])
    with altered_files_refused(sources[0].label, kind.name, [source.label for source in sources]):
        table = kind.read(sources, wanted)
        table.check_not_empty(sources[0].label)
    return table


def read_graph(path: Path_) -> Table:
    """Read a graph: edges, or a square table of weights; vertices by name.

    Parameters
    ----------
    path : path

    Returns
    -------
    Table
        Weights, and the names of the vertices as those of its rows.
    """
    table = read(path, graph=not _is_square(path))
    if table.shape[0] != table.shape[1]:
        raise FileError(f"{path} is a table of {table.shape[0]} × {table.shape[1]}; a graph has as many columns as rows.")
    return table


def _is_square(path: Path_) -> bool:
    """Whether a file of text is a table of weights rather than a list of edges."""
    try:
        n, m = read(path).shape
    except FileError:
        return False
    return n == m and m not in (2, 3)


def _common_kind(paths: Sequence[Path]) -> Kind:
    """The kind of several files that are samples of one table; an error names the files that are of another kind than most."""
    kinds = [kind_of(path) for path in paths]
    (usual, count), *others = Counter(kind.name for kind in kinds).most_common()
    if others:
        strays = [(path, kind.name) for path, kind in zip(paths, kinds, strict=True) if kind.name != usual]
        shown = ", ".join(f"{path} ({name})" for path, name in strays[:3]) + (", …" if len(strays) > 3 else "")
        raise FileError(
            f"Files that are read together have to be of one kind: {shown}; of {usual} there are {count}. Leave out the others."
        )
    if not kinds[0].several:
        raise FileError(
            f"There are {len(paths)} files of {usual}, {paths[0]} first. Several files can be read as samples where they are "
            "images or volumes; of others, give one."
        )
    return kinds[0]


def write(table: Any, path: Path_) -> None:
    """Write a table to a file, of the kind that its name says; an array is a table without names.

    Parameters
    ----------
    table : Table or array
        Values, with or without names.
    path : path
        The file; its ending names the kind.

    See Also
    --------
    read : Reads a file of any kind.
    Table : Numbers with names.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> from nonneg.files import Table, write
    >>> table = Table(np.array([[3.0, 1], [0, 2]]), features=np.array(["oak", "ash"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(table, folder + "/trees.csv")
    ...     print(Path(folder, "trees.csv").read_text())
    oak,ash
    3.0,1.0
    0.0,2.0
    """
    table = table if isinstance(table, Table) else Table(table)
    path = Path(path)
    kind = kind_to_write(path)
    with written_whole(path) as unfinished:
        kind.write(table, unfinished)


def kind_to_write(path: Path_) -> Kind:
    """The kind of file that a name says is to be written.

    Parameters
    ----------
    path : str or path
        The file to write; its ending decides.

    Returns
    -------
    Kind
        One of the kinds of file that can be written.

    See Also
    --------
    kind_of : By the content of a file that is there.
    write : Writes a table.

    Examples
    --------
    >>> from nonneg.files import kind_to_write
    >>> kind_to_write("parts.csv").name
    'a table of text'
    """
    name = Path(path).name.lower()
    for kind in KINDS:
        if kind.is_written_to(name):
            return kind
    known = sorted({suffix for kind in KINDS if kind.writes for suffix in kind.suffixes})
    raise FileError(f"{path}: the end of the name tells the kind of file to write; known ends are {', '.join(known)}.")


def kind_of(path: Path_, *, graph: bool = False) -> Kind:
    """The kind of a file, by its content, or by its name if that is ambiguous.

    Parameters
    ----------
    path : str or path
        The file, or folder.
    graph : bool, default=False
        Whether text is a list of edges rather than a table.

    Returns
    -------
    Kind
        One of the kinds of file that can be read.

    See Also
    --------
    kind_to_write : By the name alone.
    read : Reads a file of any kind.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from nonneg.files import kind_of, write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(np.eye(3), folder + "/x.npy")
    ...     print(kind_of(folder + "/x.npy").name)
    a NumPy array
    """
    source = Source(Path(path))
    source.refuse_useless()
    for kind in KINDS:
        if kind.recognises(source):
            return kind
    if source.is_text:
        named = next((kind for kind in KINDS if kind.is_plain_text and source.name.endswith(kind.suffixes)), None)
        if named is not None and not (graph and isinstance(named, delimited.Delimited)):
            return named
        return edges.Edges() if graph else delimited.Delimited()
    said = next((kind for kind in KINDS if source.name.endswith(kind.suffixes)), None)
    known = "; ".join(f"{kind.name} ({', '.join(kind.suffixes)})" if kind.suffixes else kind.name for kind in KINDS)
    start = repr(source.head[:12])
    raise FileError(
        f"{source.label} is named as a file of {said.name}, but does not begin as one does: {start}. It was cut off or altered."
        if said is not None
        else f"{source.label} is of no kind that is known here; it begins with {start}. Known kinds: {known}."
    )
