from itertools import product

import numpy as np
import pytest

from nonneg.algebra.majorization import Bounds, ExponentialLaw, Monomial, PowerLaw, fraction, power

POWERS = (-2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("degree", [1, 2, 4])
@pytest.mark.parametrize("logarithm", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
def test_psi_bounds_the_monomial_from_above(sign, logarithm, degree, power, rng):
    """f(u) = c Σ_j X̂_j(u)^φ, or c ln Σ, is below f(1) + Σ_a ∂_a f(1)·(u_a^ψ − 1)/ψ; each X̂_j is a polynomial of one degree."""
    psi = Monomial(float(sign), 0, power, logarithm).psi(degree)
    places = np.array(list(product(range(3), repeat=degree)))
    weights = rng.dirichlet(np.ones(len(places)), size=4)  # X̂_j(1) = 1
    mass = rng.dirichlet(np.ones(4))
    counts = np.array([[np.sum(place == a) for a in range(3)] for place in places])
    slopes = sign * (power or 1) * mass @ weights @ counts
    for u in np.exp(rng.normal(size=(200, 3))):
        entries = weights @ np.prod(u[places], axis=1)
        total = mass @ (np.log(entries) if power == 0 else entries**power)
        value = sign * (total if power == 0 else np.log(total) if logarithm else total - 1)
        bound = np.sum(slopes * (np.log(u) if psi == 0 else (u**psi - 1) / psi))
        assert value <= bound + 1e-9 * (1 + abs(bound))


def test_exponent_and_widening():
    bounds = Bounds(4.0, 0.0)
    assert bounds.exponent == 1 / 4
    assert bounds.concave() == Bounds(4.0, 1.0)
    assert bounds.widened(2, -1) == Bounds(4.0, -1.0)
    assert Bounds(1.0, 0.5).widened(2, 1) == Bounds(2, 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_power_law_is_safe_for_vanishing_sides(dtype):
    numerator = np.array([0, 3, 0, 8], dtype)
    denominator = np.array([0, 0, 3, 2], dtype)
    eps = np.finfo(dtype).eps
    ratio = PowerLaw.multiplier(np, numerator, denominator, 1.0)
    np.testing.assert_allclose(ratio[[1, 3]], [1 / eps, 4])
    assert np.all((ratio >= 0) & (ratio <= 1 / eps))
    assert ratio[2] <= eps
    np.testing.assert_allclose(PowerLaw.multiplier(np, numerator, denominator, 0.5), np.sqrt(ratio))
    assert ratio.dtype == dtype


@pytest.mark.parametrize("exponent", [1, 2, -1, -2, 0.5, -0.5, 1 / 3, 0.3, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers(exponent, dtype):
    array = np.array([1e-5, 0.3, 1, 7, 1e5], dtype)
    np.testing.assert_allclose(power(np, array, exponent), array**exponent, rtol=4 * np.finfo(dtype).eps)
    assert power(np, array, exponent).dtype == dtype


def test_power_law_does_not_overflow_for_a_vanishing_denominator():
    np.testing.assert_allclose(PowerLaw.multiplier(np, np.array([8.0]), np.array([0.0]), 1.0), 1 / np.finfo(float).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponential_law_is_safe_for_vanishing_sides(dtype):
    numerator = np.array([0, 3, -3, 8], dtype)
    denominator = np.array([0, 0, 0, 2], dtype)
    multiplier = ExponentialLaw.multiplier(np, numerator, denominator, 0.5)
    np.testing.assert_allclose(multiplier, np.exp(np.array([0, 30, -30, 2], dtype)), rtol=1e-6)
    assert multiplier.dtype == dtype


def test_multiplier_terms_of_the_two_laws():
    assert PowerLaw.lagrangian(1, 2, 10, 20) == (11, 22)
    assert ExponentialLaw.lagrangian(1, 2, 10, 20) == (-19, 12)
    assert PowerLaw.lagrangian_text("a", "b", "c", "d") == ("a + c", "b + d")
    assert ExponentialLaw.lagrangian_text("a", "b", "c", "d") == ("a − d", "b + c")


@pytest.mark.parametrize(
    ("law", "exponent", "text"),
    [
        (PowerLaw, 1.0, "W ← W ∘ [(a) / (b)]"),
        (PowerLaw, 1 / 3, "W ← W ∘ [(a) / (b)]^(1/3)"),
        (ExponentialLaw, 1.0, "W ← W ∘ exp[(a) / (b)]"),
        (ExponentialLaw, 0.5, "W ← W ∘ exp[1/2 (a) / (b)]"),
    ],
)
def test_print(law, exponent, text):
    assert law.text("W", "a", "b", exponent) == text


@pytest.mark.parametrize(
    ("number", "text"), [(1 / 3, "1/3"), (2.0, "2"), (-0.5, "-1/2"), (0.123456789, "0.1235"), (5 / 64, "5/64")]
)
def test_fraction(number, text):
    assert fraction(number) == text
