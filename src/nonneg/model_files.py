"""Estimators in files: arrays and JSON in a zip archive, never a pickle, so that a file from anywhere can be opened.

A file holds ``model.json``, which says what the estimator is, and its arrays, numbered, in NumPy's form. Objects are written as the
arguments they are made from, and made again by their own constructors; only classes of this library are. Every field has a type, a
size and a range, which are checked (`model_fields`). Files of older versions are read; those of newer ones are refused.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from .annotations import check_fields, shown
from .constraints import Constraint
from .data.memory import refuse_too_large
from .data.sources.base import altered_files_refused
from .divergences import Objective, WeightedSum
from .exceptions import FileError
from .files import Layout, written_whole
from .files.archives import opened, read_array
from .model import Model
from .model_fields import OUTPUT, check_about, check_attributes
from .random_states import make_generator, make_random_state
from .solve.solution import Explanation, History, Record, Status, Step, Took
from .solve.solvers import Solver
from .version import __version__

VERSION = 1
"""Of the form of the files; to be raised whenever what older versions of the library read would be read wrongly."""
FORMAT = "nonneg model"
_JSON = "model.json"
_TAG = "of"
_OF_JSON = 32
"""How many times the size of JSON its values take in memory, at most: an empty list has two characters, and 64 bytes."""


class Stored(NamedTuple):
    """What a model file holds."""

    estimator: Any
    about: dict[str, Any]
    """What else is known: where the data came from, names of samples, how to draw a component."""
    written_by: str
    """The version of the library."""


def write_model(estimator: Any, path: Any, about: Mapping[str, Any] | None = None) -> None:
    """Write an estimator to a file, whole or not at all.

    Parameters
    ----------
    estimator : estimator of this library, fitted or not
    path : path
        What there is is overwritten; files of models usually end in ".nonneg".
    about : dict, optional
        Arrays, numbers and text to keep with it.
    """
    arrays: list[np.ndarray] = []
    content = {
        "format": FORMAT,
        "version": VERSION,
        "nonneg": __version__,
        "estimator": _Writer(arrays).written(estimator, type(estimator).__name__),
        "about": _Writer(arrays).written(dict(about or {}), "about"),
    }
    with (
        written_whole(path) as unfinished,
        zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        archive.writestr(_JSON, json.dumps(content, allow_nan=False))
        for number, array in enumerate(arrays):
            with archive.open(_name(number), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def read_model(path: Any, classes: Mapping[str, type]) -> Stored:
    """An estimator that was written to a file.

    Parameters
    ----------
    path : path
    classes : dict
        Estimators by name, as `known_classes` gives them.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    label = str(path)
    if not zipfile.is_zipfile(path):
        raise FileError(f"{label} is not a model that nonneg has saved, or not all of it.")
    with opened(path, label) as archive, altered_files_refused(label, "a saved model"):
        if _JSON not in archive.namelist():
            raise FileError(f"{label} is not a model that nonneg has saved: it has no {_JSON}.")
        refuse_too_large(_OF_JSON * archive.getinfo(_JSON).file_size, f"{label}, {_JSON}")
        content = json.loads(archive.read(_JSON), parse_constant=_refuse_constant)
        if not isinstance(content, dict) or content.get("format") != FORMAT or type(content.get("version")) is not int:
            raise FileError(f"{label} is not a model that nonneg has saved.")
        if content["version"] > VERSION:
            raise FileError(
                f"{label} was written by a newer nonneg, {content.get('nonneg')}, in version {content['version']} of its form; "
                f"this one reads versions up to {VERSION}. Update nonneg to open it."
            )
        reader = _Reader(archive, label, classes)
        try:
            estimator, about = reader.read(content["estimator"]), reader.read(content["about"])
            if not isinstance(estimator, BaseEstimator):
                raise FileError(f"it holds {shown(estimator)} in place of an estimator")
            check_about(about)
        except FileError as error:
            raise error if str(error).startswith(label) else FileError(f"{label} was altered: {error}") from error
        return Stored(estimator, about, str(content.get("nonneg")))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def known_classes(*bases: type) -> dict[str, type]:
    """The classes that a file may name: subclasses of the bases and what these say they are made of, and parts of models."""
    found: dict[str, type] = {}
    waiting: list[type] = [*bases, Objective, Constraint, Solver, Record, Explanation, Step, Took, Layout]
    while waiting:
        cls = waiting.pop()
        made_of = cls.__dict__.get("_made_of", ())
        waiting += [*cls.__subclasses__(), *made_of]
        if cls.__module__.partition(".")[0] == __name__.partition(".")[0]:
            found[cls.__name__] = cls
    return found


def _name(number: int) -> str:
    return f"arrays/{number}.npy"


# ---- writing


@dataclass
class _Writer:
    """Values as what JSON can hold, with their arrays put aside."""

    arrays: list[np.ndarray] = field(default_factory=list)

    def written(self, value: Any, where: str) -> Any:
        """A value as JSON; `where` is what to call it in an error."""
        if value is None or isinstance(value, bool) or type(value) in (int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {_TAG: "float", "value": str(value)}
        for kind, write in _WRITERS:
            if isinstance(value, kind):
                return write(self, value, where)
        if type(value).__module__.partition(".")[0] == __name__.partition(".")[0] and (
            is_dataclass(value) or hasattr(value, "_fields")
        ):
            names = [field.name for field in fields(value) if field.init] if is_dataclass(value) else value._fields
            return {
                _TAG: type(value).__name__,
                "fields": {name: self.written(getattr(value, name), f"{where}.{name}") for name in names},
            }
        if isinstance(value, tuple):
            return {_TAG: "tuple", "items": self._items(value, where)}
        raise TypeError(
            f"{where} is {value!r}, of type {type(value).__name__}: a model file holds numbers, text and arrays, and nothing "
            "that would have to run when it is opened. Use pickle or joblib, among those you trust."
        )

    def array(self, value: Any, where: str) -> Any:
        if value.dtype.kind == "O":
            return {_TAG: "objects", "shape": list(value.shape), "items": self._items(value.ravel().tolist(), where)}
        if value.dtype.kind not in "fiubcUS":
            raise TypeError(f"{where} is an array of {value.dtype}; a model file holds arrays of numbers and text.")
        self.arrays.append(np.asarray(value))
        return {_TAG: "number" if isinstance(value, np.generic) else "array", "number": len(self.arrays) - 1}

    def sparse(self, value: Any, where: str) -> Any:
        form = value.format if value.format in ("csr", "csc") else "csr"
        held = value.asformat(form)
        parts = {name: self.array(getattr(held, name), where) for name in ("data", "indices", "indptr")}
        is_array = isinstance(value, sparse.sparray)
        return {_TAG: "sparse", "form": form, "shape": list(held.shape), "is_array": is_array, **parts}

    def model(self, value: Model, where: str) -> Any:
        given = value.signed.difference(value.learned, {value.data} if value.divergence.signed else ())
        return {
            _TAG: "Model",
            "form": value.form.text,
            "divergence": self.written(value.divergence, where),
            "constraints": self.written(value.constraints, where),
            "data": value.data,
            "signed": sorted(given),
            **({"split": value.split} if value.split != "joint" else {}),
        }

    def estimator(self, value: Any, where: str) -> Any:
        parameters = value.get_params(deep=False)
        left_out = (*parameters, *getattr(type(value), "_left_out", ()))
        attributes = {
            name: item
            for name, item in vars(value).items()
            if name not in left_out and (name == OUTPUT or not name.startswith("_skl"))
        }
        return {
            _TAG: type(value).__name__,
            "parameters": {name: self.written(item, f"{where}.{name}") for name, item in parameters.items()},
            "attributes": {name: self.written(item, f"{where}.{name}") for name, item in attributes.items()},
        }

    def generator(self, value: Any, where: str) -> Any:
        is_new = isinstance(value, np.random.Generator)
        state = value.bit_generator.state if is_new else value.get_state(legacy=False)
        return {_TAG: "Generator" if is_new else "RandomState", "state": self.written(state, where)}

    def _items(self, values: Any, where: str) -> list[Any]:
        return [self.written(item, f"{where}[{number}]") for number, item in enumerate(values)]

    def mapping(self, value: Mapping[Any, Any], where: str) -> Any:
        items = [[self.written(key, where), self.written(item, f"{where}[{key!r}]")] for key, item in value.items()]
        return {_TAG: "dict", "items": items}

    def plain(self, value: Any, where: str) -> Any:
        return {_TAG: "list", "items": self._items(value, where)}


_WRITERS: tuple[tuple[Any, Any], ...] = (
    (Status, lambda _, value, __: {_TAG: "Status", "value": value.value}),
    (np.ndarray | np.generic, _Writer.array),
    (sparse.spmatrix | sparse.sparray, _Writer.sparse),
    (Model, _Writer.model),
    (BaseEstimator, _Writer.estimator),
    (np.random.Generator | np.random.RandomState, _Writer.generator),
    (History, lambda self, value, where: {_TAG: "History", "records": self._items(value, where)}),
    (WeightedSum, lambda self, value, where: {_TAG: "WeightedSum", "terms": self._items(value.terms, where)}),
    (Mapping, _Writer.mapping),
    (set | frozenset, lambda self, value, where: {_TAG: type(value).__name__, "items": self._items(sorted(value), where)}),
    (list, _Writer.plain),
)
"""How values of some types are written; the first that fits."""


# ---- reading


@dataclass
class _Reader:
    """Values from what JSON holds, and the arrays beside it."""

    archive: zipfile.ZipFile
    label: str
    classes: Mapping[str, type]
    used: set[int] = field(default_factory=set)
    """Arrays that were read. Each is stored once for each use; one that is read again and again would fill the memory."""

    def read(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        kind = value[_TAG]
        read = getattr(self, f"_read_{kind}", None) if kind in _READABLE else None
        if read is not None:
            return read(value)
        cls = self.classes.get(kind)
        if cls is None:
            raise FileError(f"{self.label} has a {kind!r} in it, which this version of nonneg does not know.")
        if issubclass(cls, BaseEstimator):
            return self._read_estimator(cls, value)
        given = {name: self.read(item) for name, item in value["fields"].items()}
        check_fields(cls, given)
        return cls(**given)

    def _read_estimator(self, cls: type, value: Mapping[str, Any]) -> Any:
        found = cls(**{name: self.read(item) for name, item in value["parameters"].items()})
        attributes = {name: self.read(item) for name, item in value["attributes"].items()}
        check_attributes(cls, attributes)
        vars(found).update(attributes)
        return found

    def _array(self, value: Mapping[str, Any]) -> np.ndarray:
        number = value["number"]
        if type(number) is not int or number in self.used:
            raise FileError(f"array {shown(number)} is read twice, or no number")
        self.used.add(number)
        array = read_array(self.archive, _name(number), self.label)
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    _read_array = _array

    def _read_number(self, value: Mapping[str, Any]) -> Any:
        return self._array(value)[()]

    def _read_float(self, value: Mapping[str, Any]) -> float:
        return float(value["value"])

    def _read_objects(self, value: Mapping[str, Any]) -> np.ndarray:
        items = self._items(value)
        found = np.empty(len(items), dtype=object)
        found[:] = items
        return found.reshape([int(size) for size in value["shape"]])

    def _read_sparse(self, value: Mapping[str, Any]) -> Any:
        name = f"{value['form']}_{'array' if value['is_array'] else 'matrix'}"
        form = {
            "csr_array": sparse.csr_array,
            "csc_array": sparse.csc_array,
            "csr_matrix": sparse.csr_matrix,
            "csc_matrix": sparse.csc_matrix,
        }
        parts = tuple(self._array(value[part]) for part in ("data", "indices", "indptr"))
        found = form[name](parts, shape=tuple(value["shape"]))
        found.check_format(full_check=True)
        return found

    def _read_Status(self, value: Mapping[str, Any]) -> Status:
        return Status(value["value"])

    def _read_History(self, value: Mapping[str, Any]) -> History:
        records = [self.read(record) for record in value["records"]]
        if not all(type(one) is Record and one.violation.keys() == records[0].violation.keys() for one in records) or not all(
            one.exponent.keys() == records[0].exponent.keys() for one in records
        ):
            raise FileError("a history is not one of records of the same factors")
        return History(records)

    def _read_WeightedSum(self, value: Mapping[str, Any]) -> WeightedSum:
        return WeightedSum(*(self.read(term) for term in value["terms"]))

    def _read_Model(self, value: Mapping[str, Any]) -> Model:
        divergence, constraints = self.read(value["divergence"]), self.read(value["constraints"])
        split = value.get("split", "joint")
        return Model(value["form"], divergence, constraints, data=value["data"], signed=value["signed"], split=split)

    def _read_Generator(self, value: Mapping[str, Any]) -> np.random.Generator:
        return make_generator(self.read(value["state"]))

    def _read_RandomState(self, value: Mapping[str, Any]) -> np.random.RandomState:
        return make_random_state(self.read(value["state"]))

    def _items(self, value: Mapping[str, Any]) -> list[Any]:
        return [self.read(item) for item in value["items"]]

    _read_list = _items

    def _read_tuple(self, value: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(self._items(value))

    def _read_set(self, value: Mapping[str, Any]) -> set[Any]:
        return set(self._items(value))

    def _read_frozenset(self, value: Mapping[str, Any]) -> frozenset[Any]:
        return frozenset(self._items(value))

    def _read_dict(self, value: Mapping[str, Any]) -> dict[Any, Any]:
        return {self.read(key): self.read(item) for key, item in value["items"]}


_READABLE = frozenset(name.removeprefix("_read_") for name in vars(_Reader) if name.startswith("_read_")) - {"estimator"}
