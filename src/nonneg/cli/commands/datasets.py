"""nonneg datasets: data to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..options import file_option, shell_command
from ..running import Session

BUNDLED = {
    "digits": "handwritten digits, 1797 images of 8 × 8 (scikit-learn)",
    "faces": "400 drawn faces of 48 × 40, made of twelve parts",
    "iris": "flowers of three species, 150 × 4, with their classes (scikit-learn)",
    "karate": "a karate club of 34 members, a graph",
    "parts": "six disjoint parts in random amounts, and noise, 200 × 60",
    "chain": "two sequences of a hidden chain with three states",
}
"""Data sets that need no download."""
PICTURES = {"swimmer": "drawn swimmers", "mni152": "a brain, 2 mm"}
PICTURES |= dict.fromkeys(("cbcl", "feret", "olivetti", "orl", "pie", "yale"), "images of faces")
"""Those of the papers, beside graphs and texts."""


@shell_command("datasets")
@click.argument("name", required=False)
@file_option("-o", "--out", help="Where to write it: .npz keeps the shape of images; .csv, .npy, .edges, .gml, …")
@click.pass_obj
def command(session: Session, /, name: str | None, out: Path | None) -> None:
    """List data sets, or write the one called NAME to a file.

    The data of the papers need the package nonneg-papers; they are downloaded, and kept (NONNEG_DATA names the folder).

    \b
    Example, as it stands:
        nonneg datasets digits -o digits.npz
    """
    from difflib import get_close_matches

    from ... import io as files
    from ...exceptions import IncompatibleError, MissingLibraryError

    known, missing = dict(BUNDLED), ""
    if name not in BUNDLED:
        try:
            known |= _papers()
        except MissingLibraryError as error:
            missing = f" {error}"
    if name is None:
        session.result["datasets"] = known
        width = max(map(len, known))
        for one, what in known.items():
            session.say(f"{one:<{width}}  {what}")
        if missing:
            session.say(missing.strip())
        return
    if name not in known:
        close = get_close_matches(name, known, 1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise IncompatibleError(f"There is no data set {name!r}.{hint} See: nonneg datasets.{missing}")
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


def _papers() -> dict[str, str]:
    """List the data sets of nonneg-papers."""
    from ...papers import import_papers

    papers = import_papers("The data of the papers")
    graphs, texts = (f"graph:{one}" for one in papers.graph_names()), (f"text:{one}" for one in papers.text_names())
    return {**PICTURES, **dict.fromkeys(graphs, "a graph"), **dict.fromkeys(texts, "documents × terms")}


def _made(name: str) -> Any:
    """A table, or text."""
    from ... import datasets

    if name == "iris":
        return _iris()
    if name == "chain":
        return _chain()
    if name in BUNDLED:
        make = {
            "digits": datasets.load_digits,
            "faces": datasets.make_faces,
            "karate": datasets.load_karate,
            "parts": datasets.make_parts,
        }[name]
        return _table(make())
    from ...papers import import_papers

    papers = import_papers(f"The data set {name}")
    kind, _, which = name.rpartition(":")
    return _table(
        {"graph": papers.load_graph, "text": papers.load_text}[kind](which) if kind else getattr(papers, f"load_{name}")()
    )


def _table(bunch: Any) -> Any:
    """Make a table of a graph, or of samples."""
    import numpy as np

    from ...io import Layout, Table

    if "adjacency" in bunch:
        names = [str(one) for one in bunch.names]
        return Table(bunch.adjacency, names, names, is_graph=True)
    shape = tuple(bunch.get("feature_shape", ()))
    is_picture = len(shape) > 1 and np.prod(shape) == bunch.data.shape[1]
    return Table(bunch.data, features=bunch.get("feature_names"), layout=Layout(shape) if is_picture else None)


def _iris() -> str:
    from sklearn.datasets import load_iris

    flowers = load_iris()
    rows = [
        ",".join([*map(str, row), str(flowers.target_names[kind])]) for row, kind in zip(flowers.data, flowers.target, strict=True)
    ]
    return "\n".join([",".join([*(one.removesuffix(" (cm)") for one in flowers.feature_names), "species"]), *rows, ""])


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
