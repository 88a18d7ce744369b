"""Fisher's discriminants with weights of one sign."""

from __future__ import annotations

import numpy as np

from . import data, dense, invariants
from .trial import Trial

_OPTIONS = {
    "n_components": ('"auto"', "1", "2"),
    "rule": ('"rayleigh"', '"rayleigh"', '"oja"'),
    "alpha": ('"auto"', "0.1", "0", "10.0"),
    "solver": ('"auto"', '"multiplicative"', '"exact"'),
    "max_iter": ("1000", "5", "1"),
    "tol": ("0.0001", "0", "1e-8"),
}
_OWN = {
    "NonnegativeLDA": {"flip": ('"auto"', "False", "True")},
    "NonnegativeKernelFDA": {
        "flip": ("False", "True"),
        "kernel": ('"linear"', '"rbf"', '"cosine"', '"polynomial"', '"precomputed"'),
        "gamma": ("None", "0.5"),
    },
}
_LABELS = (
    "np.arange({m}) % {k}",
    "np.array(list('ab{c}'))[np.arange({m}) % {k}]",
    "np.arange({m}) * {k} // {m}",
    "(np.arange({m}) % {k}).tolist()",
)


def case(t: Trial) -> None:
    name = t.pick(tuple(_OWN))
    m, n = data.sides(t, least=2)
    k = t.integer(2, 4)
    options = {key: t.pick(values) for key, values in {**_OPTIONS, **_OWN[name]}.items() if t.one_in(4)}
    is_square = options.get("kernel") == '"precomputed"'
    X = data.matrix(t, m, m if is_square else n)
    if is_square:
        t.let("X", "np.asarray(X.toarray() if sparse.issparse(X) else X) * 1.0")
        X = t.let("X", "X + X.T")
    elif t.one_in(3) and isinstance(X, np.ndarray):
        X = t.let("X", "X - 0.5 * X.max()")
    y = t.let("y", t.pick(_LABELS).format(m=m, k=k, c="cd"))
    options["random_state"] = "0"
    made = f"nonneg.{name}({', '.join(f'{key}={text}' for key, text in options.items())})"
    t.subject = f"{name} {options.get('rule', '')}"
    model = t.call(f"{made}.fit(X, y)", "model")
    weights = model.components_ if name == "NonnegativeLDA" else model.dual_coef_
    for attribute in ("intercept_", "alpha_"):
        invariants.finite(t, attribute, getattr(model, attribute), signed=attribute == "intercept_")
    t.check("finite", (model.fisher_ratio_ >= 0).all(), f"fisher_ratio_ is {model.fisher_ratio_}")  # ∞ where no class varies
    invariants.finite(t, "weights", weights, signed=True)
    if name == "NonnegativeKernelFDA":
        invariants.finite(t, "sample_importance_", model.sample_importance_)
        shares = model.sample_importance_.sum()
        t.check("formula", shares == 0 or abs(shares - 1) < 1e-9 or len(weights) > 1, f"sample_importance_ sums to {shares}")
    else:
        signs = np.where(model.flipped_, -1.0, 1.0) * weights
        t.check("non-negative", not (signs < 0).any(), "components_ has another sign than flipped_ says")
    _check_answers(t, model, X, y)
    if t.one_in(4):
        again = t.call(f"{made}.fit(X, y)", "again")
        t.check("same bits", again.intercept_.tobytes() == model.intercept_.tobytes(), "intercept_ differs when it is fitted again")


def _check_answers(t: Trial, model: object, X: object, y: object) -> None:
    m, classes = len(y), np.unique(y)
    t.check("shapes", list(model.classes_) == list(classes), "classes_ are not those of y")
    projected = t.call("model.transform(X)", "projected")
    invariants.finite(t, "projections", projected, signed=True)
    t.check("shapes", projected.shape[0] == m, f"projections have shape {projected.shape}")
    decided = t.call("model.decision_function(X)", "decided")
    invariants.finite(t, "decisions", decided, signed=True)
    predicted = t.call("model.predict(X)", "predicted")
    expected = classes[(decided > 0).astype(int)] if len(classes) == 2 else classes[decided.argmax(axis=1)]
    t.check("formula", (np.asarray(predicted) == expected).all(), "predict is not where decision_function is largest")
    if hasattr(model, "predict_proba"):
        shares = t.call("model.predict_proba(X)", "shares")
        invariants.finite(t, "probabilities", shares)
        invariants.equal(t, "formula", "sums of probabilities", dense.wide(shares).sum(axis=1), np.ones(m), 1e-9)
    score = t.call("model.score(X, y)", "score")
    t.check("formula", abs(score - np.mean(np.asarray(predicted) == np.asarray(y))) < 1e-12, "score is not the share that is right")
