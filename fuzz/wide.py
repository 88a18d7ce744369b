"""Few samples of 10⁵ features and more, mostly in single precision: the history is that of the data, and does not rise."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data, dense
from .trial import Trial

_DIVERGENCES = tuple(d for d in dense.DIVERGENCES if d.source in ('"euclidean"', '"kullback-leibler"', '"itakura-saito"', "1.5"))
_CALLS = {
    "NMF": "W H",
    "PNMF": "X W W.T",
    "OPNMF": "X W W.T",
    "ProjectiveClustering": "W W.T X",
    "NMTF": "W S H",
    "ONMF": "W H",
    "factorize X W W.T": "X W W.T",
    "factorize W W.T X": "W W.T X",
    "factorize W H": "W H",
}
SHARE, OF_TERMS = 1e-6, 1e-8
"""By what share of itself, or of its terms, the objective may differ from one in double precision, or rise from check to check."""


def case(t: Trial) -> None:
    name = t.pick(tuple(_CALLS))
    form = _CALLS[name]
    divergence = t.pick(_DIVERGENCES) if t.one_in(2) else dense.EUCLIDEAN
    divergence = dense.EUCLIDEAN if name == "ONMF" else divergence
    m, n = t.integer(2, 6), t.pick((100_000, 150_000, 250_000))
    dtype = t.pick(("np.float32", "np.float32", "np.float32", "np.float64"))
    count = t.integer(1, 3)
    drawn = f"np.random.default_rng({t.integer(0, 99)})"
    entries = t.pick(
        (
            f"{drawn}.random(({m}, {n})) + 0.01",
            f"{drawn}.random(({m}, 2)) @ {drawn}.random((2, {n})) + 0.01",
            f"{drawn}.random(({m}, 2)) @ {drawn}.random((2, {n})) + 0.01 + 0.1 * {drawn}.random(({m}, {n}))",
            f"{drawn}.gamma(0.3, size=({m}, {n})) + 1e-6",
            f"{drawn}.poisson(0.3, ({m}, {n})) * 1.0"
            if not divergence.needs_positive
            else f"1.0 + {drawn}.poisson(0.3, ({m}, {n}))",
            f"1000 + {drawn}.random(({m}, {n}))",
        )
    )
    is_sparse = "poisson" in entries and "1.0 +" not in entries and t.one_in(2)
    turns = form == "W W.T X" and name.startswith("factorize")
    source = f"({entries}).astype({dtype})" + (".T.copy()" if turns else "")
    t.let("X", f"sparse.csr_array({source})" if is_sparse else source)
    iterations = t.pick((30, 10, 20))
    options = f"divergence={divergence.source}, max_iter={iterations}, random_state=0"
    t.subject = f"{name} {divergence.source} {dtype}"

    def fit(source: str, into: str) -> tuple[Any, Any, float, str]:
        if name.startswith("factorize"):
            found = t.call(f"nonneg.factorize({source}, {form!r}, {count}, check_every=1, {options})", into, refusal=data.WORDS)
            return found.factors, found.history, found.objective, found.status.value
        found = t.call(f"nonneg.{name}({count}, {options}).fit({source})", into, refusal=data.WORDS)
        return found.factors_, found.history_, found.objective_, found.status_.value

    factors, history, objective, status = fit("X", "found")
    t.note(f"status {status}")
    for key, factor in factors.items():
        t.check("finite", np.isfinite(factor).all(), f"{key} has entries that are not finite")
        t.check("non-negative", not (factor < 0).any(), f"{key} has negative entries")
    X = (t["X"].toarray() if is_sparse else t["X"]).astype(np.float64)
    true, size = _value(form, divergence, {key: np.asarray(F, dtype=np.float64) for key, F in factors.items()}, X)
    values = np.asarray(history.objective, dtype=np.float64)
    for what, value in (("objective is", objective), ("history ends at", values[-1])):
        agrees = abs(value - true) <= max(SHARE * abs(true), OF_TERMS * size)
        t.check("objective", agrees, f"{what} {value!r}, in double precision {true!r}, of terms of {size:.3g}")
    if name != "ONMF" and len(values) > 1:
        rises = np.diff(values) - np.maximum(SHARE * np.abs(values[:-1]), OF_TERMS * size)
        place = int(rises.argmax())
        t.check("never rises", rises[place] <= 0, f"rose from {values[place]!r} to {values[place + 1]!r} at check {place + 1}")
    if t.one_in(4) and dtype == "np.float32":
        double = fit("X.astype(np.float64)", "double")
        ends = double[2]
        if count == 1 and divergence.parameter in (1, 2) and name != "ONMF":
            is_near = objective <= ends * 1.02 + 1e-6 * size
            t.check("single", is_near, f"ends at {objective!r} ({status}), in double precision at {ends!r} ({double[3]})")


def _value(form: str, divergence: dense.Divergence, factors: Any, X: np.ndarray) -> tuple[float, float]:
    """The objective in double precision, row by row, and the size of its terms."""
    matrices = {**factors, "X": X}
    words = dense.letters(form)
    left: Any = None
    if form == "X W W.T":
        approximation = (X @ matrices["W"]) @ matrices["W"].T
    elif form == "W W.T X":
        approximation = matrices["W"] @ (matrices["W"].T @ X)
    else:
        for name, transposed in words:
            factor = matrices[name].T if transposed else matrices[name]
            left = factor if left is None else left @ factor
        approximation = left
    found, size = dense.value(divergence, X, approximation)
    return float(found), float(size)
