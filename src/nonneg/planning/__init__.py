"""Plans: the order of the products of a model, the cached ones, and those never formed."""

from .costs import Costs
from .following import Source, prepared
from .planner import Planner
from .steps import LOGARITHM, Apply, ApplyGram, Multiply, SelfProduct, SignedPart, Step, Visit, canonical, results
from .traces import Contraction

__all__ = [
    "LOGARITHM",
    "Apply",
    "ApplyGram",
    "Contraction",
    "Multiply",
    "Planner",
    "Costs",
    "SelfProduct",
    "SignedPart",
    "Source",
    "Step",
    "Visit",
    "canonical",
    "prepared",
    "results",
]
