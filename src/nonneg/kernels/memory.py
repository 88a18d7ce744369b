"""Available memory, so that data that cannot fit are refused before any work."""

from __future__ import annotations

import os
from pathlib import Path

from ..exceptions import FileError, ShapeError

_CONTROL_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)
"""Limit, use and statistics of a container, in versions 2 and 1."""


def available_bytes() -> int | None:
    """Bytes available without swapping: the least that the machine, its container and the limits of the process allow.

    None if unknown. Caches of files count as free, since the system gives them up on demand.
    """
    found = [value for value in (_of_machine(), _of_container(), _of_process()) if value is not None]
    return max(min(found), 0) if found else None


def check_memory(n_bytes: int, what: str, instead: str) -> None:
    """Refuse an object that would take more memory than is available.

    Parameters
    ----------
    n_bytes : int
        Bytes that it takes at least.
    what : str
        The object, as the beginning of a sentence.
    instead : str
        The alternative, as a sentence.
    """
    available = available_bytes()
    if available is not None and n_bytes > available:
        raise ShapeError(f"{what} would take {readable(n_bytes)} of memory, and {readable(available)} are free. {instead}")


def refuse_too_large(n_bytes: int, label: str) -> None:
    """Refuse a file whose content would not fit into memory."""
    available = available_bytes()
    if available is not None and n_bytes > available:
        raise FileError(f"{label} holds {readable(n_bytes)}, and {readable(available)} of memory are free.")


def readable(n_bytes: int) -> str:
    """Bytes in words, in the largest unit that leaves at least one."""
    for exponent, unit in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "kB")):
        if n_bytes >= 1000**exponent:
            return f"{n_bytes / 1000**exponent:.3g} {unit}"
    return f"{n_bytes} bytes"


def _of_machine() -> int | None:
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on this system
        return None


def _of_container() -> int | None:
    for limit, used, statistics in _CONTROL_GROUPS:
        most, current = (_number(_lines(path)) for path in (limit, used))
        if most is not None and current is not None:
            caches = (line.split() for line in _lines(statistics))
            freed = sum(
                int(parts[1]) for parts in caches if len(parts) == 2 and parts[0] in ("inactive_file", "total_inactive_file")
            )
            return most - current + freed
    return None


def _of_process() -> int | None:
    try:
        import resource
    except ImportError:  # on Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    used = _number([line.split()[0] for line in _lines("/proc/self/statm")])
    return limit - (used or 0) * resource.getpagesize()


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _number(lines: list[str]) -> int | None:
    """The number in a file of one line; None for "max", or without such a file."""
    return int(lines[0]) if lines and lines[0].strip().isdigit() else None
