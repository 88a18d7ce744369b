"""Runs written down and read again: arrays and numbers, never pickled objects.

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

import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..algebra.expression import Letter, Word
from ..annotations import check_fields, fits, shown
from ..data.weighted import LowRank
from ..exceptions import DataError
from ..files.archives import opened, read_array
from ..kernels.namespace import is_array, to_host
from ..planning import LOGARITHM
from .filling import with_filling
from .point import Point
from .problem import Problem
from .run import Run
from .solution import History, Record, Status
from .solver import State
from .solvers.coordinate import Draws
from .stopping import Stopping, Watch
from .surrogate import Rounds

VERSION = 1
_TAG = "of"


def write(run: Run, file: str | Path | BinaryIO) -> None:
    """Write a run to a file, or to a stream of bytes, in NumPy's format for several arrays."""
    write_content({"model": _named(run.point.problem), "run": run}, file)


def _named(problem: Problem) -> str:
    """What a problem is about."""
    model = problem.model
    return f"{model.form.text} with {model.divergence!r} and {model.constraints!r}"


def read(file: str | Path | BinaryIO, problem: Problem) -> Run:
    """A run that was written down, of the same problem, to go on with."""
    stored = read_content(file)
    if stored.content.get("model") != _named(problem):
        raise DataError(f"{file} is of another problem: {stored.content.get('model')}; here it is {_named(problem)}.")
    run: Run = stored.rebuilt("run", problem)
    return run


def write_content(content: Mapping[str, Any], file: str | Path | BinaryIO) -> None:
    """Write runs, and what else is made of arrays and numbers, by name."""
    arrays: list[np.ndarray] = []
    flat = {"version": VERSION, **{name: _flattened(value, arrays) for name, value in content.items()}}
    named = {f"array_{number}": array for number, array in enumerate(arrays)}
    with nullcontext(file) if hasattr(file, "write") else open(file, "wb") as stream:  # by its name NumPy would change it
        np.savez(stream, content=np.frombuffer(json.dumps(flat).encode(), dtype=np.uint8), **named)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Stored:
    """What a file holds, by name; to be rebuilt for a problem."""

    content: dict[str, Any]
    arrays: dict[str, np.ndarray]
    name: str
    """Of the file."""

    def rebuilt(self, name: str, problem: Problem | None = None) -> Any:
        """One of the values; points are those of the problem."""
        with altered_runs_refused(self.name):
            return _rebuilt(self.content.get(name), self.arrays, problem)


@contextmanager
def altered_runs_refused(name: str) -> Iterator[None]:
    """Turn whatever a stored run leads to that is not as it should be into a `DataError` that names the file."""
    try:
        yield
    except Exception as error:
        if " is not a run that was written down" in str(error):
            raise
        said = str(error).removeprefix(name).strip().rstrip(".") or type(error).__name__
        raise DataError(
            f"{name} is not a run that was written down, or not all of it: {said}. Delete it, or give another path."
        ) from error


def read_content(file: str | Path | BinaryIO, name: str = "") -> Stored:
    """Read what was written; streams have no name of their own."""
    name = name or str(file)
    with altered_runs_refused(name), nullcontext(file) if hasattr(file, "read") else open(file, "rb") as stream:
        if not zipfile.is_zipfile(stream):
            raise DataError("it is no .npz file")
        with opened(stream, name) as archive:
            found = {each.removesuffix(".npy"): read_array(archive, each, name) for each in archive.namelist()}
        arrays = {each: array.astype(array.dtype.newbyteorder("="), copy=False) for each, array in found.items()}
        content = json.loads(bytes(arrays.pop("content")).decode())
        if not isinstance(content, dict):
            raise DataError(f"its content is {shown(content)}")
    if content.get("version") != VERSION:
        raise DataError(f"{name} was written by another version of nonneg ({content.get('version')}); this one reads {VERSION}.")
    return Stored(content, arrays, name)


def check_factors(factors: Any, problem: Problem, names: Any) -> None:
    """Refuse factors that are not those of a problem: of other shapes, not finite, or negative where none may be."""
    if not isinstance(factors, Mapping) or set(factors) != set(names):
        raise DataError(f"its factors must be {', '.join(names)}; got {shown(factors)}")
    for name, factor in factors.items():
        array = np.asarray(to_host(factor)) if is_array(factor) else factor
        if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or array.shape != tuple(problem.shapes[name]):
            raise DataError(f"its {name} must be an array of shape {tuple(problem.shapes[name])}; got {shown(array)}")
        if not np.isfinite(array).all() or (name not in problem.model.signed and (array < 0).any()):
            raise DataError(f"its {name} has entries that are negative or not finite")


def read_filling(found: Any, problem: Problem) -> Problem:
    """The problem with what is missing in its data filled, as it was stored."""
    if found is None:
        return problem
    shapes = [np.shape(part) for part in found]
    if len(shapes) != 2 or any(len(shape) != 2 for shape in shapes) or (shapes[0][0], shapes[1][1]) != problem.data.shape:
        raise DataError(f"its filling must be two factors of a matrix of shape {problem.data.shape}; got {shapes}")
    return with_filling(problem, LowRank(*found))


def _check_run(run: Run) -> None:
    """Refuse a run whose state is not that of its problem; what is stored of each factor has its shape."""
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


def _flattened(value: Any, arrays: list[np.ndarray]) -> Any:
    """A value as what JSON can hold, with its arrays put aside."""
    if isinstance(value, Enum):
        return {_TAG: "Status", "value": value.value}
    if value is None or isinstance(value, bool | str) or type(value) in (int, float):
        return value
    if isinstance(value, Point):
        known = [[list(map(list, word)), _flattened(product, arrays)] for word, product in value.known.items()]
        filling = None if value.problem.filling is None else _flattened(tuple(value.problem.filling), arrays)
        factors = _flattened(value.factors, arrays)
        return {_TAG: "Point", "factors": factors, "known": known, "objective": value.measured, "filling": filling}
    if isinstance(value, History):
        return {_TAG: "History", "records": [_flattened(record, arrays) for record in value]}
    if is_dataclass(value):
        inside = {field.name: _flattened(getattr(value, field.name), arrays) for field in fields(value)}
        return {_TAG: type(value).__name__, **inside}
    if isinstance(value, Mapping):
        return {_TAG: "dict", "items": [[key, _flattened(item, arrays)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return {_TAG: type(value).__name__, "items": [_flattened(item, arrays) for item in value]}
    if isinstance(value, np.generic):
        return value.item()
    if is_array(value):
        arrays.append(np.asarray(to_host(value)))
        return {_TAG: "array", "number": len(arrays) - 1, "is_host": isinstance(value, np.ndarray)}
    raise TypeError(f"A run holds arrays and numbers; got {type(value).__name__}.")


def _rebuilt(value: Any, arrays: Mapping[str, np.ndarray], problem: Problem | None) -> Any:
    if not isinstance(value, dict):
        return tuple(value) if isinstance(value, list) else value
    kind = value[_TAG]

    def inside(item: Any) -> Any:
        return _rebuilt(item, arrays, problem)

    match kind:
        case "Status":
            return Status(value["value"])
        case "array":
            return _placed(arrays[f"array_{value['number']}"], problem)
        case "Point":
            assert problem is not None
            known = {Word(Letter(*letter) for letter in word): inside(product) for word, product in value["known"]}
            own = read_filling(inside(value.get("filling")), problem)
            return _checked_point(own, inside(value["factors"]), known, value["objective"])
        case "History":
            return History([inside(record) for record in value["records"]])
        case "dict":
            return {key: inside(item) for key, item in value["items"]}
        case "list" | "tuple":
            items = [inside(item) for item in value["items"]]
            return items if kind == "list" else tuple(items)
        case _:
            cls = _classes()[kind]
            given = {name: inside(item) for name, item in value.items() if name != _TAG}
            check_fields(cls, given)
            found = cls(**given)
            if isinstance(found, Run):
                _check_run(found)
            return found


def _placed(array: np.ndarray, problem: Problem | None) -> Any:
    """An array on the device of a problem."""
    namespace = None if problem is None else problem.namespace
    return array if namespace is None or namespace.is_host else namespace.xp.asarray(array, device=namespace.device)


def _checked_point(problem: Problem, factors: Any, known: dict[Word, Any], objective: Any) -> Point:
    check_factors(factors, problem, problem.learned)
    for word, product in known.items():
        if word != LOGARITHM and np.shape(product) != tuple(problem.planner.costs.shape(word)):
            raise DataError(f"its {word} must have shape {problem.planner.costs.shape(word)}; got {shown(product)}")
    point = Point(problem, factors, known)
    point.measured = None if objective is None else tuple(objective)
    if not fits(point.measured, tuple[float, float] | None):
        raise DataError(f"its objective is {shown(point.measured)}")
    return point


def _classes() -> dict[str, Any]:
    """What a run is made of: its own classes, and the states of all solvers with what is inside them."""
    found: dict[str, Any] = {cls.__name__: cls for cls in (Run, Record, Watch, Stopping, State, Rounds)}
    waiting = [State]
    while waiting:
        for state in waiting.pop().__subclasses__():
            waiting.append(state)
            found[state.__name__] = state
            found |= {cls.__name__: cls for cls in state.made_of}
    return found
