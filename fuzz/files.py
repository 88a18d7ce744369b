"""Altered files: `nonneg.files.read` and `nonneg.open_data` give the matrix that is there, or an error that names the file.

Memory is limited, and whatever else is opened, written or started is a finding.
"""

from __future__ import annotations

import os
import resource
import time
import zlib
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import nonneg
from nonneg.data.base import request
from nonneg.io.opening import OPENED
from nonneg.kernels.host import as_dense

from . import mutations, seeds
from .auditing import SECRET, audited
from .trial import Refused, Trial

_ROOM = 2**29
"""Bytes of address space that reading may take beyond what the process has."""
_SECONDS = 5.0
"""Of processor time that a small file may take."""
_SMALL = 10**6
"""Entries up to which matrices are compared."""


def case(t: Trial) -> None:
    _warm()
    seed = seeds.seed(t.pick(seeds.names()))
    t.subject = seed.kind
    content = mutations.altered(t, seed.files)
    folder = t.folder()
    store(t, content)
    is_same = content == seed.files
    if t.one_in(10):
        is_same = not _link(t, folder, sorted(content)) and is_same
    if not os.path.lexists(folder / seed.path):
        return
    is_altered = not is_same
    t.counts[f"files {seed.kind}"] += is_altered
    several = f"[folder / {seed.path!r}] * 2" if seed.kind == "NIfTI" and t.one_in(10) else f"folder / {seed.path!r}"
    table = attempt(t, f"nonneg.files.read({several})", seed.path)
    is_same = is_same and "*" not in several
    if is_same:
        t.check("files", table is not None, "a valid file was refused")
    if table is not None:
        t.counts[f"read {seed.kind}"] += is_altered
        _check_table(t, table)
        if is_same and seed.values is not None:
            same = table.shape == seed.values.shape and np.allclose(dense(table.values), seed.values, atol=1e-6)
            t.check("files", same, "a valid file is read as another matrix")
    if seed.path.endswith(tuple(OPENED)) or (seed.path == "folder" and os.path.isdir(folder / "folder")):
        t.offer("swept", swept)
        blocks = attempt(t, f"swept(folder / {seed.path!r}, {t.pick((200, None))})", seed.path)
        if blocks is not None and table is not None and blocks.size and sparse_size(table.values) <= _SMALL:
            same = blocks.shape == table.shape and np.array_equal(blocks, dense(table.values), equal_nan=True)
            t.check("files", same, lambda: f"read as {dense(table.values)}, and in blocks as {blocks}")


def store(t: Trial, content: seeds.Files) -> None:
    """Write files into the folder of the case."""
    t.offer("zlib", zlib)
    t.offer("stored", stored)
    packed = {name: zlib.compress(each, 1) for name, each in content.items()}
    t.do(f"stored(folder, {packed!r})")


def stored(folder: Path, packed: seeds.Files) -> None:
    """Write files that are packed by zlib; names that a file system cannot have are left out."""
    for name, content in packed.items():
        try:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(zlib.decompress(content))
        except (OSError, ValueError):
            continue


def _link(t: Trial, folder: Path, names: list[str]) -> bool:
    """Put a link in the place of a file of a folder, if there is one."""
    name = t.pick(names)
    if "/" not in name or not (folder / name).is_file():
        return False
    where = t.pick(("secret.npy", "secret.h5", "nothing", ""))
    t.do(f"from fuzz.auditing import BAIT; (folder / {name!r}).unlink(); (folder / {name!r}).symlink_to(BAIT / {where!r})")
    return True


def attempt(t: Trial, source: str, *words: str, writes: bool = False) -> Any:
    """What a call gives; None where it is refused by an error with one of the words. Nothing else is opened, or written."""
    value, t.is_weighed, began = None, False, time.process_time()
    with limited(), audited(t["folder"], writes=writes) as done, suppress(Refused):
        value = t.call(source, "found", refusal=words)
    t.check("only the file", not done, lambda: "; ".join(done))
    seconds = time.process_time() - began
    t.check("quick", writes or seconds < _SECONDS, lambda: f"took {seconds:.1f} s")
    return value


@contextmanager
def limited() -> Any:
    """Limit memory to what there is and some more."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + _ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def swept(path: Path, block_bytes: int | None = None) -> np.ndarray:
    """All blocks of a file, put together; an empty array where these are too many."""
    data = nonneg.open_data(path)
    if data.shape[0] * data.shape[1] > _SMALL:
        return np.empty((0, 0))
    data = nonneg.open_data(path, block_bytes=block_bytes)
    request(data, (), signed=True)
    found = np.zeros(data.shape)
    for rows, block in data.blocks():
        found[rows] = as_dense(block)
    return found


def sparse_size(values: Any) -> int:
    return int(values.shape[0]) * int(values.shape[1])


def dense(values: Any) -> np.ndarray:
    return np.asarray(values.toarray() if sparse.issparse(values) else values)


def _check_table(t: Trial, table: Any) -> None:
    values = table.values
    is_whole = values.ndim == 2 and values.dtype.kind in "fiub"
    if sparse.issparse(values):
        values.check_format(full_check=True)
        values = values.data
    t.check("files", is_whole, lambda: f"gives {table.shape} of {values.dtype}")
    with np.errstate(invalid="ignore"):
        t.check("only the file", not (np.asarray(values[:100]) == SECRET).any(), "numbers of another file")


@cache
def _warm() -> None:
    """Read every kind once, so that libraries are imported, and their threads there."""
    import tempfile
    import warnings

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with audited(Path(folder)):
            pass
        for name in seeds.names():
            seed = seeds.seed(name)
            stored(Path(folder), {each: zlib.compress(content) for each, content in seed.files.items()})
            nonneg.files.read(Path(folder) / seed.path)
            if name.endswith(tuple(OPENED)) and name != "n.parquet":
                swept(Path(folder) / name)
