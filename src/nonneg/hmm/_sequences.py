"""Sequences of symbols, as users have them: words, lists, arrays; read into numbers of symbols that lie end to end."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import chain
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..data import Data
from ..data.device import on_host
from ..data.reading import refuse_masked
from ..exceptions import DataError, ShapeError
from ..io.opening import OPENED
from ..kernels.tuned import tuned

_DENSE = tuned(2048, by="chains", on="2026-11-15")
"""Up to so many symbols, counts of pairs are a dense array."""
_WHAT = "Give a list of sequences, one sequence as an array or a list of ints, or a string."


class Sequences(NamedTuple):
    """Symbols end to end; sequence i is symbols[offsets[i] : offsets[i + 1]]."""

    symbols: np.ndarray
    offsets: np.ndarray
    nested: bool
    """Whether they came as a list of sequences, so that results should too."""


def read_sequences(X: Any, lengths: Any = None, *, whole: bool = False) -> Sequences:
    """Any of the ways to give sequences, checked.

    An array is one sequence, and its entries are the symbols, whoever made it: NumPy, pandas or polars. In a list, a tuple or a
    generator, strings are sequences and their characters symbols; unless each is one character long, or `whole` says that the
    symbols are strings of more than one: then they are one sequence. Items of one symbol each are a column, as hmmlearn has it.
    """
    X = _unwrap(X)
    if lengths is not None:
        symbols = _one(X, "X")
        return Sequences(symbols, _read_lengths(lengths, len(symbols)), nested=False)
    if isinstance(X, str):
        return _joined([X], nested=False)
    if hasattr(X, "dtype"):
        return _alone(X)
    if not isinstance(X, Iterable):
        raise DataError(f"X must be sequences of symbols; got {X!r}. {_WHAT}")
    return _read_items(list(X), whole)


def _unwrap(X: Any) -> Any:
    """X in main memory: an array of NumPy in place of those of others, and a list in place of an array of sequences."""
    X = [on_host(item) for item in X] if isinstance(X, list | tuple) else on_host(X)
    refuse_masked(X, "X")
    _refuse_files(X)
    if sparse.issparse(X):
        raise DataError("X is a sparse array, which is no sequence. For counts of pairs use fit_pairs.")
    if not isinstance(X, str) and hasattr(X, "__array__"):
        X = np.asarray(X)
        if X.ndim == 1 and X.dtype.kind == "O" and not all(isinstance(item, str) for item in X):
            X = X.tolist()  # sequences in an array of objects
    return X


def _read_items(items: list[Any], whole: bool) -> Sequences:
    """A list of symbols, of strings, or of other sequences."""
    if not items:
        raise DataError(f"X is empty: there are no sequences in it. {_WHAT}")
    is_sequence = [isinstance(item, str) or (isinstance(item, Iterable) and getattr(item, "ndim", 1) != 0) for item in items]
    if not any(is_sequence):
        return _alone(items)
    _refuse_symbols_among(items, is_sequence)
    if all(isinstance(item, str) for item in items):
        return _alone(items) if whole or all(len(item) == 1 for item in items) else _joined(items, nested=True)
    _refuse_strings_among(items)
    return _alone(items) if _is_column(items) and len(items) > 1 else _stacked(items)


def _refuse_symbols_among(items: list[Any], is_sequence: list[bool]) -> None:
    """Refuse a list in which symbols stand beside sequences."""
    if all(is_sequence):
        return
    position = is_sequence.index(not is_sequence[0])
    if all(isinstance(item, str) for item, long in zip(items, is_sequence, strict=True) if long):
        _check_types(items, "X")
    raise DataError(f"X mixes symbols and sequences: it begins with {items[0]!r}, and item {position} is {items[position]!r}.")


def _refuse_strings_among(items: list[Any]) -> None:
    """Refuse a list in which strings stand beside other sequences."""
    if any(isinstance(item, str) for item in items):
        position = next(i for i, item in enumerate(items) if isinstance(item, str) != isinstance(items[0], str))
        raise DataError(
            f"X mixes strings and other sequences: it begins with {items[0]!r}, and item {position} is {items[position]!r}."
        )


def _refuse_files(X: Any) -> None:
    """Refuse paths: the characters of a file's name are no sequence."""
    if isinstance(X, list | tuple) and X:
        are_files, name = all(_is_file(item) and Path(item).suffix for item in X), X[0]
    else:
        are_files, name = _is_file(X), X
    if not are_files and not isinstance(X, Data):
        return
    what = "data in a file" if isinstance(X, Data) else f"the name of a file, {str(name)!r}"
    raise DataError(
        f"X is {what}, and chains are fitted to symbols in memory. Read them first: pathlib.Path(name).read_text().split() for "
        "text, nonneg.files.read(name).values[:, 0] for a table; or give list(name), where its characters are the symbols."
    )


def _is_file(name: Any) -> bool:
    return isinstance(name, os.PathLike) or (
        isinstance(name, str) and (Path(name).suffix.lower() in OPENED or os.path.isfile(name))
    )


def _alone(symbols: Any) -> Sequences:
    """One sequence."""
    symbols = _one(symbols, "X")
    return Sequences(symbols, np.array([0, len(symbols)]), nested=False)


def _is_column(items: Any) -> bool:
    """Whether each of them is a list or an array of one symbol."""
    return (
        isinstance(items, list) and bool(items) and all(isinstance(x, list | tuple | np.ndarray) and np.size(x) == 1 for x in items)
    )


def _joined(words: list[str], *, nested: bool) -> Sequences:
    """Strings, whose symbols are their characters."""
    lengths = np.array([len(word) for word in words])
    _check_not_empty(lengths)
    symbols = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype="<U1")
    return Sequences(symbols, np.append(0, np.cumsum(lengths)), nested)


def _stacked(items: list[Any]) -> Sequences:
    """Lists or arrays of symbols."""
    lengths = np.array([len(item) for item in items])
    _check_not_empty(lengths)
    if any(hasattr(item, "__array__") for item in items):
        parts = [_one(item, f"Sequence {number} of X") for number, item in enumerate(items)]
        kinds = [part.dtype.kind == "U" for part in parts]
        if len(set(kinds)) > 1:
            number = kinds.index(not kinds[0])
            raise DataError(
                f"X mixes types: sequence 0 has {_kind(parts[0])} for symbols, and sequence {number} {_kind(parts[number])}."
            )
        symbols = np.concatenate(parts)
    else:
        symbols = _one(list(chain.from_iterable(items)), "X")
    return Sequences(symbols, np.append(0, np.cumsum(lengths)), nested=True)


def _check_not_empty(lengths: np.ndarray) -> None:
    if not lengths.all():
        raise DataError(f"Sequence {int(np.argmin(lengths))} of X is empty. Leave it out; a sequence has at least one symbol.")


def _one(X: Any, what: str) -> np.ndarray:
    """One run of symbols: a one-dimensional array of ints or of strings."""
    if isinstance(X, str):
        return _joined([X], nested=False).symbols
    if not hasattr(X, "dtype"):
        X = list(X) if isinstance(X, Iterable) else X
        if _is_column(X):
            X = [np.ravel(np.asarray(x, dtype=object))[0] for x in X]
        _check_types(X, what)
    array = np.asarray(X)
    array = array.astype(object) if array.dtype.kind == "T" else array
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ShapeError(
            f"{what} must be one-dimensional, or have one column; its shape is {array.shape}. For a square matrix of counts of "
            "pairs use fit_pairs."
        )
    if not array.size:
        raise DataError(f"{what} is empty: a sequence has at least one symbol.")
    if array.dtype == object:
        _check_types(array.tolist(), what)
        array = np.array(array.tolist())
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise DataError(
                f"{what} has NaN or infinity in it, at position {int(np.argmin(np.isfinite(array)))}; symbols are ints or strings."
            )
        if (array % 1).any():
            value = array[np.argmax(array % 1 != 0)]
            raise DataError(
                f"{what} has {value} in it; symbols are ints or strings. Measurements have to be put into classes first."
            )
        array = array.astype(np.int64)
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iuU":
        raise DataError(f"{what} has symbols of type {array.dtype}; they must be ints or strings.")
    return array


def _check_types(items: Any, what: str) -> None:
    """Before NumPy makes strings of ints that stand beside strings."""
    if not isinstance(items, list):
        return
    kinds: dict[str, Any] = {}
    for kind in set(map(type, items)):
        name = (
            "strings"
            if issubclass(kind, str)
            else "ints"
            if issubclass(kind, Integral)
            else "floats"
            if issubclass(kind, float | np.floating)
            else ""
        )
        example = next(item for item in items if type(item) is kind)
        if not name:
            raise DataError(f"{what} has {example!r} in it; symbols are ints or strings.")
        kinds[name] = example
    if "strings" in kinds and len(kinds) > 1:
        raise DataError(
            f"{what} mixes types: {' and '.join(repr(example) for example in kinds.values())}. Symbols are all ints or all strings."
        )


def _kind(array: np.ndarray) -> str:
    return "strings" if array.dtype.kind == "U" else "ints"


def _read_lengths(lengths: Any, n: int) -> np.ndarray:
    array = np.atleast_1d(np.asarray(lengths))
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.size or (array < 1).any():
        raise ShapeError(f"lengths must be ints of at least 1, one for each sequence; got {lengths!r}.")
    if array.sum() != n:
        raise ShapeError(f"lengths add up to {array.sum()}, and X has {n} symbols.")
    return np.append(0, np.cumsum(array))


# ---- symbols and their numbers


def distinct(symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct symbols in order, and the number of each."""
    if symbols.dtype == np.dtype("<U1"):
        found, codes = distinct(np.ascontiguousarray(symbols).view(np.uint32).astype(np.int64))
        return found.astype(np.uint32).view("<U1"), codes
    if symbols.dtype.kind in "iu":
        least = int(symbols.min())
        span = int(symbols.max()) - least + 1
        if span <= max(4 * len(symbols), 2**16):  # a table is quicker than sorting
            shifted = (symbols - symbols.dtype.type(least)).astype(np.int64)
            occurs = np.zeros(span, dtype=bool)
            occurs[shifted] = True
            return (np.flatnonzero(occurs) + least).astype(symbols.dtype), (np.cumsum(occurs) - 1)[shifted]
    found, codes = np.unique(symbols, return_inverse=True)
    return found, codes.ravel()


def numbers_of(symbols: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The number of each symbol among the known ones."""
    if (symbols.dtype.kind == "U") != (known.dtype.kind == "U"):
        raise DataError(
            f"X has {_kind(symbols)} for symbols, and the chain was fitted to {_kind(known)}, such as {known[0].item()!r}."
        )
    found, codes = distinct(symbols)
    order = np.argsort(known, kind="stable")
    places = np.minimum(np.searchsorted(known, found, sorter=order), len(known) - 1)
    unseen = found[known[order[places]] != found]
    if len(unseen):
        shown = ", ".join(repr(symbol.item()) for symbol in unseen[:5])
        more = ", …" if len(unseen) > 5 else ""
        raise DataError(
            f"X has {'symbols' if len(unseen) > 1 else 'a symbol'} that the chain was not fitted to: {shown}{more}. "
            f"It knows {len(known)} symbols, those that had a neighbour when it was fitted; see `symbols_`."
        )
    return order[places][codes]


def pair_counts(X: Any, lengths: Any = None) -> tuple[Any, np.ndarray]:
    """How often each symbol is followed by each other.

    Parameters
    ----------
    X : sequences
        As for `QNMFHMM.fit`.
    lengths : array of int, optional
        As for `QNMFHMM.fit`.

    Returns
    -------
    counts : array of shape (n_symbols, n_symbols)
        C_ij, how often symbol j follows symbol i; a sparse array for more than 2048 symbols.
    symbols : array of shape (n_symbols,)
        The symbols that have a neighbour somewhere, in order.

    See Also
    --------
    nonneg.QNMFHMM : Its `fit_pairs` takes the counts.

    Examples
    --------
    >>> from nonneg.hmm import pair_counts
    >>> counts, symbols = pair_counts(["abba", "baa"])
    >>> counts
    array([[1., 1.],
           [2., 1.]])
    """
    return count_pairs(encoded(X, lengths))


class Encoded(NamedTuple):
    """Sequences of at least two symbols end to end, as numbers of symbols."""

    codes: np.ndarray
    offsets: np.ndarray
    symbols: np.ndarray
    """In order."""


def encoded(X: Any, lengths: Any = None) -> Encoded:
    """Sequences as numbers of their symbols; those of one symbol, which have no pairs, are left out."""
    read = read_sequences(X, lengths)
    sizes = np.diff(read.offsets)
    if sizes.max() < 2:
        raise DataError(
            f"No symbol in X has a neighbour: {'all sequences have' if len(sizes) > 1 else 'the sequence has'} length 1. A "
            "chain is fitted to pairs: sequences need two symbols or more."
        )
    symbols, codes = distinct(read.symbols if sizes.min() > 1 else read.symbols[np.repeat(sizes > 1, sizes)])
    return Encoded(codes, np.append(0, np.cumsum(sizes[sizes > 1])), symbols)


def count_pairs(sequences: Encoded) -> tuple[Any, np.ndarray]:
    """How often each symbol is followed by each other, and the symbols."""
    codes, offsets, symbols = sequences
    follows = np.ones(len(codes), dtype=bool)
    follows[offsets[:-1]] = False  # the first of a sequence follows nothing
    second = np.flatnonzero(follows)
    n, first, second = len(symbols), codes[second - 1], codes[second]
    if n <= _DENSE:
        return np.bincount(first * n + second, minlength=n * n).reshape(n, n).astype(np.float64), symbols
    return sparse.coo_array((np.ones(len(first)), (first, second)), shape=(n, n)).tocsr(), symbols
