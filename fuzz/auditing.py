"""What a call opens, changes or starts: events of Python's audit hook, and of inotify for libraries in C in a folder of bait."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import h5py
import numpy as np

BAIT = Path(tempfile.gettempdir()) / f"nonneg-fuzz-bait-{os.getpid()}"
"""Files that altered ones link to. None of them may be opened; they are of one process, for others may be altering files, too."""
SECRET = 7777.25
"""The number in them."""
_ROOTS = (sys.prefix, sys.base_prefix, Path(os.__file__).parent, *sys.path)
_OWN = tuple({form(path) for path in _ROOTS for form in (os.path.abspath, os.path.realpath)})
"""Where modules lie, whose lines tracebacks and warnings show; an environment may be a link."""
_SYSTEM = ("/proc/", "/sys/", "/etc/", "/usr/", "/dev/null", "/dev/urandom", "/lib")
_CHANGES = (
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.putenv",
    "shutil.",
)
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "socket.connect", "socket.bind", "pty.spawn")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_seen: list[str] | None = None
_folder = ""


def _hook(event: str, given: tuple[Any, ...]) -> None:
    if _seen is None:
        return
    if event == "open" and isinstance(given[0], str | bytes):
        path, flags = os.path.abspath(os.fsdecode(given[0])), given[2] or 0
        if path.startswith(_folder):
            if flags & _WRITING:
                _seen.append(f"writes {path}")
        elif not path.startswith((*_OWN, *_SYSTEM)):
            _seen.append(f"opens {path}")
    elif event.startswith((*_CHANGES, *_STARTS)):
        _seen.append(f"{event} {given!r:.200}")


@cache
def _watched() -> int:
    """Begin to audit this process; the descriptor from which inotify tells of the bait."""
    sys.addaudithook(_hook)
    BAIT.mkdir(exist_ok=True)
    Finalize(None, shutil.rmtree, (BAIT, True), exitpriority=1)
    (BAIT / "secret.bin").write_bytes(np.full(24, SECRET).tobytes())
    with h5py.File(BAIT / "secret.h5", "w") as file:
        file["X"] = np.full((6, 4), SECRET)
    np.save(BAIT / "secret.npy", np.full((6, 4), SECRET))
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = int(libc.inotify_init1(os.O_NONBLOCK))
    libc.inotify_add_watch(descriptor, os.fsencode(BAIT), 0x20)  # IN_OPEN
    return descriptor


@contextmanager
def audited(folder: Path, *, writes: bool = False) -> Iterator[list[str]]:
    """What is opened outside a folder, what is written, unless that is what is called, and what is started, as it happens."""
    global _seen, _folder
    descriptor = _watched()
    before = _state(folder)
    found: list[str] = []
    _is_taken(descriptor)  # by what was altered
    _seen, _folder = found, str(folder)
    try:
        yield found
    finally:
        _seen = None
        if _is_taken(descriptor):
            found.append(f"opens a file in {BAIT}")
        if writes:
            found[:] = [one for one in found if one.startswith(("opens ", *_STARTS))]
        elif _state(folder) != before:
            found.append(f"changes files in {folder}")


def _is_taken(descriptor: int) -> bool:
    """Whether bait was opened since this was asked last."""
    try:
        return bool(os.read(descriptor, 1 << 16))
    except BlockingIOError:
        return False


def _state(folder: Path) -> list[tuple[str, int, int]]:
    found = []
    for entry in os.scandir(folder):
        stat = entry.stat(follow_symlinks=False)
        found.append((entry.path, stat.st_size, stat.st_mtime_ns))
        if entry.is_dir(follow_symlinks=False):
            found += _state(Path(entry.path))
    return sorted(found)
