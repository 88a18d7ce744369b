"""Readers of the formats that texts come in: each checks what it can, and says where a file is not what it should be."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy.sparse import csr_array, issparse

from .cache import FetchError
from .formats import make_sparse


def _malformed(path: Path, line: int, found: str, expected: str) -> NoReturn:
    raise FetchError(f"{path}, line {line}: found {found}, expected {expected}. It was cut off or altered.")


def _lines(path: Path, encoding: str = "ascii") -> list[str]:
    """The lines of a file that end in a line feed, with a carriage return before it or not, and in nothing else."""
    try:
        lines = path.read_bytes().decode(encoding).replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise FetchError(f"{path} is not text in {encoding}: {error}. It was cut off or altered.") from error
    return lines[:-1] if lines[-1] == "" else lines


def _numbers(path: Path, line: int, text: str, expected: str) -> np.ndarray:
    try:
        numbers = np.array(text.split(), dtype=np.float64)
    except ValueError:
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all():
        _malformed(path, line, repr(text[:60]), expected)
    return numbers


# ---------------------------------------------------------------- matrices


def read_pairs(path: Path) -> csr_array:
    """A matrix as text.

    The numbers of rows and columns; then, on a line for each row, how many entries it has, and pairs of a column and a value.
    Columns count from 0, unlike in CLUTO's own format.
    """
    lines = _lines(path)
    shape = _numbers(path, 1, lines[0] if lines else "", "the numbers of rows and columns")
    if shape.shape != (2,) or (shape < 1).any() or (shape % 1).any():
        _malformed(path, 1, repr(lines[0][:60] if lines else ""), "the numbers of rows and columns")
    n_rows, n_columns = shape.astype(int)
    if len(lines) != n_rows + 1:
        _malformed(path, len(lines), f"{len(lines) - 1} rows", f"the {n_rows} of the first line")
    columns, values = [], []
    for number, line in enumerate(lines[1:], start=2):
        row = _numbers(path, number, line, "numbers")
        if len(row) != 1 + 2 * (row[0] if len(row) else 0):
            _malformed(path, number, f"{len(row)} numbers", "a number of entries, and twice as many after it")
        column = row[1::2]
        if ((column < 0) | (column >= n_columns) | (column % 1 != 0)).any():
            _malformed(path, number, f"columns from {column.min():g} to {column.max():g}", f"whole ones from 0 to {n_columns - 1}")
        if len(np.unique(column)) != len(column):
            _malformed(path, number, "a column twice", "each once")
        if (row[2::2] < 0).any():
            _malformed(path, number, f"{row[2::2].min():g}", "values of at least 0")
        columns.append(column)
        values.append(row[2::2])
    starts = np.cumsum([0, *map(len, columns)])
    return make_sparse(
        csr_array((np.concatenate(values), np.concatenate(columns).astype(np.int32), starts), shape=(n_rows, n_columns))
    )


def read_indicators(path: Path) -> np.ndarray:
    """Classes from 0, from a line for each class that has 1 for its members and 0 for all others."""
    lines = _lines(path)
    rows = [_numbers(path, number, line, "numbers 0 and 1") for number, line in enumerate(lines, start=1)]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            _malformed(path, number, f"{len(row)} numbers", f"{len(rows[0])}, as on line 1")
        if not np.isin(row, (0, 1)).all():
            _malformed(path, number, f"{row[~np.isin(row, (0, 1))][0]:g}", "0 or 1")
    members = np.array(rows)
    if not members.size:
        _malformed(path, 1, "nothing", "a line for each class")
    classes = members.sum(axis=0)
    if (classes != 1).any():
        wrong = int(np.argmax(classes != 1))
        _malformed(path, len(rows), f"{classes[wrong]:g} classes for member {wrong + 1}", "one for each")
    return members.argmax(axis=0)


def read_matlab(
    path: Path, matrix: str, labels: str, *, first: int = 1, transposed: bool = False
) -> tuple[csr_array, np.ndarray, dict[str, Any]]:
    """A matrix, classes from 0, and all variables of a MATLAB file of version 5.

    Parameters
    ----------
    path : Path
    matrix, labels : str
        The names of the variables; the labels are one for each row of the matrix.
    first : int
        The number of the first class in the file; each up to the last must have a member.
    transposed : bool
        Whether documents are the columns of the matrix in the file.
    """
    from scipy.io import loadmat

    try:
        variables: dict[str, Any] = loadmat(path, spmatrix=False)
    except Exception as error:  # scipy's reader raises whatever it stumbles over
        raise FetchError(f"{path} is not a MATLAB file that can be read: {error}. It was cut off or altered.") from error
    for name in (matrix, labels):
        if name not in variables:
            present = ", ".join(sorted(name for name in variables if not name.startswith("__")))
            raise FetchError(f"{path} has no variable {name}; it has {present}.")
    values = variables[matrix]
    if not (issparse(values) or isinstance(values, np.ndarray)) or values.ndim != 2 or values.dtype.kind not in "biuf":
        raise FetchError(f"{path}: {matrix} is not a matrix of numbers.")
    data, codes = make_sparse(values.T if transposed else values), np.asarray(variables[labels]).ravel()
    if not np.isfinite(data.data).all() or (data.data < 0).any():
        raise FetchError(f"{path}: {matrix} has values that are negative or not finite, expected counts or weights.")
    if codes.dtype.kind not in "iuf" or not np.array_equal(np.unique(codes), np.arange(first, first + len(np.unique(codes)))):
        raise FetchError(f"{path}: {labels} has classes {np.unique(codes)[:10]}, expected all from {first} on.")
    if len(codes) != data.shape[0]:
        raise FetchError(f"{path}: {labels} has {len(codes)} classes, expected one for each of {data.shape[0]} documents.")
    return data, codes.astype(np.int64) - first, variables


def strings(cells: np.ndarray) -> np.ndarray:
    """The strings of a MATLAB cell array."""
    return np.array([str(cell.item()) if cell.size else "" for cell in cells.ravel()], dtype=str)


# ---------------------------------------------------------------- documents


def read_labelled(path: Path) -> tuple[list[str], list[list[str]]]:
    """The classes and the terms of documents, from a line for each: class, tab, terms between blanks."""
    classes, documents = [], []
    for number, line in enumerate(_lines(path, "utf8"), start=1):
        label, tab, terms = line.partition("\t")
        if not tab or not label or "\t" in terms:
            _malformed(path, number, repr(line[:60]), "a class, a tab, and terms")
        classes.append(label)
        documents.append(terms.split())
    return classes, documents


@dataclass(frozen=True)
class Document:
    """A document of a SMART collection: its number, and its sections by their letters, those that come twice joined."""

    number: int
    sections: dict[str, str]

    def text(self, letters: str) -> str:
        return "\n".join(self.sections.get(letter, "") for letter in letters)


def read_smart(path: Path) -> list[Document]:
    """The documents of a SMART collection: ``.I`` and a number, then sections that start with a line ``.W`` or the like."""
    documents: list[Document] = []
    section: str | None = None
    for number, line in enumerate(_lines(path, "latin1"), start=1):
        if re.match(r"\.I(\s|$)", line):
            found = re.fullmatch(r"\.I\s+(\d+)\s*", line)
            if found is None or int(found[1]) != len(documents) + 1:
                _malformed(path, number, repr(line[:60]), f"'.I {len(documents) + 1}'")
            documents.append(Document(int(found[1]), {}))
            section = None
        elif not documents:
            _malformed(path, number, repr(line[:60]), "'.I 1'")
        elif re.fullmatch(r"\.[A-Z]\s*", line):
            section = line[1]
            documents[-1].sections.setdefault(section, "")
        elif section is not None:
            documents[-1].sections[section] += f"{line}\n"
        elif line.strip():
            _malformed(path, number, repr(line[:60]), "a section, like '.W'")
    return documents


def read_relevant(path: Path, n_documents: int) -> np.ndarray:
    """The query, from 1, that each document answers, from lines of query, 0, document, 1; 0 where there is none, never several."""
    queries = np.zeros(n_documents, dtype=np.int64)
    for number, line in enumerate(_lines(path), start=1):
        found = re.fullmatch(r"\s*([1-9]\d*)\s+0\s+([1-9]\d*)\s+1\s*", line)
        if found is None or int(found[2]) > n_documents:
            _malformed(path, number, repr(line[:60]), f"query, 0, document from 1 to {n_documents}, 1")
        if queries[int(found[2]) - 1]:
            _malformed(path, number, f"document {found[2]} again", "each with one query at most")
        queries[int(found[2]) - 1] = int(found[1])
    return queries


def read_terms(path: Path) -> np.ndarray:
    """Words, one on a line, in the order of the columns of a matrix."""
    return np.array([line.strip() for line in _lines(path)], dtype=str)


def read_words(path: Path) -> frozenset[str]:
    """Words, one or several on a line."""
    return frozenset(word for line in _lines(path) for word in line.split())


# ---------------------------------------------------------------- counting


def words(text: str, stop_words: Collection[str]) -> list[str]:
    """Runs of three letters or more, in lower case, that are no stop words."""
    return [word for word in re.findall(r"[a-z]{3,}", text.lower()) if word not in stop_words]


def count(documents: Iterable[Sequence[str]]) -> tuple[csr_array, np.ndarray]:
    """How often each term is in each document, and the terms, sorted."""
    documents = list(documents)
    terms = sorted({term for document in documents for term in document})
    place = {term: i for i, term in enumerate(terms)}
    starts = np.cumsum([0, *map(len, documents)])
    places = np.fromiter((place[term] for document in documents for term in document), np.int32, count=starts[-1])
    counts = csr_array((np.ones(len(places)), places, starts), shape=(len(documents), len(terms)))
    return make_sparse(counts), np.array(terms, dtype=str)
