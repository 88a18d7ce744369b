import array_api_strict
import numpy as np
import pytest
from scipy import sparse

from nonneg import Model, factorize
from nonneg.constraints import get_constraint
from nonneg.data.reading import read_data
from nonneg.exceptions import IncompatibleError
from nonneg.kernels.host import above_floor
from nonneg.metrics import purity
from nonneg.solve.initialization import initial_factors, one_hot_clusters
from nonneg.solve.signature import infer_shapes
from tests.problems import problem_of


def problem(X, form="W H", divergence="euclidean", constraints=None, rank=2):
    model = Model(form, divergence, constraints)
    return problem_of(model, read_data(X), infer_shapes(model, X.shape, rank, {}), {})


@pytest.mark.parametrize("make", [lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)])
def test_the_same_seed_gives_the_same_factors(make, X):
    first, second = (initial_factors(problem(X), "random", {}, make()) for _ in range(2))
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])
        assert np.all(first[name] > 0)
    assert not np.allclose(first["W"], initial_factors(problem(X), "random", {}, 4)["W"])


@pytest.mark.parametrize("form", ["W H", "W W.T X", "W S H"])
def test_the_start_is_as_large_as_the_data(form, divergence, X):
    bound = problem(1000 * X, form, divergence)
    assert bound.point(initial_factors(bound, "random", {}, 0)).best_scale() == pytest.approx(1)


@pytest.mark.parametrize("name", ["orthogonal", "stochastic-columns", "stochastic-rows", "stochastic-matrix"])
def test_constrained_factors_start_feasible(name, X):
    W = initial_factors(problem(X, constraints={"W": name}), "random", {}, 0)["W"]
    np.testing.assert_allclose(W, get_constraint(name).restore(np, W))


@pytest.mark.parametrize("random_state", ["a", 1.5, [0], -1])
def test_invalid_seeds(random_state, X):
    with pytest.raises(IncompatibleError, match="random_state must be an int ≥ 0, a Generator"):
        factorize(X, "W H", 2, random_state=random_state)


def test_zeros_that_are_given_can_grow_again(X):
    W = initial_factors(problem(X), "random", {"W": np.eye(6, 2)}, 0)["W"]
    assert 0 < W.min() < 1e-12


def test_given_factors_are_taken_as_they_are(X, rng):
    W = rng.random((6, 2))
    factors = initial_factors(problem(X), "random", {"W": W}, 0)
    np.testing.assert_array_equal(factors["W"], W)
    assert factors["H"].shape == (2, 5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_are_lifted_to_the_floor(dtype):
    factor = np.array([[0, 4], [1, 0]], dtype)
    lifted = above_floor(np, factor)
    assert lifted.min() == pytest.approx(4 * np.finfo(dtype).eps ** 2.0)
    assert lifted.dtype == dtype
    np.testing.assert_array_equal(lifted[factor > 0], factor[factor > 0])


@pytest.mark.parametrize("start", ["svd", 5, None, ["random"], np.ones((6, 2))])
def test_unknown_starts_are_told_the_known_ones(start, X):
    with pytest.raises(
        IncompatibleError,
        match=r"(?s)Unknown init .* Known names: 'auto', 'random', 'nndsvd', .*'coclusters'; or a dict of factors",
    ):
        factorize(X, "W H", 2, init=start)


def test_given_factors_satisfy_their_constraint_from_the_start(X, rng):
    W = factorize(X, "W H", 2, constraints={"W": "stochastic"}, init={"W": rng.random((6, 2))}, max_iter=0).factors["W"]
    np.testing.assert_allclose(W.sum(axis=0), 1)


def planted_blocks(seed):
    """Poisson counts in 4 × 4 blocks, rows and columns shuffled (QNMF §5.2), and the block of each row and column."""
    rng = np.random.default_rng(seed)
    means = rng.choice([1.0, 2, 4, 7], size=(4, 4))
    rows, columns = (rng.permutation(np.repeat(range(4), [20, 30, 60, 90])) for _ in range(2))
    return rng.poisson(means[np.ix_(rows, columns)]).astype(float), rows, columns


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler"])
def test_clusters_leave_the_plateau(divergence, store):
    """Two-way clustering from K-means finds the blocks; from a random start the rule stays on the plateau, "converged"."""
    X, rows, columns = planted_blocks(1)
    found = factorize(store(X), "L L.T X R R.T", 4, divergence=divergence, init="kmeans", random_state=0)
    assert purity(rows, found.factors["L"].argmax(axis=1)) == 1
    assert purity(columns, found.factors["R"].argmax(axis=1)) == 1
    plateau = factorize(store(X), "L L.T X R R.T", 4, divergence=divergence, init="random", random_state=0, solver="adaptive")
    assert plateau.objective > 1.2 * found.objective


@pytest.mark.parametrize(
    ("form", "rank"),
    [("W H", 3), ("H.T W.T", 3), ("W S H", (3, 4)), ("W W.T X", 3), ("A W B W.T C", (4, 3)), ("L L.T X R R.T", (3, 2))],
)
def test_clusters_are_a_start_for_any_form(form, rank, X):
    start = factorize(X, form, rank, init="kmeans", random_state=0, max_iter=0)
    again = factorize(X, form, rank, init="kmeans", random_state=0, max_iter=0)
    random = factorize(X, form, rank, random_state=0, max_iter=0)
    for name, factor in start.factors.items():
        assert factor.shape == random.factors[name].shape
        assert np.all(factor > 0)
        np.testing.assert_array_equal(factor, again.factors[name])
    assert start.objective != random.objective


def test_the_facing_factor_has_the_means_of_clusters(X):
    """From W H with K-means indicators in W, the rows of H are near the means of the clusters: a better start than a random one."""
    starts = [factorize(X, "W H", 3, init=init, random_state=0, max_iter=0).objective for init in ("kmeans", "random")]
    assert starts[0] < starts[1]


def test_indicators_have_no_empty_cluster():
    indicators = one_hot_clusters(np.ones((5, 2)), 3, seed=0)
    assert np.all(indicators.sum(axis=0) > 0)


def test_more_clusters_than_items(X):
    with pytest.raises(IncompatibleError, match=r"cannot make the 99 clusters that W asks for out of \d+ items"):
        factorize(X, "W H", 99, init="kmeans")


@pytest.mark.parametrize("scale", 10.0 ** np.arange(-12, 31, 3))
@pytest.mark.parametrize("blocks", [2, 3, 4])
def test_singular_vectors_of_equal_blocks_are_told_apart(blocks, scale):
    """Any rotation of them would do for a decomposition; one that is halfway between two blocks gives the same component twice."""
    X = np.kron(np.eye(blocks), np.ones((5, 3))) * scale
    start = factorize(X, "W H", blocks, init="nndsvda", random_state=0, max_iter=0, tol=0).factors["W"]
    assert sorted(start.argmax(axis=0) // 5) == list(range(blocks))
    assert factorize(X, Model("W H", "kullback-leibler"), blocks, init="nndsvda", random_state=0).objective <= 1e-6 * X.sum()


def on_device(X):
    return array_api_strict.asarray(X, device=array_api_strict.Device("device1"))


@pytest.mark.parametrize("name", ["nndsvd", "nndsvda", "nndsvdar"])
@pytest.mark.parametrize("shape", [(30, 12), (6, 40)])
def test_singular_vectors_are_found_on_a_device_as_on_the_host(name, shape):
    X, rank = np.random.default_rng(0).random(shape) ** 3, 8 if min(shape) < 8 else 4
    host, device = (initial_factors(problem(Z, rank=rank), name, {}, 0) for Z in (X, on_device(X)))
    for factor in ("W", "H"):
        assert isinstance(device[factor], type(on_device(X)))
        found = np.asarray(device[factor].to_device(array_api_strict.Device("CPU_DEVICE")))
        np.testing.assert_allclose(found, host[factor], rtol=1e-6, atol=1e-9)


def test_equal_blocks_are_found_on_a_device():
    blocks = np.kron(np.eye(4), np.ones((7, 5)))
    W = initial_factors(problem(on_device(blocks), rank=4), "nndsvd", {}, 0)["W"]
    W = np.asarray(W.to_device(array_api_strict.Device("CPU_DEVICE")))
    assert sorted(W.argmax(axis=1)[::7]) == [0, 1, 2, 3]
    assert np.sort(W, axis=1)[:, -2].max() < 0.01 * W.max()
