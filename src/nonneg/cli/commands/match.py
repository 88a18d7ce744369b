"""nonneg match: which vertex of one graph is which of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..options import PATH, file_option, seed, shell_command
from ..running import Session


@shell_command("match")
@click.argument("first", type=PATH)
@click.argument("second", type=PATH)
@click.option("--divergence", default="kullback-leibler", show_default=True, help="euclidean, kullback-leibler, …")
@click.option("--restarts", type=click.IntRange(0), default=0, show_default=True, help="First guesses at random beside the others.")
@seed
@file_option("-o", "--out", help="Write the pairs: .csv; printed otherwise.")
@click.pass_obj
def command(session: Session, /, first: Path, second: Path, **given: Any) -> None:
    """Find which vertex of graph FIRST is which of graph SECOND.

    \b
    Example, as it stands:
        nonneg datasets karate -o karate.edges
        nonneg match karate.edges karate.edges -o pairs.csv

    Ctrl-C ends the search: the best matching so far is written, and the exit code is 130.
    """
    import csv

    from ...exceptions import Stopped
    from ...graph import match_graphs
    from ...io import read_graph, written_whole
    from .. import fitting

    divergence = fitting.divergence_of(given["divergence"])
    session.phase(f"Reading {first} and {second}")
    A, B = read_graph(first), read_graph(second)
    with fitting.told(session):
        try:
            settings = {"divergence": divergence, "n_init": given["restarts"], "random_state": given["seed"]}
            found = match_graphs(A.values, B.values, **settings)
        except Stopped as stopped:
            found = stopped.solution
            raise
    names_A, names_B = (range(1, table.shape[0] + 1) if table.samples is None else table.samples for table in (A, B))
    rows = [
        (str(names_A[a]) if a >= 0 else "", str(names_B[b]), round(float(found.confidence[b]), 6))
        for b, a in enumerate(found.permutation)
    ]
    session.result |= {"edge_error": found.edge_error, "squared_error": found.squared_error, "pairs": rows, "start": found.start}
    session.say(f"{'differing':<12} {found.edge_error} entries")
    if session.interrupted:
        session.result["stopped"] = "Stopped by the user: this is the best matching so far."
        session.say(f"{'ended':<12} {session.result['stopped']}")
    if given["out"] is None:
        for row in rows:
            session.say("\t".join(map(str, row)))
        return
    with written_whole(given["out"]) as unfinished, open(unfinished, "w", encoding="utf8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["first", "second", "confidence"])
        writer.writerows(rows)
    session.wrote("pairs", given["out"])
