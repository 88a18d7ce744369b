"""NMF as scikit-learn has it: the same rules, exponents and order of updates, so the same factors."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import non_negative_factorization

from nonneg import factorize
from nonneg.solvers import Multiplicative


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("beta", [3, 2, 1.5, 1, 0.5, 0])
def test_multiplicative_updates(beta, store, rng):
    X = rng.random((12, 9)) + 0.1
    start = {"W": rng.random((12, 3)) + 0.1, "H": rng.random((3, 9)) + 0.1}
    W, H, _ = non_negative_factorization(
        X, W=start["W"].copy(), H=start["H"].copy(), n_components=3, init="custom", solver="mu", beta_loss=beta, max_iter=20, tol=0
    )
    ours = factorize(store(X), "W H", divergence=beta, init=start, solver=Multiplicative(), max_iter=20, tol=0)
    np.testing.assert_allclose(ours.factors["W"], W, rtol=1e-9)
    np.testing.assert_allclose(ours.factors["H"], H, rtol=1e-9)
