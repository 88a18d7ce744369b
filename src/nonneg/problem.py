"""A model bound to data: shapes, plans, and the objective. No iteration.

A `Problem` is what stays: the data, the fixed factors, the plans. A `Point` is what a solver moves: the current factors, together
with every product of them that has been computed, so that nothing is computed twice. Points are not changed; a step makes a new
one, which takes over all products that the step left valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .arrays.contraction import LOGARITHM, Costs, Multiply, Step, canonical, low_rank, plan
from .arrays.data import Data, Request, Unreached, dense, row_blocks
from .arrays.host import blas_threads, inner, multiplied
from .arrays.namespace import Array, Namespace
from .arrays.reading import read_data
from .arrays.traces import Contraction, contractions, needed, results
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

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.numerator, self.denominator = _terms(rule.numerator), _terms(rule.denominator)
        self.positive, self.negative = _terms(rule.positive), _terms(rule.negative)
        self.step_words = tuple(dict.fromkeys(term.word for term in (*self.numerator, *self.denominator)))
        self.sums: list[tuple[Contraction, ...]] = []
        """⟨F, ∇⁺⟩ and ⟨F, ∇⁻⟩, once it is known what they are best made of."""
        self.sum_words: tuple[Word, ...] = ()
        """What that is."""

    def make_sums(self, have: Mapping[Word, Word], entries: Callable[[Word], int]) -> None:
        """Choose how to contract the factor with its parts, where `have` is what a step needs anyway, as it is computed."""
        F = Word([Letter(self.rule.factor)])
        parts = ([term[:2] for term in part] for part in (self.positive, self.negative))
        sums = [contractions(terms, F, have, entries) for terms in parts]
        words = (word for part in sums for _, *pair in part for word in pair)
        self.sum_words = tuple(dict.fromkeys(have.get(canonical(word)[0], word) for word in words))
        self.sums = sums  # last: starts that run side by side look whether there are any


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
        with np.errstate(over="ignore"):
            self.constant = model.divergence.constant(data)
        if not math.isfinite(self.constant):
            raise DataError(
                f"{model.data} has entries of up to {data.peak:g}, whose {model.divergence!r} is more, or less, than a number can "
                "hold, and no factor is free to take up its scale. Divide it by a number first."
            )
        self._costs = self._make_costs(horizon)
        self.rules = {name: _BoundRule(rule) for name, rule in model.rules.items()}
        self._programs: dict[tuple[tuple[Word, ...], frozenset[Word], bool], list[Step]] = {}
        self.implicit = frozenset((*model.middles.operands, THETA, LOGARITHM[0].name))
        self._changing: dict[Word, frozenset[str]] = {}
        self.threads: int | None = None

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
        is_numpy = self.namespace.xp is np
        self.threads = blas_threads() if is_numpy else None
        # Products come in rows; what is computed entry by entry of arrays in different orders takes several times as long.
        started = {name: np.ascontiguousarray(factors[name]) if is_numpy else factors[name] for name in self.order}
        return Point(self, started, dict(self.known))

    def changing(self, word: Word) -> frozenset[str]:
        """The factors that a known product changes with; what is made of X̂ changes with all of them."""
        factors = self._changing.get(word)
        if factors is None:
            names = {letter.name for letter in word}
            factors = frozenset(self.order if names & self.implicit else names.intersection(self.order))
            self._changing[word] = factors
        return factors

    def program(self, words: tuple[Word, ...], known: frozenset[Word], logarithm: bool) -> list[Step]:
        """The products to compute, planned once: what is known at a given place is the same in every sweep."""
        key = (words, known, logarithm)
        if key not in self._programs:
            self._programs[key] = plan(words, known, self._costs, logarithm)
        return self._programs[key]

    def sum_program(self, factor: str, known: frozenset[Word], logarithm: bool) -> list[Step]:
        """The products that ⟨F, ∇⁺⟩ and ⟨F, ∇⁻⟩ need: some of those that a step needs anyway, planned with them."""
        rule = self.rules[factor]
        if not rule.sums or (rule.sum_words, known, logarithm) not in self._programs:
            steps = self.program(rule.step_words, known, logarithm)
            given = (Word([Letter(name)]) for name in (*self.order, *self.fixed, _ROWS, _COLUMNS))
            have = results(steps) | {word: word for word in (*known, *given)}
            if not rule.sums:
                rule.make_sums(have, self._entries)
            if all(not word or canonical(word)[0] in have for word in rule.sum_words):
                first = needed(steps, rule.sum_words)
                after = known.union(results(first), [LOGARITHM] if logarithm else [])
                self._programs[rule.sum_words, known, logarithm] = first
                self._programs[rule.step_words, after, False] = [step for step in steps if step not in first]
        return self.program(rule.sum_words, known, logarithm)

    def _entries(self, word: Word) -> int:
        rows, columns = self._costs.shape(word)
        return rows * columns


class Point:
    """The learned factors at one moment, and the products of them that are known."""

    __slots__ = ("_objective", "factors", "known", "problem")

    def __init__(self, problem: Problem, factors: dict[str, Array], known: dict[Word, Array]) -> None:
        self.problem, self.factors, self.known = problem, factors, known
        self._objective: tuple[float, float] | None = None

    def bare(self) -> Point:
        """The point and its objective, if known, without the products, which take memory."""
        bare = Point(self.problem, self.factors, dict(self.problem.known))
        bare._objective = self._objective
        return bare

    def forget_all_but(self, *words: Word) -> None:
        """Let go of the other products, which take memory; they would be computed again."""
        kept = {canonical(word)[0] for word in words}
        self.known = {word: value for word, value in self.known.items() if word in kept or word in self.problem.known}

    def with_factor(self, name: str, value: Array) -> Point:
        """The point with one factor replaced."""
        changing = self.problem.changing
        known = {word: product for word, product in self.known.items() if name not in changing(word)}
        return Point(self.problem, {**self.factors, name: value}, known)

    def with_scaled(self, name: str, by: float) -> Point:
        """The point with one factor multiplied by a number; products of matrices are multiplied along, not computed again."""
        known = {
            word: product if name not in self.problem.changing(word) else product * by ** word.count(name)
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

    def prepare(self) -> None:
        """Compute what the objective and the rules of all factors need, in one visit to the data."""
        words = tuple(dict.fromkeys(word for rule in self.problem.rules.values() for word in rule.step_words))
        self._follow(self.problem.program(words, frozenset(self.known), self.problem.model.divergence.log_power is not None))

    def sums(self, factor: str) -> Sums:
        """Σ P∘X̂ and Σ Q∘X̂, by contracting a factor with its own parts: ⟨F, ∇⟩ is q times the sum."""
        logarithm = self.problem.model.divergence.log_power is not None
        positive, negative = self._sums(factor, logarithm)
        return Sums(float(positive), float(negative), float(self.known[LOGARITHM]) if logarithm else 0.0)

    def total(self) -> float:
        """Σ X̂."""
        word = Word([Letter(_ROWS, True), *self.problem.model.form, Letter(_COLUMNS)])
        self._compute((word,))
        return float(self.value(word)[0, 0])

    def best_scale(self, factor: str | None = None) -> float:
        """The number by which X̂ fits X best; where the divergence does not depend on it, that which makes their sums equal."""
        divergence = self.problem.model.divergence
        if not divergence.scale_invariant:
            return divergence.scale(self.sums(factor or self.problem.order[0]))
        total = self.total()
        return self.problem.data.power_sum(1) / total if total > 0 else 1.0

    def objective(self, factor: str | None = None) -> tuple[float, float]:
        """What is minimised, and the size of the terms it is a difference of.

        With the factor whose turn comes next, the products computed here are those that its step needs.
        """
        if self._objective is None:
            value, magnitude = self.divergence(factor)
            for name, constraint in self.problem.model.constraints.items():
                price = constraint.penalty(self.problem.namespace.xp, self.factors[name]) if constraint.is_learned else None
                value, magnitude = (value, magnitude) if price is None else (value + float(price), magnitude + float(price))
            self._objective = value, magnitude
        return self._objective

    def divergence(self, factor: str | None = None) -> tuple[float, float]:
        """The same without what constraints add to it."""
        divergence = self.problem.model.divergence
        value, magnitude = divergence.value(self.problem.constant, self.sums(factor or self.problem.order[0]))
        if divergence.bounded and self.problem.data.bounded and value < 0:
            # A difference of large terms may round to less than nothing; a large negative one means that the terms do not
            # belong together, as where X̂ is zero and ln X̂ is not finite.
            is_rounding = math.isfinite(value) and value >= -1e4 * self.problem.namespace.eps * magnitude
            value = 0.0 if is_rounding else math.inf
        return value, magnitude

    def product(self, word: Word) -> Array:
        """The value of one word in the factors and the data, as it is kept: not to be written to."""
        self._compute((word,))
        return self.value(word)

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

    def imbalance(self) -> float:
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
            axis = {"columns": 0, "rows": 1, None: None}[constraint.lengths]
            up, down = (xp.sum(F * side, axis=axis, keepdims=True, dtype=xp.float64) for side in (numerator, denominator))
            if not constraint.any_scale:
                one = xp.ones_like(up)
                scale = xp.where((up > 0) & (down > 0), up / xp.where(down > 0, down, one), one)
                denominator, down = denominator * xp.astype(scale, denominator.dtype), down * scale
            excess = numerator - denominator
            weight = xp.where(excess > 0, xp.maximum(F, xp.mean(F)), F)
            whole = float(xp.sum(up + down))
            return float(xp.sum(weight * abs(excess), dtype=xp.float64)) / whole if whole > 0 else 0.0

        return max(map(of_factor, self.problem.order))

    def value(self, word: Word) -> Array:
        """A matrix, or a known product."""
        kept, flipped = canonical(word)
        array = self.known.get(kept)
        if array is None:
            ((name, flipped),) = word
            array = self.factors.get(name)
            array = self.problem.matrices[name] if array is None else array
        return array.T if flipped else array

    def _compute(self, words: tuple[Word, ...]) -> None:
        self._follow(self.problem.program(words, frozenset(self.known), False))

    def _follow(self, steps: Sequence[Step]) -> None:
        threads = self.problem.threads
        for step in steps:
            if isinstance(step, Multiply):
                self.keep(step.result, multiplied(self.value(step.left), self.value(step.right), threads))
                continue
            right = self.value(step.right) if step.right else None
            power = self.problem.model.divergence.log_power if step.logarithm else None
            requests = [self._request(word) for word in step.products]
            products, total = self.problem.data.elementwise(self.value(step.left), right, requests, power)
            for word, product in zip(step.products, products, strict=True):
                operand_is_transposed = any(letter.transposed for letter in word if letter.name in self._operands)
                self.keep(word.T if operand_is_transposed else word, product)
            if step.logarithm:
                self.known[LOGARITHM] = total

    @property
    def _operands(self) -> Mapping[str, Any]:
        return self.problem.model.middles.operands

    def keep(self, word: Word, product: Array) -> None:
        kept, flipped = canonical(word)
        self.known[kept] = product.T if flipped else product
        if not self.problem.changing(kept):
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
            positive, negative = self._sums(factor, logarithm=False)
            self.known[_THETA] = self.problem.namespace.xp.astype(positive / negative, self.problem.namespace.dtype)
        return self.known[_THETA]

    def _sums(self, factor: str, logarithm: bool) -> list[Array]:
        """⟨F, ∇⁺⟩/q and ⟨F, ∇⁻⟩/q, without θ, as 0-d arrays."""
        self._follow(self.problem.sum_program(factor, frozenset(self.known), logarithm))
        rule = self.problem.rules[factor]
        return [sum(map(self._contracted, part), 0.0) / rule.rule.degree for part in rule.sums]

    def _contracted(self, contraction: Contraction) -> Array:
        xp, (coefficient, left, right) = self.problem.namespace.xp, contraction
        product = dense(self.value(left))
        return coefficient * (inner(xp, product, dense(self.value(right))) if right else xp.linalg.trace(product, dtype=xp.float64))


def read_for(model: Model, X: Any) -> Data:
    """The data, checked for what a model asks of them."""
    divergence = model.divergence
    data = read_data(X, model.data, signed=divergence.signed, positive=divergence.requires_positive_data)
    if divergence.scale_invariant and data.peak == 0:
        raise DataError(f"{model.data} is zero everywhere, and {divergence!r} compares {model.data}/Σ{model.data}, which is 0/0.")
    return data


def bind(model: Model, X: Any, factors: Mapping[str, Array]) -> Point:
    """A model with its data, at given factors: objective and gradients are methods of what is returned."""
    data = read_for(model, X)
    arrays = {name: data.namespace.asarray(factor) for name, factor in factors.items()}
    shapes = infer_shapes(model, data.shape, None, {name: array.shape for name, array in arrays.items()})
    return Problem(model, data, shapes, {name: arrays[name] for name in model.fixed}).start(arrays)
