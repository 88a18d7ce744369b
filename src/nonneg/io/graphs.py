"""Graphs in GraphML, GML and in the form of Pajek, read by networkx."""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar
from xml.parsers import expat

import numpy as np
from scipy import sparse

from ..exceptions import FileError, needed
from .base import Kind, Source, Wanted
from .table import Table


class _Networkx(Kind):
    """A graph; the attribute "weight" of an edge, by default 1; parallel edges add up."""

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        (source,) = sources
        networkx = needed("networkx", "graph", f"Reading {self.name}")
        graph = self._parsed(networkx, source)
        if not len(graph):
            raise FileError(f"{source.label} is a graph without vertices.")
        A = networkx.to_scipy_sparse_array(graph, dtype=np.float64)
        names = [str(graph.nodes[node].get("label", node)) for node in graph]
        names = names if len(set(names)) == len(names) else [str(node) for node in graph]
        return Table(sparse.csr_array(A), samples=names, features=names, is_graph=True)

    def write(self, table: Table, path: Path) -> None:
        networkx = needed("networkx", "graph", f"Writing {self.name}")
        n = table.shape[0]
        if table.shape != (n, n):
            raise FileError(f"A graph has as many columns as rows; this has shape {table.shape}.")
        A = sparse.csr_array(table.values)
        is_directed = bool(abs(A - A.T).max() > 0)
        graph = networkx.from_scipy_sparse_array(A, create_using=networkx.DiGraph if is_directed else networkx.Graph)
        if table.samples is not None:
            graph = networkx.relabel_nodes(graph, dict(enumerate(table.samples.tolist())))
        self._written(networkx, graph, path)

    @abstractmethod
    def _parsed(self, networkx: Any, source: Source) -> Any:
        """The graph that a source holds."""

    @abstractmethod
    def _written(self, networkx: Any, graph: Any, path: Path) -> None:
        """Write a graph."""


class GraphML(_Networkx):
    """XML; definitions of entities, by which a small file could become a huge one, are refused."""

    name: ClassVar[str] = "GraphML"
    suffixes: ClassVar[tuple[str, ...]] = (".graphml",)

    def recognises(self, source: Source) -> bool:
        return b"<graphml" in source.head or (source.name.endswith(".graphml") and source.head.lstrip().startswith(b"<"))

    def _parsed(self, networkx: Any, source: Source) -> Any:
        content = source.content()
        _refuse_entities(content, source.label)
        return networkx.read_graphml(io.BytesIO(content))

    def _written(self, networkx: Any, graph: Any, path: Path) -> None:
        networkx.write_graphml_xml(graph, path)


def _refuse_entities(content: bytes, label: str) -> None:
    """Refuse XML with a document type, in any encoding: it can define entities, by which a small file becomes a huge one."""
    parser = expat.ParserCreate()

    def refuse(*_: Any) -> None:
        raise FileError(f"{label} defines entities of its own (<!DOCTYPE, <!ENTITY); such XML is not read here.")

    parser.StartDoctypeDeclHandler = refuse
    parser.Parse(content, True)


class GML(_Networkx):
    """Keys and values in brackets."""

    name: ClassVar[str] = "GML"
    suffixes: ClassVar[tuple[str, ...]] = (".gml",)

    def recognises(self, source: Source) -> bool:
        lines = [line.strip() for line in source.head.splitlines()]
        return source.is_text and any(line.startswith(b"graph") and line[5:].strip() in (b"", b"[") for line in lines[:20])

    def _parsed(self, networkx: Any, source: Source) -> Any:
        text = source.text()
        is_named = "label" in text
        return networkx.parse_gml(text.splitlines(), label="label" if is_named else "id")

    def _written(self, networkx: Any, graph: Any, path: Path) -> None:
        for *_, edge in graph.edges(data=True):
            edge["weight"] = float(edge["weight"])  # networkx 3.2 writes the repr of NumPy's own floats
        networkx.write_gml(graph, path, stringizer=str)


class Pajek(_Networkx):
    """Sections that begin with a star."""

    name: ClassVar[str] = "Pajek"
    suffixes: ClassVar[tuple[str, ...]] = (".net", ".paj")

    def recognises(self, source: Source) -> bool:
        lines = [line.strip().lower() for line in source.head.splitlines()]
        first = next((line for line in lines if line and not line.startswith(b"%")), b"")
        return first.startswith((b"*vertices", b"*network"))

    def _parsed(self, networkx: Any, source: Source) -> Any:
        return networkx.parse_pajek(source.text().splitlines())

    def _written(self, networkx: Any, graph: Any, path: Path) -> None:
        networkx.write_pajek(graph, path)
