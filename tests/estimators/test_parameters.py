"""Parameters as users expect them: misspelt ones are suggested, given factors come back, fixed components are not multiplied."""

import re

import numpy as np
import pytest
from sklearn.base import clone

import nonneg
from nonneg import NMF, NNMFHMM, ONMF, OPNMF, PNMF, QNMFHMM, NMFImputer, NonnegativeLDA, factorize, load
from nonneg.exceptions import ShapeError
from nonneg.graph import GraphClustering

from .cases import MAKERS, parts

X = parts(40, 30, 3)
ESTIMATORS = [
    *dict.fromkeys(type(make()) for make in MAKERS.values()),
    NMFImputer,
    NonnegativeLDA,
    QNMFHMM,
    NNMFHMM,
    GraphClustering,
]


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_misspelt_parameters_are_suggested(cls):
    for name in cls(**({"form": "W H"} if cls is nonneg.Factorization else {})).get_params():
        near = re.sub("alpha_[WH]", "alpha_[WH]", name)
        with pytest.raises(TypeError, match=rf"^{cls.__name__} has no parameter '{name[:-1]}'\. Did you mean '{near}'\?"):
            cls(**{name[:-1]: None})


def test_unknown_parameters():
    with pytest.raises(TypeError, match=r"^NMF has no parameter 'zzz'\. Its parameters are n_components, "):
        NMF(zzz=1)
    with pytest.raises(TypeError, match="beta_loss is divergence here"):
        NMF(beta_loss=1)
    assert clone(NMF(5, tol=1e-3)).get_params() == NMF(5, tol=1e-3).get_params()


GIVEN = np.kron(np.eye(3), np.ones(10)) / np.sqrt(10)


@pytest.mark.parametrize("cls", [NMF, PNMF, OPNMF, ONMF])
@pytest.mark.parametrize("solver", ["auto", "multiplicative", "paper"])
def test_no_iterations_return_the_start(cls, solver):
    model = cls(3, init=GIVEN, solver=solver, max_iter=0, tol=0, random_state=0).fit(X)
    assert model.n_iter_ == 0
    expected = GIVEN if solver != "paper" or cls is not OPNMF else np.maximum(GIVEN, 1e-16)  # the papers' own floor
    np.testing.assert_allclose(model.components_, expected, rtol=1e-15, atol=0)


@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler"])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e12])
def test_no_iterations_return_the_start_of_factorize(divergence, scale):
    H = GIVEN * np.linspace(1, 2, 30)
    W = scale * np.maximum(np.random.default_rng(0).normal(size=(40, 3)), 0)
    found = factorize(scale * X, "W H", init={"W": W, "H": H}, divergence=divergence, max_iter=0)
    np.testing.assert_allclose(found.factors["H"], H, rtol=1e-14, atol=0)
    np.testing.assert_allclose(found.factors["W"], W, rtol=1e-14, atol=0)


def test_fixed_components_alone():
    model = NMF(fixed_components=GIVEN, random_state=0).fit(X)
    np.testing.assert_array_equal(model.components_, GIVEN)
    assert model.n_components_ == 3
    error = X - model.transform(X) @ GIVEN
    np.testing.assert_allclose(error @ GIVEN.T, 0, atol=1e-6 * X.max())  # least squares: all codes are positive here
    for cls in (PNMF, OPNMF):
        with pytest.raises(ShapeError, match=r"gives all 3 components.*Give n_components above 3"):
            cls(fixed_components=GIVEN).fit(X)
        assert cls(4, fixed_components=GIVEN, random_state=0).fit(X).components_.shape == (4, 30)


@pytest.mark.parametrize("cls", [NMF, OPNMF, nonneg.TruncatedNonnegativeSVD])
def test_output_is_kept_in_files(cls, tmp_path):
    model = cls(3).set_output(transform="pandas").fit(X)
    model.save(tmp_path / "model.nonneg")
    again = load(tmp_path / "model.nonneg")
    assert again.transform(X).equals(model.transform(X))
    cls(3).fit(X).save(tmp_path / "model.nonneg")
    assert isinstance(load(tmp_path / "model.nonneg").transform(X), np.ndarray)
