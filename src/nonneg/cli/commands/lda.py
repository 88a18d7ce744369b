"""nonneg lda: which features tell classes apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..options import PATH, assignments, file_option, model_file, reading, report, shell_command
from ..running import Session


@shell_command("lda")
@click.argument("data", nargs=-1, required=True, type=PATH)
@click.option("--label", metavar="COLUMN", help="The column that has the classes.")
@click.option("--classes", type=PATH, help="A file with the class of each sample, one a line, in place of a column.")
@assignments
@reading
@model_file(".lda.nonneg")
@file_option("--components", kind="table", help="Write the directions, one a row: .csv, …")
@report
@click.pass_obj
def command(session: Session, /, data: tuple[Path, ...], label: str | None, classes: Path | None, **given: Any) -> None:
    """Learn Fisher's discriminant with weights of one sign from DATA.

    \b
    Example, as it stands:
        nonneg datasets iris -o iris.csv
        nonneg lda iris.csv --label species -o iris.nonneg
    """
    from ... import estimators
    from ...estimators.storing import write_model
    from ...exceptions import FileError
    from ...plot.views import quietly, top_of
    from .. import fitting, inputs, writing

    if (label is None) == (classes is None):
        raise click.UsageError("Say where the classes are: --label COLUMN, or --classes FILE.")
    out = given["out"]
    estimator = fitting.made(estimators.NonnegativeLDA, {}, given["assignments"])
    session.phase(f"Reading {data[0]}")
    ignore = (*given["ignore"], *([label] if label else []))
    table = inputs.read_table(data, **{**inputs.reading_of(given), "ignore": ignore}, negative="keep")
    y = table.aside[label] if label else [row[0] for row in inputs.read_sequences(classes, "words")]  # type: ignore[arg-type]
    if len(y) != table.shape[0]:
        raise FileError(f"{classes} has {len(y)} classes for {table.shape[0]} samples.")
    if len(set(y)) == len(y) > 1:
        where = f"The column {label!r}" if label else str(classes)
        raise FileError(
            f"{where} has a class of its own for each of the {len(y)} samples, such as {str(y[0])!r}. A class is a value "
            "that several samples share."
        )
    try:
        fitting.fitted(session, estimator, table.values, y)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped before every class had its direction, so that there is nothing to save yet.") from None
    fitting.keep_names(estimator, table.features)
    accuracy = quietly(estimator.score, table.values, y)
    session.result |= {"classes": estimator.classes_, "training_accuracy": accuracy, "fisher_ratio": estimator.fisher_ratio_}
    fitting.describe(session, estimator, table)
    session.say(f"{'accuracy':<12} {accuracy:.4f} on the data it was fitted to")
    names = table.features if table.features is not None else [f"column {j + 1}" for j in range(table.shape[1])]
    of = estimator.classes_ if len(estimator.components_) == len(estimator.classes_) else range(1, len(estimator.components_) + 1)
    for name, w in zip(of, estimator.components_, strict=True):
        session.say(f"{str(name)[:12]:<12} {', '.join(f'{names[j]} {w[j]:+.3g}' for j in top_of(w, 6))}")
    about = fitting.about_of(session, data, table, given | {"ignore": ignore, "label": label})
    write_model(estimator, out, about)
    session.wrote("model file", out)
    if given["components"]:
        writing.write_components(estimator.components_, table, given["components"])
        session.wrote("components", given["components"])
    if given["report"]:
        from ...report import write_report

        write_report(estimator, given["report"], table.values, about=about)
        session.wrote("report", given["report"])
