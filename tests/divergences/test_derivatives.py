import copy
import math
import pickle

import numpy as np
import pytest
from scipy.special import rel_entr

from nonneg import Model, Status, factorize
from nonneg.algebra.expression import parse
from nonneg.data.dense import DenseData
from nonneg.divergences import NAMES, Alpha, Beta, DualI, Gamma, Polynomial, Renyi, Trace, WeightedSum, get_divergence
from nonneg.divergences.base import LogRatio, Operand, Sums, lowest_point
from nonneg.exceptions import DataError, IncompatibleError
from nonneg.kernels.namespace import namespace_of
from nonneg.solve.problem import point_at


def i_divergence(X, Y):
    return np.sum(rel_entr(X, Y) - X + Y)


def defined(divergence, X, Y):
    """The divergences as QNMF Table 1 defines them, and their limits."""
    P, Q = X / X.sum(), Y / Y.sum()
    match divergence:
        case Beta(2):
            return np.sum((X - Y) ** 2) / 2
        case Beta(0):
            return np.sum(X / Y - np.log(X / Y) - 1)
        case Beta(1):
            return i_divergence(X, Y)
        case DualI():
            return i_divergence(Y, X)
        case Beta(b):
            return np.sum(X**b + (b - 1) * Y**b - b * X * Y ** (b - 1)) / (b * (b - 1))
        case Alpha(a):
            return np.sum(a * X + (1 - a) * Y - X**a * Y ** (1 - a)) / (a * (1 - a))
        case Gamma(0):
            return np.sum(rel_entr(P, Q))
        case Gamma(g):
            logs = [math.log(np.sum(term)) for term in (X ** (1 + g), Y ** (1 + g), X * Y**g)]
            return (logs[0] + g * logs[1] - (1 + g) * logs[2]) / (g * (1 + g))
        case Renyi(r):
            return math.log(np.sum(P**r * Q ** (1 - r))) / (r - 1)
        case WeightedSum():
            return sum(weight * defined(part, X, Y) for weight, part in divergence.terms)
        case Polynomial(terms):
            return sum(c * np.sum(X**p * (Y**q - X**q if q else np.log(Y / X))) for c, p, q in terms)
        case _:  # a family that came later
            return divergence.textbook(X, Y, np)


def value(divergence, X, Y):
    """The value as the engine puts it together, from sums alone."""
    if isinstance(divergence, DualI):
        sums = Sums((np.sum(Y), np.sum(Y * np.log(X / Y))))
    else:
        terms = tuple(np.sum(X**part.data_power * Y**part.power) for part in divergence.monomials)
        sums = Sums(terms, tuple(np.sum(X**power * np.log(Y)) for power in divergence.log_powers))
    return divergence.value(divergence.constant(DenseData(X, namespace_of(X))), sums)[0], sums


def test_value_is_that_of_the_definition(divergence, X, rng):
    Y = rng.random(X.shape) + 0.1
    assert value(divergence, X, Y)[0] == pytest.approx(defined(divergence, X, Y), rel=1e-10)
    assert value(divergence, X, X)[0] == pytest.approx(0, abs=1e-12)
    assert value(divergence, X, Y)[0] > 0.01


def test_degree_of_homogeneity(divergence, X, rng):
    Y = rng.random(X.shape) + 0.1
    other, doublings = divergence.in_units(math.log2(3))
    assert defined(divergence, 3 * X, 3 * Y) == pytest.approx(2**doublings * defined(other, X, Y))
    if divergence.degree is not None:
        assert (other, doublings) == (divergence, pytest.approx(math.log2(3) * divergence.degree))
    assert divergence.scale_invariant == (defined(divergence, X, 3 * Y) == pytest.approx(defined(divergence, X, Y)))


def test_scale_is_the_best_one(divergence, X, rng):
    Y = rng.random(X.shape) + 0.1
    best = divergence.scale(value(divergence, X, Y)[1])
    if divergence.scale_invariant:
        assert best == 1
    else:
        at_best = defined(divergence, X, best * Y)
        assert all(defined(divergence, X, best * by * Y) > at_best for by in (0.99, 1.01))


def test_scale_of_nothing_is_one():
    assert Beta(2).scale(Sums((0.0, 0.0))) == DualI().scale(Sums((0.0, 0.0))) == (Beta(1) + Beta(2)).scale(Sums((0.0,) * 4)) == 1


@pytest.mark.parametrize(("data_power", "power"), [(0, -2), (0, 0.3), (1, -1), (1, -2), (0.5, -0.5), (2, -2), (-1, 1), (1, 0.5)])
def test_operands(data_power, power, X, rng):
    Y = rng.random(X.shape) + 0.1
    operand = Operand(data_power, power)
    np.testing.assert_allclose(operand.evaluate(np, X, Y), X**data_power * Y**power)
    assert operand.on_pattern == (data_power > 0)
    assert operand.needs_data == (data_power != 0)


def test_log_ratio(X):
    np.testing.assert_allclose(LogRatio().evaluate(np, X, 2 * X), -math.log(2))
    assert LogRatio().needs_data
    assert not LogRatio().on_pattern


@pytest.mark.parametrize(
    ("divergence", "words", "operands"),
    [
        (Beta(2), ("W H", "X"), 0),
        (Beta(1), ("1", "(X/X̂)"), 1),
        (Beta(0), ("[X̂^(-1)]", "[(X/X̂)∘X̂^(-1)]"), 2),
        (Alpha(2), ("1", "[(X/X̂)^(2)]"), 1),
        (Gamma(1), ("W H", "θ X"), 0),
        (DualI(), ("1", "ln(X/X̂)"), 1),
        (Trace(), ("0", "I"), 0),
    ],
    ids=str,
)
def test_the_two_parts_of_the_derivative(divergence, words, operands):
    middles = divergence.middles(parse("W H"), "X")
    assert (str(middles.positive), str(middles.negative)) == words
    assert len(middles.operands) == operands


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_known_however_it_is_written(name):
    assert get_divergence(name) is get_divergence(name.upper().replace("-", "_")) is NAMES[name]


def test_numbers_are_beta_and_objects_stay():
    assert get_divergence(1) == get_divergence(np.float64(1)) == Beta(1)
    assert get_divergence(Alpha(3)) == Alpha(3)
    assert (Alpha(0), Alpha(1), Renyi(1)) == (DualI(), Beta(1), Gamma(0))


@pytest.mark.parametrize("unknown", ["foo", "", True, None, [1], Beta])
def test_unknown_divergences_are_told_the_known_ones(unknown):
    with pytest.raises(IncompatibleError, match=r"Unknown divergence .*'euclidean'.*'itakura-saito'.*Beta\(b\)"):
        get_divergence(unknown)


@pytest.mark.parametrize(
    ("make", "match"), [(lambda: Gamma(-1), "Gamma.-1. is not defined"), (lambda: Renyi(0), "needs r > 0; got 0")]
)
def test_parameters_without_a_divergence(make, match):
    with pytest.raises(IncompatibleError, match=match):
        make()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, "2", None, 1j])
@pytest.mark.parametrize("family", [Alpha, Beta, Gamma, Renyi])
def test_parameters_must_be_finite(family, number):
    with pytest.raises(IncompatibleError, match=rf"{family.__name__}\(.\) needs a finite number; got {number!r}"):
        family(number)


def test_pickle_copy_and_hash(divergence):
    for twin in (pickle.loads(pickle.dumps(divergence)), copy.deepcopy(divergence)):
        assert twin == divergence
        assert hash(twin) == hash(divergence)
        assert type(twin) is type(divergence)
    assert eval(repr(divergence)) == divergence


SCALE_FREE = [Gamma(0.5), Gamma(-0.5), Gamma(0), Gamma(-2), Gamma(1), Renyi(0.5), Renyi(2)]


@pytest.mark.parametrize("divergence", SCALE_FREE, ids=str)
class TestScaleFree:
    """Divergences of X/ΣX from X̂/ΣX̂, where their logarithms are next to nothing, or of nothing."""

    @pytest.mark.parametrize("value", [1.0, 3.0, 1e-5, 1e200, 1e-200])
    @pytest.mark.parametrize("shape", [(1, 1), (1, 2), (3, 1)])
    def test_an_exact_fit_is_no_distance(self, divergence, shape, value):
        solution = factorize(np.full(shape, value), "W H", 1, divergence=divergence, random_state=0)
        assert solution.objective == pytest.approx(0.0, abs=1e-12)
        assert solution.status is Status.CONVERGED

    def test_of_nothing_is_refused(self, divergence):
        with pytest.raises(DataError, match="zero"):
            factorize(np.zeros((2, 3)), "W H", 1, divergence=divergence)
        with pytest.raises(DataError, match="zero"):
            point_at(Model("W H", divergence), np.zeros((2, 3)), {"W": np.ones((2, 1)), "H": np.ones((1, 3))})


@pytest.mark.parametrize("divergence", [Beta(0.5), Gamma(-0.5), Renyi(2), Alpha(2)], ids=str)
def test_an_infinite_distance_is_not_zero(divergence):
    """X̂ is zero where X is not."""
    point = point_at(Model("W H", divergence), np.eye(2), {"W": np.array([[1.0], [0.0]]), "H": np.array([[1.0, 0.0]])})
    assert point.objective()[0] == math.inf


NAMED = [*(Beta(b) for b in (2, 1, 0, 0.5, 1.5, 3, -1)), *(Alpha(a) for a in (0.5, 2, -1))]


@pytest.mark.parametrize("named", NAMED, ids=str)
class TestTwoMonomials:
    """A polynomial of two monomials is the divergence that has them."""

    def twin(self, named):
        return Polynomial([(m.coefficient, m.data_power, m.power) for m in named.monomials])

    def test_they_are_equal(self, named):
        twin = self.twin(named)
        assert twin == named
        assert hash(twin) == hash(named)
        assert twin != Beta(7)
        assert (twin.bounded, twin.degree, twin.infinite_at_zero) == (True, named.degree, named.infinite_at_zero)
        assert (
            twin.requires_positive_data
            == named.requires_positive_data
            == (getattr(named, "b", 1) <= 0 or getattr(named, "a", 1) < 0)
        )

    @pytest.mark.parametrize("form", ["W H", "W W.T X", "W B W.T"])
    def test_rules_and_runs(self, named, form):
        X = np.random.default_rng(0).random((6, 6)) + 0.1
        models = [Model(form, divergence) for divergence in (named, self.twin(named))]
        assert [str(rule) for rule in models[0].rules.values()] == [str(rule) for rule in models[1].rules.values()]
        assert [rule.bounds for rule in models[0].rules.values()] == [rule.bounds for rule in models[1].rules.values()]
        for solver in ("auto", "multiplicative"):
            runs = [factorize(X, model, 2, solver=solver, max_iter=20, random_state=0) for model in models]
            for name, factor in runs[0].factors.items():
                np.testing.assert_array_equal(factor, runs[1].factors[name])
            np.testing.assert_array_equal(*(run.history.objective for run in runs))


class TestSums:
    def test_the_ways_to_write_one(self):
        expected = WeightedSum((1.0, Beta(1)), (0.5, Beta(2)))
        assert Beta(1) + 0.5 * Beta(2) == Beta(1) + Beta(2) * 0.5 == 0.5 * (2 * Beta(1) + Beta(2)) == expected
        assert repr(expected) == "Beta(b=1) + 0.5 * Beta(b=2)"
        assert get_divergence(expected) is expected

    def test_value_of_a_sum(self):
        assert 0.5 * Beta(2) + 0.5 * Beta(2) == Beta(2)
        assert type(0.5 * Beta(2) + 0.5 * Beta(2)) is Beta
        assert len((Beta(1) + Alpha(2)).monomials) == 3  # X̂ is in both

    @pytest.mark.parametrize(
        ("make", "match"),
        [
            (lambda: Beta(1) + Gamma(1), "sums of monomials over the entries.*Gamma.g=1. is not"),
            (lambda: DualI() + Beta(1), "DualI.. is not"),
            (lambda: Trace() + Beta(2), "Trace.. is not"),
            (lambda: -1 * Beta(2), "positive weight"),
            (lambda: 0 * Beta(2), "positive weight"),
            (lambda: WeightedSum(), "got nothing"),
            (lambda: WeightedSum(Beta(2)), "pairs of a positive weight and a divergence"),
        ],
    )
    def test_divergences_that_do_not_add_up(self, make, match):
        with pytest.raises(IncompatibleError, match=match):
            make()

    @pytest.mark.parametrize("other", [1, "kl", None])
    def test_other_operands(self, other):
        with pytest.raises(TypeError, match="unsupported operand"):
            Beta(2) + other
        with pytest.raises(TypeError):
            "kl" * Beta(2)

    def test_exponents_are_those_of_the_extremes(self):
        for degree in (1, 2):
            parts = [divergence.bounds(degree) for divergence in (Beta(0), Beta(3))]
            both = (Beta(0) + Beta(3)).bounds(degree)
            assert both.psi_max == max(part.psi_max for part in parts)
            assert both.psi_min == min(part.psi_min for part in parts)


class TestPolynomials:
    @pytest.mark.parametrize(
        ("terms", "match"),
        [
            ([(1, 0, 1)], "only rises"),
            ([(-1, 1, 1)], "only falls"),
            ([(1, 0, 1), (-1, 0, 2)], "no lower bound"),
            ([(-1, 0, -1), (1, 0, 1), (-1, 1, 0.5)], "no lower bound"),
            ([(1, 0, 0), (-1, 1, 0.5)], "no lower bound"),
            ([(1, 0, 2), (-1, 1, 2), (-1, 1, 1)], "no lower bound"),  # for X > 1
            ([], "three finite numbers"),
            (3, "three finite numbers"),
            ([(1, 0)], "three finite numbers"),
            ([(1, 0, math.inf)], "three finite numbers"),
            ([(1, 0, 1000), (-1, 1, 1)], "powers of the data"),
        ],
    )
    def test_divergences_without_a_minimum_are_refused(self, terms, match):
        with pytest.raises(IncompatibleError, match=match):
            Polynomial(terms)

    def test_no_divergence_but_a_polynomial(self):
        """Its minimum is not at X̂ = X, and its value there is zero all the same."""
        shrunk = Polynomial([(1, 0, 2), (-1, 1, 1)])
        assert not shrunk.bounded
        X = np.random.default_rng(0).random((6, 5)) + 0.1
        solution = factorize(X, "W H", 5, divergence=shrunk, random_state=0, max_iter=3000)
        np.testing.assert_allclose(solution.reconstruct(), X / 2, atol=1e-3)
        assert solution.objective == pytest.approx(-np.sum(X**2) / 4, rel=1e-4)

    def test_zeros_in_the_data(self):
        assert Polynomial([(1, 0, 1), (-1, 0, 0)]).requires_positive_data  # −ln X is not finite there
        assert Polynomial([(1, 1, 2), (-1, 0, 1)]).requires_positive_data  # −X̂ has no lower bound there
        assert not Polynomial([(1, 0, 2), (-1, 0.5, 1)]).requires_positive_data

    def test_text(self):
        text = str(Model("W H", Polynomial([(1, 0, 1), (-2.5, 0.5, 0)])))
        assert text.startswith("minimise  Σ [(W H) − 5/2 X^(1/2) ln (W H)]")


@pytest.mark.parametrize("seed", range(20))
def test_lowest_point(seed):
    """Downhill from one, to where a sum of powers has no slope."""
    rng = np.random.default_rng(seed)
    terms = [(rng.exponential() * 10 ** rng.uniform(-6, 6) * sign, power) for sign, power in ((-1, -1), (-1, 0), (1, 1), (1, 2.5))]
    found = lowest_point(terms)
    slopes = [slope * found**power for slope, power in terms]
    assert abs(sum(slopes)) < 1e-10 * max(map(abs, slopes))


def test_lowest_point_that_is_not_there():
    assert lowest_point([(1.0, 1.0), (2.0, 2.0), (1.0, 3.0)]) == 1
    assert lowest_point([(1.0, -1.0), (-3.0, -2.0), (1.0, -3.0), (1.0, 1.0)]) <= 1
    assert lowest_point([(math.nan, 1.0), (-1.0, 2.0)]) == 1
