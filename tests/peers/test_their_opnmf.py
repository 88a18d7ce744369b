"""The opnmf package's own tests, on ours; they come with its repository, not with its wheel."""

from types import SimpleNamespace

import numpy as np
import pytest

import nonneg

from .shim import installed_file, their_tests


def opnmf(X, n_components, max_iter=50_000, tol=1e-5, init="nndsvd", init_W=None):
    """Features are rows there; the papers' protocol."""
    start = init_W.T if init == "custom" else init
    model = nonneg.OPNMF(n_components, solver="paper", init=start, max_iter=max_iter, tol=tol, random_state=0).fit(X.T)
    W = model.components_.T
    H = W.T @ X
    order = np.argsort(-np.linalg.norm(H, axis=1), kind="stable")
    return W[:, order], H[order], np.linalg.norm(X - W @ H)


class OPNMF:
    def __init__(self, n_components=10):
        if n_components == "auto":
            raise NotImplementedError("nonneg does not choose a rank by permutations")
        self.n_components = n_components

    def fit_transform(self, X):
        W, self.components_, _ = opnmf(X, self.n_components)
        return W


@pytest.fixture
def cwd():
    """Where their data are: beside their tests."""
    return installed_file("opnmf", "tests", "test_opnmf.py").parent


_ours = SimpleNamespace(opnmf=SimpleNamespace(opnmf=opnmf), model=SimpleNamespace(OPNMF=OPNMF))
for _name in ("test_opnmf.py", "test_model.py"):
    globals().update(
        their_tests(
            installed_file("opnmf", "tests", _name), {"opnmf.opnmf": _ours.opnmf, "opnmf.model": _ours.model}, package="opnmf_tests"
        )
    )

BY_DESIGN = {"test_model_rank_selection": (NotImplementedError, "nonneg does not choose a rank by permutations")}
