"""scikit-learn's own tests of biclustering, on ours: pairs of clusters from NMF, checkerboards from BiORNM3F."""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, BiclusterMixin

import nonneg

from .shim import installed_file, their_tests


class _Spectral(BiclusterMixin, BaseEstimator):
    """scikit-learn's parameters, of which ours has n_clusters and random_state."""

    def __init__(
        self, n_clusters=3, *, svd_method=None, n_svd_vecs=None, mini_batch=False, init=None, n_init=10, random_state=None
    ):
        self.n_clusters, self.svd_method, self.n_svd_vecs, self.mini_batch = n_clusters, svd_method, n_svd_vecs, mini_batch
        self.init, self.n_init, self.random_state = init, n_init, random_state

    def fit(self, X, y=None):
        model = self._ours().fit(X)
        self.rows_, self.columns_, self.n_features_in_ = model.rows_, model.columns_, model.n_features_in_
        return self


class SpectralCoclustering(_Spectral):
    def _ours(self):
        return nonneg.NMF(self.n_clusters, random_state=self.random_state)


class SpectralBiclustering(_Spectral):
    def __init__(
        self,
        n_clusters=3,
        *,
        method=None,
        n_components=6,
        n_best=3,
        svd_method=None,
        n_svd_vecs=None,
        mini_batch=False,
        init=None,
        n_init=10,
        random_state=None,
    ):
        super().__init__(
            n_clusters,
            svd_method=svd_method,
            n_svd_vecs=n_svd_vecs,
            mini_batch=mini_batch,
            init=init,
            n_init=n_init,
            random_state=random_state,
        )
        self.method, self.n_components, self.n_best = method, n_components, n_best

    def fit(self, X, y=None):
        if self.method == "log" and issparse(X):  # the way to scale X is a parameter of theirs; ours takes X as it is
            raise ValueError("there are no logarithms of zeros that are not stored")
        return super().fit(X)

    def _ours(self):
        rank = (self.n_clusters,) * 2 if np.ndim(self.n_clusters) == 0 else self.n_clusters
        return nonneg.BiORNM3F(rank, random_state=self.random_state)


globals().update(
    their_tests(
        installed_file("sklearn", "cluster", "tests", "test_bicluster.py"),
        {
            "sklearn.cluster.SpectralCoclustering": SpectralCoclustering,
            "sklearn.cluster.SpectralBiclustering": SpectralBiclustering,
        },
        not_ours=(
            "test_get_submatrix",  # of a mock-up of their own
            "test_scale_normalize",  # these are of private functions, of which we have no like
            "test_bistochastic_normalize",
            "test_log_normalize",
            "test_fit_best_piecewise",
            "test_project_and_cluster",
        ),
    )
)

BY_DESIGN = {
    "test_spectralbiclustering_parameter_validation*Incorrect*": (AssertionError, "it is refused, in other words"),
    "test_spectralbiclustering_parameter_validation*n_samples=5*": (AssertionError, "it is refused, in other words"),
    "test_spectralbiclustering_parameter_validation*n_best*": (
        pytest.fail.Exception,
        "ours has no singular vectors to choose the best of",
    ),
}
