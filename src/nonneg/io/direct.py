"""Read bytes of a file in whole pages, past the system's caches if these would not help.

The system keeps what is read in memory, in case it is read again. Of a file that is larger than memory nothing is left by then, and
to make room for every page, and to copy it, keeps a processor busy for as long as the disk takes. Linux reads straight into the
memory of a program if that is asked for (`O_DIRECT`), whole pages into whole pages; not in every file system, nor do all systems.
"""

from __future__ import annotations

import os
from weakref import finalize

import numpy as np

PAGE = 4096
"""Bytes: what disks read at a time, and what memory is mapped by. A file system that wants more is read through its caches."""
_MOST = 2**30
"""Bytes that are asked for at a time: some systems give no more than 2 GB."""


class Ranges:
    """Ranges of a file in memory, the memory of one that nobody looks at any more being used for the next.

    Bytes lie in memory as they do in the file, as far from the beginning of a page. So numbers begin where they begin whichever way
    they were read, and what is computed of them is the same to the last bit.

    Parameters
    ----------
    path : str
    is_direct : bool
        Whether to bypass the system's caches, if possible.
    """

    def __init__(self, path: str, *, is_direct: bool = False) -> None:
        self.path = path
        self.is_direct = is_direct and hasattr(os, "O_DIRECT") and hasattr(os, "preadv")
        """Whether the caches are gone past; no longer, once the system has refused to."""
        self._free: list[np.ndarray] = []

    def read(self, start: int, count: int) -> np.ndarray:
        """So many bytes from a place in the file, or as many as there are."""
        before = start % PAGE
        end, room = before + count, self._room(before + count)
        got = self._read_directly(room, start - before, end)
        if got is None:
            got = before + self._read_ordinarily(room[before:end], start)
        found = np.frombuffer(room.data, np.uint8)
        # All views of it hold on to its base: that goes when the last of them does.
        finalize(found.base, self._free.append, room).atexit = False
        return found[before : max(before, min(got, end))]

    def _room(self, count: int) -> np.ndarray:
        """Whole pages for so many bytes, used before if there are such: to clear fresh ones takes as long as to copy them."""
        while self._free:
            room = self._free.pop()
            if len(room) >= count:
                return room
        size = (count // PAGE + 2) * PAGE  # ranges of equal length may differ by the page that they end in
        memory = np.empty(size + PAGE, np.uint8)
        first = -memory.ctypes.data % PAGE
        return memory[first : first + size]

    def _read_directly(self, room: np.ndarray, start: int, needed: int) -> int | None:
        """The number of bytes read, fewer only at the end of the file; None if the system cannot bypass its caches."""
        if not self.is_direct:
            return None
        done, whole = 0, -(-needed // PAGE) * PAGE
        try:
            file = os.open(self.path, os.O_RDONLY | os.O_DIRECT)
            try:
                while done < needed:
                    got = os.preadv(file, [room[done : min(done + _MOST, whole)].data], start + done)
                    done += got
                    if not got or (got % PAGE and start + done == os.fstat(file).st_size):
                        break
            finally:
                os.close(file)
        except OSError:  # if the file itself is the reason, an ordinary reading will say so
            self.is_direct = False
            return None
        return done

    def _read_ordinarily(self, into: np.ndarray, start: int) -> int:
        done = 0
        with open(self.path, "rb", buffering=0) as file:
            file.seek(start)
            while done < len(into):
                got = file.readinto(into[done : done + _MOST].data)
                if not got:
                    break
                done += got
        return done
