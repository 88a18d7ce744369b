"""How a derived rule is compared with a printed one.

The printed rules stand in the test files, one function for each equation, written from the paper in its own letters with every
matrix spelled out. A function returns the ratio that the paper multiplies a factor with, before any exponent.
"""

import re
from fractions import Fraction

import numpy as np
from scipy import sparse

from nonneg import factorize
from nonneg.data.reading import read_data
from nonneg.solve.signature import infer_shapes
from nonneg.solvers import Multiplicative
from tests.problems import problem_of

SWEEPS = 5


def positive(*shape, seed=0):
    """A matrix of positive numbers, the same in every run."""
    return np.random.default_rng([seed, *shape]).uniform(0.1, 1.0, shape)


def nonnegative(*shape, seed=0):
    """The same with a third of the entries zero, none of the rows or columns."""
    i, j = np.indices(shape)
    return positive(*shape, seed=seed) * ((i + 2 * j) % 3 > 0)


def symmetric(n, seed=0):
    """A symmetric matrix with entries of either sign, in every row as much of the one as of the other."""
    S, sign = positive(n, n, seed=seed), (-1.0) ** np.add.outer(np.arange(n), np.arange(n))
    return sign * (2 + S + S.T)


def orthonormal(m, r):
    """A non-negative matrix with Wᵀ W = I: one positive entry in a row."""
    W = positive(m, r) * (np.arange(m)[:, None] % r == np.arange(r))
    return W / np.linalg.norm(W, axis=0)


def spectral(W):
    """What follows an orthogonal step: the largest singular value becomes one."""
    return W / np.linalg.norm(W, 2)


def frobenius(W):
    """What follows a step without a maximum: unit norm."""
    return W / np.linalg.norm(W)


def assert_close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=0)


LINE = re.compile(r"(?P<factor>\w+) ← \w+ ∘ \[\((?P<numerator>.*)\) / \((?P<denominator>.*)\)\](\^\((?P<exponent>.*)\))?")


def assert_printed(model, line, *citations):
    """The model prints this rule, and under it where it was published."""
    rule = model.rules[line.split()[0]]
    assert str(rule) == line
    assert set(citations) <= set(rule.published)
    printed = str(model).splitlines()
    below = printed[printed.index(line) + 1 :]
    assert below[: len(rule.published)] == [f"    {where}" for where in rule.published]


def assert_derived(model, line, *citations):
    """The rule consists of the words of the line, whatever their order, has its exponent, and is printed like it."""
    factor, numerator, denominator, exponent = LINE.fullmatch(line).group("factor", "numerator", "denominator", "exponent")
    rule = model.rules[factor]
    assert words(rule.numerator) == set(numerator.split(" + "))
    assert words(rule.denominator) == set(denominator.split(" + "))
    assert abs(rule.exponent - Fraction(exponent or 1)) < 1e-12
    assert_printed(model, line, *citations)


def words(side):
    """The terms of one side of a rule, as they are printed."""
    return {f"{coefficient} {word}".removeprefix("1 ") for word, coefficient in side.terms.items()}


def times(left, terms):
    """A word times a sum of words, in print: W Wᵀ (A + B) is W Wᵀ A + W Wᵀ B."""
    return " + ".join(f"{left} {term}" for term in terms.split(" + "))


def assert_iterates(X, model, start, ratios, *, printed=1.0, proven=1.0, then=None, rescale=False):
    """A few sweeps are those of the printed ratios, with the printed exponent and with the proven one, dense and sparse.

    `then` says what happens to a factor after its step.
    """
    for solver, exponent in (Multiplicative(printed, rescale), printed), (Multiplicative(None, rescale), proven):
        expected = transcribed({model.data: X, **start}, ratios, exponent, then)
        for data in X, sparse.csr_array(X):
            solution = factorize(data, model, init=start, solver=solver, max_iter=SWEEPS, tol=0)
            for name in ratios:
                assert_close(solution.factors[name], expected[name])


def transcribed(matrices, ratios, exponent, then=None):
    """The matrices after a few sweeps of F ← F ∘ ratio^exponent, each ratio called with all of them by name."""
    then = then or {}
    for _ in range(SWEEPS):
        for name, ratio in ratios.items():
            moved = matrices[name] * ratio(**matrices) ** exponent
            matrices = matrices | {name: then[name](moved) if name in then else moved}
    return matrices


def at(model, X, **factors):
    """The model bound to data, at a point."""
    shapes = infer_shapes(model, X.shape, None, {name: factor.shape for name, factor in factors.items()})
    data = read_data(X, model.data, signed=model.divergence.signed)
    return problem_of(model, data, shapes, {name: factors[name] for name in model.fixed}).point(factors)
