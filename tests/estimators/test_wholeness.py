"""A fit is whole or has not been: whatever interrupts it, all attributes are of one fit, and no thread goes on."""

import _thread
import sys
import threading

import numpy as np
import pytest

from nonneg.estimators import NMF, OPNMF, PNMF, Factorization

from .cases import ITERATIVE, MAKERS, unconverged

ENDLESS = {"tol": 0, "max_iter": 10**9, "verbose": 1}


class Interrupting:
    """Standard output that presses Ctrl-C when the first line of progress is printed."""

    pressed = False

    def write(self, text):
        if "iteration" not in text and not self.pressed:
            self.pressed = True
            _thread.interrupt_main()

    def flush(self):
        pass


def others():
    """The threads that run beside this one."""
    return [thread for thread in threading.enumerate() if thread is not threading.current_thread() and thread.is_alive()]


def all_end(threads):
    """Whether they do, soon: an endless one does not in half a minute."""
    for thread in threads:
        thread.join(30)
    return not any(thread.is_alive() for thread in threads)


def state(estimator):
    """All attributes, as they are: the objects themselves."""
    return {name: id(value) for name, value in vars(estimator).items()}


@unconverged
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", ITERATIVE)
def test_an_interrupted_refit_holds_the_best_so_far(name, n_jobs, X, monkeypatch):
    """It is of one fit, the interrupted one, and says so."""
    estimator = MAKERS[name](max_iter=5).fit(X[:, :9])
    estimator.set_params(n_init=2, n_jobs=n_jobs, init="random", solver="multiplicative", **ENDLESS)
    running = others()
    monkeypatch.setattr(sys, "stdout", Interrupting())
    with pytest.raises(KeyboardInterrupt, match=f"{type(estimator).__name__} was interrupted; it holds the best so far"):
        estimator.fit(X)
    assert all_end([thread for thread in others() if thread not in running])
    assert estimator.status_ == "stopped_by_user"
    assert estimator.n_features_in_ == X.shape[1]
    assert estimator.objective_ == pytest.approx(estimator.history_[-1].objective)
    assert estimator.transform(X).shape == (20, 3)


@unconverged
@pytest.mark.parametrize("bad", ["negative", "another"])
@pytest.mark.parametrize("name", MAKERS)
def test_a_failing_refit_leaves_the_last_fit(name, bad, X):
    """It is refused for what only the engine sees, or for what is seen after the number of features is."""
    estimator = MAKERS[name](**({"max_iter": 5} if name in ITERATIVE else {})).fit(X[:, :9])
    if bad == "another":
        estimator.set_params(**{"n_clusters" if "n_clusters" in estimator.get_params() else "n_components": 0})
    before = state(estimator)
    with pytest.raises(ValueError, match="negative" if bad == "negative" else "must be"):
        estimator.fit(X - 2 if bad == "negative" else X)
    assert state(estimator) == before
    assert estimator.n_features_in_ == 9


@unconverged
@pytest.mark.parametrize("name", ITERATIVE)
def test_a_first_fit_that_fails_leaves_nothing(name, X):
    estimator = MAKERS[name](max_iter=5)
    before = state(estimator)
    with pytest.raises(ValueError, match="X is zero everywhere"):
        estimator.fit(0 * X)
    assert state(estimator) == before


def test_other_starts_end_if_one_fails(X, monkeypatch):
    """The second start raises once the first, which is endless, is under way."""
    from nonneg.solve import restarts

    under_way, solve, numbers = threading.Event(), restarts.solve_from, iter([1, 2])

    def solved(problem, init, solver, stopping, seed=None, callback=None, **options):
        if next(numbers) == 2:
            under_way.wait(60)
            raise ValueError("the second start cannot be")

        def watched(progress):
            under_way.set()
            return callback(progress)

        return solve(problem, init, solver, stopping, seed, watched, **options)

    monkeypatch.setattr(restarts, "solve_from", solved)
    running = others()
    with pytest.raises(ValueError, match="the second start cannot be"):
        NMF(3, init="random", n_init=2, n_jobs=2, tol=0, max_iter=10**9, solver="multiplicative").fit(X)
    assert all_end([thread for thread in others() if thread not in running])


@pytest.mark.parametrize("params", [{}, {"divergence": "kullback-leibler"}], ids=str)
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_a_failing_partial_fit_leaves_the_stream(cls, params, X, monkeypatch):
    """Whatever comes last fails; the batch can be given again, and comes to the same as if nothing had been."""
    plain, estimator = (cls(3, random_state=0, **params).partial_fit(X[:12]) for _ in range(2))
    before = state(estimator)
    with monkeypatch.context() as patch:
        patch.setattr("nonneg.estimators._online.Units", lambda **_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            estimator.partial_fit(X[12:])
    assert state(estimator) == before
    np.testing.assert_array_equal(estimator.partial_fit(X[12:]).components_, plain.partial_fit(X[12:]).components_)


def test_nothing_is_left_of_a_fit_with_other_parameters(X):
    """What has no constraint any more has no orthogonality; what is soft now goes on from where it is."""
    estimator = Factorization("W H", 3, constraints={"H": "orthogonal-rows"}, random_state=0).fit(X)
    assert "H" in estimator.orthogonality_
    assert not hasattr(estimator.set_params(constraints=None).fit(X), "orthogonality_")
    hard = OPNMF(3, orthogonality="rows", warm_start=True, random_state=0).fit(X)
    soft = hard.set_params(orthogonality="soft", warm_start=False).fit(X * (1 + np.arange(12)))
    again = soft.set_params(warm_start=True, max_iter=0, tol=0).fit(X * (1 + np.arange(12)))
    np.testing.assert_allclose(again.components_, OPNMF(3, random_state=0).fit(X * (1 + np.arange(12))).components_, atol=1e-2)


def test_a_refused_fit_of_others_than_factorizations():
    from nonneg import QNMFHMM, NonnegativeKernelFDA, NonnegativeLDA
    from nonneg.graph import GraphClustering

    A, y = np.random.default_rng(0).random((12, 5)), np.arange(12) % 2
    for kind in (NonnegativeLDA, NonnegativeKernelFDA):
        model = kind().fit(A, y)
        before = dict(vars(model))
        with pytest.raises(ValueError, match="one class"):
            model.fit(A[:, :3], ["a"] * 12)
        assert vars(model) == before or all(vars(model)[key] is value for key, value in before.items())
        assert set(model.predict(A)) <= {0, 1}
    graph = GraphClustering(2, random_state=0).fit(np.ones((4, 4)) - np.eye(4))
    with pytest.raises(ValueError, match=r"n_clusters|parts"):
        graph.set_params(n_clusters=9).fit(np.ones((3, 3)) - np.eye(3))
    assert graph.n_features_in_ == 4
    chain = QNMFHMM(2, random_state=0, n_init=1).fit("abababba")
    with pytest.raises(ValueError, match=r"length 1|neighbour"):
        chain.fit([[1], [2]], lengths=[1, 1])
    assert chain.symbols_.tolist() == ["a", "b"]
