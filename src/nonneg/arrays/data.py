"""The kinds of data there are, each in its file: dense rows in blocks, non-zeros only, a sketch, or a Gram matrix alone."""

from .base import Data, ElementwiseOperand, Request, Unreached, dense, row_blocks
from .dense import DenseData, SketchData
from .gram import GramData
from .sparse import SparseData

__all__ = [
    "Data",
    "DenseData",
    "ElementwiseOperand",
    "GramData",
    "Request",
    "SketchData",
    "SparseData",
    "Unreached",
    "dense",
    "row_blocks",
]
