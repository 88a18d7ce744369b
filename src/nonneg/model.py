"""A model = product form × divergence × constraints, and the rules that follow from it. No data here.

>>> print(Model("W W.T X", constraints={"W": "orthogonal"}))
minimise  ½‖X − W Wᵀ X‖²
over      W ≥ 0, Wᵀ W = I
<BLANKLINE>
W ← W ∘ [(X Xᵀ W) / (W Wᵀ X Xᵀ W)]^(1/3)
    OPNMF = NLHN: ONL Eq. 31, NNP Eq. 40 (printed with exponent 1)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .algebra.expression import Letter, Word, parse
from .algebra.majorization import Bounds, Law, LeastSquaresLaw, bounds_of_products
from .algebra.rewriting import SIGNS, Difference, Sum, by_sign, derivative, letter_by_letter, split_signs, symmetric
from .constraints import Constraint, Direction, get_constraint
from .data.profile import Need
from .divergences import Objective, get_divergence
from .divergences.base import Middles
from .exceptions import ExpressionError, IncompatibleError
from .planning.planner import RuleWords
from .references import Subject, citations


@dataclass(frozen=True)
class Rule:
    """How one factor is updated: W ← W ∘ (numerator / denominator)^exponent."""

    factor: str
    degree: int
    positive: Sum
    """∇⁺, before the constraint."""
    negative: Sum
    """∇⁻, before the constraint."""
    terms: tuple[Sum, ...]
    """The derivative by the factor of each term of `Middles.terms`. Contracted with the factor and divided by the degree, they are
    the sums that the objective is made of."""
    numerator: Sum
    denominator: Sum
    bounds: Bounds
    constraint: Constraint
    law: Law
    subject: Subject
    is_simplified: bool = False
    """Whether WᵀW = I was used to cancel words."""

    @property
    def published(self) -> tuple[str, ...]:
        """Equation in the papers."""
        return tuple(citations(self.subject.keys, self.exponent, simplified=self.is_simplified))

    @property
    def exponent(self) -> float:
        """The exponent of the theory: with it the objective does not rise, nor, under a constraint, the augmented one.

        The theorems are about rules as they stand before Wᵀ W = I is used and words are cancelled; for those that are simplified,
        and for the dual I-divergence of a factor that occurs twice, the exponent is the theory's but the guarantee is not.
        """
        return self.bounds.exponent

    def __str__(self) -> str:
        multipliers = self.constraint.multipliers_text(self.factor, self.denominator, self.numerator)
        numerator, denominator = str(self.numerator), str(self.denominator)
        if multipliers is not None:
            numerator, denominator = self.law.lagrangian_text(numerator, denominator, *multipliers)
        return self.law.text(self.factor, numerator, denominator, self.exponent)


class Model:
    """Form, divergence and constraints of a factorization.

    Parameters
    ----------
    form : str
        A product of named matrices: ``"W H"``, ``"W W.T X"``, ``"A W B W.T C"``. Every name is a factor to be learned, except
        the data's own name and those that `constraints` calls ``"fixed"``.
    divergence : str, float or Objective, default="euclidean"
        See `nonneg.divergences`. A number is the b of ``Beta(b)``, scikit-learn's ``beta_loss``.
    constraints : dict, optional
        For each factor that has one, a name or an object of `nonneg.constraints`.
    data : str, default="X"
        Name of the data in the form.
    signed : iterable of str, optional
        Which matrices that are given, the data among them, may have negative entries; with the Euclidean distance. By default the
        data, if a factor is constrained to be "signed". Fixed factors that have negative entries need not be named.
    weighted : bool, default=False
        Whether each entry of the data has a weight V, by which the rules then differ. Need not be said: data with weights, or with
        missing values, say it.
    split : {"joint", "separate"}, default="joint"
        How matrices of either sign enter a rule, as the difference of two matrices without negative entries. "joint" splits the
        whole product between two occurrences of the factor, as in (XᵀX Hᵀ)⁺, and does not form XᵀX. "separate" splits matrices of
        either sign alone, as in (XᵀX)⁺Hᵀ, by the entries of XᵀX: the rule of Ding, Li and Jordan (2010).

    Attributes
    ----------
    form : Word
    divergence : Objective
    constraints : dict of Constraint
        One for every factor.
    learned, fixed : tuple of str
        Names of the factors, in order of appearance.
    rules : dict of Rule
        For every learned factor, in the order in which they are updated.

    See Also
    --------
    factorize : Fits one.
    Objective : An objective that is no divergence.
    Factorization : The same as an estimator.

    Examples
    --------
    >>> import nonneg
    >>> model = nonneg.Model("W W.T X", constraints={"W": "orthogonal"})
    >>> model.learned
    ('W',)
    >>> print(model.rules["W"])
    W ← W ∘ [(X Xᵀ W) / (W Wᵀ X Xᵀ W)]^(1/3)
    """

    def __init__(
        self,
        form: str | Word,
        divergence: str | float | Objective = "euclidean",
        constraints: Mapping[str, str | Constraint | None] | None = None,
        *,
        data: str = "X",
        signed: Iterable[str] | None = None,
        weighted: bool = False,
        split: str = "joint",
    ) -> None:
        self.form = form if isinstance(form, Word) else parse(form)
        self.divergence = get_divergence(divergence)
        if not isinstance(data, str) or not data.isidentifier():
            raise IncompatibleError(f"data must be the name that the form gives the data, such as 'X'; got {data!r}.")
        self.data = data
        factors = [name for name in self.form.names if name != data]
        self.constraints = {name: Direction() if not self.divergence.approximates else get_constraint(None) for name in factors}
        self.constraints.update(self._given(constraints))
        self.learned = tuple(name for name in factors if self.constraints[name].is_learned)
        self.fixed = tuple(name for name in factors if not self.constraints[name].is_learned)
        if not self.learned:
            raise self._nothing_to_learn()
        if not self.divergence.approximates and self.form.count(data) != 1:
            raise ExpressionError(
                f"divergence='trace' needs a form with the data once in it, such as 'W.T {data} W'; got {self.form.text!r}."
            )
        if not isinstance(split, str) or split not in ("joint", "separate"):
            raise IncompatibleError(f"split must be 'joint' or 'separate'; got {split!r}.")
        self.split = split
        self.signed = self._with_signs(signed)
        self.products: dict[str, tuple[Word, str]] = {}
        """Letters of the rules that stand for the positive, or the negative, entries of a product."""
        self.middles: Middles = self.divergence.middles(self.form, data)
        self.has_logarithms = bool(self.divergence.log_powers)
        """Whether the objective has sums of logarithms in it."""
        self.weighted = bool(weighted)
        if self.weighted:
            self._check_weights()
            self.middles = self.middles.with_weights(self.form, data)
        self.rules = {name: self._rule(name) for name in self.learned}
        self.words = tuple(
            RuleWords(
                factor=name,
                numerator=tuple(rule.numerator),
                denominator=tuple(rule.denominator),
                positive=tuple(rule.positive),
                negative=tuple(rule.negative),
                terms=tuple(map(tuple, rule.terms)),
            )
            for name, rule in self.rules.items()
        )
        """The rules as sums of words, for planning."""

    def _nothing_to_learn(self) -> ExpressionError:
        fixed = f"{' and '.join(self.fixed)} {'is' if len(self.fixed) == 1 else 'are'} fixed and " if self.fixed else ""
        return ExpressionError(
            f"There is nothing to learn in the form {self.form.text!r}: {fixed}{self.data} is the data. Name a factor to be "
            "learned, as in 'W H'."
        )

    @property
    def needs(self) -> frozenset[Need]:
        """Words of the data in the rules and the objective."""
        if self.middles.operands or self.divergence.log_powers:
            return frozenset({Need.ENTRIES})
        X = Letter(self.data)
        words = [word for rule in self.rules.values() for part in (rule.positive, rule.negative) for word, _ in part]
        words += [whole for whole, _ in self.products.values()]
        has_parts = any(letter.name == self.data + mark for word in words for letter in word for mark, _ in SIGNS)
        parts = frozenset({Need.SIGNED_PRODUCTS} if has_parts else ())
        if has_parts and not any(word.count(self.data) for word in words):
            return parts
        for need, pair in ((Need.ROW_GRAM, (X, X.T)), (Need.COLUMN_GRAM, (X.T, X))):
            if all(word.without(pair).count(self.data) == 0 for word in words):
                return parts | {need}
        return parts | {Need.PRODUCTS}

    def _with_signs(self, given: Iterable[str] | None) -> frozenset[str]:
        """Every matrix that may have negative entries; refuses signs that a rule does not take."""
        learned = {name for name in self.learned if self.constraints[name].is_signed}
        signed = learned | set(({self.data} if learned else ()) if given is None else given)
        for name in signed:
            if name not in self.form.names and name != self.data:
                raise IncompatibleError(f"There is no matrix {name!r} in the form {self.form.text!r} to be of either sign.")
            if name in self.learned and name not in learned:
                raise IncompatibleError(f"{name} is learned: constraints={{{name!r}: 'signed'}} lets it be of either sign.")
            if name in learned and self.form.count(name) != 1:
                raise IncompatibleError(
                    f"{name} occurs {self.form.count(name)} times in {self.form.text!r}, and a factor of either sign is found by "
                    f"least squares, which takes one that occurs once. Write another letter for the others, or leave {name} free."
                )
        if signed and not self.divergence.takes_signs and not self.divergence.signed:
            raise IncompatibleError(
                f"{' and '.join(sorted(signed))} may be negative, and {self.divergence!r} compares numbers that are not. Use "
                "'euclidean'."
            )
        return frozenset(signed | ({self.data} if self.divergence.signed else set()))

    def with_signs(self, signed: Iterable[str]) -> Model:
        """The same model with negative entries in exactly these of the given matrices."""
        learned = {name for name in self.learned if self.constraints[name].is_signed}
        if self.signed == learned | set(signed) or self.divergence.signed:
            return self
        return self.with_(signed=signed)

    def with_weights(self) -> Model:
        """The same model for data whose entries have weights."""
        if self.weighted:
            return self
        return self.with_(weighted=True)

    def with_(self, **changes: Any) -> Model:
        """The same model with other arguments."""
        given = self.signed & {self.data, *self.fixed}
        return Model(
            **{
                "form": self.form,
                "divergence": self.divergence,
                "constraints": self.constraints,
                "data": self.data,
                "signed": given,
                "weighted": self.weighted,
                "split": self.split,
                **changes,
            }
        )

    def _check_weights(self) -> None:
        """Refuse weights if the comparison is no sum over entries, or X̂ may be of either sign."""
        if not self.divergence.approximates:
            raise IncompatibleError(
                f"{self.divergence!r} compares no entries of {self.data}, so there is nothing that weights, or missing values, "
                "could mean."
            )
        if self.signed:
            raise IncompatibleError(
                f"{' and '.join(sorted(self.signed))} may be negative, and weights, or missing values, are for matrices that are "
                "not. Fill in missing values first, or use factors without negative entries."
            )

    def _given(self, constraints: Mapping[str, str | Constraint | None] | None) -> dict[str, Constraint]:
        if constraints is None:
            return {}
        if not isinstance(constraints, Mapping):
            only = [name for name in self.form.names if name != self.data]
            raise IncompatibleError(
                f"Constraints are given for each factor, as in {{{only[0]!r}: {constraints!r}}}; got {constraints!r}."
                if only
                else f"Constraints are a dict from factor names to constraints; got {constraints!r}."
            )
        for name in constraints:
            if name == self.data:
                raise IncompatibleError(f"{name} is the data and cannot be constrained; constrain a factor of {self.form.text!r}.")
            if name not in self.constraints:
                raise IncompatibleError(
                    f"There is no factor {name!r} to constrain in the form {self.form.text!r}. Its factors: "
                    f"{', '.join(self.constraints)}."
                )
        return {name: get_constraint(c) for name, c in constraints.items() if c is not None}

    def check_given(self, names: Iterable[str]) -> None:
        """Refuse starting values of names that are no factor."""
        for name in names:
            if name not in self.constraints:
                raise IncompatibleError(
                    f"init gives a value for {name!r}, which is not a factor of {self.form.text!r}. Its factors: "
                    f"{', '.join(self.constraints)}."
                )

    def _rule(self, factor: str) -> Rule:
        """The multiplicative rule of a factor, and the gradient that it comes from."""
        positive = derivative(self.form, factor, self.middles.positive)
        negative = derivative(self.form, factor, self.middles.negative)
        terms = tuple(derivative(self.form, factor, Sum.of(word)) for word in self.middles.terms)
        degree = self.form.count(factor)
        law, constraint, bounds = self.divergence.law, self.constraints[factor], self.divergence.bounds(degree)
        if constraint.has_penalty:
            constraint = self._in_scale_of_parts(factor)
        if constraint.is_signed:
            law = LeastSquaresLaw()
        elif self.signed:
            terms = tuple(split_signs(self._symmetric(term), {factor}, self._data_in_parts) for term in terms)
            descent = split_signs(self._symmetric(negative - positive), {factor}, self._data_in_parts)
            between = {factor} if self.split == "joint" else set(self.learned) - self.signed
            negative, positive = by_sign(split_signs(descent, between, self._products_in_parts))
            bounds = bounds_of_products(*([word.count(factor) + 1 for word, _ in part] for part in (positive, negative)))
        F = Letter(factor)
        if (
            self.middles.negative
            and not self.middles.operands
            and all(word[-1:] == Word([F]) and word[:-1].is_gram and word.count(factor) == 1 for word, _ in negative)
        ):  # it is U Uᵀ F with U independent of F, as X Xᵀ W is for W Wᵀ X (QNMF §5.1)
            bounds = bounds.concave()
        numerator, denominator, bounds, simplified = constraint.lagrangian(factor, positive, negative, bounds, law)
        if not numerator:
            raise IncompatibleError(
                f"With {constraint.text(factor)}, the form {self.form.text!r} does not depend on {factor} any more, so there is "
                f"nothing to learn of it. Constrain the other axis of {factor}, or leave it free."
            )
        given_signs = bool(self.signed) and not self.divergence.signed and self.signed.isdisjoint(self.learned)
        signs = self.split if given_signs else ""
        subject = Subject(self.form, factor, self.divergence, self.constraints, self.data, signs)
        return Rule(factor, degree, positive, negative, terms, numerator, denominator, bounds, constraint, law, subject, simplified)

    def _symmetric(self, part: Sum) -> Sum:
        return part.rewritten(lambda word: symmetric(word, {self.data})) if self.divergence.signed else part

    def _data_in_parts(self, piece: Word) -> Difference:
        """A piece of a word with X written as X⁺ − X⁻, where it is as large as the data on both sides and should not be formed."""
        signed = self.signed.intersection(piece.names)
        is_large = self.divergence.signed or piece[0].name == piece[-1].name == self.data
        is_kept = self.split == "separate" and not self.divergence.signed
        return letter_by_letter(piece, self.data) if signed == {self.data} and is_large and not is_kept else [(piece, 1)]

    def _products_in_parts(self, piece: Word) -> Difference:
        """A piece of a word that may be of either sign, as the difference of two letters for its parts."""
        if not self.signed.intersection(piece.names):
            return [(piece, 1)]
        name = str(piece) if len(piece) == 1 else f"({piece})"
        self.products |= {name + mark: (piece, mark) for mark, _ in SIGNS}
        return [(Word([Letter(name + mark)]), sign) for mark, sign in SIGNS]

    def _in_scale_of_parts(self, factor: str) -> Constraint:
        """A constraint with a penalty, in the scale of P and Q, which lack the slope of the divergence."""
        constraint = self.constraints[factor]
        if self.divergence.scale_invariant:
            raise IncompatibleError(
                f"{constraint!r} puts a penalty on {factor}, and {self.divergence!r} does not depend on scale: {factor} would "
                "shrink to nothing. Use a divergence that does, such as 'euclidean' or 'kullback-leibler'."
            )
        return constraint.in_units(math.log2(self.divergence.slope), 0.0)

    @property
    def title(self) -> str:
        """The form."""
        return self.form.text

    @property
    def line(self) -> str:
        """The model in one line, without its rules."""
        over = "; ".join(constraint.text(name) for name, constraint in self.constraints.items())
        return f"{'max' if self.divergence.maximised else 'min'} {self.divergence.text(self.data, self.form)}, {over}"

    def __str__(self) -> str:
        goal = "maximise" if self.divergence.maximised else "minimise"
        over = "; ".join(constraint.text(name) for name, constraint in self.constraints.items())
        lines = [f"{goal}  {self.divergence.text(self.data, self.form)}", f"over      {over}"]
        for rule in self.rules.values():
            lines += ["", str(rule), *(f"    {where}" for where in rule.published)]
        notes = [("X̂", f"{self.form}")] if self.middles.operands else []
        if any(letter.name == "1" for rule in self.rules.values() for word, _ in rule.positive for letter in word):
            notes.append(("1", "all ones"))
        if self.weighted:
            notes.append(("V", "weights"))
        if self.divergence.scale_invariant:
            notes.append(("θ", "ΣP∘X̂ / ΣQ∘X̂ (QNMF Table 1)"))
        if notes:
            lines += ["", "with  " + ",  ".join(f"{symbol} = {meaning}" for symbol, meaning in notes)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        constrained = {n: c for n, c in self.constraints.items() if not c.is_free and not c.needs_both_parts}
        data = f", data={self.data!r}" if self.data != "X" else ""
        given = self.signed.difference(self.learned)
        if not self.divergence.signed and given != ({self.data} if self.signed.intersection(self.learned) else set()):
            data += f", signed={sorted(given)!r}"
        data += ", weighted=True" if self.weighted else ""
        data += f", split={self.split!r}" if self.split != "joint" else ""
        return f"Model({self.form.text!r}, {self.divergence!r}" + (f", {constrained!r}" if constrained else "") + data + ")"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[object, ...]:
        return self.form, self.divergence, tuple(self.constraints.items()), self.data, self.signed, self.weighted, self.split
