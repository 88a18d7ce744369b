"""Every named start, for every form and every kind of data."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import block_diag
from sklearn.decomposition._nmf import _initialize_nmf

from nonneg import NMF, Gram, Model, factorize
from nonneg.constraints import Orthogonal
from nonneg.data.reading import read_data
from nonneg.exceptions import IncompatibleError
from nonneg.solve.initialization import NAMES, initial_factors
from nonneg.solve.initialization.clusters import angular
from nonneg.solve.initialization.items import Items, leading_singular
from nonneg.solve.initialization.nndsvd import nndsvd, nndsvda, nndsvdar
from nonneg.solve.initialization.sides import SMOOTHING, made_by
from nonneg.solve.signature import infer_shapes
from tests.problems import problem_of

pytestmark = pytest.mark.wide(one_in=6)


FORMS = {
    "W H": (3, {"W": (8, 3), "H": (3, 7)}),
    "H.T W.T": (3, {"H": (3, 8), "W": (7, 3)}),
    "W W.T X": (3, {"W": (8, 3)}),
    "X W W.T": (3, {"W": (7, 3)}),
    "W S H": ((3, 4), {"W": (8, 3), "S": (3, 4), "H": (4, 7)}),
    "W W.T": (3, {"W": (8, 3)}),
    "W B W.T": (3, {"W": (8, 3), "B": (3, 3)}),
    "L L.T X R R.T": ((3, 2), {"L": (8, 3), "R": (7, 2)}),
}
DATA = {
    "positive": lambda X: X,
    "holes": lambda X: X * (X > 0.5) * (np.arange(8) != 3)[:, None] * (np.arange(X.shape[1]) != 2),
    "zero": lambda X: 0 * X,
    "alike": lambda X: np.ones_like(X),
}
KINDS = {
    "dense": np.asarray,
    "sparse": sparse.csr_array,
    "float32": lambda X: X.astype(np.float32),
}


def data(form, kind="dense", name="positive"):
    X = np.random.default_rng(0).random((8, 7)) + 0.1
    X = DATA[name](X)
    X = X @ X.T if form in ("W W.T", "W B W.T") else X
    return KINDS[kind](X)


def start(X, form, rank, init, seed=0, **options):
    return factorize(X, form, rank, init=init, random_state=seed, max_iter=0, **options)


def items(X, axis=0):
    return Items(read_data(X), axis)


def same(first, second):
    return all(np.array_equal(first.factors[name], second.factors[name]) for name in first.factors)


@pytest.mark.parametrize("init", NAMES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", DATA)
def test_factors_are_positive_finite_and_of_the_right_shape(init, form, name):
    rank, shapes = FORMS[form]
    for kind in KINDS:
        X = data(form, kind, name)
        solution = start(X, form, rank, init)
        dtype = np.float32 if "float32" in kind else np.float64
        assert {factor: F.shape for factor, F in solution.factors.items()} == shapes
        for F in solution.factors.values():
            assert F.dtype == dtype
            assert np.all(np.isfinite(F) & (F > 0))
        if kind == "dense":
            assert same(solution, start(X, form, rank, init))


@pytest.mark.parametrize("init", NAMES)
@pytest.mark.parametrize("form", ["W H", "W W.T X", "W S H"])
def test_sparse_is_dense(init, form):
    rank, _ = FORMS[form]
    dense, stored = (start(data(form, kind, "holes"), form, rank, init) for kind in ("dense", "sparse"))
    for name, F in dense.factors.items():
        np.testing.assert_allclose(stored.factors[name], F, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("init", NAMES)
def test_a_gram_matrix_will_do(init):
    X = data("W W.T X")
    solution = start(Gram(X @ X.T), "W W.T X", 3, init)
    assert solution.factors["W"].shape == (8, 3)
    assert np.all(solution.factors["W"] > 0)


@pytest.mark.parametrize("init", ["random", "nndsvdar"])
def test_another_seed_another_start(init):
    X = data("W H", name="holes")
    assert not same(start(X, "W H", 3, init), start(X, "W H", 3, init, seed=1))


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
@pytest.mark.parametrize("init", NAMES)
def test_a_start_has_the_scale_of_the_data(init, scale):
    X = data("W H")
    ordinary, extreme = (start(by * X, "W H", 3, init).reconstruct() for by in (1.0, scale))
    np.testing.assert_allclose(extreme / scale, ordinary, rtol=1e-6)


@pytest.mark.parametrize("init", ["random", "nndsvd", "nndsvda", "nndsvdar"])
@pytest.mark.parametrize("form", FORMS)
def test_more_components_than_singular_vectors(init, form):
    solution = start(data(form), form, 11, init)
    assert all(np.all(np.isfinite(F) & (F > 0)) for F in solution.factors.values())
    assert 11 in next(iter(solution.factors.values())).shape


@pytest.mark.parametrize("init", ["kmeans", "angular"])
@pytest.mark.parametrize(("form", "whose", "items"), [("W H", "W", 8), ("X W W.T", "W", 7), ("L L.T X R R.T", "L", 8)])
def test_more_clusters_than_items(init, form, whose, items):
    with pytest.raises(
        IncompatibleError,
        match=rf"init='{init}' cannot make the 11 clusters that {whose} asks for out of {items} items. Lower the rank, or start at",
    ):
        start(data(form), form, 11, init)


class TestNNDSVD:
    @pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
    def test_it_is_scikit_learns(self, store):
        """Where theirs is positive; their zeros are our thousandth of the mean."""
        X = np.random.default_rng(0).random((20, 12)) + 0.1
        W, H = _initialize_nmf(store(X), 5, init="nndsvd", random_state=0)
        own, facing = nndsvd(items(store(X)), 5, 0, "W")
        for ours, theirs in ((own, W), (facing.T, H)):
            positive = theirs > 1e-5 * theirs.max()
            assert 0.3 < positive.mean() < 1
            np.testing.assert_allclose(ours[positive], theirs[positive], rtol=1e-6)
            np.testing.assert_allclose(ours[~positive], 1e-3 * theirs.mean(), rtol=1e-3)

    def test_zeros_become_small(self):
        X = np.random.default_rng(0).random((20, 12)) + 0.1
        W, _ = _initialize_nmf(X, 5, init="nndsvd", random_state=0)
        zero = 1e-5 * W.max() >= W
        np.testing.assert_allclose(nndsvda(items(X), 5, 0, "W")[0][zero], W.mean(), rtol=1e-3)
        noise = nndsvdar(items(X), 5, 0, "W")[0][zero]
        assert 0 < noise.min() < noise.max() <= 0.01 * W.mean() * 1.001
        assert len(np.unique(noise)) == noise.size

    def test_in_a_factorization_both_are_scaled_alike(self):
        """W and H of a start are NNDSVD's times one number each, the same for all entries."""
        X = np.random.default_rng(0).random((20, 12)) + 0.1
        seed = int(np.random.default_rng(3).uniform() * 2**31)
        own, facing = nndsvd(items(X), 4, seed, "W")
        factors = start(X, "W H", 4, "nndsvd", seed=3).factors
        for ours, made in ((factors["W"], own), (factors["H"], facing.T)):
            np.testing.assert_allclose(ours / made, (ours / made)[0, 0], rtol=1e-8)

    def test_better_than_random(self):
        X = np.random.default_rng(0).random((30, 3)) @ np.random.default_rng(1).random((3, 20))
        assert start(X, "W H", 3, "nndsvd").objective < 0.5 * start(X, "W H", 3, "random").objective


def lines(seed=0):
    """Rows that are multiples of three directions which have nothing in common; the direction of each row, and the multiples."""
    rng = np.random.default_rng(seed)
    directions = np.kron(np.eye(3), np.ones(4)) * rng.uniform(0.5, 1.5, 12)
    labels = rng.permutation(np.repeat(range(3), [5, 10, 15]))
    sizes = rng.uniform(0.1, 10, 30)
    return sizes[:, None] * directions[labels], labels, directions, sizes


class TestAngular:
    @pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
    @pytest.mark.parametrize("seed", range(3))
    def test_planted_directions_are_found(self, store, seed):
        X, labels, directions, sizes = lines(seed)
        own, facing = angular(items(store(X)), 3, seed, "W")
        own, facing = own - own.min(), facing - facing.min()  # less what is added so that nothing is zero
        order = [own[labels == k].sum(axis=0).argmax() for k in range(3)]
        assert sorted(order) == [0, 1, 2]
        for k, column in enumerate(order):
            expected = np.where(labels == k, sizes, 0.0)
            np.testing.assert_allclose(own[:, column], expected / np.linalg.norm(expected), atol=1e-9)
            direction = directions[k] * np.linalg.norm(expected)
            np.testing.assert_allclose(facing[:, column], direction, atol=1e-9 * direction.max())
        np.testing.assert_allclose(own @ facing.T, X, atol=1e-8 * X.max())

    def test_smoothing(self):
        X, *_ = lines()
        for factor in angular(items(X), 3, 0, "W"):
            bare = factor - factor.min()
            assert factor.min() == pytest.approx(SMOOTHING * bare.mean())

    @pytest.mark.parametrize("form", ["W H", "W W.T X", "X W W.T"])
    def test_better_than_random(self, form):
        X, *_ = lines()
        assert start(X, form, 3, "angular").objective < 0.5 * min(start(X, form, 3, "random", seed).objective for seed in range(5))

    def test_length_does_not_matter_as_it_does_to_kmeans(self):
        X, labels, *_ = lines()
        found = angular(items(X), 3, 0, "W")[0].argmax(axis=1)
        assert len(set(zip(labels, found, strict=True))) == 3


def bound(X, form, rank, constraints=None):
    model = Model(form, constraints=constraints)
    return problem_of(model, read_data(X), infer_shapes(model, X.shape, rank, {}), {})


class TestSides:
    def test_the_orthogonal_factor_is_the_clustered_one(self):
        """Of W H, that is W, unless H is to have orthogonal rows."""
        X = data("W H")
        asked = []

        def spy(items, count, seed, whose):
            asked.append((whose, items.shape))
            return np.full((items.shape[0], count), 1.0), np.full((items.shape[1], count), 2.0)

        for constraints, whose, shape in (
            ({}, "W", (8, 7)),
            ({"H": Orthogonal("rows")}, "H", (7, 8)),
            ({"W": "orthogonal"}, "W", (8, 7)),
        ):
            asked.clear()
            made = made_by(spy, bound(X, "W H", 3, constraints), ["W", "H"], np.random.default_rng(0))
            assert asked == [(whose, shape)]
            assert {name: F.shape for name, F in made.items()} == {"W": (8, 3), "H": (3, 7)}
            assert np.all(made[whose] == 1)
            assert np.all(made["H" if whose == "W" else "W"] == 2)

    @pytest.mark.parametrize("form", ["W S H", "H.T S.T W.T"])
    def test_the_middle_is_made_of_block_means(self, form):
        """S_kl = Σ W_ik X_ij H_lj / (Σ_i W_ik Σ_j H_lj), plus a fifth of the mean."""
        X = data("W S H")
        problem = bound(X if form == "W S H" else X.T, form, (3, 4) if form == "W S H" else (4, 3))
        made = made_by(NAMES["kmeans"], problem, list(problem.learned), np.random.default_rng(0))
        W, H = made["W"], made["H"]
        means = (W / W.sum(axis=0)).T @ X @ (H / H.sum(axis=1, keepdims=True)).T
        np.testing.assert_allclose(made["S"], means + SMOOTHING * means.mean(), rtol=1e-12)

    def test_the_middle_of_a_symmetric_form(self):
        K = data("W B W.T")
        made = made_by(NAMES["angular"], bound(K, "W B W.T", 3), ["W", "B"], np.random.default_rng(0))
        A = made["W"] / made["W"].sum(axis=0)
        means = A.T @ K @ A
        np.testing.assert_allclose(made["B"], means + SMOOTHING * means.mean(), rtol=1e-12)

    def test_given_factors_are_kept(self):
        X = data("W H")
        W = np.random.default_rng(1).random((8, 3)) + 0.1
        factors = initial_factors(bound(X, "W H", 3), "kmeans", {"W": W}, 0)
        np.testing.assert_array_equal(factors["W"], W)
        assert factors["H"].shape == (3, 7)

    def test_constraints_are_restored(self):
        X = data("W H")
        for init in NAMES:
            W = start(X, "W H", 3, init, constraints={"W": "unit"}).factors["W"]
            np.testing.assert_allclose(np.linalg.norm(W, axis=0), 1)


class TestItems:
    """What starts see of the data: products, and the rows or columns in few dimensions."""

    @pytest.mark.parametrize("axis", [0, 1])
    @pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
    def test_products_and_sums(self, store, axis):
        X = data("W H", name="holes")
        own = X if axis == 0 else X.T
        M = np.random.default_rng(1).random((own.shape[1], 2))
        found = items(store(X), axis)
        assert (found.shape, found.T.shape) == (own.shape, own.shape[::-1])
        np.testing.assert_allclose(found @ M, own @ M)
        np.testing.assert_allclose(found.T @ (found @ M), own.T @ own @ M)
        np.testing.assert_allclose(found.sums, own.sum(axis=1))

    @pytest.mark.parametrize("axis", [0, 1])
    def test_few_dimensions_keep_distances_of_low_rank_items(self, axis):
        """Of rank 20, in 32 dimensions: nothing is lost but what all items have in the others, which is nothing."""
        generator = np.random.default_rng(0)
        X = generator.random((300, 20)) @ generator.random((20, 200))
        own, found = X if axis == 0 else X.T, items(X, axis).coordinates(3, generator)
        assert found.shape == (len(own), 32)
        np.testing.assert_allclose(found @ found.T, own @ own.T, rtol=1e-9)

    def test_few_numbers_are_taken_as_they_are(self):
        X = data("W H")
        np.testing.assert_array_equal(items(X).coordinates(3, np.random.default_rng(0)), X)

    @pytest.mark.parametrize("scale", [1e-200, 1e200])
    def test_squares_are_numbers_at_every_scale(self, scale):
        X = data("W H")
        found = items(scale * X) @ np.ones((7, 1))
        np.testing.assert_allclose(found / found.max(), X.sum(axis=1, keepdims=True) / X.sum(axis=1).max())
        assert 1e-3 < found.max() < 1e3

    @pytest.mark.parametrize(
        ("shape", "rank"), [((60, 40), 6), ((40, 60), 30), ((8, 7), 6), ((6000, 50), 6), ((6000, 50), 30)], ids=str
    )
    def test_singular_vectors(self, shape, rank):
        """Those of LAPACK, up to sign, where the singular values fall; of long data by Gram matrices, unless these are singular."""
        generator = np.random.default_rng(0)
        U, _ = np.linalg.qr(generator.standard_normal((shape[0], rank)))
        V, _ = np.linalg.qr(generator.standard_normal((shape[1], rank)))
        X, S = U * 2.0 ** -np.arange(rank) @ V.T, 2.0 ** -np.arange(3)
        left, values, right = leading_singular(np.asarray(X), 3, 0)
        np.testing.assert_allclose(values, S)
        np.testing.assert_allclose(np.abs(left.T @ U[:, :3]), np.eye(3), atol=1e-8)
        np.testing.assert_allclose((left * values) @ right, U[:, :3] * S @ V[:, :3].T, atol=1e-8)


class TestFeaturesWithoutData:
    """More features than a search looks at, of which few have any data: the black border of pictures, voxels outside of a mask."""

    @pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_few_of_many(self, store):
        X = np.zeros((50, 3000))
        X[:, :500] = np.random.default_rng(0).random((50, 500))
        wide = factorize(store(X), "X W W.T", 3, random_state=0)
        narrow = factorize(store(X[:, :500]), "X W W.T", 3, random_state=0)
        assert wide.objective == pytest.approx(narrow.objective, rel=0.01)
        assert not wide.factors["W"][500:].any()

    def test_none(self):
        assert factorize(np.zeros((5, 3000)), "X W W.T", 2, random_state=0).objective == 0


@pytest.mark.parametrize("store", [np.asarray, lambda X: sparse.csr_array(X.astype(np.float32))], ids=["dense", "sparse, single"])
@pytest.mark.parametrize("count", [4, 8, 20])
@pytest.mark.parametrize("seed", range(3))
def test_blocks_with_equal_singular_values_are_found(seed, count, store):
    """Their singular vectors may be any mixture of the blocks, from which NMF ended where two blocks are one component."""
    rng = np.random.default_rng(100 * count + seed)
    sides = [[rng.random(rng.integers(1, most)) + 0.1 for most in (9, 7)] for _ in range(count)]
    X = block_diag(*(np.outer(u, v) / np.linalg.norm(u) / np.linalg.norm(v) for u, v in sides))
    X = X[rng.permutation(len(X))][:, rng.permutation(X.shape[1])]
    assert NMF(count, random_state=seed).fit(store(X)).objective_ < 1e-5
