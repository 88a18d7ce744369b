"""Names of scans: the suffixes that brain images have, and the part of a path that tells one subject from the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..exceptions import DataError, FileError

VOLUMES = (".nii.gz", ".nii")
SURFACES = (".dscalar.nii", ".dtseries.nii", ".gii", ".mgh", ".mgz")
_KINDS = (".func", ".shape", ".label")
"""Infixes before .gii in the names of GIFTI files."""


def is_scan(path: Path) -> bool:
    """Whether a name is that of a volume or of values on a surface; FreeSurfer's have no suffix: lh.thickness."""
    name = path.name.lower()
    return name.endswith((*VOLUMES, *SURFACES)) or is_morph(path)


def is_morph(path: Path) -> bool:
    """Whether a name is that of a FreeSurfer file of one number a vertex: lh.thickness, rh.sulc."""
    name = path.name.lower()
    return name.startswith(("lh.", "rh.")) and not name.endswith((*VOLUMES, *SURFACES))


def stem(path: Path) -> str:
    """The name of a scan without its suffixes."""
    name = path.name
    if is_morph(path):
        return name
    for suffix in (*SURFACES, *VOLUMES):
        if name.lower().endswith(suffix):
            name = name[: -len(suffix)]
            break
    return next((name[: -len(kind)] for kind in _KINDS if name.lower().endswith(kind)), name)


def tell_apart(paths: Sequence[Path]) -> list[str]:
    """A name for each scan: its stem, or if stems are the same, the folders that differ; of one scan, its folder sub-*.

    A scan that is listed twice is refused.

    >>> tell_apart([Path("sub-01/anat/gm.nii.gz"), Path("sub-02/anat/gm.nii.gz")])
    ['sub-01', 'sub-02']
    >>> tell_apart([Path("sub-01_ses-1_T1w.nii"), Path("sub-02_ses-1_T1w.nii")])
    ['sub-01', 'sub-02']
    >>> tell_apart([Path("IXI012-T1_ds.nii.gz"), Path("IXI013-T1_ds.nii.gz")])
    ['IXI012', 'IXI013']
    >>> tell_apart([Path("sub-01/anat/gm.nii.gz")])
    ['sub-01']
    """
    _refuse_repeated(paths)
    if len(paths) < 2:
        return [_name_alone(path) for path in paths]
    stems = [stem(path) for path in paths]
    is_bids = all(name.startswith("sub-") for name in stems)
    stems = _without_common_entities(stems) if is_bids else _without_common_end(stems)
    return stems if _are_unique(stems) else _name_by_folders(paths, stems)


def _refuse_repeated(paths: Sequence[Path]) -> None:
    """Refuse a scan that is listed twice."""
    twice = [path for path, count in Counter(path.resolve() for path in paths).items() if count > 1]
    if twice:
        raise DataError(f"{twice[0]} is listed more than once: a scan is one subject.")


def _name_alone(path: Path) -> str:
    """The name of the only scan: its stem if that begins with sub-, else its innermost folder that does, if there is one."""
    name = stem(path)
    if name.startswith("sub-"):
        return name
    return next((part for part in reversed(path.parent.parts) if part.startswith("sub-")), name)


def _name_by_folders(paths: Sequence[Path], stems: list[str]) -> list[str]:
    """Names of scans whose stems are the same: the innermost folder that tells them apart, or all that differ, or a number."""
    rows = [[*path.relative_to(path.anchor).parent.parts, name] for path, name in zip(paths, stems, strict=True)]
    depth = min(map(len, rows))
    columns = [[row[-place] for row in rows] for place in range(1, depth + 1)]
    for column in columns:
        if _are_unique(column):
            return column
    varying = [column for column in reversed(columns) if len(set(column)) > 1]
    joined = ["_".join(parts) for parts in zip(*varying, strict=True)] if varying else stems
    return joined if _are_unique(joined) else [f"{name} {number}" for number, name in enumerate(joined, 1)]


def refuse_mask_among(paths: Sequence[Path], mask: Path) -> None:
    """Refuse a mask that is also one of the scans, as in a folder that holds both."""
    if len(paths) > 1 and mask.exists() and any(path.name == mask.name and path.samefile(mask) for path in paths):
        raise FileError(f"{mask} is the mask, and also one of the scans: move it out of their folder, or list the scans.")


def _are_unique(names: Sequence[str]) -> bool:
    return len(set(names)) == len(names)


def _without_common_entities(stems: Sequence[str]) -> list[str]:
    """Names of BIDS without the entities that all have: sub-01_T1w becomes sub-01."""
    entities = [name.split("_") for name in stems]
    common = set(entities[0]).intersection(*entities[1:])
    return ["_".join(part for part in parts if part not in common) or "_".join(parts) for parts in entities]


def _without_common_end(stems: Sequence[str]) -> list[str]:
    """Names without the words at their end that all have: IXI012-T1_ds becomes IXI012."""
    words = [re.split(r"(?=[-_.])", name) for name in stems]
    while min(map(len, words)) > 1 and len({name[-1] for name in words}) == 1:
        words = [name[:-1] for name in words]
    return ["".join(name) for name in words]
