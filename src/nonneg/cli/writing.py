"""Write the results of a command: components, codes, labels, atlases."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from .. import io as files
from ..exceptions import FileError
from ..io import Layout, Table
from ..io.delimited import is_number
from ..io.scan_tables import KINDS as SCANS


def check_layouts(given: Mapping[str, Any], layout: Layout | None) -> None:
    """Refuse, before a fit, kinds of files that cannot hold the layout of its results.

    Parameters
    ----------
    given : dict
        Options, of which `components`, `atlas`, `loadings` and `labels` are paths or None.
    layout : Layout or None
        Of the features.
    """
    brain = layout if layout is not None and layout.is_brain else None
    layouts = {"components": brain, "atlas": brain, "loadings": None, "labels": None}
    for name, path in ((name, given[name]) for name in layouts if given[name] is not None):
        kind = files.kind_to_write(path)
        if name == "atlas" and brain is None:
            raise click.UsageError("--atlas is for volumes and surfaces of the brain; --labels writes the same as a table.")
        if name == "atlas" and brain is not None and kind not in SCANS:
            endings = _ENDINGS[len(brain.shape)]
            raise FileError(f"--atlas {path}: an atlas is an image, of these data {endings}; --labels writes the same as a table.")
        try:
            kind.check_layout(layouts[name])
        except FileError as error:
            raise FileError(f"--{name} {path}: {error}") from error


_ENDINGS = {3: ".nii or .nii.gz", 1: ".label.gii, .dlabel.nii or .mgh"}
"""How files of atlases end, by the dimensions in which features lie."""


def write_predictions(labels: np.ndarray, names: Any, path: Path) -> None:
    """Clusters, counted from 1, or classes by their names."""
    if labels.dtype.kind in "iu":
        return write_labels(labels, names, path, "sample")
    given = names if names is not None else range(1, len(labels) + 1)
    return _write_pairs(("sample", "class"), zip(given, labels, strict=True), path)


def _write_pairs(header: tuple[str, str], pairs: Iterable[tuple[Any, Any]], path: Path) -> None:
    """A table of text with two columns. Both have a name, but for a first one that would be read as numbers."""
    pairs = [(str(one), str(other)) for one, other in pairs]
    header = ("", header[1]) if any(is_number(one) for one, _ in pairs) else header
    with files.written_whole(path) as unfinished, open(unfinished, "w", encoding="utf8", newline="") as file:
        writer = csv.writer(file, delimiter="," if path.suffix.lower() == ".csv" else "\t", lineterminator="\n")
        writer.writerow(header)
        writer.writerows(pairs)


def part_names(count: int) -> list[str]:
    """Names of components in tables."""
    return [f"part {number}" for number in range(1, count + 1)]


def write_components(components: np.ndarray, table: Table, path: Path) -> None:
    """One row for each component; NIfTI if features are voxels."""
    is_brain = table.layout is not None and table.layout.is_brain
    files.write(
        Table(components, part_names(len(components)), table.features, table.layout if is_brain or path.suffix == ".npz" else None),
        path,
    )


def write_codes(codes: np.ndarray, table: Table, path: Path) -> None:
    """One row for each sample of a table."""
    each = "subject" if table.layout is not None and table.layout.is_brain else "sample"
    files.write(Table(codes, table.samples, part_names(codes.shape[1]), each=each), path)


def write_labels(labels: np.ndarray, names: Any, path: Path, of: str) -> None:
    """To which part each item belongs, counted from 1, 0 being none; `of` names the kind of items."""
    given = names if names is not None else [str(number) for number in range(1, len(labels) + 1)]
    if path.suffix.lower() in (".csv", ".tsv", ".txt"):
        _write_pairs((of, "part"), zip(given, np.asarray(labels) + 1, strict=True), path)
    elif path.suffix.lower() in (".npz", ".parquet"):
        files.write(Table(np.asarray(labels)[:, None] + 1, given, ["part"]), path)
    else:
        files.write(Table(np.asarray(labels)[:, None] + 1), path)


def write_atlas(labels: np.ndarray, table: Table, path: Path) -> None:
    """The part that each voxel belongs to, 1, 2, …, as a volume; 0 is outside of the mask."""
    files.write(Table(np.asarray(labels)[None].astype(np.int16) + 1, layout=table.layout), path)
