"""nonneg cocluster: samples and features grouped together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .. import options
from ..running import Session

MODELS = options.models("COCLUSTERS")


@options.shell_command("cocluster")
@click.argument("data", nargs=-1, required=True, type=options.PATH)
@click.option("-m", "--model", type=MODELS, default="biornm3f", show_default=True, help="Model to fit.")
@click.option(
    "-r",
    "--rank",
    default="auto",
    show_default=True,
    metavar="ROWS[,COLUMNS]",
    help="How many groups of samples, and of features. auto: the best of 2 to 12 of both, as far as the data allow.",
)
@click.option("--divergence", help="euclidean, kl, … or a number b for the β-divergence.")
@click.option("--restarts", type=int, help="How many starts; the best is kept.")
@options.seed
@options.assignments
@options.reading
@options.missing
@options.negative
@options.device
@options.checkpoint
@options.model_file(".cocluster.nonneg")
@options.file_option("--rows", kind="table", help="Write to which group each sample belongs: .csv, …")
@options.file_option("--columns", kind="table", help="Write to which group each feature belongs: .csv, …")
@options.report
@click.pass_obj
def command(session: Session, /, data: tuple[Path, ...], model: str, rank: str, **given: Any) -> None:
    """Group the samples and the features of DATA together.

    \b
    Example, as it stands:
        nonneg datasets digits -o digits.npz
        nonneg cocluster digits.npz --rank 10,8 --rows rows.csv --columns columns.csv

    Ctrl-C ends the fit at its next check: the best so far is written, and the exit code is 130.
    """
    from ...estimators.storing import write_model
    from .. import fitting, inputs, scanning, writing

    out = given["out"]
    try:
        ranks = () if rank == "auto" else tuple(int(part) for part in rank.replace("x", ",").split(","))
    except ValueError:
        ranks = (0,)
    if len(ranks) > 2 or min(ranks, default=1) < 1:
        raise click.BadParameter(f"{rank!r} is not a number of at least 1, or two of them, 10,8, or auto.", param_hint="--rank")
    cls = MODELS[model]
    name = scanning.rank_parameter(cls, ranks or "auto", given["assignments"])
    wanted = {
        name: None if not ranks else ranks if len(ranks) == 2 else ranks[0],
        "divergence": fitting.number_or_text(given["divergence"]),
        "n_init": given["restarts"],
        "random_state": given["seed"],
        "missing": given["missing"] if given["missing"] != "raise" else None,
        "device": given["device"],
    }
    estimator = fitting.made(cls, wanted, given["assignments"])
    session.phase(f"Reading {data[0]}")
    chosen = inputs.reading_of(given)
    table = inputs.read_table(
        data, **chosen, missing=given["missing"], negative=given["negative"], session=session, in_blocks=bool(ranks)
    )
    if ranks:
        inputs.tell_of_many_parts(session, table, ranks[0])
    else:
        scanning.with_best_rank(session, estimator, name, table.values, "auto", seed=given["seed"])
    if given["checkpoint"]:
        estimator.set_params(checkpoint=str(given["checkpoint"]))
    fitting.fitted(session, estimator, table.values)
    fitting.keep_names(estimator, table.features)
    fitting.describe(session, estimator, table)
    about = fitting.about_of(session, data, table, given)
    write_model(estimator, out, about)
    session.wrote("model file", out)
    for what, labels, names in (
        ("rows", estimator.row_labels_, table.samples),
        ("columns", estimator.column_labels_, table.features),
    ):
        if given[what]:
            writing.write_labels(labels, names, given[what], "sample" if what == "rows" else "feature")
            session.wrote(what, given[what])
    if given["report"]:
        from ...report import write_report

        write_report(estimator, given["report"], table.values, about=about)
        session.wrote("report", given["report"])
