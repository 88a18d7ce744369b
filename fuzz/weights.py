"""Weights and missing values in memory: what has weight 0 counts nothing, what has weight 2 counts twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data, dense, invariants, parts
from .trial import Trial

_BETAS = tuple(d for d in dense.DIVERGENCES if d.family in ("beta", "alpha"))
_SOLVERS = ('"multiplicative"', *parts.DESCENDING)
_FORMS = ("W H", "W S H", "X W W.T", "W W.T X")
_ESTIMATORS = {
    "NMF": "W H",
    "NonnegativeSparseCoding": "",
    "PNMF": "X W W.T",
    "OPNMF": "X W W.T",
    "ONMF": "W H",
    "NMTF": "W S H",
    "ONMTF": "W S H",
    "FONT": "W S H",
    "BiQNMF": "L L.T X R R.T",
    "BiORNM3F": "L S R.T",
    "ProjectiveClustering": "W W.T X",
}
_FREE = ("NMF", "NMTF")
_CLUSTERS = ("BiQNMF", "BiORNM3F", "ProjectiveClustering")
_SHARE = {np.dtype(np.float32): 1e-3}
"""By what share runs in single precision may differ after a few steps; others by `invariants.SAME`."""


def case(t: Trial) -> None:
    t.pick((_relation, _estimator))(t)


def _data(t: Trial, divergence: dense.Divergence, *, positive: bool = False) -> tuple[int, int, Any]:
    m, n = data.sides(t, 2)
    source = data.entries(t, m, n, positive=positive or divergence.needs_positive)
    source = f"({source}).astype({t.pick(('np.float64', 'np.float64', 'np.float32'))})"
    return m, n, t.let("X", source)


def _weights(t: Trial, m: int, n: int, most: int = 3) -> Any:
    """Set V to whole numbers from 0, not all of them 0."""
    seed = t.integer(0, 99)
    drawn = f"np.random.default_rng({seed})"
    kinds = (
        f"{drawn}.integers(0, {most + 1}, ({m}, {n}))",
        f"({drawn}.random(({m}, {n})) < 0.8) * {drawn}.integers(1, {most + 1}, ({m}, {n}))",
        f"({drawn}.random(({m}, {n})) < 0.3) * {most}",
        f"(np.arange({m}) > 0)[:, None] * {drawn}.integers(0, {most + 1}, ({m}, {n}))",
        f"(np.arange({n}) > 0) * {drawn}.integers(0, {most + 1}, ({m}, {n}))",
    )
    V = t.let("V", f"({t.pick(kinds)}).astype(float)")
    if not V.any():
        t.do("V[-1, -1] = 1.0", "V")
    return t["V"]


def _start(t: Trial, form: str, m: int, n: int, count: int) -> str:
    """Source of starting factors of a form."""
    sides = {
        "W H": {"W": (m, count), "H": (count, n)},
        "W S H": {"W": (m, count), "S": (count, count), "H": (count, n)},
        "X W W.T": {"W": (n, count)},
        "W W.T X": {"W": (m, count)},
    }[form]
    for seed, (name, shape) in enumerate(sides.items()):
        t.let(name, f"np.random.default_rng({seed}).uniform(0.5, 1.5, {shape}).astype(X.dtype)")
    return ", ".join(f"{name!r}: {name}" for name in sides)


def _relation(t: Trial) -> None:
    """Two ways to say the same, from the same start."""
    divergence = t.pick(_BETAS) if t.one_in(2) else t.pick(_BETAS[:2])
    relation = t.pick(("hidden", "missing", "observed", "pair", "twice", "left out", "scaled"))
    form = t.pick(_FORMS if relation in ("hidden", "missing", "observed", "scaled") else _FORMS[:3])
    m, n, X = _data(t, divergence, positive=relation == "observed")
    count, few = t.integer(1, 3), t.integer(1, 4)
    given = _start(t, form, m, n, count)
    solver = t.pick(_SOLVERS)
    made = f"divergence={divergence.source}, solver={solver}, max_iter={few}, tol=0, check_every=1"
    t.subject = f"{relation} {form} {divergence.source} {solver}"
    factor, init, other_init = 1.0, "{" + given + "}", "{" + given + "}"
    if relation in ("hidden", "missing", "observed"):
        V = _weights(t, m, n, 3 if relation == "hidden" else 1)
        one = f"X, {form!r}, weights=V"
        t.let("Z", {"hidden": "np.where(V > 0, X, 7.5)", "missing": "np.where(V > 0, X, np.nan)"}.get(relation, "X * (V > 0)"))
        t.do("Z = Z.astype(X.dtype)", "Z")
        other = {
            "hidden": f"Z, {form!r}, weights=V",
            "missing": f'Z, {form!r}, missing="ignore"',
            "observed": f"nonneg.Observed(sparse.csr_array(Z)), {form!r}",
        }[relation]
        if form not in _FORMS[:2] and V.all(axis=1).sum() + V.all(axis=0).sum() == 0:
            t.note("hidden in every row and column")
    elif relation == "pair":
        t.let("s", f"np.random.default_rng(5).integers(0, 3, {m}) + (np.arange({m}) == 0.0)")
        t.let("u", f"np.random.default_rng(6).integers(1, 3, {n}) * 1.0")
        one, other = f"X, {form!r}, weights=(s, u)", f"X, {form!r}, weights=np.outer(s, u)"
    elif relation in ("twice", "left out"):
        many = f"np.where(np.random.default_rng(5).random({m}) < 0.5, 2, 1)"
        none = f"np.where((np.arange({m}) > 0) & (np.random.default_rng(5).random({m}) < 0.5), 0, 1)"
        t.let("s", many if relation == "twice" else none)
        one = f"X, {form!r}, weights=(s * 1.0, None)"
        other = f"np.repeat(X, s, axis=0), {form!r}"
        other_init = other_init.replace("'W': W", "'W': np.repeat(W, s, axis=0)") if form != "X W W.T" else init
    else:
        factor = 4.0
        one, other = f"X, {form!r}, weights=np.full(X.shape, 4.0)", f"X, {form!r}"
    calls = f"nonneg.factorize({one}, init={init}, {made})", f"nonneg.factorize({other}, init={other_init}, {made})"
    others = calls[::-1] if solver not in parts.PARTICULAR else ("", "")
    first = t.call(calls[0], "first", refusal=data.WORDS, same_as=others[0])
    second = t.call(calls[1], "second", refusal=data.WORDS, same_as=others[1])
    for solution in (first, second):
        for name, array in solution.factors.items():
            invariants.finite(t, name, array)
    share = _SHARE.get(X.dtype, invariants.SAME)
    a, b = first.history.objective, factor * second.history.objective
    size = float(np.abs(np.concatenate([a, b])).max()) + float(np.sum(dense.wide(X) ** 2)) * 1e-9
    fills = form not in _FORMS[:2] and relation in ("hidden", "missing", "observed")
    is_path = solver == '"multiplicative"' and (form in _FORMS[:2] or relation in ("hidden", "twice", "left out"))
    if not fills:
        invariants.equal(t, "weight", "objective of the start", a[0], b[0], share, size)
    if is_path and relation != "scaled" and (form in _FORMS[:2] or divergence in dense.DIVERGENCES[:2] or relation == "hidden"):
        invariants.equal(t, "weight", "objective", a[-1], b[-1], share, size)


def _estimator(t: Trial) -> None:
    name = t.pick(tuple(_ESTIMATORS))
    form = _ESTIMATORS[name]
    takes = name not in ("NonnegativeSparseCoding", "FONT")
    divergence = t.pick(_BETAS[:6]) if takes and t.one_in(2) else dense.EUCLIDEAN
    m, n, _ = _data(t, divergence)
    kind = t.pick(("missing", "samples", "entries", "samples and missing", "observed"))
    V = np.ones((m, n))
    options = {"n_clusters" if name in _CLUSTERS else "n_components": str(t.integer(1, 3)), "max_iter": "60", "random_state": "0"}
    options |= {"divergence": divergence.source} if takes and (divergence is not dense.EUCLIDEAN or name == "BiQNMF") else {}
    fit = "X"
    if "missing" in kind or kind == "observed":
        V = _weights(t, m, n, 1) > 0
        options["missing"] = '"ignore"'
        t.let("X", "np.where(V > 0, X, np.nan).astype(X.dtype)")
    if kind == "observed":
        V = V & (np.nan_to_num(t["X"]) > 0)
        if not V.any():
            return
        t.let("Z", "sparse.csr_array(np.nan_to_num(X))")
        t.do("X = nonneg.Observed(Z)", "X")
        del options["missing"]
    V = V * 1.0
    if "samples" in kind:
        s = t.let("s", f"np.random.default_rng({t.integer(0, 9)}).integers(0, 3, {m}) + (np.arange({m}) == 0.0)")
        V = V * s[:, None]
        fit += ", sample_weight=s"
    if kind == "entries":
        V = _weights(t, m, n)
        fit += ", weights=V"
    if not V.any():
        return
    t.subject = f"{name} {kind}"
    made = f"nonneg.{name}({', '.join(f'{key}={text}' for key, text in options.items())})"
    model = t.call(f"{made}.fit({fit})", "model", refusal=data.WORDS)
    t.note(f"status {model.status_.value}")
    for factor_name, factor in model.factors_.items():
        invariants.finite(t, f"factors_[{factor_name!r}]", factor)
    invariants.finite(t, "components_", model.components_)
    dtype = model.components_.dtype
    matrices = {key: dense.wide(factor) for key, factor in model.factors_.items()}
    matrices["X"] = np.nan_to_num(dense.wide(t["Z"] if kind == "observed" else t["X"]))
    size = float(np.sum((V > 0) * matrices["X"] ** 2))
    hides = bool((V == 0).any())
    is_whole = form and not ("X" in form.split() and hides)  # hidden entries are filled by the model where X is in the form
    if is_whole:
        approximation = dense.product(dense.letters(form), matrices)
        expected, size = dense.weighted_value(divergence, matrices["X"], approximation, V)
        limit = invariants.ROUNDINGS * float(np.finfo(dtype).eps)
        if np.isfinite(expected):
            invariants.equal(t, "objective", "objective_", model.objective_, expected, limit, float(size))
    descends = name in ("NMF", "NMTF", "PNMF", "OPNMF", "BiQNMF", "ProjectiveClustering", "NonnegativeSparseCoding")
    if descends:
        invariants.never_rising(t, model.history_.objective, float(size), float(np.finfo(dtype).eps))
    if is_whole and name in _FREE and model.status_ == "converged":
        found = invariants.residual(form, divergence, matrices, {}, list(model.factors_), weights=V)
        largest = max(abs(model.history_[0].objective), float(size))  # a start may be nearly exact, too
        is_exact = abs(model.objective_) <= 1e4 * float(np.finfo(dtype).eps) * largest
        if found is not None and not is_exact:
            t.check("stationary", found <= invariants.STATIONARY, f"converged, with a K.K.T. residual of {found:.3g}")
    if hasattr(model, "transform"):
        codes = t.call("model.transform(X)", "codes", refusal=data.WORDS)
        invariants.finite(t, "codes", codes)
        t.check("shapes", codes.shape[0] == m, f"codes have shape {codes.shape}")
    if hasattr(model, "score") and t.one_in(2):
        score = t.call("model.score(X)", "score", refusal=data.WORDS)
        t.check("finite", np.isfinite(score), f"score is {score}")
    if t.one_in(4):
        again = t.call(f"{made}.fit({fit})", "again")
        t.check("same bits", again.components_.tobytes() == model.components_.tobytes(), "components_ differ in a second fit")
