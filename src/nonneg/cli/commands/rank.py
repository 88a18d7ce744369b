"""nonneg rank: how many parts the data have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..options import (
    FOLDER,
    PATH,
    Registered,
    assignments,
    device,
    file_option,
    missing,
    negative,
    reading,
    report,
    seed,
    shell_command,
    strata,
)
from ..running import Session


def _models() -> dict[str, type]:
    """Models whose rank can be scanned, by name."""
    from ... import estimators, graph, hmm

    parts = {name: cls for name, cls in estimators.PARTS.items() if name not in ("svd", "form")}
    return {**parts, **estimators.COCLUSTERS, "graph": graph.GraphClustering, "chain": hmm.QNMFHMM}


def _criteria() -> dict[str, type]:
    """Criteria by name."""
    from ...selection.criteria import NAMES

    return NAMES


MODELS = Registered("--model", _models)
CRITERIA = Registered("--criterion", _criteria)


@shell_command("rank")
@click.argument("data", nargs=-1, required=True, type=PATH)
@click.option("-m", "--model", type=MODELS, default="opnmf", show_default=True, help="Model to fit.")
@click.option(
    "-r",
    "--rank",
    "ranks",
    default="auto",
    show_default=True,
    help="Which ranks: 2-12, 2-20:2, or 2,4,8. auto: 2-12, as far as the data and the criteria allow.",
)
@click.option(
    "-c",
    "--criterion",
    "criteria",
    multiple=True,
    type=CRITERIA,
    help="Criterion; of several, the first decides.",
)
@click.option("--divergence", help="euclidean, kl, itakura-saito, … or a number b for the β-divergence.")
@strata
@click.option("--jobs", type=int, help="How many fits at the same time.")
@click.option("--keep", type=FOLDER, help="A folder for every measurement; the same command goes on where it ended.")
@seed
@assignments
@reading
@missing
@negative
@device
@file_option("-o", "--out", kind="table", help="Write the measures of each criterion at each rank: .csv, .parquet, …")
@file_option("--plot", kind="plot", help="Draw the curve: .png, .svg, .pdf.")
@report
@click.pass_obj
def command(session: Session, /, data: tuple[Path, ...], model: str, ranks: str, **given: Any) -> None:
    """Find out how many parts DATA have, and how far to trust that.

    DATA are as for nonneg fit; a graph as for nonneg partition with --model graph; sequences with --model chain. Which criterion is
    compared in https://nonneg.github.io/nonneg/evidence/ranks.html.

    \b
    Example, as it stands:
        nonneg datasets iris -o iris.csv
        nonneg rank iris.csv --ignore species --model nmf --rank 1-3 -o ranks.csv

    Ctrl-C ends the scan: the ranks measured until then are written, and the exit code is 130.
    """
    from .. import fitting, inputs, scanning

    wanted = scanning.ranks_of(ranks)
    session.phase(f"Reading {data[0]}")
    from ...exceptions import FileError
    from ...io import read_graph
    from ..strata import classes_of

    cls = MODELS[model]
    scanning.rank_parameter(cls, wanted, given["assignments"])
    for criterion in given["criteria"]:
        CRITERIA[criterion]
    settings = {"divergence": fitting.number_or_text(given["divergence"])}
    settings |= {"missing": given["missing"]} if given["missing"] != "raise" else {}
    settings |= {"device": given["device"]}
    estimator = fitting.made(cls, settings, given["assignments"])
    table = None
    if model in ("graph", "chain"):
        if len(data) > 1:
            raise FileError(f"One file is needed for --model {model}; there are {len(data)}.")
        table = read_graph(data[0]) if model == "graph" else None
        X = inputs.read_sequences(data[0], "auto", session) if table is None else table.values
    else:
        chosen = inputs.reading_of(given)
        most = scanning.most_parts(wanted)
        table = inputs.read_table(data, **chosen, missing=given["missing"], negative=given["negative"], session=session, parts=most)
        X = table.values
    classes, criteria = classes_of(session, given["strata"], table, str(data[0]), given["criteria"])
    scan = scanning.scanned(
        session, estimator, X, wanted, criteria=criteria, seed=given["seed"], jobs=given["jobs"], keep=given["keep"], strata=classes
    )
    found = scan.summary()
    session.result |= {"rank": found["best"], "why": found["why"], "model": cls.__name__}
    _say_measures(session, found)
    if "stopped" in session.result:
        session.warn(session.result["stopped"])
    if given["out"]:
        _write_measures(found, given["out"])
        session.wrote("table", given["out"])
    if given["plot"]:
        _draw(scan, given["plot"])
        session.wrote("plot", given["plot"])
    if given["report"]:
        from ...report import write_rank_report

        about = fitting.about_of(session, data, table, given) | {"seed": given["seed"]}
        write_rank_report(estimator, found, given["report"], about=about)
        session.wrote("report", given["report"])


def _say_measures(session: Session, found: dict[str, Any]) -> None:
    """Print the measures of each rank, and the best one with its reason."""
    columns = {name: values for name, values in found["columns"].items() if name != "rank"}
    session.say("  ".join([f"{'rank':>6}", *columns]))
    for number, rank in enumerate(found["columns"]["rank"]):
        measures = (f"{values[number]:>{len(key)}.4g}" for key, values in columns.items())
        session.say("  ".join([f"{_spell(rank):>6}", *measures]))
    session.say(f"{'rank':<12} {_spell(found['best'])}. {found['why']}")


def _spell(rank: int | list[int]) -> str:
    """A rank, or a pair of them, in words: 3×4."""
    return "×".join(map(str, rank)) if isinstance(rank, list) else str(rank)


def _write_measures(found: dict[str, Any], path: Path) -> None:
    """Write the measures of each rank as a table."""
    from ...io import Table, write

    scanned, is_one = found["columns"]["rank"], not isinstance(found["best"], list)
    columns = {name: values for name, values in found["columns"].items() if name != "rank"}
    headings = ["rank"] if is_one else ["rank of samples", "rank of features"]
    rows = [[*([rank] if is_one else rank), *row] for rank, row in zip(scanned, zip(*columns.values(), strict=True), strict=True)]
    write(Table(rows, None, [*headings, *columns]), path)


def _draw(scan: Any, path: Path) -> None:
    """The curves of all criteria, one below the other, in a file."""
    from ...exceptions import needed
    from ...io.atomic import written_whole
    from ...plot import ranks

    figure = needed("matplotlib.figure", "plot", "Drawing").Figure(figsize=(6, 3.4 * len(scan.criteria)), layout="constrained")
    for ax, one in zip(figure.subplots(len(scan.criteria), squeeze=False)[:, 0], scan.criteria, strict=True):
        ranks(scan, criterion=one.name, ax=ax)
    with written_whole(path) as unfinished:
        figure.savefig(unfinished, format=path.suffix.lstrip(".") or "png")
