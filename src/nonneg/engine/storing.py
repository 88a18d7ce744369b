"""Runs written down and read again: arrays and numbers, never pickled objects.

>>> import io, numpy as np
>>> from nonneg import Model
>>> from nonneg.engine.binding import bind
>>> from nonneg.engine.run import begin, solve
>>> from nonneg.engine.stopping import Stopping
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
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..algebra.expression import Letter, Word
from ..data.namespace import is_array, to_host
from ..data.weighted import LowRank
from ..exceptions import DataError
from .filling import with_filling
from .point import Point
from .problem import Problem
from .run import Run, Stage
from .solution import History, Record, Status
from .solver import State
from .stopping import Stopping, Watch

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
    for name, factor in run.point.factors.items():
        if tuple(factor.shape) != tuple(problem.shapes.get(name, ())):
            here = problem.shapes.get(name)
            raise DataError(f"{file} is of another problem: its {name} is {tuple(factor.shape)}, here it is {here}.")
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

    def rebuilt(self, name: str, problem: Problem | None = None) -> Any:
        """One of the values; points are those of the problem."""
        return _rebuilt(self.content.get(name), self.arrays, problem)


def read_content(file: str | Path | BinaryIO) -> Stored:
    """What was written, or an error where that is not what it is."""
    try:
        with nullcontext(file) if hasattr(file, "read") else open(file, "rb") as stream:
            stored = np.load(stream, allow_pickle=False)
            content = json.loads(bytes(stored["content"]).decode())
            arrays = {name: stored[name] for name in stored.files if name != "content"}
    except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile) as error:
        why = "it is no .npz file" if "pickle" in str(error) else str(error)  # NumPy's advice would be to trust it
        raise DataError(
            f"{file} is not a run that was written down, or not all of it: {why}. Delete it, or give another path."
        ) from error
    if content.get("version") != VERSION:
        raise DataError(f"{file} was written by another version of nonneg ({content.get('version')}); this one reads {VERSION}.")
    return Stored(content, arrays)


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
            array, namespace = arrays[f"array_{value['number']}"], None if problem is None else problem.namespace
            return array if namespace is None or namespace.is_host else namespace.xp.asarray(array, device=namespace.device)
        case "Point":
            assert problem is not None
            known = {Word(Letter(*letter) for letter in word): inside(product) for word, product in value["known"]}
            filling = inside(value.get("filling"))
            own = problem if filling is None else with_filling(problem, LowRank(*filling))
            point = Point(own, inside(value["factors"]), known)
            point.measured = None if value["objective"] is None else tuple(value["objective"])
            return point
        case "History":
            return History([inside(record) for record in value["records"]])
        case "dict":
            return {key: inside(item) for key, item in value["items"]}
        case "list" | "tuple":
            items = [inside(item) for item in value["items"]]
            return items if kind == "list" else tuple(items)
        case _:
            cls = _classes()[kind]
            return cls(**{name: inside(item) for name, item in value.items() if name != _TAG})


def _classes() -> dict[str, Any]:
    """What a run is made of: its own classes, and the states of all solvers with what is inside them."""
    found: dict[str, Any] = {cls.__name__: cls for cls in (Run, Record, Watch, Stopping, State, Stage)}
    waiting = [State]
    while waiting:
        for state in waiting.pop().__subclasses__():
            waiting.append(state)
            found[state.__name__] = state
            found |= {cls.__name__: cls for cls in state.made_of}
    return found
