"""The benchmarks, on small data: all groups run, and rows, table, file and slopes agree with the measurements."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nonneg

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def machinery(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import _bench

    return _bench


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Everything, quickly, in a process of its own: the results by group, and what was printed."""
    folder = tmp_path_factory.mktemp("bench")
    path = os.pathsep.join(filter(None, (str(Path(nonneg.__file__).parents[1]), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, str(FOLDER), "--quick", "--json", str(folder / "new" / "quick.json"), "--plot", str(folder / "plot.png")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "plot.png").stat().st_size > 0
    return json.loads((folder / "new" / "quick.json").read_text(encoding="utf8")), done.stdout


@pytest.mark.wide
def test_every_group_measures_something(quick):
    results, printed = quick
    for group in results.values():
        assert group["curves"] or any(row["value"] is not None for row in group["rows"]), group["title"]
        assert group["title"] in printed


@pytest.mark.wide
def test_no_group_fails_and_omissions_have_a_reason(quick):
    results, _ = quick
    for group in results.values():
        for row in group["rows"]:
            assert not row["note"].startswith("failed"), row
            assert row["value"] is not None or row["note"].startswith("left out"), row


@pytest.mark.wide
def test_small_data_are_not_judged(quick):
    results, _ = quick
    assert all(row["met"] is None for group in results.values() for row in group["rows"])


def test_every_group_has_a_file(machinery):
    import _command

    assert {f"{name}.py" for name in _command.GROUPS} <= {path.name for path in FOLDER.glob("*.py")}


def test_an_unknown_group_is_refused(machinery, capsys):
    import _command

    with pytest.raises(SystemExit):
        _command.main(["projectiv"])
    assert "there are projective, exact" in capsys.readouterr().err


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_slope_is_the_power_of_the_law(machinery, power):
    sizes = np.array([10, 20, 50, 100])
    assert machinery.slope(sizes, 3e-4 * sizes**power) == pytest.approx(power)


def test_figures_taken_in_turns_are_compared_in_pairs(machinery):
    """Where the machine is half as fast in the second turn, the ratio is not touched by it."""
    bench = machinery.Bench()
    bench.faster([1.0, 2.0], [10.0, 20.0], at_least=10, problem="p", what="w")
    bench.cost([3.0, 5.0, 4.0], [2.0], at_most=1.9, problem="p", what="w")
    fast, cost = bench.rows
    assert (fast.value, fast.low, fast.high, fast.met) == (10.0, 10.0, 10.0, True)
    assert (cost.value, cost.low, cost.high, cost.met) == (2.0, 1.5, 2.5, False)


def test_further_requirements_count(machinery):
    bench = machinery.Bench()
    bench.faster([1.0], [20.0], at_least=15, holds=False, problem="p", what="w")
    assert bench.rows[0].met is False


def test_a_peer_that_is_missing_is_a_row(machinery, monkeypatch):
    import _peers

    for name in ("opnmf", "opnmf.opnmf"):
        monkeypatch.setitem(sys.modules, name, None)
    bench = machinery.Bench()
    with bench.attempt("p", "w", "opnmf"):
        _peers.opnmf(np.ones((3, 4)), np.ones((3, 2)))
    with bench.attempt("p", "w", "another"):
        raise ZeroDivisionError("by nothing")
    missing, broken = bench.rows
    assert missing.note.startswith("left out: ")
    assert broken.note == "failed: ZeroDivisionError: by nothing"
    assert bench.failed


def test_long_calls_are_not_repeated(machinery):
    calls = {"short": lambda: machinery.Timed(1.0, None), "long": lambda: machinery.Timed(machinery.LONG + 1, None)}
    taken = machinery.in_turns(calls, 3)
    assert {name: len(runs) for name, runs in taken.items()} == {"short": 3, "long": 1}


def test_a_target_is_reached_or_not(machinery):
    rng = np.random.default_rng(0)
    X, W = rng.random((20, 30)), rng.random((20, 3))
    final = nonneg.factorize(X, "W W.T X", init={"W": W}, max_iter=5, tol=0).objective
    reached = machinery.reach(X, "W W.T X", {"W": W}, machinery.Target(final))
    never = machinery.reach(X, "W W.T X", {"W": W}, machinery.Target(final, rho=0.0), limit=0.1)
    assert math.isfinite(reached.seconds)
    assert reached.result.objective <= final * (1 + machinery.ROUNDING)
    assert math.isinf(never.seconds)


def test_the_table_joins_starts(machinery):
    rows = [machinery.Row("CBCL", "to its objective", "opnmf", f"random {seed}", value=100.0 * seed, wanted=150) for seed in (1, 2)]
    *_, line = machinery.table([*rows, machinery.Row("tall", "memory", value=0.25)]).splitlines()[:3]
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "CBCL, 2 starts", "to its objective", "", "", "opnmf", "150", "", "≥ 150: 1 of 2"
    ]  # fmt: skip


def test_the_file_keeps_the_measurements(machinery, tmp_path):
    bench = machinery.Bench()
    bench.faster([1.0], [math.inf], at_least=2, problem="p", what="w", details={"iterations": np.int64(3), "ok": np.bool_(True)})
    path = tmp_path / "new" / "results.json"
    machinery.write(path, {"group": machinery.as_results(bench, "A title", 1.23)})
    (row,) = machinery.as_rows(machinery.read(path)["group"])
    assert row.ours == 1.0
    assert row.theirs is None, "JSON has no infinity"
    assert row.details == {"iterations": 3, "ok": True}


def test_the_rules_of_the_papers_descend(machinery):
    """What stands for the papers is what it says: PNMF's rule descends; both end where the objective says they do."""
    import _data
    import _peers

    X = _data.faces(quick=True)
    W = _data.starts(X, 4)["random 0"]
    run, marks = _peers.run_rule(_peers.printed_pnmf, X, W, max_iter=50)
    objectives = [mark.objective for mark in marks]
    assert np.all(np.diff(objectives) <= 1e-9 * objectives[0])
    assert _peers.projection(X, run.result)[0] == pytest.approx(objectives[-1])
    orthogonal, _ = _peers.run_rule(_peers.printed_opnmf, X, W, max_iter=50)
    exact = _peers.k_lines(X @ X.T, orthogonal.result)
    assert nonneg.metrics.orthogonality_error(exact) == pytest.approx(0, abs=1e-12)


def test_objectives_of_peers_are_those_of_the_library(machinery):
    import _data
    import _peers

    X = _data.documents("reviews", quick=True)
    W, H = _data.pair(X, 4)
    for divergence, measure in (("euclidean", _peers.euclidean), ("kullback-leibler", _peers.i_divergence)):
        ours = nonneg.factorize(X, "W H", init={"W": W, "H": H}, divergence=divergence, max_iter=0).objective
        assert measure(X, W, H) == pytest.approx(ours)
