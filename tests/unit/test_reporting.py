"""Whoever listens hears of every fit, may end it, and is told honestly how long it will take."""

import io
import signal

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from nonneg import NMF, OPNMF, QNMFHMM, factorize, open_data
from nonneg.engine.solution import Progress
from nonneg.exceptions import Stopped
from nonneg.graph import GraphClustering
from nonneg.reporting import Estimate, LinePrinter, Listener, listening, pace, readable_seconds

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


def test_nobody_listens_afterwards():
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


def test_inner_runs_leave_nothing_behind():
    """Ctrl-C within one of them ends the whole: there is nothing to keep."""
    model = GraphClustering(2, random_state=0)

    class Impatient(Listener):
        def phase(self, text):
            signal.raise_signal(signal.SIGINT)

    with listening(Impatient()), pytest.raises(KeyboardInterrupt) as caught:
        model.fit(np.kron(np.eye(2), np.ones((4, 4))))
    assert not isinstance(caught.value, Stopped)
    assert not hasattr(model, "labels_")


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


def test_estimates_of_what_is_left():
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
