"""Ways to judge ranks, one in each file; `NAMES` are their names in `rank_scan`."""

from .base import Criterion
from .eigengap import Eigengap
from .error import Error
from .gabriel import Gabriel
from .halves import Halves
from .likelihood import Likelihood
from .restarts import Restarts
from .speckled import Speckled
from .subsamples import Subsamples

__all__ = [
    "NAMES",
    "Criterion",
    "Eigengap",
    "Error",
    "Gabriel",
    "Halves",
    "Likelihood",
    "Restarts",
    "Speckled",
    "Subsamples",
]

NAMES: dict[str, type[Criterion]] = {
    kind.name: kind for kind in (Gabriel, Speckled, Halves, Restarts, Error, Likelihood, Eigengap, Subsamples)
}
