"""Read and check the input of a command: tables, graphs, sequences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import files
from ..exceptions import FileError
from ..io import Table
from ..io.names import named
from .running import Session

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
    parts: int = 0,
    session: Session | None = None,
) -> Table:
    """Read data to fit, or for a model that is fitted, and check them: an error names the cell.

    Parameters
    ----------
    negative : {"raise", "clip", "keep"}
        Treatment of cells below zero.
    missing : {"raise", "ignore"}
        Treatment of NaN.
    in_blocks : bool
        Whether large files may be left on disk; they are checked as they are read.
    is_fitted : bool
        Whether the data are for a model that is fitted, which has no option --missing.
    parts : int
        How many are to be learned; fewer scans are refused before they are read.
    session : Session, optional
        Is told of cells that were clipped, and of samples without values.
    """
    in_blocks = in_blocks and missing == "raise" and negative != "clip"  # both are done in memory only
    table = files.read(list(data), variable=variable, mask=mask, ignore=ignore, in_blocks=in_blocks, parts=parts)
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
    """Warn of samples without a known value, and of samples of zeros."""
    unknown, zeros = table.empty_samples()
    if len(unknown):
        session.note(
            f"{table.samples_in_words(unknown)} without any known value: it has no loadings of its own, and gets the "
            "mean of the fit, or zero. Leave it out."
        )
    if len(zeros):
        session.note(f"{table.samples_in_words(zeros)} with zeros only, of which nothing can be learned. Is that meant?")


def tell_of_many_parts(session: Session, table: Table, parts: int) -> None:
    """Warn of more parts than samples."""
    if parts > table.shape[0]:
        session.note(
            f"{parts} parts are more than the {table.shape[0]} samples: a part for each would reproduce all of them, and more "
            "are arbitrary. Use fewer, or --transpose if the file has features in rows."
        )


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
    """The number and kind of sequences; and a likelier reading of the file, if there is one."""
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
    """The table with its columns in the order of the fitted features, if both have names."""
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
