"""Data that pass through a card in blocks, and a card without memory. Main memory stands in for a card, unless there is one."""

import gc
import warnings
import weakref

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import nonneg
from nonneg.data import blocks, device
from nonneg.data.base import apply_both
from nonneg.data.device import DeviceData, fits, memory_explained, placed
from nonneg.data.device_sparse import DeviceSparse
from nonneg.data.reading import read_data
from nonneg.data.streamed import MemoryBlocks, Streamed
from nonneg.exceptions import DeviceMemoryError
from nonneg.kernels.namespace import namespace_of

from .test_estimators import SMALL, fitted, names_of

torch = pytest.importorskip("torch")

MODELS = [
    nonneg.OPNMF(3, **SMALL),
    nonneg.NMF(3, **SMALL),
    nonneg.NMF(3, divergence="kullback-leibler", **SMALL),
    nonneg.NMF(3, divergence=0.5, solver="multiplicative", **SMALL),
    nonneg.PNMF(3, divergence="kullback-leibler", **SMALL),
    nonneg.ONMF(3, **SMALL),
    nonneg.NMTF((3, 3), **SMALL),
    nonneg.SemiNMF(3, **SMALL),
]


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return np.kron(np.eye(3), np.ones((30, 10))) * rng.uniform(0.5, 1.5, (90, 30)) + 0.1 * rng.random((90, 30))


@pytest.fixture
def small_card(card, monkeypatch):
    """A card of 10 kB: X passes through it in blocks of twelve rows. Gives the blocks that were worked on."""
    monkeypatch.setattr(device, "fits", lambda n_bytes, namespace: n_bytes < 10_000)
    monkeypatch.setattr(MemoryBlocks.__init__, "__defaults__", (12 * 30 * 8,))
    seen, passing = [], Streamed._passing
    monkeypatch.setattr(Streamed, "_passing", lambda self: (seen.append(piece[1]) or piece for piece in passing(self)))
    return seen


@pytest.mark.parametrize("model", MODELS, ids=names_of(MODELS))
def test_arrays_larger_than_the_card_have_the_same_result(model, X, small_card):
    found, expected = fitted(clone(model).set_params(device="cuda"), X), fitted(model, X)
    assert len(small_card) >= 8
    assert all(isinstance(block, DeviceData) for block in small_card)
    assert found.objective_ <= 1.02 * expected.objective_ + 1e-9
    assert isinstance(found.components_, np.ndarray)
    np.testing.assert_allclose(found.transform(X).shape, (90, found.components_.shape[0]))
    assert found.score(X) == pytest.approx(-found.objective_ / 90, rel=0.05)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_files_pass_through_the_card(kind, dtype, X, small_card, tmp_path):
    X = X.astype(dtype) * (X > 0.05)
    path = tmp_path / ("X.npy" if kind == "dense" else "X.h5ad")
    nonneg.files.write(X if kind == "dense" else sparse.csr_array(X), path)
    model = nonneg.NMF(3, divergence="kullback-leibler", **SMALL)
    found, expected = (
        fitted(clone(model).set_params(device=where), nonneg.open_data(path, block_bytes=4000)) for where in ("cuda", None)
    )
    assert {type(block) for block in small_card} == {DeviceData if kind == "dense" else DeviceSparse}
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6 if dtype == "float64" else 1e-3)
    if dtype == "float64":
        passes = [model.history_[-1].readings for model in (found, expected)]
        assert passes[0] == pytest.approx(passes[1], abs=2)  # by rounding a line search may take a pass more


@pytest.mark.usefixtures("small_card")
@pytest.mark.parametrize("model", [nonneg.OPNMF(3, **SMALL), nonneg.NMF(3, **SMALL)], ids=["sketch", "low rank"])
def test_a_surrogate_begun_by_the_first_pass_is_kept(model, X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    data = [nonneg.open_data(tmp_path / "X.npy", block_bytes=4000) for _ in range(2)]
    there, here = (fitted(clone(model).set_params(device=where), own) for where, own in zip(("cuda", None), data, strict=True))
    assert there.history_[-1].readings == here.history_[-1].readings


def test_every_pass_equals_that_in_main_memory(X, small_card):
    data, rng = placed(read_data(X), "cuda"), np.random.default_rng(1)
    assert isinstance(data, Streamed)
    M, N, plain = rng.random((30, 2)), rng.random((90, 2)), read_data(X)
    small_card.clear()
    for found, expected in (
        (data.apply(M), plain.apply(M)),
        (data.apply(N, transposed=True), plain.apply(N, transposed=True)),
        (data.apply_gram(M, transposed=True), plain.apply_gram(M, transposed=True)),
        (data.with_itself(True, False), plain.with_itself(True, False)),
        (data.in_units(4.0).apply(M), plain.in_units(4.0).apply(M)),
        *zip(apply_both(data, M, N), apply_both(plain, M, N), strict=True),
    ):
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert len(small_card) == 6 * 8
    assert data.survey([("power", 3)])[1] == pytest.approx(plain.survey([("power", 3)])[1])
    np.testing.assert_allclose(data.take(np.array([5, 80]), 0), X[[5, 80]])
    np.testing.assert_allclose(data.lengths(1), plain.lengths(1))


@pytest.mark.usefixtures("small_card")
def test_an_interrupt_between_blocks_ends_a_pass(X):
    data = placed(read_data(X), "cuda")
    data.log.over = lambda: True
    with pytest.raises(blocks.Interrupted):
        data.apply(np.ones((30, 1)))


# ---- memory


def shortage(*_, **options):
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 139.80 GiB")


@pytest.mark.usefixtures("card")
def test_a_card_without_memory_is_told_of_and_can_be_used_again(X, monkeypatch):
    model = nonneg.NMF(3, device="cuda", **SMALL)
    before = fitted(model, X)
    components = before.components_
    monkeypatch.setattr(DeviceData, "apply", shortage)
    with pytest.raises(DeviceMemoryError, match=r"no memory for 21\.5 GB more.*in blocks with device='cuda'; float32 takes half"):
        before.fit(X)
    with pytest.raises(MemoryError):
        nonneg.factorize(placed(read_data(X), "cuda"), "W H", 3)
    monkeypatch.undo()
    assert before.components_ is components
    assert nonneg.NMF(3, **SMALL).fit(X).objective_ == pytest.approx(before.objective_, rel=0.02)


def test_nothing_of_a_failed_call_stays():
    held = []

    def work():
        large = torch.ones(10)
        held.append(weakref.ref(large))
        shortage()

    with pytest.raises(DeviceMemoryError) as raised, memory_explained():
        work()
    gc.collect()
    assert held[0]() is None
    assert "no memory" in str(raised.value)


def test_other_errors_pass():
    with pytest.raises(RuntimeError, match="another"), memory_explained():
        raise RuntimeError("another")


def test_the_share_of_a_card_that_data_may_take(monkeypatch):
    monkeypatch.setattr(device, "_memory_of", lambda where: device.Memory(1000, 0, 2000))
    namespace = namespace_of(torch.ones(2))._replace(device="cuda:0")
    assert fits(750, namespace)
    assert not fits(751, namespace)
    assert fits(10**18, namespace_of(torch.ones(2)))


@pytest.mark.usefixtures("small_card")
def test_weights_of_samples_pass_through_in_blocks(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    data = nonneg.open_data(tmp_path / "X.npy", block_bytes=4000)
    weights = np.random.default_rng(1).uniform(0.5, 2, X.shape[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(nonneg.exceptions.IncompatibleError, match="worked on in main memory"):
            nonneg.NMF(3, device="cuda", **SMALL).fit(data, sample_weight=weights)


# ---- Dask


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler"])
@pytest.mark.parametrize("name", ["NMF", "PNMF"])
def test_workers_of_dask_use_their_cards(name, divergence, card):
    da = pytest.importorskip("dask.array", reason="collections of Dask need dask")
    rng = np.random.default_rng(0)
    X = rng.random((60, 3)) @ rng.random((3, 20)) + 0.1 * rng.random((60, 20))
    model = getattr(nonneg, name)(
        3, divergence=divergence, solver="multiplicative", init="random", random_state=0, max_iter=20, tol=0
    )
    blocks = da.from_array(X, chunks=(16, 20))
    expected = clone(model).fit(blocks)
    assert not card
    found = clone(model).set_params(device="cuda").fit(blocks)
    assert card or divergence != "euclidean"
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    assert "cuda:0" in str(found.strategy_)
    assert type(found.components_) is np.ndarray
    with pytest.raises(nonneg.exceptions.IncompatibleError, match="DaskBlocks are worked on in main memory"):
        clone(found).fit(blocks, weights=da.ones(X.shape, chunks=(16, 20)))
