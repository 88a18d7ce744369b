"""Data known by a sketch of its rows, and the objective at given factors."""

import numpy as np
import pytest
from scipy import sparse

from nonneg import Gram, Model, factorize
from nonneg.algebra.expression import parse
from nonneg.constraints import NearOrthogonal, Orthogonal, Sparse, Unit
from nonneg.data import as_dense
from nonneg.data.given import Sketch
from nonneg.data.reading import read_data
from nonneg.data.sketch import SketchData
from nonneg.divergences import Alpha, Beta, DualI, Gamma
from nonneg.exceptions import IncompatibleError
from nonneg.solve.problem import bind, point_at
from nonneg.solve.solvers import Coordinate
from nonneg.solve.solving import objective_of
from nonneg.solve.strategy import Options, choose_directly
from nonneg.solve.surrogate import Kind, kind_for, root_problem
from nonneg.testing import divergence_value


@pytest.fixture
def X(rng):
    return rng.random((30, 8)) + 0.1


@pytest.fixture
def sketch(X, rng):
    """Q X with Q orthogonal, which has negative entries and the same XᵀX."""
    R = np.linalg.qr(rng.normal(size=(30, 30)))[0] @ X
    assert R.min() < 0
    return R


class TestSketch:
    @pytest.mark.parametrize("solver", ["multiplicative", "adaptive"])
    @pytest.mark.parametrize("constraint", ["free", "orthogonal", Sparse(0.1), Unit()], ids=str)
    def test_only_the_products_of_columns_matter(self, solver, constraint, X, sketch, rng):
        init = {"W": rng.random((8, 3)) + 0.1}
        options = {"constraints": {"W": constraint}, "init": init, "solver": solver, "max_iter": 30, "tol": 0}
        known, sketched = (factorize(data, "X W W.T", **options) for data in (X, Sketch(sketch)))
        np.testing.assert_allclose(sketched.factors["W"], known.factors["W"], rtol=1e-7, atol=1e-10)
        assert sketched.objective == pytest.approx(known.objective)

    def test_fewer_rows(self, X, rng):
        """R of as many rows as X has columns."""
        R = np.linalg.qr(X)[1]
        init = {"W": rng.random((8, 3)) + 0.1}
        known, sketched = (factorize(data, "X W W.T", init=init, max_iter=30, tol=0) for data in (X, Sketch(R)))
        np.testing.assert_allclose(sketched.factors["W"], known.factors["W"], rtol=1e-7, atol=1e-10)
        assert objective_of(Sketch(R), Model("X W W.T"), {"W": known.factors["W"]}) == pytest.approx(known.objective)

    @pytest.mark.parametrize("init", ["random", "kmeans", "nndsvd", "nndsvda", "angular"])
    def test_starts(self, init, sketch):
        solution = factorize(Sketch(sketch), "X W W.T", 3, init=init, random_state=0)
        assert solution.objective < solution.history[0].objective
        assert np.all(solution.factors["W"] >= 0)
        assert np.all(solution.factors["W"].any(axis=0))

    @pytest.mark.parametrize("divergence", [Beta(1), Beta(0), Beta(3), Alpha(2), DualI()], ids=str)
    def test_models_that_need_entries_are_refused(self, divergence, sketch):
        with pytest.raises(IncompatibleError, match=r"Only a sketch R with RᵀR ≈ XᵀX is known .* such as 'X W W.T' with 'euclid"):
            factorize(Sketch(sketch), "X W W.T", 3, divergence=divergence, random_state=0)

    def test_reading(self, sketch):
        data = read_data(Sketch(sketch.astype(np.float32)))
        assert isinstance(data, SketchData)
        assert data.values.dtype == np.float32
        assert data.power_sum(2) == pytest.approx(np.sum(sketch**2), rel=1e-5)
        assert data.facts.peak == pytest.approx(np.abs(sketch).max())

    def test_extreme_scale(self, X, sketch, rng):
        init = {"W": rng.random((8, 3)) + 0.1}
        ordinary, extreme = (factorize(Sketch(by * sketch), "X W W.T", init=init, max_iter=20, tol=0) for by in (1.0, 2.0**500))
        np.testing.assert_allclose(extreme.factors["W"], ordinary.factors["W"], rtol=1e-7, atol=1e-10)

    def test_a_sketch_in_other_units_is_still_one(self, sketch):
        assert isinstance(read_data(Sketch(sketch)).in_units(2.0), SketchData)
        with pytest.raises(IncompatibleError, match="Only a sketch"):
            factorize(Sketch(1e100 * sketch), "X W W.T", 3, divergence=1, random_state=0)

    @pytest.mark.parametrize("divergence", [Beta(0.5), Gamma(0), Gamma(0.5)], ids=str)
    def test_models_that_need_sums_of_entries_are_refused_in_the_same_words(self, divergence, sketch):
        with pytest.raises(IncompatibleError, match="Only a sketch"):
            factorize(Sketch(-np.sign(sketch.sum()) * sketch), "X W W.T", 3, divergence=divergence, random_state=0)

    @pytest.mark.parametrize("form", ["W H", "W W.T X", "L L.T X R R.T"])
    def test_forms_that_need_more_than_products_of_columns_are_refused(self, form, sketch):
        with pytest.raises(IncompatibleError, match="Only a sketch"):
            factorize(Sketch(sketch), form, 3, random_state=0, max_iter=3)

    @pytest.mark.parametrize("spoil", [lambda R: R * np.nan, lambda R: R[:0]], ids=["nan", "empty"])
    def test_invalid_sketches(self, spoil, sketch):
        with pytest.raises(ValueError, match=r"not finite|empty"):
            factorize(Sketch(spoil(sketch)), "X W W.T", 3, random_state=0)


MODELS = [
    Model("W H"),
    Model("W H", 1),
    Model("W H", 0),
    Model("W H", Alpha(0.5)),
    Model("W S H", DualI()),
    Model("W W.T X", 1),
    Model("X W W.T"),
    Model("W H", Gamma(0.5)),
    Model("W H", 2, {"W": Unit(), "H": Sparse(0.3)}),
    Model("W S H", 2, {"W": NearOrthogonal(), "H": Orthogonal("rows")}),
    Model("L L.T X R R.T", 1.5),
]


def penalty(model, factors):
    return sum(
        float(penalty)
        for name, constraint in model.constraints.items()
        if (penalty := constraint.penalty(np, factors[name])) is not None
    )


class TestObjectiveOf:
    @pytest.mark.parametrize("model", MODELS, ids=repr)
    @pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
    def test_it_is_that_of_the_solution_and_the_textbooks(self, model, store, X):
        solution = factorize(store(X), model, 3, random_state=0, max_iter=10)
        found = objective_of(store(X), model, solution.factors)
        assert found == pytest.approx(solution.objective, rel=1e-9)
        naive = divergence_value(model.divergence, X, solution.reconstruct()) + penalty(model, solution.factors)
        assert found == pytest.approx(float(naive), rel=1e-8)

    @pytest.mark.parametrize("model", MODELS[:4], ids=repr)
    def test_anywhere(self, model, X, rng):
        factors = {"W": rng.random((30, 3)), "H": rng.random((3, 8))}
        naive = divergence_value(model.divergence, X, factors["W"] @ factors["H"])
        assert objective_of(X, model, factors) == pytest.approx(float(naive))

    def test_fixed_factors_gram_matrices_and_traces(self, X, rng):
        factors = {"H": rng.random((30, 3)), "C": rng.random((3, 8))}
        model = Model("H C", 1, {"C": "fixed"})
        assert objective_of(X, model, factors) == pytest.approx(float(divergence_value(1, X, factors["H"] @ factors["C"])))
        W, K = rng.random((30, 3)) / 10, X @ X.T
        assert objective_of(Gram(K), Model("W W.T X"), {"W": W}) == pytest.approx(np.sum((X - W @ W.T @ X) ** 2) / 2)
        trace = Model("W.T X W", "trace", {"W": "orthogonal"})
        assert objective_of(K, trace, {"W": W}) == pytest.approx(np.trace(W.T @ K @ W))

    @pytest.mark.parametrize("scale", [1e-100, 1e100])
    def test_extreme_scales(self, scale, X, rng):
        W, H = rng.random((30, 3)), rng.random((3, 8))
        model = Model("W H", 1, {"H": Sparse(0.3)})
        ordinary = objective_of(X, model, {"W": W, "H": H})
        assert objective_of(scale * X, model, {"W": W, "H": scale * H}) / scale == pytest.approx(ordinary)


@pytest.mark.parametrize("form", ["X W W.T", "W W.T X"])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array, np.float32], ids=["dense", "sparse", "float32"])
def test_a_run_on_a_sketch_ends_at_the_objective_of_the_data(form, store):
    """A sketch misses much of noise, and its own objective is above that of the data at the same factors."""
    X = np.random.default_rng(0).random((300, 700))
    X = store(X if form == "X W W.T" else X.T)
    problem = bind(Model(form), X, 6)
    assert kind_for(problem.signature) is Kind.SKETCH
    solution = factorize(X, form, 6, random_state=0)
    W, D = solution.factors["W"].astype(float), as_dense(X).astype(float)
    rest = D - (D @ W @ W.T if form == "X W W.T" else W @ (W.T @ D))
    rounding = 1e-5 if store is np.float32 else 1e-10
    assert solution.objective == pytest.approx(0.5 * np.sum(rest**2), rel=rounding)
    assert np.diff(solution.history.objective).max() <= rounding * solution.objective
    assert point_at(solution.model, X, solution.factors).kkt_residual() < 2e-3


class TestRunsOnASketch:
    @pytest.fixture
    def X(self):
        return np.random.default_rng(0).random((200, 400)) ** 4

    def test_without_a_tolerance_the_data_are_looked_at(self, X):
        settled = factorize(X, "X W W.T", 3, random_state=0, max_iter=200)
        endless = factorize(X, "X W W.T", 3, random_state=0, max_iter=200, tol=0)
        assert endless.objective <= settled.objective * (1 + 1e-6)

    def test_progress_goes_on_from_sketch_to_sketch(self, X):
        seen = []
        solution = factorize(X, "X W W.T", 3, random_state=0, callback=lambda p: seen.append((p.iteration, p.seconds)))
        iterations, seconds = np.array(seen).T
        assert np.diff(iterations).min() > 0
        assert np.diff(seconds).min() >= 0
        assert iterations[-1] == solution.n_iter
        assert np.diff(solution.history.seconds).min() >= 0


@pytest.mark.parametrize(("rank", "rows"), [(38, 40), (5, 5)])
def test_a_start_is_looked_for_with_a_gram_matrix_if_that_of_the_data_is_there(rank, rows):
    """Features that are zero, and directions that are missing, do not leave the search without: it would take other kernels."""
    rng = np.random.default_rng(0)
    X = rng.random((300, rank)) @ rng.random((rank, 40))
    X[:, 7] = 0
    rough = root_problem(bind(Model("X W W.T"), X, 3))
    assert rough.data.shape == (rows, 40)
    assert rough.planner.forms(parse("X.T X")) == (rows == 40)
    R = np.asarray(rough.data.items.itself(), dtype=float)
    np.testing.assert_allclose(R.T @ R, X.T @ X, rtol=1e-9, atol=1e-9)


# ---- the choice of the user


@pytest.mark.parametrize(("form", "kind"), [("X W W.T", Kind.SKETCH), ("W W.T X", Kind.SKETCH), ("W H", Kind.LOW_RANK)])
def test_a_surrogate_is_asked_for_or_forbidden(form, kind):
    generator = np.random.default_rng(0)
    X = np.kron(np.eye(3), np.ones((20, 10))) * generator.uniform(0.5, 1.5, (60, 30)) + 0.1 * generator.random((60, 30))
    objectives = []
    for solver, expected in ((Coordinate(surrogate=True), kind), ("coordinate", None)):
        (stage,) = choose_directly(bind(Model(form), X, 3).signature, Options("random", solver)).stages
        assert stage.on == expected
        objectives.append(factorize(X, form, 3, solver=solver, random_state=0).objective)
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-3)


@pytest.mark.parametrize("form", ["W S H", "W W.T", "W H"])
def test_a_surrogate_that_cannot_be_is_refused(form):
    X = np.random.default_rng(0).random((10, 10))
    X, weights = X @ X.T, np.arange(1.0, 101).reshape(10, 10) if form == "W H" else None
    with pytest.raises(IncompatibleError, match=r"Coordinate\(surrogate=True\) is for forms such as 'X W W.T' or 'W H'"):
        factorize(X, form, 2, divergence=2 if form != "W S H" else 1, solver=Coordinate(surrogate=True), weights=weights)
