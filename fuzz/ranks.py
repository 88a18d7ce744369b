"""Scans of ranks: a whole table, a choice among what is offered, the same from the same seed and from a folder."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data, invariants, parts
from .trial import Trial

_MATRIX = ("NMF", "OPNMF", "PNMF", "ONMF", "NonnegativeSparseCoding", "ProjectiveClustering")
_PAIRS = ("NMTF", "ONMTF", "FONT", "BiQNMF", "BiORNM3F")
_OTHERS = ("SymmetricNMF", "KernelPNMF", "QNMFHMM", "graph.GraphClustering")
_USUAL = {
    "QNMFHMM": ("auto", "likelihood", "error"),
    "graph.GraphClustering": ("auto", "eigengap", "subsamples"),
    "SymmetricNMF": ("restarts", "error", "halves"),
    "KernelPNMF": ("restarts", "error", "halves"),
}
_WORDS = (*data.WORDS, "ranks", "rank", "criterion", "criteria", "judge", "judged", "Criterion", "symbols", "vertices")


def case(t: Trial) -> None:
    import nonneg.selection

    assert nonneg.selection
    name = t.pick((*_MATRIX, *_MATRIX, *_PAIRS, *_OTHERS))
    m, n = t.integer(2, 14), t.integer(2, 12)
    options = [] if name.startswith("graph") else ["max_iter=10"]
    if options and not t.one_in(4):  # the scan is tried here, not the searches for starts, which take most of its time
        options += ['init="random"', *(["n_init=2"] if name == "QNMFHMM" else [])]
    if name == "QNMFHMM":
        t.let("X", f"np.random.default_rng({t.integer(0, 9)}).integers(0, {t.integer(2, 4)}, {10 * m}).tolist()")
    elif name in ("SymmetricNMF", "graph.GraphClustering"):
        t.let("X", data.entries(t, m, m))
        t.let("X", "(X + X.T) * 1.0")
    else:
        t.let("X", f"({data.entries(t, m, n)}) * 1.0")
        if t.one_in(5) and name not in _OTHERS:
            t.let("X", f"np.where(np.random.default_rng(3).random(({m}, {n})) < 0.85, X, np.nan)")
            options.append('missing="ignore"')
        elif t.one_in(5):
            t.let("X", "sparse.csr_array(X)")
    made = f"nonneg.{name}({', '.join(options)})"
    usual = _USUAL.get(name, parts.CRITERIA[:6])
    criteria = [t.pick(usual if not t.one_in(8) else parts.CRITERIA)]
    if criteria != ["auto"] and t.one_in(4):
        criteria.append(t.pick([one for one in usual if one not in ("auto", *criteria)]))
    ranks = t.pick(([1], [1, 2], [1, 2, 3], [2], [3, 1], [1, 2, 4]))
    given = f"criteria={criteria[0]!r}" if len(criteria) == 1 else f"criteria={criteria!r}"
    t.subject = f"{name} {criteria[0]}"
    scan = t.call(f"nonneg.selection.rank_scan({made}, X, {ranks}, {given}, random_state=0)", "scan", refusal=_WORDS)
    _check(t, scan, ranks)
    then = t.pick(("nothing", "again", "resumed", "table"))
    if then == "again":
        again = t.call(f"nonneg.selection.rank_scan({made}, X, {ranks}, {given}, random_state=0)", "again")
        _same(t, "same bits", scan, again)
    elif then == "resumed":
        t.folder()
        options = f"{given}, random_state=0, folder=folder"
        t.call(f"nonneg.selection.rank_scan({made}, X, {ranks[:1]}, {options})", "part", refusal=_WORDS)
        if name not in _PAIRS:
            again = t.call(f"nonneg.selection.rank_scan({made}, X, {ranks}, {options})", "again")
            _same(t, "resumed", scan, again)
    elif then == "table":
        table = t.call("scan.table", "table")
        t.check("table", len(table) == len(scan.columns_["rank"]), f"the table has {len(table)} rows")
        t.call("scan.summary()", "summary")


def _check(t: Trial, scan: Any, ranks: list[int]) -> None:
    found = list(scan.columns_["rank"])
    singles = {int(value) for rank in found for value in np.atleast_1d(np.asarray(rank, dtype=int))}
    t.check("table", singles <= set(ranks), f"ranks {sorted(singles)} of {ranks}")
    t.check("table", set(ranks) <= singles, f"ranks {sorted(singles)} of {ranks}")
    for column, values in scan.columns_.items():
        t.check("table", len(values) == len(found), f"{column} has {len(values)} values for {len(found)} ranks")
    best = {int(value) for value in np.atleast_1d(np.asarray(scan.best_, dtype=int))}
    t.check("choice", best <= set(ranks), f"chose {scan.best_} of {ranks}")
    t.check("choice", len(scan.why_.split()) >= 4, f"says no more than {scan.why_!r}")


def _same(t: Trial, invariant: str, one: Any, other: Any) -> None:
    t.check(invariant, one.best_ == other.best_, f"chose {one.best_}, then {other.best_}")
    for column, values in one.columns_.items():
        if column == "rank" or values.dtype.kind not in "fiub":
            continue
        if "second" not in column:  # time is no result
            order = [list(map(str, other.columns_["rank"])).index(str(rank)) for rank in one.columns_["rank"]]
            invariants.equal(t, invariant, column, np.asarray(other.columns_[column])[order], values)
