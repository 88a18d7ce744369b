"""Coordinate descent in blocks of rows: the step, the objective it lowers, and fits on a device."""

import array_api_strict
import numpy as np
import pytest

from nonneg import NMF, OPNMF, factorize, solvers
from nonneg.constraints import Sparse
from nonneg.data import read_data
from nonneg.data.projection import Projection
from nonneg.exceptions import DataError, IncompatibleError
from nonneg.kernels.alternating import Alternating
from nonneg.kernels.coordinates import linear_rows
from nonneg.kernels.projective import Projective, combined, coordinate_rows, gram, steps_of
from nonneg.solve import run
from nonneg.solve.starts import batch


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def on_device(X):
    return array_api_strict.asarray(X, device=array_api_strict.Device("device1"))


def to_host(array):
    return np.asarray(array.to_device(array_api_strict.Device("CPU_DEVICE")))


def objective(R, F, penalty=0.0):
    return np.sum((R - F @ (F.T @ R)) ** 2) / 2 - np.sum(R * R) / 2 + penalty * F.sum()


def test_rows_move_as_by_the_compiled_kernel(rng):
    F, C, A = rng.random((30, 5)), rng.random((30, 5)), rng.random((9, 5))
    Q = A.T @ A
    expected = F.copy()
    linear_rows(0, 30, expected, Q, C, 0.2, 0.0, 0, 3, 0.0)
    np.testing.assert_allclose(coordinate_rows(np)(F, C, Q, 0.2, 3), expected, rtol=1e-12, atol=1e-14)


def test_a_component_without_curvature_stays(rng):
    Q = np.diag([1.0, 0.0])
    found = coordinate_rows(np)(np.ones((4, 2)), np.full((4, 2), 3.0), Q, 0.0, 2)
    np.testing.assert_array_equal(found, [[3.0, 1.0]] * 4)


@pytest.mark.parametrize("xp", [np, array_api_strict], ids=["numpy", "strict"])
@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_no_sweep_raises_the_objective_and_the_number_is_that_of_the_factor(xp, penalty, rng):
    R, F = rng.random((41, 9)), rng.random((3, 41, 4)) * np.array([1e-3, 1.0, 1e3])[:, None, None]
    descent = Projective(xp, xp.asarray(R), steps_of(xp), 4, 2, penalty)
    progress, before = descent.begin(xp.asarray(F), 0.7), np.inf
    for _ in range(40):
        progress = descent.advance(progress)
        values = np.asarray(progress.numbers)[:, 1]
        np.testing.assert_allclose(values, [objective(R, one, penalty) for one in np.asarray(progress.F)], rtol=1e-9, atol=1e-9)
        assert (values <= before + 1e-12 * abs(values)).all()
        before = values
    assert (values < -0.1 * np.sum(R * R)).all()


@pytest.mark.parametrize("xp", [np, array_api_strict], ids=["numpy", "strict"])
@pytest.mark.parametrize("penalties", [(0.0, 0.0), (0.3, 0.1)])
def test_no_sweep_over_both_factors_raises_the_objective(xp, penalties, rng):
    X, W, V = rng.random((21, 17)), rng.random((2, 21, 3)), rng.random((2, 17, 3)) * np.array([0.5, 2.0])[:, None, None]
    descent = Alternating(xp, xp.asarray(X), steps_of(xp), 2, penalties)
    sides, before = descent.begin(xp.asarray(W), xp.asarray(V), 0.7), np.inf
    for _ in range(40):
        sides = descent.advance(sides)
        W, V, values = (np.asarray(array) for array in (sides.W, sides.V, sides.numbers[:, 1]))
        errors = np.sum((X - W @ V.swapaxes(1, 2)) ** 2, axis=(1, 2)) / 2 - np.sum(X * X) / 2
        np.testing.assert_allclose(values, errors + W.sum((1, 2)) * penalties[0] + V.sum((1, 2)) * penalties[1], rtol=1e-9)
        assert (values <= before + 1e-12 * abs(values)).all()
        before = values
    assert (values < -0.3 * np.sum(X * X)).all()


@pytest.mark.wide(one_in=2)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("form", ["W H", "H.T W.T"])
def test_w_h_on_a_device_comes_as_low_as_on_the_host(form, rng):
    X = rng.random((40, 3)) ** 2 @ rng.random((3, 30)) ** 2 + 0.1 * rng.random((40, 30))
    for given in ({}, {"constraints": {"H": Sparse(0.05)}}):
        host, device = (factorize(Z, form, 3, random_state=0, **given) for Z in (X, on_device(X)))
        assert device.solver == "block-coordinate"
        assert device.status.value == "converged"
        assert device.objective <= 1.003 * host.objective
    several = NMF(3, n_init=3, random_state=0).fit(on_device(X))
    assert several.objective_ == to_host(several.objectives_).min()
    assert several.objective_ <= 1.001 * NMF(3, random_state=0).fit(X).objective_


def test_points_of_a_batch_do_not_change_each_other(rng):
    R, F = rng.random((20, 6)), rng.random((2, 20, 3))
    descent = Projective(np, R, steps_of(np), 3, 2)
    both, alone = descent.begin(F, 0.7), descent.begin(F[1], 0.7)
    for _ in range(5):
        both, alone = descent.advance(both), descent.advance(alone)
    np.testing.assert_allclose(both.F[1], alone.F, rtol=1e-10)


@pytest.mark.parametrize("of", ["rows", "columns"])
def test_a_projection_is_exact_for_added_factors_and_never_above(of, rng):
    X, W = rng.random((12, 40)), rng.random((40 if of == "rows" else 12, 3))
    K = X.T @ X if of == "rows" else X @ X.T
    made = Projection(read_data(X), of, 4, rng)
    made.add(W)
    R = np.asarray(made.sketch.values)
    sketched = R.T @ R if of == "rows" else R @ R.T
    np.testing.assert_allclose(sketched @ W, K @ W, rtol=1e-9)
    assert np.linalg.eigvalsh(K - sketched).min() > -1e-9 * np.linalg.norm(K)
    again = Projection.of_arrays(made.data, of, **made.arrays)
    np.testing.assert_array_equal(again.sketch.values, made.sketch.values)
    with pytest.raises(DataError, match="altered"):
        Projection.of_arrays(made.data, of, made.Q[:-1], made.C)


@pytest.mark.wide(one_in=3)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((300, 60), np.float64), ((60, 300), np.float32), ((40, 2000), np.float32)],
    ids=["formed", "whole", "sketch"],
)
def test_fits_on_a_device_come_as_low_as_on_the_host(shape, dtype, rng):
    X = (rng.random((shape[0], 4)) @ rng.random((4, shape[1])) ** 3 + 0.1 * rng.random(shape)).astype(dtype)
    host, device = (OPNMF(4, random_state=0).fit(Z) for Z in (X, on_device(X)))
    assert "blocks of rows" in str(device.strategy_)
    assert device.status_.value == "converged"
    assert device.objective_ <= 1.0005 * host.objective_
    settings = {"random_state": 0, "max_iter": 3, "tol": 0}
    again, device = (OPNMF(4, **settings).fit(on_device(X)) for _ in range(2))
    np.testing.assert_array_equal(to_host(again.components_), to_host(device.components_))


@pytest.mark.wide(one_in=2)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("init", "shape"), [("random", (90, 30)), ("auto", (40, 1700))], ids=["formed", "sketch"])
def test_restarts_are_one_batch(init, shape, rng, monkeypatch):
    X = (rng.random((shape[0], 3)) @ rng.random((3, shape[1])) ** 3 + 0.1 * rng.random(shape)).astype(np.float32)
    advance, sweeps, checked = Projective.advance, [], set()
    monkeypatch.setattr(Projective, "advance", lambda self, progress: sweeps.append(progress.F.ndim) or advance(self, progress))
    settings = {"init": init, "random_state": 0}
    single = OPNMF(3, **settings).fit(on_device(X))
    alone = len(sweeps)
    several = OPNMF(3, n_init=4, callback=lambda progress: checked.add(progress.iteration), **settings).fit(on_device(X))
    assert sweeps[-1] == 3
    assert len(sweeps) < 3 * alone
    assert {0, several.n_iter_} <= checked
    objectives = to_host(several.objectives_)
    assert len(set(objectives.tolist())) > 1
    assert several.objective_ == objectives.min() <= 1.01 * single.objective_
    assert several.status_.value == "converged"
    W = to_host(several.components_).T.astype(float)
    np.testing.assert_allclose(several.objective_, np.sum((X - X @ W @ W.T) ** 2) / 2, rtol=1e-4)


def test_the_search_finds_planted_parts(rng):
    parts = np.kron(np.eye(8), rng.random(50) + 0.2)
    X = rng.exponential(size=(60, 8)) @ parts + 0.1 * rng.random((60, 400))
    found = OPNMF(len(parts), random_state=0).fit(on_device(X))
    components = to_host(found.components_)
    lengths = np.linalg.norm(components, axis=1)[:, None] * np.linalg.norm(parts, axis=1)
    assert (components @ parts.T / lengths).max(axis=0).min() > 0.95


@pytest.mark.wide
def test_swaps_go_on_without_starts_that_are_over(rng, monkeypatch):
    X, sizes, swapped = on_device(rng.random((30, 60))), [], batch._swapped
    monkeypatch.setattr(batch, "_swapped", lambda part, F, *others: sizes.append(F.shape[0]) or swapped(part, F, *others))
    found = OPNMF(12, n_init=10, random_state=0).fit(X)
    assert sizes[0] == 10
    assert sizes[-1] <= 5
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(to_host(found.objectives_).tolist())) > 1


def test_a_merged_pair_keeps_its_leading_direction(rng):
    A = rng.random((30, 4))
    A[:, 3] = A[:, 1] * 1.1 + 0.01 * rng.random(30)
    merged, *others = batch._mergings(A.T @ A, 8)
    assert len(others) == 7
    np.testing.assert_array_equal(others[5], merged)  # of six pairs, in turn
    assert list(np.flatnonzero(~merged.any(axis=0))) == [3]
    np.testing.assert_allclose(np.linalg.norm(A @ merged[:, 1]), np.linalg.norm(A[:, [1, 3]], 2), rtol=1e-9)


def test_dependent_rows_or_entries_are_refused(rng):
    X = rng.random((20, 10))
    orthogonal = {"constraints": {"W": "orthogonal"}}
    for form, options in (("W S H", {}), ("X W W.T", {"divergence": "kl"}), ("X W W.T", orthogonal), ("W H", orthogonal)):
        with pytest.raises(IncompatibleError, match="in blocks cannot be used"):
            factorize(X, form, 3, solver="block-coordinate", **options)
    with pytest.raises(IncompatibleError, match="blocks must be an int"):
        solvers.BlockCoordinate(blocks=0)
    found = factorize(X, "X W W.T", 3, solver="block-coordinate", random_state=0)
    assert found.objective <= 1.01 * factorize(X, "X W W.T", 3, random_state=0).objective


def test_missing_entries_are_filled_between_steps(rng):
    X = rng.random((12, 3)) @ rng.random((3, 8))
    X[rng.random(X.shape) < 0.2] = np.nan
    settings = {"max_iter": 40, "tol": 0, "random_state": 0, "missing": "ignore"}
    found, expected = (factorize(X, "X W W.T", 3, solver=solver, **settings) for solver in ("block-coordinate", "coordinate"))
    assert found.objective <= 1.05 * expected.objective


@pytest.mark.parametrize("m", [2048, 2500])
@pytest.mark.parametrize("points", [(), (2,), (2, 3)])
def test_long_products_of_a_batch_are_the_sums_of_their_pieces(m, points, rng):
    A, B = rng.random((*points, m, 3)), rng.random((*points, m, 2))
    np.testing.assert_allclose(gram(np, A, B), A.mT @ B, rtol=1e-12)
    R = rng.random((m, 5))
    np.testing.assert_allclose(combined(np, R, A), R.T @ A, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_large_batch_goes_on_without_runs_that_are_over(rng, monkeypatch):
    X, sizes, advance = on_device(rng.random((40, 25))), [], Alternating.advance
    monkeypatch.setattr(Alternating, "advance", lambda self, sides: sizes.append(sides.W.shape[0]) or advance(self, sides))
    found = NMF(4, n_init=20, random_state=0).fit(X)
    assert sizes[0] == 20
    assert sizes[-1] <= 10
    assert sizes == sorted(sizes, reverse=True)
    monkeypatch.setattr(run, "_SHRINKS", 100)
    np.testing.assert_allclose(to_host(NMF(4, n_init=20, random_state=0).fit(X).objectives_), to_host(found.objectives_), rtol=1e-9)
