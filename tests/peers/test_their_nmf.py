"""scikit-learn's own tests of NMF, on ours."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import nonneg
from nonneg import Model, factorize
from nonneg.constraints import Sparse
from nonneg.divergences import Beta
from nonneg.exceptions import DataError
from nonneg.solve.problem import bind
from nonneg.solve.solving import objective_of, start_factors

from .shim import installed_file, their_tests

pytestmark = pytest.mark.wide(one_in=3)


_SOLVERS = {"cd": "coordinate", "mu": "multiplicative"}
_LOSSES = {"frobenius": 2, "kullback-leibler": 1, "itakura-saito": 0}


def _divergence(beta_loss):
    return Beta(_LOSSES.get(beta_loss, beta_loss))


def _start(init, rank, shape):
    return ("random" if rank > min(shape) else "nndsvda") if init is None else init


class NMF(BaseEstimator):
    """scikit-learn's parameters, our estimator."""

    def __init__(
        self,
        n_components="auto",
        *,
        init=None,
        solver="cd",
        beta_loss="frobenius",
        tol=1e-4,
        max_iter=200,
        random_state=None,
        alpha_W=0.0,
        alpha_H="same",
        l1_ratio=0.0,
    ):
        self.n_components, self.init, self.solver, self.beta_loss, self.tol = n_components, init, solver, beta_loss, tol
        self.max_iter, self.random_state, self.alpha_W, self.alpha_H, self.l1_ratio = (
            max_iter,
            random_state,
            alpha_W,
            alpha_H,
            l1_ratio,
        )

    def fit(self, X, y=None, W=None, H=None):
        rank = min(np.shape(X)) if self.n_components == "auto" else self.n_components
        init = {"W": W, "H": H} if self.init == "custom" else _start(self.init, rank, np.shape(X))
        self.model_ = nonneg.NMF(
            self.n_components,
            init=init,
            solver=_SOLVERS[self.solver],
            divergence=_divergence(self.beta_loss),
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=self.random_state,
            alpha_W=self.alpha_W,
            alpha_H=self.alpha_H,
            l1_ratio=self.l1_ratio,
        ).fit(X)
        return self

    def fit_transform(self, X, y=None, W=None, H=None):
        return self.fit(X, W=W, H=H).transform(X)

    def __getattr__(self, name):
        if name.startswith("__") or name == "model_":
            raise AttributeError(name)
        return self.model_.n_components_ if name == "_n_components" else getattr(self.model_, name)


class MiniBatchNMF:
    def __init__(self, *_, **__):
        raise NotImplementedError("nonneg has no NMF in batches: PNMF and OPNMF have partial_fit")


def non_negative_factorization(
    X,
    W=None,
    H=None,
    n_components="auto",
    *,
    init=None,
    update_H=True,
    solver="cd",
    beta_loss="frobenius",
    tol=1e-4,
    max_iter=200,
    alpha_W=0.0,
    alpha_H="same",
    l1_ratio=0.0,
    random_state=None,
    verbose=0,
):
    alphas = zip("WH", (alpha_W, alpha_W if alpha_H == "same" else alpha_H), X.shape[::-1], strict=True)
    penalties = {name: Sparse(alpha * size * l1_ratio, alpha * size * (1 - l1_ratio)) for name, alpha, size in alphas if alpha}
    rank = min(X.shape) if n_components == "auto" else n_components
    if init == "custom" or not update_H:
        rank, init = None, {"H": H} | ({"W": W} if init == "custom" and W is not None else {})
    solution = factorize(
        X,
        Model("W H", _divergence(beta_loss), penalties | ({} if update_H else {"H": "fixed"})),
        rank,
        init=init if isinstance(init, dict) else _start(init, rank, X.shape),
        solver=_SOLVERS[solver],
        tol=tol,
        max_iter=max_iter,
        random_state=random_state,
    )
    return solution.factors["W"], solution.factors["H"], solution.n_iter


def _initialize_nmf(X, n_components, init=None, random_state=None):
    problem = bind(Model("W H"), X, n_components)
    factors = problem.units.to_user(start_factors(problem, _start(init, n_components, X.shape), random_state))
    return factors["W"], factors["H"]


def _beta_divergence(X, W, H, beta):
    return objective_of(X, Model("W H", _divergence(beta)), {"W": W, "H": H})


_internals = SimpleNamespace(_initialize_nmf=_initialize_nmf, _beta_divergence=_beta_divergence)
globals().update(
    their_tests(
        installed_file("sklearn", "decomposition", "tests", "test_nmf.py"),
        {
            "sklearn.decomposition.NMF": NMF,
            "sklearn.decomposition.MiniBatchNMF": MiniBatchNMF,
            "sklearn.decomposition.non_negative_factorization": non_negative_factorization,
        },
        also={"nmf": _internals},
        not_ours=("test_special_sparse_dot",),  # a private function of theirs
    )
)

_BATCHES = "nonneg has no NMF in batches: PNMF and OPNMF have partial_fit"
_CODES = "fit_transform gives the codes that fit the components best, not where W stood"
_WORDS = "it is refused, in other words"
BY_DESIGN = {
    "test_convergence_warning[MiniBatchNMF*": (pytest.fail.Exception, _BATCHES),
    "*MiniBatchNMF*": (NotImplementedError, _BATCHES),
    "test_minibatch*": (NotImplementedError, _BATCHES),
    "test_mbnmf*": (NotImplementedError, _BATCHES),
    "test_nmf_minibatchnmf_equivalence*": (NotImplementedError, _BATCHES),
    "test_convergence_warning[NMF*": (
        pytest.fail.Exception,
        "the start is exact there, so the fit has converged, and says nothing",
    ),
    "test_non_negative_factorization_consistency[0.0-0.0-*": (AssertionError, _CODES),
    "test_non_negative_factorization_consistency[same-0.0-*": (AssertionError, _CODES),
    "test_non_negative_factorization_consistency[0.0-1.0-mu-*": (AssertionError, _CODES),
    "test_non_negative_factorization_consistency[same-1.0-mu-*": (AssertionError, _CODES),
    "test_non_negative_factorization_consistency[1.0-0.0-cd-*": (AssertionError, _CODES),
    "test_non_negative_factorization_consistency[0.0-1.0-cd-*": (AssertionError, _CODES),
    "test_non_negative_factorization_consistency[1.0-0.0-mu-*": (AssertionError, _CODES),
    "test_non_negative_factorization_consistency[1.0-1.0-mu-*": (AssertionError, _CODES),
    "test_nmf_true_reconstruction": (
        AssertionError,
        "a multiplicative rule leaves 1e-32 where X is zero, and they allow no absolute difference",
    ),
    "test_nmf_float32_float64_consistency[NMF-solver0*": (
        AssertionError,
        "an exact fit: float32 stops where rounding hides progress",
    ),
    "test_initialize_variants": (AssertionError, "no start has zeros, and each is brought to the scale at which it fits X best"),
    "test_beta_divergence*": (DataError, "Itakura-Saito of zeros is infinite, and refused"),
    "test_nmf_custom_init_dtype_error[NMF*": (pytest.fail.Exception, "a start of another precision is converted"),
    "test_nmf_w_h_not_used_warning": (pytest.fail.Exception, "factorize has one init, and cannot be given factors that it ignores"),
    "test_parameter_checking": (AssertionError, _WORDS),
    "test_non_negative_factorization_checking": (AssertionError, _WORDS),
    "test_nmf_negative_beta_loss*": (AssertionError, _WORDS),
    "test_nmf_custom_init_shape_error": (AssertionError, _WORDS),
}
