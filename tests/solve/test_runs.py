"""A run is a value: paused and gone on with, it comes to the same bits as one that was never paused."""

import io
from dataclasses import fields, is_dataclass

import array_api_strict
import numpy as np
import pytest
from scipy import sparse

from nonneg import Model
from nonneg.divergences import Beta
from nonneg.exceptions import DataError
from nonneg.kernels.namespace import to_host
from nonneg.solve.problem import bind
from nonneg.solve.run import begin, solve
from nonneg.solve.solution import Status
from nonneg.solve.solving import start_factors
from nonneg.solve.storing import read, write
from nonneg.solvers import NAMES, Multiplicative, Stopping

pytestmark = pytest.mark.wide(one_in=6)


SOLVERS = {**NAMES, "rescaled": Multiplicative(exponent=1, rescale=True)}
MODELS = {
    "W H": ("W H", 2, {}),
    "W W.T X": ("W W.T X", 2, {}),
    "W S H": ("W S H", 2, {}),
    "W W.T": ("W W.T", 2, {}),
    "both": ("L L.T X R R.T", 2, {}),
    "orthogonal": ("W W.T X", 2, {"W": "orthogonal"}),
    "stochastic": ("W H", 1, {"W": "stochastic"}),
    "KL": ("W H", 1, {}),
    "projective KL": ("W W.T X", 1, {}),
    "Itakura-Saito": ("W H", 0, {}),
    "Rényi": ("W H", "hellinger", {}),
}
ITERATIONS = 37


def data(form, shape=(30, 20)):
    generator = np.random.default_rng(0)
    X = generator.random((shape[0], 4)) @ generator.random((4, shape[1])) + 0.1 * generator.random(shape) + 1e-3
    return X @ X.T if form == "W W.T" else X


def problem_of(name, store=np.asarray, shape=(30, 20)):
    form, divergence, constraints = MODELS[name]
    return bind(Model(form, divergence, constraints), store(data(form, shape)), 3)


def begun(problem, solver, stopping):
    return begin(problem, start_factors(problem, "random", 0), solver, stopping)


def bits(value):
    """All that a state is made of, as bytes and numbers; seconds aside, and products that a point happens to know."""
    if is_dataclass(value):
        return type(value).__name__, {
            field.name: bits(getattr(value, field.name)) for field in fields(value) if field.name != "seconds"
        }
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [bits(item) for item in value]
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return to_host(value).dtype.str, to_host(value).shape, to_host(value).tobytes()
    return repr(value)


def ends_alike(one, other):
    assert (one.n_iter, one.status) == (other.n_iter, other.status)
    assert bits(dict(one.best.factors)) == bits(dict(other.best.factors))
    assert bits(one.state) == bits(other.state)
    assert bits(one.watch) == bits(other.watch)
    assert [bits(record) for record in one.history] == [bits(record) for record in other.history]
    assert one.best.objective() == other.best.objective()


def usable(problem, solver):
    obstacle = solver.obstacle(problem.signature)
    if obstacle is not None:
        pytest.skip(obstacle)


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_pausing_changes_nothing(name, solver, store):
    stopping = Stopping(tol=0, max_iter=ITERATIONS, check_every=5)
    problem = problem_of(name, store)
    usable(problem, solver)
    whole = solve(begun(problem, solver, stopping), solver, stopping)
    paused = begun(problem, solver, stopping)
    for place in (0, 1, 7, 10, 11, 12, 23, 36):
        solve(paused, solver, stopping, pause_at=place)
        assert paused.n_iter == place or paused.status is not None
    ends_alike(solve(paused, solver, stopping), whole)


def written_and_read(run, problem):
    """A run as it comes back from a file, on a problem that knows nothing of it."""
    file = io.BytesIO()
    write(run, file)
    return read(io.BytesIO(file.getvalue()), problem)


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("name", MODELS)
def test_nor_does_writing_it_down(name, solver):
    """A problem that is bound anew knows nothing of the run, and the run goes on with it all the same."""
    stopping = Stopping(tol=0, max_iter=ITERATIONS, check_every=5)
    problem = problem_of(name)
    usable(problem, solver)
    whole = solve(begun(problem, solver, stopping), solver, stopping)
    paused = begun(problem, solver, stopping)
    for place in (3, 11, 24):
        paused = written_and_read(solve(paused, solver, stopping, pause_at=place), problem_of(name))
    ends_alike(solve(paused, solver, stopping), whole)


@pytest.mark.parametrize("solver", NAMES.values(), ids=NAMES)
def test_a_resumed_run_ends_at_the_same_iteration(solver):
    """Pausing at every single iteration, until a tolerance is met."""
    stopping = Stopping(tol=1e-4, max_iter=1000, check_every=5)
    problem = problem_of("W H")
    whole = solve(begun(problem, solver, stopping), solver, stopping)
    assert whole.status is not Status.MAX_ITER
    paused = begun(problem, solver, stopping)
    for place in range(whole.n_iter + 5):
        solve(paused, solver, stopping, pause_at=place)
    ends_alike(paused, whole)


@pytest.mark.parametrize("solver", NAMES.values(), ids=NAMES)
def test_runs_side_by_side_do_not_touch_each_other(solver):
    """Two runs of one problem, taking turns: each comes to what it would have come to alone."""
    stopping = Stopping(tol=0, max_iter=30, check_every=5)
    problem = problem_of("W H")
    alone = [
        solve(begin(problem_of("W H"), start_factors(problem, "random", seed), solver, stopping), solver, stopping)
        for seed in (0, 1)
    ]
    turns = [begin(problem, start_factors(problem, "random", seed), solver, stopping) for seed in (0, 1)]
    for place in range(31):
        for run in turns:
            solve(run, solver, stopping, pause_at=place)
    for run, expected in zip(turns, alone, strict=True):
        ends_alike(run, expected)


@pytest.mark.parametrize("name", ["W H", "KL", "W W.T X"])
def test_other_libraries(name):
    solvers = [solver for key, solver in NAMES.items() if key != "coordinate"]
    stopping = Stopping(tol=0, max_iter=25, check_every=5)
    for solver in solvers:
        problem = problem_of(name, array_api_strict.asarray)
        if solver.obstacle(problem.signature) is None:
            whole = solve(begun(problem, solver, stopping), solver, stopping)
            paused = solve(begun(problem, solver, stopping), solver, stopping, pause_at=13)
            paused = written_and_read(paused, problem_of(name, array_api_strict.asarray))
            ends_alike(solve(paused, solver, stopping), whole)


@pytest.mark.parametrize("solver", NAMES.values(), ids=NAMES)
def test_a_state_is_made_of_arrays_and_numbers(solver):
    """Nothing in it is an object of the library that could not be written down."""
    problem = problem_of("W H")
    stopping = Stopping(tol=0, max_iter=25, check_every=5)
    run = solve(begun(problem, solver, stopping), solver, stopping)

    def walk(value):
        if is_dataclass(value):
            for field in fields(value):
                walk(getattr(value, field.name))
        elif isinstance(value, dict):
            for item in (*value.keys(), *value.values()):
                walk(item)
        elif isinstance(value, list | tuple):
            for item in value:
                walk(item)
        else:
            assert value is None or isinstance(value, bool | int | float | str | np.ndarray | np.generic), repr(value)

    walk(run.state)
    walk(run.watch)
    walk(list(run.history))


def test_a_callback_may_pause_a_run():
    """Pausing is not stopping: no status is given, and the history has no check that would not have been."""
    solver, stopping = NAMES["multiplicative"], Stopping(tol=0, max_iter=20, check_every=5)
    problem = bind(Model("W H", Beta(2)), data("W H"), 3)
    run = solve(begun(problem, solver, stopping), solver, stopping, pause_at=7)
    assert run.status is None
    assert [record.iteration for record in run.history] == [0, 5]
    solve(run, solver, stopping)
    assert run.status is Status.MAX_ITER
    assert [record.iteration for record in run.history] == [0, 5, 10, 15, 20]


def test_other_objects_are_refused_as_runs(tmp_path):
    problem = problem_of("W H")
    with pytest.raises(DataError, match="is not a run that was written down"):
        read(tmp_path / "nothing", problem)
    (tmp_path / "text").write_text("text")
    with pytest.raises(DataError, match="is not a run that was written down"):
        read(tmp_path / "text", problem)
    np.savez(tmp_path / "others.npz", W=np.ones(3))
    with pytest.raises(DataError, match="is not a run that was written down"):
        read(tmp_path / "others.npz", problem)


def test_a_run_of_another_problem_is_refused(tmp_path):
    solver, stopping = NAMES["multiplicative"], Stopping(max_iter=3)
    write(solve(begun(problem_of("W H"), solver, stopping), solver, stopping), tmp_path / "run.npz")
    with pytest.raises(DataError, match=r"its W must be an array of shape \(31, 3\); got an array of float64 of shape \(30, 3\)"):
        read(tmp_path / "run.npz", problem_of("W H", shape=(31, 20)))
    with pytest.raises(DataError, match="is of another problem"):
        read(tmp_path / "run.npz", problem_of("W W.T X"))


def test_a_cut_file_is_refused(tmp_path):
    solver, stopping = NAMES["multiplicative"], Stopping(max_iter=3)
    write(solve(begun(problem_of("W H"), solver, stopping), solver, stopping), tmp_path / "run.npz")
    (tmp_path / "half.npz").write_bytes((tmp_path / "run.npz").read_bytes()[:500])
    with pytest.raises(DataError, match="or not all of it"):
        read(tmp_path / "half.npz", problem_of("W H"))


def test_a_file_has_the_name_it_was_given_and_numbers_of_any_kind(tmp_path):
    problem, solver = problem_of("W H"), Multiplicative()
    stopping = Stopping(max_iter=np.int64(30), tol=np.float64(1e-5))
    run = solve(begun(problem, solver, stopping), solver, stopping, pause_at=10)
    write(run, tmp_path / "run.state")
    again = solve(read(tmp_path / "run.state", problem), solver, stopping)
    assert again.point.factors["W"].tobytes() == solve(run, solver, stopping).point.factors["W"].tobytes()


def test_runs_of_other_models_are_refused(tmp_path):
    solver, stopping = Multiplicative(), Stopping(max_iter=3)
    write(solve(begun(problem_of("W W.T X"), solver, stopping), solver, stopping), tmp_path / "run")
    with pytest.raises(DataError, match=r"of another problem: W W\.T X"):
        read(tmp_path / "run", problem_of("W H"))
    np.save(tmp_path / "array.npy", np.ones(3))
    with pytest.raises(DataError, match="not a run"):
        read(tmp_path / "array.npy", problem_of("W H"))
