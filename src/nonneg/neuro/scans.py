"""The scans of a study: listed by paths, a glob, a folder or a table, or given as images; one subject each."""

from __future__ import annotations

import csv
import glob
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..exceptions import DataError, FileError
from ..files.scan_names import is_scan, tell_apart

_TABLES = (".tsv", ".csv")
_SIDECARS = (".json", ".txt", ".md", ".tsv", ".csv", ".bval", ".bvec")
"""Files that accompany scans in a folder and are none: BIDS has them."""
_NAMES = ("participant_id", "subject", "subject_id", "sub", "id", "name", "mrid")
"""What the column of names is called, in this order of preference; otherwise it is the first one without repeats."""


@dataclass(frozen=True)
class Scans:
    """What is to be read.

    Attributes
    ----------
    images : list
        Paths, or images in memory; of four dimensions, they hold several subjects.
    names : list of str, optional
        One for each image; of images in memory, where they have none, None.
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
        return _of_table({str(name): [_text(cell) for cell in imgs[name]] for name in imgs.columns}, Path(), "the table")
    if isinstance(imgs, str | os.PathLike):
        return _of_path(Path(imgs).expanduser())
    if not isinstance(imgs, Iterable) or hasattr(imgs, "dataobj") or hasattr(imgs, "mesh"):
        return Scans([imgs], [_name_of(imgs)])
    images = list(imgs)
    if not images:
        raise DataError("The list of images is empty. Does the glob that made it match any file?")
    if all(isinstance(image, str | os.PathLike) for image in images):
        return _of_paths([Path(image).expanduser() for image in images])
    return Scans(images, [_name_of(image) for image in images])


def is_table(path: Path) -> bool:
    """Whether a file of text lists scans in one of its columns."""
    if not path.name.lower().endswith(_TABLES) or not path.is_file():
        return False
    try:
        columns = _columns(path)
    except (FileError, UnicodeDecodeError, csv.Error):
        return False
    return any(_lists_scans(cells) for cells in columns.values())


def read_columns(path: Path) -> dict[str, list[str]]:
    """The columns of a table of text, by name."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    return _columns(path)


def _of_path(path: Path) -> Scans:
    if path.is_dir():
        return _of_paths(_in_folder(path))
    if path.name.lower().endswith(_TABLES):
        return _of_table(read_columns(path), path.parent, str(path))
    if glob.has_magic(str(path)) and not path.exists():
        found = sorted(Path(one) for one in glob.glob(str(path), recursive=True))
        if not found:
            raise FileNotFoundError(f"No file matches {path}.")
        return _of_paths(found)
    return _of_paths([path])


def _in_folder(folder: Path) -> list[Path]:
    """The scans in a folder and the folders in it; hidden files and sidecars aside, a file of another kind is refused."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    scans = [path for path in files if is_scan(path)]
    stray = [path for path in files if not is_scan(path) and not path.name.lower().endswith(_SIDECARS)]
    if not scans:
        raise FileError(f"The folder {folder} holds no scans: no .nii, .nii.gz, .gii, .mgh, .mgz, lh.* or rh.* file.")
    if stray:
        raise FileError(f"The folder {folder} holds {stray[0].relative_to(folder)}, which is no scan. Move it, or list the scans.")
    return scans


def _of_paths(paths: list[Path]) -> Scans:
    for path in paths:
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "is not there"
            raise FileNotFoundError(f"There is no scan {path}: it {what}.")
    twice = [path for path, count in Counter(path.resolve() for path in paths).items() if count > 1]
    if twice:
        raise DataError(f"{twice[0]} is listed more than once: a scan is one subject.")
    for path in paths:
        if not is_scan(path):
            raise FileError(f"{path} is no scan: .nii, .nii.gz, .gii, .dscalar.nii, .dtseries.nii, .mgh, .mgz, lh.* or rh.* are.")
    return Scans(list(paths), list(tell_apart(paths)))


def _of_table(columns: Mapping[str, list[str]], folder: Path, label: str) -> Scans:
    """Scans listed in a column of a table, relative to its folder."""
    listing = [name for name, cells in columns.items() if _lists_scans(cells)]
    if not listing:
        raise FileError(f"{label} has no column of paths to scans, such as sub-01_gm.nii.gz; it has {', '.join(columns)}.")
    if len(listing) > 1:
        raise FileError(f"{label} has {len(listing)} columns of paths to scans: {', '.join(listing)}. Keep one.")
    (column,) = listing
    empty = [row for row, cell in enumerate(columns[column], 2) if not cell.strip()]
    if empty:
        raise FileError(f"{label}, line {empty[0]}: {column} is empty. Leave out subjects without a scan.")
    paths = [folder / Path(cell).expanduser() for cell in columns[column]]
    found = _of_paths(paths)
    names = next((columns[name] for name in _in_order(columns, column) if _are_names(columns[name])), None)
    return Scans(found.images, list(names) if names else found.names, columns)


def _in_order(columns: Mapping[str, list[str]], paths: str) -> list[str]:
    """The columns that may hold names, those that are called so first."""
    known = {name.lower(): name for name in columns}
    usual = [known[name] for name in _NAMES if name in known]
    return [*usual, *(name for name in columns if name not in usual and name != paths and not _are_numbers(columns[name]))]


def _are_names(cells: Sequence[str]) -> bool:
    return all(cell.strip() for cell in cells) and len(set(cells)) == len(cells)


def _are_numbers(cells: Sequence[str]) -> bool:
    try:
        [float(cell) for cell in cells]
    except ValueError:
        return False
    return True


def _lists_scans(cells: Sequence[str]) -> bool:
    given = [cell for cell in cells if cell.strip()]
    return bool(given) and all(is_scan(Path(cell)) for cell in given)


def _columns(path: Path) -> dict[str, list[str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",") if row]
    if len(rows) < 2:
        raise FileError(f"{path} has no rows below its header.")
    header = [name.strip() for name in rows[0]]
    if len(set(header)) < len(header):
        raise FileError(f"{path} has two columns of the same name, {Counter(header).most_common(1)[0][0]!r}.")
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise FileError(f"{path}, line {line}: {len(row)} cells for {len(header)} columns.")
    return {name: [row[place].strip() for row in rows[1:]] for place, name in enumerate(header)}


def _text(cell: Any) -> str:
    """A cell of a DataFrame as text; missing ones are empty."""
    return "" if cell is None or cell != cell else str(cell)


def _name_of(image: Any) -> str | None:
    """The name of the file that an image in memory was read from."""
    name = getattr(image, "get_filename", lambda: None)()
    return None if name is None else str(name)
