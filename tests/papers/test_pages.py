"""The machinery of the reproduction: verdicts from numbers, and their place on pages and the index."""

import importlib
import inspect
import json

import numpy as np
import pytest

from nonneg_papers import __main__ as pages
from nonneg_papers.pages import _index, _page


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ([True, np.True_], "holds"),
        ([np.False_, True], "holds in part"),
        ([False], "does not hold here"),
        ([], "not tried here"),
        ((x > 1 for x in (0.5, 2.0)), "holds in part"),
        (0.75, "holds"),
        (np.float64(0.3), "holds in part"),
        (0, "does not hold here"),
    ],
)
def test_the_verdict_is_found_from_the_numbers(checks, verdict):
    page = _page.Page("A page")
    page.claim("NNP Fig. 2", "A claim.", checks, "Some\n        evidence.")
    (claim,) = page.claims
    assert claim.verdict == verdict
    assert claim.evidence == "Some evidence."


@pytest.mark.parametrize(
    ("clear", "against", "verdict"),
    [
        ([True, True], [False, False], "holds"),
        ([True, False, False], [False, True, False], "holds in part"),
        ([True, False, False], [False, True, True], "does not hold here"),
        ([False, False], [False, False], "does not hold here"),
    ],
)
def test_more_against_a_claim_than_for_it(clear, against, verdict):
    assert _page.verdict(_page.weighed(clear, iter(against))) == verdict


def test_claims_stand_at_the_top_and_in_the_index(tmp_path):
    page = _page.Page("A page", "some")
    page.heading("What is below")
    page.claim("NNP Fig. 2", "ρ < 1 & so on.", [True], "ρ = .5.")
    page.claim("ONL §2", "Another.", [False], "It is not.")
    page.claim("beyond the papers", "Ours.", [True], "It is.")
    page.claim("the package `opnmf`", "Ours again.", [False], "It is not so.")
    text = page.write(tmp_path / "some.html").read_text(encoding="utf8")
    assert text.index("ρ &lt; 1 &amp; so on.") < text.index("What is below")
    summary = json.loads((tmp_path / "some.json").read_text(encoding="utf8"))
    assert [claim["verdict"] for claim in summary["claims"]] == ["holds", "does not hold here"] * 2

    titles = {"some": "A page", "other": "Another page", "late": "A third"}
    shown = _index.index(tmp_path, titles, {"late": "left out: no data"}, "")
    assert '<a href="some.html">A page</a></td><td>1</td><td>0</td><td>1</td><td>0</td><td>1 of 2</td>' in shown
    assert "Another page</td>" in shown
    assert "not run" in shown
    assert "left out: no data" in shown
    assert shown.count("It is not.") == 1
    for made in (text, shown):
        assert "where some are it holds in part" in made


def test_a_page_without_claims_has_no_table_of_them(tmp_path):
    assert "verdict" not in _page.Page("A page").write(tmp_path / "bare.html").read_text(encoding="utf8")


def test_every_page_can_be_found():
    """Each has a title and something to build."""
    assert len(pages.PAGES) >= 9
    for name in pages.PAGES:
        module = importlib.import_module(f"nonneg_papers.pages.{name}")
        assert isinstance(module.TITLE, str)
        assert list(inspect.signature(module.build).parameters) == ["page"]


def test_an_unknown_page(capsys):
    assert pages.main(["face"]) == 2
    assert "No page is called 'face'. There are: biclusters, chains," in capsys.readouterr().err
