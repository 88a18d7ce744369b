"""The fuzzer: that a short run finds nothing, that it finds planted errors, and that findings are shrunk and can be run again."""

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import nonneg

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def on_path(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def first_finding(area, seed, cases=400):
    """The first case of an area with a finding: its choices and what was found."""
    from fuzz.choices import Choices
    from fuzz.running import run_case

    for number in range(cases):
        choices = Choices(f"{seed}:{number}:{area}")
        finding = run_case(area, choices)
        if finding is not None:
            return f"{seed}:{number}:{area}", choices.made, finding
    raise AssertionError("nothing was found")


SHORT = {
    "engine": 40,
    "estimators": 12,
    "graphs": 15,
    "chains": 10,
    "discriminants": 20,
    "metrics": 60,
    "coclusters": 10,
    "messages": 60,
    "weights": 30,
    "storages": 15,
    "shell": 20,
    "ranks": 8,
    "reports": 12,
    "wide": 4,
}
"""Cases that take a second or two."""


@pytest.mark.parametrize("area", SHORT)
def test_a_short_run_finds_nothing(area):
    from fuzz.running import cases, run_case

    counts = Counter()
    for _, name, choices in itertools.islice(cases((area,), seed=0, first=0, step=1), SHORT[area]):
        finding = run_case(name, choices, counts)
        assert finding is None, f"{finding.invariant}: {finding.what}\n{finding.script}"
    assert counts["calls"] >= SHORT[area] / 2
    assert counts["refusals"] < (counts["calls"] if area not in ("messages", "shell") else np.inf)


def test_altered_files_are_read_or_refused(tmp_path):
    """In a process of its own: memory is limited there, and the audit of what is opened never ends."""
    pytest.importorskip("anndata", reason="files of AnnData are among those that are altered")
    script = "import sys; from pathlib import Path; from fuzz import command; command.FOLDER = Path(sys.argv.pop(1)); "
    script += "sys.exit(command.main(sys.argv[1:]))"
    command = [sys.executable, "-c", script, tmp_path, "files", "models", "--cases", "20", "--workers", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 kinds of findings" in done.stdout


def test_every_case_follows_from_its_name():
    from fuzz.choices import Choices
    from fuzz.trial import Trial

    drawn = [[Choices("5:3:engine").below(1000) for _ in range(3)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    trial = Trial(Choices("5:4:engine"))
    assert [trial.integer(0, 10**6), trial.integer(0, 10**6)] != [Trial(Choices("5:5:engine")).integer(0, 10**6)] * 2


def test_an_objective_that_is_off_by_a_percent_is_found(monkeypatch):
    from nonneg.solve.problem import Units

    monkeypatch.setattr(Units, "objective_to_user", lambda self, value: 1.01 * value)
    _, _, finding = first_finding("engine", 1)
    assert finding.invariant == "objective"


def test_a_step_that_raises_the_objective_is_found(monkeypatch):
    step = nonneg.solvers.Adaptive.step

    def worse(self, point, state):
        point = step(self, point, state)
        name = point.problem.learned[0]
        return point.with_factor(name, point.factors[name] * 1.5) if point.problem.model.constraints[name].is_free else point

    monkeypatch.setattr(nonneg.solvers.Adaptive, "step", worse)
    monkeypatch.setattr("nonneg.solve.solvers.best_solver", lambda problem: nonneg.solvers.Adaptive())
    _, _, finding = first_finding("engine", 1)
    assert finding.invariant == "never rises"


def test_a_raw_error_is_found_and_shrunk_and_found_again(monkeypatch):
    from fuzz.choices import Choices
    from fuzz.running import investigate, run_case

    def broken(labels_true, labels_pred):
        return 1 / (len(set(labels_pred)) - 3) if len(labels_pred) > 4 else nonneg.metrics.clusters.purity(labels_true, labels_pred)

    monkeypatch.setattr(nonneg.metrics, "purity", broken)
    case, choices, finding = first_finding("metrics", 0)
    while finding.invariant != "errors":  # where it does not raise, its value is wrong, which is found too
        seed, number, area = case.split(":")
        case, choices, finding = _next_finding(area, int(seed), int(number) + 1)
    assert "ZeroDivisionError" in finding.what
    report = investigate("metrics", case, choices, finding)
    assert report.invariant == "errors"
    assert len(report.script) <= len(finding.script)
    namespace = {}
    with pytest.raises(ZeroDivisionError):
        exec(report.script, namespace)
    assert len(namespace["y"]) == 5  # the shortest for which it breaks
    assert run_case("metrics", Choices(case)).key == finding.key


def _next_finding(area, seed, number):
    from fuzz.choices import Choices
    from fuzz.running import run_case

    while True:
        choices = Choices(f"{seed}:{number}:{area}")
        finding = run_case(area, choices)
        if finding is not None:
            return f"{seed}:{number}:{area}", choices.made, finding
        number += 1


def test_data_that_are_written_to_are_found(monkeypatch):
    from fuzz.choices import Choices
    from fuzz.trial import Finding, Trial

    trial = Trial(Choices("0"))
    trial.let("X", "np.ones((2, 2))")
    with pytest.raises(Finding, match="X was changed") as caught:
        trial.call("X.fill(0)")
    assert caught.value.script.endswith("X = np.ones((2, 2))\nresult = X.fill(0)")


@pytest.mark.parametrize(
    ("source", "words", "trouble"),
    [
        ("nonneg.factorize(np.ones((2, 2)), 'W H', 0)", ("rank",), None),
        ("nonneg.factorize(np.ones((2, 2)), 'W H', 0)", ("init",), "names none of init"),
        ("np.ones(2) + np.ones(3)", None, "nobody raised on purpose"),
        ("1 / 0", None, "raw ZeroDivisionError"),
        ("np.linalg.inv(np.zeros((2, 2)))", None, "nobody raised on purpose"),
        ("nonneg.NMF().transform(np.ones((2, 2)))", None, None),
    ],
)
def test_refusals_among_errors(source, words, trouble):
    from fuzz.choices import Choices
    from fuzz.trial import Finding, Refused, Trial

    with pytest.raises(Refused if trouble is None else Finding, match=trouble):
        Trial(Choices("0")).call(source, refusal=words)


def test_formulas_agree_with_the_library():
    from fuzz import dense
    from nonneg.testing import divergence_value

    X, Y = (np.random.default_rng(k).uniform(0.5, 1.5, (3, 4)) for k in (0, 1))
    for divergence in dense.DIVERGENCES:
        found, size = dense.value(divergence, dense.wide(X), dense.wide(Y))
        given = eval(divergence.source, {"nonneg": nonneg})
        assert abs(float(found) - divergence_value(given, X, Y)) <= 1e-13 * float(size)
        step = 1e-7
        P, Q = dense.slopes(divergence, dense.wide(X), dense.wide(Y))
        moved = dense.wide(Y)
        moved[1, 2] += step
        slope = (dense.value(divergence, dense.wide(X), moved)[0] - found) / step
        assert abs(slope - (P - Q)[1, 2]) <= 1e-5  # of order one, and so is the second derivative


def test_every_part_of_the_library_is_drawn():
    from fuzz import dense, discriminants, estimators, parts, reports

    assert {kind.name for kind in estimators._KINDS} == set(parts.ESTIMATORS)
    assert set(parts.ESTIMATORS) - {"Factorization"} <= set(reports._FORMS)
    assert all(name in Path(discriminants.__file__).read_text() for name in parts.DISCRIMINANTS)
    drawn = [eval(divergence.source, {"nonneg": nonneg}) for divergence in dense.DIVERGENCES]
    drawn = [nonneg.divergences.get_divergence(divergence) for divergence in drawn]
    assert [name for name in parts.DIVERGENCES if nonneg.divergences.NAMES[name] not in drawn] == []


def test_shrinking_ends_with_the_simplest_choices():
    from fuzz.choices import shrunk

    assert shrunk([9, 4, 7, 3, 8], lambda choices: len(choices) > 2 and choices[2] >= 5) == [0, 0, 5]


def test_the_command_counts_writes_and_goes_on(monkeypatch, tmp_path, capsys):
    from fuzz import command, table

    monkeypatch.setattr(command, "FOLDER", tmp_path)
    assert command.main(["metrics", "--calls", "30", "--seconds", "60", "--workers", "1"]) == 0
    printed = capsys.readouterr().out
    assert "metrics" in printed
    assert "--first" in printed
    document = tmp_path / "document.md"
    document.write_text("before\n<!-- fuzz: begin -->\nold\n<!-- fuzz: end -->\nafter\n")
    table.rewrite(document, [tmp_path / "results.json"] * 2, tmp_path / "peer.json")
    text = document.read_text()
    assert text.startswith("before")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| metrics |" in text
    assert command.main(["--case", "0:0:metrics"]) == 0


def test_shards_share_a_given_number_of_cases(monkeypatch, tmp_path):
    import json

    from fuzz import command

    monkeypatch.setattr(command, "FOLDER", tmp_path)
    for label, shard, cases in (("a", "1/2", 4), ("b", "2/2", 3)):
        assert command.main(["metrics", "--cases", "7", "--shard", shard, "--label", label, "--workers", "1"]) == 0
        assert json.loads((tmp_path / f"results-{label}.json").read_text())["areas"]["metrics"]["cases"] == cases
    document = tmp_path / "document.md"
    document.write_text("<!-- fuzz: begin -->\n<!-- fuzz: end -->\n")
    assert command.main(["--table", str(document)]) == 0
    assert "7 cases" in document.read_text()


def test_a_case_that_never_ends_is_a_finding(monkeypatch):
    from fuzz import running
    from fuzz.choices import Choices

    monkeypatch.setattr(running, "LIMIT", 0.2)

    def forever(*_):
        while True:
            pass

    monkeypatch.setattr(nonneg.metrics, "orthogonality", forever)
    monkeypatch.setattr(nonneg.metrics, "purity", forever)
    found = [running.run_case("metrics", Choices(f"0:{number}:metrics")) for number in range(8)]
    assert {finding.invariant for finding in found if finding is not None} == {"time"}
