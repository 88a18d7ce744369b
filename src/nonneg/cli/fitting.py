"""Make, fit and describe estimators, with progress."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..exceptions import EmptySamplesWarning, IncompatibleError
from ..io import Table
from .inputs import _READING
from .running import Session, legible, parsed, shell


def fitted(session: Session, estimator: Any, *data: Any, method: str = "fit") -> Any:
    """An estimator after its fit, or its part before Ctrl-C; warnings are printed in a line each."""
    with told(session):
        getattr(estimator, method)(*data)
    if session.interrupted and hasattr(estimator, "objectives_"):
        of, done = getattr(estimator, "n_init", 1), len(estimator.objectives_) - len(session.unfinished)
        if of > 1:
            session.result["stopped"] = _stopped(done, of, session.unfinished, estimator.status_ == "stopped_by_user")
    elif session.interrupted:
        session.result["stopped"] = "Stopped by the user: this is the best so far."
    return estimator


def _stopped(done: int, of: int, unfinished: Collection[int], is_unfinished: bool) -> str:
    """The sentence about an interrupted fit of several starts."""
    if done == of:
        return f"Stopped by the user when all {of} starts had ended; the best of them is kept as it is."
    where = f"in start {done + 1} of {of}" if len(unfinished) <= 1 else f"when {done} of {of} starts had ended"
    if done == 0:
        return f"Stopped by the user {where}, not yet converged: this is the best so far."
    if is_unfinished:
        return (
            f"Stopped by the user {where}; an unfinished start is kept, which was better by then than the best of {done} finished."
        )
    return f"Stopped by the user {where}; the best of {done} finished {'start' if done == 1 else 'starts'} is kept."


@contextmanager
def told(session: Session) -> Iterator[None]:
    """Show the progress of a fit, print its warnings, and write both, with its start and duration, into the result."""
    session.result["began"] = datetime.now().astimezone().isoformat(timespec="seconds")
    began, before = time.perf_counter(), session.result.get("warnings", [])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", EmptySamplesWarning)  # the table has been looked at, and names them
        with session.fitting():
            yield
    session.result["fit_seconds"] = round(time.perf_counter() - began, 3)
    found = list(dict.fromkeys(str(one.message) for one in caught))
    for text in found:
        session.warn(f"Warning: {text}")
    session.result["warnings"] = [*before, *found]


def about_of(
    session: Session, data: Sequence[Path], table: Table | None, reading: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Fields of a model file and a report beside the estimator; of the options of reading, the given ones."""
    about: dict[str, Any] = {"command": shell(), "data": [legible(str(path)) for path in data]}
    chosen = {name: (reading or {}).get(name) for name in (*_READING, "label")}
    chosen["negative"] = "clip" if (reading or {}).get("negative") == "clip" else None
    chosen["graph"] = table is not None and table.is_graph
    about["reading"] = {
        name: legible(str(value)) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
        for name, value in chosen.items()
        if value
    }
    kept = ("began", "fit_seconds", "warnings", "stopped", "ranks")
    about |= {name: session.result[name] for name in kept if name in session.result}
    if table is not None:
        about |= {"shape": list(table.shape), "layout": table.layout, "features": table.features}
        about["samples"] = table.samples if table.samples is None or len(table.samples) <= 100_000 else None
    return about


def put_in_order(estimator: Any, table: Table) -> np.ndarray | None:
    """Put projective parts of brains in the order of the variance that they explain, as `OPNMFParcellation` does; their codes."""
    from ..estimators import PNMF
    from ..neuro.ordering import explained_by_part, reorder
    from ..plot.views import quietly

    if table.layout is None or not table.layout.is_brain or not isinstance(estimator, PNMF):
        return None
    codes = np.asarray(quietly(estimator.transform, table.values))
    centred = codes - codes.mean(axis=0, dtype=np.float64)
    order = np.argsort(-explained_by_part(centred, estimator.components_.astype(np.float64)), kind="stable")
    reorder(estimator, order)
    return np.ascontiguousarray(codes[:, order])


def keep_names(estimator: Any, names: Any) -> None:
    """Features are called as in the file, as if it had been a data frame."""
    if names is not None and len(names) == getattr(estimator, "n_features_in_", -1):
        estimator.feature_names_in_ = np.array([str(name) for name in names], dtype=object)


def describe(session: Session, estimator: Any, table: Table | None = None) -> None:
    """How a fit ended, in lines and for machines."""
    found: dict[str, Any] = {"model": type(estimator).__name__}
    if table is not None:
        found["samples"], found["features"] = table.shape
    for name in ("objective_", "reconstruction_err_", "n_iter_", "n_components_"):
        if hasattr(estimator, name):
            found[name.rstrip("_")] = getattr(estimator, name)
    if hasattr(estimator, "status_"):
        found["status"] = estimator.status_.value
        found["status_sentence"] = session.result.get("stopped", estimator.status_.sentence)
    elif "stopped" in session.result:
        found["status_sentence"] = session.result["stopped"]
    if hasattr(estimator, "objectives_") and len(estimator.objectives_) > 1:
        found["objectives"] = estimator.objectives_
    if getattr(estimator, "orthogonality_", None):
        found["orthogonality"] = {name: measures._asdict() for name, measures in estimator.orthogonality_.items()}
    session.result |= found
    size = "" if table is None else f" on {table.shape[0]} samples × {table.shape[1]} features"
    size = f" on {table.shape[0]} vertices" if table is not None and hasattr(estimator, "vertices_") else size
    session.say(f"{'model':<12} {estimator!r}{size}")
    if "objective" in found:
        session.say(f"{'objective':<12} {found['objective']:.6g} after {found.get('n_iter', '?')} iterations")
    several = found.get("orthogonality", {}) if np.max(found.get("n_components", 2)) > 1 else {}
    for name, measures in several.items():
        session.say(f"{'overlap':<12} mean cosine of two parts {1 - measures['rho']:.4f} ({name})")
    if "status_sentence" in found:
        session.say(f"{'ended':<12} {found['status_sentence']}")


_PARTS_TOLD, _FOREMOST = 20, 6
"""Parts whose foremost features are printed, and how many of each."""


def tell_foremost(session: Session, estimator: Any, table: Table) -> None:
    """The foremost features of each part, if features have names."""
    if table.features is None or table.layout is not None or not hasattr(estimator, "components_"):
        return
    from ..selection import top_features

    tops = top_features(estimator, list(map(str, table.features)), _FOREMOST)
    session.result["top_features"] = [[feature.name for feature in top] for top in tops]
    for number, names in enumerate(session.result["top_features"][:_PARTS_TOLD], 1):
        session.say(f"{f'part {number}':<12} {', '.join(names)}")


def made(cls: Any, wanted: Mapping[str, Any], assignments: Sequence[str] = ()) -> Any:
    """An estimator with the parameters that were given; the others are left to their defaults."""
    found = {name: value for name, value in wanted.items() if value is not None} | parsed(tuple(assignments))
    known = inspect.signature(cls).parameters
    for name in found:
        if name not in known:
            raise click.UsageError(f"{cls.__name__} has no parameter {name}; it has {', '.join(known)}.")
    estimator = cls(**found)
    try:
        for check in ("_check_numbers", "_check_names", "_check_parameters"):
            getattr(estimator, check, lambda: None)()
    except IncompatibleError as error:
        raise click.UsageError(str(error)) from error
    return estimator


def divergence_of(text: str) -> Any:
    """A divergence by its name or number, checked."""
    from ..divergences import get_divergence

    try:
        return get_divergence(number_or_text(text))
    except IncompatibleError as error:
        raise click.BadParameter(str(error), param_hint="--divergence") from error


def number_or_text(text: str | None) -> Any:
    """Parameters that take names and numbers alike."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
