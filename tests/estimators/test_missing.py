"""Estimators with missing values and weights: hidden entries are recovered, and codes follow the known ones."""

import re
from inspect import signature

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

import nonneg
from nonneg import (
    NMF,
    NMTF,
    ONMF,
    ONMTF,
    OPNMF,
    PNMF,
    BiQNMF,
    Factorization,
    NMFImputer,
    NonnegativeSparseCoding,
    Observed,
    ProjectiveClustering,
    SymmetricNMF,
)
from nonneg.exceptions import DataError, EmptySamplesWarning, IncompatibleError
from nonneg.metrics import relative_error

pytestmark = [pytest.mark.wide(one_in=3), pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]
LABELS = np.repeat(np.arange(4), 8)


@pytest.fixture(scope="module")
def planted():
    """Four parts of eight features each, a little noise, and which three tenths are hidden."""
    generator = np.random.default_rng(0)
    X = generator.gamma(1.0, 1.0, (80, 4)) @ (np.eye(4)[LABELS].T * generator.uniform(0.5, 1.5, 32))
    X = X * (1 + 0.02 * generator.standard_normal(X.shape)) + 1e-3
    return X, generator.random(X.shape) < 0.3


def stored(X, hidden):
    rows, columns = np.nonzero(~hidden)
    return Observed(sparse.csr_array((X[~hidden], (rows, columns)), shape=X.shape))


EXACT = [
    NMF(4, random_state=0),
    NMF(4, divergence="kullback-leibler", random_state=0),
    PNMF(4, random_state=0),
    PNMF(4, divergence="kullback-leibler", random_state=0),
    OPNMF(4, random_state=0),
    OPNMF(4, orthogonality="exact", random_state=0),
    ONMF(4, orthogonality="exact", random_state=0),
    NMTF(4, random_state=0),
    Factorization("X W H", 4, random_state=0, max_iter=300),
]
OTHERS = [
    NonnegativeSparseCoding(4, random_state=0),
    ONMTF(4, random_state=0, max_iter=100),
    ProjectiveClustering(4, random_state=0, max_iter=100),
    BiQNMF(4, random_state=0, max_iter=100),
]


@pytest.mark.parametrize("estimator", EXACT, ids=repr)
def test_hidden_entries_are_recovered(estimator, planted):
    X, hidden = planted
    estimator = clone(estimator).set_params(missing="ignore")
    for data in (np.where(hidden, np.nan, X), stored(X, hidden), np.ma.masked_array(X, hidden)):
        model = clone(estimator).fit(data)
        found = model.inverse_transform(model.transform(data))
        assert np.linalg.norm((found - X)[hidden]) < 0.05 * np.linalg.norm(X[hidden])
        assert model.score(data) > -0.05
        assert model.reconstruction_err_ < 0.05 * np.linalg.norm(X) + 2


@pytest.mark.parametrize("estimator", OTHERS, ids=repr)
def test_all_take_missing_values(estimator, planted):
    X, hidden = planted
    model = clone(estimator).set_params(missing="ignore").fit(np.where(hidden, np.nan, X))
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.transform(np.where(hidden, np.nan, X))).all()


@pytest.mark.parametrize("estimator", [*EXACT, *OTHERS], ids=repr)
def test_gaps_in_single_precision(estimator, planted):
    """Products of float32 that are kept in double precision fill gaps of float32 data."""
    X, hidden = planted
    single = X.astype(np.float32)
    for data in (np.where(hidden, np.float32(np.nan), single), stored(single, hidden)):
        model = clone(estimator).set_params(missing="ignore", max_iter=20).fit(data)
        assert model.components_.dtype == np.float32
        assert np.isfinite(model.transform(data)).all()


@pytest.mark.parametrize("orthogonality", ["soft", "exact"])
def test_parts_are_found(orthogonality, planted):
    X, hidden = planted
    model = OPNMF(4, missing="ignore", orthogonality=orthogonality, random_state=0).fit(np.where(hidden, np.nan, X))
    assert adjusted_rand_score(LABELS, model.components_.argmax(axis=0)) == 1


@pytest.mark.parametrize("estimator", [NMF(4), NMF(4, divergence=1), PNMF(4), OPNMF(4)], ids=repr)
def test_codes_of_a_sample_do_not_depend_on_others(estimator, planted):
    X, hidden = planted
    holes = np.where(hidden, np.nan, X)
    model = clone(estimator).set_params(missing="ignore", random_state=0).fit(holes)
    together = model.transform(holes)
    alone = np.concatenate([model.transform(row[None]) for row in holes[:5]])
    np.testing.assert_allclose(together[:5], alone, rtol=1e-4, atol=1e-4 * together.max())
    whole = model.transform(X)
    np.testing.assert_allclose(whole, together, atol=0.3 * whole.max())


def test_sample_weights_are_repeated_samples(planted):
    X, _ = planted
    counts = np.random.default_rng(0).integers(1, 4, len(X))
    for estimator in (NMF(4, random_state=0, tol=1e-9), PNMF(4, random_state=0, tol=1e-9)):
        weighted = clone(estimator).fit(X, sample_weight=counts)
        repeated = clone(estimator).fit(np.repeat(X, counts, axis=0))
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)


@pytest.fixture(scope="module")
def faces():
    """Parts that overlap a little, so that orthogonality has its price."""
    generator = np.random.default_rng(0)
    parts = np.eye(5)[np.repeat(np.arange(5), 8)].T + 0.5 * (generator.random((5, 40)) < 0.2)
    return generator.gamma(1.0, 1.0, (100, 5)) @ parts + 0.2 * generator.random((100, 40))


@pytest.mark.parametrize(
    "estimator", [pytest.param(ONMF(5, random_state=0), marks=pytest.mark.wide), ONMTF(5, random_state=0)], ids=repr
)
def test_weights_leave_factors_orthogonal(estimator, faces):
    """With weights the rule is the one without, on data in which what weights lack of one is made up."""
    generator = np.random.default_rng(1)
    holes = np.where(generator.random(faces.shape) < 0.1, np.nan, faces)
    plain = clone(estimator).fit(faces)
    error = max(each.error for each in plain.orthogonality_.values())
    mean = plain.objective_ / faces.size
    for data, given in (
        (faces, {"sample_weight": generator.uniform(0.5, 1.5, 100)}),
        (faces, {"weights": (generator.uniform(0.5, 1.5, 100), generator.uniform(0.5, 1.5, 40))}),
        (sparse.csr_array(faces), {"weights": (generator.uniform(0.5, 1.5, 100), generator.uniform(0.5, 1.5, 40))}),
        (faces, {"weights": generator.uniform(0.5, 1.5, faces.shape)}),
        (holes, {}),
        (stored(faces, np.isnan(holes)), {}),
    ):
        model = clone(estimator).set_params(missing="ignore").fit(data, **given)
        assert max(each.error for each in model.orthogonality_.values()) < 1.3 * error + 0.1
        assert model.objective_ / faces.size < 1.3 * mean


def test_sample_weights_are_repeated_samples_for_orthogonal_components(faces):
    counts = np.random.default_rng(0).integers(0, 4, len(faces))
    start = np.random.default_rng(1)
    W, H = start.random((100, 5)), start.random((5, 40))
    for steps in (1, 50):
        weighted = ONMF(5, init={"W": W, "H": H}, max_iter=steps, tol=0).fit(faces, sample_weight=counts)
        again = {"W": np.repeat(W, counts, axis=0), "H": H}
        repeated = ONMF(5, init=again, max_iter=steps, tol=0).fit(np.repeat(faces, counts, axis=0))
        np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-6, atol=1e-9)
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
        np.testing.assert_allclose(
            np.repeat(weighted.factors_["W"], counts, axis=0), repeated.factors_["W"], rtol=1e-4, atol=1e-4 * faces.max()
        )


def test_entries_without_weight_are_missing(planted):
    X, hidden = planted
    known = (~hidden).astype(float)
    spoilt = np.where(hidden, 1e6, X)
    for estimator in (NMF(4, random_state=0), NMF(4, divergence=1, random_state=0)):
        weighted = clone(estimator).fit(spoilt, weights=known)
        ignoring = clone(estimator).set_params(missing="ignore").fit(np.where(hidden, np.nan, X))
        assert weighted.objective_ == pytest.approx(ignoring.objective_, rel=1e-8)


@pytest.mark.parametrize("hidden_entry", [0.0, 1e6, np.nan])
@pytest.mark.parametrize("divergence", ["euclidean", "itakura-saito"])
def test_samples_without_weight_are_not_looked_at(divergence, hidden_entry, planted):
    X, _ = planted
    weights = np.ones(80)
    weights[::10] = 0.0
    spoilt = np.where(weights[:, None] > 0, X, hidden_entry)
    for estimator in (NMF(4), ONMF(4)):
        estimator = clone(estimator).set_params(divergence=divergence, random_state=0, max_iter=500)
        found = clone(estimator).fit(spoilt, sample_weight=weights).objective_
        assert found == pytest.approx(clone(estimator).fit(X[weights > 0]).objective_, rel=3e-2)


def test_samples_without_weight_are_not_looked_at_in_sparse_data(planted):
    X, _ = planted
    weights = np.ones(80)
    weights[3] = 0.0
    spoilt = X.copy()
    spoilt[3] = 0.0
    model = NMF(4, divergence="itakura-saito", random_state=0)
    found = [clone(model).fit(kind(spoilt), sample_weight=weights).objective_ for kind in (np.asarray, sparse.csr_array)]
    assert found[0] == pytest.approx(found[1], rel=1e-2)
    spoilt[3] = 1e9
    for estimator in (NMF(4, random_state=0), ONMTF(4, random_state=0)):
        found = clone(estimator).fit(sparse.csr_array(spoilt), sample_weight=weights).objective_
        assert found < 1.5 * clone(estimator).fit(X).objective_


def test_imputer(planted):
    X, hidden = planted
    holes = np.where(hidden, np.nan, X)
    for imputer in (NMFImputer(4, random_state=0), NMFImputer(estimator=OPNMF(4, random_state=0))):
        filled = imputer.fit_transform(holes)
        np.testing.assert_array_equal(filled[~hidden], X[~hidden])
        assert np.linalg.norm((filled - X)[hidden]) < 0.05 * np.linalg.norm(X[hidden])
        np.testing.assert_array_equal(imputer.transform(X), X)
        assert imputer.transform(holes[:1].astype(np.float32)).shape == (1, 32)
    labels = make_pipeline(NMFImputer(4, random_state=0), ProjectiveClustering(4, random_state=0)).fit(holes)[-1].labels_
    assert len(labels) == len(X)
    with pytest.raises(IncompatibleError, match="one of nonneg's factorizations"):
        NMFImputer(estimator="mean").fit(holes)


@pytest.mark.parametrize("seed", range(3))
def test_features_of_different_units_are_filled_in_better_than_by_their_means(seed):
    """Of wine, one feature is about 750 and another .4; the means are an error of about .4."""
    X = load_wine().data
    hidden = np.random.default_rng(seed).random(X.shape) < 0.15
    holes = np.where(hidden, np.nan, X)
    imputer = NMFImputer(random_state=0)
    filled, means = imputer.fit_transform(holes), np.where(hidden, np.nanmean(holes, axis=0), X)
    assert relative_error(X[hidden][None], filled[hidden][None]) < 0.95 * relative_error(X[hidden][None], means[hidden][None])
    assert (filled < 1.5 * np.nanmax(holes, axis=0)).all()
    assert 1 <= imputer.n_components_ <= 8


def test_unpredictable_entries_are_filled_by_means():
    generator = np.random.default_rng(0)
    X = generator.uniform(1.0, 2.0, (60, 8)) * np.logspace(0, 3, 8)
    holes = np.where(generator.random(X.shape) < 0.2, np.nan, X)
    imputer = NMFImputer(random_state=0).fit(holes)
    assert imputer.n_components_ == 0
    assert imputer.estimator_ is None
    np.testing.assert_allclose(imputer.transform(holes), np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes))


def test_small_codes_stay_positive_if_zeros_are_infinitely_far():
    """What is hidden weighs more than all of X: the only code that fills it with what it makes of itself is negative."""
    X = np.exp(5 * np.random.default_rng(0).standard_normal((5, 4)))
    X = np.where(np.random.default_rng(34).random(X.shape) < 0.8, X, np.nan)
    model = OPNMF(1, max_iter=40, random_state=0, divergence=nonneg.divergences.Beta(-1), missing="ignore").fit(X)
    assert np.isfinite(model.score(X))


def test_unobserved_features(planted):
    """Samples become means; features become zero, which is warned of."""
    X, hidden = planted
    holes = np.where(hidden, np.nan, X)
    holes[3] = np.nan
    filled = NMFImputer(4, random_state=0).fit_transform(holes)
    np.testing.assert_allclose(filled[3], np.nanmean(holes, axis=0))
    holes[:, 5] = np.nan
    with pytest.warns(UserWarning, match=r"Nothing is known of features \[5\]"):
        filled = NMFImputer(4, random_state=0).fit_transform(holes)
    np.testing.assert_array_equal(filled[:, 5], 0.0)


def test_streams_take_missing_values(planted):
    X, hidden = planted
    holes = np.where(hidden, np.nan, X)
    model = PNMF(4, missing="ignore", random_state=0).fit(holes[:40])
    model.partial_fit(holes[40:])
    assert adjusted_rand_score(LABELS, model.components_.argmax(axis=0)) == 1


def test_tables(planted):
    pandas = pytest.importorskip("pandas")
    X, hidden = planted
    table = pandas.DataFrame(np.where(hidden, np.nan, X)).astype("Float64")
    found = NMF(4, missing="ignore", random_state=0).fit(table)
    expected = NMF(4, missing="ignore", random_state=0).fit(np.where(hidden, np.nan, X))
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)  # tables lie in columns, and add up in another order


def test_errors_over_known_entries(planted):
    X, hidden = planted
    assert relative_error(np.where(hidden, np.nan, X), np.where(hidden, 1e9, 1.01 * X), missing="ignore") == pytest.approx(0.01)


def test_bad_input(planted):
    X, hidden = planted
    holes = np.where(hidden, np.nan, X)
    with pytest.raises(DataError, match="missing='ignore'"):
        NMF(4).fit(holes)
    with pytest.raises(DataError, match="'raise' or 'ignore'"):
        NMF(4, missing="drop").fit(X)
    with pytest.raises(DataError, match="at least one non-zero"):
        NMF(4).fit(X, sample_weight=np.zeros(80))
    with pytest.raises(DataError, match="one number for each sample"):
        NMF(4).fit(X, sample_weight=np.ones((80, 2)))
    with pytest.raises(DataError, match="negative"):
        NMF(4).fit(X, sample_weight=-np.ones(80))
    with pytest.raises(DataError, match="nothing to approximate"):
        NMF(4, missing="ignore").fit(np.full((5, 5), np.nan))
    with pytest.raises(IncompatibleError, match="similarities between all pairs"):
        SymmetricNMF(4, missing="ignore").fit(X)
    assert nonneg.Observed is Observed


# ---- which models take what

TAKING = [
    "NMF",
    "NonnegativeSparseCoding",
    "PNMF",
    "OPNMF",
    "ONMF",
    "NMTF",
    "ONMTF",
    "FONT",
    "BiQNMF",
    "BiORNM3F",
    "ProjectiveClustering",
    "Factorization",
    "ConsensusNMF",
    "IntegrativeNMF",
]
OTHERS = [
    "KernelPNMF",
    "SymmetricNMF",
    "TruncatedNonnegativeSVD",
    "NonnegativeLDA",
    "NonnegativeKernelFDA",
    "QNMFHMM",
    "NNMFHMM",
    "SemiNMF",
    "ConvexNMF",
]


def test_every_estimator_is_in_the_table_of_the_documentation():
    """docs/develop/weights.md says which of them take weights."""
    there = {name for name in nonneg.__all__ if isinstance(getattr(nonneg, name), type) and hasattr(getattr(nonneg, name), "fit")}
    assert there == {*TAKING, *OTHERS, "NMFImputer"}


@pytest.mark.parametrize("name", TAKING)
def test_models_that_take_weights(name, planted):
    X, hidden = planted[0][:24], planted[1][:24]
    cls = getattr(nonneg, name)
    model = cls("W H", 2) if name == "Factorization" else cls(2)
    model.set_params(max_iter=5, random_state=0)
    weights = np.where(hidden, 0.0, 1.0)
    kinds = {
        "weights": clone(model).fit(X, weights=weights),
        "NaN": clone(model).set_params(missing="ignore").fit(np.where(hidden, np.nan, X)),
        "Observed": clone(model).fit(Observed(sparse.csr_array(X * weights))),
        "sample_weight": clone(model).fit(X, sample_weight=np.arange(1, 25)),
    }
    assert all(np.isfinite(one.objective_) for one in kinds.values())


@pytest.mark.parametrize("name", OTHERS)
def test_models_without_weights(name):
    assert not {"weights", "sample_weight"} & set(signature(getattr(nonneg, name).fit).parameters)


def test_observed_names_its_share():
    assert repr(Observed(sparse.csr_array(np.eye(3, 4)))) == "Observed(3 × 4, 3 entries known)"


@pytest.mark.parametrize("kind", ["NaN", "Observed", "sparse"])
def test_samples_without_values_are_counted_once(kind, planted):
    X = planted[0].copy()
    X[[2, 7]], X[4] = np.nan, 0.0
    known = ~np.isnan(X)
    data, says = X, r"X has \d+ samples, 2 without a known value and 1 with zeros only: nothing is learned from them"
    if kind == "Observed":
        data = Observed(sparse.csr_array((X[known], np.nonzero(known)), shape=X.shape))
    elif kind == "sparse":
        data, says = sparse.csr_array(np.where(known, X, 0.0)), r"X has \d+ samples, 3 with zeros only: nothing is learned"
    model = NMF(4, missing="ignore", random_state=0)
    with pytest.warns(EmptySamplesWarning) as told:
        model.fit(data)
    assert len(told) == 1
    assert told[0].filename == __file__, "the line that called"
    assert re.search(says, str(told[0].message))
    if kind != "sparse":
        with pytest.warns(EmptySamplesWarning, match="2 without a known value: their codes are the mean of the fit, or zero"):
            assert not model.transform(data)[2].any()


def test_samples_with_values_are_not_warned_of(planted):
    X, hidden = planted
    model = NMF(4, missing="ignore", random_state=0).fit(np.where(hidden, np.nan, X))  # a warning is an error here
    model.transform(X)
    X = X.copy()
    X[3] = 0.0
    NMF(4, random_state=0).fit(X)


@pytest.mark.parametrize("shape", [(40, 12), (300, 60), (60, 400)])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "estimator",
    [PNMF(4), OPNMF(4), OPNMF(4, orthogonality="exact"), PNMF(4, init="random"), OPNMF(4, solver="paper", max_iter=50)],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_of_samples_take_the_path_of_repeated_ones(estimator, store, shape):
    """All that is needed of X is XᵀDX, which is the same but for rounding, whatever the order of the samples."""
    generator = np.random.default_rng(0)
    X = generator.gamma(0.5, 1.0, (shape[0], 4)) @ generator.gamma(0.5, 1.0, (4, shape[1])) + 0.1 * generator.random(shape)
    X = X if store is np.asarray else np.where(np.median(X) < X, X, 0.0)
    counts = generator.integers(0, 4, len(X))
    repeated = np.repeat(X, counts, axis=0)[generator.permutation(counts.sum())]
    weighted = clone(estimator).set_params(random_state=0).fit(store(X), sample_weight=counts)
    twin = clone(estimator).set_params(random_state=0).fit(store(repeated))
    assert weighted.n_iter_ == twin.n_iter_
    np.testing.assert_allclose(weighted.history_.objective, twin.history_.objective, rtol=1e-9)
    np.testing.assert_allclose(weighted.components_, twin.components_, rtol=0, atol=1e-9 * twin.components_.max())
