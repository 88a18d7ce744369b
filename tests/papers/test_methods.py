"""The table of methods: what it names exists, what exists it names, and the page shows it."""

import re
import sys
from pathlib import Path

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
def test_what_is_named_exists(code):
    found = eval(code, {"nonneg": nonneg})  # of our own table
    assert found is not None
    if isinstance(found, nonneg.Model):
        assert found.rules
    if isinstance(found, estimators.Factorization):
        assert found.model.rules  # the form, and the constraints, are good ones


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.method)
def test_every_row_says_where_and_what(row):
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
