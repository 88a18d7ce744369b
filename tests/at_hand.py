"""The papers' data, where they are at hand: tests never download them, and say which file they would need."""

import pytest

from nonneg.datasets import FetchError, _cache, graphs, load_graph
from nonneg.datasets._registry import FILES


def at_hand(*paths, made=True):
    """Skip unless these files are in the folder that NONNEG_DATA names, or in the cache; for made ones their sources do."""
    try:
        folder = _cache.folder()
    except (ImportError, FetchError) as error:
        pytest.skip(f"the data sets are not at hand: {error}")
    for path in paths:
        sources = FILES[path].sources if made and path in FILES else ()
        if not (folder / path).exists() and not (sources and all((folder / source).exists() for source in sources)):
            pytest.skip(f"{path} is not in {folder}; set NONNEG_DATA to a folder that has it")
    return folder


def graph_at_hand(name, **options):
    """A graph by name; skip unless its files are at hand."""
    at_hand(*(f"graphs/{path}" for path in graphs._GRAPHS[graphs._find(name)].files))
    return load_graph(name, **options)
