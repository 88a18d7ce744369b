"""Data of extreme scale, brought into the middle of what its dtype can represent.

Squares of 1e−200 are zero and squares of 1e200 infinite, though the factorization of such data is as well defined as any other.
Where the data's largest entry is that far out, the problem is solved for X/s, and s is given back to the factors afterwards. s is
a power of two, so that no digit changes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..data import Data
from ..exceptions import DataError
from ..kernels.namespace import Array, namespace_of
from ..model import Model


@dataclass(frozen=True)
class Units:
    """What to multiply the data and each factor of the solved problem with to have the user's."""

    data: float = 1.0
    factors: Mapping[str, float] = field(default_factory=dict)
    doublings: float = 0.0
    """The objective is to be multiplied with two to this power, which may be more than a float can hold."""
    sides: Mapping[str, Array] = field(default_factory=dict)
    """What rows, or columns, of a factor have been multiplied with, since weights of the data were taken into them."""

    def objective_to_user(self, value: float) -> float:
        if not self.doublings or not math.isfinite(value):
            return value
        whole = math.floor(self.doublings)
        try:
            return math.ldexp(value * 2.0 ** (self.doublings - whole), whole)
        except OverflowError:
            return math.copysign(math.inf, value)

    def model_from_user(self, model: Model) -> Model:
        """The model with every weight that has a scale converted."""
        if self.data == 1 and not self.doublings:
            return model
        constraints = {
            name: constraint.in_units(self.doublings, math.log2(self.factors.get(name, 1.0)))
            for name, constraint in model.constraints.items()
        }
        divergence, _ = model.divergence.in_units(math.log2(self.data))
        return model.with_(divergence=divergence, constraints=constraints)

    def to_user(self, factors: Mapping[str, Array]) -> dict[str, Array]:
        scaled = {name: factor * self.factors[name] if name in self.factors else factor for name, factor in factors.items()}
        return {name: self._without_side(name, factor) for name, factor in scaled.items()}

    def from_user(self, factors: Mapping[str, Array]) -> dict[str, Array]:
        weighted = {name: self.with_side(name, factor) for name, factor in factors.items()}
        return {name: factor / self.factors[name] if name in self.factors else factor for name, factor in weighted.items()}

    def with_side(self, name: str, factor: Array) -> Array:
        """A factor of the user, with the weights of the data that have been taken into it."""
        return factor * self.sides[name] if name in self.sides else factor

    def _without_side(self, name: str, factor: Array) -> Array:
        if name not in self.sides:
            return factor
        side = self.sides[name]
        seen = namespace_of(side).xp.astype(side > 0, side.dtype)
        return factor * seen / (side + (1 - seen))  # of what has no weight nothing is known


def choose_units(model: Model, data: Data) -> Units:
    """The units in which to solve: the user's own, unless the data's scale is extreme."""
    peak, namespace = data.facts.peak, data.namespace
    if peak == 0 or namespace.smallest ** (1 / 8) <= peak <= namespace.largest ** (1 / 8):
        return Units()
    form, missing = model.form, 1 - model.form.count(model.data)
    movable = [name for name in model.learned if model.constraints[name].any_scale] or list(model.fixed)
    if not model.divergence.approximates or not missing:
        movable = []
    elif not movable:
        return Units()  # every factor's scale is set by its constraint: the problem has no other units
    occurrences = max(sum(form.count(name) for name in movable), 1)
    power = math.trunc(math.log2(peak) / occurrences) * occurrences  # each factor takes a whole power of two
    doublings = power * missing // occurrences
    if abs(doublings) >= math.log2(namespace.largest) - 1:
        raise DataError(
            f"{model.data} has entries of up to {peak:g}, and in {model.form} {' and '.join(movable)} would have to be of about "
            f"2^{doublings} to make up for it, which no number can be. Multiply {model.data} by a number first."
        )
    factor = 2.0**doublings
    return Units(2.0**power, dict.fromkeys(movable, factor), model.divergence.in_units(power)[1])
