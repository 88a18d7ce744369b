"""The learned factors at one moment, with every product of them that has been computed, so that nothing is computed twice.

The factors of a point are not changed; a step makes a new point, which takes over all products that the step left valid. Products
are added to a point as they are asked for, and may be let go of.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..algebra.expression import Letter, Word
from ..algebra.rewriting import Sum
from ..data import Request, SquaredDifference, Unreached, as_dense
from ..divergences.base import Logarithm, Operand, Sums
from ..kernels.host import as_operand, as_type, inner, is_small
from ..kernels.namespace import Array
from ..planning import LOGARITHM, Contraction, Step, Visit, canonical
from ..planning.planner import COLUMNS, ROWS, THETA_WORD, terms
from .programs import program_of

if TYPE_CHECKING:
    from .problem import Problem


class Point:
    """The learned factors at one moment, and the products of them that are known."""

    __slots__ = ("factors", "known", "measured", "problem")

    def __init__(self, problem: Problem, factors: dict[str, Array], known: dict[Word, Array]) -> None:
        self.problem, self.factors, self.known = problem, factors, known
        self.measured: tuple[float, float] | None = None
        """The objective and the size of its terms, once they are known."""

    def bare(self) -> Point:
        """The point and its objective, if known, without the products, which take memory."""
        bare = Point(self.problem, self.factors, {})
        bare.measured = self.measured
        return bare

    def copy(self) -> Point:
        """The same point: what is computed for the one is not known to the other."""
        same = Point(self.problem, self.factors, dict(self.known))
        same.measured = self.measured
        return same

    def forget_all_but(self, *words: Word) -> None:
        """Let go of the other products, which take memory; they would be computed again."""
        kept = {canonical(word)[0] for word in words}
        self.known = {word: value for word, value in self.known.items() if word in kept}

    def with_factor(self, name: str, value: Array) -> Point:
        """The point with one factor replaced."""
        changing = self.problem.planner.changing
        known = {word: product for word, product in self.known.items() if name not in changing(word)}
        return Point(self.problem, {**self.factors, name: self._in_precision(value)}, known)

    def with_scaled(self, name: str, by: float) -> Point:
        """The point with one factor multiplied by a number; products of matrices are multiplied along, not computed again.

        Those of few entries of float32 are computed again: the rounding errors of the factor would not average out.
        """
        if self.problem.namespace.is_single and is_small(math.prod(self.problem.data.shape)):
            return self.with_factor(name, self.factors[name] * by)
        known = {
            word: product if name not in self.problem.planner.changing(word) else product * by ** word.count(name)
            for word, product in self.known.items()
            if not any(letter.name in self.problem.planner.scales_otherwise for letter in word)
        }
        return Point(self.problem, {**self.factors, name: self.factors[name] * by}, known)

    def sides(self, factor: str) -> tuple[Array, Array]:
        """Numerator and denominator of a factor's rule, with all multiplier terms."""
        rule, program = self.problem.model.rules[factor], self.problem.program_of_rule(factor, frozenset(self.known))
        program.follow(self)
        sides = [[(coefficient, source(self), has_theta) for coefficient, source, has_theta in side] for side in program.sides]
        numerator, denominator = [self._in_precision(self._add(side, factor)) for side in sides]
        if self.problem.has_stray_signs:
            numerator, denominator = (self.problem.namespace.xp.clip(side, 0.0, None) for side in (numerator, denominator))
        constraint = rule.constraint
        multipliers = constraint.multipliers(self.problem.namespace.xp, self.factors[factor], denominator, numerator)
        if multipliers is None:
            return numerator, denominator
        return rule.law.lagrangian(numerator, denominator, *multipliers)

    def gradient(self, factor: str) -> tuple[Array, Array]:
        """∇⁺ and ∇⁻ of the objective by a factor, whatever its constraint."""
        planned = self.problem.planner.rules[factor]
        self.compute(tuple(term.word for term in (*planned.positive, *planned.negative)))
        positive, negative = (
            self._in_precision(self._add([(coefficient, self.value(word), False) for coefficient, word, _ in part], factor))
            for part in (planned.positive, planned.negative)
        )
        return self.problem.model.divergence.gradient(positive, negative, self.sums(factor))

    def _in_precision(self, array: Array) -> Array:
        """An array in the precision of the data; small products of float32 are kept in double."""
        return as_type(array, self.problem.namespace.dtype)

    def operand(self, word: Word) -> Array:
        """The value of a word, to be combined with the data: in their precision, unless it is small."""
        return as_operand(self.value(word), self.problem.namespace.dtype, self.problem.data.shape)

    def prepare(self) -> None:
        """Compute what the objective and the rules of all factors need, in one visit to the data."""
        words, logarithm = self.problem.planner.words, self.problem.model.has_logarithms
        self.problem.program(words, frozenset(self.known), logarithm=logarithm).follow(self)

    def sums(self, factor: str) -> Sums:
        """What the divergence is made of, by contracting a factor with its own parts: ⟨F, ∇⟩ is q times Σ P∘X̂ − Σ Q∘X̂.

        q is how often the factor occurs (`Rule.degree`); P and Q are the two parts of the derivative by X̂ (`divergences/base.py`).
        """
        logarithm = self.problem.model.has_logarithms
        terms, sizes = zip(*self._sums(factor, logarithm), strict=True)
        logarithms = self.known[LOGARITHM] if logarithm else ()
        return Sums(*(tuple(map(float, numbers)) for numbers in (terms, logarithms, sizes)))

    def total(self) -> float:
        """Σ X̂, with the weights of the data."""
        if self.problem.model.weighted:
            return float(self.problem.namespace.xp.sum(self._visited(Operand(0, 1))))
        word = Word([Letter(ROWS, True), *self.problem.model.form, Letter(COLUMNS)])
        self.compute((word,))
        return float(self.value(word)[0, 0])

    def best_scale(self, factor: str | None = None) -> float:
        """The number by which X̂ fits X best; where the divergence does not depend on it, that which makes their sums equal."""
        divergence = self.problem.model.divergence
        if not divergence.scale_invariant:
            return divergence.scale(self.sums(factor or self.problem.learned[0]))
        total = self.total()
        return self.problem.data.power_sum(1) / total if total > 0 else 1.0

    def objective(self, factor: str | None = None) -> tuple[float, float]:
        """What is minimised, and the size of the terms it is a difference of.

        With the factor whose turn comes next, the products computed here are those that its step needs.
        """
        if self.measured is None:
            self.note_objective(self.sums(factor or self.problem.learned[0]))
        assert self.measured is not None
        return self.measured

    def note_objective(self, sums: Sums) -> None:
        """Take note of the objective, given what the divergence is made of."""
        self.measured = self.objective_from(sums)

    def objective_from(self, sums: Sums) -> tuple[float, float]:
        """The objective, and its size, given what the divergence is made of; constraints add their penalties."""
        value, magnitude = self._divergence(sums)
        for name, constraint in self.problem.model.constraints.items():
            penalty = constraint.penalty(self.problem.namespace.xp, self.factors[name]) if constraint.is_learned else None
            value, magnitude = (value, magnitude) if penalty is None else (value + float(penalty), magnitude + float(penalty))
        return value, magnitude

    def divergence(self) -> tuple[float, float]:
        """The divergence between X and X̂, and the size of the terms it is a difference of: `objective` without penalties."""
        return self._divergence(self.sums(self.problem.learned[0]))

    def _divergence(self, sums: Sums) -> tuple[float, float]:
        divergence = self.problem.model.divergence
        value, magnitude = divergence.value(self.problem.constant, sums)
        if value < 0 and self.problem.data.bounded:
            # A difference of large terms may round to less than nothing; a large negative one means that the terms do not
            # belong together, as where X̂ is zero and ln X̂ is not finite, unless the divergence has no lower bound of zero.
            roundings = 1e4 if divergence.bounded else 4
            if self.problem.model.signed and divergence.takes_signs:
                magnitude = max(magnitude, self._uncancelled())
            is_rounding = math.isfinite(value) and value >= -roundings * self.problem.namespace.eps * magnitude
            value = 0.0 if is_rounding else math.inf if divergence.bounded else value
        return value, magnitude

    def _uncancelled(self) -> float:
        """A bound of ‖X̂‖², the product of the factors' squared norms: terms of either sign cancel unseen within a product."""
        xp, model, known = self.problem.namespace.xp, self.problem.model, {**self.problem.matrices, **self.factors}
        squares = {name: float(xp.sum(known[name] ** 2, dtype=xp.float64)) for name in model.form.names if name in known}
        if model.data in model.form.names:
            squares[model.data] = self.problem.data.power_sum(2)
        return math.prod(squares[letter.name] for letter in model.form if letter.name in squares)

    def product(self, word: Word) -> Array:
        """The value of one word in the factors and the data, as it is kept: not to be written to."""
        if canonical(word)[0] not in self.known:  # or there is nothing to plan
            self.compute((word,))
        return self.value(word)

    def evaluate(self, part: Sum) -> Array:
        """The value of any sum of words in the factors and the data."""
        parts = terms(part)
        self.compute(tuple(term.word for term in parts))
        values = [(coefficient, self.value(word), has_theta) for coefficient, word, has_theta in parts]
        return self._in_precision(self._add(values, self.problem.learned[0]))

    def objective_by_entries(self) -> float:
        """½‖X − X̂‖² entry by entry, with the penalties of constraints: slower than `objective`, and right where that cancels."""
        model, xp = self.problem.model, self.problem.namespace.xp
        squares = float(xp.sum(self._visited(SquaredDifference()), dtype=xp.float64))
        if squares <= (4 * self.problem.namespace.eps) ** 2 * self.problem.data.power_sum(2):
            squares = 0.0  # X̂ is X but for the rounding of its entries; in other units that may be more than a number can hold
        penalties = (c.penalty(xp, self.factors[name]) for name, c in model.constraints.items() if c.is_learned)
        return squares / 2 + sum(float(penalty) for penalty in penalties if penalty is not None)

    def unreached(self) -> int:
        """How many entries of X are positive where X̂ is zero."""
        return int(self.problem.namespace.xp.sum(self._visited(Unreached())))

    def _visited(self, operand: Any) -> Array:
        """The sums over each row of an elementwise function of X and X̂."""
        left, right = self.problem.divide(self.problem.model.form)
        self.compute((left, right) if right else (left,))
        request = Request(operand, "right", self.problem.matrices[COLUMNS])
        (sums,), _ = self.problem.data.visit(self.operand(left), self.operand(right) if right else None, [request])
        return sums

    def violation(self, factor: str) -> float:
        """How far a factor is from satisfying its constraint."""
        return float(self.problem.model.constraints[factor].violation(self.problem.namespace.xp, self.factors[factor]))

    def kkt_residual(self) -> float:
        """How far the point is from being stationary, from 0: the largest among its factors.

        At a stationary point numerator and denominator of each rule are equal where the factor is positive, and the denominator is
        the larger one where it is zero (the K.K.T. conditions, with the multipliers of constraints). What they differ by is taken
        as a share of their sum, both weighted with the factor; where an entry should grow, with at least the factor's mean, lest
        what is zero and should not be counts for nothing. A factor whose scale is set by its constraint is at rest also where the
        two differ by a common number, or one for each column, which `restore` takes out again.
        """
        xp, law = self.problem.namespace.xp, self.problem.model.divergence.law

        def of_factor(name: str) -> float:
            constraint = self.problem.model.constraints[name]
            sides = law.balanced(*self.sides(name))
            F, numerator, denominator = map(constraint.moving, (self.factors[name], *sides))
            if 0 in F.shape:
                return 0.0  # all of it is given
            if constraint.is_signed:
                sizes = abs(numerator - denominator), abs(numerator) + abs(denominator)
                excess, whole = (float(xp.sum(abs(F) * size, dtype=xp.float64)) for size in sizes)
                return excess / whole if whole > 0 else 0.0
            axis = {"columns": 0, "rows": 1, None: None}[constraint.lengths]
            up, down = (xp.sum(F * side, axis=axis, keepdims=True, dtype=xp.float64) for side in (numerator, denominator))
            if not constraint.any_scale:
                one = xp.ones_like(up)
                scale = xp.where((up > 0) & (down > 0), up / xp.where(down > 0, down, one), one)
                denominator, down = denominator * xp.astype(scale, denominator.dtype), down * scale
            excess = numerator - denominator
            weight = xp.where(excess > 0, xp.maximum(F, xp.mean(F)), F)
            whole = float(xp.sum(up + down))
            if whole > 0:
                return float(xp.sum(weight * abs(excess), dtype=xp.float64)) / whole
            # Nothing moves where a factor is zero; elsewhere both sides have underflowed, and tell nothing.
            return 0.0 if any(not bool(xp.any(factor != 0)) for factor in self.factors.values()) else 1.0

        return max(map(of_factor, self.problem.learned))

    def value(self, word: Word) -> Array:
        """A matrix, or a known product."""
        kept, flipped = canonical(word)
        array = self.known.get(kept)
        if array is None:
            array = self.problem.constant_value(kept) if kept in self.problem.planner.constants else self._matrix(kept)
        return array.T if flipped else array

    def _matrix(self, word: Word) -> Array:
        ((name, flipped),) = word
        if name in self.problem.planner.costs.data:
            array = self.problem.data.itself()
        else:
            array = self.factors[name] if name in self.factors else self.problem.matrices[name]
        return array.T if flipped else array

    def compute(self, words: tuple[Word, ...]) -> None:
        """Make some words known."""
        self.problem.program(words, frozenset(self.known)).follow(self)

    def take_step(self, step: Step) -> None:
        """Take one step of a plan, on its own."""
        program_of(self.problem, [step], frozenset(self.known)).follow(self)

    def visit(self, step: Visit) -> None:
        """Take the step of a plan that walks over the data."""
        right = self.operand(step.right) if step.right else None
        requests = [self._request(word) for word in step.products]
        # The data know a quick way to one sum of logarithms; more of them are products like others.
        power, *powers = (self.problem.model.divergence.log_powers if step.logarithm else ()) or (None,)
        requests += [Request(Logarithm(power), "right", self.problem.matrices[COLUMNS]) for power in powers]
        products, total = self.problem.data.visit(self.operand(step.left), right, requests, power)
        for word, product in zip(step.products, products, strict=False):
            operand_is_transposed = any(letter.transposed for letter in word if letter.name in self._operands)
            self.keep(word.T if operand_is_transposed else word, product)
        if step.logarithm:
            xp = self.problem.namespace.xp
            self.known[LOGARITHM] = [total, *(xp.sum(sums, dtype=xp.float64) for sums in products[len(step.products) :])]

    @property
    def _operands(self) -> Mapping[str, Any]:
        return self.problem.model.middles.operands

    def keep(self, word: Word, product: Array) -> None:
        """Take note of a product."""
        kept, flipped = canonical(word)
        self.known[kept] = product.T if flipped else product

    def _request(self, word: Word) -> Request:
        place = next(i for i, letter in enumerate(word) if letter.name in self._operands)
        name, transposed = word[place]
        if transposed:  # v Eᵀ is (E vᵀ)ᵀ
            return self._request(word.T)
        before, after = word[:place], word[place + 1 :]
        if before:
            return Request(self._operands[name], "left", self.operand(before))
        return Request(self._operands[name], "right", self.operand(after) if after else None)

    def _add(self, terms: Iterable[tuple[float, Array, bool]], factor: str) -> Array:
        """A sum of products, each with its coefficient, and with θ where it says so."""
        total: Any = None
        for coefficient, product, has_theta in terms:
            product = as_dense(product)
            if coefficient != 1:
                product = product * coefficient
            if has_theta:
                product = product * self._theta(factor)
            total = product if total is None else total + product
        return total

    def _theta(self, factor: str) -> Array:
        """θ = ΣP∘X̂ / ΣQ∘X̂, QNMF Table 1."""
        if THETA_WORD not in self.known:
            (positive, _), (negative, _) = self._sums(factor, logarithm=False)
            namespace = self.problem.namespace
            self.known[THETA_WORD] = namespace.xp.asarray(positive / negative, dtype=namespace.dtype)
        return self.known[THETA_WORD]

    def _sums(self, factor: str, logarithm: bool) -> list[tuple[Array, Array]]:
        """⟨F, ∇⟩/q for each term of the derivative, without θ, and what it is a difference of, as 0-d arrays."""
        planner = self.problem.planner
        self.problem.program_of_sums(factor, frozenset(self.known), logarithm=logarithm).follow(self)
        degree = self.problem.model.rules[factor].degree
        found = ([self._contracted(contraction) / degree for contraction in part] for part in planner.rules[factor].sums)
        return [(sum(numbers), sum(map(abs, numbers))) for numbers in found]

    def _contracted(self, contraction: Contraction) -> Array:
        xp, (coefficient, left, right) = self.problem.namespace.xp, contraction
        product = as_dense(self.value(left))
        if not right:
            return coefficient * xp.linalg.trace(product, dtype=xp.float64)
        if product.dtype == xp.float32:
            for sums, other in ((left, right), (right, left), (left.T, right.T), (right.T, left.T)):
                if sums[0].name in (ROWS, COLUMNS) and canonical(sums[1:])[0] in self.known:
                    # 1 v: rounding to float32 is the same in every row, and would not average out.
                    totals = xp.sum(as_dense(self.value(other)), axis=0, dtype=xp.float64)
                    return coefficient * xp.sum(totals * self.value(sums[1:])[0, :])
        return coefficient * inner(xp, product, as_dense(self.value(right)))
