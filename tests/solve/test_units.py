import numpy as np
import pytest

from nonneg import Model, factorize
from nonneg.constraints import FixedMultiplier, NearOrthogonal, Sparse, Unit
from nonneg.data.reading import read_data
from nonneg.divergences import Alpha, Beta
from nonneg.exceptions import DataError
from nonneg.solve.problem import Units, choose_units

pytestmark = pytest.mark.wide(one_in=4)


@pytest.mark.parametrize("scale", [1e-20, 1, 1e20])
def test_the_users_own_unless_extreme(scale, X):
    assert choose_units(Model("W H"), read_data(scale * X)) == Units()
    assert choose_units(Model("W H"), read_data(np.zeros((2, 2)))) == Units()


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("form", ["W H", "W W.T X", "W S H", "W W.T", "A W W.T A.T"])
def test_extreme_data_become_ordinary_and_nothing_is_lost(form, scale, X, rng):
    X = X @ X.T if "X" not in form else X
    model = Model(form, constraints={"A": "fixed"} if "A" in form else None)
    units = choose_units(model, read_data(scale * X))
    assert 1e-3 < scale * X.max() / units.data < 1e3
    product = np.prod([units.factors.get(name, 1.0) ** form.split().count(name) for name in model.constraints])
    transposed = np.prod([units.factors.get(name, 1.0) ** form.split().count(name + ".T") for name in model.constraints])
    assert product * transposed == (units.data if form.count("X") == 0 else 1)
    assert np.frexp(units.data)[0] == 0.5  # a power of two: no digit changes
    factors = {name: rng.random((2, 2)) for name in model.constraints}
    for name, factor in units.to_user(units.from_user(factors)).items():
        np.testing.assert_array_equal(factor, factors[name])


def test_a_problem_without_free_factors_keeps_its_units(X):
    model = Model("W H", constraints={"W": "stochastic", "H": "stochastic"})
    assert choose_units(model, read_data(1e200 * X)) == Units()


def test_fixed_factors_carry_the_unit_if_no_other_can(X):
    model = Model("W H", constraints={"W": "fixed", "H": "stochastic"})
    assert list(choose_units(model, read_data(1e200 * X)).factors) == ["W"]


SCALES = [(np.float64, scale) for scale in (1e-300, 1e-150, 1e150, 1e300)] + [(np.float32, scale) for scale in (1e-30, 1e30)]


@pytest.mark.parametrize(("dtype", "scale"), SCALES)
@pytest.mark.parametrize("form", ["W H", "W W.T X"])
@pytest.mark.parametrize("solver", ["adaptive", "multiplicative"])
def test_the_factorization_does_not_depend_on_the_scale(form, solver, dtype, scale, divergence, X):
    """By a power of two, so that data, start and every step are the same numbers; the weights of a sum are scaled along."""
    doublings = round(np.log2(scale))
    scale, (scaled, of_objective) = 2.0**doublings, divergence.in_units(doublings)
    X = X.astype(dtype)
    kwargs = {"init": "random", "random_state": 0, "max_iter": 20, "tol": 0, "solver": solver}
    ordinary = factorize(X, form, 2, divergence=scaled, **kwargs)
    extreme = factorize((scale * X).astype(dtype), form, 2, divergence=divergence, **kwargs)
    assert all(np.all(np.isfinite(factor)) and factor.dtype == dtype for factor in extreme.factors.values())
    np.testing.assert_allclose(
        extreme.reconstruct() / dtype(scale), ordinary.reconstruct(), rtol=1e-3 if dtype == np.float32 else 1e-6
    )
    with np.errstate(over="ignore"):
        expected = ordinary.objective * np.float64(2.0) ** of_objective
    assert extreme.objective == pytest.approx(expected, rel=1e-2 if dtype == np.float32 else 1e-6)


def test_a_perfect_fit_of_huge_data_has_the_objective_zero():
    solution = factorize(np.full((6, 5), 1e200), "W H", 1, random_state=0)
    assert solution.objective == pytest.approx(0)


@pytest.mark.parametrize(("dtype", "scale"), [(np.float64, 1e-310), (np.float64, 5e-324), (np.float32, 1e-40)])
def test_subnormal_data(dtype, scale):
    solution = factorize(np.full((4, 3), scale, dtype), "W H", 1, random_state=0)
    np.testing.assert_allclose(solution.reconstruct(), dtype(scale), rtol=0.1)


def test_data_at_the_upper_end_of_float32():
    X = np.full((4, 3), 3e38, np.float32)
    solution = factorize(X, "W H", 1, random_state=0)
    np.testing.assert_allclose(solution.reconstruct(), X, rtol=1e-3)


PRICES = [
    ("W H", 2, {"W": Unit(), "H": Sparse}, 1),
    ("W H", 1, {"W": Unit(), "H": Sparse}, 0),
    ("W H", 2, {"W": Sparse, "H": Sparse}, 1.5),
    ("W S H", 2, {"W": lambda w: FixedMultiplier("columns", w), "H": lambda w: NearOrthogonal("rows", w)}, 2),
    ("W W.T X", 2, {"W": Sparse}, 2),
    ("W W.T", 2, {"W": Sparse}, 1.5),
]
"""Forms, divergences, constraints that have a penalty, and the power of the data's scale with which the penalty grows."""


def penalized(X, form, divergence, constraints, power, scale, dtype=np.float64, solver="multiplicative"):
    weight = 0.3 * scale**power
    constraints = {name: make(weight) if callable(make) else make for name, make in constraints.items()}
    X = (scale * (X @ X.T if form == "W W.T" else X)).astype(dtype)
    return factorize(X, form, 2, divergence=divergence, constraints=constraints, random_state=0, max_iter=20, tol=0, solver=solver)


@pytest.mark.parametrize(("form", "divergence", "constraints", "power"), PRICES)
@pytest.mark.parametrize(("dtype", "scale"), [(np.float32, 1e6), (np.float32, 1e-6), (np.float64, 1e60), (np.float64, 1e-60)])
@pytest.mark.parametrize("solver", ["multiplicative", "adaptive"])
def test_penalties_are_converted(form, divergence, constraints, power, solver, dtype, scale, X):
    """Data beyond what their dtype can square: with the weight scaled along, the result is the same."""
    scale = 4.0 ** round(np.log2(scale) / 2)
    case = (form, divergence, constraints, power)
    ordinary, extreme = (penalized(X, *case, by, dtype, solver) for by in (1.0, scale))
    rtol = 2e-3 if dtype == np.float32 else 1e-6
    np.testing.assert_allclose(extreme.reconstruct() / dtype(scale), ordinary.reconstruct(), rtol=rtol)
    degree = 2 if divergence == 2 else 1
    assert extreme.objective / scale**degree == pytest.approx(ordinary.objective, rel=rtol)


def test_without_conversion_the_penalty_would_be_another(X):
    """Lest the test above pass because penalties do not matter."""
    dear, cheap = (penalized(X, "W H", 2, {"W": Unit(), "H": Sparse}, power, 1e60) for power in (1, 0.5))
    assert not np.allclose(dear.reconstruct(), cheap.reconstruct(), rtol=1e-3)


@pytest.mark.parametrize("scale", [2.0**660, 2.0**-660])
def test_a_penalty_beside_the_i_divergence_at_the_ends_of_double_precision(scale, X):
    ordinary, extreme = (penalized(X, "W H", 1, {"W": Unit(), "H": Sparse}, 0, by) for by in (1.0, scale))
    np.testing.assert_allclose(extreme.reconstruct() / scale, ordinary.reconstruct(), rtol=1e-6)
    assert extreme.objective / scale == pytest.approx(ordinary.objective)


@pytest.mark.parametrize("scale", [2.0**660, 2.0**-660])
def test_a_penalty_at_the_ends_of_double_precision(scale, X):
    """1e±200: the objective itself cannot be represented, but the factors can."""
    ordinary, extreme = (penalized(X, "W H", 2, {"W": Unit(), "H": Sparse}, 1, by) for by in (1.0, scale))
    np.testing.assert_allclose(extreme.reconstruct() / scale, ordinary.reconstruct(), rtol=1e-6)


@pytest.mark.parametrize(("dtype", "scale"), [(np.float32, 1e19), (np.float64, 1e160)])
def test_a_negligible_penalty_is_negligible(dtype, scale, X):
    constraints = {"W": FixedMultiplier("columns"), "H": NearOrthogonal("rows")}
    X = (scale * X).astype(dtype)
    options = {"constraints": constraints, "random_state": 0, "max_iter": 5, "tol": 0, "solver": "multiplicative"}
    with np.errstate(all="ignore"):
        solution = factorize(X, "W S H", 2, **options)
    assert solution.status != "non_finite"


def test_model_from_user():
    model = Model("W H", constraints={"W": Sparse(3.0), "H": FixedMultiplier("rows", 3.0)})
    assert Units().model_from_user(model) is model
    converted = Units(data=4.0, factors={"W": 4.0}, doublings=4.0).model_from_user(model)
    assert converted.constraints == {"W": Sparse(0.75), "H": FixedMultiplier("rows", 3 / 16)}
    assert (converted.form, converted.divergence, converted.data) == (model.form, model.divergence, model.data)


class TestEndsOfTheScale:
    """Where a unit for the data is not one for the factors."""

    @pytest.mark.parametrize("scale", [1e300, 1e-300])
    def test_a_unit_that_no_number_can_be(self, scale):
        with pytest.raises(DataError, match=r"would have to be of about 2\^-?\d+ to make up for it"):
            factorize(np.full((1, 1), scale), "X X W X")

    def test_no_factor_to_take_up_the_scale(self):
        with pytest.raises(DataError, match="than a number can hold, and no factor is free"):
            factorize(np.full((3, 3), 1e300), "W H", 1, constraints={"W": "stochastic", "H": "stochastic"})

    @pytest.mark.parametrize("scale", [1e300, 1e-300])
    @pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler", -1])
    def test_a_start_at_the_other_end(self, divergence, scale):
        solution = factorize(
            np.full((3, 2), scale), "W H", divergence=divergence, init={"W": np.ones((3, 1)), "H": np.ones((1, 2))}, max_iter=3000
        )
        np.testing.assert_allclose(solution.reconstruct(), scale, rtol=1e-2)

    def test_given_factors_far_from_the_data(self):
        """Nothing is measured in units of the data if what is given cannot be."""
        solution = factorize(
            np.full((1, 1), 1e-300), "A W", 1, constraints={"A": "fixed", "W": "stochastic"}, init={"A": np.full((1, 1), 0.7)}
        )
        np.testing.assert_array_equal(solution.factors["W"], 1.0)

    def test_a_penalty_is_reported_with_the_weight_it_was_given(self):
        solution = factorize(np.full((1, 1), 1e-100), "W H", 2, constraints={"W": NearOrthogonal()}, max_iter=30, random_state=0)
        W = solution.factors["W"]
        assert solution.objective == pytest.approx(np.sum((W.T @ W - np.eye(2)) ** 2) / 4)


@pytest.mark.parametrize("init", ["random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "angular", "coclusters"])
@pytest.mark.parametrize("constraint", ["free", "stochastic", "stochastic-rows", "doubly-stochastic"])
def test_data_of_zeros(constraint, init):
    solution = factorize(
        np.zeros((4, 4)), "W H", 4, constraints={"W": constraint} if constraint != "free" else None, init=init, random_state=0
    )
    W = solution.factors["W"]
    assert solution.objective == pytest.approx(0.0, abs=1e-12)
    axes = {"free": [], "stochastic": [0], "stochastic-rows": [1], "doubly-stochastic": [0, 1]}[constraint]
    for axis in axes:
        np.testing.assert_allclose(W.sum(axis=axis), 1, rtol=1e-9)


def test_a_sum_of_divergences_far_from_the_data():
    """In units of data of 1e-100, what stands beside another degree has a coefficient of 1e-100, and X̂ is 1e100."""
    X, W = np.full((1, 1), 1e-100), np.full((1, 1), 0.7)
    solution = factorize(X, "W W.T", divergence=Beta(0) + Alpha(2), init={"W": W}, max_iter=0)
    Y = W @ W.T
    expected = np.sum(X / Y - np.log(X / Y) - 1) + np.sum((X - Y) ** 2 / (2 * Y))
    assert solution.objective == pytest.approx(expected, rel=1e-12)
