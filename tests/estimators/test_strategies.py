"""Strategies: the page in the docs, `nonneg.explain` before a fit, and `strategy_` after it."""

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import NMF, ONMF, OPNMF, PNMF, Model, explain, factorize, load, open_data
from nonneg.exceptions import IncompatibleError

from .cases import ITERATIVE, MAKERS, PAIRWISE

RNG = np.random.default_rng(0)
X = RNG.random((60, 24)) @ RNG.random((24, 24)) + RNG.random((60, 24))


def shown(explanation):
    """The lines of an explanation, without the costs of its stages."""
    return [(name, text if not name[0].isdigit() else text.partition(": ")[0], why) for name, text, why in explanation.lines]


def stored(kind, tmp_path):
    """The same data in another storage, and what a fit is told of them."""
    if kind == "file":
        np.save(tmp_path / "X.npy", X)
        return open_data(tmp_path / "X.npy", block_bytes=2000), {}, {}
    if kind == "dask":
        return pytest.importorskip("dask.array").from_array(X, chunks=(17, 24)), {}, {}
    if kind == "missing":
        return np.where(RNG.random(X.shape) < 0.1, np.nan, X), {"missing": "ignore"}, {}
    fit = {"weights": {"weights": RNG.uniform(0.5, 2, X.shape)}, "sample weights": {"sample_weight": RNG.uniform(0.5, 2, 60)}}
    return {"sparse": sparse.csr_array(X), "float32": X.astype("f4")}.get(kind, X), {}, fit.get(kind, {})


@pytest.mark.filterwarnings("ignore:.*Stopped at max_iter")
@pytest.mark.parametrize("kind", ["dense", "sparse", "file", "dask", "missing", "weights", "sample weights", "float32"])
@pytest.mark.parametrize("name", ITERATIVE)
def test_a_fit_follows_its_explanation(name, kind, tmp_path):
    data, parameters, of_fit = stored(kind, tmp_path)
    if name in PAIRWISE and kind not in ("dense", "sparse", "float32"):
        pytest.skip("similarities are of whole samples in memory")
    if name == "FONT-ALS" and kind in ("missing", "weights", "sample weights"):
        pytest.skip("least squares are without weights")
    estimator = MAKERS[name](max_iter=3, tol=1e-9, random_state=0, **parameters)
    explanation = explain(estimator, data, **of_fit)
    assert not hasattr(estimator, "n_features_in_")
    estimator.fit(data, **of_fit)
    assert shown(estimator.strategy_) == shown(explanation)
    start, descent = estimator.strategy_.steps
    assert start.took.seconds >= 0
    assert descent.took.iterations <= 3 or name in ("ONMF", "FONT-ALS")


@pytest.mark.parametrize("form", ["X W W.T", "W H", "W S H", "X W H"])
@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler", 0.5])
@pytest.mark.parametrize("solver", ["auto", "multiplicative", "adaptive"])
def test_passes_over_a_file_are_at_most_those_explained(form, divergence, solver, tmp_path):
    data, *_ = stored("file", tmp_path)
    model, options = Model(form, divergence), {"solver": solver, "init": "random", "tol": 0.0}
    explanation = explain(model, data, 2, max_iter=20, **options)
    (most,) = [int(word) for word in explanation.passes.split() if word.isdigit()]
    solutions = [factorize(data, model, 2, max_iter=n, random_state=0, check_every=20, **options) for n in (20, 40)]
    first, second = (solution.strategy.steps[1].took.passes for solution in solutions)
    if "round" in explanation.passes:
        assert second <= most
    else:
        searches = 3 if "line searches" in explanation.passes else 1
        assert second - first <= searches * (20 * most + 1), "an iteration, and a check"


@pytest.mark.parametrize("form", ["X W H", "W H X", "X W W.T", "W W.T X", "W S H", "A X B"])
@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler"])
def test_forms_on_files_are_solved_as_in_memory(form, divergence, tmp_path):
    """`X W H` needs XᵀX for coordinate descent, which is not formed for data in files."""
    data, *_ = stored("file", tmp_path)
    rank = None if form == "A X B" else 3
    found, expected = (
        factorize(one, form, rank, divergence=divergence, init="random", random_state=0, max_iter=300, tol=1e-9)
        for one in (data, X)
    )
    assert found.objective == pytest.approx(expected.objective, rel=0.15, abs=1e-6 * np.sum(X**2)), "other minima"


def test_an_explanation_reads_and_runs_nothing(tmp_path):
    data, *_ = stored("file", tmp_path)
    for estimator in (NMF(3), NMF(3, divergence="kl"), OPNMF(3), ONMF(3)):
        explain(estimator, data)
    assert data.log.count == 0


def test_explained_memory_is_that_of_the_fit():
    """Within a factor of three of the arrays that NumPy allocates, for fits that hold little besides."""
    import tracemalloc

    data = RNG.random((4000, 300))
    for estimator in (PNMF(20, random_state=0), NMF(20, random_state=0)):
        estimator.set_params(max_iter=20, tol=0).fit(data[:200])  # compiled, and lazily imported
        tracemalloc.start()
        estimator.fit(data)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        number, unit = estimator.strategy_.memory.split()[1:3]
        expected = float(number) * {"kB": 1e3, "MB": 1e6}[unit]
        assert expected / 3 < peak < 3 * expected


def test_an_explanation_names_the_solved_model():
    lines = str(explain(OPNMF(4), X)).splitlines()
    assert lines[0].startswith("X ")
    assert "60 × 24, dense float64, all entries known, in memory" in lines[0]
    assert "min ½‖X − X W Wᵀ‖², W ≥ 0" in lines[1]
    assert "WᵀW = I is not imposed" in lines[1]
    assert "XᵀX (24 × 24)" in lines[2]
    assert "WᵀW = I is not imposed" not in str(explain(OPNMF(4, solver="paper"), X))
    assert "W ≥ 0, Wᵀ W = I" in explain(OPNMF(4, solver="paper"), X).solved
    assert "3 restarts" in str(explain(NMF(4, n_init=3), X))


def test_strategies_are_kept_in_files(tmp_path):
    model = OPNMF(3, random_state=0).fit(X)
    model.save(tmp_path / "model.nonneg")
    again = load(tmp_path / "model.nonneg")
    assert str(again.strategy_) == str(model.strategy_)
    assert again.strategy_ == model.strategy_


@pytest.mark.parametrize("other", [nonneg.TruncatedNonnegativeSVD(2), 3, PNMF])
def test_fits_without_explanation(other):
    with pytest.raises(IncompatibleError, match="explain takes a factorization of nonneg"):
        explain(other, X)


def test_a_rank_is_for_models():
    with pytest.raises(IncompatibleError, match="PNMF has n_components"):
        explain(PNMF(3), X, 4)
    assert explain("W H", X, 3).solved == explain(NMF(3), X).solved
