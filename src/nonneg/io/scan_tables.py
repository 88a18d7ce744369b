"""Scans of many subjects: listed in a table, such as `participants.tsv` of BIDS, or in a folder."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..exceptions import DataError, FileError
from .base import Kind, Source, Wanted, is_sidecar, refuse_link
from .cifti import CIFTI
from .delimited import is_number
from .freesurfer import MGH, Morph
from .gifti import GIFTI
from .nifti import NIfTI
from .scan_names import is_scan, tell_apart
from .table import Table

KINDS: tuple[Kind, ...] = (CIFTI(), NIfTI(), GIFTI(), MGH(), Morph())
"""Formats of scans; CIFTI is NIfTI, too, and comes first."""
_NAMES = ("participant_id", "subject", "subject_id", "sub", "id", "name", "mrid")
"""Headings of the column of names, in this order of preference; otherwise it is the first one of text without repeats."""


@dataclass(frozen=True)
class Listing:
    """Paths of scans, names of subjects, and the table that lists them."""

    paths: list[Path]
    names: list[str]
    columns: Mapping[str, list[str]] = field(default_factory=dict)


class ScanTable(Kind):
    """A .tsv or .csv file with a column of paths, relative to it, and a column of names; or a folder of scans, in folders or not.

    The other columns of the table are kept in ``Table.aside``.
    """

    name: ClassVar[str] = "a table of scans"
    writes: ClassVar[bool] = False
    has: ClassVar[frozenset[str]] = frozenset({"mask"})

    def holds(self, folder: Path) -> bool:
        return any(is_scan(path) for path in _files_in(folder))

    def recognises(self, source: Source) -> bool:
        if source.path.is_dir():
            return self.holds(source.path)
        if not source.is_text or not source.name.endswith((".tsv", ".csv")):
            return False
        lines = source.head.decode("utf-8-sig", "replace").splitlines()[:2]
        return len(lines) == 2 and any(is_scan(Path(cell.strip())) for cell in next(_reader(lines[1], source.name), []))

    def is_part(self, file: Path, folder: Path) -> bool:
        return is_scan(file)

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        path = sources[0].path
        found = list_folder(path) if path.is_dir() else list_table(read_columns(path), path.parent, str(path))
        scans = [Source(one) for one in found.paths]
        kinds = [next((kind for kind in KINDS if kind.recognises(scan)), None) for scan in scans]
        for scan, kind in zip(scans, kinds, strict=True):
            if kind is None:
                scan.refuse_useless()
                raise FileError(f"{scan.label} is named as a scan, but does not begin as one does. It was cut off or altered.")
            if kind is not kinds[0]:
                raise FileError(f"{scan.label} is {kind.name}, and {scans[0].label} {kinds[0].name}: scans are of one kind.")  # type: ignore[union-attr]
        assert kinds[0] is not None
        table = kinds[0].read(scans, wanted)
        is_one_each = table.shape[0] == len(found.names)
        aside = {name: np.array(cells) for name, cells in found.columns.items()} if is_one_each else {}
        return replace(table, samples=found.names if is_one_each else table.samples, aside=aside)


def list_paths(paths: Sequence[Path]) -> Listing:
    """Scans that are given by their paths, each there, and once."""
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"There is no scan {path}{': it is a folder' if path.is_dir() else ''}.")
    for path in paths:
        if not is_scan(path):
            raise FileError(f"{path} is no scan: .nii, .nii.gz, .gii, .dscalar.nii, .dtseries.nii, .mgh, .mgz, lh.* or rh.* are.")
    return Listing(list(paths), tell_apart(paths))


def list_folder(folder: Path) -> Listing:
    """The scans in a folder and the folders in it; hidden files and sidecars aside, files of other kinds are refused."""
    files = _files_in(folder)
    scans = [path for path in files if is_scan(path)]
    if not scans:
        raise FileError(f"The folder {folder} holds no scans: no .nii, .nii.gz, .gii, .mgh, .mgz, lh.* or rh.* file.")
    for path in files:
        refuse_link(path)
        if not is_scan(path) and not is_sidecar(path.name):
            raise FileError(f"The folder {folder} holds {path.relative_to(folder)}, which is no scan. Move it, or list the scans.")
    inside = [path.relative_to(folder) for path in scans]
    others = [path for path in inside if not any(part.startswith("sub-") for part in path.parts)]
    if others and len(others) < len(inside):
        raise FileError(f"The folder {folder} holds {others[0]}, of no subject, beside scans of sub-…: move it, or list the scans.")
    return list_paths(scans)


def list_table(columns: Mapping[str, list[str]], folder: Path, label: str) -> Listing:
    """Scans that a column of a table lists, relative to a folder."""
    listing = [name for name, cells in columns.items() if lists_scans(cells)]
    if not listing:
        raise FileError(f"{label} has no column of paths to scans, such as sub-01_gm.nii.gz; it has {', '.join(columns)}.")
    if len(listing) > 1:
        raise FileError(f"{label} has {len(listing)} columns of paths to scans: {', '.join(listing)}. Keep one.")
    (column,) = listing
    empty = [row for row, cell in enumerate(columns[column], 2) if not cell.strip()]
    if empty:
        raise FileError(f"{label}, line {empty[0]}: {column} is empty. Leave out subjects without a scan.")
    found = list_paths([folder / Path(cell).expanduser() for cell in columns[column]])
    names = next((columns[name] for name in _in_order(columns, column) if _are_names(columns[name])), found.names)
    return Listing(found.paths, list(names), columns)


def read_columns(path: Path) -> dict[str, list[str]]:
    """The columns of a table of text, by name."""
    source = Source(path)
    source.refuse_useless()
    rows = [row for row in _reader(source.text(), source.name) if row]
    if len(rows) < 2:
        raise FileError(f"{path} has no rows below its header.")
    header = [name.strip() for name in rows[0]]
    if len(set(header)) < len(header):
        raise FileError(f"{path} has two columns of the same name, {Counter(header).most_common(1)[0][0]!r}.")
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise FileError(f"{path}, line {line}: {len(row)} cells for {len(header)} columns.")
    return {name: [row[place].strip() for row in rows[1:]] for place, name in enumerate(header)}


def match_rows(columns: Mapping[str, Sequence[Any]], names: Sequence[str], label: str) -> dict[str, Sequence[Any]]:
    """The rows of a table in the order of names, where a column has them, and without that column; otherwise as they are."""
    for name, cells in columns.items():
        rows = Counter(map(str, cells))
        known = [one for one in names if one in rows]
        if not known or (len(known) < len(names) and all(is_number(cell) for cell in rows)):
            continue
        missing = next((one for one in names if one not in rows), None)
        if missing is not None:
            raise DataError(f"{label} has no row for {missing} in its column {name!r}.")
        twice = next((one for one in names if rows[one] > 1), None)
        if twice is not None:
            raise DataError(f"{label} has {rows[twice]} rows for {twice} in its column {name!r}: one row for each.")
        places = {str(cell): row for row, cell in enumerate(cells)}
        return {other: [found[places[one]] for one in names] for other, found in columns.items() if other != name}
    return dict(columns)


def _reader(text: str, name: str) -> Iterator[list[str]]:
    """The rows of a table of text, cells divided by tabs in .tsv, by commas elsewhere."""
    return csv.reader(io.StringIO(text, newline=""), delimiter="\t" if name.endswith(".tsv") else ",")


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


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


def lists_scans(cells: Sequence[str]) -> bool:
    """Whether a column of text has paths of scans."""
    given = [cell for cell in cells if cell.strip()]
    return bool(given) and all(is_scan(Path(cell)) for cell in given)
