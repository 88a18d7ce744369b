"""Orthogonal, projective and quadratic non-negative matrix factorization."""

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

if TYPE_CHECKING:
    from . import (
        cells,
        coclusters,
        constraints,
        datasets,
        divergences,
        exceptions,
        files,
        graph,
        hmm,
        metrics,
        neuro,
        plot,
        reporting,
        selection,
        solvers,
        testing,
        text,
    )
    from .data.given import Gram, Observed
    from .data.opening import open_data
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
        ConsensusNMF,
        ConvexNMF,
        Factorization,
        IntegrativeNMF,
        KernelPNMF,
        NonnegativeKernelFDA,
        NonnegativeLDA,
        NonnegativeSparseCoding,
        ProjectiveClustering,
        SemiNMF,
        SymmetricNMF,
        TruncatedNonnegativeSVD,
    )
    from .estimators.discriminant.rayleigh import maximize_rayleigh
    from .estimators.imputer import NMFImputer
    from .factorization import explain, factorize
    from .hmm import NNMFHMM, QNMFHMM
    from .loading import load
    from .model import Model
    from .objective import Objective
    from .papers import methods
    from .solve.checkpoints import Checkpoint
    from .solve.solution import Solution, Status

__all__ = [
    "BiORNM3F",
    "BiQNMF",
    "Checkpoint",
    "ConsensusNMF",
    "ConvexNMF",
    "FONT",
    "Factorization",
    "IntegrativeNMF",
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
    "Objective",
    "Observed",
    "PNMF",
    "ProjectiveClustering",
    "QNMFHMM",
    "SemiNMF",
    "Solution",
    "Status",
    "SymmetricNMF",
    "TruncatedNonnegativeSVD",
    "cells",
    "coclusters",
    "constraints",
    "datasets",
    "divergences",
    "exceptions",
    "explain",
    "factorize",
    "files",
    "graph",
    "hmm",
    "load",
    "maximize_rayleigh",
    "methods",
    "metrics",
    "neuro",
    "open_data",
    "plot",
    "reporting",
    "selection",
    "solvers",
    "testing",
    "text",
]


_MODULES = (
    "cells",
    "coclusters",
    "constraints",
    "datasets",
    "divergences",
    "exceptions",
    "files",
    "graph",
    "hmm",
    "metrics",
    "neuro",
    "plot",
    "reporting",
    "selection",
    "solvers",
    "testing",
    "text",
)
_ELSEWHERE = {
    "Checkpoint": "solve.checkpoints",
    "Gram": "data.given",
    "Model": "model",
    "NMFImputer": "estimators.imputer",
    "NNMFHMM": "hmm",
    "Objective": "objective",
    "Observed": "data.given",
    "QNMFHMM": "hmm",
    "Solution": "solve.solution",
    "Status": "solve.solution",
    "explain": "factorization",
    "factorize": "factorization",
    "load": "loading",
    "maximize_rayleigh": "estimators.discriminant.rayleigh",
    "methods": "papers",
    "open_data": "data.opening",
}
"""Modules of names that are neither modules nor estimators."""


def __getattr__(name: str) -> Any:
    """Import a public name on first use: the command line starts before scikit-learn is imported."""
    if name not in __all__:
        raise AttributeError(f"module 'nonneg' has no attribute {name!r}")
    if name in _MODULES:
        return _imported(name)
    found = getattr(_imported(_ELSEWHERE.get(name, "estimators")), name)
    globals()[name] = found
    return found


def _imported(name: str) -> Any:
    """A module of the package. Meanwhile no garbage is collected: the objects of modules stay, and to look through them again and
    again, while scikit-learn and others are imported, takes an eighth of the time.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module(f".{name}", __name__)
    finally:
        if collects:
            gc.enable()


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
