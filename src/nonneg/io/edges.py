"""Lists of edges: two ends a line, and perhaps a weight."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy import sparse

from ..exceptions import FileError
from .base import Kind, Source, Wanted
from .delimited import is_number
from .table import Table

_HEADERS = {("source", "target"), ("from", "to"), ("node1", "node2"), ("a", "b"), ("i", "j"), ("u", "v"), ("src", "dst")}


class Edges(Kind):
    """A line for each edge: two ends, by name or number, and perhaps a weight; undirected. ``#`` and ``%`` begin remarks."""

    name: ClassVar[str] = "a list of edges"
    suffixes: ClassVar[tuple[str, ...]] = (".edges", ".edgelist", ".edg")
    is_plain_text: ClassVar[bool] = True

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        rows = [
            (number, [cell for cell in re.split(r"[,;\t]\s*|\s+", line.strip()) if cell])
            for number, line in enumerate(source.text().splitlines(), start=1)
            if line.strip() and line.strip()[0] not in "#%"
        ]
        if rows and (tuple(cell.lower().strip('"') for cell in rows[0][1][:2]) in _HEADERS or _is_header(rows)):
            rows = rows[1:]
        if not rows:
            raise FileError(f"{source.label} has no edges.")
        ends: list[tuple[str, str]] = []
        weights: list[float] = []
        for number, cells in rows:
            if len(cells) not in (2, 3):
                raise FileError(
                    f"{source.label}, line {number}: an edge has two ends and perhaps a weight; got {' '.join(cells)[:60]!r}."
                )
            if len(cells) == 3 and not is_number(cells[2]):
                raise FileError(f"{source.label}, line {number}: the weight {cells[2]!r} is not a number.")
            weights.append(float(cells[2]) if len(cells) == 3 else 1.0)
            ends.append((cells[0].strip('"'), cells[1].strip('"')))
        return undirected(ends, weights)

    def write(self, table: Table, path: Path) -> None:
        n = table.shape[0]
        if table.shape != (n, n):
            raise FileError(f"A graph has as many columns as rows; this has shape {table.shape}.")
        A = sparse.coo_array(sparse.triu(sparse.csr_array(table.values)))
        names = table.samples if table.samples is not None else np.arange(n)
        with open(path, "w", encoding="utf8") as file:
            for i, j, weight in zip(*A.coords, A.data, strict=True):
                file.write(f"{names[i]}\t{names[j]}\t{weight:.17g}\n")


def _is_header(rows: list[tuple[int, list[str]]]) -> bool:
    """Whether the third cell of the first line is the only one that is not a weight."""
    cells = rows[0][1]
    return len(cells) == 3 and not re.fullmatch(r"[-+.\deE]+|nan|inf", cells[2]) and all(len(row) == 3 for _, row in rows)


def undirected(ends: Sequence[tuple[str, str]], weights: Sequence[float]) -> Table:
    """A graph as its weights; vertices that are called by numbers in their order, others as they come; parallel edges add up."""
    known = list(dict.fromkeys(end for edge in ends for end in edge))
    if all(re.fullmatch(r"\d+", name) for name in known):
        known.sort(key=int)
    number = {name: i for i, name in enumerate(known)}
    i, j = (np.array([number[edge[side]] for edge in ends], dtype=np.int64) for side in (0, 1))
    A = sparse.coo_array((np.asarray(weights, dtype=np.float64), (i, j)), shape=(len(known), len(known)))
    A = sparse.csr_array(A)
    A = sparse.csr_array(A + A.T - sparse.diags_array(A.diagonal()))
    return Table(A, samples=known, features=known, is_graph=True)
