"""Views of co-clusters, of models of this library and of scikit-learn's kind."""

from __future__ import annotations

import types

import numpy as np

from . import data, dense, invariants
from .trial import Trial


def case(t: Trial) -> None:
    t.offer("types", types)
    m, n = data.sides(t)
    X = data.matrix(
        t, m, n, containers=("{}", "np.asfortranarray({})", "({}).tolist()", "sparse.csr_array({})", "sparse.coo_array({})")
    )
    t.subject = "coclusters"
    if t.one_in(4):
        k, c = t.integer(1, m), t.integer(1, n)
        name = t.pick(("BiQNMF", "BiORNM3F"))
        model = t.call(f"nonneg.{name}(({k}, {c}), max_iter=20, random_state=0).fit(X)", "model")
        t.check(
            "shapes", model.rows_.shape == (k * c, m) and model.columns_.shape == (k * c, n), "rows_ or columns_ have another shape"
        )
        t.check("shapes", model.rows_.sum() == c * m, "a sample is in no row cluster, or in two")
        k, c = model._shape
    else:
        k, c = t.integer(1, 4), t.integer(1, 4)
        labels = [f"np.random.default_rng({t.integer(0, 99)}).integers({count}, size={side})" for count, side in ((k, m), (c, n))]
        model = t.let("model", f"types.SimpleNamespace(row_labels_={labels[0]}, column_labels_={labels[1]})")
        k, c = model.row_labels_.max() + 1, model.column_labels_.max() + 1
    rows, columns = model.row_labels_, model.column_labels_
    order = t.call("nonneg.coclusters.order(model)", "order")
    t.check("formula", (np.diff(rows[order.rows]) >= 0).all() and sorted(order.rows) == list(range(m)), "rows are out of order")
    t.check(
        "formula",
        (np.diff(columns[order.columns]) >= 0).all() and sorted(order.columns) == list(range(n)),
        "columns are out of order",
    )
    full = dense.wide(X)
    view = t.call("nonneg.coclusters.reordered(X, model)", "view")
    t.check("formula", (dense.wide(view) == full[order.rows][:, order.columns]).all(), "reordered has other entries")
    sizes = t.call("nonneg.coclusters.sizes(model)", "sizes")
    expected = np.array([[(rows == i).sum() * (columns == j).sum() for j in range(c)] for i in range(k)])
    t.check("formula", np.array_equal(sizes, expected), "sizes are not those of the blocks")
    means = t.call("nonneg.coclusters.block_means(X, model)", "means")
    sums = np.array([[full[rows == i][:, columns == j].sum() for j in range(c)] for i in range(k)])
    with np.errstate(invalid="ignore"):
        invariants.equal(
            t,
            "formula",
            "block_means",
            means,
            np.where(expected > 0, sums / np.where(expected > 0, expected, 1), np.nan),
            1e-9,
            full.max(),
        )
    count = t.integer(1, 4)
    terms = t.call(f"nonneg.coclusters.top_terms(X, model, n_terms={count})", "terms")
    t.check("shapes", len(terms) == k and all(len(row) == c for row in terms), "top_terms has not a list for each block")
    for i, row in enumerate(terms):
        for j, found in enumerate(row):
            totals = full[rows == i].sum(axis=0)
            inside = np.sort(totals[(columns == j) & (totals > 0)])[::-1][:count]
            invariants.equal(t, "formula", "top_terms", totals[found] if found else np.zeros(0), inside, 1e-9)
