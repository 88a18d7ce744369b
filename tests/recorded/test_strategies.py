"""The page of default strategies."""

import pytest

from . import strategies


def test_the_page_of_strategies():
    pytest.importorskip("dask.array")
    assert strategies.page() == strategies.PAGE.read_text(encoding="utf8"), (
        "Another strategy is chosen: if that is meant, `python -m tests.recorded.strategies --write`."
    )
