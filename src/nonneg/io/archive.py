"""Archives of values: one codec for models, runs, checkpoints and scans.

An archive is a zip file of one member of JSON and of numbered arrays in NumPy's form. Objects are written as the arguments they
are made from, and made again by their own constructors, of classes that the reader names. Every field is checked against its
annotation. Nothing is pickled, so that a file from anywhere can be opened. Newer versions of a form are refused.

>>> import io
>>> form = Form("example", 1, "an example", "example.json")
>>> stream = io.BytesIO()
>>> write_archive(stream, form, {"sizes": (2, 3), "X": np.eye(2)})
>>> archive = read_archive(io.BytesIO(stream.getvalue()), form, "a stream")
>>> archive.read("sizes"), archive.read("X").tolist()
((2, 3), [[1.0, 0.0], [0.0, 1.0]])
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from ..exceptions import FileError
from ..kernels.memory import refuse_too_large
from ..version import __version__
from .annotations import check_fields, shown
from .zipped import opened, read_array

_TAG = "of"
_OF_JSON = 32
"""Memory of parsed JSON as a multiple of its size, at most: an empty list has two characters, and takes 64 bytes."""
_SPARSE = {f"{form}_{kind}": getattr(sparse, f"{form}_{kind}") for form in ("csr", "csc") for kind in ("array", "matrix")}

Encode = Callable[["Writer", Any, str], dict[str, Any]]
"""Writes the parts of an object, by name; the third argument names it in an error."""
Decode = Callable[["Reader", Mapping[str, Any]], Any]
"""Makes an object of its parts."""


@dataclass(frozen=True)
class Kind:
    """A type of objects that an archive holds in a form of its own.

    Attributes
    ----------
    tag : str
        Its name in the file.
    types : type or union of types
    encode : callable
    decode : callable, optional
        None if objects are made by the `make` of the form.
    """

    tag: str
    types: Any
    encode: Encode
    decode: Decode | None = None


@dataclass(frozen=True)
class Form:
    """A form of archives.

    Attributes
    ----------
    name : str
    version : int
        Raised whenever this version would misread older files.
    noun : str
        The thing, in messages: "a model that nonneg has saved".
    member : str
        Name of the member of JSON.
    kinds : tuple of Kind
        Types beside those of Python, NumPy and SciPy, the first that fits; they come before these.
    plain : callable, optional
        Applied to each value before it is written.
    make : callable, optional
        Makes an object of a class of its parts, in place of `Reader.make`.
    older : str
        A member of files of older versions, which are refused.
    remedy : str
        The end of the error for a file that is not of this form.
    compression : int
        That of `zipfile`.
    """

    name: str
    version: int
    noun: str
    member: str
    kinds: tuple[Kind, ...] = ()
    plain: Callable[[Any], Any] = lambda value: value
    make: Callable[[Reader, type, Mapping[str, Any]], Any] = lambda reader, cls, value: reader.make(cls, value)
    older: str = ""
    remedy: str = ""
    compression: int = zipfile.ZIP_STORED

    def refuse(self, label: str, why: str = "") -> FileError:
        """Make the error for a file that is not of this form."""
        return FileError(f"{label} is not {self.noun}, or not all of it{f': {why}' if why else ''}.{self.remedy}")


def write_archive(file: str | Path | BinaryIO, form: Form, content: Mapping[str, Any]) -> None:
    """Write values by name to a file or stream."""
    arrays: list[np.ndarray] = []
    writer = Writer(form, arrays)
    head = {"format": form.name, "version": form.version, "nonneg": __version__}
    flat = head | {name: writer.write(value, name) for name, value in content.items()}
    with zipfile.ZipFile(file, "w", form.compression, compresslevel=1) as archive:
        archive.writestr(form.member, json.dumps(flat, allow_nan=False))
        for number, array in enumerate(arrays):
            with archive.open(_name(number), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_archive(file: str | Path | BinaryIO, form: Form, label: str, classes: Mapping[str, type] | None = None) -> Archive:
    """Read an archive; its values are made when they are asked for.

    Parameters
    ----------
    file : path or stream
    form : Form
    label : str
        Name of the file in messages.
    classes : dict, optional
        Classes that the file may name, with fields or as enumerations.
    """
    with nullcontext(file) if hasattr(file, "read") else open(file, "rb") as stream:
        if not zipfile.is_zipfile(stream):
            raise form.refuse(label)
        with opened(stream, label) as archive:
            names = archive.namelist()
            if form.older and form.older in names:
                raise FileError(f"{label} was written by an older nonneg, in a form that this one does not read.{form.remedy}")
            if form.member not in names:
                raise form.refuse(label, f"it has no {form.member}")
            refuse_too_large(_OF_JSON * archive.getinfo(form.member).file_size, f"{label}, {form.member}")
            content = json.loads(archive.read(form.member), parse_constant=_refuse_constant)
            _check_version(content, form, label)
            arrays = {name: read_array(archive, name, label) for name in names if name.startswith("arrays/")}
    return Archive(content, arrays, label, form, classes or {})


def _check_version(content: Any, form: Form, label: str) -> None:
    if not isinstance(content, dict) or content.get("format") != form.name or type(content.get("version")) is not int:
        raise form.refuse(label, f"its {form.member} does not say so")
    if content["version"] < 1:
        raise form.refuse(label, f"its version is {content['version']}, and the first is 1")
    if content["version"] > form.version:
        raise FileError(
            f"{label} was written by a newer nonneg, {shown(content.get('nonneg'))}, in version {content['version']} of its form; "
            f"this one reads versions up to {form.version}. Update nonneg to open it."
        )


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _name(number: int) -> str:
    """The name of an array in the archive."""
    return f"arrays/{number}.npy"


@dataclass(frozen=True)
class Archive:
    """The content of an archive: JSON by name, and arrays."""

    content: dict[str, Any]
    arrays: dict[str, np.ndarray]
    label: str
    form: Form
    classes: Mapping[str, type]

    @property
    def written_by(self) -> str:
        """The version of the library that wrote it."""
        return str(self.content.get("nonneg"))

    def read(self, name: str, context: Any = None) -> Any:
        """Make one of the values; None if there is none of the name.

        Parameters
        ----------
        name : str
        context : object, optional
            Given to the kinds of the form, as ``reader.context``.
        """
        return Reader(self, context).read(self.content.get(name))


@dataclass
class Writer:
    """Turns values into JSON and puts their arrays aside."""

    form: Form
    arrays: list[np.ndarray]

    def write(self, value: Any, where: str) -> Any:
        """Turn a value into JSON; `where` names it in an error."""
        value = self.form.plain(value)
        if value is None or isinstance(value, bool) or type(value) in (int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {_TAG: "float", "value": str(value)}
        for kind in (*self.form.kinds, *_KINDS):
            if isinstance(value, kind.types):
                return {_TAG: kind.tag, **kind.encode(self, value, where)}
        is_ours = type(value).__module__.partition(".")[0] == __name__.partition(".")[0]
        if is_ours and isinstance(value, Enum):
            return {_TAG: type(value).__name__, "value": value.value}
        if is_ours and (is_dataclass(value) or hasattr(value, "_fields")):
            names = [one.name for one in fields(value) if one.init] if is_dataclass(value) else value._fields
            return {
                _TAG: type(value).__name__,
                "fields": {name: self.write(getattr(value, name), f"{where}.{name}") for name in names},
            }
        if isinstance(value, tuple):
            return {_TAG: "tuple", "items": self.items(value, where)}
        raise TypeError(
            f"{where} is {value!r}, of type {type(value).__name__}: a file of nonneg holds numbers, text and arrays, and nothing "
            "that would have to run when it is opened. Use pickle or joblib, among those you trust."
        )

    def items(self, values: Any, where: str) -> list[Any]:
        """Turn the items of a sequence into JSON."""
        return [self.write(item, f"{where}[{number}]") for number, item in enumerate(values)]

    def array(self, value: Any, where: str) -> dict[str, Any]:
        """Put an array aside and return its number."""
        if value.dtype.kind not in "fiubcUS":
            raise TypeError(f"{where} is an array of {value.dtype}; a file of nonneg holds arrays of numbers and text.")
        self.arrays.append(np.asarray(value))
        return {"number": len(self.arrays) - 1}


@dataclass
class Reader:
    """Makes values of JSON and arrays; no array is used twice, so that a small file makes no large object."""

    archive: Archive
    context: Any = None
    used: set[int] = field(default_factory=set)

    def read(self, value: Any) -> Any:
        """Make a value of JSON."""
        if not isinstance(value, dict):
            return value
        tag = value[_TAG]
        for kind in (*self.archive.form.kinds, *_KINDS):
            if kind.decode is not None and tag == kind.tag:
                return kind.decode(self, value)
        cls = self.archive.classes.get(tag)
        if cls is None:
            raise FileError(f"{self.archive.label} has a {shown(tag)} in it, which this version of nonneg does not know.")
        return cls(value["value"]) if issubclass(cls, Enum) else self.archive.form.make(self, cls, value)

    def make(self, cls: type, value: Mapping[str, Any]) -> Any:
        """Make an object of its fields, once they are checked against its annotations."""
        given = self.fields(value["fields"])
        check_fields(cls, given)
        return cls(**given)

    def fields(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Make values by name."""
        return {name: self.read(item) for name, item in given.items()}

    def items(self, value: Mapping[str, Any]) -> list[Any]:
        """Make the items of a sequence."""
        return [self.read(item) for item in value["items"]]

    def array(self, value: Mapping[str, Any]) -> np.ndarray:
        """Find an array by its number, in this machine's byte order."""
        number = value["number"]
        if type(number) is not int or number in self.used:
            raise FileError(f"array {shown(number)} is read twice, or no number")
        self.used.add(number)
        array = self.archive.arrays[_name(number)]
        return array.astype(array.dtype.newbyteorder("="), copy=False)


# ---- types that all archives hold


def _write_array(writer: Writer, value: Any, where: str) -> dict[str, Any]:
    if value.dtype.kind == "O":
        return {_TAG: "objects", "shape": list(value.shape), "items": writer.items(value.ravel().tolist(), where)}
    return writer.array(value, where)


def _read_objects(reader: Reader, value: Mapping[str, Any]) -> np.ndarray:
    items = reader.items(value)
    found = np.empty(len(items), dtype=object)
    found[:] = items
    return found.reshape([int(size) for size in value["shape"]])


def _write_sparse(writer: Writer, value: Any, where: str) -> dict[str, Any]:
    held = value.asformat(value.format if value.format in ("csr", "csc") else "csr")
    parts = {name: {_TAG: "array", **writer.array(getattr(held, name), where)} for name in ("data", "indices", "indptr")}
    return {"form": held.format, "shape": list(held.shape), "is_array": isinstance(value, sparse.sparray), **parts}


def _read_sparse(reader: Reader, value: Mapping[str, Any]) -> Any:
    parts = tuple(reader.array(value[part]) for part in ("data", "indices", "indptr"))
    make = _SPARSE[f"{value['form']}_{'array' if value['is_array'] else 'matrix'}"]
    found = make(parts, shape=tuple(value["shape"]))
    found.check_format(full_check=True)
    return found


def _write_mapping(writer: Writer, value: Mapping[Any, Any], where: str) -> dict[str, Any]:
    return {"items": [[writer.write(key, where), writer.write(item, f"{where}[{key!r}]")] for key, item in value.items()]}


def _write_items(writer: Writer, value: Any, where: str) -> dict[str, Any]:
    return {"items": writer.items(value, where)}


def _write_set(writer: Writer, value: Any, where: str) -> dict[str, Any]:
    return {"items": writer.items(sorted(value), where)}


_NEVER: tuple[type, ...] = ()
_KINDS: Sequence[Kind] = (
    Kind("array", np.ndarray, _write_array, Reader.array),
    Kind("number", np.generic, Writer.array, lambda reader, value: reader.array(value)[()]),
    Kind("sparse", sparse.spmatrix | sparse.sparray, _write_sparse, _read_sparse),
    Kind(
        "dict", Mapping, _write_mapping, lambda reader, value: {reader.read(key): reader.read(item) for key, item in value["items"]}
    ),
    Kind("set", set, _write_set, lambda reader, value: set(reader.items(value))),
    Kind("frozenset", frozenset, _write_set, lambda reader, value: frozenset(reader.items(value))),
    Kind("list", list, _write_items, Reader.items),
    # These are written by `Writer.write` and `_write_array`: a float is not finite, a named tuple has fields.
    Kind("float", _NEVER, _write_items, lambda _, value: float(value["value"])),
    Kind("objects", _NEVER, _write_items, _read_objects),
    Kind("tuple", _NEVER, _write_items, lambda reader, value: tuple(reader.items(value))),
)
