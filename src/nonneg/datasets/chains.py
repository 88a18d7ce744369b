"""Pairs of neighbours in sequences, for hidden Markov chains: letters of words, codons of genes, and a chain that is known."""

from __future__ import annotations

import string
from itertools import product
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import IncompatibleError, ShapeError
from ..naming import is_number
from ..solve.initialization import RandomState, make_generator
from ._bunch import make_bunch
from ._cache import FetchError, fetch

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def load_letter_pairs() -> Bunch:
    """How often each letter follows each other in 58 109 English words.

    Returns
    -------
    Bunch
        ``data`` (26, 26), counts, of the second letter (columns) after the first (rows); ``symbols``, the letters; ``sequences``,
        the words; ``feature_shape``, ``DESCR``.
    """
    path = fetch("words/corncob/corncob_lowercase.txt")
    words = list(dict.fromkeys(path.read_text(encoding="ascii").split()))  # lines end in CR LF; one word is there twice
    letters = np.array(list(string.ascii_lowercase))
    text = np.frombuffer(" ".join(words).encode("ascii"), dtype=np.uint8).astype(np.int64) - ord("a")
    inside = (text[:-1] >= 0) & (text[1:] >= 0)
    counts = np.bincount(26 * text[:-1][inside] + text[1:][inside], minlength=26**2).reshape(26, 26)
    return make_bunch(counts, feature_shape=(26,), DESCR=LETTERS, symbols=letters, sequences=words)


def load_codon_pairs() -> Bunch:
    """How often each codon follows each other in human genes.

    Returns
    -------
    Bunch
        ``data`` (64, 64), counts, of the second codon (columns) after the first (rows); zero for the three stop codons;
        ``symbols``, the codons, in the order TCAG; ``feature_shape``, ``DESCR``.
    """
    path = fetch("genes/human_codon_pairs/Coleman_CPS.csv")
    codons = ["".join(letters) for letters in product("TCAG", repeat=3)]
    places = {codon: place for place, codon in enumerate(codons)}
    counts = np.zeros((64, 64))
    header, *lines = path.read_text(encoding="ascii").split()  # lines end in CR, fields in semicolons
    if header.split(";")[1:4] != ["CodonPair", "Expected", "Observed"]:
        raise FetchError(f"{path} begins with {header!r}, not with the names of its columns. It was cut off or altered.")
    for line in lines:
        _, pair, _, observed, *_ = line.split(";")
        counts[places[pair[:3]], places[pair[3:]]] = int(observed)
    return make_bunch(counts, feature_shape=(64,), DESCR=CODONS, symbols=np.array(codons))


def make_hidden_chain(
    n_states: int = 4,
    n_symbols: int = 22,
    n_samples: int = 100_000,
    *,
    overlap: float = 0.0,
    stay: float = 0.0,
    random_state: RandomState = 0,
) -> Bunch:
    """A sequence of symbols from a hidden Markov chain, and the chain.

    Every state has symbols of its own, as many as any other but for one, with probabilities drawn at random; so are the
    transitions.

    Parameters
    ----------
    n_states : int, default=4
    n_symbols : int, default=22
    n_samples : int, default=100000
        How many symbols to draw.
    overlap : float, default=0
        The share of each state's emissions that goes to all symbols alike, between 0 and 1.
    stay : float, default=0
        How much is added to the probability of staying in a state, between 0 and 1.
    random_state : int, Generator, RandomState or None, default=0

    Returns
    -------
    Bunch
        ``data`` (n_symbols, n_symbols), counts of pairs in the sequence; ``sequence`` (n_samples,) of ints, and its ``states``;
        ``emissionprob`` (n_states, n_symbols), ``transmat`` (n_states, n_states), ``startprob``, its stationary distribution, and
        ``pairs``, the probabilities of pairs that follow from them; ``symbols``, ``feature_shape``, ``DESCR``.

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
    """Rows that sum to one, exponential numbers where the mask is one: uniform among all such rows."""
    rows = mask * -np.log(1.0 - generator.uniform(size=mask.shape))
    return rows / rows.sum(axis=1, keepdims=True)


LETTERS = """Pairs of letters in English words: how often a letter follows another, 26 × 26.

Source: corncob_lowercase.txt of github.com/yapraksarma/Markov-Chain, the word list of mieliestronk.com.
Licence: free word list; the repository states none.

58 109 words of 2 to 22 letters, a to z, in alphabetical order; "chaplain", which is there twice, counts once. QNMF §5.3 has "the
top 58112 English words", presumably another edition of this list. 426 468 pairs; 548 of the 676 possible ones occur.
"""
CODONS = """Pairs of codons in human genes: how often a codon follows another, 64 × 64.

Source: Coleman_CPS.csv of github.com/lauringlab/CodonShuffle (Coleman et al., Science 320, 2008).
Licence: MIT, of the repository.

The observed counts of the 3721 pairs of sense codons in human genes, 7 506 037 in all; every pair occurs. The rows and columns of
the stop codons TAA, TAG and TGA are zero: the source does not have them. QNMF §5.3 has "a genetic code sequence of homo sapiens",
64 × 64, which it does not specify further.
"""
HIDDEN_CHAIN = """A sequence drawn from a hidden Markov chain that is known.

Source: made here.
Licence: that of the library.

QNMF §5.3 has a synthetic 22 × 22 by "the procedure by Lakshminarayanan and Raich", without its numbers; this is a chain of the same
size, not the same chain.
"""
