"""Sparse X on a device, and sparse tensors. Main memory stands in for a card."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import nonneg
from nonneg.data.device_sparse import DeviceSparse
from nonneg.data.opening import opened
from nonneg.exceptions import DataError

from .test_device import LEARNED, uses
from .test_estimators import SMALL, arrays_of, fitted, names_of

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    whole = np.kron(np.eye(3), np.ones((10, 5))) * rng.uniform(0.5, 1.5, (30, 15)) + 0.1 * (rng.random((30, 15)) < 0.2)
    return sparse.csr_array(whole * (rng.random((30, 15)) < 0.9))


def tensor(X, kind="csr"):
    return getattr(torch.tensor(X.toarray()), f"to_sparse_{kind}")()


@pytest.mark.parametrize("model", LEARNED, ids=names_of(LEARNED))
def test_sparse_in_and_out(model, X, card, monkeypatch):
    apply = DeviceSparse.apply
    monkeypatch.setattr(DeviceSparse, "apply", lambda self, *a, **options: card.append(1) or apply(self, *a, **options))
    found = fitted(clone(model).set_params(device="cuda"), X)
    assert card or isinstance(model, nonneg.KernelPNMF | nonneg.SymmetricNMF)
    assert not any(isinstance(value, torch.Tensor) for value in [*arrays_of(found), *uses(found, X)])
    assert found.objective_ <= 1.02 * fitted(model, X).objective_ + 1e-9
    of_tensor = fitted(model, tensor(X))
    assert all(isinstance(value, torch.Tensor) for value in arrays_of(of_tensor))
    assert of_tensor.objective_ == found.objective_
    for one, other in zip(uses(of_tensor, tensor(X)), uses(found, X), strict=True):
        np.testing.assert_allclose(one.numpy() if isinstance(one, torch.Tensor) else one, other, rtol=1e-12)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_tensors_in_main_memory_give_the_same_bits(kind, X):
    found, expected = fitted(nonneg.NMF(3, **SMALL), tensor(X, kind)), fitted(nonneg.NMF(3, **SMALL), X)
    np.testing.assert_array_equal(found.components_.numpy(), expected.components_)
    assert isinstance(found.transform(tensor(X, kind)), torch.Tensor)


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_layouts(kind, X):
    data = opened(tensor(X, kind))
    assert isinstance(data, DeviceSparse)
    np.testing.assert_array_equal(data.itself().cpu().tolist(), X.toarray())
    assert data.shape == X.shape


@pytest.mark.usefixtures("card")
def test_entries_of_one_place_are_added_and_zeros_dropped():
    places = torch.tensor([[0, 0, 1, 1], [1, 1, 0, 2]])
    data = opened(torch.sparse_coo_tensor(places, torch.tensor([1, 2, 0, 5]), (2, 3)))
    assert data.itself().tolist() == [[0.0, 3.0, 0.0], [0.0, 0.0, 5.0]]
    assert data.size == 2
    assert data.facts == opened(data).facts


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize(("value", "said"), [(-1.0, r"negative.* at \(2, 3\)"), (np.nan, "not finite"), (np.inf, "not finite")])
def test_bad_entries(value, said, X):
    X = X.tolil()
    X[2, 3] = value
    with pytest.raises(DataError, match=said):
        nonneg.OPNMF(3).fit(tensor(X))


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize(
    "given", [torch.ones(3, 4, 5).to_sparse_coo(), torch.eye(3, dtype=torch.complex64).to_sparse_coo()], ids=["cube", "complex"]
)
def test_invalid_sparse_tensors_are_refused(given):
    with pytest.raises(DataError, match="must be a sparse matrix of real numbers; got"):
        nonneg.NMF(2).fit(given)


@pytest.mark.usefixtures("card")
def test_weights_are_worked_on_in_main_memory(X):
    weights = np.random.default_rng(1).uniform(0.5, 2, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = nonneg.NMF(3, **SMALL).fit(tensor(X), sample_weight=weights)
        expected = nonneg.NMF(3, **SMALL).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(found.components_.numpy(), expected.components_)


@pytest.mark.usefixtures("card")
def test_a_strategy_names_the_device_and_the_time_of_a_pass(X):
    model = nonneg.NMF(3, device="cuda", **SMALL)
    for given, bytes_of_pass in ((X, 12 * X.nnz), (X.toarray(), 8 * 30 * 15), (X.toarray().astype(np.float32), 4 * 30 * 15)):
        text = str(nonneg.explain(model, given))
        assert "on a device" in text
        line = next(line for line in text.splitlines() if line.startswith("device "))
        assert "cuda:0" in line
        assert f"float{32 if given.dtype == np.float32 else 64}" in line
        assert f"a pass over X reads {bytes_of_pass / 1000:.3g} kB" in line
        assert str(fitted(model, given).strategy_.device) in text
    assert "device" not in str(nonneg.explain(nonneg.NMF(3), X))
