"""Hidden Markov chains from pairs of neighbours: X_ij = P(x_t = i, x_{t+1} = j) ≈ W Y Wᵀ (QNMF §5.3).

W holds the emissions, P(symbol | state), and Y the joint probabilities of two states in a row.
How much pairs tell about a chain: https://nonneg.github.io/nonneg/evidence/chains.html.
"""

from ._chain import HiddenChain as HiddenChain
from ._sequences import distinct as distinct
from ._sequences import pair_counts
from ._sequences import read_sequences as read_sequences
from .nnmf import NNMFHMM
from .qnmf import QNMFHMM

__all__ = ["NNMFHMM", "QNMFHMM", "pair_counts"]
