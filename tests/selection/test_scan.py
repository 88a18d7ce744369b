"""Which rank: planted ones are found, noise is called noise, and impossible scans are refused."""

import json
import os
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from nonneg import (
    NMF,
    ONMTF,
    OPNMF,
    PNMF,
    QNMFHMM,
    BiQNMF,
    Factorization,
    KernelPNMF,
    NonnegativeLDA,
    Observed,
    ProjectiveClustering,
    SymmetricNMF,
    load,
)
from nonneg.exceptions import DataError, IncompatibleError, ShapeError
from nonneg.graph import GraphClustering
from nonneg.io.archive import read_archive, write_archive
from nonneg.plot.views import column_labels, row_labels
from nonneg.selection import atlas, criteria, match_components, rank_scan, top_features
from nonneg.selection.criteria import Criterion, Error, Gabriel, Halves, Likelihood, Restarts, Speckled, Subsamples
from nonneg.selection.criteria.error import permuted
from nonneg.selection.criteria.gabriel import divergence_between, one_each
from nonneg.selection.criteria.halves import split
from nonneg.selection.criteria.restarts import clustered, consensus_matrix, cophenetic, dispersion, silhouette
from nonneg.selection.criteria.speckled import divided
from nonneg.selection.rules import last_above, smallest_close
from nonneg.selection.storing import MEASUREMENT, _digest
from nonneg.selection.subjects import Chain, Subject, subject_of

pytestmark = pytest.mark.wide(one_in=8)


def noisy(signal, level, draw):
    """Noise of zero mean, cut on both sides where it would take an entry below zero."""
    return signal + np.clip(level * signal.std() * draw.normal(size=signal.shape), -signal, signal)


def mixed(rank, n=48, m=36, level=0.1, seed=0):
    draw = np.random.default_rng(seed)
    W, H = (draw.gamma(1.0, size=shape) * (draw.random(shape) < 0.5) for shape in ((n, rank), (rank, m)))
    return noisy(W @ H, level, draw)


def parts(rank, n=40, m=30, level=0.1, seed=0):
    draw = np.random.default_rng(seed)
    H = np.zeros((rank, m))
    H[np.arange(m) % rank, np.arange(m)] = draw.uniform(0.5, 1.5, m)
    return noisy(draw.gamma(2.0, size=(n, rank)) @ H, level, draw)


def blocks(k, l, n=48, m=40, level=0.1, seed=0):  # noqa: E741
    draw = np.random.default_rng(seed)
    S = draw.permuted(np.linspace(0.2, 4, k * l)).reshape(k, l)
    weights = draw.uniform(0.7, 1.3, n)[:, None] * draw.uniform(0.7, 1.3, m)
    return noisy(S[np.arange(n) % k][:, np.arange(m) % l] * weights, level, draw)


def chain(rank, length=4000, per_state=3, seed=0):
    draw = np.random.default_rng(seed)
    P = 0.8 * np.roll(np.eye(rank), 1, axis=1) + 0.2 / rank
    states = [0]
    for _ in range(length - 1):
        states.append(int(draw.choice(rank, p=P[states[-1]])))
    return np.array(states) * per_state + draw.integers(per_state, size=length)


def communities(rank, size=15, seed=0):
    draw = np.random.default_rng(seed)
    of = np.repeat(np.arange(rank), size)
    A = np.triu(draw.random((len(of), len(of))) < np.where(of[:, None] == of, 0.6, 0.05), 1)
    return (A | A.T).astype(float)


def similarities(rank, n=45, level=0.1, seed=0):
    draw = np.random.default_rng(seed)
    W = draw.gamma(1.0, size=(n, rank)) * (draw.random((n, rank)) < 0.5)
    K = W @ W.T
    noise = draw.normal(size=K.shape)
    return K + np.clip(level * K.std() * (noise + noise.T) / 2, -K, K)


PLANTED = {
    "NMF": (NMF(), mixed(3), 3),
    "NMF, I": (NMF(divergence="kullback-leibler", tol=1e-4), np.random.default_rng(1).poisson(40 * mixed(3, 30, 24, level=0)), 3),
    "PNMF": (PNMF(), parts(3), 3),
    "OPNMF": (OPNMF(), parts(4), 4),
    "ProjectiveClustering": (ProjectiveClustering(), parts(3).T.copy(), 3),
    "SymmetricNMF": (SymmetricNMF(kernel="precomputed", tol=1e-4), similarities(3), 3),
    "QNMFHMM": (QNMFHMM(n_init=2, separate=False), chain(3), 3),
    "GraphClustering": (GraphClustering(n_init=2), communities(4), 4),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_rank_is_found(name):
    estimator, X, rank = PLANTED[name]
    ranks = [rank + 1, 1, rank, rank - 1]
    scan = rank_scan(estimator, X, ranks, random_state=0)
    assert scan.best_ == rank
    assert str(rank) in scan.why_
    assert list(scan.columns_["rank"]) == sorted(ranks)


@pytest.mark.wide
def test_both_ranks_of_a_co_clustering_are_found():
    scan = rank_scan(ONMTF(), blocks(3, 4), {"samples": [2, 3, 5], "features": [3, 4, 5]}, random_state=0)
    assert scan.best_ == (3, 4)
    assert scan.why_.startswith("Samples: ")
    assert "Features: " in scan.why_


@pytest.mark.wide
def test_held_out_items_of_a_quadratic_co_clustering_have_one_cluster():
    scan = rank_scan(BiQNMF(divergence="euclidean"), blocks(3, 3, 30, 30), [1, 3], random_state=0)
    errors = dict(zip(scan.columns_["rank"], scan.columns_["gabriel"], strict=True))
    assert list(errors) == [(1, 3), (3, 3), (3, 1)]
    assert errors[3, 3] < 0.5 * min(errors[1, 3], errors[3, 1])


@pytest.mark.parametrize("estimator", [NMF(), OPNMF()], ids=repr)
def test_independent_entries_have_rank_one(estimator):
    X = np.random.default_rng(3).gamma(2.0, size=(40, 30))
    scan = rank_scan(estimator, X, range(1, 4), random_state=0)
    assert scan.best_ == 1
    assert "nothing beyond noise" in scan.why_


def test_independent_symbols_have_one_state():
    x = np.random.default_rng(0).integers(6, size=4000)
    assert rank_scan(QNMFHMM(n_init=2, separate=False), x, range(1, 4), random_state=0).best_ == 1


@pytest.fixture(scope="module")
def several():
    """All criteria of a matrix, on one that has three parts."""
    return rank_scan(OPNMF(), parts(3), range(1, 5), criteria=[Halves(3), "gabriel", Restarts(3), Error(1)], random_state=0)


def test_every_criterion_has_a_choice_and_columns(several):
    assert list(several.choices_) == ["halves", "gabriel", "restarts", "error"]
    assert several.best_ == several.choices_["halves"].rank == several.choices_["gabriel"].rank == 3
    assert "Of other criteria, 'gabriel'" in several.why_
    for name in ("gabriel s.e.", "halves Rand index", "restarts cophenetic", "restarts stability", "error permuted"):
        assert several.columns_[name].shape == (4,)
    assert (several.columns_["error"] <= several.columns_["error permuted"]).all()
    assert several.columns_["restarts dispersion"][2] > 0.99


def test_the_table_is_a_data_frame(several):
    table = several.table
    assert list(table.index) == [1, 2, 3, 4]
    assert table.loc[2, "gabriel"] > 2 * table.loc[3, "gabriel"]


def test_a_plot_goes_into_the_given_axes(several):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    _, axes = pyplot.subplots()
    assert several.plot(axes) is axes
    assert axes.get_xlabel() == "rank"
    assert several.plot(criterion="error").get_ylabel() == "reconstruction error"
    with pytest.raises(IncompatibleError, match="'eigengap' was not scanned; there are 'halves'"):
        several.plot(criterion="eigengap")
    pyplot.close("all")


def test_consensus_components_are_the_planted_ones(several):
    planted = np.arange(3)[:, None] == np.arange(30) % 3
    assert match_components(planted, several.consensus()).similarity.min() > 0.9
    assert several.consensus(2).shape == (2, 30)
    with pytest.raises(ShapeError, match="no restarts with rank 9"):
        several.consensus(9)
    with pytest.raises(IncompatibleError, match="need restarts"):
        rank_scan(NMF(), mixed(2), [1, 2], random_state=0).consensus()


# ---- the same, whatever is done to it


def test_the_last_step_of_a_pipeline_is_scanned():
    texts = [" ".join(words) for words in np.random.default_rng(0).choice(["sun", "moon", "star", "bread", "butter"], (24, 6))]
    pipeline = make_pipeline(CountVectorizer(), NMF(2, divergence="kl"))
    counts = CountVectorizer().fit_transform(texts)
    scan, other = (rank_scan(one, X, [1, 2], random_state=0) for one, X in ((pipeline, texts), (pipeline[-1], counts)))
    same(scan, other)
    assert not hasattr(pipeline[0], "vocabulary_")
    with pytest.raises(IncompatibleError, match=r"a Pipeline that ends with one; got PCA\(\)"):
        rank_scan(make_pipeline(CountVectorizer(), PCA()), texts, [1, 2])


def same(a, b):
    assert a.best_ == b.best_
    for name, values in a.columns_.items():
        np.testing.assert_array_equal(values, b.columns_[name], err_msg=name)


@pytest.mark.wide
def test_the_same_seed_gives_the_same_with_any_number_of_threads():
    X, given = parts(3), {"criteria": ["gabriel", Halves(2)], "random_state": 7}
    first = rank_scan(OPNMF(), X, range(1, 4), **given)
    same(first, rank_scan(OPNMF(), X, range(1, 4), n_jobs=2, **given))
    other = rank_scan(OPNMF(), X, range(1, 4), criteria="gabriel", random_state=8)
    assert (first.columns_["gabriel"] != other.columns_["gabriel"]).any()


def test_ranks_do_not_depend_on_which_others_are_scanned():
    X = mixed(3)
    few, many = (rank_scan(NMF(), X, ranks, random_state=0).found_["gabriel"][3] for ranks in ([3], [4, 3, 1]))
    assert few == many


def test_permuted_samples_have_the_same_rank():
    X, order = mixed(3, seed=4), np.random.default_rng(0).permutation(48)
    turned = X[order][:, ::-1]
    assert (
        rank_scan(NMF(), X, range(1, 6), random_state=0).best_ == rank_scan(NMF(), turned, range(1, 6), random_state=0).best_ == 3
    )


def test_sparse_data_equal_dense_data():
    X = np.random.default_rng(0).poisson(3 * mixed(3, level=0)).astype(float)
    dense, stored = (rank_scan(NMF(), given, [2, 3, 4], random_state=0) for given in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(dense.columns_["gabriel"], stored.columns_["gabriel"], rtol=1e-3)


def test_a_scan_can_be_gone_on_with(tmp_path, monkeypatch):
    X = mixed(3)
    whole = rank_scan(NMF(), X, range(1, 5), criteria=["gabriel", "restarts"], random_state=0)
    rank_scan(NMF(), X, [2, 3], criteria="gabriel", random_state=0, folder=tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} == {".nonneg", ".json"}
    assert json.loads((tmp_path / "scan.json").read_text())["estimator"] == "NMF"
    (tmp_path / "gabriel-3-0.nonneg").write_bytes(b"cut short")
    measured, measure = [], Gabriel.measure

    def watched(self, subject, part, rank, seed):
        measured.append(rank)
        return measure(self, subject, part, rank, seed)

    monkeypatch.setattr(Gabriel, "measure", watched)
    again = rank_scan(NMF(), X, range(1, 5), criteria=["gabriel", "restarts"], random_state=0, folder=tmp_path)
    assert sorted(measured) == [1] * 9 + [3] + [4] * 9
    same(whole, again)
    same(whole, rank_scan(NMF(), X, range(1, 5), criteria=["gabriel", "restarts"], folder=tmp_path))


def test_the_folder_of_another_scan_is_refused(tmp_path):
    X = mixed(3)
    rank_scan(NMF(), X, [2], random_state=0, folder=tmp_path)
    for other in (
        {"estimator": NMF(divergence="kullback-leibler")},
        {"X": X + 1},
        {"random_state": 1},
        {"criteria": Gabriel(n_repeats=2)},
        {"y": np.arange(48) % 2},
    ):
        given = {"estimator": NMF(), "X": X, "ranks": [2], "random_state": 0} | other
        with pytest.raises(DataError, match=r"holds (another scan|a scan with another)"):
            rank_scan(**given, folder=tmp_path)
    (tmp_path / "scan.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        rank_scan(NMF(), X, [2], folder=tmp_path)


def test_progress_is_told(capsys):
    rank_scan(NMF(), mixed(2), [1, 2], random_state=0, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 18
    assert lines[-1].startswith("gabriel  rank 2, part 9 of 9: error ")
    assert "18 of 18" in lines[-1]


def test_fits_that_have_not_converged_are_told_once():
    with pytest.warns(ConvergenceWarning, match="18 fits of the scan ended before") as told:
        rank_scan(NMF(max_iter=1, tol=1e-12), mixed(2), [1, 2], random_state=0)
    assert len(told) == 1


def test_neither_estimator_nor_data_are_changed():
    X, estimator = mixed(3), NMF(n_components=2, random_state=5)
    before = X.copy()
    rank_scan(estimator, X, [1, 2], random_state=0)
    assert estimator.get_params()["n_components"] == 2
    assert not hasattr(estimator, "components_")
    np.testing.assert_array_equal(X, before)


# ---- what cannot be scanned


@pytest.mark.parametrize(
    ("ranks", "says"),
    [
        ([], "empty"),
        ([0, 1], "0 is among them"),
        ([2, 2, 3], "2 more than once"),
        ([1.5], r"1\.5 is among them"),
        (["3"], "'3' is among them"),
        ([True], "True is among them"),
        (3, "such as range"),
        ([3, 25], "up to 25; at most 24 can be scanned here: X is 48 × 36, and 'gabriel' fits parts of it"),
        ({"samples": [1], "features": [2]}, "NMF has one"),
    ],
)
def test_ranks_that_cannot_be(ranks, says):
    with pytest.raises(ShapeError, match=says):
        rank_scan(NMF(), mixed(2), ranks)


@pytest.mark.parametrize("estimator", [KMeans(), NonnegativeLDA(), NMF, None, "NMF"], ids=str)
def test_estimators_that_are_not_ours_or_have_no_rank(estimator):
    with pytest.raises(IncompatibleError, match=r"must be a factorization|is the class NMF"):
        rank_scan(estimator, mixed(2), [1])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"criteria": "gabreil"}, "Did you mean 'gabriel'"),
        ({"criteria": []}, "criteria is empty"),
        ({"criteria": ["halves", Halves(3)]}, "more than once"),
        ({"criteria": "eigengap"}, "about graphs"),
        ({"criteria": "likelihood"}, "about sequences"),
        ({"criteria": Gabriel(n_folds=20)}, "20 folds need 40 at least"),
        ({"estimator": NMF(init=np.ones((2, 36)))}, "gives factors"),
        ({"lengths": [3]}, "only chains have"),
        ({"estimator": NMF(fixed_components=np.ones((1, 36))), "criteria": "gabriel"}, "a block has some of them only"),
        ({"estimator": KernelPNMF(kernel="linear"), "criteria": "gabriel"}, "do not give similarities back"),
        ({"estimator": SymmetricNMF(), "X": np.ones((5, 5)), "criteria": "gabriel"}, "X is 5 × 5, and 3 folds need 6 at least"),
    ],
)
def test_incompatible_options_are_refused(given, says):
    with pytest.raises(IncompatibleError, match=says):
        rank_scan(**{"estimator": NMF(), "X": mixed(2), "ranks": [1]} | given)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Gabriel(n_folds=1),
        lambda: Gabriel(n_repeats=0),
        lambda: Gabriel(tolerance=-1),
        lambda: Halves(threshold=2),
        lambda: Restarts(1),
        lambda: Restarts(n_items=1),
        lambda: Speckled(share=1),
        lambda: Likelihood(n_folds=True),
    ],
)
def test_criteria_check_their_numbers(make):
    with pytest.raises(IncompatibleError, match="must be"):
        make()


def test_data_that_cannot_be_scanned():
    with pytest.raises(DataError, match="negative"):
        rank_scan(NMF(), mixed(2) - 5, [1])
    with pytest.raises(ShapeError, match="class of each of 48 samples"):
        rank_scan(NMF(), mixed(2), [1], y=[1, 2])
    with pytest.raises(DataError, match="whole numbers"):
        rank_scan(QNMFHMM(), np.full((4, 4), 0.5), [1])


@pytest.mark.filterwarnings("ignore::nonneg.exceptions.EmptySamplesWarning")  # some samples of the data are zero
@pytest.mark.parametrize("estimator", [NMF(), OPNMF(), NMF(divergence="kullback-leibler")], ids=str)
def test_entries_held_out_one_by_one(estimator):
    scan = rank_scan(estimator, mixed(2), [1, 2, 3], criteria=Speckled(2), random_state=0)
    assert scan.columns_["speckled"][1] < scan.columns_["speckled"][0]
    assert scan.best_ == 2


def with_holes(rank, share=0.2):
    """A matrix of planted rank with entries that are missing: dense with NaN, and as what is observed."""
    X = mixed(rank) + 0.01
    known = np.random.default_rng(1).random(X.shape) > share
    return {"NaN": np.where(known, X, np.nan), "Observed": Observed(sparse.csr_array(np.where(known, X, 0.0)))}


@pytest.mark.parametrize("kind", ["NaN", "Observed"])
@pytest.mark.parametrize("estimator", [NMF(missing="ignore"), OPNMF(missing="ignore")], ids=lambda one: type(one).__name__)
def test_missing_values(estimator, kind):
    X = with_holes(2)[kind]
    scan = rank_scan(estimator, X, [1, 2, 3], random_state=0)
    assert list(scan.choices_) == ["speckled"]
    assert "Judged by held-out entries, as no blocks can be held out: values are missing" in scan.why_
    if isinstance(estimator, NMF):
        assert scan.best_ == 2
    several = rank_scan(estimator, X, [1, 2], criteria=["halves", "restarts", "error"], random_state=0)
    assert all(np.isfinite(values).all() for values in several.columns_.values())
    with pytest.raises(IncompatibleError, match=r"'gabriel' cannot judge .* values are missing.*use 'speckled'"):
        rank_scan(estimator, X, [1, 2], criteria="gabriel")


def test_entries_that_are_held_out_are_of_those_that_are_known():
    X = with_holes(2)
    for kind, given in X.items():
        subject = subject_of(NMF(missing="ignore"), given)
        rest, rows, columns, truth = divided(subject, 0.1, np.random.default_rng(0))
        assert 0.05 * X["NaN"].size < len(truth) < 0.12 * X["NaN"].size
        np.testing.assert_array_equal(truth, X["NaN"][rows, columns])
        known = rest.toarray() if kind == "Observed" else np.nan_to_num(rest)
        assert not known[rows, columns].any()
        known[rows, columns] = truth
        np.testing.assert_array_equal(known, np.nan_to_num(X["NaN"]))
        assert len(divided(subject, 1e-9, np.random.default_rng(0))[3]) == 1


def test_clusters_of_data_with_missing_values_are_judged_by_halves():
    scan = rank_scan(ProjectiveClustering(missing="ignore"), with_holes(2)["NaN"], [1, 2], random_state=0)
    assert "Judged by split halves, as no blocks can be held out: values are missing" in scan.why_


def test_observed_entries_are_another_scan_than_zeros(tmp_path):
    observed = with_holes(2)["Observed"]
    rank_scan(NMF(), observed, [1], criteria=Speckled(1), random_state=0, folder=tmp_path)
    with pytest.raises(DataError, match="another scan: its X was not the one given here"):
        rank_scan(NMF(), observed.values, [1], criteria=Speckled(1), random_state=0, folder=tmp_path)


def test_why_no_larger_rank_can_be_scanned():
    with pytest.raises(ShapeError, match=r"at most 36 can be scanned here: X is 48 × 36\.$"):
        rank_scan(NMF(), mixed(2), [37], criteria="error")
    with pytest.raises(ShapeError, match=r"at most 3 can be scanned here: 3 symbols occur\.$"):
        rank_scan(QNMFHMM(), np.arange(60) % 3, [4])
    with pytest.raises(
        ShapeError, match="at most 4 can be scanned here: the graph has 6 vertices, and 'subsamples' fits parts of it"
    ):
        rank_scan(GraphClustering(), np.ones((6, 6)) - np.eye(6), [5])
    with pytest.raises(ShapeError, match="at most 6 can be scanned here: X has 9 items, and 'gabriel' fits parts of it"):
        rank_scan(SymmetricNMF(), np.ones((9, 9)), [7])


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "scan").write_text("")
    with pytest.raises(DataError, match="cannot be the folder of a scan"):
        rank_scan(NMF(), mixed(2), [1], folder=tmp_path / "scan")


def test_files_are_to_be_read_first(tmp_path):
    np.save(tmp_path / "X.npy", mixed(2))
    for estimator in (NMF(), SymmetricNMF()):
        with pytest.raises(DataError, match=r"rank_scan needs all of X in memory.*numpy\.load"):
            rank_scan(estimator, tmp_path / "X.npy", [1, 2])
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert rank_scan(NMF(), mapped, [1, 2], random_state=0).best_ == rank_scan(NMF(), mixed(2), [1, 2], random_state=0).best_


def test_data_too_small_for_the_usual_criteria():
    with pytest.raises(IncompatibleError, match=r"by the usual criteria: not by 'gabriel', since .*; not by 'halves', since"):
        rank_scan(NMF(), mixed(2)[:2, :2], [1, 2])


def test_data_without_missing_values_are_read_as_ever():
    complete = Observed(sparse.csr_array(mixed(2) + 0.01))
    assert list(rank_scan(NMF(missing="ignore"), complete, [1, 2], random_state=0).choices_) == ["gabriel"]
    with pytest.raises(DataError, match="missing='ignore'"):
        rank_scan(NMF(), with_holes(2)["NaN"], [1, 2])
    with pytest.raises(DataError, match="no entry that is observed"):
        rank_scan(NMF(missing="ignore"), np.full((9, 9), np.nan), [1])


# ---- criteria, one by one


def test_a_new_criterion_is_one_class():
    class Constant(Criterion):
        name = shown = label = "constant"

        def obstacle(self, subject):
            return None

        def parts(self, subject, generator, y):
            return [None]

        def measure(self, subject, part, rank, seed):
            return {"value": rank}

        def row(self, found):
            return {"constant": found[0]["value"]}

        def choose(self, ranks, found, rows, axis=0):
            return criteria.base.Choice(ranks[0], "It is the first.")

    scan = rank_scan(NMF(), mixed(2), [2, 3], criteria=Constant())
    assert (scan.best_, scan.why_) == (2, "It is the first.")


def test_halves_have_the_same_shares_of_each_class():
    y = np.repeat([0, 1, 2], [20, 10, 8])
    a, b = split(38, np.random.default_rng(0), y)
    assert sorted([*a, *b]) == list(range(38))
    np.testing.assert_array_equal(np.bincount(y[a]), [10, 5, 4])


def test_kernels_are_judged_by_halves():
    X = parts(3).T.copy()
    scan = rank_scan(KernelPNMF(kernel="linear"), X, [2, 3], random_state=0)
    assert list(scan.choices_) == ["halves"]
    assert scan.columns_["halves least cosine"][1] > 0.95


def test_fits_judged_by_pairs_end_at_gains_below_chance(monkeypatch):
    asked = []

    def with_rank(self, rank, seed, **changes):
        asked.append(changes["tol"])
        return Subject.with_rank(self, rank, seed, **changes, max_iter=5)

    monkeypatch.setattr(Chain, "with_rank", with_rank)
    for tol, used in ((1e-6, 1e-3), (0.01, 0.01), (0, 0)):
        asked.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            rank_scan(QNMFHMM(n_init=1, separate=False, tol=tol), chain(3), [2], random_state=0)
        assert set(asked) == {used}


def test_several_sequences_are_dealt_out_whole():
    sequences = ["abab", "cdcd", "abab", "cdcd", "efef", "efef"]
    subject = subject_of(QNMFHMM(), sequences)
    halves = subject.dealt_out(2, np.random.default_rng(0))
    np.testing.assert_array_equal(sum(halves), subject.data)
    assert all((half.sum() % 3) == 0 for half in halves), "three pairs of each sequence"
    counts = np.arange(9).reshape(3, 3)
    dealt = subject_of(QNMFHMM(), counts).dealt_out(4, np.random.default_rng(0))
    np.testing.assert_array_equal(sum(dealt), counts)


def test_restarts_of_co_clusterings_have_labels_of_both():
    scan = rank_scan(ONMTF(), blocks(3, 3, 24, 21), [2, 3], criteria=Restarts(2), random_state=0)
    assert {"restarts dispersion of samples", "restarts dispersion of features"} <= set(scan.columns_)
    assert scan.found_["restarts"][3, 3][0]["labels 0"].shape == (24,)
    assert scan.found_["restarts"][3, 3][0]["labels 1"].shape == (21,)


def test_a_broken_split_is_noticed(monkeypatch):
    """If rows that are held out were part of the fit, the error would fall on and on."""
    X = mixed(3, n=30, m=24)
    honest = rank_scan(NMF(), X, [3, 8], random_state=0).columns_["gabriel"]
    assert honest[1] > honest[0]
    from nonneg.selection.criteria import gabriel

    monkeypatch.setattr(gabriel, "others", lambda n, fold: np.arange(n))
    leaking = rank_scan(NMF(), X, [3, 8], random_state=0).columns_["gabriel"]
    assert leaking[1] < leaking[0]


def test_permuted_columns_keep_their_entries():
    X = np.random.default_rng(0).poisson(1.0, size=(9, 5)).astype(float)
    for given in (X, sparse.csr_array(X)):
        found = permuted(given, np.random.default_rng(1))
        found = found.toarray() if sparse.issparse(found) else found
        np.testing.assert_array_equal(np.sort(found, axis=0), np.sort(X, axis=0))
        assert (found != X).any()


def test_codes_with_one_entry_are_the_best_of_their_kind():
    draw = np.random.default_rng(0)
    X, C = draw.gamma(1.0, size=(20, 7)), draw.gamma(1.0, size=(4, 7))
    for divergence, value in (
        (NMF()._model().divergence, lambda x, z: np.sum((x - z) ** 2)),
        (NMF(divergence="kullback-leibler")._model().divergence, lambda x, z: np.sum(x * np.log(x / z) - x + z)),
    ):
        codes = one_each(X, C, divergence)
        assert ((codes > 0).sum(axis=1) == 1).all()
        ours = np.array([value(x, h @ C) for x, h in zip(X, codes, strict=True)])
        scales = np.geomspace(0.05, 20, 400)
        best = np.array([min(value(x, s * c) for c in C for s in scales) for x in X])
        assert (ours <= best * 1.05).all()


def test_divergence_of_held_out_entries():
    draw = np.random.default_rng(0)
    X, H, C = draw.gamma(1.0, size=(6, 5)), draw.gamma(1.0, size=(6, 2)), draw.gamma(1.0, size=(2, 5))
    euclidean, kl = (NMF(divergence=name)._model().divergence for name in ("euclidean", "kullback-leibler"))
    assert divergence_between(X, H, C, euclidean) == pytest.approx(np.mean((X - H @ C) ** 2) / 2)
    assert divergence_between(sparse.csr_array(X), H, C, euclidean) == pytest.approx(np.mean((X - H @ C) ** 2) / 2)
    Z = H @ C + 1e-3 * X.mean()
    assert divergence_between(X, H, C, kl) == pytest.approx(np.mean(X * np.log(X / Z) - X + Z))
    assert np.isfinite(divergence_between(X, 0 * H, C, kl))


def test_consensus_of_runs_that_agree_and_of_runs_that_do_not():
    same_labels = [np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])]
    assert dispersion(consensus_matrix(same_labels)) == cophenetic(consensus_matrix(same_labels)) == 1
    mixed_labels = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    assert dispersion(consensus_matrix(mixed_labels)) == pytest.approx(0.5)


def test_clustered_components_leave_out_single_ones():
    runs = [np.eye(3)[[0, 1]] + 0.01 * number for number in range(9)] + [np.array([[0, 0, 1.0], [0.5, 0.5, 0]])]
    np.testing.assert_allclose(match_components(np.eye(3)[:2], clustered(runs)).similarity, 1, atol=0.01)
    assert 0.5 < silhouette(runs) < 0.9, "the stability counts the run that is alone"


def test_the_smallest_rank_that_is_as_good():
    errors = np.array([[9.0, 8, 9], [1.01, 1, 1.01], [1.0, 1, 1], [0.995, 1, 1]])
    baseline = np.full(3, 9.0)
    assert smallest_close([1, 2, 3, 4], errors, "error", 0.02, baseline).rank == 2
    assert smallest_close([1, 2, 3, 4], errors[[0, 0, 0, 1]], "error", 0.02, baseline).why.endswith("scan more.")
    assert smallest_close([3, 4, 5], errors[[2, 2, 2]], "error", 0.02, baseline).why.endswith("scan smaller ranks.")
    spoiled = errors.copy()
    spoiled[1, 0] = 50  # one fit in a poor local minimum
    assert smallest_close([1, 2, 3, 4], spoiled, "error", 0.02, baseline).rank == 2


def counts(rank, n=240, m=160, share=0.15, seed=0):
    """Poisson counts: programs over a shared background, so that the error is nearly all noise."""
    own = np.arange(n)[:, None] % rank == np.arange(m) % rank
    return np.random.default_rng(seed).poisson(1.5 * (1 - share + share * rank * own)).astype(float)


def test_components_that_are_a_small_share_of_a_noisy_error_count():
    """Medians of planted programs: the tenth lowers the error by 1.7 %, of 8 % explained since rank 6."""
    errors = np.array([1.078, 1.057, 1.036, 1.017, 1.0, 1.0, 1.00005, 1.0001])[:, None] * np.linspace(0.9, 1.1, 9)
    baseline = np.full(9, 1.2)
    assert smallest_close(range(6, 14), errors, "error", 0.02, baseline).rank == 10
    assert smallest_close(range(10, 14), errors[4:], "error", 0.02, baseline).why.endswith("scan smaller ranks.")
    nearly_flat = np.array([1.0015, 1.0, 1.0005])[:, None] * np.ones(9)
    assert smallest_close([1, 2, 3], nearly_flat, "error", 0.02, np.full(9, 1.2)).rank == 1, "less than 2 % of what is explained"


def test_programs_in_counts_are_found():
    scan = rank_scan(NMF(divergence="kl", tol=1e-4), counts(4), [2, 3, 4, 5], random_state=0)
    fall = scan.columns_["gabriel"][1] / scan.columns_["gabriel"][2] - 1
    assert 0 < fall < 0.02, "less than the tolerance, as a share of the error"
    assert scan.best_ == 4


def test_restarts_choose_by_the_silhouette_of_components():
    """With a component too many, labels of samples agree between runs, and components do not."""
    scan = rank_scan(NMF(divergence="kl", tol=1e-4), counts(3, 150, 90, 0.6), [2, 3, 4], criteria="restarts", random_state=0)
    assert scan.best_ == 3
    assert scan.columns_["restarts dispersion"][2] > 0.9 > scan.columns_["restarts stability"][2]


def test_no_more_ranks_are_advised_than_there_can_be():
    """Of the halves of four features, the reason is given that blocks are not held out."""
    draw = np.random.default_rng(0)
    X = draw.gamma(1, size=(40, 4)) @ np.eye(4) + 0.01
    scan = rank_scan(NMF(init="random"), X, [3, 4], random_state=0)
    assert "scan more" not in scan.why_
    assert "Judged by split halves, as no blocks can be held out: X is 40 × 4" in scan.why_
    assert "scan more" in rank_scan(NMF(), mixed(4), [1, 2], criteria="error", random_state=0).why_


def test_the_sentence_tells_medians_from_the_means_of_the_table():
    """Rank 3 has the lowest mean and rank 4 the lowest median: a part that is harder than others moves the one only."""
    errors = np.array([[3.0, 3.0, 3.0], [1.0, 1.0, 1.0], [0.995, 0.995, 0.995], [0.99, 0.99, 1.5]])
    found = [[{"error": value, "margins": 3.0} for value in row] for row in errors]
    rows = [Gabriel().row(parts) for parts in found]
    choice, means = Gabriel().choose([1, 2, 3, 4], found, rows), [row["gabriel"] for row in rows]
    assert np.argmin(means) == 2
    assert "no rank above is better by enough to count: it is lowest at 4, by 1.0 %" in choice.why
    assert choice.why.endswith("(medians over 3 parts; the table has means).")
    small = smallest_close([2, 3, 4], errors[1:], "error", 0.02, np.full(3, 3.0))
    assert "does not fall by enough to count after 2, the smallest rank scanned, and is lowest at 4, by 1.0 % (medians" in small.why
    assert "medians" not in smallest_close([1, 2, 3], errors[:3, :1], "error", 0.02, np.full(1, 3.0)).why


def test_partitions_of_subgraphs_are_judged_by_medians_too():
    rows = (2, [1.0, 1.0, 0.7]), (3, [0.5, 0.5, 0.2])
    found = [[{"rand": value, "parts": rank} for value in row] for rank, row in rows]
    why = Subsamples().choose([2, 3], found, [Subsamples().row(parts) for parts in found]).why
    assert "1, and 0.5 at 3 (medians over 3 parts; the table has means)." in why


def test_the_largest_rank_above_a_threshold():
    assert last_above([1, 2, 3], np.array([1, 0.95, 0.2]), 0.9, "cosine").rank == 2
    assert "nothing here is reproduced" in last_above([2, 3], np.array([0.1, 0.2]), 0.9, "cosine").why
    assert "scan more" in last_above([2, 3], np.array([0.1, 0.95]), 0.9, "cosine").why


# ---- components


class TestMatching:
    def test_permuted_and_scaled_components_are_found(self):
        draw = np.random.default_rng(0)
        A, order = draw.random((6, 20)), draw.permutation(6)
        found = match_components(A, draw.uniform(1, 9, (6, 1)) * A[order])
        np.testing.assert_array_equal(order[found.order], np.arange(6))
        np.testing.assert_allclose(found.similarity, 1)
        np.testing.assert_allclose(match_components(A, found.components).order, np.arange(6))

    def test_different_numbers(self):
        A = np.eye(5)[:3]
        more = match_components(A, np.eye(5))
        np.testing.assert_array_equal(more.order, [0, 1, 2])
        np.testing.assert_array_equal(more.left_over, [3, 4])
        fewer = match_components(np.eye(5), A)
        np.testing.assert_array_equal(fewer.order, [0, 1, 2, -1, -1])
        np.testing.assert_array_equal(fewer.similarity, [1, 1, 1, 0, 0])

    def test_fitted_estimators(self):
        X = parts(3)
        a, b = (OPNMF(3, random_state=seed).fit(X) for seed in (0, 1))
        assert match_components(a, b).similarity.min() > 0.99
        x = chain(3, 3000)
        chains = [QNMFHMM(3, n_init=2, random_state=seed).fit(x) for seed in (0, 1)]
        assert match_components(*chains).similarity.min() > 0.9

    def test_extreme_sizes_and_zeros(self):
        found = match_components([[1e300, 0], [0, 1e-300]], [[0, 1e-200], [0, 0]])
        np.testing.assert_array_equal(found.similarity, [0, 1])

    @pytest.mark.parametrize(
        ("given", "error", "says"),
        [
            (np.ones((2, 4)), ShapeError, "same features"),
            (np.ones(3), ShapeError, "in its rows"),
            (np.full((2, 3), np.nan), DataError, "NaN"),
            ("text", DataError, "array of components"),
            (NMF(), IncompatibleError, "not fitted"),
        ],
    )
    def test_components_that_cannot_be_matched(self, given, error, says):
        with pytest.raises(error, match=says):
            match_components(np.ones((2, 3)), given)


class TestFeatures:
    def test_names_of_the_estimator(self):
        pandas = pytest.importorskip("pandas")
        X = pandas.DataFrame(parts(2, m=6), columns=list("abcdef"))
        model = OPNMF(2, random_state=0).fit(X)
        found = top_features(model, count=2)
        assert [len(part) for part in found] == [2, 2]
        assert {feature.name for part in found for feature in part} <= set("abcdef")
        assert found[0][0].weight >= found[0][1].weight
        assert top_features(model, list("uvwxyz"), 1)[0][0].name == "uvwxyz"["abcdef".index(found[0][0].name)]

    def test_symbols_of_a_chain(self):
        model = QNMFHMM(2, n_init=2, random_state=0).fit(["banana", "panorama", "salami"])
        assert {feature.name for part in top_features(model, count=1) for feature in part} <= set("abnpormsli")

    def test_invalid_input(self):
        with pytest.raises(ShapeError, match="2 names for 3 features"):
            top_features(np.ones((2, 3)), ["a", "b"])
        with pytest.raises(IncompatibleError, match="count must be"):
            top_features(np.ones((2, 3)), count=0)


def test_an_atlas_is_a_partition_of_features():
    X = parts(3, m=30)
    model = OPNMF(3, random_state=0).fit(np.hstack([X, np.zeros((40, 1))]))
    found = atlas(model)
    assert found.labels[-1] == -1
    assert found.sizes.sum() == 30
    np.testing.assert_array_equal(found.sizes, [10, 10, 10])
    np.testing.assert_array_equal(found.labels[:30].reshape(10, 3), np.tile(found.labels[:3], (10, 1)))
    assert (np.count_nonzero(found.components, axis=0) <= 1).all()


@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_projections_have_the_labels_and_sizes_of_their_atlas(cls, tmp_path):
    X = np.hstack([parts(3, m=30), np.zeros((40, 1))])
    model = cls(3, random_state=0)
    assert not hasattr(model, "labels_")
    model.fit(X).save(tmp_path / "model.nonneg")
    for found in (model, load(tmp_path / "model.nonneg")):
        np.testing.assert_array_equal(found.labels_, atlas(model).labels)
        np.testing.assert_array_equal(found.sizes_, [10, 10, 10])
    np.testing.assert_array_equal(column_labels(model), model.labels_)
    assert row_labels(model) is None, "samples have none without data"
    assert len(row_labels(model, X)) == 40


def test_features_that_no_component_has():
    """They belong to none, rather than to the first."""
    model = Factorization("W H", 2, random_state=0).fit(parts(2, m=8))
    model.components_ = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    assert column_labels(model).tolist() == [0, 1, -1]


def test_an_atlas_counts_components_by_their_size_in_the_data():
    """A row of H may be long where its column of W is short."""
    model = NMF(2, random_state=0).fit(parts(2, m=8))
    before = atlas(model).labels
    model.components_ = model.components_ * np.array([[100.0], [1.0]])
    model.factors_ = {"W": model.factors_["W"] / np.array([100.0, 1.0]), "H": model.components_}
    np.testing.assert_array_equal(atlas(model).labels, before)


def test_no_warnings_leak_from_a_quiet_scan():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rank_scan(NMF(), mixed(2), [1, 2], random_state=0)


# ---- data whose answer is known, and what users get wrong


@pytest.mark.parametrize("bridges", [0, 1])
def test_two_cliques_have_two_parts_by_every_criterion(bridges):
    """Partitions into three parts and more are the same two again and again, which is no reason to ask for more."""
    A = np.kron(np.eye(2), np.ones((12, 12))) - np.eye(24)
    A[0, 12] = A[12, 0] = bridges
    scan = rank_scan(GraphClustering(), A, range(1, 6), random_state=0)
    assert scan.best_ == 2
    assert "fewer parts than they were asked for at 3, 4, 5" in scan.why_


def test_independent_entries_do_not_lower_the_error_beyond_permuted_data():
    found = [
        rank_scan(NMF(), np.random.default_rng(seed).random((60, 40)), range(1, 5), criteria="error", random_state=0).best_
        for seed in range(5)
    ]
    assert found == [1] * 5
    assert rank_scan(NMF(), mixed(3), range(1, 6), criteria=Error(1), random_state=0).best_ == 3


def test_permuted_data_whose_error_rises_with_the_rank_do_not_hide_components():
    """Fits of permuted data end in minima of different depth: their error may rise from one rank to the next."""
    errors = [[10.0, 36.5, 36.4], [4.0, 34.0, 34.6], [1.0, 34.7, 34.4], [0.99, 33.8, 33.6]]
    assert Error(2).choose([1, 2, 3, 4], [[{"error": error} for error in row] for row in errors], [{}] * 4).rank == 3


@pytest.mark.parametrize("criterion", ["gabriel", "halves", "speckled"])
@pytest.mark.parametrize("X", [np.ones((30, 20)), np.outer(np.arange(1.0, 31), np.arange(1.0, 21))], ids=["ones", "outer"])
def test_exact_data_of_rank_one(X, criterion):
    """Rounding is no error, and two components of which one is a multiple of the other are one."""
    assert rank_scan(NMF(), X, range(1, 4), criteria=criterion, random_state=0).best_ == 1


def test_exact_blocks_leave_nothing_but_rounding():
    scan = rank_scan(NMF(), np.kron(np.eye(3), np.ones((12, 8))), range(1, 5), random_state=0)
    assert scan.best_ == 3
    assert "nothing but rounding from rank 3 on" in scan.why_


def test_the_atlas_of_co_clusters_are_those_of_features():
    X = np.kron(np.array([[1.0, 2.0, 0.1], [0.2, 1.0, 3.0]]), np.ones((10, 8)))
    model = ONMTF((2, 3), random_state=0).fit(X)
    found = atlas(model)
    np.testing.assert_array_equal(found.labels, model.column_labels_)
    assert found.sizes.tolist() == [8, 8, 8]
    assert found.components.shape == (3, 24)


@pytest.mark.parametrize("n_jobs", ["2", 0, True, 1.5])
def test_numbers_of_jobs_that_cannot_be(n_jobs):
    with pytest.raises(IncompatibleError, match="n_jobs must be None, an int of at least 1, or -1"):
        rank_scan(NMF(), mixed(2), [1, 2], n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("estimator", "X", "given", "says"),
    [
        (ONMTF(), mixed(2), {"ranks": {"samples": [2]}}, "ONMTF has two ranks, and both are needed: 'samples' and 'features'"),
        (NMF(), mixed(2), {"ranks": {"samples": [2], "features": [2]}}, "NMF has one: give the ranks themselves"),
        (NMF(fixed_components=np.ones((2, 36))), mixed(2), {"criteria": "halves"}, "ranks begins with 1; fixed_components are 2"),
        (NMF(), np.ones((1, 1)), {"ranks": [1], "criteria": "speckled"}, "fewer than 4 entries are too few to hold some out"),
        (SymmetricNMF(), np.ones((9, 9)), {"criteria": "error"}, "These can: 'gabriel', 'halves', 'restarts'"),
        (NMF(), mixed(2), {"criteria": ["auto", "halves"]}, "'auto' stands alone"),
        (SymmetricNMF(missing="ignore"), np.full((9, 9), np.nan), {}, "missing='ignore' means nothing for it"),
    ],
)
def test_errors_come_before_any_fit(estimator, X, given, says, monkeypatch):
    monkeypatch.setattr(type(estimator), "fit", lambda *_: pytest.fail("fitted"))
    with pytest.raises((IncompatibleError, ShapeError), match=says):
        rank_scan(estimator, X, **({"ranks": [1, 2]} | given))


def test_the_folder_of_another_scan_names_the_difference(tmp_path):
    X = mixed(2)
    rank_scan(NMF(), X, [1], random_state=0, folder=tmp_path)
    for other, says in (
        ({"estimator": NMF(tol=1e-3)}, "another scan: tol was 1e-05, and here it is 0.001"),
        ({"X": X + 1}, "its X was not"),
        ({"y": np.arange(48) % 2}, "its y was not"),
    ):
        with pytest.raises(DataError, match=says):
            rank_scan(**({"estimator": NMF(), "X": X, "ranks": [1], "random_state": 0} | other), folder=tmp_path)


def test_ranks_without_consensus_are_named():
    scan = rank_scan(ONMTF(), blocks(2, 3), {"samples": [1, 2, 3], "features": [3, 4]}, criteria=["restarts"], random_state=0)
    with pytest.raises(ShapeError, match=r"no restarts with rank \(1, 3\).*with \(1, 4\), \(2, 4\), \(3, 4\), \(3, 3\)"):
        scan.consensus((1, 3))


def test_a_threshold_is_drawn():
    scan = rank_scan(OPNMF(), parts(2), [1, 2, 3], criteria="halves", random_state=0)
    assert scan.curves()[0]["threshold"] == 0.9
    assert any(line.get_ydata()[0] == 0.9 for line in scan.plot().lines)


@pytest.mark.parametrize("seed", range(4))
def test_exact_data_in_single_precision(seed):
    draw = np.random.default_rng(seed)
    X = draw.gamma(1, size=(40, 3)) @ draw.gamma(0.5, size=(3, 30))
    assert rank_scan(NMF(), X.astype(np.float32), [2, 3, 4], random_state=0).best_ == 3


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_ranks_do_not_depend_on_the_scale(scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert rank_scan(NMF(), mixed(3) * scale, range(1, 5), random_state=0).best_ == 3


def test_subgraphs_without_edges_and_vertices_without_any():
    star = np.zeros((11, 11))
    star[0, 1:] = star[1:, 0] = 1.0
    assert rank_scan(GraphClustering(), star, [1, 2], random_state=0).best_ == 1
    alone = np.zeros((15, 15))
    alone[:12, :12] = np.kron(np.eye(2), np.ones((6, 6))) - np.eye(12)
    with pytest.warns(UserWarning, match="3 of 15 vertices have no edges") as told:
        assert rank_scan(GraphClustering(), alone, range(1, 5), random_state=0).best_ == 2
    assert len(told) == 1


def test_gaps_of_rounding_are_none():
    complete = np.ones((12, 12)) - np.eye(12)
    choice = rank_scan(GraphClustering(), complete, [1, 2, 3], criteria="eigengap", random_state=0)
    assert "more than rounding" in choice.why_


def test_nothing_is_said_of_ranks_that_were_not_scanned():
    X = np.random.default_rng(0).random((30, 20))
    assert "scan smaller ranks" in rank_scan(NMF(), X, [3, 4, 5], criteria="error", random_state=0).why_


@pytest.mark.parametrize("content", ["[]", "null", '{"version": 2}', '{"version": 5, "seed": 0, "criteria": null}'])
def test_a_folder_whose_description_is_damaged(content, tmp_path):
    (tmp_path / "scan.json").write_text(content)
    with pytest.raises(DataError, match="cannot be read as the subject of a scan"):
        rank_scan(NMF(), mixed(2), [1], random_state=0, folder=tmp_path)


def test_a_measurement_that_is_no_archive_is_made_again(tmp_path):
    X = mixed(2)
    first = rank_scan(NMF(), X, [1], random_state=0, folder=tmp_path)
    np.save(tmp_path / "gabriel-1-0", np.ones(3))
    (tmp_path / "gabriel-1-0.npy").replace(tmp_path / "gabriel-1-0.nonneg")
    again = rank_scan(NMF(), X, [1], random_state=0, folder=tmp_path)
    assert again.columns_["gabriel"] == first.columns_["gabriel"]


@pytest.mark.parametrize("how", ["of another rank", "of other types", "without a digest"])
def test_a_measurement_with_other_numbers_is_made_again(how, tmp_path):
    X = mixed(2)
    first = rank_scan(NMF(), X, [1, 2], criteria="error", random_state=0, folder=tmp_path)
    path = tmp_path / "error-1-0.nonneg"
    archive = read_archive(path, MEASUREMENT, "")
    found, digest = archive.read("found"), archive.read("digest")
    if how == "of another rank":
        path.replace(tmp_path / "error-2-0.nonneg")
    elif how == "of other types":
        write_archive(path, MEASUREMENT, {"found": 3, "digest": digest})
    else:
        write_archive(path, MEASUREMENT, {"found": {name: value + 1 for name, value in found.items()}})
    same(first, rank_scan(NMF(), X, [1, 2], criteria="error", random_state=0, folder=tmp_path))


def test_a_measurement_that_is_a_folder(tmp_path):
    rank_scan(NMF(), mixed(2), [1], criteria="error", random_state=0, folder=tmp_path)
    (tmp_path / "error-1-0.nonneg").unlink()
    (tmp_path / "error-1-0.nonneg").mkdir()
    with pytest.raises(DataError, match=r"error-1-0\.nonneg is not a file"):
        rank_scan(NMF(), mixed(2), [1], criteria="error", random_state=0, folder=tmp_path)


@pytest.mark.parametrize("n", [10, 17])
def test_one_clique_is_one_part(n):
    """Two halves of a clique are as good as any other two, and found again by the order of vertices only."""
    assert rank_scan(GraphClustering(), np.ones((n, n)) - np.eye(n), range(1, 4), random_state=0).best_ == 1


@pytest.mark.parametrize(("shape", "fixed", "ranks"), [((60, 40), 0, 12), ((60, 9), 0, 6), ((3, 40), 0, None), ((40, 20), 3, 12)])
def test_ranks_that_nobody_named(shape, fixed, ranks):
    """ "auto" is 2 to 12, at most what the criterion can judge, at least as many as are fixed."""
    X = np.random.default_rng(0).random(shape)
    model = NMF(fixed_components=X[:fixed] if fixed else None, max_iter=5, tol=0)
    if ranks is None:
        with pytest.raises(ValueError, match="cannot be judged"):
            rank_scan(model, X, "auto", random_state=0)
        return
    found = rank_scan(model, X, "auto", random_state=0)
    assert found.columns_["rank"].tolist() == list(range(max(2, fixed), ranks + 1))


def test_ranks_that_are_text():
    with pytest.raises(ValueError, match="or 'auto'; got '2-12'"):
        rank_scan(NMF(), np.ones((9, 9)), "2-12")


@pytest.mark.parametrize(
    "found",
    [{"another": 1.0}, {"error": "text", "margins": 1.0}, {"error": np.ones(3), "margins": np.ones(3)}],
    ids=["other names", "text", "vectors"],
)
def test_measurements_that_no_scan_has_written(found, tmp_path):
    X = mixed(2)
    rank_scan(NMF(), X, [1, 2], criteria="gabriel", random_state=0, folder=tmp_path)
    found = {name: np.asarray(value) for name, value in found.items()}
    for path in tmp_path.glob("*.nonneg"):
        write_archive(path, MEASUREMENT, {"found": found, "digest": _digest(path.stem, found)})
    with pytest.raises(DataError, match="measurements that no scan has written"):
        rank_scan(NMF(), X, [1, 2], criteria="gabriel", random_state=0, folder=tmp_path)


def test_a_pipe_in_place_of_a_description(tmp_path):
    os.mkfifo(tmp_path / "scan.json")
    with pytest.raises(DataError, match="is not a file"):
        rank_scan(NMF(), mixed(2), [1], random_state=0, folder=tmp_path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fold_of_a_short_sequence_may_be_empty():
    x = np.random.default_rng(0).integers(0, 2, 20).tolist()
    scan = rank_scan(QNMFHMM(max_iter=10, init="random", n_init=2), x, [1], criteria="likelihood", random_state=0)
    assert all(np.isfinite(values).all() for values in scan.columns_.values() if values.dtype.kind == "f")
