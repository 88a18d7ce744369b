"""Pairs of neighbours in sequences: letters of words, codons of genes."""

from __future__ import annotations

import string
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from nonneg.datasets.bunches import make_bunch

from .cache import FetchError, fetch

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def load_letter_pairs() -> Bunch:
    """How often each letter follows each other in 58 109 English words.

    Returns
    -------
    Bunch
        ``data`` (26, 26), counts, of the second letter (columns) after the first (rows); ``symbols``, the letters; ``sequences``,
        the words; ``feature_shape``, ``DESCR``.

    See Also
    --------
    load_codon_pairs : Pairs of codons.
    nonneg.QNMFHMM : A chain.

    Examples
    --------
    >>> from nonneg_papers import load_letter_pairs
    >>> load_letter_pairs().data.shape  # doctest: +SKIP
    (26, 26)
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

    See Also
    --------
    load_letter_pairs : Pairs of letters.
    nonneg.QNMFHMM : A chain.

    Examples
    --------
    >>> from nonneg_papers import load_codon_pairs
    >>> load_codon_pairs().data.shape  # doctest: +SKIP
    (64, 64)
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
