"""The site, looked at as readers do: `make docs-test` runs it on docs/_build/html, with Chromium.

Chromium is that of NONNEG_CHROMIUM, or playwright's, or on the path. NONNEG_SCREENSHOTS names a folder for pictures.
"""

import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).parent / "_build/html"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.glob("**/*.html") if "_static" not in path.parts)
GUESTS = ("_modules/", "genindex", "search", "py-modindex")
LOOKED_AT = [page for page in PAGES if "/generated/" not in page and "gallery/" not in page and not page.startswith(GUESTS)]
LOOKED_AT += ["gallery/index.html", "gallery/1_parts/plot_1_faces.html", "reference/generated/nonneg.NMF.html"]
VIEWS = {
    "phone light": ({"width": 390, "height": 844}, "light"),
    "desk dark": ({"width": 1280, "height": 900}, "dark"),
}


class Links(HTMLParser):
    """Where a page leads, what it loads, and the anchors it has."""

    def __init__(self, page):
        super().__init__()
        self.out, self.loaded, self.anchors = set(), set(), set()
        self.feed((SITE / page).read_text(encoding="utf8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if "id" in found:
            self.anchors.add(found["id"])
        if tag == "a" and found.get("href"):
            self.out.add(found["href"])
        if tag in ("img", "script") and found.get("src"):
            self.loaded.add(found["src"])
        if tag == "link" and found.get("rel") != "canonical" and found.get("href"):
            self.loaded.add(found["href"])


def test_no_link_inside_is_dead():
    assert len(PAGES) > 100, "build the site first: make docs"
    parsed, dead = {page: Links(page) for page in PAGES}, []
    for page, links in parsed.items():
        for link in links.out | links.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in links.loaded and parts.scheme != "data":
                    dead.append(f"{page} loads {link}")
                continue
            target = (SITE / page).parent / unquote(parts.path) if parts.path else SITE / page
            name = target.resolve().relative_to(SITE.resolve()).as_posix() if target.exists() else ""
            if not target.exists():
                dead.append(f"{page} → {link}")
            elif parts.fragment and name in parsed and unquote(parts.fragment) not in parsed[name].anchors:
                dead.append(f"{page} → {link} (no such anchor)")
    assert not dead, "\n".join(dead[:40])


def test_every_picture_has_a_text():
    without = [
        f"{page}: {tag[:100]}" for page in LOOKED_AT for tag in re.findall(r"<img [^>]*>", (SITE / page).read_text(encoding="utf8"))
        if 'alt="' not in tag
    ]  # fmt: skip
    assert not without, "\n".join(without[:20])


def test_classes_name_their_parameters():
    """autodoc shows `__new__` of an estimator, which takes anything, unless it is told not to."""
    first = {
        path.stem: re.sub(
            r"<[^>]+>", "", path.read_text(encoding="utf8").partition('class="sig sig-object py"')[2].partition("</dt>")[0]
        )
        for path in SITE.glob("reference/generated/*.html")
    }
    assert len(first) > 100
    assert not [name for name, signature in first.items() if "*args" in signature]


def test_the_site_is_small():
    assert sum(path.stat().st_size for path in SITE.glob("**/*") if path.is_file()) < 40e6


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        path = os.environ.get("NONNEG_CHROMIUM") or shutil.which("chromium")
        try:
            found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--allow-file-access-from-files"])
        except api.Error as error:
            pytest.skip(f"Chromium cannot be started: {error}")
        yield found
        found.close()


@pytest.fixture(scope="module")
def rules():
    axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    return (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf8")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page(name, view, browser, rules):
    """Nothing on the console, nothing from other hosts, nothing wider than the screen, nothing that axe finds."""
    size, scheme = VIEWS[view]
    page = browser.new_page(viewport=size, color_scheme=scheme, bypass_csp=True)
    said, fetched = [], []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: fetched.append(request.url) if not request.url.startswith(("data:", "file:")) else None)
    page.goto((SITE / name).as_uri())
    assert (said, fetched) == ([], [])
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    page.evaluate(rules)
    whole = "{include: ['body'], exclude: ['.sphx-glr-thumbcontainer']}"  # a card's second link, below its picture, is hidden
    found = page.evaluate(f"axe.run({whole}, {{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']}})")
    assert not [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found["violations"]]
    if "NONNEG_SCREENSHOTS" in os.environ:
        page.screenshot(path=Path(os.environ["NONNEG_SCREENSHOTS"]) / f"{name.replace('/', '-')}-{view.replace(' ', '-')}.png")
    page.close()
