"""The calls of docs/fields/brains.md, as they stand, on the planted study."""

import re
import shlex
from contextlib import chdir
from pathlib import Path

import pytest

from nonneg import selection
from nonneg.neuro import compare_atlases

from .test_shell import rows, run

PAGE = (Path(__file__).parents[2] / "docs" / "fields" / "brains.md").read_text(encoding="utf8")
BLOCKS = [re.sub("^    ", "", block, flags=re.M) for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", PAGE, re.M)]
COMMANDS = [line for block in BLOCKS for line in re.sub(r"\\\n *", "", block).splitlines() if line.startswith("nonneg ")]
PYTHON = [block for block in BLOCKS if "import" in block or "model" in block.split("(")[0]]


@pytest.fixture
def few(monkeypatch):
    """Two ranks and one split in place of those of the page."""
    scan, halves = selection.rank_scan, selection.criteria.Halves(n_repeats=1)

    def quick(estimator, X, ranks, *, y, criteria, **rest):
        assert list(ranks) == list(range(2, 17))
        assert len(set(y)) == 6
        return scan(estimator, X, [12, 13], y=y, criteria=halves, **rest)

    monkeypatch.setattr(selection, "rank_scan", quick)


def test_shell_and_python(few, study, table):
    with chdir(table.parent):
        assert len(COMMANDS) == 3
        for command in COMMANDS:
            run(*shlex.split(command)[1:], cwd=".")
        assert compare_atlases(study.atlas, "atlas.nii.gz").ari > 0.93
        assert [row[0] for row in rows(Path("loadings.csv"))[1:]] == study.names
        assert rows(Path("new.csv"))[1] == rows(Path("loadings.csv"))[1]
        names = {}
        assert len(PYTHON) == 3
        for block in PYTHON:
            exec(compile(block, "brains.md", "exec"), names)
        assert compare_atlases(study.atlas, "atlas.nii.gz").ari > 0.93
        assert [row[0] for row in rows(Path("loadings.csv"))[1:]] == study.names
        assert names["loadings"].shape == (60, 12)
