"""Problems made without units, for tests of single parts."""

from nonneg.solve.problem import Problem
from nonneg.solve.signature import HORIZON, Signature


def problem_of(model, data, shapes, fixed, horizon=HORIZON):
    """The problem of a model for data that have been read."""
    return Problem(Signature.of(model, data, shapes, fixed, horizon), data, fixed)
