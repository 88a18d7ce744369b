"""Checkpoints: the state of a fit in a file, from which it can be resumed.

A file holds the identity of the fit (data, model, settings), and for each start its solution or its state. It is written beside the
old one and replaces it once it is complete on the disk, so that one of the two is always there.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from ..data import Data
from ..data.base import items_of
from ..data.weighted import LowRank, count_missing
from ..exceptions import DataError, IncompatibleError, is_number
from ..io.annotations import check_fields, fits
from ..io.archive import Archive
from ..io.atomic import remove_left_over, short_name, written_whole
from ..kernels.namespace import to_host
from .filling import inside
from .problem import Problem
from .run import Run
from .solution import Solution, Status
from .storing import altered_runs_refused, check_factors, read_content, read_filling, rebuilt, write_content
from .surrogate import Rounds

T = TypeVar("T")


@dataclass(frozen=True)
class Checkpoint:
    """A file for the state of a fit, and how often to write it.

    Resuming a fit that hit `max_iter` with a larger one gives the same bits as one long run.

    Parameters
    ----------
    path : str or path
        A file; or a folder (an existing one, or a name that ends in "/"), in which each fit has a file of its own, named after a
        hash of its data and settings, `max_iter` included. Clones, as those of a grid search, need a folder.
    every : float, default=60
        Seconds between two times; nothing more than that is lost.

    See Also
    --------
    load : A fitted estimator from its file.
    factorize : Takes one as ``checkpoint``, as estimators do.

    Examples
    --------
    >>> import tempfile, numpy as np, nonneg
    >>> X = np.random.default_rng(0).random((20, 10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = nonneg.Checkpoint(folder + "/fit", every=10)
    ...     short = nonneg.factorize(X, "W H", rank=2, max_iter=5, checkpoint=saved, random_state=0)
    ...     longer = nonneg.factorize(X, "W H", rank=2, max_iter=50, checkpoint=saved, random_state=0)
    >>> bool(longer.objective <= short.objective)
    True
    """

    path: str | os.PathLike[str]
    every: float = 60.0

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise IncompatibleError(f"checkpoint must be a path, a Checkpoint, or None; got {self.path!r}.")
        if not is_number(self.every) or self.every < 0:
            raise IncompatibleError(f"every must be a number of seconds that is not negative; got {self.every!r}.")

    def file(self, identity: Mapping[str, Any]) -> Path:
        """The file of a fit."""
        path = Path(self.path)
        if not path.is_dir() and not str(self.path).endswith(("/", os.sep)):
            return path
        path.mkdir(parents=True, exist_ok=True)
        return path / f"{hash_of(identity)}.nonneg"

    @property
    def exists(self) -> bool:
        """Whether there is a file to resume from."""
        return os.path.exists(self.path)


def read_checkpoint(given: Any) -> Checkpoint | None:
    """Read the parameter `checkpoint`."""
    if isinstance(given, str) and not given.strip():
        raise IncompatibleError("checkpoint is an empty text; give the path of a file, or of a folder with a slash at its end.")
    return given if given is None or isinstance(given, Checkpoint) else Checkpoint(given)


def hash_of(identity: Mapping[str, Any]) -> str:
    """A hash of the identity of a fit."""
    return hashlib.blake2b(json.dumps(identity, sort_keys=True).encode(), digest_size=10).hexdigest()


def identity_of(problem: Problem, **settings: Any) -> dict[str, Any]:
    """The identity of a fit: data, by their shape and sums, model, and settings."""
    data = problem.user_data
    return {
        "shape of X": list(data.shape),
        "type of X": str(data.namespace.dtype),
        **({"storage of X": _blocks_of(data)} if data.costs.out_of_core else {}),
        "entries of X": _of_data(data),
        **({"weights of X": [count_missing(data), _described(getattr(data, "weights", None))]} if data.costs.weighted else {}),
        "model": f"{problem.user_model!r} {problem.user_model}",
        "sizes": {name: list(shape) for name, shape in problem.shapes.items()},
        "fixed factors": _described(problem.fixed),
        **{name: _described(value) for name, value in settings.items()},
    }


def _blocks_of(data: Data) -> str:
    """The blocks of data out of core: sums over other blocks differ in their last digits, on which bits depend."""
    blocks = data.in_blocks
    return "blocks" if blocks is None else f"{len(blocks[0].stops)} blocks, the first of {blocks[0].stops[0]} rows"


def _of_data(data: Data) -> list[Any]:
    """Numbers that tell data of one shape apart, to the last digit: see `_OF_ENTRIES`."""
    try:
        squares = data.power_sum(2)
    except ValueError:  # some kinds do not know it
        squares = 0.0
    return [*map(float, data.facts[:2]), data.facts.non_zeros, squares, _of_rows(data)]


_HASHED = 2**22
"""Entries that are hashed, at most; of larger data, as many in rows that lie evenly apart."""


def _of_rows(data: Data) -> str:
    """A hash of rows, of all of them if that is little work: data with permuted entries have the same sums."""
    in_blocks = data.in_blocks  # whose rows are at hand, whether they are samples or features
    items = in_blocks[0] if in_blocks is not None else data if data.costs.has_items else items_of(data)
    if not items.costs.has_items:
        return ""
    n, width = items.shape
    count = min(n, max(_HASHED // max(width, 1), 1))
    rows = items.take(np.unique(np.linspace(0, n - 1, count).astype(np.int64)), axis=0)
    return hashlib.blake2b(json.dumps(_described(rows)).encode(), digest_size=10).hexdigest()


def _described(value: Any) -> Any:
    """A value as JSON: arrays by their shape and a hash of their content."""
    if isinstance(value, Mapping):
        return {str(name): _described(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_described(each) for each in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "indptr"):
        return [list(value.shape), *(_described(part) for part in (value.indptr, value.indices, value.data))]
    if hasattr(value, "shape") and hasattr(value, "dtype"):  # data out of core have a name
        array = np.ascontiguousarray(to_host(value.toarray() if hasattr(value, "toarray") else value))
        return [list(array.shape), str(array.dtype), hashlib.blake2b(array.tobytes(), digest_size=10).hexdigest()]
    return repr(value)


class CheckpointFile:
    """The checkpoint of one fit, open.

    Parameters
    ----------
    checkpoint : Checkpoint
    identity : dict
        Data, model and settings of the fit; a file of another fit is refused.
    seeds : list of int
        One for each start. Those of the file are used instead, unless they are part of the identity.
    """

    def __init__(self, checkpoint: Checkpoint, identity: Mapping[str, Any], seeds: Sequence[int]) -> None:
        self.path, self.every = Path(os.path.realpath(checkpoint.file(identity))), checkpoint.every  # of all links to it
        self.identity, self.seeds = json.loads(json.dumps(identity)), list(seeds)
        self._entries: dict[int, bytes] = {}
        self._was_for: int | None = None
        self._mutex, self._written = RLock(), time.monotonic()
        if self.path.exists() and not self.path.is_file():
            raise DataError(f"The checkpoint {self.path} is not a file. Give another path.")
        self._lock = _locked(self.path)
        try:
            remove_left_over(self.path)
            if self.path.exists():
                self._read()
        except BaseException:
            self.close()
            raise

    def _read(self) -> None:
        stored = read_content(self.path)
        with altered_runs_refused(str(self.path)):
            there, seeds, blobs = json.loads(stored.read("identity")), stored.read("seeds"), _blobs(stored)
            if not isinstance(there, dict) or not fits(seeds, list[int]) or min(seeds, default=0) < 0:
                raise DataError("it has no seeds, or does not name its fit")
        differing = [
            f"{name} is {_in_words(name, there.get(name))} there, and {_in_words(name, self.identity.get(name))} here"
            for name in dict.fromkeys([*there, *self.identity])
            if name != _MAX_ITER and there.get(name) != self.identity.get(name)
        ]
        if differing:
            raise DataError(
                f"{self.path} is a checkpoint of another fit: {'; '.join(differing)}. Give another file, delete this one, or "
                "give a folder, in which each fit has its own. To go on from a fit that has ended, with other settings, use "
                "warm_start=True."
            )
        if len(seeds) != len(self.seeds):
            raise DataError(f"{self.path} was altered: it has {len(seeds)} seeds for {len(self.seeds)} starts. Delete it.")
        self.seeds, self._entries = list(seeds), blobs
        self._was_for = there.get(_MAX_ITER)
        if self._was_for != self.identity.get(_MAX_ITER):  # some starts begin elsewhere then, unless they have gone too far
            for entry in self._entries.values():
                self.check_reach(int(rebuilt(self._opened(entry), "n_iter") or 0))
            self._entries = {
                number: entry for number, entry in self._entries.items() if not self._opened(entry).content.get("is_bound", True)
            }

    def _opened(self, entry: bytes) -> Archive:
        return read_content(io.BytesIO(entry), str(self.path))

    def writer(self, number: int) -> CheckpointWriter:
        """The writer of one start."""
        entry = self._entries.get(number)
        return CheckpointWriter(self, number, None if entry is None else self._opened(entry))

    def check_reach(self, n_iter: int) -> None:
        """Refuse a start with more iterations than `max_iter` allows now."""
        most = self.identity.get(_MAX_ITER, n_iter)
        if n_iter > most:
            raise DataError(
                f"{self.path} has come to iteration {n_iter} with max_iter={self._was_for}, and cannot go back: here max_iter is "
                f"{most}. Give a larger one, or another file, or delete this one."
            )

    def put(self, number: int, content: Mapping[str, Any]) -> None:
        """Write the state of a start."""
        blob = io.BytesIO()
        write_content(content, blob)
        with self._mutex:
            self._entries[number] = blob.getvalue()
            self._write()

    def goes_beyond(self, n_iter: int) -> bool:
        """Whether more iterations are asked for."""
        return bool(n_iter < self.identity.get(_MAX_ITER, n_iter))

    def is_due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() - self._written >= self.every

    def _write(self) -> None:
        starts = {number: np.frombuffer(entry, np.uint8) for number, entry in sorted(self._entries.items())}
        content = {"identity": json.dumps(self.identity), "seeds": self.seeds, "starts": starts}
        replace_file(self.path, lambda file: write_content(content, file))
        self._written = time.monotonic()

    def close(self) -> None:
        """Unlock the file."""
        self._lock()


class CheckpointWriter:
    """Writes and reads the state of one start in a `CheckpointFile`."""

    def __init__(self, file: CheckpointFile, number: int, stored: Archive | None) -> None:
        self._file, self._number, self._stored = file, number, stored
        self.is_bound = True if stored is None else bool(rebuilt(stored, "is_bound"))
        """Whether the start depends on `max_iter`; if so, a changed `max_iter` discards it."""
        self.filling: LowRank | None = None
        """The values of missing entries."""
        self._unfinished: dict[str, Any] = {}
        """The run as it hit `max_iter`."""

    def write(self, run: Run, rounds: Callable[[], Rounds] | None = None) -> None:
        """Write a run if it is time, or if it is over; one that was stopped, by the user or by `max_iter`, can be resumed."""
        if self._file.is_due() or run.status is not None:
            hit_max_iter = run.status is Status.MAX_ITER
            run = replace(run, status=None) if hit_max_iter or run.status is Status.STOPPED_BY_USER else run
            stage = None if rounds is None else rounds()
            n_iter = run.n_iter + (0 if stage is None else stage.done)
            state = {"run": run, "stage": stage, "is_bound": self.is_bound, "n_iter": n_iter}
            self._unfinished = state | {"run": run.copy()} if hit_max_iter else {}
            self._file.put(self._number, state)

    def rounds(self) -> Rounds | None:
        """The stored state of rounds on a surrogate."""
        return self._rebuilt("stage", Rounds)

    @property
    def arrays(self) -> Mapping[str, Any] | None:
        """The stored surrogate."""
        rounds = self.rounds()
        return None if rounds is None else rounds.arrays

    def run(self, problem: Problem) -> Run | None:
        """The stored run of a problem."""
        return self._rebuilt("run", Run, problem)

    def _rebuilt(self, name: str, cls: type[T], *of: Any) -> T | None:
        found = None if self._stored is None else rebuilt(self._stored, name, *of)
        if found is not None and not isinstance(found, cls):
            raise DataError(f"{self._file.path} was altered: its {name} is {found!r:.60}. Delete it, or give another path.")
        return found

    @property
    def is_begun(self) -> bool:
        """Whether there is a stored run to resume."""
        return self._stored is not None and self._stored.content.get("run") is not None

    def solution(self, problem: Problem) -> Solution | None:
        """The stored solution, if the start is over."""
        found = None if self._stored is None else rebuilt(self._stored, "solution", problem)
        if found is None:
            return None
        stored, model = self._stored, problem.user_model
        assert stored is not None
        with altered_runs_refused(stored.label):
            if not fits(found, dict[str, Any]) or set(found) != set(_OF_SOLUTION):
                raise DataError(f"its solution must have {', '.join(_OF_SOLUTION)}")
            check_fields(Solution, found)
            check_factors(found["factors"], problem, [name for name in model.form.names if name != model.data])
        if found["status"] is Status.MAX_ITER and self._file.goes_beyond(found["n_iter"]):
            return None
        with altered_runs_refused(stored.label):
            problem = read_filling(rebuilt(stored, "filling", problem), problem)
        return Solution(**found, model=model, data=inside(problem) if model.data in model.form.names else None)

    def finish(self, solution: Solution) -> None:
        """Write the solution of the start."""
        found = {name: getattr(solution, name) for name in _OF_SOLUTION}
        filling = None if self.filling is None else tuple(self.filling)
        own = {"solution": found, "filling": filling, "is_bound": self.is_bound, "n_iter": solution.n_iter}
        self._file.put(self._number, self._unfinished | own)


def _blobs(stored: Archive) -> dict[int, bytes]:
    """The archives of the starts in a file, by number."""
    starts = stored.read("starts")
    if not fits(starts, dict[int, np.ndarray]):
        raise DataError("its starts are none")
    return {number: entry.tobytes() for number, entry in starts.items()}


_OF_SOLUTION = ("factors", "objective", "history", "n_iter", "status", "scaled_objective", "solver")
"""Attributes of a solution that are stored."""
_MAX_ITER = "max_iter"
"""The setting that may change when a fit is resumed."""
_OF_ENTRIES = ("least", "largest", "number of non-zeros", "sum of squares", "hash of rows")
"""Names of the numbers that identify data."""


def _in_words(name: str, value: Any) -> str:
    """A part of the identity of a fit, for a message."""
    if name == "entries of X" and isinstance(value, list) and len(value) == len(_OF_ENTRIES):
        return f"[{', '.join(f'{what} {number}' for what, number in zip(_OF_ENTRIES, value, strict=True))}]"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."


def replace_file(path: Path, write: Callable[[Any], None]) -> None:
    """Write a file that replaces another once it is complete on the disk; if that fails, the other stays."""
    try:
        with written_whole(path) as unfinished, open(unfinished, "wb") as file:
            write(file)
    except OSError as error:
        raise DataError(f"The checkpoint {error}") from error


def _locked(path: Path) -> Callable[[], None]:
    """Lock a file, or refuse; return a function that unlocks it. The system unlocks it when the process ends."""
    try:
        import fcntl
    except ImportError:  # on Windows
        return lambda: None
    name = path.with_name(f"{short_name(path)}.lock")
    while True:
        try:
            flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK  # others may have put a link or a pipe there
            file = open(os.open(name, flags, 0o666), "rb")  # noqa: SIM115
        except OSError as error:
            why = (
                f"{name}: {error.strerror}." if path.parent.is_dir() else f"the folder {path.parent} does not exist. Make it first."
            )
            raise DataError(f"The checkpoint {path} cannot be written: {why}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise DataError(
                f"{path} is the checkpoint of another fit that is going on. Clones and parallel searches need a folder, in which "
                f"each fit has a file of its own: checkpoint={str(path.with_suffix('')) + '/'!r}."
            ) from None
        except OSError:  # a file system without locks
            break
        if name.exists() and os.path.samestat(os.fstat(file.fileno()), os.stat(name)):
            break
        file.close()  # its last owner has removed it, and others would lock another file

    def release() -> None:
        with suppress(OSError):  # of a folder that may not be written any more; it is let go of when it is closed
            name.unlink(missing_ok=True)
        file.close()

    return release
