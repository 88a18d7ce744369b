"""nonneg transform: codes of new samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..options import PATH, device, file_option, negative, reading, shell_command
from ..running import Session


@shell_command("transform")
@click.argument("model", type=PATH)
@click.argument("data", nargs=-1, required=True, type=PATH)
@reading
@negative
@device
@file_option(
    "-o", "--out", kind="table", required=True, help="Where to write the codes, one row a sample: .csv, .npy, .npz, .parquet, …"
)
@file_option("--labels", kind="table", help="Write to which part each sample belongs: .csv, …; for models that predict.")
@click.pass_obj
def command(session: Session, /, model: Path, data: tuple[Path, ...], **given: Any) -> None:
    """Write how much of each part of MODEL is in each sample of DATA.

    Columns are matched by name if both have names. Volumes are read in the mask that the model was fitted in.

    \b
    Example, as it stands:
        nonneg datasets digits -o digits.npz
        nonneg fit digits.npz --rank 16 -o digits.nonneg
        nonneg transform digits.nonneg digits.npz -o codes.csv
    """
    from ...exceptions import IncompatibleError
    from ...loading import read_stored
    from ...plot.views import quietly
    from .. import inputs, writing

    stored = read_stored(model)
    estimator, about = stored.estimator, stored.about
    if not hasattr(estimator, "transform"):
        raise IncompatibleError(f"{model} is a {type(estimator).__name__}, which has no codes for new samples.")
    if given["labels"] is not None and not hasattr(estimator, "predict"):
        raise IncompatibleError(f"{model} is a {type(estimator).__name__}, which puts samples into no clusters.")
    if given["device"] is not None:
        if "device" not in estimator.get_params(deep=False):
            raise IncompatibleError(f"{model} is a {type(estimator).__name__}, which works in main memory: leave out --device.")
        estimator.set_params(device=given["device"])
    layout = about.get("layout")
    mask = given["mask"] or (layout if layout is not None and layout.is_brain else None)
    missing = getattr(estimator, "missing", "raise")
    negative = "keep" if hasattr(estimator, "classes_") else given["negative"]
    chosen = {**inputs.reading_of(given), "mask": mask, "negative": negative, "missing": missing}
    table = inputs.read_table(data, **chosen, in_blocks=True, is_fitted=True, session=session)
    table = inputs.in_order(table, estimator, str(data[0]))
    codes = quietly(estimator.transform, table.values)
    writing.write_codes(codes, table, given["out"])
    session.result |= {"model": type(estimator).__name__, "samples": len(codes), "parts": codes.shape[1]}
    session.wrote("codes", given["out"])
    if given["labels"] is not None:
        labels = quietly(estimator.predict, table.values)
        writing.write_predictions(labels, table.samples, given["labels"])
        session.wrote("labels", given["labels"])
