"""Orthogonal, projective and quadratic non-negative matrix factorization."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

if TYPE_CHECKING:
    from . import coclusters, constraints, datasets, divergences, files, graph, metrics, plot, solvers
    from .catalogue import methods
    from .data.reading import Gram
    from .engine.model import Model
    from .engine.solution import Solution, Status
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
    from .factorization import factorize
    from .hmm import NNMFHMM, QNMFHMM
    from .loading import load
    from .rayleigh import maximize_rayleigh

__all__ = [
    "BiORNM3F",
    "BiQNMF",
    "FONT",
    "Factorization",
    "Gram",
    "KernelPNMF",
    "Model",
    "NMF",
    "NMTF",
    "NNMFHMM",
    "NonnegativeKernelFDA",
    "NonnegativeLDA",
    "NonnegativeSparseCoding",
    "ONMF",
    "ONMTF",
    "OPNMF",
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
    "files",
    "graph",
    "load",
    "maximize_rayleigh",
    "methods",
    "metrics",
    "plot",
    "solvers",
]


_MODULES = ("coclusters", "constraints", "datasets", "divergences", "files", "graph", "metrics", "plot", "solvers")
_ELSEWHERE = {
    "Gram": "data.reading",
    "Model": "engine.model",
    "NNMFHMM": "hmm",
    "QNMFHMM": "hmm",
    "Solution": "engine.solution",
    "Status": "engine.solution",
    "factorize": "factorization",
    "load": "loading",
    "maximize_rayleigh": "rayleigh",
    "methods": "catalogue",
}
"""Where names are that are not those of modules, nor of estimators."""


def __getattr__(name: str) -> Any:
    """Whatever is public, imported when it is first asked for: the command line is there before scikit-learn is."""
    if name not in __all__:
        raise AttributeError(f"module 'nonneg' has no attribute {name!r}")
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    found = getattr(import_module(f".{_ELSEWHERE.get(name, 'estimators')}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
