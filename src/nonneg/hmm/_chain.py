"""Base of both chains: reading sequences and counts, the fitted factorization, and the use of a chain."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..estimators.annotations import RandomState
from ..estimators.atomic import atomic_fit
from ..estimators.shareable import Shareable
from ..exceptions import DataError, IncompatibleError, ShapeError, Stopped, is_number
from ..kernels.csr import checked
from ..solve.context import Context
from ..solve.initialization import make_generator
from ..solve.solution import History, Status
from ._sequences import Encoded, Sequences, count_pairs, encoded, numbers_of, read_sequences


class LearnedChain(NamedTuple):
    """Result of a factorization of the pairs."""

    W: np.ndarray
    """P(symbol | state), symbols × states."""
    Y: np.ndarray
    """P(state, next state)."""
    history: History
    n_iter: int
    status: Status
    errors: Mapping[str, float]
    """Σ|1 − sum| before W and Y were normalised."""
    alike: Sequence[tuple[np.ndarray, np.ndarray]] = ()
    """W and Y of all chains found that pairs cannot tell from it."""


@dataclass(eq=False, repr=False)
class HiddenChain(Shareable, BaseEstimator, ABC):
    """The base of the chains; a subclass has the solver of X ≈ W Y Wᵀ and its objective.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=None
        Seed or generator of the starts; an int gives the same result every time.
    n_states : int, default=2
        Number of hidden states.

    Attributes
    ----------
    n_iter_ : int
    status_ : Status
    """

    n_states: int = 2
    _: KW_ONLY
    n_init: int = 1
    max_iter: int = 10_000
    tol: float = 0.0
    random_state: RandomState = None

    @abstractmethod
    def _factorize(self, X: Any, n_pairs: float, context: Context) -> LearnedChain: ...

    @abstractmethod
    def _objective(self, X: Any, W: np.ndarray, Y: np.ndarray) -> float: ...

    def _refined(self, found: LearnedChain, sequences: Encoded) -> LearnedChain:
        """The chain that was learned from pairs, after a look at longer runs of symbols."""
        return found

    # ---- fitting

    @atomic_fit
    def fit(self, X: Any, lengths: Any = None) -> Any:
        """Learn a chain from sequences.

        Parameters
        ----------
        X : list of sequences, one sequence, or array of shape (n, 1)
            A list of lists or arrays of ints, or of strings; one sequence, as an array or a Series (of NumPy, pandas or polars), a
            list of ints, or a string; a column; or sequences end to end with `lengths`, as hmmlearn has them. Strings in a list
            are sequences, and their characters the symbols; if all are one character long, they are one sequence. One sequence
            of longer strings is an array, a Series, a list in a list, a column, or given with `lengths`. A sequence of one symbol
            has no pairs, and teaches nothing.
        lengths : array of int, optional
            How long each sequence is, if they are end to end.
        """
        self._check_parameters()
        sequences = encoded(X, lengths)
        return self._fit(*count_pairs(sequences), sequences)

    @atomic_fit
    def fit_pairs(self, C: Any, symbols: Any = None) -> Any:
        """Learn a chain from counts, or probabilities, of pairs.

        Parameters
        ----------
        C : array, sparse array or DataFrame of shape (n_symbols, n_symbols)
            C_ij says how often symbol j follows symbol i.
        symbols : sequence, optional
            Names of the symbols; by default the columns of a DataFrame, or numbers.
        """
        self._check_parameters()
        counts = _read_counts(C)
        n = counts.shape[0]
        if symbols is None:
            symbols = C.columns if hasattr(C, "columns") else np.arange(n)
        read = read_sequences(symbols if isinstance(symbols, str) or not isinstance(symbols, Iterable) else [list(symbols)]).symbols
        if len(read) != n or len(np.unique(read)) != n:
            raise ShapeError(f"symbols must be {n} different ints or strings, one for each row of C; got {symbols!r}.")
        return self._fit(counts, read)

    def _check_parameters(self) -> None:
        for name, least in (("n_states", 1), ("n_init", 1), ("max_iter", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise IncompatibleError(f"{name} must be an int of at least {least}; got {value!r}.")
        if not is_number(self.tol) or self.tol < 0:
            raise IncompatibleError(f"tol must be a number of at least 0; got {self.tol!r}.")
        make_generator(self.random_state)

    def _fit(self, counts: Any, symbols: np.ndarray, sequences: Encoded | None = None) -> Any:
        occurs = np.flatnonzero(np.asarray(counts.sum(axis=0)).ravel() + np.asarray(counts.sum(axis=1)).ravel())
        if self.n_states > len(occurs):
            raise ShapeError(
                f"n_states={self.n_states}: {len(occurs)} symbols occur in pairs, and pairs cannot tell more states than there are "
                f"symbols. Use at most {len(occurs)}."
            )
        X = counts if len(occurs) == len(symbols) else counts[occurs][:, occurs]
        X, n_pairs = X / float(X.max()), _number_of_pairs(X)  # in two steps, so that no sum overflows
        X = X / float(X.sum())
        context = Context()
        with context.watching():
            found = self._factorize(X, n_pairs, context)
            if sequences is not None:
                found = self._refined(found, sequences)
        W, Y = normalised(found.W, found.Y)
        start = stationary(transitions(Y), Y.sum(axis=1))
        order = np.argsort(-start, kind="stable")
        W, Y = W[:, order], Y[np.ix_(order, order)]
        self.objective_ = self._objective(X, W, Y)
        self.joint_, self.transmat_, self.startprob_ = Y, transitions(Y), start[order]
        self.emissionprob_ = np.zeros((self.n_states, len(symbols)))
        self.emissionprob_[:, occurs] = W.T
        self.symbols_ = symbols
        self.symbol_groups_ = np.full(len(symbols), -1)
        self.symbol_groups_[occurs] = W.argmax(axis=1)
        self.history_, self.n_iter_, self.status_ = found.history, int(found.n_iter), found.status
        self.constraint_errors_ = dict(found.errors)
        if context.interrupt.is_set():
            raise Stopped(f"{type(self).__name__} was interrupted; it holds the best so far.")
        return self

    # ---- use of a chain

    def _read(self, X: Any, lengths: Any) -> tuple[Sequences, np.ndarray]:
        check_is_fitted(self)
        is_long = self.symbols_.dtype.kind == "U" and int(np.strings.str_len(self.symbols_).max()) > 1
        read = read_sequences(X, lengths, whole=is_long)
        return read, numbers_of(read.symbols, self.symbols_)

    def _emissions(self) -> np.ndarray:
        return np.ascontiguousarray(self.emissionprob_.T)

    def score(self, X: Any, lengths: Any = None) -> float:
        """The logarithm of the probability of sequences, all together; −∞ if one cannot be.

        Chains with the same pairs may have other probabilities for three symbols and more, between which `fit_pairs` cannot tell:
        the score of its chain compares models of pairs. See https://nonneg.github.io/nonneg/evidence/chains.html.

        Parameters
        ----------
        X, lengths
            As for `fit`.
        """
        return float(self.score_sequences(X, lengths).sum())

    def score_sequences(self, X: Any, lengths: Any = None) -> np.ndarray:
        """The logarithm of the probability of each sequence, by the forward algorithm.

        Parameters
        ----------
        X, lengths
            As for `fit`.
        """
        from ..kernels.chains import log_likelihoods

        read, codes = self._read(X, lengths)
        found = np.empty(len(read.offsets) - 1)
        log_likelihoods(codes, read.offsets, self.startprob_, self.transmat_, self._emissions(), found)
        return found

    def decode(self, X: Any, lengths: Any = None) -> tuple[float, Any]:
        """The likeliest states, by Viterbi's algorithm, and the logarithm of their probability together with the sequences.

        Parameters
        ----------
        X, lengths
            As for `fit`.

        Returns
        -------
        log_prob : float
        states : array of int, or a list of them if X is a list of sequences
        """
        from ..kernels.chains import best_paths

        read, codes = self._read(X, lengths)
        found, states = np.empty(len(read.offsets) - 1), np.empty(len(codes), dtype=np.int64)
        with np.errstate(divide="ignore"):  # ln 0 = −∞ is right
            logarithms = np.log(self.startprob_), np.log(self.transmat_), np.log(self._emissions())
        best_paths(codes, read.offsets, *logarithms, states, found)
        if np.isneginf(found).any():
            _refuse(int(np.argmin(found)))
        return float(found.sum()), _shaped(states, read)

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """The likeliest states of sequences: Viterbi.

        Parameters
        ----------
        X, lengths
            As for `fit`.

        Returns
        -------
        array of int, or a list of them if X is a list of sequences
        """
        return self.decode(X, lengths)[1]

    def predict_proba(self, X: Any, lengths: Any = None) -> Any:
        """The probability of each state at each symbol, given all of its sequence.

        Parameters
        ----------
        X, lengths
            As for `fit`.

        Returns
        -------
        array of shape (n, n_states), or a list of them if X is a list of sequences
        """
        from ..kernels.chains import posteriors

        read, codes = self._read(X, lengths)
        found = np.empty((len(codes), len(self.startprob_)))
        possible = posteriors(codes, read.offsets, self.startprob_, self.transmat_, self._emissions(), found)
        if possible < len(read.offsets) - 1:
            _refuse(possible)
        return _shaped(found, read)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """A sequence drawn from the chain, which starts in its stationary distribution.

        Parameters
        ----------
        n_samples : int, default=1
            How many symbols.
        random_state : int, Generator, RandomState or None
            By default that of the estimator.

        Returns
        -------
        X : array of shape (n_samples,)
            Symbols.
        states : array of shape (n_samples,)
        """
        from ..kernels.chains import drawn

        check_is_fitted(self)
        if not isinstance(n_samples, Integral) or isinstance(n_samples, bool) or n_samples < 1:
            raise IncompatibleError(f"n_samples must be an int of at least 1; got {n_samples!r}.")
        generator = make_generator(self.random_state if random_state is None else random_state)
        states, codes = np.empty(int(n_samples), dtype=np.int64), np.empty(int(n_samples), dtype=np.int64)
        chances = cumulative(self.startprob_), cumulative(self.transmat_), cumulative(self.emissionprob_)
        drawn(generator.uniform(size=(int(n_samples), 2)), *chances, states, codes)
        return self.symbols_[codes], states

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.no_validation = True
        return tags


def _shaped(values: np.ndarray, read: Sequences) -> Any:
    """Values of all symbols, cut into sequences if the user gave several."""
    return np.split(values, read.offsets[1:-1]) if read.nested else values


def _refuse(number: int) -> None:
    raise DataError(
        f"Sequence {number} has probability zero in this chain: no path of states can have emitted it. `score_sequences` has −∞ "
        "for such sequences."
    )


def _number_of_pairs(counts: Any) -> float:
    """The number of counted pairs; infinity for input that is no counts but, say, probabilities."""
    entries = counts.data if sparse.issparse(counts) else counts
    return float(entries.sum()) if entries.max() < 2**53 and not (entries % 1).any() else math.inf


def _read_counts(C: Any) -> Any:
    """A square matrix of counts, dense or CSR, in double precision."""
    checked(C, "C")
    try:
        counts = sparse.csr_array(C, dtype=np.float64) if sparse.issparse(C) else np.asarray(C, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"C must be a square matrix of counts of pairs; got {type(C).__name__}. For sequences use fit.") from None
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not counts.shape[0]:
        raise ShapeError(f"C must be square, n_symbols × n_symbols; its shape is {counts.shape}. For sequences use fit.")
    entries: np.ndarray = counts.data if sparse.issparse(counts) else counts  # type: ignore[assignment]
    if not np.isfinite(entries).all():
        raise DataError("C has NaN or infinity in it; counts of pairs are numbers of at least 0.")
    if entries.size and entries.min() < 0:
        raise DataError(f"C has negative entries, the least of them {entries.min():g}; counts of pairs are at least 0.")
    if not entries.any():
        raise DataError("C is zero everywhere: there are no pairs to learn from.")
    if sparse.issparse(counts) and not entries.all():
        stored = sparse.csr_array(counts, copy=True)
        stored.eliminate_zeros()  # zeros that are stored would be rows with entries, and sums of 0
        return stored
    return counts


# ---- probabilities


def normalised(W: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W with columns that sum to one, and Y that sums to one: the sums go from W to Y, which is then divided by its own sum."""
    sums = W.sum(axis=0)
    W = W / np.where(sums > 0, sums, 1.0)
    Y = Y * sums[:, None] * sums
    return W / W.sum(axis=0), Y / Y.sum()


def transitions(Y: np.ndarray) -> np.ndarray:
    """P(next state | state). A state that is never left, since it is never reached, is left for any other alike."""
    sums = Y.sum(axis=1, keepdims=True)
    P = np.where(sums > 0, Y, 1.0)
    P = P / P.sum(axis=1, keepdims=True)
    return P / P.sum(axis=1, keepdims=True)


def stationary(P: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The share of time in each state in the long run: π = πP, Σπ = 1.

    It is the start times (I + P)/2, squared again and again. So there is an answer also if P is reducible, and more than
    one distribution is stationary; and no chain is periodic.
    """
    power = (np.eye(len(P)) + P) / 2
    for _ in range(_SQUARINGS):
        squared = power @ power
        squared /= squared.sum(axis=1, keepdims=True)
        if np.array_equal(squared, power):
            break
        power = squared
    found = (start / start.sum()) @ power
    return found / found.sum()


_SQUARINGS = 64
"""Squarings of a transition matrix, at most: guards against periodic chains."""


def cumulative(probabilities: np.ndarray) -> np.ndarray:
    """Sums from the left, the last of them exactly one, with nothing between the last entry that is not zero and the end."""
    sums = np.cumsum(probabilities, axis=-1)
    return sums / sums[..., -1:]
