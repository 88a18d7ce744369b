"""Parameters as users expect them: misspelt ones are suggested, given factors come back, fixed components are not multiplied."""

import re

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.base import clone

import nonneg
from nonneg import NMF, NNMFHMM, ONMF, OPNMF, PNMF, QNMFHMM, ConsensusNMF, NMFImputer, NonnegativeLDA, factorize, load
from nonneg.exceptions import IncompatibleError, ShapeError
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
        PNMF(beta_loss=1)
    assert clone(NMF(5, tol=1e-3)).get_params() == NMF(5, tol=1e-3).get_params()


def test_words_of_scikit_learn_mean_what_they_mean_there():
    X = np.random.default_rng(0).random((20, 8))
    with pytest.warns(UserWarning, match="NMF: beta_loss='kullback-leibler' of scikit-learn is divergence='kullback-leibler' here"):
        theirs = NMF(n_components=2, init=None, solver="mu", beta_loss="kullback-leibler", max_iter=90, tol=0, random_state=0)
    assert theirs.get_params() == clone(theirs).get_params()
    with pytest.warns(UserWarning, match="NMF: solver='mu' of scikit-learn is solver='multiplicative' here"):
        theirs.fit(X)
    ours = NMF(2, solver="multiplicative", divergence="kl", max_iter=90, tol=0, random_state=0).fit(X)
    np.testing.assert_array_equal(theirs.components_, ours.components_)
    peer = decomposition.NMF(2, init=None, solver="mu", beta_loss="kullback-leibler", max_iter=90, tol=0, random_state=0).fit(X)
    assert theirs.reconstruction_err_ == pytest.approx(peer.reconstruction_err_, rel=1e-2)
    with pytest.warns(UserWarning, match="solver='cd' of scikit-learn is solver='coordinate' here"):
        assert NMF(2, solver="cd", init=None, random_state=0).fit(X).solver_ == "coordinate"
    with pytest.raises(TypeError, match=r"beta_loss is another name of divergence\. Give one of them"):
        NMF(beta_loss=1, divergence=1)


def test_components_of_sum_one_make_codes_counts():
    X = np.random.default_rng(0).poisson(3.0, (30, 10)).astype(float)
    for model in (NMF(3, norm="l1"), ConsensusNMF(3, n_runs=2, norm="l1")):
        codes = model.set_params(divergence="kl", random_state=0).fit_transform(X)
        np.testing.assert_allclose(model.components_.sum(axis=1), 1)
        np.testing.assert_allclose(codes.sum(axis=1), X.sum(axis=1), rtol=1e-4)
        assert model.factors_["W"].sum() == pytest.approx(X.sum(), rel=1e-4)
    later = NMF(3, norm="l1", divergence="kl", random_state=0).partial_fit(X[:15]).partial_fit(X[15:])
    np.testing.assert_allclose(later.components_.sum(axis=1), 1)
    with pytest.raises(IncompatibleError, match=r"Unknown norm 'L3'\. Known names: 'l2', 'l1'"):
        NMF(3, norm="L3").fit(X)


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


@pytest.mark.parametrize(
    ("make", "old", "new", "value"),
    [
        (nonneg.SymmetricNMF, "affinity", "kernel", "rbf"),
        (GraphClustering, "affinity", "kernel", "cosine"),
        (nonneg.NMFImputer, "penalty", "alpha", 0.25),
        (nonneg.NonnegativeLDA, "ridge", "alpha", 0.5),
        (nonneg.NonnegativeKernelFDA, "ridge", "alpha", 0.5),
    ],
)
def test_earlier_names_are_understood(make, old, new, value):
    sentence = f"{make.__name__}: {old} is called {new} now, and only {new} in the next release"
    with pytest.warns(FutureWarning, match=sentence) as told:
        model = make(**{old: value})
    assert model.get_params()[new] == value
    assert told[0].filename == __file__
    assert clone(model).get_params()[new] == value
    with pytest.raises(TypeError, match=f"{old} is another name of {new}"):
        make(**{old: value, new: value})
