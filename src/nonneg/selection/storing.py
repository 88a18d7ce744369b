"""A scan in a folder: an archive for each measurement, and a description in JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import DataError
from ..io.annotations import fits
from ..io.archive import Form, read_archive, write_archive
from ..io.atomic import written_whole
from ..io.base import altered_files_refused

VERSION = 5
"""Of the form of the folder: raised when measurements hold more, or other things, than before."""
ABOUT = "scan.json"
MEASUREMENT = Form("nonneg measurement", VERSION, "a measurement of a scan", "measurement.json")


class Store:
    """The folder of a scan; without a path, nothing is kept.

    Parameters
    ----------
    path : str or Path, optional
    identity : dict
        Subject of the scan, as JSON. A folder of another scan is refused.
    settings : dict
        Of each criterion, the inputs of its measurements. There may be more criteria than before, not others of the same name.
    seed : int, optional
        Seed of the scan, if given; an existing folder has its own.
    drawn : int
        Seed to use if none is given.
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
        except OSError as error:  # a file of that name, or a parent that cannot be written to
            raise DataError(f"folder={str(self.path)!r} cannot be the folder of a scan: {error}. Give another one.") from error
        about, known = self.path / ABOUT, dict(settings)
        if about.exists():
            known |= self._gone_on_from(about, identity, settings, seed)
        with written_whole(about) as unfinished:
            content = {"version": VERSION, "seed": self.seed, **identity, "criteria": known}
            unfinished.write_text(json.dumps(content, indent=1), encoding="utf8")

    def _gone_on_from(
        self, about: Path, identity: Mapping[str, Any], settings: Mapping[str, Any], seed: int | None
    ) -> dict[str, Any]:
        """The criteria of the scan that is in the folder, which must be the same but for further criteria."""
        if not about.is_file():
            raise DataError(f"{about} is not a file. Use another folder.")
        try:
            before = json.loads(about.read_text(encoding="utf8"))
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(f"{about} cannot be read as the subject of a scan: {error}") from error
        hints = {"version": int, "seed": int, "criteria": dict[str, Any]}
        if not isinstance(before, dict) or not all(fits(before.get(name), hint) for name, hint in hints.items()):
            raise DataError(f"{about} cannot be read as the subject of a scan: parts of it are missing. Use another folder.")
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
        """Read a measurement by its name; None if there is none, or if no scan has written it, so that it is made again."""
        path = None if self.path is None else self._file(name)
        if path is None or not path.exists():
            return None
        if not path.is_file():
            raise DataError(f"{path} is not a file, as a measurement is. Use another folder.")
        try:
            with altered_files_refused(str(path), MEASUREMENT.noun):
                archive = read_archive(path, MEASUREMENT, str(path))
                found, digest = archive.read("found"), archive.read("digest")
        except DataError:
            return None
        if not fits(found, dict[str, np.ndarray]) or not isinstance(digest, str) or digest != _digest(name, found):
            return None
        self._has_read = True
        return {key: value if value.ndim else value.item() for key, value in found.items()}

    @contextmanager
    def altered_scans_refused(self) -> Iterator[None]:
        """Turn errors from altered measurements into a `DataError` that names the folder."""
        try:
            yield
        except (ValueError, TypeError, KeyError, IndexError) as error:
            if not self._has_read:
                raise
            raise DataError(
                f"{self.path} holds measurements that no scan has written: {error!r:.80}. Delete it, or use another folder."
            ) from error

    def write(self, name: str, found: Mapping[str, Any]) -> None:
        """Write a measurement."""
        if self.path is not None:
            arrays = {key: np.asarray(value) for key, value in found.items()}
            with written_whole(self._file(name)) as unfinished:
                write_archive(unfinished, MEASUREMENT, {"found": arrays, "digest": _digest(name, arrays)})

    def _file(self, name: str) -> Path:
        assert self.path is not None
        return self.path / f"{name}.nonneg"


def _digest(name: str, arrays: Mapping[str, np.ndarray]) -> str:
    """Hash a measurement with its name; altered files have another hash."""
    found = hashlib.blake2b(name.encode(), digest_size=16)
    for key, array in arrays.items():
        found.update(f"{key} {array.dtype} {array.shape}".encode() + array.tobytes())
    return found.hexdigest()


def _difference(name: str, then: Any, now: Any) -> str:
    """The differences, in words."""
    if name in _UNREADABLE:
        return f"its {_UNREADABLE[name]} was not the one given here"
    if not isinstance(then, Mapping) or not isinstance(now, Mapping):
        return f"its {name} was {then}, and here it is {now}"
    differ = [key for key in (*then, *(key for key in now if key not in then)) if then.get(key) != now.get(key)]
    return "; ".join(f"{key} was {then.get(key, 'not there')}, and here it is {now.get(key, 'not there')}" for key in differ)


_UNREADABLE = {"data": "X", "classes": "y"}
"""Inputs known by a hash only."""
