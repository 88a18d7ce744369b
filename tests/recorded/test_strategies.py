"""The page of default strategies."""

import pytest

import nonneg.estimators

from . import strategies


def test_every_factorization_is_on_the_page():
    factorizations = {name for name in nonneg.estimators.__all__ if hasattr(getattr(nonneg, name, None), "_explain")}
    assert factorizations == {type(make()).__name__ for make in strategies.ESTIMATORS.values()}


def test_the_page_of_strategies():
    pytest.importorskip("dask.array")
    assert strategies.page() == strategies.PAGE.read_text(encoding="utf8"), (
        "Another strategy is chosen: if that is meant, `python -m tests.recorded.strategies --write`."
    )
