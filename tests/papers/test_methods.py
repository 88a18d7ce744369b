"""The table of methods: its names exist, every estimator has a row, and the page shows it."""

import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import nonneg
from nonneg import estimators
from nonneg.exceptions import MissingLibraryError

STATUSES = ("ready", "by form", "derived")


table = nonneg.methods
ROWS = list(table())
CALLS = sorted({code for row in ROWS for code in re.findall(r"`([^`]+)`", row.here) if code.startswith("nonneg.")})


def test_there_is_something_to_check():
    assert len(ROWS) >= 50
    assert len(CALLS) > 30
    assert len({row.method for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("code", CALLS)
def test_named_objects_exist(code):
    found = eval(code, {"nonneg": nonneg})  # of our own table
    assert found is not None
    if isinstance(found, estimators.Factorization):
        assert found.model.rules  # the form, and the constraints, are good ones


X, LABELS = np.random.default_rng(0).uniform(0.1, 1, (12, 9)), np.arange(12) % 2
KARATE = nonneg.datasets.load_karate().adjacency
SQUARE = X @ X.T
ARGUMENTS = {
    "maximize_rayleigh": [SQUARE],
    "match_graphs": [KARATE, KARATE],
    "purity": [LABELS, LABELS],
    "clustering_entropy": [LABELS, LABELS],
    "clustering_accuracy": [LABELS, LABELS],
    "orthogonality": [X],
    "orthogonality_error": [X],
    "basis_entropy": [X],
    "equal_error_rate": [LABELS, X[:, 0]],
    "edge_error": [KARATE, KARATE, np.arange(34)],
    "stochastic_error": [X / X.sum(axis=0)],
    "laplacian": [KARATE],
    "modularity": [KARATE],
    "Modularity": [KARATE],
    "normalized": [KARATE],
    "random_walk": [KARATE],
    "VertexSimilarity": [KARATE],
    "DiscriminativeKMeans": [KARATE],
}
SETTINGS = {
    "Alpha": [0.5],
    "Beta": [0.5],
    "Gamma": [0.5],
    "Renyi": [2],
    "WeightedSum": [(1, nonneg.divergences.Beta(1)), (0.5, nonneg.divergences.Beta(2))],
    "Polynomial": [[(0.5, 0, 2), (-1, 1, 1)]],
    "Objective": ["½‖X − W W.T X‖²"],
}
"""Arguments of functions, and of classes that need some, by name."""


def called(code):
    """What a row of the table names, called on a few samples."""
    found = eval(code, {"nonneg": nonneg})  # of our own table
    name = getattr(found, "__name__", "")
    if inspect.ismethod(found):
        return found(X)
    if name == "partial_fit":
        return nonneg.PNMF(2).partial_fit(X)
    if inspect.isfunction(found):
        return found(*ARGUMENTS[name])
    if inspect.isclass(found) and issubclass(found, nonneg.Objective):
        return found(*SETTINGS[name], given={"X": X}).optimize((12, 2), random_state=0)
    if inspect.isclass(found):
        found = found(*SETTINGS.get(name, []))
    if isinstance(found, nonneg.Objective) and "X" in found.given:
        return nonneg.Objective(found.value, given={"X": X}).optimize((12, 2), random_state=0)
    if isinstance(found, nonneg.Objective):
        return found.optimize({"W": np.array([[1.2]])}, max_iter=1, tol=0)
    if isinstance(found, nonneg.divergences.Objective):
        return nonneg.factorize(X, nonneg.Model("W H", found), 2, max_iter=3)
    if isinstance(found, nonneg.solvers.Solver):
        return nonneg.factorize(
            SQUARE, nonneg.Model("W.T S W", "trace", {"W": "orthogonal"}, data="S"), 2, solver=found, max_iter=3
        )
    if isinstance(found, nonneg.constraints.Constraint):
        return nonneg.factorize(SQUARE, nonneg.Model("W S W.T", constraints={"S": found}), 3, max_iter=3)
    if isinstance(found, nonneg.graph.GraphClustering):
        return found.set_params(n_clusters=2, n_init=1).fit(KARATE)
    if isinstance(found, nonneg.QNMFHMM | nonneg.NNMFHMM):
        return found.set_params(n_states=2, max_iter=3).fit(np.arange(40)[:, None] ** 2 % 3)
    if callable(found):
        return found(*ARGUMENTS[type(found).__name__])
    settings = {"n_components": 2, "n_clusters": 2, "max_iter": 3, "kernel": "linear", "affinity": "linear"}
    known = found.get_params()
    if isinstance(found, nonneg.NonnegativeLDA | nonneg.NonnegativeKernelFDA):
        return found.fit(X, LABELS)
    if getattr(found, "form", "") == "A W B W.T C":
        settings["init"] = {"A": np.eye(12), "C": np.ones((12, 9))}
        found = nonneg.Factorization(found.form, constraints={"A": "fixed", "C": "fixed"})
    square = "W.T" in str(known.get("form")) and "A" not in found.form
    return found.set_params(**{name: value for name, value in settings.items() if name in known}).fit(SQUARE if square else X)


@pytest.mark.parametrize("code", CALLS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_named_calls_run(code):
    assert called(code) is not None


PRINTED = {
    "ONL": [3, 8, 9, 12, 18, 20, 25, 26, 27, 28, 29, 30, 31, 34, 35, 38, 39, 40, 41, 42, 43, 44],
    "NNP": [1, 2, 3, 7, 8, 14, 17, 18, 19, 20, 21, 23, 27, 28, 29, 32, 33, 36, 38, 39, 40, 52, 53, 55, 56, 57, 63, 65],
    "FONT": [2, 3, 6, 7, 8, 9, 10, 11, 12, 16, 17, 21, 22, 23],
    "PNMF": [1, 2, 3, 5, 6, 7, 14, 18, 19, 20, 21, 22, 27, 28, 29, 30, 35, 36, 37, 38],
    "QNMF": [2, 5, 8, 9, 10, 11],
}
"""Numbered equations that are an algorithm, or a measure."""


@pytest.mark.parametrize("paper", PRINTED)
def test_every_equation_that_is_an_algorithm_has_a_row(paper):
    named = set()
    for row in ROWS:
        for part in row.printed.split(";"):
            if "(" not in part.split()[0]:
                current = next((name for name in PRINTED if name in part), None)
            if current == paper:
                numbers = re.sub(r"§[\d.]+|Fig\.? \d+|Figs?\.? \d+|\(.*?\)", "", part)
                for first, last in re.findall(r"\b(\d+)(?:–(\d+))?", numbers):
                    named |= set(range(int(first), int(last or first) + 1))
    assert set(PRINTED[paper]) <= named, sorted(set(PRINTED[paper]) - named)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.method)
def test_every_row_has_a_source_and_a_call(row):
    assert row.status in STATUSES
    assert row.what
    assert row.printed
    assert row.here
    assert re.search(r"\b(PNMF|NNP|ONL|FONT|QNMF)\b", row.printed)


@pytest.mark.parametrize(
    "name", [name for name in estimators.__all__ if name not in ("Orthogonality", "ConsensusNMF", "IntegrativeNMF")]
)
def test_every_estimator_is_in_the_table(name):
    assert any(re.match(rf"nonneg\.{name}\b", code) for code in CALLS)


def test_the_page_shows_the_table():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "methods.md").read_text(encoding="utf8")
    assert table().to_markdown() in page.rstrip() + "\n"
    assert page.count("\n| ") == len(ROWS) + 2


def test_search():
    assert {row.method for row in table("opnmf")} == {"OPNMF"}
    assert {row.method for row in table("bior")} == {"BiOR-NM3F", "BiOR-NM3F-I"}
    assert {row.method for row in table("divergence")} >= {f"{name}-divergence" for name in ("α", "β", "γ", "dual I")}
    assert {row.method for row in table("PNMF")} >= {"PNMF", "OPNMF", "online PNMF", "kernel PNMF"}
    assert len(table("no such method")) == 0
    assert len(table("")) == len(ROWS)


@pytest.mark.parametrize("status", STATUSES)
def test_status(status):
    found = table(status=status)
    assert {row.status for row in found} == {status}
    assert len(found) == sum(row.status == status for row in ROWS)
    assert len(table("nmf", status=status)) == sum(row.status == status and "nmf" in row.method.lower() for row in ROWS)


@pytest.mark.parametrize("status", ["done", "planned", "", "Ready", 5])
def test_unknown_status(status):
    with pytest.raises(ValueError, match=r"status must be one of 'ready', 'by form', 'derived'; got"):
        table(status=status)


def test_it_prints_itself():
    lines = str(table("FONT")).splitlines()
    assert lines[0].split() == ["method", "what", "printed", "here", "status"]
    assert set(lines[1]) <= {"-", " "}
    assert len(lines) == 2 + len(table("FONT")) == 4
    assert repr(table("FONT")) == "Methods(2 methods, 2 ready)"
    assert table("FONT")._repr_markdown_() == table("FONT").to_markdown()
    assert r"\|U_B\|\|U_A\|ᵀ" in table("Umeyama").to_markdown()


def test_it_is_a_sequence():
    assert table()[0] == ROWS[0]
    assert type(table()[1:3]) is type(table())
    assert list(table()[1:3]) == ROWS[1:3]


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "nonneg_papers.catalogue", None)
    with pytest.raises(MissingLibraryError, match=r"catalogue of methods is in the package nonneg-papers.*pip install ./papers"):
        table()
