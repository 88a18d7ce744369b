"""A scan written down as it goes: a folder with one file of arrays for each measurement, and what it all is about as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..annotations import fits
from ..atomic import written_whole
from ..exceptions import DataError
from ..files.archives import opened, read_array

VERSION = 4
"""Format of the folder: raised when measurements hold more, or other things, than before."""
ABOUT = "scan.json"


class Store:
    """The folder of a scan; without a path, nothing is kept.

    Parameters
    ----------
    path : str or Path, optional
    identity : dict
        What the scan is about, as JSON can hold it. A folder of another scan is refused.
    settings : dict
        Of each criterion, what its measurements depend on. There may be more criteria than before, not others of the same name.
    seed : int, optional
        Of the scan, where it is given; a folder that is there already has its own.
    drawn : int
        The seed where none is given.
    """

    def __init__(
        self, path: str | Path | None, identity: Mapping[str, Any], settings: Mapping[str, Any], seed: int | None, drawn: int
    ) -> None:
        self.path, self.seed = None if path is None else Path(path), drawn if seed is None else seed
        self._has_read = False
        if self.path is None:
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:  # a file is there, or what it would be in cannot be written to
            raise DataError(f"folder={str(self.path)!r} cannot be the folder of a scan: {error}. Give another one.") from error
        about, known = self.path / ABOUT, dict(settings)
        if about.exists():
            known |= self._gone_on_from(about, identity, settings, seed)
        _replace(about, json.dumps({"version": VERSION, "seed": self.seed, **identity, "criteria": known}, indent=1).encode())

    def _gone_on_from(
        self, about: Path, identity: Mapping[str, Any], settings: Mapping[str, Any], seed: int | None
    ) -> dict[str, Any]:
        """The criteria of the scan that is in the folder, which must be the same but for further criteria."""
        if not about.is_file():
            raise DataError(f"{about} is not a file. Use another folder.")
        try:
            before = json.loads(about.read_text(encoding="utf8"))
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(f"{about} cannot be read as what a scan is about: {error}") from error
        hints = {"version": int, "seed": int, "criteria": dict[str, Any]}
        if not isinstance(before, dict) or not all(fits(before.get(name), hint) for name, hint in hints.items()):
            raise DataError(f"{about} cannot be read as what a scan is about: parts of it are missing. Use another folder.")
        if before.get("version") != VERSION:
            raise DataError(
                f"{about} has format {before.get('version')}, of another version of nonneg, whose measurements are not these; "
                f"this one reads format {VERSION}. Use another folder."
            )
        theirs = before["criteria"]
        for name, ours, then in (
            *((name, value, before.get(name)) for name, value in identity.items()),
            *((name, value, theirs.get(name, value)) for name, value in settings.items()),
        ):
            if ours != then:
                raise DataError(f"{self.path} holds another scan: {_difference(name, then, ours)}. Use another folder.")
        if seed is not None and before["seed"] != seed:
            raise DataError(
                f"{self.path} holds a scan with another random_state. Use the same, None to go on with its own, or another folder."
            )
        self.seed = int(before["seed"])
        return dict(theirs)

    def read(self, name: str) -> dict[str, Any] | None:
        """What was found under a name, if it was."""
        path = None if self.path is None else self.path / f"{name}.npz"
        if path is None or not path.exists():
            return None
        if not path.is_file():
            raise DataError(f"{path} is not a file, as a measurement is. Use another folder.")
        try:
            with opened(path, str(path)) as archive:
                found = {each.removesuffix(".npy"): read_array(archive, each, str(path)) for each in archive.namelist()}
        except (OSError, ValueError):  # it was cut short, or altered
            return None
        if bytes(found.pop(_DIGEST, b"")) != _digest(name, found):
            return None  # it is of other numbers, or of an older version, and is measured again
        self._has_read = True
        return {key: value if value.ndim else value.item() for key, value in found.items()}

    @contextmanager
    def altered_scans_refused(self) -> Iterator[None]:
        """Turn what measurements of the folder lead to that no scan has written into a `DataError` that names the folder."""
        try:
            yield
        except (ValueError, TypeError, KeyError, IndexError) as error:
            if not self._has_read:
                raise
            raise DataError(
                f"{self.path} holds measurements that no scan has written: {error!r:.80}. Delete it, or use another folder."
            ) from error

    def write(self, name: str, found: Mapping[str, Any]) -> None:
        if self.path is None:
            return
        stream = BytesIO()
        arrays = {key: np.asarray(value) for key, value in found.items()}
        np.savez(stream, **arrays, **{_DIGEST: np.frombuffer(_digest(name, arrays), np.uint8)})  # type: ignore[arg-type]
        _replace(self.path / f"{name}.npz", stream.getvalue())


_DIGEST = "digest"


def _digest(name: str, arrays: Mapping[str, np.ndarray]) -> bytes:
    """A hash of a measurement and its name, by which an altered file is known."""
    found = hashlib.blake2b(name.encode(), digest_size=16)
    for key, array in arrays.items():
        found.update(f"{key} {array.dtype} {array.shape}".encode() + array.tobytes())
    return found.digest()


def _difference(name: str, then: Any, now: Any) -> str:
    """What is not as it was, in words."""
    if name in _UNREADABLE:
        return f"its {_UNREADABLE[name]} was not the one given here"
    if not isinstance(then, Mapping) or not isinstance(now, Mapping):
        return f"its {name} was {then}, and here it is {now}"
    differ = [key for key in (*then, *(key for key in now if key not in then)) if then.get(key) != now.get(key)]
    return "; ".join(f"{key} was {then.get(key, 'not there')}, and here it is {now.get(key, 'not there')}" for key in differ)


_UNREADABLE = {"data": "X", "classes": "y"}
"""What is known of by a hash only."""


def _replace(path: Path, content: bytes) -> None:
    """Write a file so that it is there as a whole or not at all."""
    with written_whole(path) as unfinished:
        unfinished.write_bytes(content)
