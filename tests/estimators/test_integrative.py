"""Components that batches share, and those of single batches: found where planted, with codes of zero elsewhere."""

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import IntegrativeNMF
from nonneg.constraints import Support
from nonneg.estimators.encoding import encode
from nonneg.exceptions import DataError, IncompatibleError, ShapeError
from nonneg.selection import match_components
from nonneg.testing import assert_monotone

SHARED, OWN = 3, 1


def batches(n_samples=120, n_features=100, seed=0):
    """Poisson counts of two batches with three programs of both and one of each, over a shared background; labels; programs."""
    rng = np.random.default_rng(seed)
    programs = rng.gamma(0.2, 1.0, (SHARED + 2 * OWN, n_features)) + 0.2 * rng.gamma(1.0, 1.0, n_features)
    programs /= programs.sum(axis=1, keepdims=True)
    usages = rng.gamma(0.4, 1.0, (2 * n_samples, len(programs))) * 300
    labels = np.repeat(["first", "second"], n_samples)
    usages[labels == "first", -1] = usages[labels == "second", -2] = 0
    order = rng.permutation(len(labels))
    return sparse.csr_array(rng.poisson(usages @ programs).astype(float))[order], labels[order], programs


X, LABELS, PROGRAMS = batches()


@pytest.fixture(scope="module", params=["kl", "euclidean"])
def fitted(request):
    return IntegrativeNMF(SHARED, n_own=OWN, divergence=request.param, random_state=0).fit(X, groups=LABELS)


def test_shared_and_own_programs_are_found(fitted):
    found = match_components(PROGRAMS, fitted)
    assert found.similarity.min() > 0.95
    assert set(found.order[:SHARED]) == {0, 1, 2}
    np.testing.assert_array_equal(found.order[SHARED:], [3, 4])
    np.testing.assert_array_equal(fitted.component_groups_, [-1, -1, -1, 0, 1])
    np.testing.assert_array_equal(fitted.groups_, ["first", "second"])
    np.testing.assert_allclose(np.linalg.norm(fitted.components_, axis=1), 1)
    assert fitted.n_components_ == 5


def test_codes_are_zero_for_components_of_other_groups(fitted):
    for codes in (fitted.factors_["W"], fitted.transform(X, groups=LABELS)):
        assert not codes[LABELS == "first", 4].any()
        assert not codes[LABELS == "second", 3].any()
        assert codes[LABELS == "first", 3].any()
    assert not fitted.transform(X)[:, 3:].any()  # of unknown batch: shared programs only


def test_codes_fit_the_components_best(fitted):
    codes = fitted.transform(X, groups=LABELS)
    first = LABELS == "first"
    expected = encode(X[first], fitted.components_[:4], fitted.model_.divergence)
    np.testing.assert_allclose(codes[first][:, :4], expected, rtol=1e-6, atol=1e-9)
    again = IntegrativeNMF(SHARED, n_own=OWN, divergence=fitted.divergence, random_state=0).fit_transform(X, groups=LABELS)
    np.testing.assert_array_equal(again, codes)


def test_a_group_is_not_an_error_of_the_other():
    """With as many components as programs, an NMF of all samples has codes of own programs in both batches; this has not."""
    joint = nonneg.NMF(5, divergence="kl", random_state=0).fit(X)
    order = match_components(PROGRAMS, joint).order
    assert joint.factors_["W"][LABELS == "first", order[-1]].sum() > 0
    model = IntegrativeNMF(SHARED, n_own={"first": 0, "second": 2}, divergence="kl", random_state=0).fit(X, groups=LABELS)
    np.testing.assert_array_equal(model.component_groups_, [-1, -1, -1, 1, 1])


def test_storages_missing_values_and_files(tmp_path):
    dense = X.toarray()
    np.save(tmp_path / "X.npy", dense)
    settings = {"n_own": OWN, "divergence": "kl", "random_state": 0}
    model = IntegrativeNMF(SHARED, **settings).fit(dense, groups=LABELS)
    codes, blocks = model.transform(dense, groups=LABELS), nonneg.open_data(tmp_path / "X.npy", block_bytes=9000)
    np.testing.assert_allclose(model.transform(blocks, groups=LABELS), codes, rtol=1e-6, atol=1e-9 * codes.max())
    stored = IntegrativeNMF(SHARED, **settings).fit(blocks, groups=LABELS)
    assert match_components(PROGRAMS, stored).similarity.min() > 0.95
    holes = np.where(np.random.default_rng(0).random(dense.shape) < 0.1, np.nan, dense)
    missing = IntegrativeNMF(SHARED, missing="ignore", **settings).fit(holes, groups=LABELS)
    assert match_components(PROGRAMS, missing).similarity.min() > 0.9
    assert not missing.transform(holes, groups=LABELS)[LABELS == "first", 4].any()
    model.save(tmp_path / "model.nonneg")
    loaded = nonneg.load(tmp_path / "model.nonneg")
    np.testing.assert_array_equal(loaded.transform(dense, groups=LABELS), model.transform(dense, groups=LABELS))
    assert "of its 1200 entries zero" in str(loaded.model_)


def test_without_groups_it_is_nmf():
    model = IntegrativeNMF(3, n_own=0, divergence="kl", random_state=0).fit(X)
    plain = nonneg.NMF(3, divergence="kl", random_state=0).fit(X)
    np.testing.assert_array_equal(model.components_, plain.components_)
    np.testing.assert_array_equal(model.transform(X), plain.transform(X))


@pytest.mark.parametrize("solver", ["multiplicative", "adaptive", "quasi-newton"])
def test_zeros_stay_zero_with_every_solver(solver):
    pattern = np.arange(12)[:, None] % 3 != np.arange(3)
    V = np.random.default_rng(0).random((12, 8))
    found = nonneg.factorize(V, "W H", 3, constraints={"W": Support(pattern)}, solver=solver, random_state=0, max_iter=300)
    assert not found.factors["W"][~pattern].any()
    assert (found.factors["W"][pattern] > 0).mean() > 0.5
    assert_monotone(found)
    turned = nonneg.factorize(V.T, "W H", 3, constraints={"H": Support(pattern.T)}, solver=solver, random_state=0, max_iter=300)
    assert not turned.factors["H"][~pattern.T].any()


@pytest.mark.parametrize(
    ("settings", "groups", "error", "match"),
    [
        ({}, LABELS[:5], ShapeError, "groups has 5 labels for 240 samples"),
        ({}, [*LABELS[:-1], None], DataError, "groups has a sample without a label"),
        ({}, np.where(LABELS == "first", np.nan, 1.0), DataError, "groups has a sample without a label"),
        ({}, np.ones((2, 2)), ShapeError, "groups must be one label for each sample"),
        ({"n_own": -1}, LABELS, IncompatibleError, "n_own must be an int of at least 0, or a dict"),
        ({"n_own": {"third": 1}}, LABELS, IncompatibleError, "n_own has 'third', which is no group"),
        ({"alpha_W": 0.1}, LABELS, IncompatibleError, "alpha_W=0.1 is not for codes that are zero outside of groups"),
        ({"n_components": "auto", "n_own": 60}, LABELS, IncompatibleError, "Groups have 120 components of their own"),
    ],
)
def test_mistakes(settings, groups, error, match):
    with pytest.raises(error, match=match):
        IntegrativeNMF(**{"n_components": 3, "max_iter": 5, **settings}).fit(X, groups=groups)


def test_other_mistakes(fitted):
    with pytest.raises(DataError, match="groups has 'third', which the fit had not; it had 'first', 'second'"):
        fitted.transform(X[:2], groups=["first", "third"])
    with pytest.raises(ShapeError, match="groups has 1 labels for 2 samples"):
        fitted.transform(X[:2], groups=["first"])
    with pytest.raises(IncompatibleError, match=r"Support\(pattern\) takes a matrix of True and False"):
        Support(np.ones((2, 2)))
    with pytest.raises((IncompatibleError, ShapeError), match="The pattern of Support is 2 × 2, and W is 240 × 3"):
        nonneg.factorize(X, "W H", 3, constraints={"W": Support(np.ones((2, 2), bool))})
    assert not hasattr(fitted, "_fitted_groups")
