import numpy as np
import pytest
from scipy import sparse

import nonneg
from data.test_reading import KINDS, Table
from nonneg import Gram, Model, factorize
from nonneg.constraints import get_constraint
from nonneg.divergences import Alpha, Beta, Gamma, Renyi
from nonneg.exceptions import DataError, ExpressionError, IncompatibleError, ShapeError

pytestmark = pytest.mark.wide(one_in=10)


W = np.random.default_rng(1).random((6, 2))


@pytest.mark.parametrize(
    ("form", "kwargs", "error", "match"),
    [
        ("W * H", {}, ExpressionError, "Cannot read"),
        ("X", {}, ExpressionError, "nothing to learn"),
        ("W W.T", {}, ShapeError, r"cannot approximate X of shape \(6, 5\)"),
        ("W H", {"rank": None}, ShapeError, "give rank="),
        ("W H", {"rank": 0}, ShapeError, "at least 1"),
        ("W H", {"rank": 3, "init": {"W": W}}, ShapeError, "rank = 3.*the W that is given has 2 columns"),
        ("W H", {"init": {"W": W[:4]}}, ShapeError, "the W that is given has 4 rows"),
        ("W H", {"rank": 7, "constraints": {"W": "orthogonal"}}, ShapeError, "7 orthonormal columns do not fit into 6 rows"),
        ("W H", {"divergence": "foo"}, IncompatibleError, "Unknown divergence 'foo'"),
        ("W H", {"constraints": {"W": "foo"}}, IncompatibleError, "Unknown constraint 'foo'"),
        ("W H", {"solver": "foo"}, IncompatibleError, "Unknown solver 'foo'"),
        ("W H", {"init": "foo"}, IncompatibleError, "Unknown init 'foo'"),
        ("W H", {"init": {"Q": W}}, IncompatibleError, "'Q', which is not a factor of 'W H'. Its factors: W, H"),
        ("W H", {"init": {"X": W}}, IncompatibleError, "'X', which is not a factor"),
        ("W H", {"constraints": {"W": "fixed"}}, IncompatibleError, r"W is fixed but has no value: pass init=\{'W': array\}"),
        ("W H", {"init": {"W": -W}}, DataError, r"init\['W'\] has 12 negative entries"),
        ("W H", {"init": {"W": W * np.nan}}, DataError, r"init\['W'\] has 12 entries that are not finite"),
        ("W H", {"init": {"W": 0 * W}}, DataError, r"init\['W'\] is zero everywhere.*cannot leave zero"),
        ("W H", {"init": {"W": W[0]}}, DataError, r"init\['W'\] must be a matrix.*got 1 dimension"),
        ("W H", {"init": {"W": W * 1j}}, DataError, r"init\['W'\] is complex"),
        ("W H", {"init": {"W": None}}, DataError, r"init\['W'\] must be a matrix"),
        ("W H", {"tol": -1}, IncompatibleError, "tol must be"),
        ("W H", {"max_iter": -1}, IncompatibleError, "max_iter must be"),
        ("W H", {"check_every": 0}, IncompatibleError, "check_every must be"),
        (Model("W H"), {"divergence": "euclidean"}, IncompatibleError, "A Model has its divergence and constraints already"),
        (Model("W H"), {"constraints": {}}, IncompatibleError, "A Model has its divergence and constraints already"),
        ("W.T X W", {"divergence": "trace"}, DataError, r"square and symmetric here; its shape is \(6, 5\)"),
    ],
)
def test_bad_arguments_are_explained_before_any_step(form, kwargs, error, match, X):
    with pytest.raises(error, match=match):
        factorize(X, form, **{"rank": 2, "callback": lambda _: pytest.fail("work has begun"), **kwargs})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("divergence", ["itakura-saito", "dual-i", "neyman", Beta(-1), Gamma(-2)], ids=str)
def test_zeros_are_refused_if_the_divergence_is_infinite_there(kind, divergence, X):
    X[1, 1] = 0
    with pytest.raises(DataError, match=r"X has 1 zero entry, where this divergence is infinite"):
        factorize(KINDS[kind](X), "W H", 2, divergence=divergence)


@pytest.mark.parametrize("divergence", [Gamma(1), Gamma(0), Renyi(2)], ids=str)
def test_nothing_to_normalise(divergence):
    with pytest.raises(DataError, match=r"zero everywhere.*0/0"):
        factorize(np.zeros((3, 3)), "W H", 1, divergence=divergence)


ZEROS_ALLOWED = [Beta(2), Beta(1), Beta(0.5), Beta(3), Alpha(0.5), Alpha(2), Gamma(1), Gamma(0), Gamma(-0.5), Renyi(2), Renyi(0.5)]


def with_zero_lines(rng):
    X = rng.random((7, 6)) + 0.1
    X[[0, 3]], X[:, 4] = 0, 0
    return X


EDGES = {
    "zero rows and columns": with_zero_lines,
    "one zero column": lambda rng: rng.random((5, 4)) * [1, 0, 1, 1],
    "constant": lambda rng: np.full((5, 4), 3.0),
    "1 × 1": lambda rng: np.array([[2.0]]),
    "1 × n": lambda rng: rng.random((1, 5)),
    "m × 1": lambda rng: rng.random((5, 1)),
    "identity": lambda rng: np.eye(4),
}


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("form", ["W H", "W W.T X", "W S H"])
@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("divergence", ZEROS_ALLOWED, ids=str)
def test_edges(kind, form, edge, divergence, pick_solver, rng):
    """Rank 3 is often more than there are rows or columns. Zero lines stay zero; warnings are errors."""
    X = EDGES[edge](rng)
    solver = pick_solver(Model(form, divergence), X, 3)
    solution = factorize(
        KINDS[kind](X), form, 3, divergence=divergence, solver=solver, random_state=0, max_iter=60 if edge != "m × 1" else 200
    )
    approximation = solution.reconstruct()
    assert np.all(np.isfinite(approximation))
    assert np.isfinite(solution.objective)
    assert solution.status != "non_finite"
    empty = (X.sum(axis=1, keepdims=True) == 0) | (X.sum(axis=0, keepdims=True) == 0)
    assert np.all(approximation[empty] < 1e-2 * X.max())
    if edge in ("constant", "1 × 1", "1 × n", "m × 1") and solver != "multiplicative":
        np.testing.assert_allclose(approximation, X, rtol=0.05)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("form", ["W H", "W W.T X", "W S H"])
@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Beta(0.5), Alpha(2)], ids=str)
def test_zero_is_approximated_by_zero(kind, form, divergence, pick_solver):
    X = KINDS[kind](np.zeros((4, 3)))
    solver = pick_solver(Model(form, divergence), X, 2)
    solution = factorize(X, form, 2, divergence=divergence, solver=solver, random_state=0)
    assert np.all(np.abs(solution.reconstruct()) < 1e-6)
    assert solution.objective == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("constraint", ["orthogonal", "stochastic", "stochastic-rows", "stochastic-matrix"])
@pytest.mark.parametrize("edge", [edge for edge in EDGES if edge not in ("1 × 1", "1 × n")])
def test_edges_under_constraints(constraint, edge, divergence, rng):
    X = EDGES[edge](rng) + 0.01 * divergence.requires_positive_data
    solution = factorize(X, "W H", 1, divergence=divergence, constraints={"W": constraint}, random_state=0, max_iter=40)
    assert np.isfinite(solution.objective)
    assert np.all(np.isfinite(solution.reconstruct()))
    if constraint != "orthogonal":
        assert get_constraint(constraint).violation(np, solution.factors["W"]) < 1e-10


@pytest.mark.parametrize(
    "convert",
    [
        np.ndarray.tolist,
        Table,
        np.asfortranarray,
        lambda X: X.view(np.matrix),
        lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
        np.ma.masked_array,
        lambda X: X.astype(object),
        lambda X: np.int64(X),
        lambda X: X.astype(np.uint8),
        lambda X: X.astype(">f8"),
    ],
)
def test_every_kind_of_matrix_gives_the_same(convert, rng):
    X = np.floor(9 * rng.random((6, 5)))
    expected = factorize(X, "W H", 2, random_state=0, max_iter=20)
    solution = factorize(convert(X), "W H", 2, random_state=0, max_iter=20)
    for name, factor in solution.factors.items():
        assert type(factor) is np.ndarray
        np.testing.assert_allclose(factor, expected.factors[name], rtol=1e-9)


def test_truth_values_are_numbers(rng):
    X = rng.random((6, 5)) > 0.5
    one, other = (factorize(X.astype(dtype), "W H", 2, random_state=0, max_iter=20) for dtype in (bool, float))
    np.testing.assert_array_equal(one.reconstruct(), other.reconstruct())


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_matrix, sparse.dok_array])
@pytest.mark.parametrize("divergence", ["euclidean", "i-divergence"])
def test_sparse_is_dense_with_holes(make, divergence, rng):
    X = rng.random((8, 7))
    X[X < 0.6] = 0
    dense, thin = (
        factorize(kind(X), "W H", 2, divergence=divergence, random_state=0, max_iter=20, solver="adaptive")
        for kind in (np.asarray, make)
    )
    np.testing.assert_allclose(thin.reconstruct(), dense.reconstruct(), rtol=1e-8)
    assert thin.objective == pytest.approx(dense.objective)


@pytest.mark.parametrize("form", ["W H", "W W.T X", "W S H"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_input_is_never_changed(form, kind, divergence, X):
    """Nor need it be writeable, nor what is given as a start."""
    given, start = KINDS[kind](X), {"W": W.copy()}
    start["W"][0, 0] = 0
    arrays = [start["W"], *([given] if kind == "dense" else [given.data, given.indices, given.indptr])]
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    factorize(given, form, 2, divergence=divergence, init=start, max_iter=3, random_state=0)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_sparse_input_keeps_its_duplicates_and_zeros():
    values, columns, rows = np.array([1.0, 2, 0, 4]), np.array([2, 2, 0, 1]), np.array([0, 3, 4])
    X = sparse.csr_array((values, columns, rows), shape=(2, 3))
    solution = factorize(X, "W H", 2, divergence=1, random_state=0, max_iter=200)
    np.testing.assert_array_equal(X.data, [1, 2, 0, 4])
    np.testing.assert_array_equal(X.indices, [2, 2, 0, 1])
    np.testing.assert_allclose(solution.reconstruct(), [[0, 0, 3], [0, 4, 0]], atol=1e-2)


def test_seeds(X):
    first, same, other = (factorize(X, "W H", 2, init="random", random_state=seed, max_iter=5).factors["W"] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert not np.allclose(first, other)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, np.ndarray.tolist], ids=["dense", "sparse", "list"])
def test_fixed_factors_stay(convert, X):
    solution = factorize(X, "W H", constraints={"W": "fixed"}, init={"W": convert(W)}, max_iter=500, tol=1e-9, random_state=0)
    returned = solution.factors["W"]
    np.testing.assert_array_equal(returned.toarray() if sparse.issparse(returned) else returned, W)
    assert np.all(solution.factors["H"] >= 0)
    assert solution.model.learned == ("H",)


@pytest.mark.parametrize("divergence", ["euclidean", "i-divergence"])
def test_sparse_fixed_factors_with_sparse_data(divergence, X):
    kwargs = {"divergence": divergence, "constraints": {"W": "fixed"}, "max_iter": 5, "random_state": 0}
    dense = factorize(X, "W H", init={"W": W}, **kwargs)
    thin = factorize(sparse.csr_array(X), "W H", init={"W": sparse.csr_array(W)}, **kwargs)
    np.testing.assert_allclose(thin.factors["H"], dense.factors["H"])


def test_kernels_give_the_factors_of_their_data(X):
    """K = X Xᵀ is all that W Wᵀ X needs to know of X."""
    init = {"W": W}
    kernel, data = (factorize(given, "W W.T X", init=init, max_iter=50, tol=0) for given in (Gram(X @ X.T), X))
    np.testing.assert_allclose(kernel.factors["W"], data.factors["W"], rtol=1e-6)
    assert kernel.objective == pytest.approx(data.objective)


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_trace_of_a_non_negative_matrix(scale, X):
    S = scale * X @ X.T
    solution = factorize(S, "W.T X W", 1, divergence="trace", constraints={"W": "orthogonal"}, random_state=0, tol=1e-9)
    assert solution.objective == pytest.approx(np.linalg.eigvalsh(S)[-1], rel=1e-3)


@pytest.mark.parametrize(("sign", "which"), [(1, "negative"), (-1, "positive")])
def test_a_trace_without_a_constraint_needs_both_signs(sign, which, X):
    with pytest.raises(DataError, match=f"X has no {which} entries.*Constrain the factor to be 'orthogonal'"):
        factorize(sign * X @ X.T, "W.T X W", 2, divergence="trace")


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_fixed_factors_that_cannot_reach_the_data(kind, X):
    A = np.eye(6, 2)
    with pytest.raises(DataError, match="With the A that is given, A H is zero in 20 places where X is not"):
        factorize(KINDS[kind](X), "A H", constraints={"A": "fixed"}, init={"A": A}, divergence="i-divergence")
    assert factorize(KINDS[kind](X), "A H", constraints={"A": "fixed"}, init={"A": A}, random_state=0).status == "converged"


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_start_of_another_scale_is_no_warning_of_numpys():
    start = {"W": np.full((2, 1), 0.5), "H": np.full((1, 3), 1e6)}
    solution = nonneg.factorize(np.full((2, 3), 1e-150), "W H", init=start, solver="multiplicative", max_iter=30)
    assert solution.status == "non_finite" or np.isfinite(solution.objective)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_an_objective_beyond_any_number_is_no_warning_of_numpys():
    """A run may end where X̂ is nearly zero, and (X/X̂)² overflows: the objective is looked at once more there."""
    solver, constraints = nonneg.solvers.Multiplicative(exponent=1), {"W": "orthogonal", "H": "orthogonal"}
    X, divergence = np.full((1, 1), 1e300), nonneg.divergences.Renyi(2)
    solution = factorize(X, "W H", 1, divergence=divergence, constraints=constraints, solver=solver, max_iter=30, random_state=0)
    assert solution.status == "non_finite"
