import copy
import math
import pickle

import numpy as np
import pytest
from scipy.special import rel_entr

from nonneg import Model, Status, factorize
from nonneg.algebra.expression import parse
from nonneg.data.dense import DenseData
from nonneg.data.namespace import namespace_of
from nonneg.divergences import NAMES, Alpha, Beta, DualI, Gamma, Renyi, Trace, get_divergence
from nonneg.divergences.base import LogRatio, Operand, Sums
from nonneg.engine.problem import point_at
from nonneg.exceptions import DataError, IncompatibleError


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


def value(divergence, X, Y):
    """The value as the engine puts it together, from sums alone."""
    if isinstance(divergence, DualI):
        sums = Sums(np.sum(Y), np.sum(Y * np.log(X / Y)))
    else:
        contractions = [np.sum(X**part.data_power * Y**part.power) for part in (divergence.positive, divergence.negative)]
        sums = Sums(*contractions, np.sum(X ** (divergence.log_power or 0.0) * np.log(Y)))
    return divergence.value(divergence.constant(DenseData(X, namespace_of(X))), sums)[0], sums


def test_value_is_that_of_the_definition(divergence, X, rng):
    Y = rng.random(X.shape) + 0.1
    assert value(divergence, X, Y)[0] == pytest.approx(defined(divergence, X, Y), rel=1e-10)
    assert value(divergence, X, X)[0] == pytest.approx(0, abs=1e-12)
    assert value(divergence, X, Y)[0] > 0.01


def test_degree_of_homogeneity(divergence, X, rng):
    Y = rng.random(X.shape) + 0.1
    assert defined(divergence, 3 * X, 3 * Y) == pytest.approx(3**divergence.degree * defined(divergence, X, Y))
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
    assert Beta(2).scale(Sums(0.0, 0.0)) == DualI().scale(Sums(0.0, 0.0)) == 1


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
