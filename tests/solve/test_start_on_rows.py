"""The start on some of the rows: which data have it, and where it leads."""

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import NMF

TEXT = "sweeps of 1000 rows from nndsvda"


def counts(n_rows=10_000, n_columns=60, rank=4, seed=0):
    generator = np.random.default_rng(seed)
    shared = generator.gamma(0.5, 1.0, n_columns)
    programs = 0.75 * shared / shared.sum() + 0.25 * generator.dirichlet(np.full(n_columns, 0.1), rank)
    return generator.poisson(200 * generator.dirichlet(np.full(rank, 0.3), n_rows) @ programs).astype(float)


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array, np.float32], ids=["dense", "sparse", "single"])
def test_it_ends_as_low_as_on_all_rows(store):
    X = store(counts())
    found, whole = (NMF(4, random_state=0, **settings).fit(X) for settings in ({}, {"init": "nndsvda"}))
    assert TEXT in str(found.strategy_)
    assert found.objective_ < 1.001 * whole.objective_
    assert found.history_[0].objective < 3 * found.objective_
    np.testing.assert_array_equal(NMF(4, random_state=0).fit(X).components_, found.components_)


@pytest.mark.parametrize(
    ("settings", "X"),
    [
        ({}, counts(9_999)),
        ({"n_components": 30}, counts(14_999)),
        ({"init": "nndsvda"}, counts()),
        ({"divergence": "kullback-leibler"}, counts()),
        ({"solver": "adaptive"}, counts()),
        ({}, sparse.csr_array(np.where(np.random.default_rng(0).random((10_000, 60)) < 0.019, 1.0, 0.0))),
    ],
    ids=["few rows", "many components", "named", "divergence", "solver", "few entries"],
)
def test_others_start_elsewhere(settings, X):
    assert TEXT not in str(nonneg.explain(NMF(**{"n_components": 4, "random_state": 0, **settings}), X))


@pytest.mark.parametrize("scale", [1e-160, 1e160])
def test_no_scale_is_in_its_way(scale):
    X = counts()
    plain, scaled = (NMF(4, random_state=0).fit(data) for data in (X, scale * X))
    np.testing.assert_allclose(scaled.reconstruction_err_ / scale, plain.reconstruction_err_, rtol=1e-3)


def test_samples_without_entries():
    X = np.zeros((200_000, 2))
    X[:8000] = 1e-300
    X[0] = [1.0, 2.0]
    assert np.isfinite(NMF(1, random_state=0).fit(X).objective_)
