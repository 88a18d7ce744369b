"""Runs in archives: factors, the state of a solver, the history, and known products of a point.

>>> import io, numpy as np
>>> from nonneg import Model
>>> from nonneg.solve.problem import bind
>>> from nonneg.solve.run import begin, solve
>>> from nonneg.solve.stopping import Stopping
>>> from nonneg.solvers import Multiplicative
>>> problem = bind(Model("W H"), np.ones((4, 3)), 2)
>>> factors = {"W": np.full((4, 2), 0.5), "H": np.arange(1.0, 7.0).reshape(2, 3)}
>>> run = solve(begin(problem, factors, Multiplicative(), Stopping()), Multiplicative(), Stopping(), pause_at=3)
>>> file = io.BytesIO()
>>> write(run, file)
>>> read(io.BytesIO(file.getvalue()), problem).n_iter
3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..algebra.expression import Letter, Word
from ..data.weighted import LowRank
from ..exceptions import DataError, FileError
from ..io.annotations import fits, shown
from ..io.archive import Archive, Form, Kind, Reader, Writer, read_archive, write_archive
from ..kernels.namespace import is_array, to_host
from ..planning import LOGARITHM
from .filling import with_filling
from .point import Point
from .problem import Problem
from .run import Run, State
from .solution import History, Record, Status
from .solvers.coordinate import Draws
from .stopping import Stopping, Watch
from .surrogate import Rounds


def write(run: Run, file: str | Path | BinaryIO) -> None:
    """Write a run to a file or stream."""
    write_content({"model": _named(run.point.problem), "run": run}, file)


def _named(problem: Problem) -> str:
    """Name a problem."""
    model = problem.model
    return f"{model.form.text} with {model.divergence!r} and {model.constraints!r}"


def read(file: str | Path | BinaryIO, problem: Problem) -> Run:
    """Read a run of the same problem, to be resumed."""
    stored = read_content(file)
    if stored.content.get("model") != _named(problem):
        raise DataError(f"{file} is of another problem: {stored.content.get('model')}; here it is {_named(problem)}.")
    run: Run = rebuilt(stored, "run", problem)
    return run


def write_content(content: Mapping[str, Any], file: str | Path | BinaryIO) -> None:
    """Write runs, and other values of arrays and numbers, by name."""
    write_archive(file, FORM, content)


def read_content(file: str | Path | BinaryIO, name: str = "") -> Archive:
    """Read an archive of runs; streams have no name of their own."""
    name = name or str(file)
    with altered_runs_refused(name):
        return read_archive(file, FORM, name, _classes())


def rebuilt(stored: Archive, name: str, problem: Problem | None = None) -> Any:
    """Make one of the values; points are of the problem."""
    with altered_runs_refused(stored.label):
        return stored.read(name, problem)


@contextmanager
def altered_runs_refused(name: str) -> Iterator[None]:
    """Turn errors of a stored run into a `DataError` that names the file."""
    try:
        yield
    except Exception as error:
        if " is not a run that was written down" in str(error):
            raise
        said = str(error).removeprefix(name).strip().rstrip(".") or type(error).__name__
        raise DataError(
            f"{name} is not a run that was written down, or not all of it: {said}. Delete it, or give another path."
        ) from error


def check_factors(factors: Any, problem: Problem, names: Any) -> None:
    """Refuse factors that are not those of a problem: of other shapes, not finite, or negative if none may be."""
    if not isinstance(factors, Mapping) or set(factors) != set(names):
        raise DataError(f"its factors must be {', '.join(names)}; got {shown(factors)}")
    for name, factor in factors.items():
        array = np.asarray(to_host(factor)) if is_array(factor) else factor
        if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or array.shape != tuple(problem.shapes[name]):
            raise DataError(f"its {name} must be an array of shape {tuple(problem.shapes[name])}; got {shown(array)}")
        if not np.isfinite(array).all() or (name not in problem.model.signed and (array < 0).any()):
            raise DataError(f"its {name} has entries that are negative or not finite")


def read_filling(found: Any, problem: Problem) -> Problem:
    """The problem with missing entries filled by stored values."""
    if found is None:
        return problem
    shapes = [np.shape(part) for part in found]
    if len(shapes) != 2 or any(len(shape) != 2 for shape in shapes) or (shapes[0][0], shapes[1][1]) != problem.data.shape:
        raise DataError(f"its filling must be two factors of a matrix of shape {problem.data.shape}; got {shapes}")
    return with_filling(problem, LowRank(*found))


def _check_run(run: Run) -> None:
    """Refuse a run whose state does not fit its problem: arrays of a factor have its shape."""
    shapes = {name: tuple(run.point.problem.shapes[name]) for name in run.point.problem.learned}
    entries = sum(rows * columns for rows, columns in shapes.values())
    for field, value in vars(run.state).items():
        if isinstance(value, Draws):
            value.check()
        for key, item in value.items() if isinstance(value, dict) else ():
            if key not in shapes or (is_array(item) and tuple(item.shape) != shapes[key]):
                raise DataError(f"its {field} of {key!r} does not fit the problem")
        parts = [part for one in value for part in vars(one).values()] if isinstance(value, list) else [value]
        if any(is_array(part) and tuple(part.shape) not in ((), (entries,)) for part in parts):
            raise DataError(f"its {field} must have {entries} entries")
    if run.n_iter < 0 or (not run.history and run.n_iter):
        raise DataError(f"it is at iteration {run.n_iter}")


def _plain(value: Any) -> Any:
    """A number or array of any library as one of Python or NumPy."""
    if isinstance(value, np.generic):
        return value.item()
    return np.asarray(to_host(value)) if is_array(value) else value


def _read_array(reader: Reader, value: Mapping[str, Any]) -> Any:
    """Read an array and put it on the device of the problem."""
    array, problem = reader.array(value), reader.context
    is_host = problem is None or problem.namespace.is_host
    return array if is_host else problem.namespace.xp.asarray(array, device=problem.namespace.device)


def _write_point(writer: Writer, point: Point, where: str) -> dict[str, Any]:
    filling = point.problem.filling
    return {
        "factors": writer.write(point.factors, where),
        "known": [[list(map(list, word)), writer.write(product, where)] for word, product in point.known.items()],
        "objective": writer.write(point.measured, where),
        "filling": None if filling is None else writer.write(tuple(filling), where),
    }


def _read_point(reader: Reader, value: Mapping[str, Any]) -> Point:
    known = {Word(Letter(*letter) for letter in word): reader.read(product) for word, product in value["known"]}
    problem, factors = read_filling(reader.read(value["filling"]), reader.context), reader.read(value["factors"])
    check_factors(factors, problem, problem.learned)
    for word, product in known.items():
        if word != LOGARITHM and np.shape(product) != tuple(problem.planner.costs.shape(word)):
            raise DataError(f"its {word} must have shape {problem.planner.costs.shape(word)}; got {shown(product)}")
    point = Point(problem, factors, known)
    point.measured = reader.read(value["objective"])
    if not fits(point.measured, tuple[float, float] | None):
        raise DataError(f"its objective is {shown(point.measured)}")
    return point


def _make(reader: Reader, cls: type, value: Mapping[str, Any]) -> Any:
    found = reader.make(cls, value)
    if isinstance(found, Run):
        _check_run(found)
    return found


def _classes() -> dict[str, Any]:
    """List the classes of a run, and the states of all solvers with the classes in them."""
    found: dict[str, Any] = {cls.__name__: cls for cls in (Run, Record, Status, Watch, Stopping, State, Rounds)}
    waiting = [State]
    while waiting:
        for state in waiting.pop().__subclasses__():
            waiting.append(state)
            found[state.__name__] = state
            found |= {cls.__name__: cls for cls in state.made_of}
    return found


def _read_history(reader: Reader, value: Mapping[str, Any]) -> History:
    records = [reader.read(record) for record in value["records"]]
    if not all(type(one) is Record and one.violation.keys() == records[0].violation.keys() for one in records) or not all(
        one.exponent.keys() == records[0].exponent.keys() for one in records
    ):
        raise FileError("a history is not one of records of the same factors")
    return History(records)


HISTORY = Kind("History", History, lambda writer, value, where: {"records": writer.items(value, where)}, _read_history)
FORM = Form(
    "nonneg run",
    2,
    "a run that was written down",
    "run.json",
    (
        Kind("array", np.ndarray, Writer.array, _read_array),
        Kind("Point", Point, _write_point, _read_point),
        HISTORY,
    ),
    plain=_plain,
    make=_make,
    older="content.npy",
    remedy=" Delete it, or give another path.",
)
