"""On a machine with a card: tensors and CuPy's arrays, memory, streams and kernels. `make test-gpu`."""

import gc
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import nonneg
from nonneg.data.device import placed
from nonneg.data.reading import read_data
from nonneg.data.streamed import Streamed
from nonneg.exceptions import DataError, DeviceMemoryError

from .test_device import LEARNED, uses
from .test_estimators import arrays_of, fitted, names_of

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no card"),
    pytest.mark.filterwarnings("ignore"),
]
GB = 2**30
MODELS = [model for model in LEARNED if not isinstance(model, nonneg.ConsensusNMF)]  # as NMF, ten times


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return np.kron(np.eye(3), np.ones((10, 5))) * rng.uniform(0.5, 1.5, (30, 15)) + 0.1 * (rng.random((30, 15)) < 0.5)


def on_card(X, kind="dense", dtype=None):
    found = torch.tensor(X, device="cuda", dtype=dtype)
    return found if kind == "dense" else found.to_sparse_csr()


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("model", MODELS, ids=names_of(MODELS))
def test_tensors(model, kind, X):
    tensor = on_card(X, kind)
    found = fitted(model, tensor)
    assert all(value.is_cuda for value in arrays_of(found))
    assert found.objective_ <= 1.02 * fitted(model, X if kind == "dense" else sparse.csr_array(X)).objective_ + 1e-9
    assert all(value.is_cuda for value in uses(found, tensor) if isinstance(value, torch.Tensor))
    if not isinstance(model, nonneg.KernelPNMF | nonneg.SymmetricNMF | nonneg.SemiNMF | nonneg.ConvexNMF):  # these take signs
        with pytest.raises(DataError, match="negative"):
            clone(model).fit(on_card(X - 1, kind))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler", 0.5])
@pytest.mark.parametrize("name", ["NMF", "OPNMF", "ONMF"])
def test_cupy(name, divergence, kind, X):
    cupy = pytest.importorskip("cupy")
    given = cupy.asarray(X)
    if kind == "sparse":
        given = pytest.importorskip("cupyx.scipy.sparse").csr_matrix(given)
    model = getattr(nonneg, name)(
        3, divergence=divergence, solver="multiplicative", init="random", random_state=0, max_iter=50, tol=0
    )
    found, expected = fitted(model, given), fitted(model, X if kind == "dense" else sparse.csr_array(X))
    assert isinstance(found.components_, cupy.ndarray)
    assert isinstance(found.transform(given), cupy.ndarray)
    assert found.history_[-2].objective == pytest.approx(expected.history_[-2].objective, rel=1e-6)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler", 0.5])
@pytest.mark.parametrize("name", ["NMF", "OPNMF", "PNMF"])
def test_the_same_seed_gives_the_same_bits(name, divergence, dtype, kind):
    rng = np.random.default_rng(0)
    X = on_card((rng.random((700, 5)) @ rng.random((5, 1500))) * (rng.random((700, 1500)) < 0.2), kind, dtype)
    model = getattr(nonneg, name)(5, divergence=divergence, random_state=0, max_iter=60)
    one, other = fitted(model, X), fitted(model, X)
    assert torch.equal(one.components_, other.components_)
    assert one.objective_ == other.objective_


def test_float32_takes_the_iterations_of_float64():
    """Orthogonal factors in single precision end no higher than in double, and not without progress."""
    rng = np.random.default_rng(0)
    X = (rng.random((300, 8)) ** 8) @ (rng.random((8, 20_000)) ** 8) + 0.05 * rng.random((300, 20_000))
    ends = {}
    for dtype in (torch.float32, torch.float64):
        found = nonneg.factorize(on_card(X, dtype=dtype), "X W W.T", 8, constraints={"W": "orthogonal"}, random_state=0)
        ends[dtype] = found.objective
        assert found.status.value in ("converged", "max_iter"), found.status.sentence
    assert ends[torch.float32] <= 1.01 * ends[torch.float64]


# ---- memory


@pytest.fixture
def allowed():
    """Sets the bytes that this process may take of the card."""
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.empty_cache()
    yield lambda n_bytes: torch.cuda.set_per_process_memory_fraction((n_bytes + torch.cuda.memory_allocated()) / total)
    torch.cuda.set_per_process_memory_fraction(1.0)


def test_without_memory_there_is_a_sentence_and_the_card_is_used_again(allowed):
    X = torch.rand((20_000, 5000), device="cuda")
    model = nonneg.NMF(200, solver="multiplicative", init="random", random_state=0, max_iter=5)
    fitted(model, X)
    torch.cuda.synchronize()
    gc.collect()  # of earlier tests, too
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    allowed(4 * 2**20)
    with pytest.raises(DeviceMemoryError, match=r"The device has no memory for .* more: of .* GB, arrays of this process take"):
        fitted(model, X)
    with pytest.raises(DeviceMemoryError):
        nonneg.factorize(X, "W H", 200, max_iter=3, init="random")
    assert torch.cuda.memory_allocated() == before
    torch.cuda.set_per_process_memory_fraction(1.0)
    assert np.isfinite(fitted(model, X).objective_)


def bandwidth():
    """Bytes a second from locked pages to the card."""
    source, target = torch.empty(GB, dtype=torch.uint8, pin_memory=True), torch.empty(GB, dtype=torch.uint8, device="cuda")
    best = np.inf
    for _ in range(5):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        target.copy_(source, non_blocking=True)
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begun)
    return GB / best


def test_a_matrix_larger_than_its_memory_passes_at_the_speed_of_copies(allowed, capsys):
    block = np.random.default_rng(0).random((8192, 2048), dtype=np.float32)
    X = np.empty((48 * 8192, 2048), np.float32)  # 3 GB
    for start in range(0, len(X), len(block)):
        X[start : start + len(block)] = block
    possible = bandwidth()
    data = read_data(X)
    allowed(2 * GB)
    moved = placed(data, "cuda")
    assert isinstance(moved, Streamed)
    M = np.random.default_rng(1).random((2048, 50), dtype=np.float32)
    found = moved.apply_gram(M, transposed=True)
    np.testing.assert_allclose(found, 48 * (block.T.astype(np.float64) @ (block.astype(np.float64) @ M)), rtol=1e-4)
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        moved.apply_gram(M, transposed=True)
        seconds.append(time.perf_counter() - begun)
    reached = X.nbytes / min(seconds)
    with capsys.disabled():
        print(f"\nstream: {reached / 1e9:.1f} GB/s of {possible / 1e9:.1f} GB/s, {reached / possible:.0%}")
    assert reached >= 0.7 * possible
    options = {"divergence": "kullback-leibler", "solver": "multiplicative", "init": "random", "random_state": 0, "max_iter": 2}
    fit = fitted(nonneg.NMF(10, **options, device="cuda"), X)
    assert np.isfinite(fit.objective_)
    assert torch.cuda.max_memory_allocated() < 4 * GB


# ---- kernels


@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_kernels_touch_no_memory_that_is_not_theirs(tool):
    checker = shutil.which("compute-sanitizer")
    if checker is None:
        pytest.skip("compute-sanitizer is not installed")
    script = Path(__file__).with_name("kernels_on_card.py")
    done = subprocess.run(
        [checker, "--tool", tool, "--error-exitcode", "9", sys.executable, str(script)], capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "all kernels ran" in done.stdout
