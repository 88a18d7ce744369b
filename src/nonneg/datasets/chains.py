"""Sequences of a hidden Markov chain that is known."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import IncompatibleError, ShapeError, is_number
from ..solve.initialization import RandomState, make_generator
from .bunches import make_bunch

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def make_hidden_chain(
    n_states: int = 4,
    n_symbols: int = 22,
    n_samples: int = 100_000,
    *,
    overlap: float = 0.0,
    stay: float = 0.0,
    random_state: RandomState = 0,
) -> Bunch:
    """Draw a sequence of symbols from a hidden Markov chain, and return both.

    Every state has symbols of its own, as many as any other but for one, with probabilities drawn at random; so are the
    transitions.

    Parameters
    ----------
    n_states : int, default=4
        Number of hidden states.
    n_symbols : int, default=22
        Number of symbols.
    n_samples : int, default=100000
        How many symbols to draw.
    overlap : float, default=0
        The share of each state's emissions that goes to all symbols alike, between 0 and 1.
    stay : float, default=0
        How much is added to the probability of staying in a state, between 0 and 1.
    random_state : int, Generator, RandomState or None, default=0
        Seed or generator of the chain and the sequence.

    Returns
    -------
    Bunch
        ``data`` (n_symbols, n_symbols), counts of pairs in the sequence; ``sequence`` (n_samples,) of ints, and its ``states``;
        ``emissionprob`` (n_states, n_symbols), ``transmat`` (n_states, n_states), ``startprob``, its stationary distribution, and
        ``pairs``, the probabilities of pairs that follow from them; ``symbols``, ``feature_shape``, ``DESCR``.

    See Also
    --------
    nonneg.QNMFHMM : Finds the chain.
    nonneg.hmm.pair_counts : Pairs of a sequence.

    Examples
    --------
    >>> from nonneg.datasets import make_hidden_chain
    >>> chain = make_hidden_chain(3, 12, 1000)
    >>> chain.data.sum(), chain.emissionprob.shape
    (np.float64(999.0), (3, 12))
    """
    from ..kernels.chains import drawn

    for name, value, least in (("n_states", n_states, 1), ("n_symbols", n_symbols, 1), ("n_samples", n_samples, 2)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise IncompatibleError(f"{name} must be an int of at least {least}; got {value!r}.")
    for name, share in (("overlap", overlap), ("stay", stay)):
        if not is_number(share) or not 0 <= share <= 1:
            raise IncompatibleError(f"{name} must be a number between 0 and 1; got {share!r}.")
    if n_states > n_symbols:
        raise ShapeError(f"n_states={n_states}: {n_symbols} symbols are too few for each state to have one of its own.")
    generator = make_generator(random_state)
    transmat = stay * np.eye(n_states) + (1 - stay) * _drawn_rows(generator, np.ones((n_states, n_states)))
    owner = np.arange(n_symbols) * n_states // n_symbols
    own = _drawn_rows(generator, (owner == np.arange(n_states)[:, None]).astype(float))
    emissionprob = (1 - overlap) * own + overlap / n_symbols
    values, vectors = np.linalg.eig(transmat.T)
    startprob = np.abs(vectors[:, np.argmin(np.abs(values - 1))].real)
    startprob /= startprob.sum()
    states, sequence = np.empty((2, int(n_samples)), dtype=np.int64)
    uniforms = generator.uniform(size=(int(n_samples), 2))
    drawn(uniforms, np.cumsum(startprob), np.cumsum(transmat, axis=1), np.cumsum(emissionprob, axis=1), states, sequence)
    counts = np.bincount(n_symbols * sequence[:-1] + sequence[1:], minlength=n_symbols**2).reshape(n_symbols, n_symbols)
    return make_bunch(
        counts,
        feature_shape=(n_symbols,),
        DESCR=HIDDEN_CHAIN,
        sequence=sequence,
        states=states,
        emissionprob=emissionprob,
        transmat=transmat,
        startprob=startprob,
        pairs=emissionprob.T @ (startprob[:, None] * transmat) @ emissionprob,
        symbols=np.arange(n_symbols),
    )


def _drawn_rows(generator: Any, mask: np.ndarray) -> np.ndarray:
    """Rows that sum to one, exponential numbers on the mask: uniform among all such rows."""
    rows = mask * -np.log(1.0 - generator.uniform(size=mask.shape))
    return rows / rows.sum(axis=1, keepdims=True)


HIDDEN_CHAIN = """A sequence drawn from a hidden Markov chain that is known.

Source: made here.
Licence: that of the library.

QNMF §5.3 has a synthetic 22 × 22 by "the procedure by Lakshminarayanan and Raich", without its numbers; this is a chain of the same
size, not the same chain.
"""
