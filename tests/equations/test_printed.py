"""Iterations as they are printed, order and normalisation included: PNMF Eq. 6–7."""

import numpy as np
import pytest
from scipy import sparse

from nonneg import NMF, Model, factorize
from nonneg.exceptions import IncompatibleError
from nonneg.solvers import Multiplicative
from tests.equations.transcription import nonnegative, positive

STORES = pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=0)


@STORES
def test_pnmf_eq_6_and_7(store):
    """Six iterations; V is features × samples in print, W its basis. NMF gives components length one at the end."""
    V, W, H = nonnegative(9, 12), positive(9, 3), positive(3, 12)
    start = {"W": H.T.copy(), "H": W.T.copy()}
    model = NMF(3, divergence="kullback-leibler", solver="paper", init=start, max_iter=6, tol=0).fit(store(V.T))
    printed = factorize(
        store(V), Model("W H", "kullback-leibler"), init={"W": W, "H": H}, solver=Multiplicative(basis="W"), max_iter=6, tol=0
    )
    for _ in range(6):
        W = W * ((V / (W @ H)) @ H.T)
        W = W / W.sum(axis=0)
        H = H * (W.T @ (V / (W @ H)))
    close(printed.factors["W"], W)
    close(printed.factors["H"], H)
    lengths = np.linalg.norm(W, axis=0)
    close(model.components_.T, W / lengths)
    close(model.factors_["W"].T, H * lengths[:, None])


def test_a_basis_of_other_forms():
    with pytest.raises(IncompatibleError, match="none of two factors"):
        factorize(positive(9, 12), Model("W S H"), 2, solver=Multiplicative(basis="W"))
