"""Data whose entries have weights, by which the loss of each is multiplied. An entry without a value has none.

Three kinds, by storage: dense data, with NaN for missing entries, and weights of their shape; sparse data of which the
stored entries are all that is known, zeros among them; and any data with a weight for each row and each column. Blocks are of these
kinds. `visit` multiplies every elementwise operand with the weights, sums have them, and all else follows.
X inside a form has no weights: its missing entries are filled first, by `filled`.
"""

from .base import (
    DataTerm,
    Levelled,
    LowRank,
    Partial,
    absorbed,
    count_missing,
    count_rows,
    has_gaps,
    has_weights,
    imputed,
    imputed_by,
    levelled,
    mean_filling,
    parts_of,
    share_with_weights,
)
from .dense import WeightedDense
from .observed import FilledData, ObservedData
from .pairs import PairWeighted, with_equal_columns
from .weighing import Weighing
from .weights import Pair, Scaled

__all__ = [
    "DataTerm",
    "FilledData",
    "Levelled",
    "LowRank",
    "ObservedData",
    "Pair",
    "PairWeighted",
    "Partial",
    "Scaled",
    "Weighing",
    "WeightedDense",
    "absorbed",
    "count_missing",
    "count_rows",
    "has_gaps",
    "has_weights",
    "imputed",
    "imputed_by",
    "levelled",
    "mean_filling",
    "parts_of",
    "share_with_weights",
    "with_equal_columns",
]
