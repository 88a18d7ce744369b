"""In which order the products of a model are computed, which of them are kept, and which are never formed."""

from .planner import Planner
from .prices import Prices
from .steps import LOGARITHM, Apply, ApplyGram, Multiply, Part, SelfProduct, Step, Visit, canonical
from .traces import Contraction

__all__ = [
    "LOGARITHM",
    "Apply",
    "ApplyGram",
    "Contraction",
    "Multiply",
    "Part",
    "Planner",
    "Prices",
    "SelfProduct",
    "Step",
    "Visit",
    "canonical",
]
