"""Whoever listens hears of every fit, may end it, and is told honestly how long it will take."""

import io
import logging
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import nonneg
from nonneg import NMF, NMTF, NNMFHMM, ONMF, OPNMF, QNMFHMM, SymmetricNMF, factorize, open_data
from nonneg.exceptions import Stopped
from nonneg.graph import GraphClustering, match_graphs
from nonneg.reporting import LinePrinter, Listener, listening
from nonneg.selection import rank_scan
from nonneg.solve.progress import Estimate, inner_runs, pace, readable_seconds
from nonneg.solve.solution import Progress

X = np.random.default_rng(0).random((30, 20))


class Recorder(Listener):
    def __init__(self, end_at=None):
        self.heard, self.end_at = [], end_at

    def began(self, start, of, max_iter, tol):
        self.heard.append(("began", start, of, max_iter, tol))

    def checked(self, progress, start):
        self.heard.append(("checked", start, progress.iteration))
        return self.end_at is not None and progress.iteration >= self.end_at

    def ended(self, solution, start):
        self.heard.append(("ended", start, solution.status.value))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_start_is_heard(n_jobs):
    with listening(Recorder()) as listener:
        NMF(3, n_init=3, n_jobs=n_jobs, random_state=0).fit(X)
    for start in range(3):
        own = [event for event in listener.heard if event[1] == start]
        assert own[0] == ("began", start, 3, 5000, 1e-5)
        assert own[-1][0] == "ended"
        assert any(event[0] == "checked" for event in own)


def test_listeners_are_removed_after_a_fit():
    with listening(Recorder()) as listener:
        pass
    NMF(2, random_state=0).fit(X)
    assert not listener.heard


def test_an_end_keeps_what_there_is():
    with listening(Recorder(end_at=20)):
        model = NMF(3, init="random", tol=0, max_iter=10**7, random_state=0).fit(X)
    assert model.status_ == "stopped_by_callback"
    assert 20 <= model.n_iter_ < 10**4
    assert np.isfinite(model.objective_)


@pytest.mark.parametrize(
    ("model", "data", "starts"),
    [
        (GraphClustering(2, random_state=0), np.kron(np.eye(2), np.ones((4, 4))), 0),
        (QNMFHMM(2, n_init=3, random_state=0), ["ab" * 50 + "cd" * 50, "ac" * 80], 3),
    ],
)
def test_inner_runs_are_phases(model, data, starts):
    """What is only a step of the fit does not begin or end in the ears of who listens."""
    with listening(Recorder()) as listener:
        listener.phase = lambda text: listener.heard.append(("phase", text))
        model.fit(data)
    assert sum(event[0] == "ended" for event in listener.heard) == starts
    assert any(event[0] == "phase" and ", iteration" in event[1] for event in listener.heard)


@pytest.mark.parametrize("model", [ONMF(3, orthogonality="exact"), ONMF(3, orthogonality="rows"), SymmetricNMF(3), NMTF(3)])
def test_a_fit_begins_and_ends_once(model):
    """Whatever is fitted again before it returns."""
    own = Recorder()
    model = clone(model).set_params(random_state=0, callback=own)
    with listening(Recorder()) as listener:
        model.fit(X @ X.T if isinstance(model, SymmetricNMF) else X)
        for heard in (listener.heard, own.heard):
            assert [event[0] for event in heard if event[0] != "checked"] == ["began", "ended"]
        listener.heard.clear()
        if not isinstance(model, SymmetricNMF):
            model.transform(X)
    assert not listener.heard


class Impatient(Listener):
    """Presses Ctrl-C once, at the first word of progress."""

    pressed = False

    def phase(self, text):
        if not self.pressed:
            self.pressed = True
            signal.raise_signal(signal.SIGINT)

    def checked(self, progress, start):
        self.phase("")


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (GraphClustering(2, random_state=0), np.kron(np.eye(2), np.ones((4, 4)))),
        (GraphClustering(2, method="kernel-kmeans", random_state=0), np.kron(np.eye(2), np.ones((4, 4)))),
        (QNMFHMM(2, n_init=3, random_state=0), ["ab" * 50 + "cd" * 50, "ac" * 80]),
        (NNMFHMM(2, n_init=3, random_state=0), ["ab" * 50 + "cd" * 50, "ac" * 80]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_ctrl_c_keeps_the_best_so_far(model, data, monkeypatch):
    """Of graphs and chains as of factorizations; and it is passed on once that is kept."""
    if getattr(model, "method", "") == "kernel-kmeans":  # it has no word of progress
        monkeypatch.setattr("nonneg.graph.methods.kernel_kmeans.balanced", _balanced_and_interrupted)
    model = clone(model)
    with listening(Impatient()), pytest.raises(Stopped, match="it holds the best"):
        model.fit(data)
    assert len(model.labels_) == 8 if isinstance(model, GraphClustering) else np.isfinite(model.objective_)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _balanced_and_interrupted(n, count, generator, weights=None):
    """The start of a run; were there another one, this would be a second Ctrl-C, which ends it at once."""
    signal.raise_signal(signal.SIGINT)
    return np.arange(n) % count


def test_ctrl_c_keeps_the_best_matching():
    A = np.random.default_rng(0).random((12, 12))
    with listening(Impatient()), pytest.raises(Stopped) as stopped:
        match_graphs(A, A.T, n_init=1000, random_state=0)
    assert sorted(stopped.value.solution.permutation) == list(range(12))
    assert len(stopped.value.solution.errors) == 1


def test_ctrl_c_tests_pass_in_a_shell_that_ignores_sigint():
    """As ``nohup make test &`` does."""
    this = f"{__file__}::test_ctrl_c_keeps_the_best_matching"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", this]
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    done = subprocess.run(command, preexec_fn=ignore, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_the_ranks_that_were_measured(n_jobs):
    class AfterSome(Listener):
        count = 0

        def phase(self, text):
            self.count += 1
            if self.count == 10:
                signal.raise_signal(signal.SIGINT)

    with listening(AfterSome()), pytest.raises(Stopped) as stopped:
        rank_scan(NMF(init="random"), X, range(1, 9), criteria="error", random_state=0, n_jobs=n_jobs)
    scan = stopped.value.solution
    assert 0 < len(scan.columns_["rank"]) < 8
    assert f"Stopped by the user when {len(scan.columns_['rank'])} of 8 ranks had been measured" in scan.why_


def test_inner_runs_leave_nothing_behind():
    """Ctrl-C within one of them ends the whole, where that does not heed it: there is nothing to keep."""
    with pytest.raises(KeyboardInterrupt) as caught, inner_runs("steps"):
        factorize(X, "W H", 2, callback=lambda progress: signal.raise_signal(signal.SIGINT) if not progress.iteration else None)
    assert not isinstance(caught.value, Stopped)


@pytest.mark.parametrize(
    "fit",
    [
        lambda: NMF(2, init="random", max_iter=3, random_state=0).fit(X),
        lambda: NMF(2, init="random", max_iter=3, random_state=0).fit_transform(X),
        lambda: make_pipeline(NMF(2, init="random", max_iter=3, random_state=0)).fit(X),
        lambda: QNMFHMM(2, init="random", max_iter=3, random_state=0).fit(["abcabd" * 20]),
    ],
    ids=["fit", "fit_transform", "pipeline", "chain"],
)
def test_warnings_are_about_the_users_line(fit):
    with pytest.warns(ConvergenceWarning) as told:
        fit()
    assert {warning.filename for warning in told} == {__file__}


def check(iteration, seconds, objective):
    return Progress(iteration, seconds, objective, {}, {})


def test_estimates_of_remaining_time():
    """Changes that become smaller by half every second will be small enough at a time that can be told."""
    estimate = Estimate(max_iter=10**6, tol=1e-6)
    assert estimate.left() is None
    for k in range(12):
        estimate.add(check(10 * k, float(k), 100 + 50 * 0.5**k))
    seconds, is_expected = estimate.left()
    assert is_expected
    assert seconds == pytest.approx(np.log2((50 * 0.5**11 / 100) / 1e-6), rel=0.05)


def test_no_estimate_is_better_than_a_wrong_one():
    estimate = Estimate(max_iter=1000, tol=1e-6)
    for k in range(12):
        estimate.add(check(10 * k, float(k), 100.0 - k))  # no end in sight
    assert estimate.left() == (pytest.approx(89.0), False)


def test_a_line_a_second():
    stream, now = io.StringIO(), [0.0]

    def clock():
        now[0] += 0.25
        return now[0]

    printer = LinePrinter(stream, clock=clock)
    printer.began(0, 2, 1000, 1e-5)
    for k in range(40):
        printer.checked(check(10 * k, 0.25 * k, 100.0 - k), 0)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 10
    assert "start 1 of 2, iteration 120, objective 88" in lines[3]
    assert "at most" in lines[3]


def test_orthogonality_is_among_it():
    stream = io.StringIO()
    with listening(LinePrinter(stream, every=0.0)):
        OPNMF(2, solver="paper", max_iter=20, tol=0, random_state=0).fit(X)
    assert "distance of W from its constraint" in stream.getvalue()
    assert "after 20 iterations, objective" in stream.getvalue().splitlines()[-1]


@pytest.mark.parametrize(("seconds", "text"), [(0.25, "0.2 s"), (42.2, "42 s"), (300, "5 min"), (9000, "2.5 h")])
def test_times_in_words(seconds, text):
    assert readable_seconds(seconds) == text


def test_a_listener_as_callback():
    recorder = Recorder(end_at=20)
    model = NMF(2, init="random", tol=0, max_iter=10**7, random_state=0, callback=recorder).fit(X)
    assert model.status_ == "stopped_by_callback"
    assert [event[0] for event in recorder.heard][:: len(recorder.heard) - 1] == ["began", "ended"]


def test_two_listeners_and_factorize():
    own = Recorder()
    with listening(Recorder()) as other:
        factorize(X, "W H", 2, random_state=0, callback=own)
    assert own.heard == other.heard
    assert own.heard[0] == ("began", 0, 1, 1000, 1e-5)
    assert own.heard[-1][0] == "ended"


def test_lines_become_rarer_in_a_notebook():
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    assert (pace(1.0, 10.0, stream), pace(1.0, 3600.0, stream), pace(1.0, 3600.0, io.StringIO())) == (1.0, 180.0, 1.0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scikit_learns_callbacks(n_jobs):
    callback = pytest.importorskip("sklearn.callback", reason="this version of scikit-learn has no callbacks")

    class Counter:
        def __init__(self):
            self.names = []

        def setup(self, estimator, context):
            self.names.append("setup")

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            self.names.append(context.task_name)

        def teardown(self, estimator, context):
            self.names.append("teardown")

    assert isinstance(Counter(), callback.FitCallback)
    counter = Counter()
    model = NMF(2, n_init=3, n_jobs=n_jobs, random_state=0).set_callbacks(counter).fit(X)
    assert (counter.names[0], counter.names[-2:]) == ("setup", ["fit", "teardown"])
    assert counter.names.count("start") == 3
    assert counter.names.count("check") >= len(model.history_)
    np.testing.assert_array_equal(model.components_, NMF(2, n_init=3, random_state=0).fit(X).components_)


def test_scikit_learns_progress_bar(capsys):
    callback = pytest.importorskip("sklearn.callback", reason="this version of scikit-learn has no callbacks")
    pytest.importorskip("rich")
    NMF(2, random_state=0).set_callbacks(callback.ProgressBar()).fit(X)
    assert "NMF - fit" in capsys.readouterr().out


def test_readings_are_heard(tmp_path):
    np.save(tmp_path / "X.npy", X)
    stream = io.StringIO()
    NMF(2, random_state=0, callback=LinePrinter(stream, every=0.0)).fit(open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 3))
    assert "reading 1, row 20 of 30" in stream.getvalue()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), BrokenPipeError(), ValueError("closed"), None])
def test_a_stream_that_cannot_be_written_to_costs_no_fit(error, monkeypatch):
    class Full(io.StringIO):
        def write(self, text):
            raise error

    monkeypatch.setattr("sys.stdout", None if error is None else Full())
    X = np.random.default_rng(0).random((8, 4))
    assert nonneg.NMF(2, verbose=1, random_state=0).fit(X).components_.shape == (2, 4)


def test_lines_go_to_logging_if_it_takes_them(caplog):
    with caplog.at_level(logging.INFO, logger="nonneg"):
        model = GraphClustering(2, random_state=0).fit(np.kron(np.eye(2), np.ones((4, 4))))
        NMF(2, random_state=0).fit(X)
        with listening(Listener()):
            heard = len(caplog.records)
            NMF(2, random_state=0).fit(X)
    assert any("converged after" in record.getMessage() for record in caplog.records)
    assert len(caplog.records) == heard
    NMF(2, random_state=0).fit(X)
    assert len(caplog.records) == heard
    assert model.labels_.shape == (8,)


def test_ctrl_c_is_acknowledged_once_by_the_outermost_listener():
    class Counter(Impatient):
        acknowledged = 0

        def interrupted(self):
            self.acknowledged += 1

    with listening(Counter()) as listener, pytest.raises(Stopped):
        GraphClustering(2, random_state=0).fit(np.kron(np.eye(2), np.ones((4, 4))))
    assert listener.acknowledged == 1
