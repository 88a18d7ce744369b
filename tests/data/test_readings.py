"""How often data in files are read: a few times, and once more to prove that this was enough."""

import numpy as np
import pytest

import nonneg
from nonneg import OPNMF, factorize, open_data
from nonneg.data.low_rank import Compression
from nonneg.data.sketch import Nystrom
from nonneg.exceptions import IncompatibleError


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


# ---- W H and W S H


def mixed(shape=(90, 60), rank=4):
    """Parts that overlap, and noise."""
    generator = np.random.default_rng(1)
    return generator.gamma(0.5, 1.0, (shape[0], rank)) @ generator.gamma(0.5, 1.0, (rank, shape[1])) + 0.2 * generator.random(shape)


@pytest.mark.parametrize("blocks", ["samples", "features"])
@pytest.mark.parametrize(("name", "rank"), [("NMF", 4), ("NMTF", (4, 4))])
def test_other_euclidean_models_need_six_at_most(name, rank, blocks, stored):
    X = mixed()
    data = stored(X, blocks)
    found = getattr(nonneg, name)(rank, random_state=0).fit(data)
    assert data.log.count <= 6
    assert found.history_[-1].readings == data.log.count
    assert found.objective_ <= getattr(nonneg, name)(rank, random_state=0).fit(X).objective_ * (1 + 1e-3)
    assert found.objective_ == pytest.approx(np.square(X - _reconstructed(found)).sum() / 2)
    assert found.reconstruction_err_ == pytest.approx(np.linalg.norm(X - _reconstructed(found)))


@pytest.mark.parametrize("divergence", [1, 0.5])
@pytest.mark.parametrize("form", ["W H", "X W W.T"])
def test_other_divergences_take_one_reading_for_each_iteration(form, divergence, stored):
    """And a few to begin with."""
    X = mixed() + 0.01
    data = stored(X)
    found = factorize(data, form, 4, divergence=divergence, random_state=0, max_iter=150, tol=1e-4)
    assert data.log.count - 6 <= found.n_iter
    assert found.objective <= factorize(X, form, 4, divergence=divergence, random_state=0).objective * (1 + 2e-2)


def _reconstructed(model):
    product = np.eye(len(next(iter(model.factors_.values()))))
    for letter in model.model_.form:
        product = product @ model.factors_[letter.name]
    return product


def test_the_end_is_stationary_for_the_data(stored):
    X = mixed()
    found = factorize(stored(X), "W H", 4, random_state=0)
    on = factorize(X, "W H", init=found.factors, max_iter=100, tol=0)
    assert on.objective >= found.objective * (1 - 2e-3)


def test_a_compression_agrees_with_the_data_on_both_spans(stored, rng):
    X = mixed()
    for data in (stored(X), stored(X, "features")):
        begun = Compression.begun(data, 8, rng)
        W, H = rng.random((90, 3)), rng.random((3, 60))
        before = data.log.count
        found = begun.with_spans(W, H.T).low_rank(data.namespace)
        assert data.log.count == before + 1
        np.testing.assert_allclose(found.apply(H.T), X @ H.T)
        np.testing.assert_allclose(found.apply(W, transposed=True), X.T @ W)
        np.testing.assert_allclose(begun.low_rank(data.namespace).apply(begun.R), X @ begun.R)
        assert found.power_sum(2) == pytest.approx(np.square(X).sum())
        with pytest.raises(IncompatibleError, match="its entries"):
            found.visit(W, H, [])


@pytest.mark.parametrize("seed", range(6))
def test_an_objective_is_that_of_the_factors(seed, tmp_path):
    """Spans that hardly grow were taken for new directions, which then counted twice: 181 in place of .496."""
    generator = np.random.default_rng(1)
    X = generator.gamma(1, size=(60, 3)) @ generator.gamma(1, size=(3, 20)) + 0.1 * generator.random((60, 20))
    np.save(tmp_path / "X.npy", X)
    found = factorize(tmp_path / "X.npy", "W H", 3, random_state=seed)
    assert found.objective == pytest.approx(np.square(X - found.factors["W"] @ found.factors["H"]).sum() / 2, rel=1e-6)
    compression = Compression.begun(open_data(tmp_path / "X.npy"), 8, generator)
    for _ in range(3):
        compression = compression.with_spans(found.factors["W"], found.factors["H"].T + 1e-9 * generator.random((20, 3)))
    assert compression.R.shape[1] <= 20
    np.testing.assert_allclose(compression.R.T @ compression.R, np.eye(compression.R.shape[1]), atol=1e-12)


def test_a_start_for_data_with_missing_values_takes_few_readings(stored):
    """Several starts would be tried in memory, by thirty iterations each; from a file that took 960 readings."""
    X, _ = planted((80, 24), 3)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = nonneg.PNMF(3, divergence="kullback-leibler", missing="ignore", tol=1e-3, random_state=0)
    found = model.fit(stored(X)).history_
    assert found[0].readings < 20
    assert found[-1].objective <= model.fit(X).objective_ * (1 + 1e-2)


def test_an_orthogonal_factor_starts_from_the_projective_form(stored):
    """As in memory: three readings for that, one for the other factor, and one or two before the first check."""
    X, _ = planted((80, 24), 3)
    found, expected = (nonneg.ONMF(3, tol=1e-3, random_state=0).fit(own) for own in (stored(X), X))
    assert found.history_[0].readings <= 8
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-5)


@pytest.mark.parametrize("name", ["OPNMF", "NMF"])
@pytest.mark.parametrize("noise", [0.05, 5e-4])
def test_an_objective_has_its_digits_in_single_precision(name, noise, stored):
    """A difference of sums as large as ΣX² had none left where parts explain nearly all: .59 in place of .12, or below 0."""
    generator = np.random.default_rng(0)
    parts = np.kron(np.eye(6), np.ones(20))
    X = (generator.gamma(1.0, 1.0, (600, 6)) @ parts + noise * generator.random((600, 120))).astype(np.float32)
    for data in (X, stored(X)):
        model = getattr(nonneg, name)(6, random_state=0).fit(data)
        learned = {name: factor.astype(np.float64) for name, factor in model.factors_.items()}
        rest = X - (X @ learned["W"] @ learned["W"].T if name == "OPNMF" else learned["W"] @ learned["H"])
        assert model.objective_ == pytest.approx(np.square(rest).sum() / 2, rel=1e-3)
        assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(rest), rel=1e-3)
        assert model.history_[-1].objective == model.objective_
    stopped = getattr(nonneg, name)(6, random_state=0, callback=lambda progress: progress.iteration >= 10).fit(X)
    learned = {name: factor.astype(np.float64) for name, factor in stopped.factors_.items()}
    rest = X - (X @ learned["W"] @ learned["W"].T if name == "OPNMF" else learned["W"] @ learned["H"])
    assert stopped.reconstruction_err_ == pytest.approx(np.linalg.norm(rest), rel=1e-3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_readings_are_those_of_a_fit(stored):
    """Also of the second with the same file, which has the sketch of the first, and of all that comes after the last check."""
    X, _ = planted()
    data, before = stored(X), 0
    for model in (OPNMF(4, random_state=0), OPNMF(4, random_state=0), nonneg.ONMF(4, random_state=0, n_init=2, max_iter=20)):
        model.set_params(tol=0.5).fit(data)
        assert model.history_[-1].readings == data.log.count - before
        before = data.log.count


@pytest.mark.parametrize(("seed", "rank"), [(1, 4), (2, 4)])
def test_single_precision_ends_as_low_as_in_memory_near_an_exact_fit(seed, rank, stored):
    """½‖X − WH‖² is a thousandth of ‖X‖² here, whose rounding in single precision is as large as what the last components gain."""
    generator = np.random.default_rng(seed)
    X = generator.random((200, 3)) @ generator.random((3, 150)) + 0.05 * generator.random((200, 150))
    X = X.astype(np.float32)
    found = nonneg.NMF(rank, random_state=seed).fit(stored(X))
    assert found.components_.dtype == found.transform(X).dtype == np.float32
    assert found.objective_ <= nonneg.NMF(rank, random_state=seed).fit(X).objective_ * (1 + 1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(4))
def test_across_the_blocks_of_data_of_less_rank_than_a_sketch(dtype, seed, tmp_path):
    """Directions of which there was nothing but rounding were blown up to the size of the others; the objective was not finite."""
    generator = np.random.default_rng(seed)
    X = generator.gamma(0.5, size=(400, 4)) @ generator.gamma(0.5, size=(4, 90)) * 10 % 200  # of rank five to seven
    X = np.asarray(X, dtype)
    np.save(tmp_path / "X.npy", np.asfortranarray(X))
    data = open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 9)
    assert True not in data.costs.one_pass_grams
    sketch, K = Nystrom(data, "rows", 16, generator), X.T.astype(np.float64) @ X
    np.testing.assert_allclose(sketch.C, K @ sketch.O, atol=1e3 * np.finfo(dtype).eps * abs(K).max())
    from_file, in_memory = (OPNMF(4, random_state=0).fit(given) for given in (data, X))
    assert from_file.status_ == "converged"
    assert from_file.objective_ <= 1.01 * in_memory.objective_


@pytest.mark.parametrize("kind", ["npy", "two npy", "h5"])
@pytest.mark.parametrize("is_large", [False, True])
def test_the_system_forgets_blocks_of_files_beyond_memory(kind, is_large, tmp_path, monkeypatch):
    """Making room for more of a file costs more than reading it, where none of it would be there the next time.

    So it is for files that cannot be read past the caches.
    """
    X, _ = planted()
    told = []

    def forget(path, start=0, count=0):
        told.append((str(path), start, count))

    monkeypatch.setattr("nonneg.data.files.available_bytes", lambda: X.nbytes if is_large else 100 * X.nbytes)
    monkeypatch.setattr("nonneg.io.stored.forget", forget)
    monkeypatch.setattr("nonneg.io.numpy_arrays.forget", forget)
    monkeypatch.delattr("os.O_DIRECT", raising=False)
    if kind == "h5":
        h5py = pytest.importorskip("h5py")
        paths = [tmp_path / "X.h5"]
        with h5py.File(paths[0], "w") as file:
            file["X"] = X
    else:
        paths = [tmp_path / f"{number}.npy" for number in range(2 if kind == "two npy" else 1)]
        for path, part in zip(paths, np.array_split(X, len(paths)), strict=True):
            np.save(path, part)
    data = open_data(paths if len(paths) > 1 else paths[0], block_bytes=X.nbytes // 10)
    found = np.concatenate([np.asarray(block.itself()) for _, block in data.pieces()])
    np.testing.assert_array_equal(found, X)
    if not is_large:
        assert told == []
        return
    assert {path for path, *_ in told} == {str(path) for path in paths}
    if kind != "h5":
        assert sum(count for *_, count in told) == X.nbytes
        assert min(start for _, start, _ in told) == paths[0].stat().st_size - X.nbytes // len(paths)


def test_forgetting_a_file_that_is_not_there_is_no_error(tmp_path):
    from nonneg.io.stored import forget

    forget(tmp_path / "nothing.npy")
    forget(tmp_path)


@pytest.mark.parametrize(
    ("dtype", "scale", "more"),
    [("f4", 1e5, 0), ("f4", 1e-14, 0), ("f4", 1e18, 4), ("f4", 1e-25, 4), ("f8", 1e50, 0), ("f8", 1e-140, 4)],
)
@pytest.mark.parametrize("form", ["X W W.T", "W H", "W S H"])
def test_any_scale(form, dtype, scale, more, tmp_path):
    """Units are chosen after the first reading, which has begun a sketch by then: what is kept of it is brought to them, for no
    further reading; where squares have over- or underflowed, it is made again."""
    draw = np.random.default_rng(3)
    X = draw.gamma(0.5, size=(90, 3)) @ draw.gamma(0.5, size=(3, 60)) + 0.05 * draw.random((90, 60))
    found = []
    for unit in (1.0, scale):
        np.save(tmp_path / "X.npy", (X * unit).astype(dtype))
        data = open_data(tmp_path / "X.npy", block_bytes=5000)
        solution = factorize(data, form, 3, random_state=0, max_iter=300)
        found.append((np.sqrt(solution.objective) / unit, len(data.log.seconds)))
        values = np.load(tmp_path / "X.npy")
        W = solution.factors["W"].astype(float)
        product = values @ W @ W.T if form == "X W W.T" else solution.reconstruct()
        rest = np.linalg.norm((values.astype(float) - np.asarray(product, dtype=float)) / unit) / 2**0.5
        assert rest == pytest.approx(found[-1][0], rel=5e-3)
    (plain, readings), (scaled, with_more) = found
    assert scaled == pytest.approx(plain, rel=0.05)
    assert with_more <= readings + more + 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(6))
def test_no_check_promises_less_than_the_data_have(seed, tmp_path):
    """What stands for the data has a lower objective than they have, now and then, in between two readings."""
    generator = np.random.default_rng(seed)
    X = generator.random((9, 7)) * (np.arange(9) % 3 > 0)[:, None]
    np.save(tmp_path / "X.npy", X)
    model = nonneg.NMTF(1 + seed % 2, max_iter=60, random_state=0).fit(nonneg.open_data(tmp_path / "X.npy", block_bytes=56))
    objective = model.history_.objective
    assert np.diff(objective).max() <= 1e-12 * np.sum(X**2), "rounding"
    assert model.objective_ == pytest.approx(objective.min(), rel=1e-9)


@pytest.mark.parametrize("form", ["X W W.T", "W W.T X"])
@pytest.mark.parametrize("init", ["auto", "random"])
def test_a_file_of_zeros_equals_zeros_in_memory(form, init, tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((6, 3)))
    stored = open_data(tmp_path / "X.npy", block_bytes=24)
    found, expected = (factorize(data, form, 1, init=init, random_state=0, max_iter=5) for data in (stored, np.zeros((6, 3))))
    assert found.objective == expected.objective == 0
