"""Messages for users of scikit-learn's names, and for typing errors."""

import re

import numpy as np
import pytest
from sklearn.base import clone

import nonneg
from nonneg import constraints, divergences, solvers
from nonneg.coclusters import top_terms
from nonneg.estimators import NMF, OPNMF, ProjectiveClustering
from nonneg.exceptions import DataError, IncompatibleError
from nonneg.graph import GraphClustering
from nonneg.hmm import QNMFHMM
from nonneg.model import Model

from .cases import ITERATIVE, MAKERS, WITH_DIVERGENCE, unconverged


@pytest.mark.parametrize(
    ("name", "told"),
    [("beta_loss", "divergence here"), ("alpha_W", "NonnegativeSparseCoding"), ("alpha_H", "Sparse"), ("l1_ratio", "penalties")],
)
@pytest.mark.parametrize("estimator", ITERATIVE)
def test_parameters_of_scikit_learn(estimator, name, told):
    if estimator == "NMF" and name != "beta_loss":
        return  # it has them
    if (estimator, name) == ("NMF", "beta_loss"):
        pytest.skip("NMF understands it: test_parameters.py")
    with pytest.raises(TypeError, match=rf"has no parameter '{name}'\. .*{told}"):
        MAKERS[estimator](**{name: 1})


def test_clusters_and_components():
    with pytest.raises(TypeError, match=r"ProjectiveClustering has no parameter 'n_components'.* n_clusters here"):
        ProjectiveClustering(n_components=3)
    with pytest.raises(TypeError, match=r"NMF has no parameter 'n_clusters'.* n_components here"):
        NMF(n_clusters=3)
    with pytest.raises(TypeError, match=r"NMF has no parameter 'nonsense'\. Its parameters are n_components, init"):
        NMF(nonsense=3)


@pytest.mark.parametrize("given", ["n_component", "ncomponents", "n_cluster", "n_state", "rank", "k"])
@pytest.mark.parametrize(
    ("cls", "own"),
    [(NMF, "n_components"), (ProjectiveClustering, "n_clusters"), (GraphClustering, "n_clusters"), (QNMFHMM, "n_states")],
)
def test_how_many_parts_by_another_name(cls, own, given):
    with pytest.raises(TypeError, match=rf"{cls.__name__} has no parameter '{given}'\. Did you mean '{own}'\?"):
        cls(**{given: 5})


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"solver": "quasi-newtn"}, "Did you mean 'quasi-newton'"),
        ({"init": "custom"}, r"Give the factors to start from themselves: init=\{'W': W, 'H': H\}"),
        ({"init": "nndsvdx"}, "Did you mean 'nndsvd"),
        ({"divergence": "kulback-leibler"}, "Did you mean 'kullback-leibler'"),
        ({"divergence": "Euclidian"}, "Did you mean 'euclidean'"),
        ({"divergence": 1e308}, r"Beta\(b\) is about powers of the data"),
        ({"warm_start": "yes"}, "warm_start must be True or False; got 'yes'"),
        ({"init": np.zeros((3, 12))}, "^init is zero everywhere"),
    ],
    ids=str,
)
def test_names_that_there_are_not(params, told, X, no_work):
    with pytest.raises(ValueError, match=told):
        NMF(3, **params).fit(X)


@pytest.mark.parametrize(("params", "told"), [({"solver": "cd"}, "'coordinate'"), ({"init": "custom"}, "init={'W'")], ids=str)
def test_the_same_of_factorize(params, told, X):
    with pytest.raises(IncompatibleError, match=re.escape(told)):
        nonneg.factorize(X, "W H", 3, **params)


@unconverged
@pytest.mark.parametrize("name", WITH_DIVERGENCE)
def test_short_names(name, X):
    short, long = (MAKERS[name](divergence=d, max_iter=5).fit(X) for d in ("kl", "kullback-leibler"))
    np.testing.assert_array_equal(short.components_, long.components_)
    assert clone(short).divergence == "kl"


def test_the_data_come_first(X):
    for form in ("W H", Model("W H")):
        with pytest.raises(IncompatibleError, match=r"The data come first: factorize\(X, 'W H', rank\)"):
            nonneg.factorize(form, X, 3)


@pytest.mark.parametrize("data", [3, None, "", "X Y", ["X"]], ids=repr)
def test_the_name_of_the_data(data):
    with pytest.raises(IncompatibleError, match="data must be the name that the form gives the data"):
        Model("W H", data=data)


@unconverged
def test_top_terms_without_clusters(X):
    with pytest.raises(DataError, match=r"OPNMF has no row_labels_ and column_labels_.*BiQNMF.*components_"):
        top_terms(X, OPNMF(3, max_iter=5, random_state=0).fit(X))


def test_masked_graphs_and_chains():
    hidden = np.ma.masked_array(np.ones((6, 6)), mask=np.eye(6) > 0)
    with pytest.raises(DataError, match="masked array with missing entries, 6 of them"):
        GraphClustering(2).fit(hidden)
    with pytest.raises(DataError, match="masked array with missing entries, 6 of them"):
        nonneg.graph.match_graphs(hidden, hidden)
    with pytest.raises(DataError, match="masked array with missing entries, 6 of them"):
        QNMFHMM(2).fit(np.ma.masked_array(np.arange(20) % 3, mask=np.arange(20) > 13))


NONSENSE = ["a", [1], {}, object(), float("nan"), np.array([1, 2])]
PARTS = [
    (solvers.Coordinate, ["warmup", "passes", "enough", "refresh", "momentum"]),
    (solvers.QuasiNewton, ["memory", "warmup"]),
    (solvers.Adaptive, ["growth", "largest"]),
    (solvers.Multiplicative, ["exponent", "rescale", "floor"]),
    (solvers.AlternatingLeastSquares, ["factors"]),
    (constraints.Orthogonal, ["axis"]),
    (constraints.Stochastic, ["axis"]),
    (constraints.Unit, ["axis"]),
    (constraints.Disjoint, ["weight", "axis"]),
    (constraints.FixedMultiplier, ["weight", "axis"]),
    (constraints.NearOrthogonal, ["weight", "axis"]),
    (constraints.Sparse, ["weight"]),
    (divergences.Alpha, ["a"]),
    (divergences.Beta, ["b"]),
    (divergences.Gamma, ["g"]),
    (divergences.Renyi, ["r"]),
]


@pytest.mark.parametrize("value", NONSENSE, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(("cls", "parameter"), [(cls, name) for cls, names in PARTS for name in names])
def test_nonsense_is_refused_by_name(cls, parameter, value):
    others = {"weight": 1.0} if cls is constraints.Disjoint and parameter == "axis" else {}
    with pytest.raises(IncompatibleError, match=parameter):
        cls(**{parameter: value}, **others)


@pytest.mark.parametrize("estimator", [NMF(), NMF(None), OPNMF()])
def test_more_components_than_anybody_asked_for(estimator):
    """It is said before the fit begins, and not of a number that was given, nor of few."""
    X = np.random.default_rng(0).random((102, 101))
    settings = {"max_iter": 1, "tol": 0, "init": "random", "random_state": 0}
    with pytest.warns(UserWarning, match="takes as many components as there can be, 101 here") as told:
        clone(estimator).set_params(**settings).fit(X)
    assert told[0].filename == __file__
    clone(estimator).set_params(n_components=101, **settings).fit(X)
    clone(estimator).set_params(**settings).fit(X[:, :20])
