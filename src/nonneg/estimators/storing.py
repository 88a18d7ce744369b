"""Estimators in archives: parameters and attributes, each of a type, a size and a range that are checked (`model_fields`)."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from ..constraints import Constraint
from ..divergences import Objective, WeightedSum
from ..exceptions import FileError
from ..io import Layout, written_whole
from ..io.annotations import shown
from ..io.archive import Form, Kind, Reader, Writer, read_archive, write_archive
from ..io.base import altered_files_refused
from ..io.random_states import make_generator, make_random_state
from ..model import Model
from ..solve.solution import Explanation, Record, Status, Step, Took
from ..solve.solvers import Solver
from ..solve.storing import HISTORY
from .fields import OUTPUT, check_about, check_attributes

VERSION = 1
"""Of the form of the files; raised whenever this version would misread older files."""


class Stored(NamedTuple):
    """Content of a model file."""

    estimator: Any
    about: dict[str, Any]
    """Beside the estimator: source of the data, names of samples, layout of components."""
    written_by: str
    """The version of the library."""


def write_model(estimator: Any, path: Any, about: Mapping[str, Any] | None = None) -> None:
    """Write an estimator to a file, whole or not at all.

    Parameters
    ----------
    estimator : estimator of this library, fitted or not
    path : path
        A file of that name is overwritten; files of models usually end in ".nonneg".
    about : dict, optional
        Arrays, numbers and text to keep with it.
    """
    with written_whole(path) as unfinished:
        write_archive(unfinished, FORM, {"estimator": estimator, "about": dict(about or {})})


def read_model(path: Any, classes: Mapping[str, type]) -> Stored:
    """Read an estimator from a file.

    Parameters
    ----------
    path : path
    classes : dict
        Classes by name, as `known_classes` gives them.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if not path.is_file():
        what = "a folder" if path.is_dir() else "a pipe or a device"
        raise FileError(f"{path} is {what}; give a file that `save` or the command line has written.")
    label = str(path)
    with altered_files_refused(label, "a saved model"):
        archive = read_archive(path, FORM, label, classes)
        try:
            estimator, about = archive.read("estimator"), archive.read("about")
            if not isinstance(estimator, BaseEstimator):
                raise FileError(f"it holds {shown(estimator)} in place of an estimator")
            check_about(about)
        except FileError as error:
            raise error if str(error).startswith(label) else FileError(f"{label} was altered: {error}") from error
    return Stored(estimator, about, archive.written_by)


def known_classes(*bases: type) -> dict[str, type]:
    """List the classes that a file may name: subclasses of the bases, the classes of their attributes, and parts of models."""
    found: dict[str, type] = {Status.__name__: Status}
    waiting: list[type] = [*bases, Objective, Constraint, Solver, Record, Explanation, Step, Took, Layout]
    while waiting:
        cls = waiting.pop()
        made_of = cls.__dict__.get("_made_of", ())
        waiting += [*cls.__subclasses__(), *made_of]
        if cls.__module__.partition(".")[0] == __name__.partition(".")[0]:
            found[cls.__name__] = cls
    return found


# ---- types of their own


def _write_estimator(writer: Writer, value: Any, where: str) -> dict[str, Any]:
    parameters = value.get_params(deep=False)
    left_out = (*parameters, *getattr(type(value), "_left_out", ()))
    attributes = {
        name: item for name, item in vars(value).items() if name not in left_out and (name == OUTPUT or not name.startswith("_skl"))
    }
    parts = {"parameters": parameters, "attributes": attributes}
    written = {
        part: {name: writer.write(item, f"{type(value).__name__}.{name}") for name, item in of.items()}
        for part, of in parts.items()
    }
    return {"of": type(value).__name__, **written}


def _make(reader: Reader, cls: type, value: Mapping[str, Any]) -> Any:
    if not issubclass(cls, BaseEstimator):
        return reader.make(cls, value)
    found = cls(**reader.fields(value["parameters"]))
    attributes = reader.fields(value["attributes"])
    check_attributes(cls, attributes)
    vars(found).update(attributes)
    return found


def _write_rules(writer: Writer, value: Model, where: str) -> dict[str, Any]:
    given = value.signed.difference(value.learned, {value.data} if value.divergence.signed else ())
    return {
        "form": value.form.text,
        "divergence": writer.write(value.divergence, where),
        "constraints": writer.write(value.constraints, where),
        "data": value.data,
        "signed": sorted(given),
        **({"split": value.split} if value.split != "joint" else {}),
    }


def _read_rules(reader: Reader, value: Mapping[str, Any]) -> Model:
    divergence, constraints = reader.read(value["divergence"]), reader.read(value["constraints"])
    split = value.get("split", "joint")
    return Model(value["form"], divergence, constraints, data=value["data"], signed=value["signed"], split=split)


FORM = Form(
    "nonneg model",
    VERSION,
    "a model that nonneg has saved",
    "model.json",
    (
        Kind("estimator", BaseEstimator, _write_estimator),
        Kind("Model", Model, _write_rules, _read_rules),
        HISTORY,
        Kind(
            "Generator",
            np.random.Generator,
            lambda writer, value, where: {"state": writer.write(value.bit_generator.state, where)},
            lambda reader, value: make_generator(reader.read(value["state"])),
        ),
        Kind(
            "RandomState",
            np.random.RandomState,
            lambda writer, value, where: {"state": writer.write(value.get_state(legacy=False), where)},
            lambda reader, value: make_random_state(reader.read(value["state"])),
        ),
        Kind(
            "WeightedSum",
            WeightedSum,
            lambda writer, value, where: {"terms": writer.items(value.terms, where)},
            lambda reader, value: WeightedSum(*(reader.read(term) for term in value["terms"])),
        ),
    ),
    make=_make,
    compression=zipfile.ZIP_DEFLATED,
)
