"""The learned factors at one moment, with every product of them that has been computed, so that nothing is computed twice.

The factors of a point are not changed; a step makes a new point, which takes over all products that the step left valid. Products
are added to a point as they are asked for, and may be let go of.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..algebra.expression import Letter, Word
from ..algebra.rewriting import Sum
from ..data import Request, SquaredDifference, Unreached, as_dense
from ..divergences.base import Logarithm, Operand, Sums
from ..kernels.host import as_operand, as_type, inner, is_small
from ..kernels.namespace import Array
from ..planning import LOGARITHM, Contraction, Visit, canonical
from ..planning.planner import COLUMNS, ROWS, THETA_WORD, terms

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
        """The same point, with products of its own."""
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
        return Point(self.problem, {**self.factors, name: as_type(value, self.problem.namespace.dtype)}, known)

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
        rule, planned, known = self.problem.model.rules[factor], self.problem.planner.rules[factor], frozenset(self.known)
        executable = self.problem.compiled(
            (factor, known),
            lambda: self.problem.planner.plan(planned.words, known),
            known,
            (planned.numerator, planned.denominator),
        )
        executable.execute(self)
        sides = [[(coefficient, source(self), has_theta) for coefficient, source, has_theta in side] for side in executable.sides]
        numerator, denominator = [as_type(self._add(side, factor), self.problem.namespace.dtype) for side in sides]
        if self.problem.has_stray_signs:
            numerator, denominator = (self.problem.namespace.xp.clip(side, 0.0, None) for side in (numerator, denominator))
        constraint = rule.constraint
        multipliers = constraint.multipliers(self.problem.namespace.xp, self.factors[factor], denominator, numerator)
        if multipliers is None:
            return numerator, denominator
        return rule.law.lagrangian(numerator, denominator, *multipliers)

    def gradient(self, factor: str) -> tuple[Array, Array]:
        """∇⁺ and ∇⁻ of the objective by a factor, whatever its constraint."""
        planned, dtype = self.problem.planner.rules[factor], self.problem.namespace.dtype
        self.compute(tuple(term.word for term in (*planned.positive, *planned.negative)))
        positive, negative = (
            as_type(self._add([(number, self.value(word), False) for number, word, _ in part], factor), dtype)
            for part in (planned.positive, planned.negative)
        )
        return self.problem.model.divergence.gradient(positive, negative, self.sums(factor))

    def operand(self, word: Word) -> Array:
        """The value of a word, to be combined with the data: in their precision, unless it is small."""
        return as_operand(self.value(word), self.problem.namespace.dtype, self.problem.data.shape)

    def prepare(self) -> None:
        """Compute the products of the objective and of all rules, in one pass over the data."""
        self.compute(self.problem.planner.words, logarithm=self.problem.model.has_logarithms)

    def sums(self, factor: str) -> Sums:
        """The sums of the divergence, by contracting a factor with its gradient: ⟨F, ∇⟩ is q times Σ P∘X̂ − Σ Q∘X̂.

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
        """The scale of X̂ with the lowest divergence; if it does not depend on the scale, that of equal sums."""
        divergence = self.problem.model.divergence
        if not divergence.scale_invariant:
            return divergence.scale(self.sums(factor or self.problem.learned[0]))
        total = self.total()
        return self.problem.data.power_sum(1) / total if total > 0 else 1.0

    def objective(self, factor: str | None = None) -> tuple[float, float]:
        """The minimised value, and the size of the terms it is a difference of.

        The products computed for a factor serve its next step.
        """
        if self.measured is None:
            self.measured = self.objective_from(self.sums(factor or self.problem.learned[0]))
        return self.measured

    def objective_from(self, sums: Sums, *, with_penalties: bool = True) -> tuple[float, float]:
        """The objective, and the size of its terms, from the sums of the divergence."""
        divergence = self.problem.model.divergence
        value, magnitude = divergence.value(self.problem.constant, sums)
        if value < 0 and self.problem.data.costs.bounded:
            # A difference of large terms may round below zero; a large negative one means that X̂ is zero and ln X̂ not finite,
            # unless the divergence has no lower bound of zero.
            roundings = 1e4 if divergence.bounded else 4
            if self.problem.model.signed and divergence.takes_signs:
                magnitude = max(magnitude, self._uncancelled())
            is_rounding = math.isfinite(value) and value >= -roundings * self.problem.namespace.eps * magnitude
            value = 0.0 if is_rounding else math.inf if divergence.bounded else value
        for name in self.problem.learned if with_penalties else ():
            penalty = self.problem.model.constraints[name].penalty(self.problem.namespace.xp, self.factors[name])
            value, magnitude = (value, magnitude) if penalty is None else (value + float(penalty), magnitude + float(penalty))
        return value, magnitude

    def _uncancelled(self) -> float:
        """A bound of ‖X̂‖², the product of the factors' squared norms: terms of either sign cancel unseen within a product."""
        xp, model, known = self.problem.namespace.xp, self.problem.model, {**self.problem.matrices, **self.factors}
        squares = {name: float(xp.sum(known[name] ** 2, dtype=xp.float64)) for name in model.form.names if name in known}
        if model.data in model.form.names:
            squares[model.data] = self.problem.data.power_sum(2)
        return math.prod(squares[letter.name] for letter in model.form if letter.name in squares)

    def product(self, word: Word, dtype: Any = None) -> Array:
        """The value of one word in the factors and the data, dense, as it is kept: not to be written to."""
        if canonical(word)[0] not in self.known:  # or there is nothing to plan
            self.compute((word,))
        value = as_dense(self.value(word))
        return value if dtype is None else value.astype(dtype, copy=False)

    def evaluate(self, part: Sum) -> Array:
        """The value of any sum of words in the factors and the data."""
        parts = terms(part)
        self.compute(tuple(term.word for term in parts))
        values = [(coefficient, self.value(word), has_theta) for coefficient, word, has_theta in parts]
        return as_type(self._add(values, self.problem.learned[0]), self.problem.namespace.dtype)

    def objective_by_entries(self) -> float:
        """½‖X − X̂‖² entry by entry, with penalties: slower than `objective`, and exact if that cancels."""
        model, xp = self.problem.model, self.problem.namespace.xp
        squares = float(xp.sum(self._visited(SquaredDifference()), dtype=xp.float64))
        if squares <= (4 * self.problem.namespace.eps) ** 2 * self.problem.data.power_sum(2):
            squares = 0.0  # X̂ is X but for the rounding of its entries; in other units that may be more than a number can hold
        penalties = (c.penalty(xp, self.factors[name]) for name, c in model.constraints.items() if c.is_learned)
        return squares / 2 + sum(float(penalty) for penalty in penalties if penalty is not None)

    def unreached(self) -> int:
        """The number of positive entries of X with X̂ = 0."""
        return int(self.problem.namespace.xp.sum(self._visited(Unreached())))

    def _visited(self, operand: Any) -> Array:
        """The sums over each row of an elementwise function of X and X̂."""
        left, right = self.problem.signature.divide(self.problem.model.form)
        self.compute((left, right) if right else (left,))
        request = Request(operand, "right", self.problem.matrices[COLUMNS])
        (sums,), _ = self.problem.data.visit(self.operand(left), self.operand(right) if right else None, [request])
        return sums

    def violation(self, factor: str) -> float:
        """How far a factor is from satisfying its constraint."""
        return float(self.problem.model.constraints[factor].violation(self.problem.namespace.xp, self.factors[factor]))

    def kkt_residual(self) -> float:
        """Distance of the point from being stationary, from 0: the largest of the factors.

        At a stationary point numerator and denominator of each rule are equal for positive entries, and the denominator is larger
        for zeros (the KKT conditions, with the multipliers of constraints). Their difference is divided by their sum, both weighted
        with the factor; an entry that should grow has at least the mean weight, so that zeros count. If a constraint sets the scale
        of a factor, or of its columns, a common ratio of the two sides is taken out first, as `restore` does.
        """
        xp, law, residuals = self.problem.namespace.xp, self.problem.model.divergence.law, []
        for name in self.problem.learned:
            constraint = self.problem.model.constraints[name]
            F, numerator, denominator = map(constraint.moving, (self.factors[name], *law.balanced(*self.sides(name))))
            if 0 in F.shape:  # all of it is given
                excess, whole = 0.0, 0.0
            elif constraint.is_signed:
                sizes = abs(numerator - denominator), abs(numerator) + abs(denominator)
                excess, whole = (float(xp.sum(abs(F) * size, dtype=xp.float64)) for size in sizes)
            else:
                axis = {"columns": 0, "rows": 1, None: None}[constraint.lengths]
                up, down = (xp.sum(F * side, axis=axis, keepdims=True, dtype=xp.float64) for side in (numerator, denominator))
                if not constraint.any_scale:
                    one = xp.ones_like(up)
                    scale = xp.where((up > 0) & (down > 0), up / xp.where(down > 0, down, one), one)
                    denominator, down = denominator * xp.astype(scale, denominator.dtype), down * scale
                difference, whole = numerator - denominator, float(xp.sum(up + down))
                weight = xp.where(difference > 0, xp.maximum(F, xp.mean(F)), F)
                excess = float(xp.sum(weight * abs(difference), dtype=xp.float64))
                if whole <= 0:  # both sides are zero with a factor, or else have underflowed and tell nothing
                    excess = 0.0 if any(not bool(xp.any(factor != 0)) for factor in self.factors.values()) else 1.0
                    whole = 1.0
            residuals.append(excess / whole if whole > 0 else 0.0)
        return max(residuals)

    def value(self, word: Word) -> Array:
        """A matrix, or a known product."""
        kept, flipped = canonical(word)
        array = self.known.get(kept)
        if array is None:
            if kept in self.problem.planner.constants:
                array = self.problem.constant_value(kept)
            else:
                ((name, _),) = kept
                if name in self.problem.planner.costs.data:
                    array = self.problem.data.itself()
                else:
                    array = self.factors[name] if name in self.factors else self.problem.matrices[name]
        return array.T if flipped else array

    def compute(self, words: tuple[Word, ...], *, logarithm: bool = False) -> None:
        """Compute some words, and the sum of logarithms if asked for."""
        known, planner = frozenset(self.known), self.problem.planner
        key, plan = (words, known, logarithm), lambda: planner.plan(words, known, logarithm=logarithm)
        self.problem.compiled(key, plan, known).execute(self)

    def visit(self, step: Visit) -> None:
        """Take the step of a plan that walks over the data."""
        right = self.operand(step.right) if step.right else None
        operands, requests = self.problem.model.middles.operands, [self._request(word) for word in step.products]
        # The data know a quick way to one sum of logarithms; more of them are products like others.
        power, *powers = (self.problem.model.divergence.log_powers if step.logarithm else ()) or (None,)
        requests += [Request(Logarithm(power), "right", self.problem.matrices[COLUMNS]) for power in powers]
        products, total = self.problem.data.visit(self.operand(step.left), right, requests, power)
        for word, product in zip(step.products, products, strict=False):
            operand_is_transposed = any(letter.transposed for letter in word if letter.name in operands)
            self.keep(word.T if operand_is_transposed else word, product)
        if step.logarithm:
            xp = self.problem.namespace.xp
            self.known[LOGARITHM] = [total, *(xp.sum(sums, dtype=xp.float64) for sums in products[len(step.products) :])]

    def keep(self, word: Word, product: Array) -> None:
        """Take note of a product."""
        kept, flipped = canonical(word)
        self.known[kept] = product.T if flipped else product

    def _request(self, word: Word) -> Request:
        """The request for a word with an operand in it, for a pass over X."""
        operands = self.problem.model.middles.operands
        place = next(i for i, letter in enumerate(word) if letter.name in operands)
        name, transposed = word[place]
        if transposed:  # v Eᵀ is (E vᵀ)ᵀ
            return self._request(word.T)
        before, after = word[:place], word[place + 1 :]
        if before:
            return Request(operands[name], "left", self.operand(before))
        return Request(operands[name], "right", self.operand(after) if after else None)

    def _add(self, terms: Iterable[tuple[float, Array, bool]], factor: str) -> Array:
        """A sum of products with their coefficients, and with θ if it belongs to them."""
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
        """⟨F, ∇⟩/q for each term of the derivative, without θ, and the size of its parts, as 0-d arrays."""
        planner, known = self.problem.planner, frozenset(self.known)
        plan = lambda: planner.plan_sums(factor, known, logarithm=logarithm)  # noqa: E731
        self.problem.compiled((factor, known, logarithm), plan, known).execute(self)
        degree = self.problem.model.rules[factor].degree
        found = ([self._contracted(contraction) / degree for contraction in part] for part in planner.rules[factor].sums)
        return [(sum(numbers), sum(map(abs, numbers))) for numbers in found]

    def _contracted(self, contraction: Contraction) -> Array:
        """A trace, or an inner product of two words, summed in double precision."""
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
