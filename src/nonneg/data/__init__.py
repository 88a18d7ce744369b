"""The data: one class for each kind, and the only code that touches X."""

from .base import Data, ElementwiseOperand, Facts, Need, Request, SquaredDifference, Sweep, Total, Unreached
from .host import as_dense
from .reading import Gram, Observed, Signed, Sketch, read_array, read_data, read_weighted
from .signed import Operator

__all__ = [
    "Data",
    "ElementwiseOperand",
    "Facts",
    "Gram",
    "Need",
    "Observed",
    "Operator",
    "Request",
    "Signed",
    "Sketch",
    "SquaredDifference",
    "Sweep",
    "Total",
    "Unreached",
    "as_dense",
    "read_array",
    "read_data",
    "read_weighted",
]
