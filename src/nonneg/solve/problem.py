"""A model bound to data: shapes, plans, and what never changes. No iteration.

`binding.bind` makes a `Problem`; a solver moves a `Point` of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from threading import RLock
from typing import Any

import numpy as np

from ..algebra.expression import Letter, Word
from ..constraints import Direction
from ..data import Data
from ..data.weighted import Partial
from ..exceptions import DataError, ShapeError
from ..kernels.host import as_type, is_small
from ..kernels.namespace import Array, Namespace
from ..model import Model
from ..planning import Step, canonical
from ..planning.planner import COLUMNS, ROWS, Term
from .point import Point
from .programs import Program, program_of, program_together
from .signature import Signature
from .units import Units


class Problem:
    """A model with its data, in units in which both can be computed with; `bind` makes one.

    Parameters
    ----------
    signature : Signature
        Model, shapes, and the profile of the data.
    data : Data
    fixed : dict of arrays
        The factors that are given.
    units : Units, optional
        Divisors of data and factors.
    user_model : Model, optional
        The model in the user's units.
    user_data : Data, optional
        The data in the user's units.
    partial : Partial, optional
        The known entries of data that are filled.
    """

    def __init__(
        self,
        signature: Signature,
        data: Data,
        fixed: Mapping[str, Array],
        *,
        units: Units | None = None,
        user_model: Model | None = None,
        user_data: Data | None = None,
        partial: Partial | None = None,
    ) -> None:
        self.signature, self.data, self.fixed = signature, data, dict(fixed)
        self.model, self.shapes = signature.model, signature.shapes
        self.units, self.user_model, self.user_data = units or Units(), user_model or self.model, user_data or data
        self.namespace: Namespace = data.namespace
        self.partial = partial
        self.filling: Any = None
        """The values of missing entries."""
        model = self.model
        missing = model.needs - data.gives
        if missing:
            raise data.refuse(missing)
        if model.divergence.signed:
            self._check_signs()
        self.adrift = {name for name in model.learned if model.divergence.scale_invariant and model.constraints[name].any_scale}
        """Factors whose scale the objective does not depend on, so that steps may lead it anywhere."""
        is_made_up = partial is not None and model.data not in model.form.names
        self.has_stray_signs = (data.facts.lowest < 0 or is_made_up) and not model.divergence.signed
        """Whether products may have entries below zero: of a sketch, or of differences that make up for weights."""
        m, n = data.shape
        self.matrices: dict[str, Array] = {**fixed, ROWS: self.namespace.ones(m, 1), COLUMNS: self.namespace.ones(n, 1)}
        """The small matrices that do not change, by name; X is not among them."""
        with np.errstate(over="ignore"):
            self.constant = model.divergence.constant(data)
        if not math.isfinite(self.constant):
            raise DataError(
                f"{model.data} has entries of up to {data.facts.peak:g}, whose {model.divergence!r} is more, or less, than a "
                "number can hold, and no factor is free to take up its scale. Divide it by a number first."
            )
        grams = {side: data.formed_gram(transposed=side) for side in (False, True)}
        X = Letter(model.data)
        self._formed = {
            canonical(Word([X.T, X] if side else [X, X.T]))[0]: gram for side, gram in grams.items() if gram is not None
        }
        """Constant products computed so far."""
        self._lock = RLock()
        self._derived: dict[Any, Any] = {}
        self._programs: dict[Any, Program] = {}
        self.planner = signature.planner

    def on(
        self,
        data: Data,
        *,
        model: Model | None = None,
        shapes: Mapping[str, tuple[int, int]] | None = None,
        user_data: Data | None = None,
    ) -> Problem:
        """The same problem for other data: a surrogate, a part of them, or another divergence between the same."""
        signature = Signature.of(model or self.model, data, shapes or self.shapes, self.fixed)
        user_model = self.user_model if model is None else model
        return Problem(signature, data, self.fixed, units=self.units, user_model=user_model, user_data=user_data)

    def _check_signs(self) -> None:
        """Refuse an unconstrained trace whose rule has nothing to divide by, or to multiply with."""
        model, (lowest, highest, _) = self.model, self.data.facts
        if lowest * highest >= 0 and any(isinstance(model.constraints[name], Direction) for name in model.learned):
            without = "positive" if highest <= 0 else "negative"
            raise DataError(
                f"{model.data} has no {without} entries, so {model.divergence.text(model.data, model.form)} without a constraint "
                "has no rule (ONL Eq. 39 and 40 are a ratio of the two). Constrain the factor to be 'orthogonal'."
            )

    def with_data(self, data: Data, filling: Any, besides: Any = None) -> Problem:
        """The same problem for data that differ only in what they are filled with: the plans stay. What else counts in the
        objective, whatever the factors, is `besides`.
        """
        other, divergence = copy(self), self.model.divergence
        other.data, other.filling = data, filling
        other.constant = divergence.constant(data) + (divergence.constant(besides) if besides is not None else 0.0)
        other._formed, other._programs, other._lock = {}, {}, RLock()
        return other

    @property
    def eps(self) -> float:
        """The rounding error of an objective as a share of its terms: of sums in double precision, where those of float32 are."""
        eps = self.namespace.eps
        if not self.planner.costs.sums_in_double:
            return eps
        least = float(np.finfo(np.float64).eps)
        return least if is_small(math.prod(self.data.shape)) else max(least, eps / math.sqrt(self.data.facts.non_zeros))

    @property
    def learned(self) -> tuple[str, ...]:
        """The factors that are learned, in the order in which they are updated."""
        return self.model.learned

    def point(self, factors: Mapping[str, Array]) -> Point:
        """The point at given factors, in the units of the problem."""
        for name in self.learned:
            if tuple(factors[name].shape) != tuple(self.shapes[name]):
                raise ShapeError(f"{name} must have shape {tuple(self.shapes[name])}; got {tuple(factors[name].shape)}.")
        own = {name: as_type(factors[name], self.namespace.dtype) for name in self.learned}
        return Point(self, {name: self.namespace.in_rows(factor) for name, factor in own.items()}, {})

    def is_formed(self, word: Word) -> bool:
        """Whether a constant product is formed once and for all."""
        return self.signature.is_formed(word)

    def constant_value(self, word: Word) -> Array:
        """The value of a constant product, in its canonical form; computed by whoever asks first, for all."""
        with self._lock:
            if word not in self._formed:
                point = Point(self, {}, {})
                # Planned from nothing: what it is made of may be worth keeping too.
                for step in self.planner.plan_constant(word):
                    point.take_step(step)
                self._formed[word] = point.known.pop(word)
            return self._formed[word]

    def program(self, words: tuple[Word, ...], known: frozenset[Word], *, logarithm: bool = False) -> Program:
        """How some words become known, and the sum of logarithms if asked for, at points that hold the words in `known`."""
        key = words, known, logarithm
        found = self._programs.get(key)
        return found or self._made_ready(key, self.planner.plan(words, known, logarithm=logarithm), known)

    def program_of_rule(self, factor: str, known: frozenset[Word]) -> Program:
        """The same for what an update of a factor needs, and for the two sides of its rule."""
        key = factor, known
        found = self._programs.get(key)
        if found is not None:
            return found
        rule = self.planner.rules[factor]
        return self._made_ready(key, self.planner.plan(rule.words, known), known, (rule.numerator, rule.denominator))

    def program_of_sums(self, factor: str, known: frozenset[Word], *, logarithm: bool) -> Program:
        """The same for the sums that the objective is made of; see `Planner.plan_sums`."""
        key = factor, known, logarithm
        found = self._programs.get(key)
        return found or self._made_ready(key, self.planner.plan_sums(factor, known, logarithm=logarithm), known)

    def _made_ready(self, key: Any, steps: Sequence[Step], known: frozenset[Word], sides: Sequence[Sequence[Term]] = ()) -> Program:
        make = program_of if self.data.in_blocks is None else program_together
        self._programs[key] = make(self, steps, known, sides)
        return self._programs[key]

    def derived(self, make: Callable[[Problem], Any]) -> Any:
        """What a function makes of the problem, made once."""
        if make not in self._derived:
            self._derived[make] = make(self)
        return self._derived[make]

    def divide(self, word: Word) -> tuple[Word, Word]:
        """A form, cut where it is narrowest."""
        return self.signature.divide(word)
