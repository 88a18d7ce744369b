"""The scans of a study: listed by paths, a glob, a folder or a table, or given as images; one subject each."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..exceptions import DataError
from ..io.scan_names import tell_apart
from ..io.scan_tables import Listing, list_folder, list_paths, list_table, read_columns


@dataclass(frozen=True)
class Scans:
    """Images to read.

    Attributes
    ----------
    images : list
        Paths, or images in memory; of four dimensions, they hold several subjects.
    names : list of str, optional
        One for each image; None for images in memory without one.
    columns : dict of lists of str
        The table in which they were listed, by the names of its columns.
    """

    images: list[Any]
    names: list[str | None]
    columns: Mapping[str, list[str]] = field(default_factory=dict)


def read_scans(imgs: Any) -> Scans:
    """The scans that were meant.

    Parameters
    ----------
    imgs : path, glob, folder, table of paths, image, or list of paths or images
        A table is a .tsv or .csv file or a DataFrame, with a column of paths and a column of names.
    """
    if hasattr(imgs, "columns") and hasattr(imgs, "to_dict"):
        columns = {str(name): [_text(cell) for cell in imgs[name]] for name in imgs.columns}
        return _listed(list_table(columns, Path(), "the table"))
    if isinstance(imgs, str | os.PathLike):
        return _listed(_of_path(Path(imgs).expanduser()))
    if not isinstance(imgs, Iterable) or hasattr(imgs, "dataobj") or hasattr(imgs, "mesh") or hasattr(imgs, "darrays"):
        return Scans([imgs], _names_of_files([imgs]))
    images = list(imgs)
    if not images:
        raise DataError("The list of images is empty. Does the glob that made it match any file?")
    if all(isinstance(image, str | os.PathLike) for image in images):
        return _listed(list_paths([Path(image).expanduser() for image in images]))
    return Scans(images, _names_of_files(images))


def _names_of_files(images: list[Any]) -> list[str | None]:
    """Names of images by the files that they were loaded from; None for an image without a file, and for all of one file."""
    files = [image if isinstance(image, str | os.PathLike) else getattr(image, "get_filename", lambda: None)() for image in images]
    paths = [Path(file) for file in files if file]
    if len(set(paths)) < len(paths):
        return [None] * len(images)
    names = iter(tell_apart(paths) if paths else ())
    return [next(names) if file else None for file in files]


def _of_path(path: Path) -> Listing:
    if path.is_dir():
        return list_folder(path)
    if path.name.lower().endswith((".tsv", ".csv")):
        return list_table(read_columns(path), path.parent, str(path))
    if glob.has_magic(str(path)) and not path.exists():
        found = sorted(Path(one) for one in glob.glob(str(path), recursive=True))
        if not found:
            raise FileNotFoundError(f"No file matches {path}.")
        return list_paths(found)
    return list_paths([path])


def _listed(found: Listing) -> Scans:
    return Scans(list(found.paths), list(found.names), found.columns)


def _text(cell: Any) -> str:
    """A cell of a DataFrame as text; missing ones are empty."""
    return "" if cell is None or cell != cell else str(cell)
