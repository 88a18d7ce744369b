import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

from nonneg import NMF, Model, Observed
from nonneg.constraints import Sparse, Stochastic, Unit
from nonneg.data import read_weighted
from nonneg.divergences import Alpha, Beta, DualI, Gamma, Renyi
from nonneg.estimators.encoding import encode
from nonneg.testing import assert_kkt, dense_gradient, divergence_value

pytestmark = pytest.mark.wide(one_in=8)


SEPARABLE = [Beta(2), Beta(1), Beta(0), Beta(0.5), Beta(1.5), Beta(3), Alpha(0.5), Alpha(2), DualI()]
INVARIANT = [Gamma(0), Gamma(0.5), Gamma(1), Gamma(-0.5), Gamma(-2), Renyi(0.5), Renyi(2)]


@pytest.fixture
def C(rng):
    return rng.random((3, 7)) * (rng.random((3, 7)) < 0.8) + 0.02


@pytest.fixture
def X(rng):
    return rng.random((10, 7)) + 0.05


def test_least_squares_are_scipys(X, C):
    np.testing.assert_allclose(encode(X, C, Beta(2)), [nnls(C.T, x)[0] for x in X], atol=1e-5)


def test_with_many_components_too(rng):
    C, X = rng.random((20, 40)), rng.random((5, 40))
    codes = encode(X, C, Beta(2), max_iter=10**5)
    expected = np.array([nnls(C.T, x)[0] for x in X])
    np.testing.assert_allclose(codes, expected, atol=1e-4)


@pytest.mark.parametrize("divergence", SEPARABLE, ids=str)
def test_karush_kuhn_tucker(divergence, X, C):
    model = Model("H C", divergence, {"C": "fixed"})
    assert_kkt(model, X, {"H": encode(X, C, divergence), "C": C}, tol=1e-4)


@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Beta(0), Beta(1.5)], ids=str)
@pytest.mark.parametrize("weight", [0.1, 1.0])
def test_a_penalty(divergence, weight, X, C):
    """∇ + λ ≥ 0 and H∘(∇ + λ) = 0."""
    codes = encode(X, C, divergence, Sparse(weight), max_iter=20000)
    gradient, size = dense_gradient(Model("H C", divergence, {"C": "fixed"}), "H", {"H": np.maximum(codes, 1e-300), "C": C, "X": X})
    assert np.all(gradient + weight >= -1e-4 * (size + weight))
    assert np.max(np.abs(codes * (gradient + weight))) <= 1e-4 * np.max(codes) * np.max(size + weight)
    assert codes.sum() < encode(X, C, divergence).sum()


def test_a_penalty_that_nothing_is_worth(X, C):
    np.testing.assert_array_equal(encode(X, C, Beta(2), Sparse(1e3)), 0)


@pytest.mark.parametrize("divergence", [*SEPARABLE, *INVARIANT], ids=str)
def test_a_sample_is_encoded_on_its_own(divergence, X, C):
    X = X * np.logspace(-3, 3, len(X))[:, None]
    whole = encode(X, C, divergence)
    for rows in ([4], [0, 1, 2], [9, 3, 7, 5]):
        alone = encode(X[rows], C, divergence)
        np.testing.assert_allclose(alone, whole[rows], rtol=0, atol=1e-12 * whole[rows].max())
        for code, together in zip(alone, whole[rows], strict=True):
            np.testing.assert_allclose(code, together, rtol=0, atol=1e-8 * together.max())


@pytest.mark.parametrize(("dtype", "small"), [(np.float64, 1e-40), (np.float32, 1e-17)])
def test_a_small_sample_beside_a_large_one(dtype, small, X, C):
    X = (X[:2] * [[1], [small]]).astype(dtype)
    whole, alone = (encode(x, C.astype(dtype), Beta(1)) for x in (X, X[1:]))
    np.testing.assert_allclose(whole[1:], alone, rtol=0, atol=1e-5 * alone.max())


@pytest.mark.parametrize("divergence", INVARIANT, ids=str)
def test_divergences_without_a_scale_are_minimal_too(divergence, X, C, rng):
    """No code near that of a sample has a lower divergence; where the divergence is convex, nor has any other."""
    convex = isinstance(divergence, Renyi) or 0 <= divergence.g <= 1
    for x in X[:4]:
        x = x[None]
        code = encode(x, C, divergence, tol=1e-9, max_iter=20000)
        least = divergence_value(divergence, x, code @ C)
        for size in (1e-3, 1e-2, 0.1, 1.0) if convex else (1e-4, 1e-3):
            for _ in range(30):
                other = np.maximum(code + size * code.max() * rng.normal(size=code.shape), 0)
                if other.any():
                    assert divergence_value(divergence, x, other @ C) >= least - 1e-9
        assert divergence_value(divergence, x, np.ones((1, 3)) @ C) > least + 1e-3


def test_separable():
    assert [d.separable for d in SEPARABLE] == SEPARABLE
    assert (Gamma(0.5).separable, Gamma(0).separable, Gamma(-2).separable) == (Beta(1.5), Beta(1), Beta(-1))
    assert (Renyi(0.5).separable, Renyi(2).separable, Renyi(1).separable) == (Alpha(0.5), Alpha(2), Beta(1))


@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Gamma(1), Renyi(2)], ids=str)
def test_a_sample_of_zeros_is_made_of_nothing(divergence, X, C):
    X[3] = 0
    codes = encode(X, C, divergence)
    np.testing.assert_array_equal(codes[3], 0)
    assert np.all(codes[[2, 4]].sum(axis=1) > 0)
    np.testing.assert_array_equal(encode(0 * X, C, divergence), 0)


@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Beta(0), Gamma(1), Renyi(2)], ids=str)
def test_a_dead_component_is_not_used(divergence, X, C):
    dead = np.insert(C, 1, 0.0, axis=0)
    codes = encode(X, dead, divergence)
    np.testing.assert_allclose(codes[:, 1], 0, atol=1e-20)
    np.testing.assert_allclose(np.delete(codes, 1, axis=1), encode(X, C, divergence), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("of", ["samples", "components", "both"])
@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Beta(0), Gamma(0.5), Renyi(2)], ids=str)
def test_extreme_scales(divergence, of, scale, X, C):
    scale = 2.0 ** round(np.log2(scale))
    samples, components = (scale if of in (part, "both") else 1.0 for part in ("samples", "components"))
    codes = encode(X * samples, C * components, divergence)
    np.testing.assert_allclose(codes * (components / samples), encode(X, C, divergence), rtol=0, atol=1e-6)


def test_samples_and_components_that_are_both_tiny(X, C):
    np.testing.assert_allclose(encode(1e-170 * X, 1e-170 * C, Beta(2)), encode(X, C, Beta(2)), rtol=0, atol=1e-6)


@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Beta(0), Gamma(0.5)], ids=str)
def test_sparse_is_dense(divergence, X, C):
    X *= X > 0.5 if divergence != Beta(0) else 1
    np.testing.assert_allclose(encode(sparse.csr_array(X), C, divergence), encode(X, C, divergence), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(encode(sparse.csc_array(X), C, divergence), encode(X, C, divergence), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Gamma(0.5)], ids=str)
def test_single_precision(divergence, X, C):
    codes = encode(X.astype(np.float32), C.astype(np.float32), divergence)
    assert codes.dtype == np.float32
    np.testing.assert_allclose(codes, encode(X, C, divergence), atol=2e-3)


@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Gamma(0.5)], ids=str)
def test_codes_that_sum_to_one(divergence, X, C):
    codes = encode(X, C, divergence, Stochastic("rows"))
    np.testing.assert_allclose(codes.sum(axis=1), 1)
    assert not np.allclose(encode(X, C, divergence).sum(axis=1), 1)
    model = Model("H C", divergence.separable, {"H": Stochastic("rows"), "C": "fixed"})
    assert_kkt(model, X, {"H": codes, "C": C}, tol=1e-3)


def test_codes_of_length_one(X, C):
    np.testing.assert_allclose(np.linalg.norm(encode(X, C, Beta(2), Unit("rows")), axis=1), 1)


@pytest.mark.parametrize(
    ("constraint", "rows"),
    [(Sparse(0.3), True), (Stochastic("rows"), True), (Unit("rows"), True), (Stochastic("columns"), False), (Unit(), False)],
    ids=str,
)
def test_constraints_on_new_samples(constraint, rows):
    """A condition on rows holds for every new one; one on columns is about the samples of the fit."""
    assert constraint.on_new_rows == (constraint if rows else Model("W H").constraints["W"])


def test_nothing_is_changed(X, C):
    before = X.copy(), C.copy()
    encode(X, C, Beta(2), Sparse(0.1))
    encode(X, C, Beta(1))
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(C, before[1])


@pytest.mark.parametrize("divergence", [Beta(2), Beta(1)], ids=str)
def test_iterations_are_limited(divergence, X, C):
    hasty, settled = (encode(X, C, divergence, max_iter=most) for most in (1, 2000))
    assert np.abs(hasty - settled).max() > 1e-3


def test_samples_in_single_precision_of_a_model_beyond_it():
    """The scale of components of 1e100 is more than float32 can hold; samples near one are next to nothing in it."""
    X, given = np.full((2, 2), 1e100), {"W": np.ones((2, 1)), "H": np.full((1, 2), 1e100)}
    model = NMF(1, divergence=Beta(1) + 0.5 * Beta(2), init=given, max_iter=0, tol=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        codes = model.transform(np.ones((3, 2), dtype=np.float32))
    assert np.isfinite(codes).all()
    assert codes.max() <= 1e-50


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e-50, 1e-100, 1e30])
def test_sums_of_divergences_at_any_scale(scale):
    """A sum has no unit of its own in which codes could be looked for, so its parts are weighed in that of the data."""
    X = np.kron(np.eye(2), np.ones((5, 3)))
    model = NMF(2, divergence=Beta(2) + Beta(1), random_state=0).fit(X * scale)
    np.testing.assert_allclose(model.transform(X * scale) @ (model.components_ / scale), X, atol=1e-6)


@pytest.mark.parametrize("divergence", [Alpha(0.5), Beta(1.5)], ids=str)
def test_a_code_may_become_zero(divergence):
    """The second sample is known only where the component is next to nothing."""
    X = np.array([[np.nan, 2.0, 0.0, np.nan], [0.0, np.nan, 0.0, 2.0]])
    codes = encode(read_weighted(X, missing="ignore"), np.array([[0.0, 1.0, 5e-32, 0.0]]), divergence)
    np.testing.assert_allclose(codes, [[2.0], [0.0]], rtol=1e-6)  # the tolerance of codes is 1e-7


def hidden_in(X, rng):
    """X with NaN in it: features that all samples lack, samples that lack no other, and one of which nothing is known."""
    holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    holes[:, [1, 4]], holes[[0, 5, 7]] = np.nan, X[[0, 5, 7]]
    holes[:, [1, 4]], holes[3] = np.nan, np.nan
    return holes


@pytest.mark.parametrize("constraint", [None, Sparse(0.05), Stochastic("rows")], ids=str)
@pytest.mark.parametrize("divergence", [*SEPARABLE, Alpha(1.5), Beta(1.3)], ids=str)
@pytest.mark.parametrize("kind", ["NaN", "Observed"])
def test_missing_entries_are_those_of_a_smaller_model(kind, divergence, constraint, X, C, rng):
    """The code of a sample is that of its known features alone, whatever other samples have."""
    holes = hidden_in(X, rng)
    if divergence in (Beta(1), Beta(2)):
        holes[6, 2] = 0.0
    if kind == "NaN":
        data = read_weighted(holes, missing="ignore")
    else:
        rows, columns = np.nonzero(~np.isnan(holes))
        data = read_weighted(Observed(sparse.csr_array((holes[rows, columns], (rows, columns)), shape=holes.shape)))
    codes = encode(data, C, divergence, constraint, max_iter=20000)
    assert not codes[3].any()
    for x, code in zip(np.delete(holes, 3, axis=0), np.delete(codes, 3, axis=0), strict=True):
        known = ~np.isnan(x)
        alone = encode(x[None, known], C[:, known], divergence, constraint, max_iter=20000)[0]
        # A round may end with changes of 1e-7 in every step; a code of zeros is eps² of the others' largest.
        np.testing.assert_allclose(code, alone, rtol=0, atol=1e-5 * alone.max() + 1e-20)


def test_features_that_all_samples_lack_cost_nothing(X, C, rng, monkeypatch):
    """They are left out before anything else: what is left is complete."""
    holes = X.copy()
    holes[:, [1, 4]] = np.nan
    kept = [0, 2, 3, 5, 6]
    monkeypatch.setattr("nonneg.estimators.encoding._in_rounds", None)
    for divergence in (Beta(2), Beta(1), Beta(0)):
        found = encode(read_weighted(holes, missing="ignore"), C, divergence)
        np.testing.assert_array_equal(found, encode(X[:, kept], np.ascontiguousarray(C[:, kept]), divergence))


@pytest.mark.parametrize("divergence", [Beta(2), Beta(1)], ids=str)
def test_codes_that_are_undecided_do_not_depend_on_other_samples(divergence):
    """Two features are known for three components."""
    C = np.array([[0.13, 0.12, 0.74], [0.76, 0.12, 0.12], [0.13, 0.75, 0.12]])
    X = np.array([[4.0, 3.0, 3.0], [2.0, 2.0, np.nan]])
    together, alone = (encode(read_weighted(some, missing="ignore"), C, divergence) for some in (X, X[1:]))
    np.testing.assert_allclose(together[1:], alone, rtol=1e-6)
