"""Solvers, their states and the stopping rules: the public names of `nonneg.solve.solvers`."""

from .solve.solvers import *  # noqa: F403
from .solve.solvers import __all__ as __all__
