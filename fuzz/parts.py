"""Names of solvers, starts, constraints, criteria and models, read from the library's registries, as source."""

from __future__ import annotations

from nonneg import constraints, divergences, estimators, solvers
from nonneg.selection import criteria
from nonneg.solve import initialization

SOLVERS = tuple(f'"{name}"' for name in ("auto", *solvers.NAMES))
DESCENDING = tuple(source for source in SOLVERS if source != '"least-squares"')
"""Solvers that promise descent."""
PARTICULAR = '"coordinate"', '"block-coordinate"', '"newton"'
"""Solvers that refuse some weights, and some places of data, and say so."""
STARTS = tuple(f'"{name}"' for name in ("auto", "auto", *initialization.NAMES))
CONSTRAINTS = tuple(name for name, constraint in constraints.NAMES.items() if not constraint.is_signed)
"""Constraints of non-negative factors."""
DIVERGENCES = tuple(name for name in divergences.NAMES if name != "trace")
CRITERIA = ("auto", *criteria.NAMES)
MODELS = tuple(estimators.PARTS)
DISCRIMINANTS = ("NonnegativeLDA", "NonnegativeKernelFDA")
SIGNED = ("SemiNMF", "ConvexNMF")
OTHERS = ("Orthogonality", "ConsensusNMF", "IntegrativeNMF")
ESTIMATORS = tuple(name for name in estimators.__all__ if name not in (*OTHERS, *SIGNED, *DISCRIMINANTS))
"""Estimators of non-negative factorizations that are one run of as many components as they are told."""
