"""nonneg datasets: data to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..options import file_option, shell_command
from ..running import Session

BUNDLED = {
    "digits": "handwritten digits, 1797 images of 8 × 8 (scikit-learn)",
    "iris": "flowers of three species, 150 × 4, with their classes (scikit-learn)",
    "karate": "a karate club of 34 members, a graph (networkx)",
    "chain": "two sequences of a hidden chain with three states",
}
"""What needs no network."""
FACES = ("cbcl", "feret", "olivetti", "orl", "pie", "swimmer", "yale")


@shell_command("datasets")
@click.argument("name", required=False)
@file_option("-o", "--out", help="Where to write it: .npz keeps the shape of images; .csv, .npy, .edges, .gml, …")
@click.pass_obj
def command(session: Session, /, name: str | None, out: Path | None) -> None:
    """List data sets, or write the one called NAME to a file.

    Those that are not bundled are downloaded, and kept (NONNEG_DATA names the folder).

    \b
    Example, as it stands:
        nonneg datasets digits -o digits.npz
    """
    from ... import datasets, files
    from ...exceptions import IncompatibleError

    known = {
        **BUNDLED,
        **{face: "images of faces" if face != "swimmer" else "drawn swimmers" for face in FACES},
        "mni152": "a brain, 2 mm",
        **{f"graph:{one}": "a graph" for one in datasets.graph_names()},
        **{f"text:{one}": "documents × terms" for one in datasets.text_names()},
    }
    if name is None:
        session.result["datasets"] = known
        width = max(map(len, known))
        for one, what in known.items():
            session.say(f"{one:<{width}}  {what}")
        return
    if name not in known:
        from difflib import get_close_matches

        close = get_close_matches(name, known, 1)
        raise IncompatibleError(
            f"There is no data set {name!r}.{f' Did you mean {close[0]!r}?' if close else ''} See: nonneg datasets"
        )
    if out is None:
        raise click.UsageError("Say where to write it: -o FILE.")
    found = _made(name)
    if isinstance(found, str):
        with files.written_whole(out) as unfinished:
            unfinished.write_text(found, encoding="utf8")
    else:
        files.write(found, out)
        session.result["shape"] = found.shape
    session.wrote("data", out)


def _made(name: str) -> Any:
    """A table, or text."""
    import numpy as np

    from ... import datasets
    from ...files import Layout, Table
    from ...libraries import needed

    if name == "digits":
        from sklearn.datasets import load_digits

        return Table(load_digits().data, layout=Layout((8, 8)))
    if name == "iris":
        from sklearn.datasets import load_iris

        flowers = load_iris()
        rows = [
            ",".join([*map(str, row), str(flowers.target_names[kind])])
            for row, kind in zip(flowers.data, flowers.target, strict=True)
        ]
        return "\n".join([",".join([*(one.removesuffix(" (cm)") for one in flowers.feature_names), "species"]), *rows, ""])
    if name == "karate":
        networkx = needed("networkx", "graph", "This graph")
        graph = networkx.karate_club_graph()
        names = [str(node + 1) for node in graph]
        return Table(networkx.to_scipy_sparse_array(graph, weight=None, dtype=float), names, names, is_graph=True)
    if name == "chain":
        return _chain()
    kind, _, which = name.rpartition(":")
    if kind == "graph":
        loaded = datasets.load_graph(which)
        names = [str(one) for one in getattr(loaded, "names", None) or range(1, loaded.adjacency.shape[0] + 1)]
        return Table(loaded.adjacency, names, names, is_graph=True)
    if kind == "text":
        loaded = datasets.load_text(which)
        terms = getattr(loaded, "feature_names", None)
        return Table(loaded.data, features=terms if terms is not None and len(terms) == loaded.data.shape[1] else None)
    loaded = getattr(datasets, f"load_{which}")()
    values = np.atleast_2d(loaded.data)
    shape = tuple(loaded.feature_shape)
    return Table(values, layout=Layout(shape) if np.prod(shape) == values.shape[1] else None)


def _chain() -> str:
    import numpy as np

    generator = np.random.default_rng(0)
    moves = np.array([[0.8, 0.2, 0.0], [0.0, 0.7, 0.3], [0.4, 0.0, 0.6]])
    symbols = ["abc", "def", "ghi"]
    lines = []
    for _ in range(2):
        state, line = 0, ""
        for _ in range(500):
            line += str(generator.choice(list(symbols[state]), p=[0.6, 0.3, 0.1]))
            state = int(generator.choice(3, p=moves[state]))
        lines.append(line)
    return "\n".join([*lines, ""])
