"""The five papers, and which of their rules the engine derives.

A rule is recognised by its form, divergence and constraints, whatever the names of factors.
`tests/equations` derives each one and compares it with the paper, as text and as numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from .algebra.expression import Letter, Word, parse
from .constraints import Constraint, FixedMultiplier, Free, NearOrthogonal, Orthogonal, get_constraint
from .divergences import Objective, get_divergence

PAPERS = {
    "PNMF": "Z. Yuan, Z. Yang, E. Oja. Projective nonnegative matrix factorization: sparseness, orthogonality, and clustering.",
    "NNP": "Z. Yang, J. Laaksonen. Multiplicative updates for non-negative projections. Neurocomputing 71, 2007.",
    "ONL": "E. Oja, Z. Yang. Orthogonal nonnegative learning for sparse feature extraction and approximate combinatorial "
    "optimization. 2010.",
    "FONT": "Z. Li, X. Wu, Z. Lu. Fast orthogonal nonnegative matrix tri-factorization for simultaneous clustering. 2010.",
    "QNMF": "Z. Yang, E. Oja. Quadratic nonnegative matrix factorization. Pattern Recognition, 2011.",
}


@dataclass(frozen=True)
class Published:
    """A rule of the papers: its model, its equation, and its printed exponent."""

    form: str
    factor: str
    where: str
    exponent: float = 1.0
    divergence: str = "euclidean"
    constraints: Mapping[str, str | Constraint] = field(default_factory=dict)
    data: str = "X"
    signs: str = ""
    """How given matrices of either sign are split, if it is printed for them; see `Model`."""


_FONT = {"W": FixedMultiplier("columns"), "H": FixedMultiplier("rows")}
_BOTH: dict[str, str | Constraint] = {"W": "orthogonal", "H": "orthogonal-rows"}

_CHAIN: dict[str, str | Constraint] = {"W": "stochastic", "Y": "stochastic-matrix"}

PUBLISHED = (
    Published("W H", "W", "NMF: ONL Eq. 25, NNP Eq. 32, FONT Eq. 2"),
    Published("W H", "H", "NMF: NNP Eq. 33, FONT Eq. 3"),
    Published("W H", "W", "NMF: PNMF Eq. 6 (whose normalisation stands for the denominator)", divergence="kullback-leibler"),
    Published("W H", "H", "NMF: PNMF Eq. 7 (whose normalisation of W stands for the denominator)", divergence="kullback-leibler"),
    Published("W H", "W", "ONMF: ONL Eq. 28", constraints={"W": "orthogonal"}),
    Published("W H", "H", "ONMF: ONL §3.4", constraints={"W": "orthogonal"}),
    Published("W H", "W", "ONMF: ONL Eq. 26, a case of QNMF Eq. 11", constraints={"W": Orthogonal(steps=1)}),
    Published("W H", "W", "ONMF: ONL Eq. 27", constraints={"W": Orthogonal(steps=2)}),
    Published("W H", "H", "ONMF: ONL §3.4", constraints={"W": Orthogonal(steps=1)}),
    Published("W H", "H", "ONMF: ONL §3.4", constraints={"W": Orthogonal(steps=2)}),
    Published("F G.T", "F", "Semi-NMF: QNMF §2 (Ding, Li, Jordan 2010)", constraints={"F": "signed"}),
    Published("F G.T", "G", "Semi-NMF: QNMF §2 (Ding, Li, Jordan 2010)", exponent=1 / 2, constraints={"F": "signed"}),
    Published("X W H", "W", "Convex NMF: QNMF §2 (Ding, Li, Jordan 2010)", exponent=1 / 2),
    Published("X W H", "H", "Convex NMF: QNMF §2 (Ding, Li, Jordan 2010)", exponent=1 / 2),
    Published("X W H", "W", "Convex NMF: QNMF §2 (Ding, Li, Jordan 2010)", exponent=1 / 2, signs="separate"),
    Published("X W H", "H", "Convex NMF: QNMF §2 (Ding, Li, Jordan 2010)", exponent=1 / 2, signs="separate"),
    Published("W W.T X", "W", "PNMF: QNMF §5.1", exponent=1 / 3),
    Published("W W.T X", "W", "PNMF: PNMF Eq. 20, NNP Eq. 36"),
    Published("W W.T X", "W", "PNMF: PNMF Eq. 29, ONL Eq. 34", divergence="kullback-leibler"),
    Published("W W.T X", "W", "OPNMF = NLHN: ONL Eq. 31, NNP Eq. 40", constraints={"W": "orthogonal"}),
    Published("W W.T X", "W", "OPNMF: ONL Eq. 35", divergence="kullback-leibler", constraints={"W": "orthogonal"}),
    Published("W B W.T", "W", "QNMF Eq. 9 (example)", exponent=1 / 4),
    *(
        Published("L L.T X R R.T", factor, "Bi-QNMF: QNMF §5.2, Eq. 9", exponent, divergence)
        for divergence, exponent in (("euclidean", 1 / 4), ("kullback-leibler", 1 / 2))
        for factor in "LR"
    ),
    *(
        Published("W Y W.T", factor, "QNMF-HMM: QNMF §5.3, Eq. 10", exponents[factor], divergence, _CHAIN)
        for divergence, exponents in (("euclidean", {"W": 1 / 4, "Y": 1.0}), ("kullback-leibler", {"W": 1 / 2, "Y": 1.0}))
        for factor in "WY"
    ),
    *(
        Published("W A W.T", "W", f"{name}: QNMF §5.4, Eq. 11", exponent, divergence, {"W": constraint, "A": "fixed"}, data="B")
        for name, divergence, exponent in (("EU-QNMF", "euclidean", 1 / 4), ("I-QNMF", "kullback-leibler", 1 / 2))
        for constraint in (Orthogonal(), Orthogonal(steps=1))
    ),
    *(
        Published(
            "L S R.T",
            factor,
            f"{name}: QNMF §5.2{by}",
            1.0 if factor + by == "S, Eq. 11" else 1 / 2,
            divergence,
            {"L": constraint, "R": constraint},
        )
        for name, divergence, by in (
            ("BiOR-NM3F", "euclidean", " (Ding et al. 2006)"),
            ("BiOR-NM3F-I", "kullback-leibler", ", Eq. 11"),
        )
        for constraint in (Orthogonal(), Orthogonal(unit=True))
        for factor in "LSR"
    ),
    Published("W S H", "W", "ONMTF: FONT Eq. 11", constraints=_BOTH),
    Published("W S H", "H", "ONMTF: FONT Eq. 12", constraints=_BOTH),
    Published("W S H", "S", "ONMTF: FONT Eq. 7 (its misprints corrected)", constraints=_BOTH),
    Published("W S H", "W", "FONT: FONT Eq. 16", constraints=_FONT),
    Published("W S H", "H", "FONT: FONT Eq. 17", constraints=_FONT),
    Published("W S H", "S", "FONT: FONT Eq. 7 (its misprints corrected)", constraints=_FONT),
    Published(
        "W S H", "W", "FONT-ALS: FONT Eq. 21, to be solved for W", 1 / 3, constraints={**_FONT, "W": NearOrthogonal("columns")}
    ),
    Published("W S H", "H", "FONT-ALS: FONT Eq. 17", constraints={**_FONT, "W": NearOrthogonal("columns")}),
    Published(
        "W S H", "S", "FONT-ALS: FONT Eq. 7 (its misprints corrected)", constraints={**_FONT, "W": NearOrthogonal("columns")}
    ),
    Published("W.T S W", "W", "√NL: ONL Eq. 40", exponent=1 / 2, divergence="trace", data="S"),
    Published("W.T S W", "W", "NL: ONL Eq. 39", divergence="trace", data="S"),
    Published("W.T S W", "W", "√ONL: ONL Eq. 42", exponent=1 / 2, divergence="trace", constraints={"W": "orthogonal"}, data="S"),
    Published("W.T S W", "W", "ONL: ONL Eq. 41, NNP Eq. 28", divergence="trace", constraints={"W": "orthogonal"}, data="S"),
)

Key = tuple[Word, str, Objective, tuple[tuple[str, Constraint], ...], str]


@dataclass(frozen=True)
class Subject:
    """Subject of a rule: the factor, and the model around it.

    Attributes
    ----------
    form : Word
    factor : str
    divergence : Objective
    constraints : dict of Constraint
    data : str
    signs : str
        How given matrices of either sign are split; empty if none has.
    """

    form: Word
    factor: str
    divergence: Objective
    constraints: Mapping[str, Constraint]
    data: str
    signs: str = ""

    @property
    def keys(self) -> list[Key]:
        """The same whatever its matrices are called and whichever way round they are written."""
        # Factors kept in scale count as free in the papers.
        constraints = {name: Free() if c.needs_both_parts else c for name, c in self.constraints.items()}
        return [_key(word, self.factor, self.divergence, constraints, self.data, self.signs) for word in (self.form, self.form.T)]


def _key(form: Word, factor: str, divergence: Objective, constraints: Mapping[str, Constraint], data: str, signs: str) -> Key:
    """The form with its matrices renamed in order of appearance, each written untransposed at its first place."""
    first: dict[str, Letter] = {}
    for letter in form:
        first.setdefault(letter.name, letter)
    names = {data: "data"} | {name: f"factor {number}" for number, name in enumerate(n for n in first if n != data)}
    renamed = Word(Letter(names[letter.name], letter != first[letter.name]) for letter in form)
    written = {
        names[name]: (constraint.T if first[name].transposed else constraint) if constraint.is_learned or name == factor else Free()
        for name, constraint in constraints.items()
    }
    return renamed, names[factor], divergence, tuple(sorted(written.items())), signs


@cache
def _published_keys() -> list[Key]:
    """Subjects of the published rules, in their order."""
    return [_published_key(published) for published in PUBLISHED]


def _published_key(published: Published) -> Key:
    form = parse(published.form)
    learned = [name for name in form.names if name != published.data]
    constraints = {name: get_constraint(published.constraints.get(name)) for name in learned}
    return _key(form, published.factor, get_divergence(published.divergence), constraints, published.data, published.signs)


def citations(wanted: list[Key], exponent: float, *, simplified: bool = False) -> list[str]:
    """Equations of a rule, those with the theory's exponent first; a form is looked for as it is, then transposed."""
    for number, key in enumerate(wanted):
        found = [published for published, its in zip(PUBLISHED, _published_keys(), strict=True) if its == key]
        found.sort(key=lambda published: abs(published.exponent - exponent) > 1e-12)
        if found:
            transposed = ", transposed" if number else ""
            return [f"{published.where}{transposed}{_printed_with(published, exponent)}" for published in found]
    return [_theorem(wanted[0]) + (", simplified (ONL Fig. 4)" if simplified else "")]


def _printed_with(published: Published, exponent: float) -> str:
    same = abs(published.exponent - exponent) < 1e-12
    return "" if same else f" (printed with exponent {published.exponent:g})"


def _theorem(wanted: Key) -> str:
    """The theorem that a rule without a number of its own follows from."""
    form, factor, divergence, constraints, signs = wanted
    constraint = dict(constraints)[factor]
    if divergence.theorem is not None:
        return divergence.theorem + ("" if constraint.is_free else " (with the multiplier terms of Eq. 10 and 11)")
    if not constraint.is_free:
        return constraint.theorem
    theorem = "QNMF Eq. 9, Table 1" if form.count(factor) > 1 else "QNMF Theorem 1, Eq. 8"
    return theorem + (", matrices of either sign in parts (QNMF §3; Ding, Li, Jordan 2010)" if signs else "")
