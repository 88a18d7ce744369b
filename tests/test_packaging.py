"""Files for releases say what pyproject.toml says."""

import re
import tomllib
from pathlib import Path

import nonneg

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def lowest(text):
    """The lowest version of each library in lines such as "numpy>=2.0"."""
    return dict(re.findall(r"^\s*-?\s*([a-z0-9-]+)(?:\[\w+\])? ?>=([0-9.]+)", text, re.MULTILINE))


def test_the_conda_recipe_has_our_floors():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text()
    run = recipe.partition("  run:\n")[2].partition("\ntests:")[0]
    needed = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["cli"] + ["python" + PROJECT["requires-python"]]
    assert lowest(run) == lowest("\n".join(needed))
    assert re.search(r"^  version: (\S+)", recipe, re.MULTILINE)[1] == nonneg.__version__


def test_the_table_of_versions_has_our_floors():
    table = (ROOT / "docs" / "develop" / "policy.md").read_text()
    rows = re.findall(r"^\| ([A-Za-z][^|]*) \| ([0-9., ]+) \| ([0-9., ]+) \|$", table, re.MULTILINE)
    said = {}
    for names, floors, _ in rows:
        names, floors = names.lower().replace(" (read, not required)", "").split(", "), floors.split(", ")
        said |= dict(zip(names, floors * len(names) if len(floors) == 1 else floors, strict=False))
    extras = ("cli", "dask", "files", "graph", "neuro")
    needed = PROJECT["dependencies"] + [one for extra in extras for one in PROJECT["optional-dependencies"][extra]]
    assert {name: said.get(name) for name in lowest("\n".join(needed))} == lowest("\n".join(needed))


def test_the_citation_is_of_this_version():
    assert f"version: {nonneg.__version__}" in (ROOT / "CITATION.cff").read_text().splitlines()


def test_the_container_has_a_python_that_is_supported():
    version = re.search(r"^FROM python:(\d+\.\d+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[1]
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]


def test_addresses_are_those_of_the_project():
    """And pages that docstrings name are there."""
    site, source = PROJECT["urls"]["Documentation"], PROJECT["urls"]["Source"]
    rest = [ROOT / "pyproject.toml", ROOT / "CITATION.cff", ROOT / "conda" / "recipe.yaml"]
    named = [*ROOT.glob("src/**/*.py"), *ROOT.glob("papers/src/**/*.py"), *rest]
    text = "\n".join(path.read_text() for path in named)
    ours = re.findall(r"https://(?:[\w.]*github[\w.]*)/[\w./-]*nonneg[\w./-]*", text)
    assert len(ours) > 10
    assert not [
        one for one in ours if not one.startswith((site, source, source.replace("github.com", "raw.githubusercontent.com")))
    ]
    pages = {one.removeprefix(site + "/").rstrip(".") for one in ours if one.startswith(site + "/")}
    missing = [page for page in pages if page.endswith(".html") and not (ROOT / "docs" / page).with_suffix(".md").exists()]
    assert pages
    assert not missing
