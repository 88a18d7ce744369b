"""nonneg report: a page about a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..options import PATH, file_option, negative, reading, shell_command
from ..running import Session


@shell_command("report")
@click.argument("model", type=PATH)
@click.option(
    "--data", multiple=True, type=PATH, help="The data of the fit, for sections that need them; several times for several."
)
@reading
@negative
@file_option("-o", "--out", kind="page", required=True, help="The page: .html.")
@click.pass_obj
def command(session: Session, /, model: Path, data: tuple[Path, ...], **given: Any) -> None:
    """Write a page about MODEL, a file that fit, cocluster, partition, hmm or lda wrote.

    \b
    Example, as it stands:
        nonneg datasets digits -o digits.npz
        nonneg fit digits.npz --rank 16 -o digits.nonneg
        nonneg report digits.nonneg --data digits.npz -o digits.html
    """
    from ...exceptions import FileError
    from ...io import read_graph
    from ...loading import read_stored
    from ...report import write_report
    from .. import inputs

    stored = read_stored(model)
    values = None
    if data and hasattr(stored.estimator, "vertices_"):
        if len(data) > 1:
            raise FileError(f"{model} is of one graph, and --data names {len(data)}: {', '.join(map(str, data[:3]))}. Give one.")
        values = read_graph(data[0]).values
    elif data:
        layout = stored.about.get("layout")
        mask = given["mask"] or (layout if layout is not None and layout.is_brain else None)
        missing = getattr(stored.estimator, "missing", "raise")
        negative = "keep" if hasattr(stored.estimator, "classes_") else given["negative"]
        chosen = {**inputs.reading_of(given), "mask": mask, "negative": negative, "missing": missing}
        table = inputs.read_table(data, **chosen, in_blocks=True, is_fitted=True, session=session)
        values = inputs.in_order(table, stored.estimator, str(data[0])).values
    write_report(stored.estimator, given["out"], values, about=stored.about)
    session.result["model"] = type(stored.estimator).__name__
    session.wrote("report", given["out"])
