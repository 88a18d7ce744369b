"""Pages opened in Chromium: at the width of a phone and of a desk, light and dark, by axe.

It needs playwright with a Chromium (or the path of one as NONNEG_CHROMIUM), and axe-playwright-python: the group "browser". With
NONNEG_SCREENSHOTS=docs/images, what is seen is kept there.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from nonneg import NMF, OPNMF
from nonneg.report import write_rank_report
from nonneg.selection import rank_scan

api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
RULES = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf8")
SIZES = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 900}}
RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, 1.0, (40, 3)) @ np.kron(np.eye(3), np.ones(4)) + 0.01 * RNG.random((40, 12))


@pytest.fixture(scope="module")
def browser():
    with api.sync_playwright() as playwright:
        try:
            found = playwright.chromium.launch(executable_path=os.environ.get("NONNEG_CHROMIUM"), args=["--no-sandbox"])
        except api.Error as error:
            pytest.skip(f"Chromium cannot be started: {error}")
        yield found
        found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One of pictures, one of names, and one of ranks."""
    from sklearn.datasets import load_digits

    folder, digits = tmp_path_factory.mktemp("pages"), load_digits().data
    OPNMF(16, random_state=0).fit(digits).report(folder / "report.html", digits, shape=(8, 8))
    names = [f"a feature with a rather long name, number {number}" for number in range(12)]
    NMF(3, random_state=0).fit(X).report(folder / "names.html", X, feature_names=names)
    scan = rank_scan(NMF(), X, (1, 2, 3, 4), criteria=["gabriel", "error"], random_state=0)
    write_rank_report(
        NMF(), scan.summary(), folder / "ranks.html", about={"data": ["X.csv"], "command": "nonneg rank X.csv -r 1-4"}
    )
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", list(SIZES))
@pytest.mark.parametrize("name", ["report", "names", "ranks"])
def test_a_page_in_a_browser(name, size, scheme, browser, pages):
    """Nothing is wrong by its console, nothing is fetched, nothing sticks out, and axe finds nothing to complain about."""
    page = browser.new_page(viewport=SIZES[size], color_scheme=scheme, bypass_csp=True)  # for axe to be put into it
    said, fetched = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: fetched.append(request.url) if not request.url.startswith("data:") else None)
    address = (pages / f"{name}.html").as_uri()
    page.goto(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip", "by keyboard, the first thing is to get to the content"
    for details in page.query_selector_all("summary"):
        details.click()
    assert (said, fetched) == ([], [address])
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    page.evaluate(RULES)
    found = page.evaluate("axe.run()")
    assert not [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found["violations"]]
    assert len(found["passes"]) > 10
    if "NONNEG_SCREENSHOTS" in os.environ and name != "names":
        page.goto(address)
        page.set_viewport_size(SIZES[size] | {"height": 1500})
        page.screenshot(path=Path(os.environ["NONNEG_SCREENSHOTS"]) / f"{name}-{size}-{scheme}.png")
    page.close()
