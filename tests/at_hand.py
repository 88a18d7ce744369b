"""The papers' data, if they are at hand: tests never download them, and say which file they would need."""

import pytest

from nonneg_papers import FetchError, cache, graphs, load_graph


def at_hand(*paths):
    """Skip unless these files are in the folder that NONNEG_DATA names, or in the cache."""
    try:
        folder = cache.folder()
    except FetchError as error:
        pytest.skip(f"the data sets are not at hand: {error}")
    for path in paths:
        if not (folder / path).exists():
            pytest.skip(f"{path} is not in {folder}; set NONNEG_DATA to a folder that has it")
    return folder


def graph_at_hand(name, **options):
    """A graph by name; skip unless its files are at hand."""
    at_hand(*(f"graphs/{path}" for path in graphs._GRAPHS[graphs._find(name)].files))
    return load_graph(name, **options)
