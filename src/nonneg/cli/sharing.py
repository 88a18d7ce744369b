"""Reading data, making and fitting estimators, and writing what they found: what the commands that fit have in common."""

from __future__ import annotations

import csv
import inspect
import re
import time
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import numpy as np

from .. import io as files
from ..exceptions import EmptySamplesWarning, FileError, IncompatibleError
from ..io import Table
from ..io.delimited import is_number
from ..io.names import named
from ..plot.views import quietly as quietly
from .running import Session, legible, parsed, shell

_READING = ("variable", "mask", "ignore", "transpose", "features", "samples")
"""Options of reading, as `read_table` takes them."""


def reading_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of reading among those of a command, or of a model file."""
    return {name: given[name] for name in _READING if given.get(name)}


def read_table(
    data: Sequence[Path],
    *,
    variable: str | None = None,
    mask: Any = None,
    ignore: Sequence[str] = (),
    transpose: bool = False,
    features: Path | None = None,
    samples: Path | None = None,
    negative: str = "raise",
    missing: str = "raise",
    in_blocks: bool = False,
    is_fitted: bool = False,
    session: Session | None = None,
) -> Table:
    """Read data to fit, or for a model that is fitted, and check them: an error names the cell.

    Parameters
    ----------
    negative : {"raise", "clip", "keep"}
        What to do about cells below zero.
    missing : {"raise", "ignore"}
        What to do about cells that are NaN.
    in_blocks : bool
        Whether large files may be left where they lie; they are checked as they are read.
    is_fitted : bool
        Whether the data are for a model that is fitted, which has no option --missing.
    session : Session, optional
        Is told of cells that were clipped, and of samples without values.
    """
    in_blocks = in_blocks and missing == "raise" and negative != "clip"  # both are done in memory only
    table = files.read(list(data), variable=variable, mask=mask, ignore=ignore, in_blocks=in_blocks)
    table = named(table.T if transpose else table, samples=samples, features=features)
    label = str(data[0]) if len(data) == 1 else f"{data[0]} and others"
    if missing == "ignore":
        table.refuse_infinite(label)
    else:
        new = "Fill such cells, or leave out their rows; a model that was fitted with --missing ignore takes them as they are."
        others = "Fill such cells, leave out their rows or columns, or fit the others: --missing ignore."
        table.refuse_missing(label, new if is_fitted else others)
    if negative == "clip":
        table, count, lowest = table.clipped()
        if count and session is not None:
            session.note(
                f"{label}: {count} of {table.shape[0] * table.shape[1]} cells are below zero, down to {lowest:g}, and taken as 0."
            )
    elif negative == "raise":
        table.refuse_negative(label, "Non-negative factorizations need numbers ≥ 0; to take such cells as 0: --negative clip.")
    if session is not None:
        _tell_of_empty_samples(session, table)
    return table


def _tell_of_empty_samples(session: Session, table: Table) -> None:
    """Warn of samples without a known value, and of those that are zero everywhere."""
    unknown, zeros = table.empty_samples()
    if len(unknown):
        session.note(
            f"{table.samples_in_words(unknown)} without any known value: it has no loadings of its own, and what is written "
            "for it is the mean of the fit, or zero. Leave it out."
        )
    if len(zeros):
        session.note(f"{table.samples_in_words(zeros)} with zeros only, of which nothing can be learned. Is that meant?")


def tell_of_many_parts(session: Session, table: Table, parts: int) -> None:
    """Warn where there are more parts than samples."""
    if parts > table.shape[0]:
        session.note(
            f"{parts} parts are more than the {table.shape[0]} samples: a part for each would reproduce all of them, and what more "
            "parts show is arbitrary. Use fewer, or --transpose where the file has features in rows."
        )


def read_graph(path: Path) -> Table:
    """A graph: edges, or a square table of weights; vertices by name."""
    table = files.read(path, graph=True) if not _is_square(path) else files.read(path)
    if table.shape[0] != table.shape[1]:
        raise FileError(f"{path} is a table of {table.shape[0]} × {table.shape[1]}; a graph has as many columns as rows.")
    return table


def _is_square(path: Path) -> bool:
    """Whether a file of text is a table of weights rather than a list of edges."""
    try:
        n, m = files.read(path).shape
    except FileError:
        return False
    return n == m and m not in (2, 3)


def read_sequences(path: Path, symbols: str, session: Session | None = None) -> list[list[str]]:
    """Sequences of symbols, one a line; or, without a session, anything. A session is told how they were read."""
    source = files.Source(path)
    source.refuse_useless()
    if not source.is_text:
        raise FileError(f"{path} is not text; sequences are read from text, one a line. Counts of pairs are read with --pairs.")
    lines = [line.strip() for line in source.text().splitlines() if line.strip()]
    if not lines:
        raise FileError(f"{path} has no sequences in it.")
    as_words = symbols == "words" or (symbols == "auto" and any(" " in line or "\t" in line or "," in line for line in lines))
    found = [line.replace(",", " ").split() if as_words else list(line) for line in lines]
    if session is not None:
        _refuse_measurements(path, lines)
        _tell_how_read(session, path, found, as_words)
    return found


def _refuse_measurements(path: Path, lines: list[str]) -> None:
    """An error about a table of numbers with decimals, none of which would occur twice, or be any symbol."""
    words = [word for line in lines for word in line.replace(",", " ").split()]
    numbers = [word for word in words if _NUMBER.fullmatch(word)]
    decimals = [word for word in numbers if not word.lstrip("+-").isdigit()]
    if decimals and 2 * len(numbers) > len(words):
        raise FileError(
            f"{path} holds numbers such as {decimals[0]}; a chain is learned from symbols. Put measurements into classes first, "
            "and write the class of each. A square table of how often, or how probably, symbols follow each other is read with "
            "--pairs."
        )


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def _tell_how_read(session: Session, path: Path, sequences: list[list[str]], as_words: bool) -> None:
    """How many sequences of what there are; and what it may have been meant as, where that is likelier."""
    what, n = "words" if as_words else "characters", len(sequences)
    count = len({symbol for line in sequences for symbol in line})
    length = sum(map(len, sequences))
    session.result["read"] = {"sequences": n, "length": length, "symbols": count, "as": what}
    session.say(f"{'read':<12} {n} sequence{'s' if n > 1 else ''} of {length} {what} in all, {count} of them different")
    if as_words and n > 2 and all(len(line) == n and all(word.isdigit() for word in line) for line in sequences):
        session.warn(
            f"Warning: {path} is a square table of whole numbers, read as {n} sequences of {n} symbols. If it says how often "
            "symbols follow each other, use --pairs."
        )


def in_order(table: Table, estimator: Any, label: str) -> Table:
    """The table with its columns in the order of the features that were fitted, where both have names."""
    count = getattr(estimator, "n_features_in_", table.shape[1])
    if table.layout is not None and table.layout.is_brain and table.shape[1] != count:
        raise FileError(
            f"{label} is read in {table.shape[1]} voxels, and the model was fitted to {count}. A model saved from Python "
            "does not know its mask: give the one that it was fitted in, --mask FILE."
        )
    known = getattr(estimator, "feature_names_in_", None)
    if known is None or table.features is None or table.features.tolist() == list(known):
        return table
    places = {name: j for j, name in enumerate(table.features.tolist())}
    missing = [str(name) for name in known if name not in places]
    if missing:
        shown = ", ".join(map(repr, missing[:5])) + (", …" if len(missing) > 5 else "")
        raise FileError(f"{label} lacks {len(missing)} of the {len(known)} columns that the model was fitted to: {shown}.")
    if table.is_far:
        raise FileError(f"{label} has its columns in another order than the model, and is too large to be put in order in memory.")
    return Table(table.values[:, [places[name] for name in known]], table.samples, known, table.layout)


def write_predictions(labels: np.ndarray, names: Any, path: Path) -> None:
    """Clusters, counted from 1, or classes by their names."""
    if labels.dtype.kind in "iu":
        return write_labels(labels, names, path, "sample")
    given = names if names is not None else range(1, len(labels) + 1)
    return _write_pairs(("sample", "class"), zip(given, labels, strict=True), path)


def _write_pairs(header: tuple[str, str], pairs: Iterable[tuple[Any, Any]], path: Path) -> None:
    """A table of text with two columns. Both have a name, but for a first one that would be read as numbers."""
    pairs = [(str(one), str(other)) for one, other in pairs]
    header = ("", header[1]) if any(is_number(one) for one, _ in pairs) else header
    with files.written_whole(path) as unfinished, open(unfinished, "w", encoding="utf8", newline="") as file:
        writer = csv.writer(file, delimiter="," if path.suffix.lower() == ".csv" else "\t", lineterminator="\n")
        writer.writerow(header)
        writer.writerows(pairs)


def fitted(session: Session, estimator: Any, *data: Any, method: str = "fit") -> Any:
    """An estimator after its fit, or after as much of it as Ctrl-C left; what it warns of is said in a line."""
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
    """What Ctrl-C left of several starts."""
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
    """Work of which progress is shown; when it began, how long it took and what it warned of are kept, and the last is said."""
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
    """What a model file and a report say of a fit beside the estimator; of the options of reading, those that were given."""
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


def keep_names(estimator: Any, names: Any) -> None:
    """Features are called as in the file, as if it had been a data frame."""
    if names is not None and len(names) == getattr(estimator, "n_features_in_", -1):
        estimator.feature_names_in_ = np.array([str(name) for name in names], dtype=object)


def part_names(count: int) -> list[str]:
    """What components are called in tables."""
    return [f"part {number}" for number in range(1, count + 1)]


def write_components(components: np.ndarray, table: Table, path: Path) -> None:
    """One row for each component; NIfTI where features are voxels."""
    is_brain = table.layout is not None and table.layout.is_brain
    files.write(
        Table(components, part_names(len(components)), table.features, table.layout if is_brain or path.suffix == ".npz" else None),
        path,
    )


def write_codes(codes: np.ndarray, samples: Any, path: Path) -> None:
    """One row for each sample."""
    files.write(Table(codes, samples, part_names(codes.shape[1])), path)


def write_labels(labels: np.ndarray, names: Any, path: Path, of: str) -> None:
    """To which part each item belongs, counted from 1, 0 being none; `of` says what the items are."""
    given = names if names is not None else [str(number) for number in range(1, len(labels) + 1)]
    if path.suffix.lower() in (".csv", ".tsv", ".txt"):
        _write_pairs((of, "part"), zip(given, np.asarray(labels) + 1, strict=True), path)
    elif path.suffix.lower() in (".npz", ".parquet"):
        files.write(Table(np.asarray(labels)[:, None] + 1, given, ["part"]), path)
    else:
        files.write(Table(np.asarray(labels)[:, None] + 1), path)


def write_atlas(labels: np.ndarray, table: Table, path: Path) -> None:
    """The part that each voxel belongs to, 1, 2, …, as a volume; 0 is outside of the mask."""
    if table.layout is None or not table.layout.is_brain:
        raise FileError("An atlas can be written where the data are volumes or surfaces.")
    files.write(Table(np.asarray(labels)[None].astype(np.int16) + 1, layout=table.layout), path)


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
    """What names and numbers alike can be given for."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def ranks_of(text: str) -> list[int] | str:
    """Parse ranks: 8, 2-12, 2-20:2, or 2,4,8, in order; "auto" as it is."""
    if text == "auto":
        return text
    found: set[int] = set()
    try:
        for part in text.replace("–", "-").split(","):
            span, _, step = part.partition(":")
            first, mark, last = span.strip().partition("-")
            if step and not mark:  # 2:12 is no span, and would be taken for 2 alone
                raise ValueError
            found |= set(range(int(first), int(last if mark else first) + 1, int(step or 1)))
    except ValueError:
        found = set()
    if not found:
        raise click.BadParameter(f"{text!r} is not a number of parts, nor several: 2-12, 2-20:2, 2,4,8, auto.", param_hint="--rank")
    if min(found) < 1:
        raise click.BadParameter(f"{min(found)} parts cannot be learned; at least 1.", param_hint="--rank")
    return sorted(found)


def rank_parameter(cls: Any, ranks: Any, assignments: Sequence[str]) -> str:
    """Name the parameter for the rank. Refuse it in --set, and several ranks for models that cannot be scanned."""
    from ..selection.subjects import can_be_scanned

    name = next(name for name in RANKS if name in inspect.signature(cls).parameters)
    if name in parsed(tuple(assignments)):
        raise click.UsageError(f"--set {name} is the rank: give it by --rank.")
    if not isinstance(ranks, int | tuple) and not can_be_scanned(cls):
        raise click.UsageError(f"--rank has to be one number for {cls.__name__}: its ranks cannot be scanned.")
    return name


RANKS = ("n_components", "n_clusters", "n_states")
"""What estimators call their rank."""


def with_best_rank(session: Session, estimator: Any, name: str, X: Any, ranks: Any, **settings: Any) -> None:
    """Scan ranks, and give the estimator the best."""
    if ranks == "auto":
        session.phase("Scanning ranks 2 to 12, as far as the data allow, to fit the best; --rank 8 would fit that one only.")
    try:
        scan = scanned(session, estimator, X, ranks, **settings)
    except IncompatibleError as error:
        raise IncompatibleError(f"{error} To fit without a scan, give one rank: --rank 2.") from error
    if session.interrupted:
        raise KeyboardInterrupt("stopped before every rank was measured, so that none was fitted, and nothing is written.")
    best = "×".join(map(str, np.atleast_1d(scan.best_)))
    session.say(f"{'rank':<12} {best}. {scan.why_}")
    estimator.set_params(**{name: scan.best_})


def scanned(
    session: Session,
    estimator: Any,
    X: Any,
    ranks: Sequence[int] | str,
    *,
    seed: int,
    criteria: Sequence[str] = (),
    jobs: Any = None,
    keep: Any = None,
    strata: Any = None,
) -> Any:
    """What ranks are worth, as `nonneg.selection.rank_scan` finds it; after Ctrl-C, what those are that were measured by then."""
    from ..exceptions import Stopped
    from ..selection import rank_scan

    scan = None
    with told(session):
        try:
            given = list(criteria) or "auto"
            scan = rank_scan(estimator, X, ranks, y=strata, criteria=given, random_state=seed, n_jobs=jobs, folder=keep)
        except Stopped as stopped:
            scan = stopped.solution
            raise
    at = f" What was measured is in {keep}; the same command goes on from there." if keep else ""
    if scan is None:
        raise KeyboardInterrupt(f"stopped before any rank was measured.{at}")
    if session.interrupted:
        session.result["stopped"] = f"Stopped by the user before every rank was measured.{at}"
    session.result["ranks"] = scan.summary()
    return scan
