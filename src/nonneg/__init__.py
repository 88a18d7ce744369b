"""Orthogonal, projective and quadratic non-negative matrix factorization."""

from . import constraints, datasets, divergences, metrics, solvers
from .arrays.reading import Gram
from .factorization import factorize
from .model import Model
from .solution import Solution, Status

__version__ = "0.1.0.dev0"

__all__ = ["Gram", "Model", "Solution", "Status", "constraints", "datasets", "divergences", "factorize", "metrics", "solvers"]
