"""How often data in files are read: a few times, and once more to prove that this was enough."""

import numpy as np
import pytest

import nonneg
from nonneg import factorize, open_data


def planted(shape=(300, 120), rank=4, dtype=np.float64):
    """Parts that do not overlap, and which part each feature belongs to."""
    generator = np.random.default_rng(0)
    labels = np.arange(shape[1]) % rank
    parts = np.zeros((rank, shape[1]))
    parts[labels, np.arange(shape[1])] = generator.uniform(0.5, 1.5, shape[1])
    return (generator.gamma(2.0, 1.0, (shape[0], rank)) @ parts + 0.3 * generator.random(shape)).astype(dtype), labels


@pytest.fixture
def stored(tmp_path):
    """X as a file of samples or of features, in some ten blocks."""

    def store(X, blocks="samples"):
        np.save(tmp_path / f"{blocks}.npy", np.ascontiguousarray(X if blocks == "samples" else X.T))
        return open_data(tmp_path / f"{blocks}.npy", blocks=blocks, block_bytes=X.nbytes // 10)

    return store


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["OPNMF", "PNMF"])
def test_projective_models_need_three_readings_and_one_that_proves_it(name, dtype, stored):
    X, labels = planted(dtype=dtype)
    data = stored(X)
    model = getattr(nonneg, name)(4, random_state=0).fit(data)
    assert data.log.count <= 4
    assert model.status_ == "converged"
    assert list(model.history_.readings) == sorted(model.history_.readings)
    assert model.history_[-1].readings == data.log.count
    expected = getattr(nonneg, name)(4, random_state=0).fit(X)
    assert model.objective_ <= expected.objective_ * (1 + 1e-3)
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-3)
    found = model.components_.argmax(axis=0)
    assert len({*zip(found.tolist(), labels.tolist(), strict=True)}) == 4


@pytest.mark.parametrize("blocks", ["samples", "features"])
@pytest.mark.parametrize("form", ["X W W.T", "W W.T X"])
def test_across_the_blocks_a_proof_takes_two(form, blocks, stored):
    """X Xᵀ W begins with sums over all blocks of samples, and ends with a product of each: that takes two readings."""
    X, _ = planted()
    data = stored(X, blocks)
    found = factorize(data, form, 4, random_state=0)
    is_along = (form == "X W W.T") == (blocks == "samples")
    assert data.log.count <= (4 if is_along else 6)
    assert found.objective <= factorize(X, form, 4, random_state=0).objective * (1 + 1e-3)


def test_starts_share_their_sketch(stored):
    X, _ = planted()
    data = stored(X)
    nonneg.OPNMF(4, n_init=5, random_state=0).fit(data)
    assert data.log.count <= 2 + 5 * 2


def test_few_features(stored):
    """Where the Gram matrix is no larger than a sketch, it is formed."""
    X, _ = planted((300, 12), 3)
    data = stored(X)
    found = nonneg.OPNMF(3, random_state=0).fit(data)
    assert data.log.count <= 4
    assert found.objective_ == pytest.approx(nonneg.OPNMF(3, random_state=0).fit(X).objective_, rel=1e-3)


def test_few_samples(stored):
    X, _ = planted((10, 120), 4)
    data = stored(X)
    found = nonneg.OPNMF(4, random_state=0).fit(data)
    assert data.log.count <= 4
    assert found.objective_ <= nonneg.OPNMF(4, random_state=0).fit(X).objective_ * (1 + 1e-2)


def test_one_reading_for_codes(stored):
    X, _ = planted()
    model, data = nonneg.OPNMF(4, random_state=0).fit(X), stored(X)
    np.testing.assert_allclose(model.transform(data), model.transform(X))
    assert data.log.count == 1
