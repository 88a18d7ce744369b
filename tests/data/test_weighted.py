"""Data with weights, and with missing entries: each kind against sums that are written out."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import nonneg
from nonneg import Model, Observed, factorize, open_data
from nonneg.data import Request, SquaredDifference, Unreached, read_data, read_weighted
from nonneg.data.reading import read_weights
from nonneg.data.weighted import FilledData, LowRank, ObservedData, Pair, PairWeighted, WeightedDense, mean_filling
from nonneg.data.weighted.weights import largest
from nonneg.divergences.base import Logarithm, LogRatio, Operand
from nonneg.exceptions import DataError, IncompatibleError
from nonneg.metrics import orthogonality_error
from nonneg.solve.problem import bind
from nonneg.solve.solvers import Coordinate, Multiplicative, Newton, QuasiNewton, best_solver
from nonneg.testing import assert_monotone

pytestmark = pytest.mark.wide(one_in=5)


@pytest.fixture
def X(rng):
    return rng.random((9, 6)) + 0.1


@pytest.fixture
def known(rng, X):
    known = rng.random(X.shape) < 0.7
    known[np.arange(6), np.arange(6)] = True
    known[6:, 0] = True
    return known


def observed(X, known):
    rows, columns = np.nonzero(known)
    return Observed(sparse.csr_array((X[known], (rows, columns)), shape=X.shape))


def kinds(X, known):
    """Data of each kind, with the weights that they have."""
    generator = np.random.default_rng(0)
    entries, rows, columns = generator.uniform(0.5, 2, X.shape), generator.uniform(0.5, 2, 9), generator.uniform(0.5, 2, 6)
    holes = np.where(known, X, np.nan)
    return [
        (read_weighted(holes, missing="ignore"), known * 1.0),
        (read_weighted(holes, missing="ignore", weights=entries), known * entries),
        (read_weighted(holes, missing="ignore", weights=(rows, columns)), known * np.outer(rows, columns)),
        (read_weighted(X, weights=entries), entries),
        (read_weighted(X, weights=(rows, None)), np.outer(rows, np.ones(6))),
        (read_weighted(sparse.csr_array(X), weights=(rows, columns)), np.outer(rows, columns)),
        (read_weighted(observed(X, known)), known * 1.0),
        (read_weighted(observed(X, known), weights=entries), known * entries),
        (read_weighted(X, weights=sparse.csr_array(known * entries)), known * entries),
        (read_weighted(sparse.csr_array(X), weights=sparse.csr_array(known * entries)), known * entries),
    ]


def test_kind_of_weighted_data(X, known):
    expected = [WeightedDense] * 4 + [PairWeighted] * 2 + [ObservedData] * 4
    assert [type(data) for data, _ in kinds(X, known)] == expected


def test_sums(X, known):
    for data, weights in kinds(X, known):
        for exponent in (0, 1, 2, 0.5):
            assert data.power_sum(exponent) == pytest.approx(np.sum(weights * X**exponent))
        for exponent in (0, 1, 2):
            assert data.power_sum(exponent, logarithm=True) == pytest.approx(np.sum(weights * X**exponent * np.log(X)))
        seen = X[weights > 0]
        assert data.facts.peak == pytest.approx(seen.max() if data.facts.missing else X.max())
        assert data.facts.missing == np.sum(weights == 0)
        assert data.shape[0] * data.shape[1] == data.facts.missing + data.facts.non_zeros


def test_visits(X, known, rng):
    U, V, M, N = rng.random((9, 2)), rng.random((2, 6)), rng.random((6, 3)), rng.random((3, 9))
    approximation = U @ V
    operands = [Operand(0, 0), Operand(0, 1), Operand(1, 0), Operand(1, -1), Operand(0.5, -0.5), LogRatio(), Logarithm(1.0)]
    for data, weights in kinds(X, known):
        for operand in [*operands, SquaredDifference()]:
            E = weights * operand.evaluate(np, X, approximation)
            requests = [Request(operand, "right", M), Request(operand, "left", N), Request(operand, "right", None)]
            for power in (None, 0.0, 1.0):
                (right, left, whole), logarithm = data.visit(U, V, requests, power)
                np.testing.assert_allclose(right, E @ M)
                np.testing.assert_allclose(left, N @ E)
                np.testing.assert_allclose(whole, E)
                if power is not None:
                    assert logarithm == pytest.approx(np.sum(weights * X**power * np.log(approximation)))


def test_unreached_entries_are_counted_among_known_ones(X, known):
    U, V = np.ones((9, 1)), np.ones((1, 6))
    U[2] = 0.0
    for data, weights in kinds(X, known):
        (counts,), _ = data.visit(U, V, [Request(Unreached(), "right", np.ones((6, 1)))])
        assert counts.sum() == np.sum(weights[2] > 0)


def test_units_and_subsets(X, known, rng):
    U, V, items = rng.random((9, 2)), rng.random((2, 6)), np.array([4, 1, 7])
    request = [Request(SquaredDifference(), "right", np.ones((6, 1)))]
    for data, weights in kinds(X, known):
        (found,), _ = data.in_units(0.5).visit(U, V, request)
        np.testing.assert_allclose(found.ravel(), np.sum(weights * (2 * X - U @ V) ** 2, axis=1))
        (found,), _ = data.subset(items, 0).visit(U[items], V, request)
        np.testing.assert_allclose(found.ravel(), np.sum(weights * (X - U @ V) ** 2, axis=1)[items])
        columns = np.array([5, 2])
        (found,), _ = data.subset(columns, 1).visit(U, V[:, columns], [request[0]._replace(matrix=np.ones((2, 1)))])
        np.testing.assert_allclose(found.ravel(), np.sum((weights * (X - U @ V) ** 2)[:, columns], axis=1))


def test_exact_steps_find_the_least_squares_of_each_row(X, known):
    B = np.random.default_rng(1).random((6, 2))
    for data, weights in kinds(X, known):
        F = np.full((9, 2), 0.5)
        data.sweep_rows(F, B, (0.0, 0.0, 0, 5000, 0.0))
        residual = weights * (F @ B.T - X)
        gradient = residual @ B
        np.testing.assert_allclose(F * gradient, 0.0, atol=1e-10)
        assert (gradient > -1e-10).all()
        F = np.full((6, 2), 0.5)
        B9 = np.random.default_rng(2).random((9, 2))
        data.sweep_rows(F, B9, (0.0, 0.0, 0, 5000, 0.0), transposed=True)
        np.testing.assert_allclose(F * ((weights * (B9 @ F.T - X)).T @ B9), 0.0, atol=1e-10)


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_both_ways_of_summing_over_a_row_are_one(rng, share):
    """Few are missing: all of B Bᵀ less what is missing; many: the sum over what is there."""
    X = rng.random((40, 30))
    known = rng.random(X.shape) > share
    known[:, 0] = True
    dense, stored = read_weighted(np.where(known, X, np.nan), missing="ignore"), read_weighted(observed(X, known))
    B, F = rng.random((30, 3)), rng.random((40, 3))
    G = F.copy()
    dense.sweep_rows(F, B, (0.1, 0.0, 0, 50, 0.0))
    stored.sweep_rows(G, B, (0.1, 0.0, 0, 50, 0.0))
    np.testing.assert_allclose(F, G, rtol=1e-9, atol=1e-12)


# ---- filling


def test_filled_data_keep_known_entries(X, known, rng):
    fill = LowRank(rng.random((9, 2)), rng.random((2, 6)))
    expected = np.where(known, X, fill.U @ fill.V)
    for data in (read_weighted(np.where(known, X, np.nan), missing="ignore"), read_weighted(observed(X, known))):
        filled = data.filled(fill)
        np.testing.assert_allclose(filled.apply(np.eye(6)), expected)
        np.testing.assert_allclose(filled.apply(np.eye(9), transposed=True), expected.T)
        np.testing.assert_allclose(filled.take(np.array([3, 1]), 0), expected[[3, 1]])
        np.testing.assert_allclose(filled.take(np.array([3, 1]), 1), expected.T[[3, 1]])
        np.testing.assert_allclose(filled.in_units(0.5).apply(np.eye(6)), 2 * expected)
        assert filled.power_sum(2) == pytest.approx(np.sum(expected**2))
        assert filled.power_sum(1) == pytest.approx(np.sum(expected))


def test_nothing_of_the_shape_of_sparse_data_is_formed(rng):
    """A hundred thousand by a hundred thousand: all of it would take eighty gigabytes."""
    rows, columns = rng.integers(0, 10**5, 3000), rng.integers(0, 10**5, 3000)
    stored = sparse.csr_array((rng.random(3000) + 0.1, (rows, columns)), shape=(10**5, 10**5))
    for form, divergence in (("W H", "euclidean"), ("W H", "kullback-leibler"), ("X W W.T", "euclidean")):
        solution = factorize(Observed(stored), form, 2, divergence=divergence, init="random", max_iter=3, random_state=0)
        assert np.isfinite(solution.objective)


def test_codes_that_settle(X, known, rng):
    """x L with what is missing in x as x L R: the fixed point of filling again and again."""
    W = np.linalg.qr(rng.random((6, 2)))[0]
    data, stored = read_weighted(np.where(known, X, np.nan), missing="ignore"), read_weighted(observed(X, known))
    filled = np.where(known, X, 0.0)
    for _ in range(5000):
        filled = np.where(known, X, filled @ W @ W.T)
    for found in (data.settled(W, W.T, np.zeros(2)), stored.settled(W, W.T, np.zeros(2))):
        np.testing.assert_allclose(found.U, filled @ W, rtol=1e-5, atol=1e-6)


def test_the_first_guess(X, known):
    a = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 9])
    b = np.array([1.0, 2, 1, 2, 1, 2])
    everywhere = np.ones_like(known)
    data = read_weighted(np.where(everywhere, np.outer(a, b), np.nan), missing="ignore", weights=np.where(known, 1.0, 2.0))
    fill = mean_filling(data)
    assert (fill.U @ fill.V).shape == X.shape
    whole = read_weighted(np.outer(a, b), weights=(np.full(9, 2.0), None))
    np.testing.assert_allclose(np.prod([mean_filling(whole).U, mean_filling(whole).U], axis=0).shape, (9, 1))
    np.testing.assert_allclose(mean_filling(whole).U @ mean_filling(whole).V, np.outer(a, b))


@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler"])
@pytest.mark.parametrize("form", ["X W W.T", "W W.T X", "X W H", "L L.T X R R.T"])
def test_filling_never_raises_the_objective(form, divergence):
    generator = np.random.default_rng(0)
    parts = np.kron(np.eye(3), np.ones(5))
    X = generator.gamma(1, 1, (30, 3)) @ parts + 0.01
    X = X.T if form.endswith("X") else X
    holes = np.where(generator.random(X.shape) < 0.3, np.nan, X)
    solution = factorize(holes, form, 3, divergence=divergence, missing="ignore", check_every=1, random_state=0, max_iter=60)
    assert (np.diff(solution.history.objective) <= 1e-12 * solution.history.objective[0]).all()
    if "L" not in form:
        hidden = np.isnan(holes)
        assert np.linalg.norm((solution.reconstruct() - X)[hidden]) < 0.15 * np.linalg.norm(X[hidden])


# ---- weights that are made up for


@pytest.mark.parametrize("which", [(False, False), (True, False), (False, True), (True, True)])
def test_weights_that_are_one_on_average(X, known, rng, which):
    """What is taken into rows and columns of X, what is left, and what is made up, is the weighted distance."""
    U, V = rng.random((9, 2)), rng.random((2, 6))
    for data, weights in kinds(X, known):
        levelled, rows, columns, level = data.levelled(*which)
        A, B = U * (1.0 if rows is None else rows[:, None]), V * (1.0 if columns is None else columns)
        expected = np.sum(weights * (X - U @ V) ** 2)
        if not levelled.costs.weighted:
            assert level * np.sum((levelled.itself() - A @ B) ** 2) == pytest.approx(expected)
            continue
        blend, spread = levelled.blended(LowRank(A, B))
        assert not blend.costs.weighted
        assert level * (np.sum((blend.itself() - A @ B) ** 2) + spread) == pytest.approx(expected)


ORTHOGONAL = [
    Model("W H", constraints={"H": "orthogonal-rows"}),
    Model("W H", constraints={"W": "orthogonal"}),
    Model("W S H", constraints={"W": "orthogonal", "H": "orthogonal-rows"}),
    Model("W S H", constraints={"W": "orthogonal"}),
    Model("F.T G.T", constraints={"G": "orthogonal"}),
]


@pytest.mark.parametrize("model", ORTHOGONAL, ids=str)
def test_orthogonal_factors_have_the_rule_without_weights(model, X, known):
    for number, (data, weights) in enumerate(kinds(X, known)):
        problem = bind(model, data, 2)
        assert not problem.model.weighted
        solution = factorize(data, model, 2, random_state=0, max_iter=40, init="random")
        again = np.sum(weights * (X - solution.reconstruct()) ** 2) / 2
        assert solution.objective == pytest.approx(again), number


def test_zero_weights_vanish_in_absorbed_factors(X):
    X[2] = 1e6
    weights = np.ones(9)
    weights[2] = 0.0
    solution = factorize(X, ORTHOGONAL[0], 2, weights=(weights, None), random_state=0, max_iter=40)
    assert not solution.factors["W"][2].any()
    assert np.isfinite(solution.factors["W"]).all()
    without = factorize(np.delete(X, 2, 0), ORTHOGONAL[0], 2, random_state=0, max_iter=40)
    assert solution.objective == pytest.approx(without.objective, rel=0.1)


def test_normalised_weights_keep_the_penalty(X):
    """Of two models that differ by a common number, the one of which all weights are ten times those of the other."""
    weights = np.random.default_rng(0).uniform(0.5, 1.0, X.shape)
    found = []
    for times in (1.0, 10.0):
        model = Model("W S H", constraints={"W": "orthogonal", "S": nonneg.constraints.Sparse(0.1 * times), "H": "orthogonal-rows"})
        start = {"W": X[:, :2], "S": X[:2, :2], "H": X[:2]}
        found.append(factorize(X, model, weights=times * weights, init=start, max_iter=30, solver="adaptive"))
    np.testing.assert_allclose(found[0].factors["S"], found[1].factors["S"])
    assert found[1].objective == pytest.approx(10 * found[0].objective)


# ---- which solver


def test_weighted_problems_have_an_exact_solver(X, known):
    data = read_weighted(np.where(known, X, np.nan), missing="ignore")
    assert isinstance(best_solver(bind(Model("W H"), data, 2).signature), Coordinate)
    assert isinstance(best_solver(bind(Model("X W W.T"), data, 2).signature), Coordinate)
    assert isinstance(best_solver(bind(Model("W S H"), data, 2).signature), QuasiNewton)
    assert isinstance(best_solver(bind(Model("W H", 1), data, 2).signature), QuasiNewton)


def test_weights_of_samples_keep_the_gram_matrix(X):
    problem = bind(Model("X W W.T"), read_weighted(X, weights=(np.arange(1.0, 10), None)), 2)
    assert not problem.model.weighted
    np.testing.assert_allclose(problem.data.with_itself(True, False), X.T @ np.diag(np.arange(1.0, 10)) @ X)


def test_newton_knows_no_weights(X, known):
    for data in kinds(X, known):
        with pytest.raises(IncompatibleError, match="have weights, or missing values"):
            factorize(data[0], "W H", 2, divergence=1, solver="newton")
    assert isinstance(best_solver(bind(Model("W H", 1), read_weighted(X, weights=np.ones(X.shape)), 2).signature), Newton)


# ---- data in files


@pytest.mark.parametrize("blocks", ["samples", "features"])
@pytest.mark.parametrize(("form", "divergence"), [("W H", 2), ("W H", 1), ("X W W.T", 2), ("X W W.T", 1)])
def test_weights_of_data_in_files(rng, tmp_path, form, divergence, blocks):
    X, weights = rng.random((40, 12)) + 0.1, (rng.uniform(0, 2, 40), rng.uniform(0.5, 2, 12))
    np.save(tmp_path / "X.npy", X if blocks == "samples" else X.T)
    data = open_data(tmp_path / "X.npy", blocks=blocks, block_bytes=1000)
    settings = {"divergence": divergence, "init": "random", "random_state": 0, "weights": weights, "solver": "adaptive"}
    found, expected = (factorize(each, form, 3, max_iter=20, tol=0, **settings) for each in (data, X))
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-6)
    np.testing.assert_allclose(found.reconstruct(), expected.reconstruct(), rtol=1e-4)
    settings["solver"] = "auto"
    found, expected = (factorize(each, form, 3, **settings) for each in (data, X))
    np.testing.assert_allclose(found.objective, expected.objective, rtol=0.05)


def test_sample_weights_of_data_in_files(rng, tmp_path):
    X, weights = rng.random((40, 3)) @ rng.random((3, 12)) + 0.01 * rng.random((40, 12)), rng.integers(0, 4, 40)
    np.save(tmp_path / "X.npy", X)
    for estimator in (nonneg.NMF(3, random_state=0), nonneg.OPNMF(3, random_state=0)):
        expected = clone(estimator).fit(X, sample_weight=weights)
        found = clone(estimator).fit(nonneg.open_data(tmp_path / "X.npy", block_bytes=3000), sample_weight=weights)
        np.testing.assert_allclose(found.objective_, expected.objective_, rtol=0.05)


# ---- what cannot be


def test_bad_weights(X):
    for weights, message in (
        (-np.ones((9, 6)), "must not be negative; 54 of them"),
        (np.full((9, 6), np.nan), "must be finite"),
        (np.ones((6, 9)), r"must have the shape of X, \(9, 6\)"),
        ((np.ones(6), None), "rows must be an array of 9 numbers"),
        (np.full((9, 6), "a"), "must be numbers"),
        (np.zeros((9, 6)), "nothing to approximate"),
        (sparse.csr_array((9, 6)), "nothing to approximate"),
    ):
        with pytest.raises(DataError, match=message):
            factorize(X, "W H", 2, weights=weights)


def test_bad_data(X, known):
    holes = np.where(known, X, np.nan)
    with pytest.raises(DataError, match="missing='ignore'"):
        factorize(holes, "W H", 2)
    with pytest.raises(DataError, match="have a weight"):
        factorize(holes, "W H", 2, weights=np.random.default_rng(0).random(X.shape) + 0.1)
    with pytest.raises(DataError, match="'raise' or 'ignore'"):
        factorize(X, "W H", 2, missing="drop")
    with pytest.raises(DataError, match="nothing to approximate"):
        factorize(np.full((3, 3), np.nan), "W H", 2, missing="ignore")
    with pytest.raises(DataError, match="not finite"):
        factorize(np.where(known, X, np.inf), "W H", 2, missing="ignore")
    with pytest.raises(DataError, match="negative"):
        factorize(np.where(known, -X, np.nan), "W H", 2, missing="ignore")
    with pytest.raises(DataError, match="stored twice"):
        factorize(Observed(sparse.coo_array((np.ones(2), ([0, 0], [0, 0])), shape=(3, 3))), "W H", 1)
    with pytest.raises(DataError, match="sparse array"):
        Observed(X)
    with pytest.raises(DataError, match="give Observed"):
        factorize(sparse.csr_array(holes), "W H", 2, missing="ignore")
    with pytest.raises(DataError, match="Gram"):
        factorize(nonneg.Gram(X @ X.T), "W W.T X", 2, weights=(np.ones(9), None))
    with pytest.raises(IncompatibleError, match="compares no entries"):
        factorize(np.where(np.eye(4) > 0, np.nan, 1.0), Model("W.T X W", "trace"), 2, missing="ignore")
    with pytest.raises(IncompatibleError, match="may be negative"):
        factorize(holes, "F G.T", 2, constraints={"F": "signed"}, missing="ignore")


@pytest.mark.parametrize("form", ["W H", "W S H", "X W W.T"])
@pytest.mark.parametrize("divergence", [2, 1, 0])
def test_unobserved_rows_have_zero_codes(X, known, form, divergence):
    holes = np.where(known, X, np.nan)
    holes[3], holes[:, 4] = np.nan, np.nan
    solution = factorize(holes, form, 2, divergence=divergence, missing="ignore", random_state=0, max_iter=30)
    found = solution.reconstruct()
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[:, 4], 0.0, atol=1e-12)
    rest = np.delete(np.delete(holes, 3, 0), 4, 1)
    assert np.isfinite(rest).any()


def test_weights_read(X):
    assert isinstance(read_weights(np.outer(np.arange(1, 10), np.ones(6)), X.shape, "X"), Pair)
    assert isinstance(read_weights(np.outer(np.ones(9), np.arange(1, 7)), X.shape, "X"), Pair)
    assert not isinstance(read_weights(np.arange(54.0).reshape(9, 6), X.shape, "X"), Pair)
    assert not read_data(read_weighted(X, weights=np.ones(X.shape))).costs.weighted
    assert isinstance(read_weighted(observed(X, X > 0)), type(read_data(sparse.csr_array(X))))
    assert FilledData.__doc__


# ---- what is hidden, and what is mostly missing


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rest", [0.0, 0.1])
def test_a_feature_without_a_value_is_zero(seed, rest):
    """All products less those of what is missing leave rounding there, of which no quotient is to be taken."""
    generator = np.random.default_rng(seed)
    X = generator.gamma(1, size=(200, 4)) @ generator.gamma(0.5, size=(4, 26))
    X[generator.random(X.shape) < rest] = np.nan
    X[:, 2], X[1:, 3], X[0, 3] = np.nan, np.nan, 1.0
    model = nonneg.NMF(8, missing="ignore", random_state=seed).fit(X)
    assert model.status_ == "converged"
    assert np.isfinite(model.factors_["W"]).all()
    assert not model.components_[:, 2].any()
    assert model.inverse_transform(model.transform(X))[0, 3] == pytest.approx(1.0, rel=0.2)


@pytest.mark.parametrize("estimator", ["OPNMF", "ONMF"])
@pytest.mark.parametrize("how", ["exact", 0.3, 1.0])
@pytest.mark.parametrize("kind", ["hidden", "any", "features"])
def test_zero_weights_do_not_count_for_partitions(estimator, how, kind, rng):
    parts = np.kron(np.eye(3), np.ones((1, 4)))
    X, hidden = rng.random((40, 3)) @ parts, rng.random((40, 12)) < 0.25
    weights = {
        "hidden": 1.0 * ~hidden,
        "any": np.where(hidden, 0, rng.random(X.shape) + 0.5),
        "features": (None, rng.random(12) + 0.5),
    }
    found = []
    for value in (0.0, 1000.0):
        given = X if kind == "features" else np.where(hidden, value, X)
        found.append(getattr(nonneg, estimator)(3, orthogonality=how, random_state=0).fit(given, weights=weights[kind]))
    np.testing.assert_array_equal(found[0].components_, found[1].components_)
    labels = found[0].components_.argmax(axis=0).reshape(3, 4)
    assert (labels == labels[:, :1]).all()
    assert len(np.unique(labels)) == 3


@pytest.mark.filterwarnings("ignore::nonneg.exceptions.EmptySamplesWarning")
@pytest.mark.parametrize("noise", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("is_whole", [True, False], ids=["whole fit", "gaps in the fit"])
@pytest.mark.parametrize("is_stored", [True, False], ids=["Observed", "NaN"])
def test_components_without_an_observed_feature_have_their_mean(noise, is_whole, is_stored, rng):
    X = rng.random((40, 3)) @ np.kron(np.eye(3), np.ones((1, 4))) + noise * rng.random((40, 12)) + 0.01
    given = X.copy()
    if not is_whole:
        given[rng.random(X.shape) < 0.1] = np.nan
    model = nonneg.OPNMF(3, missing="ignore", random_state=0).fit(given)
    mean = model._mean_code
    new = X[:3].copy()
    new[0, :4], new[1] = np.nan, np.nan

    def codes(new):
        return model.transform(Observed(sparse.csr_array(np.nan_to_num(new))) if is_stored else new)

    found, which = codes(new), model.components_[:, 0].argmax()
    assert found[0, which] == pytest.approx(mean[which])
    np.testing.assert_allclose(found[1], mean)
    np.testing.assert_allclose(codes(new[1:2])[0], mean, rtol=1e-6)
    np.testing.assert_allclose(found[2], model.transform(X[2:3])[0], rtol=1e-4)


def test_as_many_components_as_features(rng):
    X = rng.random((12, 4)) + 0.1
    X[rng.random(X.shape) < 0.2] = np.nan
    model = nonneg.OPNMF(4, missing="ignore", random_state=0, max_iter=50).fit(X)
    codes, known = model.transform(X), ~np.isnan(X)
    assert np.isfinite(codes).all()
    np.testing.assert_allclose(codes[known], X[known])


@pytest.mark.parametrize("divergence", ["itakura-saito", "dual-i"])
@pytest.mark.parametrize("name", ["PNMF", "OPNMF"])
def test_missing_entries_are_no_zeros_to_a_stream(name, divergence):
    values = np.array([[1.0, 2, 3, 0], [2, 0, 4, 1], [1, 1, 0, 3], [3, 1, 2, 2]])
    stored, dense = Observed(sparse.csr_array(values)), np.where(values > 0, values, np.nan)
    model = getattr(nonneg, name)(2, divergence=divergence, random_state=0)
    expected = clone(model).set_params(missing="ignore").fit(dense).objective_
    assert model.fit(stored).objective_ == pytest.approx(expected, rel=1e-6)
    assert np.isfinite(model.partial_fit(np.where(values > 0, values, 1.0)).components_).all()


# ---- weights that are made up for


HEAVY = {
    "uniform": lambda g, shape: g.uniform(0.2, 3, shape),
    "lognormal": lambda g, shape: g.lognormal(0, 1.5, shape),
    "Pareto": lambda g, shape: g.pareto(1.1, shape) + 0.01,
    "a few of twenty": lambda g, shape: np.where(g.random(shape) < 0.03, 20.0, 1.0),
}


@pytest.mark.parametrize("tail", HEAVY)
def test_orthogonal_parts_with_weights_never_rise(tail):
    """As without weights: there the rule of these parts does not raise the objective, which no theorem says of others."""
    for seed in range(2):
        generator = np.random.default_rng(seed)
        parts = np.kron(np.eye(4), np.ones((1, 8))) * generator.uniform(0.5, 1.5, (4, 32))
        X = generator.gamma(1.0, 1.0, (50, 4)) @ parts + 0.3 * generator.random((50, 32))
        weights = HEAVY[tail](generator, X.shape)
        settings = {"constraints": {"H": "orthogonal-rows"}, "solver": "multiplicative", "init": "random", "random_state": seed}
        settings |= {"max_iter": 100, "tol": 0, "check_every": 1}
        plain, found = (factorize(X, "W H", 4, weights=own, **settings) for own in (None, weights))
        assert_monotone(plain)
        assert_monotone(found)
        assert found.objective == pytest.approx(np.sum(weights * (X - found.reconstruct()) ** 2) / 2, rel=1e-6)
        assert orthogonality_error(found.factors["H"].T) < 0.35


class Reflection(Multiplicative):
    """Leads as far beyond the data as X̂ was away from them: their objective stays what it was, without weights."""

    def step(self, point, state):
        data = point.problem.data.itself()
        return point.with_factor("W", np.maximum(2 * data - point.factors["W"], 0.0))


@pytest.mark.parametrize("tail", HEAVY)
def test_a_step_that_goes_too_far_for_weights_is_taken_with_less_of_them(tail):
    X = np.random.default_rng(0).uniform(1, 1.2, (30, 6))
    weights = HEAVY[tail](np.random.default_rng(1), X.shape)
    start = {"W": np.random.default_rng(2).uniform(1, 1.2, X.shape), "H": np.eye(6)}
    found = factorize(
        X,
        "W H",
        constraints={"H": "orthogonal-rows"},
        weights=weights,
        init=start,
        solver=Reflection(),
        max_iter=3,
        tol=0,
        check_every=1,
    )
    before = np.sum(weights * (X - start["W"]) ** 2) / 2
    assert found.history[0].objective == pytest.approx(before), "what is made up is of the start"
    assert found.history[1].objective <= before * (1 + 1e-9)
    assert_monotone(found)


def test_the_largest_weight_is_known():
    X, V = np.ones((4, 3)), np.random.default_rng(0).uniform(0.1, 5, (4, 3))
    for data in (X, sparse.csr_array(X)):
        assert largest(read_weighted(data, weights=V).weights) == pytest.approx(V.max())
        assert largest(read_weighted(data, weights=(V[:, 0], V[0])).weights) == pytest.approx(V[:, 0].max() * V[0].max())
    assert largest(read_weighted(np.where(V > 4, np.nan, X), missing="ignore").weights) == 1


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_the_approximation_of_hidden_rows_does_not_matter():
    """It is far from the data, where a high power of a quotient overflows."""
    rows, columns = np.array([3.0, 0.0, 1.0]), np.array([2.0, 1.0])
    options = {"init": {"W": np.array([[1.1], [0.8]])}, "solver": "multiplicative", "max_iter": 2, "check_every": 1}
    pair, full = (
        nonneg.factorize(np.ones((3, 2)), "X W W.T", divergence=nonneg.divergences.Beta(-1), weights=weights, **options)
        for weights in ((rows, columns), np.outer(rows, columns))
    )
    np.testing.assert_allclose(full.history.objective, pair.history.objective, rtol=1e-9)  # sums in another order


@pytest.mark.parametrize("weights", [None, "entries"])
def test_observed_in_single_precision_stays_there(weights):
    """In other units, as entries of very different size are, and with weights made one on average."""
    generator = np.random.default_rng(0)
    X = np.exp(5 * generator.standard_normal((14, 16))).astype(np.float32) * (generator.random((14, 16)) < 0.6)
    values = sparse.csr_array(X.astype(np.float32))
    V = None if weights is None else np.random.default_rng(1).uniform(0.5, 1.5, X.shape)
    for form, constraints in (("X W W.T", {}), ("W H", {"H": "orthogonal-rows"})):
        found = nonneg.factorize(nonneg.Observed(values), form, 2, constraints=constraints, weights=V, random_state=0, max_iter=3)
        assert all(factor.dtype == np.float32 for factor in found.factors.values())
        assert np.isfinite(found.objective)


@pytest.mark.filterwarnings("ignore::nonneg.exceptions.EmptySamplesWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fills_of_nearly_zero_do_not_lead_astray():
    """One entry is known: coordinate descent divides rounding by rounding in what is filled beside it."""
    X = sparse.csr_array(([2.4966356051336107], ([0], [2])), shape=(2, 3))
    model = nonneg.BiQNMF(2, max_iter=60, random_state=0, divergence="euclidean").fit(nonneg.Observed(X))
    assert np.diff(model.history_.objective).max() <= 1e-12
    assert model.objective_ <= 1e-12
