import numpy as np
import pytest

from nonneg import constraints
from nonneg.algebra.expression import parse
from nonneg.algebra.majorization import Bounds, ExponentialLaw, PowerLaw
from nonneg.algebra.rewriting import Sum
from nonneg.constraints import NAMES, Constraint, Direction, DoublyStochastic, Fixed, Free, Orthogonal, Stochastic, get_constraint
from nonneg.exceptions import IncompatibleError

KINDS = [kind for kind in vars(constraints).values() if isinstance(kind, type) and issubclass(kind, Constraint)]
SUMS = {"columns": 0, "rows": 1, "matrix": (0, 1)}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_known_however_it_is_written(name):
    assert get_constraint(name) is get_constraint(name.upper().replace("-", "_")) is get_constraint(name.replace("-", " "))
    assert isinstance(get_constraint(name), Constraint)


def test_none_is_free_and_objects_stay():
    assert get_constraint(None) == Free()
    assert get_constraint(Stochastic("rows")) == Stochastic("rows")


@pytest.mark.parametrize("unknown", ["foo", "", 5, Orthogonal, ["free"]])
def test_unknown_constraints_are_told_the_known_ones(unknown):
    with pytest.raises(IncompatibleError, match=r"Unknown constraint .*'orthogonal'.*'doubly-stochastic'"):
        get_constraint(unknown)


@pytest.mark.parametrize("kind", [Orthogonal, Stochastic])
def test_unknown_axes(kind):
    with pytest.raises(IncompatibleError, match=r"takes 'columns'.*got 'diagonal'"):
        kind("diagonal")


@pytest.mark.parametrize("steps", [0, 4, True, "all", None, 1.5])
def test_orthogonal_takes_one_to_three_steps(steps):
    with pytest.raises(IncompatibleError, match=r"Orthogonal\(steps\) takes 1, 2 or 3.*got "):
        Orthogonal(steps=steps)


def test_a_transposed_orthogonal_factor_keeps_its_steps():
    assert Orthogonal("rows", steps=1).T == Orthogonal("columns", steps=1) != Orthogonal("columns")


@pytest.mark.parametrize("axis", SUMS)
def test_stochastic_restores_the_sums(axis, X):
    constraint = Stochastic(axis)
    restored = constraint.restore(np, X)
    np.testing.assert_allclose(restored.sum(axis=SUMS[axis]), 1)
    np.testing.assert_allclose(constraint.violation(np, restored), 0, atol=1e-14)
    np.testing.assert_allclose(constraint.violation(np, 3 * restored), 2 * np.size(restored.sum(axis=SUMS[axis])))


@pytest.mark.parametrize("axis", SUMS)
def test_stochastic_multipliers_are_the_weighted_sums(axis, X, rng):
    positive, negative = rng.random((2, *X.shape))
    to_numerator, to_denominator = Stochastic(axis).multipliers(np, X, positive, negative)
    np.testing.assert_allclose(to_numerator.ravel(), np.ravel((X * positive).sum(axis=SUMS[axis])))
    np.testing.assert_allclose(to_denominator.ravel(), np.ravel((X * negative).sum(axis=SUMS[axis])))
    assert np.broadcast_shapes(to_numerator.shape, X.shape) == X.shape


def test_stochastic_makes_empty_columns_uniform():
    """They must sum to one as well, and zero is no multiple of anything."""
    factor = np.array([[0.0, 1.0], [0.0, 3.0]])
    np.testing.assert_allclose(Stochastic("columns").restore(np, factor), [[0.5, 0.25], [0.5, 0.75]])
    np.testing.assert_allclose(Stochastic("rows").restore(np, np.zeros((1, 4))), [[0.25] * 4])
    np.testing.assert_allclose(Stochastic("matrix").restore(np, np.zeros((2, 2))), np.full((2, 2), 0.25))


def test_doubly_stochastic_restores_rows_and_columns(rng):
    factor = rng.random((5, 5)) + 0.1
    restored = DoublyStochastic().restore(np, factor)
    for axis in (0, 1):
        np.testing.assert_allclose(restored.sum(axis=axis), 1, atol=1e-6)
    assert DoublyStochastic().violation(np, restored) < 1e-5 < DoublyStochastic().violation(np, factor)


def test_doubly_stochastic_multipliers_solve_the_kkt_system(rng):
    """Σᵢ W∘(∇ − λ_k − μ_i) and Σₖ W∘(∇ − λ_k − μ_i) vanish."""
    factor = DoublyStochastic().restore(np, rng.random((5, 5)) + 0.1)
    positive, negative = rng.random((2, 5, 5))
    to_numerator, to_denominator = DoublyStochastic().multipliers(np, factor, positive, negative)
    gradient = positive - negative
    assert np.all((to_numerator >= 0) & (to_denominator >= 0))
    residual = factor * (gradient - to_numerator + to_denominator)
    for axis in (0, 1):
        assert np.abs(residual.sum(axis)).max() < 1e-10 * np.abs((factor * gradient).sum(axis)).max()


@pytest.mark.parametrize("axis", ["columns", "rows"])
def test_orthogonal_keeps_the_norm(axis, X):
    constraint = Orthogonal(axis)
    factor, orthonormal = X[:, :3], np.kron(np.eye(3), np.full((2, 1), 0.5**0.5))
    if axis == "rows":
        factor, orthonormal = factor.T, orthonormal.T
    restored = constraint.restore(np, 7 * factor)
    assert np.linalg.norm(restored, 2) == pytest.approx(1)
    np.testing.assert_allclose(constraint.restore(np, orthonormal), orthonormal)
    assert constraint.violation(np, orthonormal) == pytest.approx(0)
    assert constraint.violation(np, restored) > 0.5


def test_orthogonal_keeps_nonfinite_entries():
    factor = np.array([[1.0, np.nan], [np.inf, 2.0], [0.5, 1.0]])
    np.testing.assert_array_equal(Orthogonal().restore(np, factor), factor)


@pytest.mark.parametrize("constraint", [Orthogonal(), Direction()], ids=str)
def test_zero_is_restored_to_zero(constraint):
    np.testing.assert_array_equal(constraint.restore(np, np.zeros((4, 2))), 0)
    assert np.isfinite(constraint.violation(np, np.zeros((4, 2))))


def test_direction_has_unit_norm(X):
    assert np.linalg.norm(Direction().restore(np, X)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("constraint", "shape", "problem"),
    [
        (Orthogonal("columns"), (3, 4), "W is 3 × 4, and 4 orthonormal columns do not fit into 3 rows. Lower the rank to 3"),
        (Orthogonal("rows"), (4, 3), "W is 4 × 3, and 4 orthonormal rows do not fit into 3 columns. Lower the rank to 3"),
        (Orthogonal("columns"), (4, 4), None),
        (Orthogonal("rows"), (3, 4), None),
        (DoublyStochastic(), (3, 4), "W is 3 × 4, and only a square matrix"),
        (DoublyStochastic(), (4, 4), None),
        (Stochastic(), (3, 4), None),
    ],
)
def test_shapes_that_no_matrix_can_have(constraint, shape, problem):
    said = constraint.problem_with("W", shape)
    assert said is problem is None or said.startswith(problem)


@pytest.mark.parametrize(
    ("axis", "law", "sides"),
    [
        ("columns", PowerLaw(), ("A + W Wᵀ B", "B + W Wᵀ A")),
        ("rows", PowerLaw(), ("A + B Wᵀ W", "B + A Wᵀ W")),
        ("columns", ExponentialLaw(), ("A − W Wᵀ A", "B + W Wᵀ B")),
    ],
)
def test_orthogonal_lagrangian(axis, law, sides):
    said = Orthogonal(axis).lagrangian("W", Sum.of(parse("B")), Sum.of(parse("A")), Bounds(1.0, 1.0), law)
    assert (str(said.numerator), str(said.denominator)) == sides
    assert said.bounds == Bounds(2, 0)


def test_orthogonal_lagrangian_is_reduced_and_cancelled():
    """∇⁺ = W H Hᵀ: W Wᵀ W H Hᵀ is W H Hᵀ, and stands on both sides; its multiplier H Hᵀ is semi-definite."""
    said = Orthogonal().lagrangian("W", Sum.of(parse("W H H.T")), Sum.of(parse("X H.T")), Bounds(2.0, 1.0), PowerLaw())
    assert (str(said.numerator), str(said.denominator)) == ("X Hᵀ", "W Wᵀ X Hᵀ")
    assert said.bounds == Bounds(2, 1)


@pytest.mark.parametrize("name", NAMES)
def test_print(name):
    constraint = get_constraint(name)
    assert constraint.text("W").startswith("W ")
    assert (constraint.multipliers_text("W", Sum(), Sum()) is None) == (
        constraint.multipliers(np, np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2))) is None
    )
    assert constraint.is_learned == (constraint != Fixed())
    assert constraint.is_free == (constraint == Free())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_multipliers_are_printed(kind):
    """A constraint whose multipliers are no words says how to print them, or rules would be printed without them."""
    assert ("multipliers" in vars(kind)) == ("multipliers_text" in vars(kind))
