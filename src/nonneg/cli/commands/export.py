"""nonneg export: files of a model that was fitted before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..options import PATH, file_option, shell_command
from ..outputs import refuse_inputs
from ..running import Session


@shell_command("export")
@click.argument("model", type=PATH)
@click.argument("data", nargs=-1, type=PATH)
@file_option("--components", kind="table", help="Write the parts: .csv, .npz, .nii.gz, .gii, …")
@file_option("--atlas", kind="table", help="Write to which part each voxel or vertex belongs: .nii.gz, .label.gii, …; for brains.")
@file_option("--labels", kind="table", help="Write to which part each feature belongs, 0 for none: .csv, …")
@file_option("--loadings", kind="table", help="Write how much of each part is in each sample of DATA: .csv, …")
@click.pass_obj
def command(session: Session, /, model: Path, data: tuple[Path, ...], **given: Any) -> None:
    """Write parts, atlas, labels or loadings of MODEL, which was fitted before.

    DATA are for the loadings; by default the files that the model was fitted to.

    \b
    Example, as it stands:
        nonneg datasets digits -o digits.npz
        nonneg fit digits.npz --rank 16 -o digits.nonneg
        nonneg export digits.nonneg --components parts.csv --loadings loadings.csv
    """
    import numpy as np

    from ...exceptions import FileError
    from ...io import Table
    from ...loading import read_stored
    from ...plot.views import column_labels, parts_of, quietly
    from .. import inputs, writing

    if not any(given.values()):
        raise click.UsageError("Nothing to write: name --components, --atlas, --labels or --loadings.")
    stored = read_stored(model)
    estimator, about = stored.estimator, stored.about
    layout, count = about.get("layout"), parts_of(estimator).shape[1]
    form = Table(np.zeros((1, count)), features=about.get("features"), layout=layout)
    writing.check_layouts(given, layout)
    paths = data or tuple(Path(path) for path in about.get("data", ()))
    if given["loadings"] and not data:
        refuse_inputs([(f"--{name}", path) for name, path in given.items() if path], [(str(model), path) for path in paths])
    if given["components"]:
        writing.write_components(parts_of(estimator), form, given["components"])
        session.wrote("components", given["components"])
    if given["atlas"]:
        writing.write_atlas(column_labels(estimator), form, given["atlas"])
        session.wrote("atlas", given["atlas"])
    if given["labels"]:
        writing.write_labels(column_labels(estimator), form.features, given["labels"], "feature")
        session.wrote("labels", given["labels"])
    if given["loadings"]:
        lost = next((path for path in paths if not path.exists()), None)
        if not paths or lost is not None:
            where = "is not known" if lost is None else f"is no longer there ({lost})"
            raise FileError(f"What {model} was fitted to {where}: give the data, nonneg export {model} DATA --loadings …")
        kept = about.get("reading", {})
        mask = layout if layout is not None and layout.is_brain else None
        missing = getattr(estimator, "missing", "raise")
        negative = kept.get("negative", "raise")
        chosen = {**inputs.reading_of(kept), "mask": mask, "negative": negative, "missing": missing}
        table = inputs.read_table(paths, **chosen, in_blocks=True, is_fitted=True, session=session)
        table = inputs.in_order(table, estimator, str(paths[0]))
        writing.write_codes(quietly(estimator.transform, table.values), table, given["loadings"])
        session.wrote("loadings", given["loadings"])
    session.result["model"] = type(estimator).__name__
