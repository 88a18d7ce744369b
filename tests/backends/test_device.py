"""The parameter `device`: NumPy arrays are worked on elsewhere, and results are NumPy's. Main memory stands in for a card."""

import inspect
import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import nonneg
from nonneg.data import device
from nonneg.data.device import DeviceData, check_device, placed
from nonneg.data.reading import read_data
from nonneg.exceptions import DataError, IncompatibleError
from nonneg.selection import rank_scan
from nonneg.selection.criteria import Restarts

from .test_estimators import ESTIMATORS, arrays_of, fitted, names_of

torch = pytest.importorskip("torch")

SMALL = {"random_state": 0, "max_iter": 300}
LEARNED = [*ESTIMATORS, nonneg.SemiNMF(3, **SMALL), nonneg.ConvexNMF(3, **SMALL), nonneg.IntegrativeNMF(2, n_own=1, **SMALL)]


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return np.kron(np.eye(3), np.ones((10, 5))) * rng.uniform(0.5, 1.5, (30, 15)) + 0.1 * rng.random((30, 15))


def uses(model, X):
    """What a fitted model says of X: codes, samples, a score and clusters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [model.transform(X)]
        found += [model.inverse_transform(found[0])] if hasattr(model, "inverse_transform") else []
        found += [model.score(X)] if hasattr(model, "score") else []
        return found + ([model.predict(X)] if hasattr(model, "predict") else [])


@pytest.mark.parametrize("model", LEARNED, ids=names_of(LEARNED))
def test_numpy_in_and_out(model, X, card):
    found = fitted(clone(model).set_params(device="cuda"), X)
    assert not any(isinstance(value, torch.Tensor) for value in [*arrays_of(found), *uses(found, X)])
    expected = fitted(model, X)
    assert found.objective_ <= 1.02 * expected.objective_ + 1e-9
    of_tensor = fitted(model, torch.tensor(X))
    assert all(isinstance(value, torch.Tensor) for value in arrays_of(of_tensor))
    assert of_tensor.objective_ == found.objective_
    for one, other in zip(arrays_of(of_tensor), arrays_of(found), strict=True):
        np.testing.assert_array_equal(one.numpy(), other)
    for one, other in zip(uses(of_tensor, torch.tensor(X)), uses(found, X), strict=True):
        one = one.numpy() if isinstance(one, torch.Tensor) else one
        np.testing.assert_allclose(one, other, rtol=1e-12)  # NumPy sums in the order in which an array lies


def test_the_work_is_done_there(X, card):
    fitted(nonneg.NMF(3, **SMALL), X)
    assert not card
    fitted(nonneg.NMF(3, device="cuda", **SMALL), X)
    assert card


@pytest.mark.usefixtures("card")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["missing", "entries", "samples", "pair"])
@pytest.mark.parametrize("name", ["NMF", "OPNMF", "ONMF", "NMTF"])
def test_weights_and_missing_values(kind, name, X):
    rng = np.random.default_rng(1)
    weights = {"entries": rng.uniform(0.5, 2, X.shape), "pair": (rng.uniform(0.5, 2, 30), rng.uniform(0.5, 2, 15))}.get(kind)
    of_samples = rng.uniform(0.5, 2, 30) if kind == "samples" else None
    if kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    model = getattr(nonneg, name)(3, missing="ignore", **SMALL)
    found, expected = (
        clone(model).set_params(device=where).fit(X, sample_weight=of_samples, weights=weights) for where in ("cuda", None)
    )
    assert found.objective_ == pytest.approx(expected.objective_, rel=0.03)
    assert isinstance(found.transform(X), np.ndarray)
    assert isinstance(fitted(model, torch.tensor(X)).transform(torch.tensor(X)), torch.Tensor)


@pytest.mark.usefixtures("card")
def test_float32_stays(X):
    assert fitted(nonneg.NMF(3, device="cuda", **SMALL), X.astype(np.float32)).components_.dtype == np.float32


@pytest.mark.usefixtures("card")
def test_a_stream(X):
    for given in (X, torch.tensor(X)):
        model = nonneg.NMF(3, device="cuda", **SMALL).partial_fit(given[:20]).partial_fit(given[10:])
        assert type(model.components_) is type(given)


@pytest.mark.parametrize("model", [nonneg.NMF(**SMALL), nonneg.KernelPNMF(**SMALL)], ids=["NMF", "KernelPNMF"])
@pytest.mark.parametrize("how", ["parameter", "tensor"])
def test_ranks_are_scanned_there(model, how, X, card):
    criteria = "gabriel" if isinstance(model, nonneg.NMF) else "restarts"
    given = X if how == "parameter" else torch.tensor(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.set_params(device="cuda" if how == "parameter" else None)
        assert rank_scan(model, given, [2, 3], criteria=criteria, random_state=0).best_ == 3
    assert card or not isinstance(model, nonneg.NMF)


@pytest.mark.usefixtures("card")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["OPNMF", "NMF"])
def test_ranks_and_restarts_of_a_scan_are_one_batch(name, X, monkeypatch):
    cls, single = getattr(nonneg, name), {}
    fit = cls.fit
    monkeypatch.setattr(cls, "fit", lambda self, X: single.setdefault((self.n_components, self.random_state), fit(self, X)))
    scan = rank_scan(cls(device="cuda"), X, [2, 4], criteria=Restarts(3), random_state=0)
    assert not single
    monkeypatch.setattr(cls, "_fit_together", lambda copies, X: False)
    each = rank_scan(cls(device="cuda"), X, [2, 4], criteria=Restarts(3), random_state=0)
    assert len(single) == 6
    for rank in (2, 4):
        for together, alone in zip(scan.found_["restarts"][rank], each.found_["restarts"][rank], strict=True):
            assert together["components"].shape == alone["components"].shape == (rank, X.shape[1])
            assert together["error"] == pytest.approx(alone["error"], rel=0.03)


@pytest.mark.usefixtures("card")
def test_a_tensor_comes_to_main_memory(X):
    found, expected = fitted(nonneg.NMF(3, device="cpu", **SMALL), torch.tensor(X)), fitted(nonneg.NMF(3, **SMALL), X)
    np.testing.assert_array_equal(found.components_.numpy(), expected.components_)


@pytest.mark.usefixtures("card")
def test_auto_takes_a_card_for_large_data(X, monkeypatch):
    data = read_data(X)
    assert placed(data, "auto") is data
    monkeypatch.setattr(device, "_WORTHWHILE", {"dense": 100})
    monkeypatch.setattr(device, "_has_card", lambda: False)
    assert placed(data, "auto") is data
    monkeypatch.setattr(device, "_has_card", lambda: True)
    assert isinstance(placed(data, "auto"), DeviceData)
    on_card = placed(data, "cuda")
    assert placed(on_card, "auto") is on_card
    assert on_card.facts == data.facts


def test_without_a_card(X):
    with pytest.raises(IncompatibleError, match=r"device='cuda:9': there is no such card; PyTorch .* sees"):
        nonneg.NMF(3, device="cuda:9").fit(X)
    assert nonneg.NMF(3, device="auto", **SMALL).fit(X).objective_ == nonneg.NMF(3, **SMALL).fit(X).objective_


@pytest.mark.parametrize("where", ["gpu", 0, "cuda:", "cuda:x", True, torch.device("cpu")])
def test_unknown_devices_are_refused_before_any_work(where, X):
    with pytest.raises(IncompatibleError, match=r"device must be None \(where X lies\), 'auto', 'cpu', 'cuda'"):
        nonneg.OPNMF(3, device=where).fit(X)
    with pytest.raises(IncompatibleError, match="device must be"):
        check_device(where)


def test_every_factorization_takes_it():
    public = [getattr(nonneg.estimators, name) for name in nonneg.estimators.__all__]
    factorizers = [cls for cls in public if inspect.isclass(cls) and issubclass(cls, nonneg.estimators.Factorizer)]
    assert len(factorizers) > 15
    assert all(inspect.signature(cls).parameters["device"].default is None for cls in factorizers)


ON_THE_HOST = {
    "NMFImputer": nonneg.NMFImputer(2),
    "TruncatedNonnegativeSVD": nonneg.TruncatedNonnegativeSVD(2),
    "NonnegativeLDA": nonneg.NonnegativeLDA(2),
    "GraphClustering": nonneg.graph.GraphClustering(2),
}


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize("name", ON_THE_HOST)
def test_estimators_of_main_memory_say_so(name, X):
    model = ON_THE_HOST[name]
    assert "device" not in model.get_params()
    with pytest.raises(DataError, match="which NumPy cannot read"):
        model.fit(torch.tensor(X[:15] + X[:15].T), np.arange(15) % 2)


@pytest.mark.usefixtures("card")
def test_sequences_come_to_main_memory():
    codes = np.random.default_rng(0).integers(3, size=90)
    found, expected = (nonneg.hmm.QNMFHMM(2, random_state=0).fit(given) for given in (torch.tensor(codes), codes))
    np.testing.assert_array_equal(found.transmat_, expected.transmat_)
    several = nonneg.hmm.QNMFHMM(2, random_state=0).fit([torch.tensor(codes[:40]), torch.tensor(codes[40:])])
    np.testing.assert_array_equal(several.transmat_, nonneg.hmm.QNMFHMM(2, random_state=0).fit([codes[:40], codes[40:]]).transmat_)


@pytest.mark.usefixtures("card")
def test_sparse_data_with_weights(X):
    rng, S = np.random.default_rng(0), sparse.csr_array(np.where(X > 0.3, X, 0.0))
    model = nonneg.NMF(3, init="random", solver="multiplicative", random_state=0, max_iter=20, tol=0)
    sides = rng.uniform(0.5, 2, 30), rng.uniform(0.5, 2, 15)
    for weights, divergence in itertools.product(({"sample_weight": sides[0]}, {"weights": sides}), (2, 1)):
        model.set_params(divergence=divergence)
        found, expected = (clone(model).set_params(device=where).fit(S, **weights) for where in ("cuda", None))
        assert "cuda:0" in str(found.strategy_)
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    for given, weights in ((S, rng.uniform(0.5, 2, S.shape)), (nonneg.Observed(S), None)):
        with pytest.raises(IncompatibleError, match="Sparse data with a weight for each entry, or with missing"):
            clone(model).set_params(device="cuda").fit(given, weights=weights)
