"""Estimators for tensors: results are tensors, computed in main memory by NumPy, and on a device by its own library."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import nonneg
from nonneg.data import device
from nonneg.data.device import DeviceData, in_memory, is_on_device, library_of
from nonneg.data.reading import read_data
from nonneg.exceptions import DataError

torch = pytest.importorskip("torch")

SMALL = {"random_state": 0, "max_iter": 300}
ESTIMATORS = [
    nonneg.OPNMF(3, **SMALL),
    nonneg.OPNMF(3, orthogonality="exact", **SMALL),
    nonneg.OPNMF(3, missing="ignore", **SMALL),
    nonneg.PNMF(3, **SMALL),
    nonneg.PNMF(3, divergence="kullback-leibler", **SMALL),
    nonneg.NMF(3, **SMALL),
    nonneg.NMF(3, divergence="kullback-leibler", **SMALL),
    nonneg.ONMF(3, **SMALL),
    nonneg.ONMF(3, orthogonality="polar", **SMALL),
    nonneg.NonnegativeSparseCoding(3, **SMALL),
    nonneg.ProjectiveClustering(3, **SMALL),
    nonneg.NMTF((3, 3), **SMALL),
    nonneg.ONMTF((3, 3), **SMALL),
    nonneg.FONT((3, 3), **SMALL),
    nonneg.BiQNMF((3, 3), **SMALL),
    nonneg.BiORNM3F((3, 3), **SMALL),
    nonneg.Factorization("W H", 3, **SMALL),
    nonneg.KernelPNMF(3, **SMALL),
    nonneg.SymmetricNMF(3, kernel="linear", **SMALL),
    nonneg.ConsensusNMF(3, **SMALL),
]
ON_DEVICE = [model for model in ESTIMATORS if not isinstance(model, nonneg.KernelPNMF | nonneg.SymmetricNMF)]


def names_of(models):
    return [f"{type(model).__name__} {number}" for number, model in enumerate(models)]


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return np.kron(np.eye(3), np.ones((10, 5))) * rng.uniform(0.5, 1.5, (30, 15)) + 0.1 * rng.random((30, 15))


def fitted(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).fit(X)


def arrays_of(model):
    """The arrays among public attributes."""
    values = [value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")]
    values += [each for value in values if isinstance(value, dict) for each in value.values()]
    return [value for value in values if isinstance(value, np.ndarray | torch.Tensor)]


def assert_tensors(model, X, dtype=torch.float64):
    tensor = torch.tensor(X, dtype=dtype)
    assert arrays_of(model)
    assert all(isinstance(value, torch.Tensor) for value in arrays_of(model))
    assert model.components_.dtype == dtype
    codes = model.transform(tensor)
    assert isinstance(codes, torch.Tensor)
    assert codes.shape == (len(X), model.components_.shape[0])
    assert isinstance(model.transform(X), np.ndarray)
    assert np.isfinite(model.score(tensor)) if hasattr(model, "score") else True
    if hasattr(model, "inverse_transform"):
        assert isinstance(model.inverse_transform(codes), torch.Tensor)
    if hasattr(model, "predict"):
        assert model.predict(tensor).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("model", ESTIMATORS, ids=names_of(ESTIMATORS))
def test_tensors_in_main_memory_give_the_same_bits(model, X):
    found, expected = fitted(model, torch.tensor(X, requires_grad=True)), fitted(model, X)
    for one, other in zip(arrays_of(found), arrays_of(expected), strict=True):
        np.testing.assert_array_equal(one.numpy(), other)
    assert_tensors(found, X)


@pytest.mark.usefixtures("as_device")
@pytest.mark.parametrize("model", ON_DEVICE, ids=names_of(ON_DEVICE))
def test_tensors_on_a_device(model, X, monkeypatch):
    found = fitted(model, torch.tensor(X))
    assert_tensors(found, X)
    monkeypatch.undo()
    assert found.objective_ <= 1.02 * fitted(model, X).objective_


@pytest.mark.usefixtures("as_device")
def test_the_engine_runs_on_the_device(X, monkeypatch):
    seen = []
    monkeypatch.setattr(DeviceData, "apply", lambda self, M, **options: seen.append(type(M)) or _apply(self, M, **options))
    fitted(nonneg.NMF(3, **SMALL), torch.tensor(X))
    assert torch.Tensor in seen


_apply = DeviceData.apply


@pytest.mark.usefixtures("as_device")
def test_float32_and_weights_on_a_device(X):
    tensor = torch.tensor(X, dtype=torch.float32)
    assert_tensors(fitted(nonneg.OPNMF(3, **SMALL), tensor), X, torch.float32)
    weights = np.random.default_rng(1).uniform(0.5, 2, X.shape)
    assert_tensors(clone(nonneg.NMF(3, **SMALL)).fit(torch.tensor(X), weights=torch.tensor(weights)), X)


@pytest.mark.parametrize("where", ["main memory", "device"])
def test_a_stream_of_tensors(where, X, request):
    if where == "device":
        request.getfixturevalue("as_device")
    model = nonneg.OPNMF(3, **SMALL)
    for start in (0, 15):
        model.partial_fit(torch.tensor(X[start : start + 15]))
    assert_tensors(model, X)
    assert isinstance(model.fit(X).components_, np.ndarray)


def test_files_and_copies(X, tmp_path):
    model = fitted(nonneg.OPNMF(3, **SMALL), torch.tensor(X))
    model.save(tmp_path / "model.nonneg")
    loaded = nonneg.load(tmp_path / "model.nonneg")
    np.testing.assert_array_equal(loaded.components_, model.components_.numpy())
    assert isinstance(loaded.transform(torch.tensor(X)), torch.Tensor)
    assert model.labels_.tolist() == loaded.labels_.tolist()


def test_a_fit_that_fails_leaves_the_model_as_it_was(X):
    model = fitted(nonneg.OPNMF(3, **SMALL), torch.tensor(X))
    before = model.components_
    with pytest.raises(DataError):
        model.fit(torch.tensor(-X))
    assert model.components_ is before
    assert isinstance(model.transform(torch.tensor(X)), torch.Tensor)


@pytest.mark.usefixtures("as_device")
@pytest.mark.parametrize(("change", "said"), [(-1.0, "negative"), (np.nan, "not finite"), (np.inf, "not finite")])
def test_bad_entries_on_a_device(X, change, said):
    X[3, 4] = change
    with pytest.raises(DataError, match=said):
        nonneg.OPNMF(3).fit(torch.tensor(X))
    with pytest.raises(DataError, match="rows and columns"):
        nonneg.OPNMF(3).fit(torch.tensor(X[0]))


def test_libraries(X, monkeypatch):
    dask = pytest.importorskip("dask.array")
    for other in (X, X.tolist(), "X.npy", None, dask.from_array(X), read_data(X)):
        assert library_of(other) is None
    assert library_of(torch.tensor(X)).xp.__name__.endswith("torch")
    assert not is_on_device(torch.tensor(X))
    assert not is_on_device(torch.empty((2, 2), device="meta"))
    monkeypatch.setattr(device, "_HOST", ("meta",))
    data = read_data(torch.tensor(X))
    assert isinstance(data, DeviceData)
    np.testing.assert_allclose(data.apply(X.T), X @ X.T)
    assert isinstance(data.apply(torch.tensor(X.T)), torch.Tensor)
    np.testing.assert_array_equal(in_memory(data).values, X)
