"""Every example runs, and every Python block of the README and the docs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import nonneg

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf8"))


def run(*arguments, cwd):
    path = os.pathsep.join(filter(None, (str(Path(nonneg.__file__).parents[1]), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(script, tmp_path):
    run(str(script), cwd=tmp_path)


def test_the_readme_shows_code():
    assert blocks(PAGES[0])


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda path: path.name)
def test_printed_code_runs(page, tmp_path):
    """The blocks of a page are read from top to bottom, each with the names of those above."""
    run("-c", "\n".join(blocks(page)), cwd=tmp_path)
