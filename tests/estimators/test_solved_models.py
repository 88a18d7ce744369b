"""`model_` is the model that was minimised, and `solver_` the solver that ran; the report has both."""

import html

import numpy as np
import pytest

from nonneg import ONMF, OPNMF, PNMF, Model, load
from nonneg.constraints import Orthogonal
from nonneg.estimators import _base

from .cases import ITERATIVE, MAKERS, parts

X = parts(20, 12, 3)


@pytest.fixture
def minimised(monkeypatch):
    """The models that were handed to the engine."""
    found = []

    def solve_restarts(problem, *args, **options):
        found.append(problem.user_model)
        return _SOLVE_RESTARTS(problem, *args, **options)

    monkeypatch.setattr(_base, "solve_restarts", solve_restarts)
    return found


_SOLVE_RESTARTS = _base.solve_restarts


@pytest.mark.parametrize("name", ITERATIVE)
def test_model_is_the_one_minimised(name, minimised):
    estimator = MAKERS[name](max_iter=20, tol=0).fit(X)
    assert str(estimator.model_) == str(minimised[0])


@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler"])
def test_opnmf_is_pnmf_by_default_and_says_so(divergence):
    one, other = (cls(3, divergence=divergence, random_state=0).fit(X) for cls in (PNMF, OPNMF))
    np.testing.assert_array_equal(one.components_, other.components_)
    assert str(one.model_) == str(other.model_)
    assert "= I" not in str(other.model_)
    assert set(other.orthogonality_) == {"W"}


@pytest.mark.parametrize("solver", ["paper", "multiplicative", "adaptive"])
def test_opnmf_by_the_rule_says_so(solver, minimised):
    model = OPNMF(3, solver=solver, random_state=0, max_iter=20, tol=0).fit(X)
    assert str(model.model_) == str(minimised[0])
    assert "Wᵀ W = I" in str(model.model_)


def test_fixed_components_without_multipliers():
    fixed = np.eye(12)[:1]
    model = OPNMF(3, fixed_components=fixed, random_state=0).fit(X)
    assert "= I" not in str(model.model_)
    np.testing.assert_array_equal(model.components_[0], fixed[0])


def test_partial_fit_keeps_the_solved_model():
    one, other = (cls(3, random_state=0).partial_fit(X[:10]).partial_fit(X[10:]) for cls in (PNMF, OPNMF))
    assert str(one.model_) == str(other.model_)
    np.testing.assert_array_equal(one.components_, other.components_)
    assert set(other.orthogonality_) == {"W"}


def test_codes_fitted_to_components_of_another_model():
    """Components of OPNMF: H is fixed in what is minimised last, and codes are the best for it."""
    model = ONMF(3, orthogonality="exact", random_state=0).fit(X)
    assert model.model_.fixed == ("H",)
    assert model.orthogonality_["H"].error < 1e-7
    np.testing.assert_allclose(model.transform(X), model.factors_["W"], atol=1e-6 * X.max())


def test_divergence_of_onmf_is_the_one_asked_for():
    model = ONMF(3, divergence="kullback-leibler", random_state=0).fit(X)
    assert str(model.model_).startswith("minimise  D_I")


def test_solver():
    assert OPNMF(3, random_state=0).fit(X).solver_ == "coordinate"
    assert OPNMF(3, solver="paper", random_state=0, max_iter=5, tol=0).fit(X).solver_ == "multiplicative"
    assert PNMF(3, divergence="kullback-leibler", random_state=0).fit(X).solver_ == "quasi-newton"


def test_solver_from_a_checkpoint(tmp_path):
    first, again = (OPNMF(3, random_state=0, checkpoint=tmp_path / "fit").fit(X) for _ in range(2))
    assert first.solver_ == again.solver_ == "coordinate"


@pytest.mark.parametrize("orthogonality", ["soft", "exact", "rows", 0.5])
def test_report(orthogonality, tmp_path):
    model = OPNMF(3, orthogonality=orthogonality, random_state=0).fit(X)
    model.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf8")
    assert "= I" not in page.replace("WᵀW = I is not imposed", "")
    assert "minimised by the solver 'coordinate'" in html.unescape(page)
    assert ("was applied to W" in page) == (orthogonality != "soft")


def test_older_files(tmp_path):
    """Files in which `model_` has WᵀW = I and there is no `solver_` are read, and what they hold is used."""
    model = OPNMF(3, random_state=0).fit(X)
    codes = model.transform(X)
    model.model_ = Model("X W W.T", "euclidean", {"W": Orthogonal("columns")})
    del model.solver_
    model.save(tmp_path / "old.nonneg")
    old = load(tmp_path / "old.nonneg")
    np.testing.assert_array_equal(old.transform(X), codes)
    old.report(tmp_path / "page.html", X)
    old.partial_fit(X)
    assert set(old.orthogonality_) == {"W"}
