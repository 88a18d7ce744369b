"""scikit-learn's own checks, on every estimator in its several ways of working."""

import inspect

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import nonneg.estimators
from nonneg.divergences import Alpha, Beta, DualI, Gamma, Polynomial, Renyi
from nonneg.estimators import (
    FONT,
    NMF,
    NMTF,
    ONMF,
    ONMTF,
    OPNMF,
    PNMF,
    BiORNM3F,
    BiQNMF,
    ConsensusNMF,
    ConvexNMF,
    Factorization,
    IntegrativeNMF,
    KernelPNMF,
    NonnegativeSparseCoding,
    ProjectiveClustering,
    SemiNMF,
    SymmetricNMF,
    TruncatedNonnegativeSVD,
)

pytestmark = pytest.mark.wide(one_in=8)


SMALL = {"max_iter": 60, "random_state": 0}
QUICK = {"max_iter": 20, "random_state": 0}

ESTIMATORS = [
    NMF(2, **SMALL),
    NMF(2, divergence="kullback-leibler", solver="multiplicative", **SMALL),
    NMF(2, solver="paper", **SMALL),
    NonnegativeSparseCoding(2, **SMALL),
    ConsensusNMF(2, n_runs=2, density_threshold=2, **SMALL),
    IntegrativeNMF(1, n_own=1, **SMALL),
    SemiNMF(2, **SMALL),
    ConvexNMF(2, **SMALL),
    PNMF(2, **SMALL),
    PNMF(2, divergence="kullback-leibler", **SMALL),
    PNMF(2, solver="paper", **SMALL),
    OPNMF(2, **SMALL),
    OPNMF(2, solver="paper", **SMALL),
    OPNMF(2, orthogonality="rows", divergence=Alpha(0.5), **SMALL),
    ONMF(2, **SMALL),
    ONMF(2, orthogonality="rows", **SMALL),
    ONMF(2, orthogonality="polar", solver="paper", divergence=Beta(1), **SMALL),
    SymmetricNMF(2, **SMALL),
    SymmetricNMF(2, kernel="rbf", **SMALL),
    NMTF(2, **SMALL),
    NMTF((2, 1), divergence=Renyi(2), **SMALL),
    ONMTF(2, **SMALL),
    ONMTF((2, 1), orthogonality="rows", solver="paper", **SMALL),
    FONT(2, **SMALL),
    FONT(2, solver="als", **SMALL),
    KernelPNMF(2, **SMALL),
    KernelPNMF(2, kernel="precomputed", **SMALL),
    TruncatedNonnegativeSVD(2, random_state=0),
    Factorization("W H", 2, **SMALL),
    Factorization("X W W.T", 2, divergence=Gamma(0.5), constraints={"W": "stochastic"}, **SMALL),
    ProjectiveClustering(2, **SMALL),
    ProjectiveClustering(2, divergence="kullback-leibler", solver="paper", **SMALL),
    BiQNMF(2, **QUICK),
    BiORNM3F((2, 1), divergence="kullback-leibler", **QUICK),
]

EXPECTED_FAILURES = {
    "ProjectiveClustering": {
        "check_clustering": "standardises its data, which makes it negative, although the estimator is tagged positive_only",
    },
}


_ORTHOGONAL_SAMPLES = "the factor of samples is orthogonal, or stands beside its transpose, which a repeated sample changes"
_RANDOM_START = "the factor of samples is drawn at random, one row for each, so that repeated samples start elsewhere"
_OTHER_STEPS = "with weights start or steps are others, and a run ends elsewhere, within what is left to gain or in another minimum"
_LEAST_SQUARES = "least squares for whole factors knows no weights, and says so"
_REPEATED = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def expected_failures(estimator):
    """Checks that an estimator does not pass, and why."""
    expected = dict(EXPECTED_FAILURES.get(type(estimator).__name__, {}))
    if isinstance(estimator, ONMTF | BiORNM3F | ProjectiveClustering | BiQNMF):  # FONT is an ONMTF
        expected |= dict.fromkeys(_REPEATED, _ORTHOGONAL_SAMPLES)
    elif isinstance(estimator, NMTF) or (isinstance(estimator, NMF) and estimator.solver == "paper"):
        expected |= dict.fromkeys(_REPEATED, _RANDOM_START)
    elif isinstance(estimator, NMF | NonnegativeSparseCoding | ONMF | Factorization) or (
        isinstance(estimator, PNMF) and estimator.divergence != "euclidean"
    ):
        expected |= dict.fromkeys(_REPEATED, _OTHER_STEPS)
    if isinstance(estimator, FONT) and estimator.solver == "als":
        expected |= dict.fromkeys(("check_sample_weights_list", "check_sample_weights_not_overwritten"), _LEAST_SQUARES)
    return expected


def test_every_estimator_is_checked():
    public = [getattr(nonneg.estimators, name) for name in nonneg.estimators.__all__]
    estimators = {cls for cls in public if inspect.isclass(cls) and issubclass(cls, BaseEstimator)}
    estimators = {cls for cls in estimators if not issubclass(cls, ClassifierMixin)}  # those are in test_discriminants.py
    assert estimators == {type(estimator) for estimator in ESTIMATORS}


def test_expected_failures_are_of_estimators_that_are_checked():
    assert set(EXPECTED_FAILURES) <= {type(estimator).__name__ for estimator in ESTIMATORS}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("readonly", [False, True])
@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if isinstance(e, ProjectiveClustering)], ids=repr)
def test_check_clustering_on_data_that_are_not_negative(estimator, readonly):
    """sklearn's check_clustering, with blobs that are shifted in place of standardised."""
    X, y = make_blobs(n_samples=50, centers=[[0, 6, 1], [6, 1, 0], [2, 0, 7]], cluster_std=0.5, random_state=1)
    X = X - X.min(axis=0)
    noise = np.concatenate([X, np.random.RandomState(0).uniform(0, X.max(), (25, 3))])
    for array in (X, noise):
        array.flags.writeable = not readonly
    clusterer = clone(estimator).set_params(n_clusters=3)
    clusterer.fit(X)
    clusterer.fit(X.tolist())
    labels = clusterer.labels_.copy()
    assert labels.shape == (50,)
    assert adjusted_rand_score(labels, y) > 0.4
    assert np.array_equal(clone(clusterer).fit_predict(X), labels)
    on_noise = clone(clusterer).fit(noise)
    assert on_noise.labels_.dtype in [np.dtype("int32"), np.dtype("int64")]
    assert set(on_noise.labels_) <= {0, 1, 2}
    assert set(on_noise.predict(noise)) <= {0, 1, 2}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_divergences_do_not_change_in_a_fit():
    """They are parameters: what is remembered of them must not be kept in them."""
    X = np.random.default_rng(0).random((8, 6)) + 0.1
    polynomial = Polynomial([(1 / 4, 0, 4), (-1 / 3, 1, 3), (1 / 2, 0, 2), (-1, 1, 1)])
    for divergence in (Alpha(0.5), Beta(0.0), Beta(1), DualI(), Gamma(0.5), Renyi(2), Beta(1) + 2 * Beta(2), polynomial):
        before = joblib.hash(divergence)
        NMF(2, divergence=divergence, max_iter=3).fit(X)
        assert joblib.hash(divergence) == before, divergence
