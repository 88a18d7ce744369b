import io
import pickle

import numpy as np
import pytest
from scipy import sparse

from nonneg import Gram, Solution, Status, factorize
from nonneg.reporting import print_progress
from nonneg.solve.solution import History, Record


@pytest.fixture
def solution(X):
    return factorize(X, "W S H", (2, 3), constraints={"W": "orthogonal"}, random_state=0, max_iter=20, tol=0)


def test_factors_come_by_name_in_the_order_of_the_form(solution):
    assert {name: factor.shape for name, factor in solution.factors.items()} == {"W": (6, 2), "S": (2, 3), "H": (3, 5)}
    assert list(solution.factors) == ["W", "S", "H"]


@pytest.mark.parametrize("form", ["W H", "W W.T X", "W", "H.T W.T"])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_reconstruct_multiplies_the_form(form, convert, X):
    solution = factorize(convert(X), form, None if form == "W" else 2, random_state=0, max_iter=20)
    W, H = solution.factors["W"], solution.factors.get("H")
    expected = {"W": lambda: W, "W H": lambda: W @ H, "W W.T X": lambda: W @ W.T @ X, "H.T W.T": lambda: H.T @ W.T}[form]()
    assert type(solution.reconstruct()) is np.ndarray
    np.testing.assert_allclose(solution.reconstruct(), expected)
    assert solution.objective == pytest.approx(np.sum((X - expected) ** 2) / 2)


def test_a_gram_matrix_cannot_be_reconstructed(X):
    with pytest.raises(ValueError, match="X itself is not known, only its Gram matrix"):
        factorize(Gram(X @ X.T), "W W.T X", 2, max_iter=3, random_state=0).reconstruct()


def test_the_history_has_columns(solution):
    history = solution.history
    assert history.objective[-1] == solution.objective
    assert history.iteration.tolist() == [0, 10, 20]
    assert history.violation.keys() == {"W"}
    assert history.exponent.keys() == {"W", "S", "H"}
    assert all(len(column) == 3 for column in (history.seconds, history.violation["W"], history.exponent["S"]))
    assert isinstance(history[1:], History)
    assert isinstance(history[-1], Record)
    assert len(history[1:]) == 2
    assert "3 checks, iterations 0–20" in repr(history)
    assert (repr(History()), History().violation, len(History())) == ("History(empty)", {}, 0)


def test_print(solution):
    assert repr(solution) == f"Solution('W S H', objective={solution.objective:.6g}, n_iter=20, status='max_iter')"
    assert all(
        piece in str(solution) for piece in ("minimise  ½‖X − W S H‖²", "W (6, 2), S (2, 3), H (3, 5)", "after 20 iterations")
    )


def test_pickle(solution):
    twin = pickle.loads(pickle.dumps(solution))
    assert isinstance(twin, Solution)
    assert twin.model == solution.model
    assert twin.status is Status.MAX_ITER
    np.testing.assert_array_equal(twin.reconstruct(), solution.reconstruct())


@pytest.mark.parametrize(("every", "lines"), [(0.0, 4), (1e6, 2)])
def test_print_progress(every, lines, X):
    stream = io.StringIO()
    factorize(
        X, "W H", 2, constraints={"W": "orthogonal"}, max_iter=20, tol=0, callback=print_progress(every, stream), random_state=0
    )
    printed = stream.getvalue().splitlines()
    assert len(printed) == lines
    assert "objective" in printed[0]
    assert printed[1].split()[0] == "0"
