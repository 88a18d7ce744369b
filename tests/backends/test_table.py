"""Every estimator × divergence × dense and sparse X × precision on a card beside main memory: 50 iterations from one start.

`make test-gpu` runs all of it on a card; in `make test` main memory stands in for the card, for some cases.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import nonneg
from nonneg.divergences import Alpha, Beta, DualI, Gamma, Renyi
from nonneg.exceptions import DataError, IncompatibleError

from .test_device import LEARNED
from .test_estimators import names_of

MODELS = [model for model in LEARNED if not isinstance(model, nonneg.ConsensusNMF)]  # as NMF, ten times
DIVERGENCES = ["euclidean", "kullback-leibler", Beta(0.5), "itakura-saito", Alpha(0.5), Gamma(0.5), Renyi(2), DualI()]
CASES = [
    (name, model, divergence)
    for name, model in zip(names_of(MODELS), MODELS, strict=True)
    for divergence in (DIVERGENCES if "divergence" in model.get_params() else DIVERGENCES[:1])
]
WITHIN = {"float64": 1e-6, "float32": 1e-3}


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.kron(np.eye(3), np.ones((20, 15))) * rng.uniform(0.5, 1.5, (60, 45)) + 0.1 * rng.random((60, 45))


def given(X, kind, dtype):
    known = np.random.default_rng(1).random(X.shape) < 0.4
    return (X if kind == "dense" else sparse.csr_array(X * known)).astype(dtype)


def settled(model, divergence, where):
    """The model for a run of 50 steps of the same rule, whatever "auto" takes on a device."""
    changes = {"max_iter": 50, "tol": 0, "random_state": 1, "device": where, "solver": "multiplicative", "init": "random"}
    own = model.get_params()
    changes |= {"divergence": divergence} if "divergence" in own else {}
    return clone(model).set_params(**{name: value for name, value in changes.items() if name in own})


def ended(model, X):
    """The fitted model, or the error of its fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return model.fit(X)
        except (DataError, IncompatibleError) as error:
            return type(error), str(error)


@pytest.mark.wide(one_in=20)
@pytest.mark.usefixtures("card")
@pytest.mark.parametrize("dtype", WITHIN)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(("model", "divergence"), [case[1:] for case in CASES], ids=[f"{name} {of}" for name, _, of in CASES])
def test_a_card_does_as_main_memory_does(model, divergence, kind, dtype, X):
    data = given(X, kind, dtype)
    expected, found = (ended(settled(model, divergence, where), data) for where in (None, "cuda"))
    if isinstance(expected, tuple):
        assert found == expected
        return
    steps, wanted = ({record.iteration: record.objective for record in each.history_} for each in (found, expected))
    if isinstance(model, nonneg.ONMF):  # the end has codes that are fitted by the solver that "auto" takes
        del steps[50]
    common = sorted(steps.keys() & wanted.keys())  # single precision at a plateau is checked more often
    assert len(common) > 3
    assert [steps[iteration] for iteration in common] == pytest.approx(
        [wanted[iteration] for iteration in common], rel=WITHIN[dtype]
    )
    assert (found.status_, found.n_iter_) == (expected.status_, expected.n_iter_)
    assert all(np.isfinite(factor).all() for factor in found.factors_.values())
    again = ended(settled(model, divergence, "cuda"), data)
    for name, factor in found.factors_.items():
        np.testing.assert_array_equal(again.factors_[name], factor)
