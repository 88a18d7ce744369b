"""nonneg partition: a graph in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..options import PATH, assignments, file_option, model_file, report, seed, shell_command
from ..running import Session


@shell_command("partition")
@click.argument("graph", type=PATH)
@click.option("-k", "--parts", default="auto", show_default=True, help="How many parts. auto: 2-12, by a scan.")
@click.option("--method", help="auto, block-model, refined, onl, sqrt-onl, nsc, kernel-pnmf, kernel-kmeans, pod, …")
@click.option("--similarity", help="adjacency, modularity, normalized, random-walk, …")
@click.option("--symmetrize", type=click.Choice(["mean", "max"]), help="Treatment of a directed graph.")
@click.option("--restarts", type=int, help="Starts of each kind.")
@seed
@assignments
@model_file(".partition.nonneg")
@file_option("--labels", kind="table", help="Write the part of each vertex: .csv, …")
@report
@click.pass_obj
def command(session: Session, /, graph: Path, parts: str, **given: Any) -> None:
    """Divide the vertices of GRAPH into parts.

    GRAPH is .gml, .graphml, Pajek's .net, a list of edges (.edges, .csv), a square table of weights, or .mtx.

    \b
    Example, as it stands:
        nonneg datasets karate -o karate.edges
        nonneg partition karate.edges --parts 4 --labels parts.csv

    Ctrl-C ends the fit at its next check: the best partition so far is written, and the exit code is 130.
    """
    import numpy as np

    from ...estimators.storing import write_model
    from ...graph import GraphClustering
    from ...io import read_graph
    from .. import fitting, writing

    out = given["out"]
    wanted = {
        "n_clusters": _count_of(parts),
        "method": given["method"],
        "similarity": given["similarity"],
        "symmetrize": given["symmetrize"],
        "n_init": given["restarts"],
        "random_state": given["seed"],
    }
    estimator = fitting.made(GraphClustering, wanted, given["assignments"])
    session.phase(f"Reading {graph}")
    table = read_graph(graph)
    fitting.fitted(session, estimator, table.values)
    if table.samples is not None:
        estimator.vertices_ = table.samples
    sizes = np.bincount(estimator.labels_)
    session.result |= {"labels": estimator.labels_ + 1, "vertices": table.samples, "sizes": sizes}
    fitting.describe(session, estimator, table)
    session.say(f"{'sizes':<12} {', '.join(map(str, sizes))}")
    about = fitting.about_of(session, [graph], table)
    write_model(estimator, out, about)
    session.wrote("model file", out)
    if given["labels"]:
        writing.write_labels(estimator.labels_, table.samples, given["labels"], "vertex")
        session.wrote("labels", given["labels"])
    if given["report"]:
        from ...report import write_report

        write_report(estimator, given["report"], table.values, about=about)
        session.wrote("report", given["report"])


def _count_of(parts: str) -> int | str:
    """The number of parts, or "auto"."""
    if parts != "auto" and not (parts.isdecimal() and int(parts)):
        raise click.BadParameter(f"{parts!r} is neither a number of parts, 1 or more, nor 'auto'.", param_hint="--parts")
    return parts if parts == "auto" else int(parts)
