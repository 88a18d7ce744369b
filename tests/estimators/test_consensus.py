"""Consensus NMF: the components that runs have in common, how stable each is, and the number of components by stability."""

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import NMF, ConsensusNMF
from nonneg.estimators.consensus import cluster_runs
from nonneg.exceptions import IncompatibleError
from nonneg.selection import match_components, rank_scan


def counts(n_samples=240, n_features=90, n_programs=4, seed=0):
    """Poisson counts of programs over a shared background, and the programs."""
    rng = np.random.default_rng(seed)
    programs = rng.gamma(0.3, 1.0, (n_programs, n_features)) + 0.1 * rng.gamma(1.0, 1.0, n_features)
    programs /= programs.sum(axis=1, keepdims=True)
    usages = rng.gamma(0.4, 1.0, (n_samples, n_programs)) * 200 + 1
    return sparse.csr_array(rng.poisson(usages @ programs).astype(np.float64)), programs


X, PROGRAMS = counts()


@pytest.fixture(scope="module")
def fitted():
    return ConsensusNMF(4, n_runs=8, divergence="kl", random_state=0).fit(X)


def test_planted_programs_are_found(fitted):
    assert match_components(PROGRAMS, fitted).similarity.min() > 0.97
    assert fitted.stability_.shape == (4,)
    assert fitted.stability_.min() > 0.95
    assert fitted.silhouette_ == pytest.approx(fitted.stability_.mean(), abs=0.02)
    assert fitted.run_components_.shape == (32, 90)
    np.testing.assert_array_equal(np.bincount(fitted.run_labels_), [8, 8, 8, 8])


def test_components_are_medians_of_their_clusters(fitted):
    for part, component in enumerate(fitted.components_):
        median = np.median(fitted.run_components_[fitted.run_labels_ == part], axis=0)
        np.testing.assert_allclose(component, median / np.linalg.norm(median), rtol=1e-12)


def test_codes_and_objective_are_those_of_the_consensus(fitted):
    np.testing.assert_allclose(fitted.factors_["W"], fitted.transform(X), rtol=1e-4, atol=1e-5)  # encoded to 1e-7 of the largest
    assert -fitted.score(X) * X.shape[0] == pytest.approx(fitted.objective_, rel=1e-9)
    assert fitted.objective_ >= fitted.objectives_.min() * (1 - 1e-6)
    mass = fitted.factors_["W"].sum(axis=0) * fitted.components_.sum(axis=1)
    assert (np.diff(mass) < 0).all()


def test_too_many_components_are_unstable(fitted):
    found = ConsensusNMF(7, n_runs=8, divergence="kl", random_state=0).fit(X)
    assert found.silhouette_ < 0.8 < fitted.silhouette_
    assert found.stability_.min() < 0.5


def test_filter_leaves_out_components_far_from_others():
    """One component of one run is like no other; without the filter it draws a median towards it."""
    rng = np.random.default_rng(0)
    runs = np.vstack([np.eye(3, 20) + 0.02 * rng.random((3, 20)) for _ in range(9)])
    runs[4] = 0
    runs[4, 15] = 1
    runs /= np.linalg.norm(runs, axis=1, keepdims=True)
    found = cluster_runs(runs, 9, 3)
    assert found.is_filtered
    np.testing.assert_array_equal(np.flatnonzero(found.labels < 0), [4])
    assert np.isclose(match_components(np.eye(3, 20), found.medians).similarity, 1, atol=0.02).all()
    assert found.silhouettes[4] < 0.5 < np.delete(found.silhouettes, 4).min()
    assert (cluster_runs(runs, 9, 3, threshold=2).labels >= 0).all()


def test_runs_that_do_not_agree_are_said():
    noise = np.random.default_rng(0).random((30, 12))
    with pytest.warns(UserWarning, match="fewer than 6 of the 12 components of 2 runs have near neighbours"):
        model = ConsensusNMF(6, n_runs=2, density_threshold=1e-9, random_state=0).fit(noise)
    assert (model.run_labels_ >= 0).all()


def test_known_components_stay():
    known = PROGRAMS[:1] / np.linalg.norm(PROGRAMS[0])
    model = ConsensusNMF(4, n_runs=4, divergence="kl", fixed_components=known, random_state=0).fit(X)
    np.testing.assert_allclose(model.components_[0], known[0], rtol=1e-6)
    assert match_components(PROGRAMS[1:], model.components_[1:]).similarity.min() > 0.95
    assert model.stability_[0] == 1
    assert model.run_components_.shape == (12, 90)


def test_the_same_seed_gives_the_same_with_any_number_of_threads(fitted):
    again = ConsensusNMF(4, n_runs=8, divergence="kl", random_state=0, n_jobs=2).fit(X)
    np.testing.assert_array_equal(again.components_, fitted.components_)


def test_a_file_keeps_all_of_it(fitted, tmp_path):
    fitted.save(tmp_path / "model.nonneg")
    read = nonneg.load(tmp_path / "model.nonneg")
    for name in ("stability_", "run_components_", "run_labels_", "run_distances_"):
        np.testing.assert_array_equal(getattr(read, name), getattr(fitted, name))
    np.testing.assert_array_equal(read.transform(X), fitted.transform(X))


def test_data_in_files_and_missing_values(tmp_path, fitted):
    np.save(tmp_path / "X.npy", X.toarray())
    from_file = ConsensusNMF(4, n_runs=2, divergence="kl", random_state=0).fit(
        nonneg.open_data(tmp_path / "X.npy", block_bytes=50_000)
    )
    assert match_components(fitted, from_file).similarity.min() > 0.99
    holes = X.toarray()
    holes[np.random.default_rng(0).random(holes.shape) < 0.05] = np.nan
    model = ConsensusNMF(4, n_runs=2, divergence="kl", missing="ignore", random_state=0).fit(holes)
    assert match_components(fitted, model).similarity.min() > 0.98


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"n_runs": 1}, "n_runs must be an int of at least 2"),
        ({"n_runs": 2.5}, "n_runs must be an int of at least 2"),
        ({"density_threshold": 0}, "density_threshold must be a number above 0"),
        ({"init": np.ones((4, 90))}, "init gives the factors, and all runs would be the same"),
        ({"warm_start": True}, "warm_start=True is not for ConsensusNMF"),
    ],
)
def test_mistakes(wrong, match):
    with pytest.raises(IncompatibleError, match=match):
        ConsensusNMF(4, **{"n_runs": 3, **wrong}).fit(X)


def test_rank_by_stability_and_error():
    """The planted number is the largest that is stable; runs are those of a plain NMF, as many as the consensus has."""
    scan = rank_scan(ConsensusNMF(n_runs=5, divergence="kl"), X, [2, 4, 6], random_state=0)
    assert scan.best_ == 4
    assert len(scan.found_["restarts"][4]) == 5
    assert match_components(PROGRAMS, scan.consensus()).similarity.min() > 0.97
    alike = rank_scan(NMF(divergence="kl", init="random"), X, [2, 4, 6], criteria=scan.criteria, random_state=0)
    assert alike.columns_["restarts error"].tolist() == scan.columns_["restarts error"].tolist()
    (curve,) = scan.curves()
    assert curve["beside"] == scan.columns_["restarts error"].tolist()


def test_pictures(fitted):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    ax = fitted.plot()
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2", "3", "4"]
    assert ax.get_title() == f"4 components, stability {fitted.silhouette_:.2f}, 0% left out"
    with pytest.raises(IncompatibleError, match="NMF keeps no components of several runs"):
        nonneg.plot.clustergram(NMF(2, random_state=0).fit(X))
    scan = rank_scan(ConsensusNMF(n_runs=2, divergence="kl"), X, [2, 3], random_state=0)
    ax = scan.plot()
    assert [other.get_ylabel() for other in ax.figure.axes if other is not ax] == ["lowest error"]
    pyplot.close("all")
