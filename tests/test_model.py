import pickle

import pytest

from nonneg import Model, constraints, divergences
from nonneg.constraints import Direction, Fixed, Free, Orthogonal, Stochastic
from nonneg.divergences import Gamma
from nonneg.exceptions import ExpressionError, IncompatibleError


def test_factors_are_all_names_but_the_data():
    model = Model("A W B W.T C", constraints={"B": "fixed", "W": "stochastic"})
    assert model.learned == ("A", "W", "C")
    assert model.fixed == ("B",)
    assert model.constraints == {"A": Free(), "W": Stochastic("columns"), "B": Fixed(), "C": Free()}
    assert {name: rule.degree for name, rule in model.rules.items()} == {"A": 1, "W": 2, "C": 1}
    assert Model("X H", data="Y").learned == ("X", "H")


@pytest.mark.parametrize(
    ("arguments", "exponents"),
    [
        (("W H",), {"W": 1, "H": 1}),
        (("W W.T X",), {"W": 1 / 3}),
        (("W B W.T",), {"W": 1 / 4, "B": 1}),
        (("W W.T X", 1), {"W": 1 / 2}),
        (("W H", 0), {"W": 1 / 2, "H": 1 / 2}),
        (("W.T X W", "trace"), {"W": 1 / 2}),
        (("W W.T X", 2, {"W": "orthogonal"}), {"W": 1 / 3}),
    ],
)
def test_proven_exponents(arguments, exponents):
    assert {name: rule.exponent for name, rule in Model(*arguments).rules.items()} == pytest.approx(exponents)


@pytest.mark.parametrize("divergence", ["euclidean", "dual-i", "normalized-kullback-leibler"])
@pytest.mark.parametrize("constraint", [None, "orthogonal", "stochastic-rows", "doubly-stochastic", "fixed"])
def test_models_are_values(divergence, constraint):
    model = Model("W H", divergence, {"W": constraint})
    assert (
        eval(repr(model), {"Model": Model, **vars(constraints), **vars(divergences)}) == model == pickle.loads(pickle.dumps(model))
    )
    assert len({model, Model("W H", divergence, {"W": constraint})}) == 1
    assert model != Model("W V", divergence, {"W": constraint})
    assert model != Model("W H", 3, {"W": constraint})


@pytest.mark.parametrize(
    ("model", "lines"),
    [
        (Model("W H", 1), ["minimise  D_I(X ‖ W H)", "W ← W ∘ [((X/X̂) Hᵀ) / (1 Hᵀ)]", "1 = all ones", "X̂ = W H"]),
        (Model("W H", Gamma(1)), ["θ X Hᵀ", "θ = ΣP∘X̂ / ΣQ∘X̂"]),
        (Model("W.T S W", "trace", data="S"), ["maximise  tr(Wᵀ S W)", "(S⁺ W) / (S⁻ W)", "up to scale"]),
        (Model("W H", constraints={"W": "fixed"}), ["W given; H ≥ 0"]),
        (Model("W H", constraints={"W": "stochastic"}), ["X Hᵀ + 1 1ᵀ(W∘(W H Hᵀ))", "columns of W sum to 1"]),
    ],
)
def test_print(model, lines):
    assert all(line in str(model) for line in lines)


def test_the_trace_keeps_only_the_direction():
    assert Model("W.T X W", "trace").constraints == {"W": Direction()}
    assert Model("W.T X W", "trace", {"W": "orthogonal"}).constraints == {"W": Orthogonal("columns")}


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        (("X",), ExpressionError, "nothing to learn in the form 'X'.*X is the data"),
        (("W H", 2, {"W": "fixed", "H": "fixed"}), ExpressionError, "nothing to learn.*W and H are fixed"),
        (("W.T W", "trace"), ExpressionError, "divergence='trace' needs a form with the data once in it.*got 'W.T W'"),
        (("W.T X X W", "trace"), ExpressionError, "divergence='trace' needs"),
        (("W H", 2, {"X": "orthogonal"}), IncompatibleError, "X is the data and cannot be constrained"),
        (("W H", 2, {"Q": "orthogonal"}), IncompatibleError, "no factor 'Q' to constrain.*factors: W, H"),
        (("W H", 2, "orthogonal"), IncompatibleError, "given for each factor, as in {'W': 'orthogonal'}"),
        (("X", 2, "orthogonal"), IncompatibleError, "dict from factor names"),
        (("W H", 2, {"W": "foo"}), IncompatibleError, "Unknown constraint 'foo'. Known names"),
        (("W H", "foo"), IncompatibleError, "Unknown divergence 'foo'. Known names"),
        (("W * H",), ExpressionError, "Cannot read"),
    ],
)
def test_models_that_mean_nothing(arguments, error, match):
    with pytest.raises(error, match=match):
        Model(*arguments)


@pytest.mark.parametrize(
    ("form", "constraints", "factor", "where"),
    [
        ("X W W.T", {"W": "orthogonal"}, "W", "OPNMF = NLHN: ONL Eq. 31, NNP Eq. 40, transposed (printed with exponent 1)"),
        ("L S R.T", {"L": "orthogonal", "R": "orthogonal"}, "R", "ONMTF: FONT Eq. 12"),
        ("W H.T", {}, "H", "NMF: NNP Eq. 33, FONT Eq. 3"),
        ("W.T H", {"W": "orthogonal-rows"}, "W", "ONMF: ONL Eq. 28"),
        ("W H", {"H": "fixed"}, "W", "NMF: ONL Eq. 25, NNP Eq. 32, FONT Eq. 2"),
        ("L L.T X R R.T", {"L": "orthogonal"}, "L", "QNMF Theorem 3, Eq. 11, simplified (ONL Fig. 4)"),
        ("A W C", {"A": "fixed", "W": "orthogonal", "C": "fixed"}, "W", "QNMF Theorem 3, Eq. 11"),
    ],
)
def test_published_rules_are_recognised_however_they_are_written(form, constraints, factor, where):
    assert Model(form, constraints=constraints).rules[factor].published[0] == where


@pytest.mark.parametrize(
    ("form", "constraints"),
    [
        ("X W W.T", {"W": "orthogonal-rows"}),
        ("W W.T X", {"W": "orthogonal-rows"}),
        ("W W.T", {"W": "orthogonal-rows"}),
        ("W.T W", {"W": "orthogonal"}),
        ("A W W.T B", {"W": "orthogonal-rows"}),
    ],
)
@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler", "dual-i"])
def test_a_constraint_that_leaves_nothing_of_a_factor(form, constraints, divergence):
    with pytest.raises(IncompatibleError, match="does not depend on W any more"):
        Model(form, divergence, constraints)
