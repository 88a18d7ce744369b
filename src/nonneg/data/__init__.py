"""The data: one class for each kind, and the only code that touches X."""

from ..io.opening import is_location
from ..kernels.host import as_dense
from .base import Data, Facts, Total
from .given import Gram, Observed, Signed, Sketch
from .opening import is_elsewhere, lazily, names_of, open_data, opened, opened_to_fit, refuse_name, sample_names
from .profile import Need
from .reading import read_array, read_data, read_weighted
from .signed import Operator
from .steps import Curve, Descent, ElementwiseOperand, Request, SquaredDifference, Sweep, Unreached

__all__ = [
    "Curve",
    "Data",
    "Descent",
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
    "is_elsewhere",
    "is_location",
    "lazily",
    "names_of",
    "open_data",
    "opened",
    "opened_to_fit",
    "read_array",
    "read_data",
    "read_weighted",
    "refuse_name",
    "sample_names",
]
