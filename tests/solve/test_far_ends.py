"""Where fits with the I-divergence end from files in blocks: as low as in memory."""

from pathlib import Path

import pytest

MOST = 5e-4
"""Share of the objective by which a fit from a file may end higher. Lost components cost more: 2 % in these files."""


@pytest.mark.parametrize("seed", [1, 3])
def test_kullback_leibler_from_a_file_ends_as_low_as_in_memory(seed, tmp_path, monkeypatch):
    pytest.importorskip("anndata")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import curves

    found = curves.compare(("faint", 2000, 300, 12, 2**18), seed, tmp_path, "kullback-leibler")
    assert found["far"].status_ == "converged"
    assert found["above"] <= MOST
