import numpy as np
import pytest
from scipy import sparse

from nonneg import Gram, Model, factorize
from nonneg.divergences import Alpha, Beta, DualI, Gamma, Renyi
from nonneg.exceptions import DataError, ShapeError
from nonneg.solve.problem import bind
from nonneg.solve.solvers import Multiplicative, solver_for

pytestmark = pytest.mark.wide(one_in=3)


DIVERGENCES = [
    Beta(2),
    Beta(1),
    Beta(0),
    Beta(0.5),
    Alpha(0.5),
    Alpha(-1),
    Gamma(0),
    Gamma(1),
    Gamma(-2),
    Renyi(0.5),
    Renyi(2),
    DualI(),
]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    return rng.random((8, 7)) + 0.1


def assert_equal(backend, solution, expected, *, dtype=None, rtol=1e-6):
    """The factors are the backend's own, of the dtype of the data, and the same as NumPy's."""
    assert solution.factors.keys() == expected.factors.keys()
    for name, factor in solution.factors.items():
        assert isinstance(factor, backend.array)
        assert factor.dtype == (backend.float64 if dtype is None else dtype)
        np.testing.assert_allclose(
            backend.numpy(factor), expected.factors[name], rtol=rtol, atol=rtol * expected.factors[name].max()
        )
    approximation = solution.reconstruct()
    assert isinstance(approximation, backend.array)
    np.testing.assert_allclose(backend.numpy(approximation), expected.reconstruct(), rtol=rtol, atol=rtol)
    assert isinstance(solution.objective, float)
    assert solution.objective == pytest.approx(expected.objective, rel=100 * rtol, abs=rtol)


def both(backend, X, model, rank, pick_solver, **kwargs):
    """The solution of a backend, and that of NumPy with the same solver: "auto" is another one where there are no kernels.

    They start at random: away from clusters, which are close to saddle points, rounding grows as fast as the steps.
    """
    own, options = backend.asarray(X), {"init": "random", "random_state": 0, "tol": 0, **kwargs}
    solver = pick_solver(model, own, rank)
    same = solver_for(bind(model, own, rank).signature, solver)
    return factorize(own, model, rank, solver=solver, **options), factorize(X, model, rank, solver=same, **options)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
@pytest.mark.parametrize("form", ["W H", "W W.T X", "W S H", "W"])
def test_every_divergence(backend, divergence, form, pick_solver, X):
    rank = None if form == "W" else 3
    assert_equal(backend, *both(backend, X, Model(form, divergence), rank, pick_solver, max_iter=14, check_every=7))


@pytest.mark.parametrize("constraint", ["orthogonal", "stochastic", "stochastic-rows", "stochastic-matrix"])
@pytest.mark.parametrize("form", ["W H", "W W.T X"])
@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Gamma(1), DualI()], ids=str)
def test_every_constraint(backend, constraint, form, divergence, pick_solver, X):
    assert_equal(backend, *both(backend, X, Model(form, divergence, {"W": constraint}), 3, pick_solver, max_iter=14))


@pytest.mark.parametrize(
    ("form", "kwargs"),
    [
        ("W H", {"constraints": {"W": "doubly-stochastic"}, "rank": 8}),
        ("W H", {"constraints": {"H": "orthogonal-rows"}, "init": "kmeans"}),  # "auto" is searched for, on NumPy arrays alone
        ("W H", {"solver": Multiplicative(rescale=True)}),
        ("W W.T X", {"solver": Multiplicative(exponent=1), "constraints": {"W": "orthogonal"}}),
    ],
)
def test_the_rest(backend, form, kwargs, X):
    kwargs = {"solver": "adaptive", "rank": 3, "random_state": 0, "max_iter": 8, **kwargs}
    assert_equal(backend, factorize(backend.asarray(X), form, **kwargs), factorize(X, form, **kwargs))


@pytest.mark.parametrize("constraints", [{}, {"W": "orthogonal"}], ids=str)
def test_trace(backend, constraints, rng):
    S = rng.standard_normal((8, 8))
    S, kwargs = S + S.T, {"divergence": "trace", "constraints": constraints, "random_state": 0, "max_iter": 8}
    assert_equal(backend, factorize(backend.asarray(S), "W.T X W", 2, **kwargs), factorize(S, "W.T X W", 2, **kwargs))


def test_gram(backend, X):
    K, kwargs = X @ X.T, {"solver": "adaptive", "random_state": 0, "max_iter": 8}
    solution, expected = (factorize(Gram(given), "W W.T X", 2, **kwargs) for given in (backend.asarray(K), K))
    np.testing.assert_allclose(backend.numpy(solution.factors["W"]), expected.factors["W"], rtol=1e-6)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
@pytest.mark.parametrize("constraint", ["free", "orthogonal", "stochastic"])
def test_float32_stays_float32(backend, divergence, constraint, pick_solver, X):
    model = Model("W H", divergence, {"W": constraint})
    solution, expected = both(backend, X.astype(np.float32), model, 2, pick_solver, max_iter=3)
    assert {factor.dtype for factor in expected.factors.values()} == {np.dtype(np.float32)}
    assert_equal(backend, solution, expected, dtype=backend.float32, rtol=1e-3)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, bool])
def test_other_numbers_become_float64(backend, dtype, X):
    X = (5 * X).astype(dtype)
    kwargs = {"solver": "adaptive", "random_state": 0, "max_iter": 5}
    assert_equal(backend, factorize(backend.asarray(X), "W H", 2, **kwargs), factorize(X, "W H", 2, **kwargs))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("own", [True, False], ids=["own", "numpy"])
@pytest.mark.parametrize("constraint", ["free", "fixed"])
@pytest.mark.parametrize("divergence", [Beta(2), Beta(1)], ids=str)
def test_starts_and_fixed_factors_may_come_from_the_host(backend, own, constraint, dtype, divergence, X, rng):
    W = rng.random((8, 2))
    given = backend.asarray(W) if own else W
    kwargs = {"solver": "adaptive", "constraints": {"W": constraint}, "max_iter": 5, "random_state": 0, "divergence": divergence}
    solution = factorize(backend.asarray(X.astype(dtype)), "W H", init={"W": given}, **kwargs)
    expected = factorize(X.astype(dtype), "W H", init={"W": W}, **kwargs)
    single = dtype == np.float32
    assert_equal(backend, solution, expected, dtype=backend.float32 if single else None, rtol=1e-3 if single else 1e-6)


def test_starts_may_come_from_elsewhere(backend, X, rng):
    W = rng.random((8, 2))
    one, other = (
        factorize(X, "W H", init={"W": given}, solver="adaptive", max_iter=5, random_state=0) for given in (backend.asarray(W), W)
    )
    np.testing.assert_allclose(one.factors["W"], other.factors["W"])
    assert isinstance(one.factors["W"], np.ndarray)


def test_sparse_fixed_factors(backend, X, rng):
    A = sparse.csr_array(rng.random((8, 3)))
    kwargs = {"solver": "adaptive", "constraints": {"A": "fixed"}, "max_iter": 5, "random_state": 0}
    solution, expected = (factorize(given, "A H", init={"A": A}, **kwargs) for given in (backend.asarray(X), X))
    np.testing.assert_allclose(backend.numpy(solution.factors["H"]), expected.factors["H"])


@pytest.mark.parametrize(
    ("spoil", "error", "match"),
    [
        (lambda X: X - 1, DataError, r"negative entries, the first \(-0\.\d+\) at \(0, 0\)"),
        (lambda X: X * np.nan, DataError, "56 entries that are not finite"),
        (lambda X: X[0], DataError, "got 1 dimension"),
        (lambda X: X[:0], DataError, "is empty"),
        (lambda X: X * 1j, DataError, "is complex"),
        (lambda X: X[:, :3], ShapeError, "orthonormal rows do not fit"),
    ],
)
def test_bad_data_are_explained(backend, spoil, error, match, X):
    with pytest.raises(error, match=match):
        factorize(backend.asarray(spoil(X)), "W H", 4, constraints={"H": "orthogonal-rows"})


def test_the_input_is_never_changed(backend, X):
    given = backend.asarray(X.copy())
    factorize(given, "W H", 2, divergence=1, max_iter=3, random_state=0)
    np.testing.assert_array_equal(backend.numpy(given), X)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Beta(0)], ids=str)
def test_extreme_scales(backend, scale, divergence, X):
    kwargs = {"solver": "adaptive", "divergence": divergence, "random_state": 0, "max_iter": 10}
    solution = factorize(backend.asarray(scale * X), "W H", 2, **kwargs)
    np.testing.assert_allclose(
        backend.numpy(solution.reconstruct()) / scale, factorize(X, "W H", 2, **kwargs).reconstruct(), rtol=1e-4
    )


def test_no_gradients_are_recorded(X):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    solution = factorize(torch.asarray(X), "W H", 2, divergence=1, max_iter=3, random_state=0)
    assert not any(factor.requires_grad for factor in solution.factors.values())


def test_a_tensor_that_requires_gradients_is_only_data(X):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    given = torch.asarray(X).requires_grad_()
    solution = factorize(given, "W H", 2, divergence=1, max_iter=3, random_state=0)
    assert not any(factor.requires_grad for factor in solution.factors.values())


def test_torch_multiplies_with_its_own_products(X, monkeypatch):
    """Nothing of the loop goes through NumPy: its arrays are not even made."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    init = {"W": torch.ones(8, 2, dtype=torch.float64), "H": torch.ones(2, 7, dtype=torch.float64)}

    def refuse(*_, **__):
        raise AssertionError("a tensor was turned into a NumPy array")

    given = torch.asarray(X)
    monkeypatch.setattr(torch.Tensor, "__array__", refuse)
    monkeypatch.setattr(torch.Tensor, "numpy", refuse)
    factorize(given, "W H", init=init, divergence=0.5, max_iter=3, constraints={"W": "orthogonal"})


def weighted_kinds(X):
    V = np.random.default_rng(1).uniform(0.2, 2, X.shape)
    some = np.where(np.random.default_rng(2).random(X.shape) < 0.2, 0.0, V)
    gaps = np.where(np.random.default_rng(3).random(X.shape) < 0.2, np.nan, X)
    return {
        "missing": (gaps, {"missing": "ignore"}),
        "entries": (X, {"weights": V}),
        "some entries": (X, {"weights": some}),
        "entries and missing": (gaps, {"missing": "ignore", "weights": V}),
        "samples": (X, {"weights": (V[:, 0], None)}),
        "samples, some of no weight": (X, {"weights": (some[:, 0], None)}),
    }


@pytest.mark.parametrize("kind", weighted_kinds(np.ones((1, 1))))
@pytest.mark.parametrize(
    "model",
    [Model("W H"), Model("W H", 1), Model("X W W.T"), Model("W W.T X", 1), Model("W H", constraints={"H": "orthogonal-rows"})],
    ids=str,
)
def test_missing_values_and_weights(backend, model, kind, rng):
    X, settings = weighted_kinds(rng.random((12, 7)) + 0.1)[kind]
    shapes = {"W": (12 if str(model.form).startswith("W") else 7, 2), "H": (2, 7)}
    start = {name: rng.random(shapes[name]) + 0.1 for name in model.learned}
    options = {"init": start, "solver": "multiplicative", "max_iter": 4, "tol": 0}
    expected = factorize(X, model, **options, **settings)
    given = settings.get("weights")
    for weights in (given, backend.asarray(given) if isinstance(given, np.ndarray) else given):
        own = settings | ({} if given is None else {"weights": weights})
        found = factorize(backend.asarray(X), model, **options, **own)
        for name, factor in found.factors.items():
            np.testing.assert_allclose(backend.numpy(factor), expected.factors[name], rtol=1e-6, atol=1e-8)
