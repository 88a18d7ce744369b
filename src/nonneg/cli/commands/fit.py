"""nonneg fit: learn parts from data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .. import options
from ..running import Session

MODELS = options.models("PARTS")


@options.shell_command("fit")
@click.argument("data", nargs=-1, required=True, type=options.PATH)
@click.option("-m", "--model", type=MODELS, default="opnmf", show_default=True, help="Model to fit.")
@click.option(
    "-r",
    "--rank",
    default="auto",
    show_default=True,
    help="How many parts; or several, 2-12, of which the best is found, as nonneg rank does. auto: 2-12, as far as the data allow.",
)
@options.strata
@click.option("--form", help="The product form, with --model form: 'W H', 'X W W.T', …")
@click.option("--divergence", help="euclidean, kl, itakura-saito, … or a number b for the β-divergence.")
@click.option("--orthogonality", help="soft, exact, or a number between 0 and 1; for models with orthogonal parts.")
@click.option("--init", help="How to start: auto, random, nndsvd, kmeans, …")
@click.option("--solver", help="auto, coordinate, quasi-newton, multiplicative, paper, …")
@click.option("--restarts", type=int, help="How many starts; the best is kept.")
@click.option("--max-iter", type=int, help="The most iterations of a start.")
@click.option("--tol", type=float, help="When the objective counts as settled.")
@click.option("--jobs", type=int, help="How many starts at the same time.")
@options.seed
@options.assignments
@options.reading
@options.missing
@options.negative
@options.device
@options.checkpoint
@options.model_file(".nonneg")
@options.file_option("--components", kind="table", help="Write the parts: .csv, .npy, .npz, .nii.gz, …")
@options.file_option("--loadings", kind="table", help="Write how much of each part is in each sample: .csv, .npy, …")
@options.file_option(
    "--labels",
    kind="table",
    help="Write to which part each feature belongs most, 0 for none; with --model clustering, each sample: .csv, …",
)
@options.file_option("--atlas", kind="table", help="Write the same as an image, .nii.gz, .label.gii, …; for brains.")
@options.report
@click.pass_obj
def command(session: Session, /, data: tuple[Path, ...], model: str, **given: Any) -> None:
    """Learn parts from DATA, samples × features.

    DATA is a table (.csv, .tsv, .parquet, .npy, .npz, .mtx, .mat, .h5ad, .h5, .zarr), also a folder of .parquet, a folder or
    a list of images; scans, NIfTI, GIFTI, CIFTI-2, .mgh or FreeSurfer's, as files, a folder, or a table with a column of paths.

    \b
    Example, as it stands:
        nonneg datasets digits -o digits.npz
        nonneg fit digits.npz --model opnmf --rank 16 --report digits.html

    Ctrl-C ends the fit at its next check: the best result until then is written, and the exit code is 130. Files of more than a
    gigabyte (.npy, .h5ad, .h5, .zarr, .parquet) are read from disk, in blocks.
    """
    from ...plot.views import quietly
    from .. import fitting, inputs, scanning, writing

    out = given["out"]
    ranks = scanning.ranks_of(given["rank"])
    rank = int(ranks[0]) if len(ranks) == 1 else None
    if (model == "form") != bool(given["form"]):
        raise click.UsageError("--form goes with --model form, and the other way round.")
    if given["strata"] and rank is not None:
        raise click.UsageError("--strata is for the choice of a rank by split halves: --rank 2-12.")
    session.phase(f"Reading {', '.join(map(str, data[:3]))}{' …' if len(data) > 3 else ''}")
    from ...estimators.storing import write_model
    from ...plot.views import column_labels

    cls = MODELS[model]
    name = scanning.rank_parameter(cls, ranks if rank is None else rank, given["assignments"])
    wanted = {
        name: rank,
        "form": given["form"],
        "divergence": fitting.number_or_text(given["divergence"]),
        "orthogonality": fitting.number_or_text(given["orthogonality"]),
        "init": given["init"],
        "solver": given["solver"],
        "n_init": given["restarts"],
        "max_iter": given["max_iter"],
        "tol": given["tol"],
        "n_jobs": given["jobs"],
        "random_state": given["seed"],
        "missing": given["missing"] if given["missing"] != "raise" else None,
        "device": given["device"],
    }
    estimator = fitting.made(cls, wanted, given["assignments"])
    chosen = inputs.reading_of(given)
    table = inputs.read_table(
        data,
        **chosen,
        missing=given["missing"],
        negative=given["negative"],
        session=session,
        in_blocks=rank is not None,
        parts=scanning.most_parts(ranks),
    )
    writing.check_layouts(given, table.layout)
    if rank is None:
        from ..strata import classes_of

        classes, criteria = classes_of(session, given["strata"], table, str(data[0]), ())
        settings = {"criteria": criteria, "strata": classes, "seed": given["seed"], "jobs": given["jobs"]}
        scanning.with_best_rank(session, estimator, name, table.values, ranks, **settings)
    else:
        inputs.tell_of_many_parts(session, table, rank)
    if given["checkpoint"]:
        estimator.set_params(checkpoint=str(given["checkpoint"]))
    fitting.fitted(session, estimator, table.values)
    codes = fitting.put_in_order(estimator, table)
    fitting.keep_names(estimator, table.features)
    fitting.describe(session, estimator, table)
    fitting.tell_foremost(session, estimator, table)
    about = fitting.about_of(session, data, table, given)
    write_model(estimator, out, about)
    session.wrote("model file", out)
    if given["components"]:
        writing.write_components(estimator.components_, table, given["components"])
        session.wrote("components", given["components"])
    if given["loadings"]:
        writing.write_codes(quietly(estimator.transform, table.values) if codes is None else codes, table, given["loadings"])
        session.wrote("loadings", given["loadings"])
    if given["labels"]:
        of_samples = model == "clustering"
        labels = estimator.labels_ if of_samples else column_labels(estimator)
        names, of = (table.samples, "sample") if of_samples else (table.features, "feature")
        writing.write_labels(labels, names, given["labels"], of)
        session.wrote("labels", given["labels"])
    if given["atlas"]:
        writing.write_atlas(column_labels(estimator), table, given["atlas"])
        session.wrote("atlas", given["atlas"])
    if given["report"]:
        from ...report import write_report

        write_report(estimator, given["report"], table.values, about=about)
        session.wrote("report", given["report"])
