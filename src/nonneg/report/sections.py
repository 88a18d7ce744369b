"""Sections of the page about a fit: functions of its subject that give a heading and blocks, or None."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np
from scipy import sparse

from .. import coclusters
from ..data import Data
from ..exceptions import IncompatibleError
from ..plot.curves import convergence as draw_convergence
from ..plot.slices import cuts, slices
from ..plot.views import coarse, column_labels, order_by, top_of
from ..version import __version__
from .blocks import Bar, Block, Code, Columns, Cut, Facts, Folded, Gallery, Notes, Picture, Section, Table, Text, Volumes
from .pictures import chart, image, overlaid
from .subject import Subject
from .wording import change, short, told_apart

_MOST_PARTS = 100
"""Parts that are drawn, at most."""
_TOP = 8
"""Features listed for a part."""
_SAMPLE = 2000
"""Samples that are shown of data that are not in memory."""
_MOST_STARTS_APART = 0.01
"""Relative difference of the objectives of several starts above which the page says that there are local minima."""


def summary(subject: Subject) -> Section:
    """The model, its data and its result."""
    model, about = subject.model, subject.about
    shape = about.get("shape") or (None if subject.X is None else subject.X.shape)
    error, is_graph = subject.relative_error(), hasattr(model, "vertices_")
    of = "" if subject.X is None or tuple(shape or ()) == tuple(subject.X.shape) else f" of the {subject.X.shape[0]} samples shown"
    known = {
        "Data": None if shape is None else f"{shape[0]} vertices" if is_graph else f"{shape[0]} samples × {shape[1]} features",
        "Objective": _number(model, "objective_"),
        f"Relative error{of}": None if error is None else f"{error:.4f}",
        "Iterations": _number(model, "n_iter_"),
        "Time to fit": None if "fit_seconds" not in about else f"{about['fit_seconds']:.3g} s",
        "Seed": None if getattr(model, "random_state", None) is None else str(model.random_state),
        "Started": str(about.get("began") or "")[:16].replace("T", " "),
        "Fisher's ratio": ", ".join(f"{ratio:.4g}" for ratio in getattr(model, "fisher_ratio_", ())[:4]) or None,
    }
    for name, measures in (getattr(model, "orthogonality_", None) or {}).items():
        known[f"Mean cosine of two parts ({name})"] = f"{1 - measures.rho:.4f}"
        known[f"‖{name}ᵀ{name} − I‖"] = f"{measures.error:.4f}"
    return Section("Summary", [Facts(known), *command(about)])


def command(about: Mapping[str, Any]) -> list[Block]:
    """The command line of the fit, if there was one."""
    return [Text("The command:"), Code(about["command"], wraps=True)] if "command" in about else []


def notes(subject: Subject) -> Section:
    """Warnings about the result, with remedies."""
    model, found = subject.model, []
    status = getattr(model, "status_", None)
    if "stopped" in subject.about:
        found.append(str(subject.about["stopped"]))
    elif status is not None and status.value not in ("converged", "no_progress"):
        found.append(status.sentence)
    found += [str(text) for text in subject.about.get("warnings", ()) if status is None or status.sentence not in text]
    if subject.parts is not None:
        empty = [subject.name_of(int(k)) for k in np.flatnonzero(~np.abs(subject.parts).any(axis=1))]
        if empty:
            found.append(
                f"{', '.join(empty)}: nothing is left of these. The data have fewer parts than were asked for; use a lower rank."
            )
    objectives = getattr(model, "objectives_", ())
    if len(objectives) > 1 and np.isfinite(objectives).all() and min(objectives) > 0:
        spread = float(max(objectives) / min(objectives) - 1)
        if spread > _MOST_STARTS_APART:
            found.append(
                f"The {len(objectives)} starts end at objectives that differ by {spread:.1%}: there are several local minima. More "
                "restarts may find a lower one."
            )
    elif len(objectives) == 1 and hasattr(model, "n_init"):
        found.append(
            "There was one start only. Local minima differ: several restarts (n_init, --restarts) tell by how much; the best is "
            "kept."
        )
    return Section("What to know", [Notes(found, "Nothing: the fit ended as it should.")])


def convergence(subject: Subject) -> Section | None:
    """The objective, and the distance of factors from their constraints, over time."""
    history = getattr(subject.model, "history_", None)
    if history is None or np.isfinite(history.objective).sum() < 2:
        return None
    kept = np.isfinite(history.objective)
    seconds, objective = history.seconds[kept], history.objective[kept]
    label = f"The objective {change(objective)} in {short(seconds[-1] - seconds[0])} seconds."
    label += "".join(
        f" The distance of {name} from its constraint {change(values)}."
        for name, values in history.violation.items()
        if np.any(values > 0) and np.isfinite(values).all()
    )
    some = history[:: max(1, len(history) // 20)]
    values = told_apart(record.objective for record in some)
    rows = [(record.iteration, f"{record.seconds:.2f}", value) for record, value in zip(some, values, strict=True)]
    numbers = Table("The objective at some of the checks", ("iteration", "seconds", "objective"), rows)
    return Section("Convergence", [chart(lambda ax: draw_convergence(subject.model, ax=ax), label), Folded("The numbers", numbers)])


def strategy(subject: Subject) -> Section | None:
    """The stages of the fit, with the reason and the cost of each."""
    found = getattr(subject.model, "strategy_", None)
    if found is None:
        return None
    return Section(
        "How it was fitted", [Table("As nonneg.explain prints it, with the time of each stage", ("", "", "why"), found.lines)]
    )


def parts(subject: Subject) -> Section | None:
    """The parts: as images if features have a layout, else by their top features."""
    found, layout = subject.parts, subject.layout
    if found is None or not found.size:
        return None
    shown = list(enumerate(found[:_MOST_PARTS]))
    pictures: Block
    if layout is not None and layout.is_volume and found.shape[1] == layout.n_features:
        words = "The slices that have most of each part, in red, up to its own largest entry, over the mean of the data in grey."
        pictures = Volumes([(subject.name_of(number), _cuts(subject, number, part)) for number, part in shown])
    elif layout is not None and len(layout.shape) > 1 and found.shape[1] == layout.n_features:
        words = "Each in shades up to its own largest entry."
        pictures = Gallery([_picture(subject, number, part) for number, part in shown])
    else:
        words = "The features with the largest weights."
        pictures = Columns([_top_table(subject, number, part) for number, part in shown])
    more = [Text(f"The first {len(shown)} of {len(found)}.")] if len(shown) < len(found) else []
    return Section(f"The {subject.what}s", [Text(words), *more, pictures])


def _cuts(subject: Subject, number: int, part: np.ndarray) -> list[Cut]:
    """A part of a brain on three slices, with sides and millimetres."""
    assert subject.layout is not None
    at, peak = cuts(subject.layout, part), float(np.abs(part).max()) or 1.0
    values = slices(subject.layout, np.abs(part) / peak, at)
    greys = slices(subject.layout, subject.background, at, outside=np.nan)
    return [
        Cut(
            Picture(overlaid(grey.values, shown.values), f"{subject.name_of(number)}, {shown.name}", shown.name),
            shown.sides or ("", ""),
        )
        for shown, grey in zip(values, greys, strict=True)
    ]


def _picture(subject: Subject, number: int, part: np.ndarray) -> Picture:
    assert subject.layout is not None
    picture, name = subject.layout.picture(part), subject.name_of(number)
    count = int(np.count_nonzero(np.abs(part) > 0.1 * np.abs(part).max()))
    alt = f"{name}: {count} of {len(part)} pixels are above a tenth of the largest."
    return Picture(image(picture), alt, name, is_ink=picture.min() >= 0)


def _top_table(subject: Subject, number: int, part: np.ndarray) -> Table:
    peak = float(np.abs(part).max()) or 1.0
    rows = [(subject.features[j], Bar(abs(part[j]) / peak), short(float(part[j]))) for j in top_of(part, _TOP)]
    return Table(subject.name_of(number), ("feature", "", "weight"), rows)


def blocks(subject: Subject) -> Section | None:
    """The blocks of a co-clustering: sizes of clusters, and the mean of each block if the data are given."""
    if subject.blocks is None:
        return None
    model, X = subject.model, subject.X
    n, m = subject.blocks
    of_rows, of_columns = np.bincount(model.row_labels_, minlength=n), np.bincount(model.column_labels_, minlength=m)
    is_fitted = X is not None and X.shape == (len(model.row_labels_), len(model.column_labels_)) and not isinstance(X, Data)
    cells = coclusters.block_means(X, model) if is_fitted else coclusters.sizes(model)
    header = ("", *(f"features {j + 1} ({count})" for j, count in enumerate(of_columns)))
    rows = [
        (f"samples {i + 1} ({count})", *("–" if np.isnan(cell) else short(cell) for cell in cells[i]))
        for i, count in enumerate(of_rows)
    ]
    what = "The mean of the data in each block" if is_fitted else "The number of entries in each block"
    return Section("The blocks", [Table(f"{what}; the sizes of clusters in brackets", header, rows)])


def sizes(subject: Subject) -> Section | None:
    """Numbers of features and samples of each part."""
    model = subject.model
    if hasattr(model, "classes_") or subject.blocks is not None:
        return None
    if hasattr(model, "startprob_"):
        shares = np.asarray(model.startprob_)
        rows = [(subject.name_of(k), Bar(share / shares.max()), f"{share:.3f}") for k, share in enumerate(shares)]
        return Section("Sizes", [Table("The share of time in each state", ("state", "", "share"), rows)])
    number = len(subject.parts) if subject.parts is not None else int(model.labels_.max()) + 1
    labels: dict[str, np.ndarray] = {}
    if subject.parts is not None:
        labels["features"] = column_labels(model)
    if subject.rows is not None:
        labels["vertices" if hasattr(model, "vertices_") else "samples"] = subject.rows
    tables = []
    for what, of in labels.items():
        count = np.bincount(of[of >= 0], minlength=number)
        rows = [(f"Part {k + 1}", Bar(size / max(1, count.max())), str(int(size))) for k, size in enumerate(count)]
        tables.append(Table(f"How many {what} belong to each part most", ("part", "", what), rows))
    return Section("Sizes", [Columns(tables)]) if tables else None


def transitions(subject: Subject) -> Section | None:
    """Probabilities from one state to another."""
    P = getattr(subject.model, "transmat_", None)
    if P is None:
        return None
    rows = [(f"from {i + 1}", *(f"{p:.3f}" for p in row)) for i, row in enumerate(P)]
    return Section("Transitions", [Table("Probability of the next state", ("", *(f"to {j + 1}" for j in range(len(P)))), rows)])


def matrix(subject: Subject) -> Section | None:
    """The data in the order of the parts."""
    X = subject.values
    if X is None or subject.rows is None:
        return None
    try:
        columns = column_labels(subject.model)
    except IncompatibleError:
        return None
    if len(columns) != X.shape[1] or len(subject.rows) != X.shape[0]:
        return None
    labels, of = subject.rows, "data"
    if isinstance(X, Data):
        some = np.linspace(0, X.shape[0] - 1, min(X.shape[0], _SAMPLE)).astype(np.int64)
        X, labels, of = X.take(some, 0), labels[some], f"data, {len(some)} of the samples"
    X = X if sparse.issparse(X) or not np.isnan(np.sum(X)) else np.nan_to_num(X)
    picture = coarse(X, order_by(labels)[0], order_by(columns)[0], most=480)
    positive = picture[picture > 0]
    most = float(np.quantile(positive, 0.98)) if len(positive) else 1.0
    items = "vertices" if hasattr(subject.model, "vertices_") else "samples and features"
    shape = subject.X.shape
    words = f"The {shape[0]} × {shape[1]} {of}, {items} sorted by the part that they belong to most; strong shades are large."
    drawn = Picture(image(picture, most=most), words, words, is_ink=picture.min() >= 0, is_wide=True)
    return Section("The data, reordered", [drawn])


def python(subject: Subject) -> Section:
    """The same in Python."""
    model = subject.model
    fit = ".fit(X, y)" if hasattr(model, "classes_") else ".fit(X)"
    imports, read = python_imports(model, subject.about)
    return Section("The same in Python", [Code(f"{imports}\n{read}model = {model!r}{fit}")])


def python_imports(model: Any, about: Mapping[str, Any]) -> tuple[str, str]:
    """Imports of an estimator, and the reading of its data."""
    paths = list(about.get("data", ()))
    is_chain, is_graph = hasattr(model, "n_states"), type(model).__name__ == "GraphClustering"
    read = _python_of_reading(paths, about.get("reading") or {}) if paths and not is_chain else "X = ...  # your data\n"
    read += "y = ...  # your classes\n" if hasattr(model, "classes_") and "y = " not in read else ""
    needs_files = "files" in read
    if is_graph:
        return f"from nonneg.graph import {type(model).__name__}\n{'from nonneg import files' if needs_files else ''}\n", read
    return f"from nonneg import {type(model).__name__}{', files' if needs_files else ''}\n", read


def _python_of_reading(paths: Sequence[str], reading: Mapping[str, Any]) -> str:
    """The reading of data, with the options of the command line."""
    options = "".join(f", {name}={reading[name]!r}" for name in ("variable", "mask", "ignore", "graph") if reading.get(name))
    path = paths[0] if len(paths) == 1 else list(paths)
    table = f"files.read({path!r}{options})"
    turned = ".T" if reading.get("transpose") else ""
    if reading.get("label"):
        return f"table = {table}\nX, y = table{turned}.values, table.aside[{reading['label']!r}]\n"
    clipped = "X = X * (X > 0)  # cells below zero are taken as 0\n" if reading.get("negative") == "clip" else ""
    return f"X = {table}{turned}.values\n{clipped}"


def details(subject: Subject) -> Section:
    """Parameters, rules and versions."""
    model = subject.model
    rows = [(name, _cut(repr(value))) for name, value in model.get_params(deep=False).items()]
    return Section("Details", [Table("Parameters", ("name", "value"), rows), *_minimised(model), versions()])


def _minimised(model: Any) -> list[Block]:
    """The objective, its solver, and the step that made factors orthogonal after it."""
    if not hasattr(model, "model_"):
        return []
    solver, how = getattr(model, "solver_", ""), getattr(model, "orthogonality", "soft")
    by = f", minimised by the solver {solver!r}" if solver else ""
    after = "" if how in ("soft", 0) else f" Then orthogonality={how!r} was applied to {', '.join(model.orthogonality_)}."
    return [Text(f"The objective{by}, and the multiplicative rules that follow from it.{after}"), Code(str(model.model_))]


def versions() -> Table:
    """Versions of the libraries."""
    found = [
        ("nonneg", __version__),
        ("Python", platform.python_version()),
        ("system", f"{platform.system()} {platform.machine()}"),
    ]
    found += [(name, metadata.version(name)) for name in ("numpy", "scipy", "scikit-learn", "numba")]
    return Table("Versions", ("", "version"), found)


def _number(model: Any, name: str) -> str | None:
    value = getattr(model, name, None)
    return None if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _cut(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[:most]} …"
