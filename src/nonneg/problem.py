"""A model bound to data: shapes, plans, and the objective. No iteration.

A `Problem` is what stays: the data, the fixed factors, the plans. A `Point` is what a solver moves: the current factors, together
with every product of them that has been computed, so that nothing is computed twice. Points are not changed; a step makes a new
one, which takes over all products that the step left valid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .arrays.contraction import LOGARITHM, Costs, Multiply, Step, canonical, low_rank, plan
from .arrays.data import Data, Request, Unreached, dense, row_blocks
from .arrays.namespace import Array, Namespace
from .arrays.reading import read_data
from .constraints import Direction
from .divergences.base import Sums
from .exceptions import DataError, IncompatibleError
from .expression import THETA, Letter, Word
from .model import Model, Rule
from .rewriting import Sum
from .shapes import infer_shapes

_ROWS, _COLUMNS = "1ₘ", "1ₙ"
_THETA = Word([Letter(THETA)])


class _Term(NamedTuple):
    """One word of a sum, ready to be looked up."""

    coefficient: float
    word: Word
    has_theta: bool


class _BoundRule:
    """A rule with its words in the form in which they are computed."""

    def __init__(self, rule: Rule, shape: tuple[int, int]) -> None:
        self.rule = rule
        self.numerator, self.denominator = _terms(rule.numerator), _terms(rule.denominator)
        self.positive, self.negative = _terms(rule.positive), _terms(rule.negative)
        F = Word([Letter(rule.factor)])
        wide = shape[0] < shape[1]
        own = [*self.numerator, *self.denominator]
        if any(term.has_theta for term in own):
            own += [*self.positive, *self.negative]
        self.step_words = tuple(dict.fromkeys(term.word for term in own))
        # ⟨F, w⟩ is a sum over a matrix that the step needs anyway, or the trace of the smaller of Fᵀw and wFᵀ.
        self.contractions = {
            term.word: None if term.word in self.step_words else term.word + F.T if wide else F.T + term.word
            for term in (*self.positive, *self.negative)
        }
        self.value_words = tuple(word if trace is None else trace for word, trace in self.contractions.items())


def _terms(part: Sum) -> tuple[_Term, ...]:
    """A sum as it is computed: the all-ones matrix becomes 1ₘ 1ₙᵀ, which is a product like any other."""
    ones = Word([Letter(_ROWS), Letter(_COLUMNS, True)])
    return tuple(
        _Term(
            float(coefficient),
            Word(
                piece
                for letter in word.matrices
                for piece in ([letter] if letter.name != "1" else ones.T if letter.transposed else ones)
            ),
            word[:1] == _THETA,
        )
        for word, coefficient in part
    )


class Problem:
    """A model with its data.

    Parameters
    ----------
    model : Model
    data : Data
    shapes : dict
        Rows and columns of every factor; see `infer_shapes`.
    fixed : dict of arrays
        The factors that are given.
    horizon : int
        How many iterations to expect: what a product that never changes may cost, at most, is shared by so many.
    """

    def __init__(
        self,
        model: Model,
        data: Data,
        shapes: Mapping[str, tuple[int, int]],
        fixed: Mapping[str, Array],
        horizon: int = 100,
    ) -> None:
        self.model, self.data, self.shapes, self.fixed = model, data, dict(shapes), dict(fixed)
        self.namespace: Namespace = data.namespace
        m, n = data.shape
        self.matrices: dict[str, Any] = {**fixed, _ROWS: self.namespace.ones(m, 1), _COLUMNS: self.namespace.ones(n, 1)}
        if data.array is None and model.divergence.signed:
            raise IncompatibleError(
                f"{model.divergence.text(model.data, model.form)} needs {model.data} itself, not its Gram matrix."
            )
        self.matrices |= data.matrices(model.data, signed=model.divergence.signed)
        if model.divergence.signed:
            self._check_signs()
        rules = model.rules.values()
        data.check(model.data, (word for rule in rules for part in (rule.positive, rule.negative) for word, _ in part))
        self.known: dict[Word, Array] = {canonical(word)[0]: value for word, value in data.products(model.data).items()}
        """Products that never change; points add to it what they compute."""
        self.constant = model.divergence.constant(data)
        self.rules = {name: _BoundRule(rule, self.shapes[name]) for name, rule in model.rules.items()}
        self._costs = self._make_costs(horizon)
        self._programs: dict[tuple[tuple[Word, ...], frozenset[Word], bool], list[Step]] = {}
        self.implicit = frozenset((*model.middles.operands, THETA, LOGARITHM[0].name))

    def _check_signs(self) -> None:
        """Refuse an unconstrained trace whose rule has nothing to divide by, or to multiply with."""
        model, (lowest, highest) = self.model, self.data.range
        if lowest * highest >= 0 and any(isinstance(model.constraints[name], Direction) for name in model.learned):
            without = "positive" if highest <= 0 else "negative"
            raise DataError(
                f"{model.data} has no {without} entries, so {model.divergence.text(model.data, model.form)} without a constraint "
                "has no rule (ONL Eq. 39 and 40 are a ratio of the two). Constrain the factor to be 'orthogonal'."
            )

    def _make_costs(self, horizon: int) -> Costs:
        model, data = self.model, self.data
        of_data = [model.data, model.data + "⁺", model.data + "⁻"]
        operands = frozenset(model.middles.operands)
        m, n = data.shape
        shapes = {**self.shapes, **dict.fromkeys([*of_data, *operands], (m, n)), _ROWS: (m, 1), _COLUMNS: (n, 1)}
        return Costs(
            shapes=shapes,
            sizes=dict.fromkeys(of_data, math.inf if data.array is None else float(data.size))
            | {name: float(matrix.nnz) for name, matrix in self.fixed.items() if hasattr(matrix, "nnz")},
            constant=frozenset(shapes) - set(model.learned) - operands,
            operands=operands,
            product=model.form,
            horizon=max(horizon, 1),
            largest=float(max(data.size, *(rows * columns for rows, columns in self.shapes.values()))),
        )

    @property
    def order(self) -> tuple[str, ...]:
        """The factors in the order in which they are updated."""
        return self.model.learned

    def start(self, factors: Mapping[str, Array]) -> Point:
        return Point(self, {name: factors[name] for name in self.order}, dict(self.known))

    def depends(self, word: Word, factor: str) -> bool:
        """Whether a known product changes with a factor; what is made of X̂ changes with all of them."""
        return any(letter.name == factor or letter.name in self.implicit for letter in word)

    def program(self, words: tuple[Word, ...], known: frozenset[Word], logarithm: bool) -> list[Step]:
        """The products to compute, planned once: what is known at a given place is the same in every sweep."""
        key = (words, known, logarithm)
        if key not in self._programs:
            self._programs[key] = plan(words, known, self._costs, logarithm)
        return self._programs[key]


class Point:
    """The learned factors at one moment, and the products of them that are known."""

    __slots__ = ("_objective", "factors", "known", "problem")

    def __init__(self, problem: Problem, factors: dict[str, Array], known: dict[Word, Array]) -> None:
        self.problem, self.factors, self.known = problem, factors, known
        self._objective: tuple[float, float] | None = None

    def with_factor(self, name: str, value: Array) -> Point:
        """The point with one factor replaced."""
        depends = self.problem.depends
        known = {word: product for word, product in self.known.items() if not depends(word, name)}
        return Point(self.problem, {**self.factors, name: value}, known)

    def with_scaled(self, name: str, by: float) -> Point:
        """The point with one factor multiplied by a number; products of matrices are multiplied along, not computed again."""
        known = {
            word: product if not self.problem.depends(word, name) else product * by ** word.count(name)
            for word, product in self.known.items()
            if not any(letter.name in self.problem.implicit for letter in word)
        }
        return Point(self.problem, {**self.factors, name: self.factors[name] * by}, known)

    def sides(self, factor: str) -> tuple[Array, Array]:
        """Numerator and denominator of a factor's rule, with all multiplier terms."""
        bound = self.problem.rules[factor]
        self._compute(bound.step_words)
        numerator, denominator = self._add(bound.numerator, factor), self._add(bound.denominator, factor)
        constraint = bound.rule.constraint
        multipliers = constraint.multipliers(self.problem.namespace.xp, self.factors[factor], denominator, numerator)
        if multipliers is None:
            return numerator, denominator
        return bound.rule.law.lagrangian(numerator, denominator, *multipliers)

    def gradient(self, factor: str) -> tuple[Array, Array]:
        """∇⁺ and ∇⁻ of the objective by a factor, whatever its constraint."""
        bound = self.problem.rules[factor]
        self._compute(tuple(term.word for term in (*bound.positive, *bound.negative)))
        positive, negative = (self._add(part, factor, theta=False) for part in (bound.positive, bound.negative))
        return self.problem.model.divergence.gradient(positive, negative, self.sums(factor))

    def sums(self, factor: str) -> Sums:
        """Σ P∘X̂ and Σ Q∘X̂, by contracting a factor with its own parts: ⟨F, ∇⟩ is q times the sum."""
        bound = self.problem.rules[factor]
        logarithm = self.problem.model.divergence.log_power is not None
        self._compute(bound.value_words, logarithm)
        positive, negative = (float(self._contract(part, factor)) for part in (bound.positive, bound.negative))
        return Sums(positive, negative, float(self.known[LOGARITHM]) if logarithm else 0.0)

    def total(self) -> float:
        """Σ X̂."""
        word = Word([Letter(_ROWS, True), *self.problem.model.form, Letter(_COLUMNS)])
        self._compute((word,))
        return float(self.value(word)[0, 0])

    def objective(self, factor: str | None = None) -> tuple[float, float]:
        """What is minimised, and the size of the terms it is a difference of.

        With the factor whose turn comes next, the products computed here are those that its step needs.
        """
        if self._objective is None:
            divergence = self.problem.model.divergence
            value, magnitude = divergence.value(self.problem.constant, self.sums(factor or self.problem.order[0]))
            if divergence.bounded and value < 0:
                # A difference of large terms may round to less than nothing; a large negative one means that the terms do not
                # belong together, as where X̂ is zero and ln X̂ is not finite.
                value = 0.0 if value >= -1e4 * self.problem.namespace.eps * magnitude else math.inf
            for name, constraint in self.problem.model.constraints.items():
                price = constraint.penalty(self.problem.namespace.xp, self.factors[name]) if constraint.is_learned else None
                value, magnitude = (value, magnitude) if price is None else (value + float(price), magnitude + float(price))
            self._objective = value, magnitude
        return self._objective

    def evaluate(self, part: Sum) -> Array:
        """The value of any sum of words in the factors and the data."""
        terms = _terms(part)
        self._compute(tuple(term.word for term in terms))
        return self._add(terms, self.problem.order[0])

    def residual(self) -> float:
        """½‖X − X̂‖² entry by entry, with the prices of constraints: slower than `objective`, and right where that cancels."""
        model, xp = self.problem.model, self.problem.namespace.xp
        left, right = low_rank(model.form, self.problem.shapes | {model.data: self.problem.data.shape})
        self._compute((left, right) if right else (left,))
        U, V, X = self.value(left), self.value(right) if right else None, self.problem.data.array
        squares = 0.0
        for rows in row_blocks(*self.problem.data.shape, self.problem.namespace.device):
            difference = X[rows, :] - (U[rows, :] @ V if V is not None else U[rows, :])
            squares += float(xp.sum(difference * difference, dtype=xp.float64))
        prices = (c.penalty(xp, self.factors[name]) for name, c in model.constraints.items() if c.is_learned)
        return squares / 2 + sum(float(price) for price in prices if price is not None)

    def unreached(self) -> int:
        """How many entries of X are positive where X̂ is zero."""
        left, right = low_rank(self.problem.model.form, self.problem.shapes | {self.problem.model.data: self.problem.data.shape})
        self._compute((left, right) if right else (left,))
        everywhere = Request(Unreached(), "right", self.problem.matrices[_COLUMNS])
        (counts,), _ = self.problem.data.elementwise(self.value(left), self.value(right) if right else None, [everywhere])
        return int(self.problem.namespace.xp.sum(counts))

    def violation(self, factor: str) -> float:
        """How far a factor is from satisfying its constraint."""
        return float(self.problem.model.constraints[factor].violation(self.problem.namespace.xp, self.factors[factor]))

    def value(self, word: Word) -> Array:
        """A matrix, or a known product."""
        kept, flipped = canonical(word)
        array = self.known.get(kept)
        if array is None:
            ((name, flipped),) = word
            array = self.factors.get(name)
            array = self.problem.matrices[name] if array is None else array
        return array.T if flipped else array

    def _compute(self, words: tuple[Word, ...], logarithm: bool = False) -> None:
        for step in self.problem.program(words, frozenset(self.known), logarithm):
            if isinstance(step, Multiply):
                self._keep(step.result, self.value(step.left) @ self.value(step.right))
                continue
            right = self.value(step.right) if step.right else None
            power = self.problem.model.divergence.log_power if step.logarithm else None
            requests = [self._request(word) for word in step.products]
            products, total = self.problem.data.elementwise(self.value(step.left), right, requests, power)
            for word, product in zip(step.products, products, strict=True):
                operand_is_transposed = any(letter.transposed for letter in word if letter.name in self._operands)
                self._keep(word.T if operand_is_transposed else word, product)
            if step.logarithm:
                self.known[LOGARITHM] = total

    @property
    def _operands(self) -> Mapping[str, Any]:
        return self.problem.model.middles.operands

    def _keep(self, word: Word, product: Array) -> None:
        kept, flipped = canonical(word)
        self.known[kept] = product.T if flipped else product
        if all(letter.name in self.problem.matrices for letter in word):
            self.problem.known[kept] = self.known[kept]

    def _request(self, word: Word) -> Request:
        place = next(i for i, letter in enumerate(word) if letter.name in self._operands)
        name, transposed = word[place]
        if transposed:  # v Eᵀ is (E vᵀ)ᵀ
            return self._request(word.T)
        before, after = word[:place], word[place + 1 :]
        if before:
            return Request(self._operands[name], "left", self.value(before))
        return Request(self._operands[name], "right", self.value(after) if after else None)

    def _add(self, terms: Sequence[_Term], factor: str, *, theta: bool = True) -> Array:
        total: Any = None
        for coefficient, word, has_theta in terms:
            product = dense(self.value(word))
            if coefficient != 1:
                product = product * coefficient
            if has_theta and theta:
                product = product * self._theta(factor)
            total = product if total is None else total + product
        return total

    def _theta(self, factor: str) -> Array:
        """θ = ΣP∘X̂ / ΣQ∘X̂, QNMF Table 1."""
        if _THETA not in self.known:
            bound = self.problem.rules[factor]
            ratio = self._contract(bound.positive, factor) / self._contract(bound.negative, factor)
            self.known[_THETA] = self.problem.namespace.xp.astype(ratio, self.problem.namespace.dtype)
        return self.known[_THETA]

    def _contract(self, terms: Sequence[_Term], factor: str) -> Array:
        """⟨F, part⟩/q, without θ, summed in double precision."""
        bound, F, xp = self.problem.rules[factor], self.factors[factor], self.problem.namespace.xp
        total: Any = 0.0
        for coefficient, word, _ in terms:
            trace = bound.contractions[word]
            if trace is None:
                term = xp.sum(F * dense(self.value(word)), dtype=xp.float64)
            else:
                term = xp.linalg.trace(dense(self.value(trace)), dtype=xp.float64)
            total = total + term * coefficient
        return total / bound.rule.degree


def bind(model: Model, X: Any, factors: Mapping[str, Array]) -> Point:
    """A model with its data, at given factors: objective and gradients are methods of what is returned."""
    divergence = model.divergence
    data = read_data(X, model.data, signed=divergence.signed, positive=divergence.requires_positive_data)
    arrays = {name: data.namespace.asarray(factor) for name, factor in factors.items()}
    shapes = infer_shapes(model, data.shape, None, {name: array.shape for name, array in arrays.items()})
    return Problem(model, data, shapes, {name: arrays[name] for name in model.fixed}).start(arrays)
