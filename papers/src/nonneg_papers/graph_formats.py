"""Readers of the formats that the graphs come in: Pajek, UCINET DL, GML, Matrix Market, and MATLAB as SuiteSparse writes it.

Each says what it found and what it expected where a file is cut off or altered; nothing that is read can run code.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .cache import FetchError
from .formats import read_mat


@dataclass
class Network:
    """A network of a Pajek file; vertices are counted from 0.

    Attributes
    ----------
    n : int
        The number of vertices.
    n_first : int
        The number of those in the first mode: n unless the network is two-mode.
    names : list of str
        The names of the vertices; empty strings where they have none.
    attributes : list of str
        What follows a vertex's name: coordinates, shape, colour, ….
    arcs, edges : list of (int, int, float)
        The directed and the undirected lines of all relations, with their values; 1 where none is given.
    matrix : array of shape (n_first, n or n − n_first + extra columns), optional
        The lines as a matrix.
    """

    n: int
    n_first: int
    names: list[str]
    attributes: list[str]
    arcs: list[tuple[int, int, float]] = field(default_factory=list)
    edges: list[tuple[int, int, float]] = field(default_factory=list)
    matrix: np.ndarray | None = None


@dataclass
class Pajek:
    """The objects of a Pajek file: networks in their order, partitions and vectors by name."""

    networks: list[Network] = field(default_factory=list)
    partitions: dict[str, np.ndarray] = field(default_factory=dict)
    vectors: dict[str, np.ndarray] = field(default_factory=dict)


def read_pajek(path: Path, *, encoding: str = "latin-1", extra_columns: int = 0) -> Pajek:
    """A Pajek network (.net, .mat) or project (.paj).

    Parameters
    ----------
    path : Path
    encoding : str
    extra_columns : int
        How many more columns a matrix has than it should: row sums, say. They are kept.
    """
    return _PajekReader(path, encoding, extra_columns, kind="network").read()


def read_clu(path: Path) -> np.ndarray:
    """A Pajek partition (.clu): the class of each vertex."""
    partitions = list(_PajekReader(path, "latin-1", 0, kind="partition").read().partitions.values())
    if len(partitions) != 1:
        raise FetchError(f"{path} has {len(partitions)} partitions; expected 1.")
    return partitions[0]


HEADINGS = ("network", "partition", "vector", "vertices", "arcslist", "edgeslist", "arcs", "edges", "matrix")
SHORT = {"net": "network", "part": "partition", "vec": "vector", "vert": "vertices"}  # Pajek goes by the first letters


class _PajekReader:
    """Pajek's text: sections that start with a line ``*Heading``; ``%`` starts a comment line."""

    def __init__(self, path: Path, encoding: str, extra_columns: int, kind: str) -> None:
        self.path, self.extra_columns, self.kind = path, extra_columns, kind
        self.title = ""
        self.result = Pajek()
        self.lines = re.split(r"\r\n|\r|\n", path.read_bytes().decode(encoding))  # latin-1 has more line ends for splitlines

    def read(self) -> Pajek:
        for number, heading, arguments, body in self.sections():
            if heading in ("network", "partition", "vector"):
                self.kind, self.title = heading, arguments.strip('" ')
                self.demand(not body, number, f"expected *Vertices after *{heading}", body)
            elif heading == "vertices":
                self.vertices(number, arguments, body)
            else:
                self.demand(bool(self.result.networks), number, f"expected *Vertices before *{heading}")
                network = self.result.networks[-1]
                if heading == "matrix":
                    network.matrix = self.matrix(number, network, body)
                else:
                    kept = network.arcs if heading.startswith("arcs") else network.edges
                    kept.extend(self.network_lines(network, body, as_list=heading.endswith("list")))
        if not (self.result.networks or self.result.partitions or self.result.vectors):
            raise FetchError(f"{self.path} is not a Pajek file: it has no *Vertices. It was cut off or altered.")
        return self.result

    def sections(self) -> list[tuple[int, str, str, list[tuple[int, str]]]]:
        """The number of the heading's line, the heading, what follows it in its line, and the numbered lines below it."""
        sections: list[tuple[int, str, str, list[tuple[int, str]]]] = []
        for number, line in enumerate(self.lines, start=1):
            stripped = line.strip()
            if not stripped or stripped.startswith("%"):
                continue
            if stripped.startswith("*"):
                word, _, arguments = stripped[1:].partition(" ")
                word = word.partition(":")[0].lower()
                word = next((long for short, long in SHORT.items() if word.startswith(short)), word)
                self.demand(word in HEADINGS, number, f"expected one of {', '.join(f'*{heading}' for heading in HEADINGS)}")
                sections.append((number, word, arguments, []))
            else:
                self.demand(bool(sections), number, "expected a line that starts with *")
                sections[-1][3].append((number, stripped))
        return sections

    def vertices(self, number: int, arguments: str, body: list[tuple[int, str]]) -> None:
        counts = arguments.split()
        self.demand(bool(counts) and all(count.isdigit() for count in counts[:2]), number, "expected *Vertices and their number")
        n = int(counts[0])
        if self.kind == "partition":
            self.result.partitions[self.title] = self.values(number, n, body).astype(np.int64)
        elif self.kind == "vector":
            self.result.vectors[self.title] = self.values(number, n, body)
        else:
            self.demand(len(body) in (0, n), number, f"expected {n} vertices, found {len(body)}")
            names, attributes = [""] * n, [""] * n
            for place, line in body:
                found = re.match(r'(\d+)(?:\s+(?:"([^"]*)(?:"|$)|([^\s"]\S*)))?(?:\s+(.*))?$', line)
                self.demand(found is not None, place, "expected a vertex: a number, and a name")
                assert found is not None
                vertex = self.vertex(found[1], n, place)
                names[vertex], attributes[vertex] = found[2] or found[3] or "", found[4] or ""
            self.result.networks.append(Network(n, int(counts[1]) if len(counts) > 1 else n, names, attributes))

    def values(self, number: int, n: int, body: list[tuple[int, str]]) -> np.ndarray:
        """The values of a partition, vector or matrix: so many numbers, however they are broken into lines."""
        found = [self.number(token, place) for place, line in body for token in line.split()]
        self.demand(len(found) == n, number, f"expected {n} values, found {len(found)}")
        return np.array(found, dtype=np.float64)

    def matrix(self, number: int, network: Network, body: list[tuple[int, str]]) -> np.ndarray:
        width = (network.n - network.n_first or network.n) + self.extra_columns
        return self.values(number, network.n_first * width, body).reshape(network.n_first, width)

    def network_lines(self, network: Network, body: list[tuple[int, str]], as_list: bool) -> list[tuple[int, int, float]]:
        lines = []
        for place, line in body:
            tokens = line.split()
            self.demand(len(tokens) >= 2, place, "expected two vertices")
            if as_list:
                first, *others = (self.vertex(token, network.n, place) for token in tokens)
                lines += [(first, other, 1.0) for other in others]
            else:
                first, second = (self.vertex(token, network.n, place) for token in tokens[:2])
                has_value = len(tokens) > 2 and tokens[2][0] in "+-.0123456789"
                lines.append((first, second, self.number(tokens[2], place) if has_value else 1.0))
        return lines

    def vertex(self, token: str, n: int, place: int) -> int:
        self.demand(token.isdigit() and 1 <= int(token) <= n, place, f"expected a vertex from 1 to {n}, found {token!r}")
        return int(token) - 1

    def number(self, token: str, place: int) -> float:
        try:
            return float(token)
        except ValueError:
            raise FetchError(f"{self.path}, line {place}: expected a number, found {token!r}. It was cut off or altered.") from None

    def demand(self, met: bool, place: int, expectation: str, found: Any = None) -> None:
        if not met:
            text = self.lines[found[0][0] - 1 if found else place - 1].strip()
            raise FetchError(f"{self.path}, line {place}: {expectation}, in {text[:60]!r}. It was cut off or altered.")


@dataclass
class DL:
    """A UCINET file: the labels of rows, if any, and the matrices by the names of their levels."""

    labels: list[str]
    matrices: dict[str, np.ndarray]


def read_dl(path: Path) -> DL:
    """A UCINET DL file of stacked square matrices; rows may be broken into lines anywhere."""
    header, found, data = _split(r"\bDATA:", path.read_text(encoding="latin-1"))
    size = re.search(r"\bN\s*=\s*(\d+)", header, re.IGNORECASE)
    if not found or size is None or not re.match(r"\s*DL\b", header, re.IGNORECASE):
        raise FetchError(f"{path} is not a UCINET DL file: expected DL, N= and DATA:, found {header[:60]!r}.")
    if other := re.search(r"FORMAT\s*=\s*(?!\s|FULLMATRIX).*|DIAGONAL\s+ABSENT", header, re.IGNORECASE):
        raise FetchError(f"{path} says {other[0].strip()}; only FULLMATRIX DIAGONAL PRESENT is read here.")
    n = int(size[1])
    levels = re.search(r"\bNM\s*=\s*(\d+)", header, re.IGNORECASE)
    n_levels = int(levels[1]) if levels else 1
    labels = _dl_labels(path, header, "ROW", n)
    names = _dl_labels(path, header, "LEVEL", n_levels) or [str(level) for level in range(1, n_levels + 1)]
    try:
        values = np.array(data.split(), dtype=np.float64)
    except ValueError as error:
        raise FetchError(f"{path} has something else than numbers after DATA: {error}.") from None
    if values.size != n_levels * n * n:
        raise FetchError(
            f"{path} says {n_levels} matrices of {n} × {n}, that is {n_levels * n * n} numbers, and has {values.size}: it was cut "
            "off or altered."
        )
    return DL(labels, dict(zip(names, values.reshape(n_levels, n, n), strict=True)))


def _split(pattern: str, text: str) -> tuple[str, bool, str]:
    found = re.search(pattern, text, re.IGNORECASE)
    return (text[: found.start()], True, text[found.end() :]) if found else (text, False, "")


def _dl_labels(path: Path, header: str, kind: str, expected: int) -> list[str]:
    found = re.search(rf"\b{kind}\s+LABELS:(.*?)(?=\b\w+\s+LABELS:|\Z)", header, re.IGNORECASE | re.DOTALL)
    labels = found[1].split() if found else []
    if found and len(labels) != expected:
        raise FetchError(f"{path} should have {expected} {kind.lower()} labels, and has {len(labels)}: it was cut off or altered.")
    return labels


def read_gml(path: Path) -> Any:
    """Read a GML file by networkx; an edge may come more than once, whether or not the file says so."""
    import networkx

    text = re.sub(r"(?m)^\s*#.*$", "", path.read_text(encoding="latin-1"))
    multiple, n_graphs = re.subn(r"(?m)^(\s*graph\s*\[)(?!\s*multigraph)", r"\1 multigraph 1", text)
    if n_graphs != 1:
        raise FetchError(f"{path} is not a GML file of one graph: it has {n_graphs}.")
    try:
        return networkx.parse_gml(multiple.splitlines(), label=None)
    except networkx.NetworkXError as error:
        raise FetchError(f"{path} is not a GML file: {error}. It was cut off or altered.") from error


def read_matrix_market(path: Path) -> csr_array:
    """A matrix in Matrix Market's form, whatever the name of its file."""
    from scipy.io import mmread

    try:
        return csr_array(mmread(io.BytesIO(path.read_bytes()), spmatrix=False), dtype=np.float64)
    except (ValueError, OverflowError) as error:
        raise FetchError(f"{path} is not a complete Matrix Market file: {error}.") from error


def read_suitesparse(path: Path) -> csr_array:
    """The matrix of a MATLAB file of the SuiteSparse collection, ``Problem.A``."""
    try:
        return csr_array(read_mat(path)["Problem"][0, 0]["A"], dtype=np.float64)
    except (KeyError, IndexError, ValueError, TypeError, OSError) as error:
        raise FetchError(f"{path} is not a MATLAB file with the matrix Problem.A: {error!r}.") from error
