"""Constraints that are a penalty, a length, or given values: Sparse, NearOrthogonal, FixedMultiplier, Unit, PartlyFixed."""

from fractions import Fraction

import numpy as np
import pytest

from nonneg import Model, factorize
from nonneg.algebra.majorization import Bounds
from nonneg.constraints import Disjoint, FixedMultiplier, Free, NearOrthogonal, Orthogonal, PartlyFixed, Sparse, Stochastic, Unit
from nonneg.divergences import Alpha, Beta, DualI
from nonneg.exceptions import IncompatibleError, ShapeError
from nonneg.solve.problem import point_at
from nonneg.solvers import Multiplicative
from nonneg.testing import dense_gradient

AXES = {"columns": 0, "rows": 1}
LENGTHS = [Unit, FixedMultiplier, NearOrthogonal]


def unit(F, axis="columns"):
    return F / np.linalg.norm(F, axis=AXES[axis], keepdims=True)


def derivative(function, F, step=1e-6):
    """Central differences."""
    gradient = np.empty_like(F)
    for place in np.ndindex(F.shape):
        change = np.zeros_like(F)
        change[place] = step
        gradient[place] = (function(F + change) - function(F - change)) / (2 * step)
    return gradient


class TestLengths:
    @pytest.mark.parametrize("kind", LENGTHS)
    @pytest.mark.parametrize("axis", AXES)
    def test_restored(self, kind, axis, X):
        restored = kind(axis).restore(np, X)
        np.testing.assert_allclose(restored, unit(X, axis), rtol=1e-14)
        np.testing.assert_allclose(kind(axis).T.restore(np, X.T), restored.T)
        assert kind(axis).T.T == kind(axis) != kind(axis).T
        assert kind(axis).restores_fully
        assert not kind(axis).any_scale

    @pytest.mark.parametrize("kind", LENGTHS)
    def test_zeros_stay(self, kind):
        factor = np.array([[0.0, 3.0], [0.0, 4.0]])
        np.testing.assert_array_equal(kind().restore(np, factor), [[0, 0.6], [0, 0.8]])

    def test_violation_of_a_length(self, X):
        assert Unit().violation(np, unit(X)) == pytest.approx(0, abs=1e-14)
        assert Unit().violation(np, 2 * unit(X)) == pytest.approx(3 * X.shape[1])
        assert Unit("rows").violation(np, 2 * unit(X, "rows")) == pytest.approx(3 * X.shape[0])

    @pytest.mark.parametrize("axis", AXES)
    def test_multipliers_make_the_sides_equal_along_the_factor(self, axis, X, rng):
        """Where μ_k = Σ W∘∇, the gradient of the Lagrangian has no part along any column of unit length."""
        positive, negative = rng.random((2, *X.shape))
        W = unit(X, axis)
        up, down = Unit(axis).multipliers(np, W, positive, negative)
        np.testing.assert_allclose(up, W * (W * positive).sum(axis=AXES[axis], keepdims=True))
        residual = (positive + down - negative - up) * W
        np.testing.assert_allclose(residual.sum(axis=AXES[axis]), 0, atol=1e-12)

    def test_names(self):
        assert Model("W H", constraints={"W": "unit", "H": "unit-rows"}).constraints == {"W": Unit("columns"), "H": Unit("rows")}

    @pytest.mark.parametrize("kind", LENGTHS)
    def test_axis(self, kind):
        with pytest.raises(IncompatibleError, match=rf"{kind.__name__}\(axis\) takes 'columns' or 'rows'; got 'matrix'"):
            kind("matrix")

    def test_bounds(self):
        """+ μ⁻W² has ψ = 2, − μ⁺W² and −½‖W‖² lie below their tangents, ‖WᵀW‖² has ψ = 4."""
        assert Unit().widened(Bounds(1, 1)) == Bounds(2, 1)
        assert FixedMultiplier().widened(Bounds(2, 2)) == Bounds(2, 1)
        assert NearOrthogonal().widened(Bounds(2, 1)) == Bounds(4, 1)
        assert Sparse(1).widened(Bounds(2, 2)) == Bounds(2, 1)
        assert Sparse(1).widened(Bounds(0, 0)) == Bounds(1, 0)
        assert Sparse(0, 1).widened(Bounds(1, 0)) == Bounds(2, 0)
        assert Sparse(1, 1).widened(Bounds(2, 2)) == Bounds(2, 1)


@pytest.mark.parametrize("weight", [-1, np.nan, np.inf, "a", None, True])
@pytest.mark.parametrize("make", [Sparse, Disjoint, lambda w: NearOrthogonal("rows", w), lambda w: FixedMultiplier("columns", w)])
def test_weights_that_cannot_be(make, weight):
    with pytest.raises(IncompatibleError, match=r"The weight of \w+ must be a number (≥ 0|that is not negative); got"):
        make(weight)


class TestPenalty:
    @pytest.mark.parametrize("axis", AXES)
    @pytest.mark.parametrize("weight", [1.0, 0.3])
    def test_near_orthogonal(self, axis, weight, X):
        """¼ w ‖WᵀW − I‖², with the gradient w (W WᵀW − W)."""
        constraint = NearOrthogonal(axis, weight)
        gram = X.T @ X if axis == "columns" else X @ X.T
        assert constraint.penalty(np, X) == pytest.approx(weight / 4 * np.sum((gram - np.eye(len(gram))) ** 2))
        expected = derivative(lambda F: constraint.penalty(np, F), X)
        np.testing.assert_allclose(weight * (X @ X.T @ X - X), expected, rtol=1e-6, atol=1e-7)

    def test_sparse(self, X):
        assert Sparse(0.3).penalty(np, X) == pytest.approx(0.3 * X.sum())
        assert Sparse(0.3) == Sparse(0.3).T
        assert Sparse(0.3).any_scale

    @pytest.mark.parametrize("axis", ["columns", "rows"])
    def test_disjoint(self, axis, X):
        parts = X.T if axis == "columns" else X
        overlaps = [parts[j] @ parts[k] for k in range(len(parts)) for j in range(k)]
        assert Disjoint(0.3, axis).penalty(np, X) == pytest.approx(0.3 * sum(overlaps))
        assert Disjoint(0.3, axis).T.penalty(np, X.T) == pytest.approx(0.3 * sum(overlaps))
        assert Disjoint(0.3, axis).any_scale
        with pytest.raises(IncompatibleError, match="columns"):
            Disjoint(0.3, "both")

    @pytest.mark.parametrize("constraint", [Free(), Unit(), FixedMultiplier(), Orthogonal(), Stochastic()], ids=str)
    def test_the_others_have_none(self, constraint, X):
        assert constraint.penalty(np, X) is None

    def test_the_objective_has_it(self, X, rng):
        W, H = rng.random((6, 2)), unit(rng.random((2, 5)), "rows")
        model = Model("W H", constraints={"W": Sparse(0.3), "H": NearOrthogonal("rows", 0.7)})
        gram = H @ H.T - np.eye(2)
        expected = np.sum((X - W @ H) ** 2) / 2 + 0.3 * W.sum() + 0.7 / 4 * np.sum(gram**2)
        assert point_at(model, X, {"W": W, "H": H}).objective()[0] == pytest.approx(expected)
        solution = factorize(X, model, init={"W": W, "H": H}, max_iter=0)
        assert solution.objective == pytest.approx(expected)
        assert "objective" in repr(solution)

    @pytest.mark.parametrize("form", ["W H", "W S H", "W W.T X", "W B W.T"])
    @pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Beta(0), Beta(1.5), Alpha(-1)], ids=str)
    @pytest.mark.parametrize(
        ("constraint", "gradient"),
        [
            (Sparse(0.5), lambda W: np.full_like(W, 0.5)),
            (Disjoint(0.5), lambda W: 0.5 * (W.sum(axis=1, keepdims=True) - W)),
            (Disjoint(0.5, "rows"), lambda W: 0.5 * (W.sum(axis=0) - W)),
            (NearOrthogonal(), lambda W: W @ W.T @ W - W),
            (NearOrthogonal("columns", 2), lambda W: 2 * (W @ W.T @ W - W)),
            (FixedMultiplier(), lambda W: -W),
        ],
        ids=lambda value: None if callable(value) else str(value),
    )
    def test_fixed_points_have_zero_penalised_gradient(self, form, divergence, constraint, gradient, rng):
        """Denominator − numerator is the whole gradient, up to the number that both sides are divided by."""
        X = rng.random((6, 6)) + 0.1
        point = self.at(form, divergence, constraint, X, rng)
        numerator, denominator = point.sides("W")
        plain, _ = dense_gradient(point.problem.model, "W", {**point.factors, "X": X})
        whole = plain + gradient(point.factors["W"])
        factor = np.sum((denominator - numerator) * whole) / np.sum(whole**2)
        assert factor == pytest.approx(1)
        np.testing.assert_allclose(denominator - numerator, factor * whole, rtol=1e-8, atol=1e-9 * denominator.max())

    @staticmethod
    def at(form, divergence, constraint, X, rng):
        model = Model(form, divergence, {"W": constraint})
        shapes = {"W": (6, 2), "S": (2, 3), "B": (2, 2), "H": (3 if "S" in form else 2, 6)}
        return point_at(model, X, {name: rng.uniform(0.2, 1, shapes[name]) for name in model.learned})

    @pytest.mark.parametrize("divergence", [Alpha(0.5), Alpha(2)], ids=str)
    @pytest.mark.parametrize("constraint", [Sparse(0.5), NearOrthogonal()], ids=str)
    def test_a_penalty_beside_a_divergence_with_a_slope(self, divergence, constraint, rng):
        X = rng.random((6, 6)) + 0.1
        point = self.at("W H", divergence, constraint, X, rng)
        numerator, denominator = point.sides("W")
        plain, _ = dense_gradient(point.problem.model, "W", {**point.factors, "X": X})
        W = point.factors["W"]
        whole = plain + (0.5 if isinstance(constraint, Sparse) else W @ W.T @ W - W)
        ratios = (denominator - numerator) / whole
        np.testing.assert_allclose(ratios, ratios[0, 0], rtol=1e-6)

    @pytest.mark.parametrize("constraint", [FixedMultiplier(), NearOrthogonal()], ids=str)
    def test_multipliers_beside_the_dual_divergence(self, constraint, rng):
        """Where exp(0) stands, the gradient with the penalty vanishes: numerator = −gradient."""
        X = rng.random((6, 6)) + 0.1
        point = self.at("W H", DualI(), constraint, X, rng)
        numerator, _ = point.sides("W")
        plain, _ = dense_gradient(point.problem.model, "W", {**point.factors, "X": X})
        W = point.factors["W"]
        whole = plain - W + (W @ W.T @ W if isinstance(constraint, NearOrthogonal) else 0)
        np.testing.assert_allclose(numerator, -whole, rtol=1e-8, atol=1e-8)


class TestUnits:
    def test_sparse(self):
        assert Sparse(3.0).in_units(objective=3, factor=2) == Sparse(1.5)

    @pytest.mark.parametrize("kind", [FixedMultiplier, NearOrthogonal])
    def test_multipliers(self, kind):
        assert kind("rows", 3.0).in_units(objective=3, factor=2) == kind("rows", 0.375)

    def test_partly_fixed(self, X):
        constraint = PartlyFixed(X, "columns", Sparse(3.0)).in_units(objective=3, factor=2)  # units of 2³ and 2²
        np.testing.assert_array_equal(constraint.values, X / 4)
        assert constraint.constraint == Sparse(1.5)
        assert constraint.axis == "columns"

    @pytest.mark.parametrize("constraint", [Free(), Unit("rows"), Stochastic()], ids=str)
    def test_others_have_no_scale(self, constraint):
        assert constraint.in_units(8.0, 4.0) == constraint


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (Unit(), "W ≥ 0, columns of W have length 1"),
        (Unit("rows"), "W ≥ 0, rows of W have length 1"),
        (Sparse(0.25), "W ≥ 0, at a penalty of 0.25 ΣW"),
        (FixedMultiplier(), "W ≥ 0, columns of W have length 1, multiplier of Wᵀ W = I fixed at −I"),
        (FixedMultiplier("rows", 2), "W ≥ 0, rows of W have length 1, multiplier of W Wᵀ = I fixed at −2 I"),
        (NearOrthogonal(), "W ≥ 0, columns of W have length 1, at a penalty of ¼‖Wᵀ W − I‖²"),
        (NearOrthogonal("rows", 0.5), "W ≥ 0, rows of W have length 1, at a penalty of 0.5 ¼‖W Wᵀ − I‖²"),
        (PartlyFixed(np.ones((2, 3))), "W ≥ 0, the first 2 rows given"),
        (PartlyFixed(np.ones((3, 2)), "columns", Unit()), "W ≥ 0, columns of W have length 1, the first 2 columns given"),
    ],
    ids=str,
)
def test_print(constraint, text):
    assert constraint.text("W") == text


@pytest.mark.parametrize(
    ("constraints", "divergence", "rule"),
    [
        ({"W": Unit()}, 2, "W ← W ∘ [(X Hᵀ + W diag(Wᵀ(W H Hᵀ))) / (W H Hᵀ + W diag(Wᵀ(X Hᵀ)))]"),
        ({"H": Unit("rows")}, 2, "H ← H ∘ [(Wᵀ X + diag((Wᵀ W H)Hᵀ) H) / (Wᵀ W H + diag((Wᵀ X)Hᵀ) H)]"),
        ({"W": Unit()}, 1, "W ← W ∘ [((X/X̂) Hᵀ + W diag(Wᵀ(1 Hᵀ))) / (1 Hᵀ + W diag(Wᵀ((X/X̂) Hᵀ)))]^(1/2)"),
        ({"H": Sparse(0.25)}, 2, "H ← H ∘ [(Wᵀ X) / (Wᵀ W H + 0.25)]"),
        ({"H": Sparse(0.25)}, 1, "H ← H ∘ [(Wᵀ (X/X̂)) / (Wᵀ 1 + 0.25)]"),
        ({"H": Sparse(0.25)}, DualI(), "H ← H ∘ exp[(Wᵀ ln(X/X̂) − 0.25) / (Wᵀ 1)]"),
        ({"W": FixedMultiplier("columns", 2)}, 2, "W ← W ∘ [(X Hᵀ + 2 W) / (W H Hᵀ)]"),
        ({"W": NearOrthogonal("columns", 2)}, 2, "W ← W ∘ [(X Hᵀ + 2 W) / (W H Hᵀ + 2 W Wᵀ W)]^(1/3)"),
        ({"W": PartlyFixed(np.ones((6, 1)), "columns")}, 2, "W ← W ∘ [(X Hᵀ) / (W H Hᵀ)]"),
        (
            {"W": PartlyFixed(np.ones((6, 1)), "columns", Stochastic())},
            2,
            "W ← W ∘ [(X Hᵀ + 1 1ᵀ(W∘(W H Hᵀ))) / (W H Hᵀ + 1 1ᵀ(W∘(X Hᵀ)))]",
        ),
    ],
    ids=str,
)
def test_rules(constraints, divergence, rule):
    printed = str(Model("W H", divergence, constraints))
    assert rule in printed.splitlines()


@pytest.mark.parametrize(
    ("constraint", "theorem"),
    [(Unit(), "Eggert and Körner 2004"), (Sparse(1), "Hoyer 2002"), (FixedMultiplier(), "FONT §3"), (NearOrthogonal(), "FONT §3")],
    ids=str,
)
def test_source_of_a_rule(constraint, theorem):
    assert theorem in Model("W H", constraints={"W": constraint}).rules["W"].published[0]


def test_a_weight_is_printed_as_it_was_given():
    model = Model("W H", constraints={"W": FixedMultiplier("columns", 0.3)})
    assert str(model.rules["W"]) == "W ← W ∘ [(X Hᵀ + 0.3 W) / (W H Hᵀ)]"
    assert max(coefficient for _, coefficient in model.rules["W"].denominator) <= Fraction(10)


def test_a_partly_fixed_factor_has_the_theorem_of_its_constraint():
    free, orthogonal = (
        Model("W H", 1.5, {"W": PartlyFixed(np.ones((6, 1)), "columns", c)}).rules["W"].published[0] for c in (Free(), Orthogonal())
    )
    assert "Theorem 1" in free
    assert "Theorem 3" in orthogonal


class TestSteps:
    """One sweep, transcribed densely."""

    @pytest.fixture
    def start(self, rng):
        return {"W": rng.random((6, 2)) + 0.1, "H": rng.random((2, 5)) + 0.1}

    def step(self, X, model, start, **options):
        return factorize(X, model, init=start, solver=Multiplicative(**options), max_iter=1, tol=0).factors

    def test_sparse_coding(self, X, start):
        """Eggert and Körner's W, then Hoyer's H."""
        found = self.step(X, Model("W H", constraints={"W": Unit(), "H": Sparse(0.3)}), start)
        W, H = unit(start["W"]), start["H"]
        up, down = X @ H.T, W @ H @ H.T
        W = unit(W * (up + W * (W * down).sum(axis=0)) / (down + W * (W * up).sum(axis=0)))
        H = H * (W.T @ X) / (W.T @ W @ H + 0.3)
        np.testing.assert_allclose(found["W"], W, rtol=1e-12)
        np.testing.assert_allclose(found["H"], H, rtol=1e-12)

    def test_unit_rows(self, X, start):
        found = self.step(X, Model("W H", constraints={"W": "fixed", "H": Unit("rows")}), start)
        W, H = start["W"], unit(start["H"], "rows")
        up, down = W.T @ X, W.T @ W @ H
        H *= (up + H * (H * down).sum(axis=1, keepdims=True)) / (down + H * (H * up).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(found["H"], unit(H, "rows"), rtol=1e-12)

    def test_sparse_projection(self, X, start):
        found = self.step(X, Model("W W.T X", constraints={"W": Sparse(0.3)}), {"W": start["W"]})
        W, K = start["W"], X @ X.T
        W = W * (2 * K @ W / (W @ W.T @ K @ W + K @ W @ W.T @ W + 0.3)) ** (1 / 3)
        np.testing.assert_allclose(found["W"], W, rtol=1e-12)

    @pytest.mark.parametrize("weight", [1.0, 0.3])
    def test_near_orthogonal(self, weight, X, start):
        found = self.step(X, Model("W H", constraints={"W": NearOrthogonal("columns", weight)}), start)
        W, H = unit(start["W"]), start["H"]
        W = unit(W * ((X @ H.T + weight * W) / (W @ H @ H.T + weight * W @ W.T @ W)) ** (1 / 3))
        np.testing.assert_allclose(found["W"], W, rtol=1e-12)
        np.testing.assert_allclose(found["H"], H * (W.T @ X) / (W.T @ W @ H), rtol=1e-12)

    @pytest.mark.parametrize("weight", [1.0, 0.3])
    def test_fixed_multiplier_on_rows(self, weight, X, start):
        found = self.step(X, Model("W H", constraints={"W": "fixed", "H": FixedMultiplier("rows", weight)}), start)
        W, H = start["W"], unit(start["H"], "rows")
        H = unit(H * (W.T @ X + weight * H) / (W.T @ W @ H), "rows")
        np.testing.assert_allclose(found["H"], H, rtol=1e-12)

    def test_sparse_with_the_i_divergence(self, X, start):
        found = self.step(X, Model("W H", 1, {"W": "fixed", "H": Sparse(0.3)}), start)
        W, H = start["W"], start["H"]
        expected = H * (W.T @ (X / (W @ H))) / (W.sum(axis=0)[:, None] + 0.3)
        np.testing.assert_allclose(found["H"], expected, rtol=1e-12)

    def test_partly_fixed(self, X, start):
        given = start["W"][:, :1] + 0.5
        found = self.step(X, Model("W H", constraints={"W": PartlyFixed(given, "columns")}), start)
        W, H = np.hstack([given, start["W"][:, 1:]]), start["H"]
        moved = W * (X @ H.T) / (W @ H @ H.T)
        np.testing.assert_array_equal(found["W"][:, :1], given)
        np.testing.assert_allclose(found["W"][:, 1:], moved[:, 1:], rtol=1e-12)


class TestPartlyFixed:
    def test_axis(self):
        with pytest.raises(IncompatibleError, match=r"PartlyFixed\(axis\) takes 'rows' or 'columns'; got 'matrix'"):
            PartlyFixed(np.ones((2, 2)), "matrix")

    def test_transposed(self, X):
        constraint = PartlyFixed(X[:2], "rows", Unit("rows")).T
        assert (constraint.axis, constraint.constraint) == ("columns", Unit("columns"))
        np.testing.assert_array_equal(constraint.values, X[:2].T)
        np.testing.assert_array_equal(constraint.restore(np, X.T), PartlyFixed(X[:2], "rows", Unit("rows")).restore(np, X).T)

    @pytest.mark.parametrize(
        ("axis", "inner", "shape", "problem"),
        [
            ("rows", Free(), (4, 3), None),
            ("rows", Free(), (2, 3), None),
            ("rows", Free(), (1, 3), "2 rows of length 3 are given of W, which is 1 × 3: at most 1 of length 3 fit."),
            ("rows", Free(), (4, 2), "2 rows of length 3 are given of W, which is 4 × 2: at most 4 of length 2 fit."),
            ("columns", Free(), (2, 4), None),
            ("columns", Free(), (2, 2), "3 columns of length 2 are given of W, which is 2 × 2: at most 2 of length 2 fit."),
            ("columns", Orthogonal(), (2, 4), Orthogonal().problem_with("W", (2, 4))),
        ],
        ids=str,
    )
    def test_shapes(self, axis, inner, shape, problem):
        assert PartlyFixed(np.ones((2, 3)), axis, inner).problem_with("W", shape) == problem

    def test_shapes_are_checked_by_factorize(self, X):
        with pytest.raises(ShapeError, match="3 columns of length 6 are given of W, which is 6 × 2: at most 2 of length 6 fit"):
            factorize(X, "W H", 2, constraints={"W": PartlyFixed(X[:, :3], "columns")})

    def test_the_rest_is_restored(self, X):
        W = PartlyFixed(X[:, :2], "columns", Unit()).restore(np, X)
        np.testing.assert_array_equal(W[:, :2], X[:, :2])
        np.testing.assert_allclose(np.linalg.norm(W[:, 2:], axis=0), 1)

    def test_penalty_and_violation_are_the_constraints(self, X):
        assert PartlyFixed(X[:2], "rows", Sparse(2)).penalty(np, X) == Sparse(2).penalty(np, X)
        assert PartlyFixed(X[:2]).penalty(np, X) is None
        assert PartlyFixed(X[:2], "rows", Unit("rows")).violation(np, X) == Unit("rows").violation(np, X)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("init", ["random", "nndsvd", "kmeans", "angular"])
    @pytest.mark.parametrize("solver", ["adaptive", "multiplicative", "least-squares"])
    def test_given_values_stay_bit_for_bit(self, dtype, init, solver, X):
        given = (X[:1] / 3).astype(dtype)
        H = factorize(
            X.astype(dtype),
            "W H",
            2,
            constraints={"H": PartlyFixed(given)},
            init=init,
            solver=solver,
            random_state=0,
            max_iter=20,
        ).factors["H"]
        assert H.dtype == dtype
        np.testing.assert_array_equal(H[:1], given)
        assert not np.array_equal(H[1:], given)

    def test_a_zero_that_is_given_stays(self, X):
        given = np.array([[0.0, 1.0, 0.0, 2.0, 0.0]])
        H = factorize(X, "W H", 2, constraints={"H": PartlyFixed(given)}, random_state=0, max_iter=20).factors["H"]
        np.testing.assert_array_equal(H[:1], given)

    def test_everything_given(self, X):
        given = X[:, :2].copy()
        solution = factorize(X, "W H", 2, constraints={"W": PartlyFixed(given, "columns")}, random_state=0, max_iter=50)
        np.testing.assert_array_equal(solution.factors["W"], given)
        fixed = factorize(X, "W H", constraints={"W": "fixed"}, init={"W": given}, random_state=0, max_iter=50)
        assert solution.objective == pytest.approx(fixed.objective, rel=1e-3)

    @pytest.mark.parametrize(("axis", "inner"), [("columns", Stochastic("rows")), ("rows", Unit("columns"))], ids=str)
    def test_a_constraint_across_fixed_entries_is_refused(self, axis, inner):
        given = np.full((6, 1) if axis == "columns" else (1, 3), 0.25)
        with pytest.raises(IncompatibleError, match=f"With {axis} given, the others cannot be made to satisfy"):
            PartlyFixed(given, axis, inner)


def test_a_penalty_on_overlap_is_that_of_small_products_beside_large_squares():
    W = np.array([[2e4, 1e-12], [1e-12, 3e4]])
    assert float(Disjoint(0.1).penalty(np, W)) == pytest.approx(0.1 * (2e-8 + 3e-8), rel=1e-12)
    assert float(Disjoint(0.1, "rows").penalty(np, W)) == pytest.approx(0.1 * (2e-8 + 3e-8), rel=1e-12)
