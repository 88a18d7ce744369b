"""Orthogonal, projective and quadratic non-negative matrix factorization."""

from typing import TYPE_CHECKING, Any

from . import coclusters, constraints, datasets, divergences, graph, metrics, solvers
from .checkpoints import Checkpoint
from .data.opening import open_data
from .data.reading import Gram, Observed
from .engine.model import Model
from .engine.solution import Solution, Status
from .factorization import factorize
from .rayleigh import maximize_rayleigh

if TYPE_CHECKING:
    from .catalogue import methods
    from .estimators import (
        FONT,
        NMF,
        NMTF,
        ONMF,
        ONMTF,
        OPNMF,
        PNMF,
        BiORNM3F,
        BiQNMF,
        Factorization,
        KernelPNMF,
        NonnegativeKernelFDA,
        NonnegativeLDA,
        NonnegativeSparseCoding,
        ProjectiveClustering,
        SymmetricNMF,
        TruncatedNonnegativeSVD,
    )
    from .estimators.imputer import NMFImputer
    from .hmm import NNMFHMM, QNMFHMM

__version__ = "0.1.0.dev0"

__all__ = [
    "BiORNM3F",
    "BiQNMF",
    "Checkpoint",
    "FONT",
    "Factorization",
    "Gram",
    "KernelPNMF",
    "Model",
    "NMF",
    "NMFImputer",
    "NMTF",
    "NNMFHMM",
    "NonnegativeKernelFDA",
    "NonnegativeLDA",
    "NonnegativeSparseCoding",
    "ONMF",
    "ONMTF",
    "OPNMF",
    "Observed",
    "PNMF",
    "ProjectiveClustering",
    "QNMFHMM",
    "Solution",
    "Status",
    "SymmetricNMF",
    "TruncatedNonnegativeSVD",
    "coclusters",
    "constraints",
    "datasets",
    "divergences",
    "factorize",
    "graph",
    "maximize_rayleigh",
    "methods",
    "metrics",
    "open_data",
    "selection",
    "solvers",
]


def __getattr__(name: str) -> Any:
    """Estimators, imported when they are first asked for: scikit-learn takes longer to import than all of this."""
    if name == "selection":
        from importlib import import_module

        return import_module(".selection", __name__)
    if name == "methods":
        from .catalogue import methods as found
    elif name in ("NNMFHMM", "QNMFHMM"):
        from . import hmm

        found = getattr(hmm, name)
    elif name == "NMFImputer":
        from .estimators import imputer

        found = imputer.NMFImputer
    elif name in __all__:
        from . import estimators

        found = getattr(estimators, name)
    else:
        raise AttributeError(f"module 'nonneg' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
