"""The page, section by section. A section is a function of the subject that gives its heading and content, or None."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .. import coclusters
from ..data import Data, Observed, as_dense, opened, refuse_name
from ..data.annotated import matrix_of
from ..data.checking import known_entries
from ..data.compressed import checked
from ..data.reading import with_nan
from ..exceptions import IncompatibleError, ShapeError
from ..io import Layout, Table
from ..io.atomic import written_whole
from ..plot.slices import cuts, slices
from ..plot.views import coarse, column_labels, layout_of, names_of, order_by, parts_of, quietly, row_labels, top_of
from ..version import __version__
from .drawing import curve, encoded, overlaid, png, short, told_apart

_STYLE = Path(__file__).with_name("style.css")
_MOST_PARTS = 100
"""Parts that are drawn, at most."""
_TOP = 8
"""Features listed for a part."""
_SAMPLE = 2000
"""Samples that are shown of data that are not in memory."""
_BACKGROUND = 50
"""Samples of whose mean the background of brains is made."""


Section = tuple[str, str] | None


@dataclass
class Subject:
    """Subject of a page."""

    model: Any
    X: Any = None
    about: Mapping[str, Any] = field(default_factory=dict)
    layout: Layout | None = None
    names: Any = None

    @cached_property
    def parts(self) -> np.ndarray | None:
        try:
            return parts_of(self.model)
        except IncompatibleError:
            return None

    @cached_property
    def features(self) -> np.ndarray:
        assert self.parts is not None
        return names_of(self.model, self.parts.shape[1], self.names)

    @cached_property
    def values(self) -> Any:
        """X as a matrix of numbers, which tables are not; missing entries are not stored."""
        X = with_nan(matrix_of(self.X))
        if isinstance(X, Observed):
            return known_entries(X)[0]
        return np.asarray(X) if hasattr(X, "__dataframe__") else X

    @cached_property
    def background(self) -> np.ndarray:
        """The mean of some samples, from 0 to 1, to draw parts upon; ones without data."""
        X = self.values
        if X is None:
            return np.ones(0 if self.parts is None else self.parts.shape[1])
        some = np.linspace(0, X.shape[0] - 1, min(X.shape[0], _BACKGROUND)).astype(np.int64)
        mean = np.asarray(np.nan_to_num(X.take(some, 0) if isinstance(X, Data) else as_dense(X[some]))).mean(axis=0)
        return np.asarray(np.clip(mean / (np.quantile(mean, 0.98) or 1.0), 0, 1))

    @cached_property
    def rows(self) -> np.ndarray | None:
        """To which part each sample belongs."""
        try:
            return row_labels(self.model, self.X)
        except (ValueError, TypeError):
            return None

    @property
    def blocks(self) -> tuple[int, int] | None:
        """How many clusters of samples and of features a co-clustering has; None for models of other kinds."""
        model = self.model
        if not hasattr(model, "row_labels_") or not hasattr(model, "column_labels_") or getattr(model, "_is_paired", False):
            return None
        n, m = coclusters.sizes(model).shape
        return n, m

    @property
    def what(self) -> str:
        """Name of the parts."""
        return "state" if hasattr(self.model, "transmat_") else "direction" if hasattr(self.model, "classes_") else "part"

    def name_of(self, number: int) -> str:
        """A part by its number, from 0; a direction by its class."""
        classes = getattr(self.model, "classes_", ())
        if self.parts is not None and len(classes) == len(self.parts):
            return str(classes[number])
        return f"{self.what.capitalize()} {number + 1}"


def write_report(
    model: Any, path: Any, X: Any = None, *, shape: Any = None, feature_names: Any = None, about: Mapping[str, Any] | None = None
) -> None:
    """Write a page about a fitted estimator.

    Parameters
    ----------
    model : estimator
        Fitted.
    path : path
        Of the page, .html; an existing file is overwritten.
    X : array, sparse array, Table, path, open file or Dask collection, optional
        The fitted data, or other samples: for the relative error and the reordered matrix, which the estimator does not keep.
    shape : tuple of int or Layout, optional
        How features lie in an image.
    feature_names : sequence of str, optional
    about : dict, optional
        Fields about the fit, as the command line keeps them in model files.
    """
    about = about or {}
    parts_known = next((getattr(model, name) for name in ("components_", "emissionprob_") if hasattr(model, name)), None)
    if parts_known is None and not hasattr(model, "labels_") and not hasattr(model, "dual_coef_"):
        raise IncompatibleError(f"{type(model).__name__} is not fitted, so there is nothing to report; call fit first.")
    shape = about.get("layout") if shape is None else shape
    layout = None if shape is None or parts_known is None else layout_of(shape, parts_known.shape[1])
    names = about.get("features") if feature_names is None else feature_names
    text = html(Subject(model, _shown(model, X), about, layout, names))
    with written_whole(path) as unfinished:
        unfinished.write_text(text, encoding="utf8")


def _shown(model: Any, X: Any) -> Any:
    """X as a matrix, files opened as by `fit`. Sequences, which chains are fitted to, are not shown."""
    if X is None or hasattr(model, "transmat_"):
        return None
    X = X.values if isinstance(X, Table) else X
    refuse_name(X)
    X = opened(X)
    X = X if hasattr(X, "shape") else np.asarray(X)
    checked(matrix_of(X), "X")
    width = getattr(model, "n_features_in_", None)
    if len(X.shape) != 2 or not X.shape[0] or X.shape[1] != (X.shape[1] if width is None else width):
        raise ShapeError(
            f"X has shape {tuple(X.shape)}; {type(model).__name__} was fitted to samples with {width} features. Give report the X "
            "that was fitted, or rows of it."
        )
    return X


def html(subject: Subject) -> str:
    """The whole page."""
    found = {key: section for key, make in SECTIONS.items() if (section := make(subject)) is not None}
    status = getattr(subject.model, "status_", None)
    return frame(_title(subject), subject.about.get("stopped") or ("" if status is None else status.sentence), found)


def frame(title: str, lead: str, sections: Mapping[str, Section]) -> str:
    """A page of sections, with links to them."""
    found = [(key, *section) for key, section in sections.items() if section is not None]
    links = "".join(f'<li><a href="#{key}">{escape(title)}</a></li>' for key, title, _ in found)
    body = "".join(
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{escape(title)}</h2>{content}</section>'
        for key, title, content in found
    )
    lead = f'<p class="lead">{escape(lead)}</p>' if lead else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE.read_text(encoding='utf8')}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#main">To the content</a>\n<header><h1>{escape(title)}</h1>{lead}'
        f'<nav aria-label="Contents"><ul>{links}</ul></nav></header>\n<main id="main">{body}</main>\n'
        f"<footer>Written by nonneg {escape(__version__)}.</footer>\n</body>\n</html>\n"
    )


def _title(subject: Subject) -> str:
    data = [Path(path).name for path in subject.about.get("data", ())]
    of = f" of {data[0]}{' and others' if len(data) > 1 else ''}" if data else ""
    if subject.blocks is not None:
        return f"{type(subject.model).__name__}{of}, {subject.blocks[0]} × {subject.blocks[1]} blocks"
    number = len(subject.parts) if subject.parts is not None else len(np.unique(subject.model.labels_))
    return f"{type(subject.model).__name__}{of}, {number} {subject.what}{'s' if number != 1 else ''}"


# ---- sections


def summary(subject: Subject) -> Section:
    """The model, its data and its result."""
    model, about = subject.model, subject.about
    shape = about.get("shape") or (None if subject.X is None else subject.X.shape)
    error, is_graph = _relative_error(model, subject.X, subject.values), hasattr(model, "vertices_")
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
    command = f"<p>The command:</p>{code(about['command'], wraps=True)}" if "command" in about else ""
    return "Summary", facts(known) + command


def notes(subject: Subject) -> Section:
    """Warnings about the result, with remedies."""
    model, found = subject.model, []
    status = getattr(model, "status_", None)
    if "stopped" in subject.about:
        found.append(str(subject.about["stopped"]))
    elif status is not None and status.value not in ("converged", "no_progress"):
        found.append(f"{status.sentence}")
    for text in subject.about.get("warnings", ()):
        if status is None or status.sentence not in text:
            found.append(f"{text}")
    parts = subject.parts
    if parts is not None:
        empty = [subject.name_of(int(k)) for k in np.flatnonzero(~np.abs(parts).any(axis=1))]
        if empty:
            found.append(
                f"{', '.join(empty)}: nothing is left of these. The data have fewer parts than were asked for; use a lower rank."
            )
    objectives = getattr(model, "objectives_", ())
    if len(objectives) > 1 and np.isfinite(objectives).all() and min(objectives) > 0:
        spread = float(max(objectives) / min(objectives) - 1)
        if spread > 0.01:
            found.append(
                f"The {len(objectives)} starts end at objectives that differ by {spread:.1%}: there are several local minima. More "
                "restarts may find a lower one."
            )
    elif len(objectives) == 1 and hasattr(model, "n_init"):
        found.append(
            "There was one start only. Local minima differ: several restarts (n_init, --restarts) tell by how much; the best is "
            "kept."
        )
    items = "".join(f"<li>{escape(text)}</li>" for text in found) or '<li class="well">Nothing: the fit ended as it should.</li>'
    return "What to know", f'<ul class="notes">{items}</ul>'


def convergence(subject: Subject) -> Section:
    """The objective, and how far constraints were from holding, over time."""
    history = getattr(subject.model, "history_", None)
    if history is None or len(history) < 2:
        return None
    seconds, objective = history.seconds, history.objective
    kept = np.isfinite(objective)
    if kept.sum() < 2:
        return None
    label = f"The objective {_went(objective[kept])} in {short(seconds[kept][-1] - seconds[kept][0])} seconds."
    figures = [figure(curve(seconds[kept], objective[kept], label=label, across="seconds", up="objective"), label)]
    for name, values in history.violation.items():
        if np.any(values > 0) and np.isfinite(values).all():
            label = f"The distance of {name} from its constraint {_went(values)}."
            figures.append(figure(curve(seconds, values, label=label, across="seconds", up=f"distance of {name}"), label))
    every = max(1, len(history) // 20)
    some = history[::every]
    values = told_apart(record.objective for record in some)
    rows = [(record.iteration, f"{record.seconds:.2f}", value) for record, value in zip(some, values, strict=True)]
    numbers = table("The objective at some of the checks", ("iteration", "seconds", "objective"), rows)
    return "Convergence", "".join(figures) + f"<details><summary>The numbers</summary>{numbers}</details>"


def _went(values: np.ndarray) -> str:
    """Say how numbers changed from the first to the last."""
    first, last = float(values[0]), float(values[-1])
    verb = "falls" if last < first else "rises"
    if first == last:
        return f"stays at {short(last)}"
    shown = told_apart([first, last], most=6)
    if shown[0] == shown[1]:
        return f"is {short(last)} from the first check on, and {verb} by no more than {short(abs(first - last))}"
    return f"{verb} from {shown[0]} to {shown[1]}"


def strategy(subject: Subject) -> Section:
    """The stages of the fit, with the reason and the cost of each."""
    found = getattr(subject.model, "strategy_", None)
    if found is None:
        return None
    return "How it was fitted", table("As nonneg.explain prints it, with what each stage took", ("", "", "why"), found.lines)


def parts(subject: Subject) -> Section:
    """The parts: as images if features have a layout, else by their top features."""
    found = subject.parts
    if found is None or not found.size:
        return None
    title = f"The {subject.what}s"
    shown = found[:_MOST_PARTS]
    more = f"<p>The first {len(shown)} of {len(found)}.</p>" if len(shown) < len(found) else ""
    if subject.layout is not None and subject.layout.is_volume and found.shape[1] == subject.layout.n_features:
        return (
            title,
            f'{_VOLUMES}{more}<ul class="parts volumes">{"".join(_volume(subject, i, part) for i, part in enumerate(shown))}</ul>',
        )
    if subject.layout is not None and len(subject.layout.shape) > 1 and found.shape[1] == subject.layout.n_features:
        figures = []
        for number, part in enumerate(shown):
            picture = subject.layout.picture(part)
            kind = "" if picture.min() < 0 else ' class="ink"'
            count = int(np.count_nonzero(np.abs(part) > 0.1 * np.abs(part).max()))
            name = escape(subject.name_of(number))
            alt = f"{name}: {count} of {len(part)} pixels are above a tenth of the largest."
            figures.append(f'<li><figure><img{kind} src="{png(picture)}" alt="{alt}"><figcaption>{name}</figcaption></figure></li>')
        return title, f'<p>Each in shades up to its own largest entry.</p>{more}<ul class="parts">{"".join(figures)}</ul>'
    tables = []
    for number, part in enumerate(shown):
        peak = float(np.abs(part).max()) or 1.0
        rows = [(subject.features[j], _bar(abs(part[j]) / peak), short(float(part[j]))) for j in top_of(part, _TOP)]
        tables.append(table(subject.name_of(number), ("feature", "", "weight"), rows, raw=(1,)))
    return title, f'<p>The features with the largest weights.</p>{more}<div class="tops">{"".join(tables)}</div>'


_VOLUMES = "<p>The slices that have most of each part, in red, up to its own largest entry, over the mean of the data in grey.</p>"


def _volume(subject: Subject, number: int, part: np.ndarray) -> str:
    """A part of a brain on three slices, with sides and millimetres."""
    assert subject.layout is not None
    at, peak = cuts(subject.layout, part), float(np.abs(part).max()) or 1.0
    images = []
    for shown, grey in zip(
        slices(subject.layout, np.abs(part) / peak, at),
        slices(subject.layout, subject.background, at, outside=np.nan),
        strict=True,
    ):
        left, right = (f"<b>{side}</b>" for side in shown.sides or ("", ""))
        source = encoded(overlaid(grey.values, shown.values), colour=True)
        alt = f"{subject.name_of(number)}, {shown.name}"
        images.append(f'<span>{left}<img src="{source}" alt="{escape(alt)}">{right}<small>{shown.name}</small></span>')
    return f"<li><figure>{''.join(images)}<figcaption>{escape(subject.name_of(number))}</figcaption></figure></li>"


def blocks(subject: Subject) -> Section:
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
    return "The blocks", table(f"{what}; the sizes of clusters in brackets", header, rows)


def sizes(subject: Subject) -> Section:
    """How many features and samples belong to each part most."""
    model = subject.model
    if hasattr(model, "classes_") or subject.blocks is not None:
        return None
    counts: dict[str, np.ndarray] = {}
    if hasattr(model, "startprob_"):
        shares = np.asarray(model.startprob_)
        rows = [(subject.name_of(k), _bar(share / shares.max()), f"{share:.3f}") for k, share in enumerate(shares)]
        return "Sizes", table("The share of time in each state", ("state", "", "share"), rows, raw=(1,))
    number = len(subject.parts) if subject.parts is not None else int(model.labels_.max()) + 1
    if subject.parts is not None:
        columns = column_labels(model)
        counts["features"] = np.bincount(columns[columns >= 0], minlength=number)
    if subject.rows is not None:
        what = "vertices" if hasattr(model, "vertices_") else "samples"
        counts[what] = np.bincount(subject.rows[subject.rows >= 0], minlength=number)
    tables = []
    for what, count in counts.items():
        rows = [(f"Part {k + 1}", _bar(size / max(1, count.max())), str(int(size))) for k, size in enumerate(count)]
        tables.append(table(f"How many {what} belong to each part most", ("part", "", what), rows, raw=(1,)))
    return ("Sizes", f'<div class="tops">{"".join(tables)}</div>') if tables else None


def matrix(subject: Subject) -> Section:
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
    kind = "" if picture.min() < 0 else ' class="ink"'
    image = f'<img{kind} src="{png(picture, most=most)}" alt="{words}">'
    return "The data, reordered", f'<div class="matrix">{figure(image, words)}</div>'


def transitions(subject: Subject) -> Section:
    """How probable it is to go from one state to another."""
    P = getattr(subject.model, "transmat_", None)
    if P is None:
        return None
    rows = [(f"from {i + 1}", *(f"{p:.3f}" for p in row)) for i, row in enumerate(P)]
    return "Transitions", table("Probability of the next state", ("", *(f"to {j + 1}" for j in range(len(P)))), rows)


def python(subject: Subject) -> Section:
    """The same in Python."""
    model = subject.model
    fit = ".fit(X, y)" if hasattr(model, "classes_") else ".fit(X)"
    imports, read = python_imports(model, subject.about)
    return "The same in Python", code(f"{imports}\n{read}model = {model!r}{fit}")


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
    """How data are read, with the options that the command line was given."""
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
    found = table("Parameters", ("name", "value"), rows)
    return "Details", found + _minimised(model) + versions()


def _minimised(model: Any) -> str:
    """The objective, its solver, and how factors were made orthogonal after it."""
    if not hasattr(model, "model_"):
        return ""
    solver, how = getattr(model, "solver_", ""), getattr(model, "orthogonality", "soft")
    by = f", minimised by the solver {solver!r}" if solver else ""
    after = "" if how in ("soft", 0) else f" Then orthogonality={how!r} was applied to {', '.join(model.orthogonality_)}."
    text = f"The objective{by}, and the multiplicative rules that follow from it.{after}"
    return f"<p>{escape(text)}</p>{code(str(model.model_))}"


def ranks(subject: Subject) -> Section:
    """The scan of ranks, if there was one."""
    found = subject.about.get("ranks")
    if found is None:
        return None
    from .ranks import ranks as section

    return section(found)


SECTIONS = {
    "summary": summary,
    "notes": notes,
    "ranks": ranks,
    "convergence": convergence,
    "strategy": strategy,
    "blocks": blocks,
    "parts": parts,
    "sizes": sizes,
    "transitions": transitions,
    "matrix": matrix,
    "python": python,
    "details": details,
}
"""In the order of the page."""


# ---- pieces


def _relative_error(model: Any, X: Any, values: Any) -> float | None:
    """‖X − X̂‖ / ‖X‖ of the given X, X̂ by its codes; None for other divergences, and for models without codes."""
    is_euclidean = hasattr(model, "model_") and model.model_.divergence.is_quadratic
    approximates_kernel = getattr(model, "X_fit_", None) is not None
    if X is None or not is_euclidean or approximates_kernel or not hasattr(model, "score"):
        return None
    try:
        squared = -2 * X.shape[0] * quietly(model.score, X)
    except ValueError:
        return None
    length = _length(values)
    is_known = math.isfinite(squared) and length > math.sqrt(sys.float_info.min)  # the square of a smaller number loses its digits
    return math.sqrt(max(squared, 0.0)) / length if is_known else None


def _length(X: Any) -> float:
    """‖X‖, without the entries that are missing."""
    if isinstance(X, Data):
        return float(np.sqrt(X.power_sum(2)))
    entries = X.data[:, None] if sparse.issparse(X) else np.asarray(X)
    step = max(1, 1_000_000 // max(1, entries.shape[1]))
    length = 0.0
    for start in range(0, len(entries), step):
        block = np.nan_to_num(entries[start : start + step])
        peak = float(np.abs(block).max()) or 1.0  # squares of large numbers would be infinite, and of small ones nothing
        length = math.hypot(length, float(np.linalg.norm(block / peak)) * peak)
    return length


def facts(known: Mapping[str, Any]) -> str:
    """Names and values, those that are known."""
    listed = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>" for name, value in known.items() if value)
    return f"<dl>{listed}</dl>"


def versions() -> str:
    """Versions of the libraries."""
    found = [
        ("nonneg", __version__),
        ("Python", platform.python_version()),
        ("system", f"{platform.system()} {platform.machine()}"),
    ]
    found += [(name, metadata.version(name)) for name in ("numpy", "scipy", "scikit-learn", "numba")]
    return table("Versions", ("", "version"), found)


def _number(model: Any, name: str) -> str | None:
    value = getattr(model, name, None)
    return None if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _bar(share: float) -> str:
    return f'<span style="width:{100 * float(share):.1f}%"></span>'


def code(text: str, *, wraps: bool = False) -> str:
    return f'<pre class="wrap">{escape(text)}</pre>' if wraps else f'<pre tabindex="0">{escape(text)}</pre>'


def _cut(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[:most]} …"


def figure(content: str, caption: str) -> str:
    return f"<figure>{content}<figcaption>{escape(caption)}</figcaption></figure>"


def table(caption: str, header: tuple[str, ...], rows: list[Any], raw: tuple[int, ...] = ()) -> str:
    """A table; the first cell of a row names it, and those in `raw` are HTML already."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' if name else "<td></td>" for name in header)
    lines = []
    for first, *others in rows:
        cells = [f'<th scope="row">{escape(str(first))}</th>']
        for place, cell in enumerate(others, start=1):
            if place in raw:
                cells.append(f'<td class="bar">{cell}</td>')
            else:
                cells.append(f"<td>{escape(str(cell))}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    table = f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption, quote=True)}">{table}</div>'
        if len(header) > 3
        else table
    )
