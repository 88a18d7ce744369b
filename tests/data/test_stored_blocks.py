"""Blocks of sparse rows are cut by non-zeros, however wide the rows are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from nonneg import Observed
from nonneg.data import read_data, read_weighted
from nonneg.divergences import Alpha, Beta
from nonneg.estimators import encoding
from nonneg.estimators.encoding import encode


@pytest.mark.parametrize("of", [sparse.csr_array, Observed])
@pytest.mark.parametrize("divergence", [Beta(2), Beta(1), Alpha(0.5)], ids=str)
@pytest.mark.parametrize("columns", [10_000, 160_000])
def test_wide_sparse_rows_are_encoded_together(divergence, columns, of, rng, monkeypatch):
    """Work on the components is done for each block: blocks are cut by non-zeros, of which these rows have few."""
    rows, count = 400, 30
    X = sparse.csr_array((rng.random(rows * count), rng.integers(0, columns, rows * count), np.arange(rows + 1) * count))
    X.resize(rows, columns)
    X.sum_duplicates()
    blocks = []
    for worker in ("_divergent", "_least_squares", "_of_weighted"):
        own = getattr(encoding, worker)
        monkeypatch.setattr(
            encoding, worker, lambda X, *rest, own=own, **options: blocks.append(X.shape[0]) or own(X, *rest, **options)
        )
    encode(read_weighted(of(X)), rng.random((3, columns)), divergence, max_iter=5)
    assert blocks == [rows]


@pytest.mark.parametrize("transposed", [False, True])
def test_blocks_of_sparse_rows_are_all_rows_in_order(transposed, rng, monkeypatch):
    """Cut by non-zeros: rows without any, and one with more than a block holds, are among them."""
    X = sparse.random_array((60, 9), density=0.4, rng=rng, format="csr")
    X = sparse.csr_array(sparse.vstack([X[:20], sparse.csr_array((7, 9)), np.ones((1, 9)), X[20:]]))
    monkeypatch.setattr("nonneg.data.sparse._BLOCK", 5)
    blocks = list(read_data(X, "X").blocks(transposed=transposed, as_stored=True))
    expected = X.toarray().T if transposed else X.toarray()
    assert len(blocks) > 3
    assert [i for rows, _ in blocks for i in range(rows.start, rows.stop)] == list(range(expected.shape[0]))
    np.testing.assert_array_equal(np.concatenate([block.toarray() for _, block in blocks]), expected)
