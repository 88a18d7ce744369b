"""Every estimator of a factorization, with drawn parameters: fitted, asked for codes, scored, cloned and pickled."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import sklearn

from . import data, dense, invariants, parts
from .trial import Trial

_DIVERGENCES = tuple(divergence.source for divergence in dense.DIVERGENCES)
_BY_SOURCE = {divergence.source: divergence for divergence in dense.DIVERGENCES}
_DEGREES = ('"soft"', '"exact"', '"rows"', '"polar"', "0.5", "0.05")
_SHARED = {
    "init": parts.STARTS,
    "solver": ('"auto"', '"auto"', '"paper"', *parts.SOLVERS),
    "n_init": ("1", "1", "2"),
    "max_iter": ("100", "100", "20", "1", "1000"),
    "tol": ("1e-05", "1e-05", "0", "1e-3"),
    "random_state": ("0", "1", "7"),
    "warm_start": ("False", "True"),
    "verbose": ("0", "0", "0", "1"),
}
_DEFAULTS = {"max_iter": "5000", "random_state": "None"}


class Kind(NamedTuple):
    """An estimator: its name, its form, how many parts it takes, and what else it takes, the default first."""

    name: str
    form: str
    options: Mapping[str, tuple[str, ...]] = {}
    count: str = "n_components"
    pairs: bool = False
    descends: bool = True
    """Whether its objective never rises with the default solver."""
    square: bool = False
    is_free: bool = False
    """Whether its factors have no constraint and no penalty, so that K.K.T. conditions are those of the divergence."""


_ANY = {"divergence": ('"euclidean"', *_DIVERGENCES)}
_KINDS = (
    Kind("NMF", "W H", _ANY, is_free=True),
    Kind("PNMF", "X W W.T", _ANY, is_free=True),
    Kind("OPNMF", "X W W.T", _ANY | {"orthogonality": _DEGREES}),
    Kind("ONMF", "W H", _ANY | {"orthogonality": _DEGREES}, descends=False),
    Kind("NonnegativeSparseCoding", "W H", {"alpha": ("0.1", "0.0", "1.0", "100")}),
    Kind("NMTF", "W S H", _ANY, pairs=True, is_free=True),
    Kind("ONMTF", "W S H", _ANY | {"orthogonality": _DEGREES[:4]}, pairs=True, descends=False),
    Kind(
        "FONT",
        "W S H",
        {"solver": (*_SHARED["solver"], '"als"', '"als"'), "orthogonality": _DEGREES[:4]},
        pairs=True,
        descends=False,
    ),
    Kind(
        "BiQNMF",
        "L L.T X R R.T",
        {"divergence": ('"kullback-leibler"', *_DIVERGENCES)},
        count="n_clusters",
        pairs=True,
        is_free=True,
    ),
    Kind("BiORNM3F", "L S R.T", _ANY, count="n_clusters", pairs=True, descends=False),
    Kind("ProjectiveClustering", "W W.T X", _ANY, count="n_clusters", is_free=True),
    Kind("SymmetricNMF", "W W.T", _ANY, square=True, is_free=True),
    Kind(
        "KernelPNMF",
        "",
        {"kernel": ('"rbf"', '"nearest_neighbors"', '"linear"', '"precomputed"', '"cosine"'), "gamma": ("None", "0.5")},
    ),
    Kind(
        "Factorization", "W H", _ANY | {"form": ('"W H"', '"X W W.T"', '"W S H"', '"W W.T X"', '"L L.T X R R.T"')}, descends=False
    ),
    Kind("TruncatedNonnegativeSVD", ""),
)


def case(t: Trial) -> None:
    t.offer("sklearn", sklearn)
    kind = t.pick(_KINDS)
    options = {key: t.pick(values) for key, values in {**_SHARED, **kind.options}.items() if t.one_in(3)}
    if kind.name == "TruncatedNonnegativeSVD":
        options = {key: value for key, value in options.items() if key == "random_state"}
    else:
        options.setdefault("max_iter", "100")
    options.setdefault("random_state", "0")
    divergence = _BY_SOURCE[options.get("divergence", kind.options.get("divergence", ('"euclidean"',))[0])]
    m, n = data.sides(t)
    is_square = kind.square or options.get("kernel") == '"precomputed"'
    n = m if is_square else n
    X = data.matrix(t, m, n, positive=divergence.needs_positive)
    if is_square:
        t.let("X", "np.asarray(X.toarray() if sparse.issparse(X) else X) * 1.0")
        X = t.let("X", "X @ X.T" if kind.name == "KernelPNMF" else "X + X.T")
    count = t.integer(1, t.pick((3, 3, max(m, n) + 1)))
    size = f"({count}, {t.integer(1, 3)})" if kind.pairs and t.one_in(2) else str(count)
    if not t.one_in(10):
        options[kind.count] = size
    given = ", ".join(f"{key}={text}" for key, text in options.items() if text != _DEFAULTS.get(key))
    made = f"nonneg.{kind.name}({given})"
    t.subject = f"{kind.name}{' ' + options['solver'] if 'solver' in options else ''}"
    model = t.call(f"{made}.fit(X)", "model")
    form = options.get("form", f'"{kind.form}"').strip('"')
    if kind.name != "TruncatedNonnegativeSVD":
        _check_fit(t, model, kind, form, divergence, options, X)
    _check_codes(t, model, kind, form, divergence, made, X)
    if t.one_in(3):
        _check_copies(t, model, made)
    if kind.name in ("NMF", "PNMF", "OPNMF") and t.one_in(3):
        t.call("model.partial_fit(X)", "model")
        invariants.finite(t, "components_ after partial_fit", model.components_)
        t.check("shapes", model.components_.shape[1] == n, "partial_fit changed how many features there are")
    if t.one_in(4):
        data.matrix(t, t.integer(1, 6), n, "Z", positive=divergence.needs_positive)
        if not is_square and hasattr(model, "transform"):
            invariants.finite(
                t, "codes of new samples", t.call("model.transform(Z)", "codes"), signed=kind.name.startswith("Trunc")
            )


def _check_fit(
    t: Trial, model: Any, kind: Kind, form: str, divergence: dense.Divergence, options: Mapping[str, str], X: Any
) -> None:
    t.note(f"status {model.status_.value}")
    for name, factor in model.factors_.items():
        invariants.finite(t, f"factors_[{name!r}]", factor)
    invariants.finite(t, "components_", model.components_)
    if np.isfinite(model.objective_):  # of extreme data both may be more than a number can hold
        invariants.finite(t, "reconstruction_err_", model.reconstruction_err_)
    dtype = next(iter(model.factors_.values())).dtype
    for name in ("labels_", "row_labels_", "column_labels_"):
        labels = getattr(model, name, None)
        if labels is not None:
            are_parts = hasattr(model, "sizes_")  # of features, those that no component has being -1
            side = np.shape(X)[1 if are_parts else 0]
            t.check("shapes", name == "column_labels_" or labels.shape == (side,), f"{name} has shape {labels.shape}")
            t.check("shapes", labels.min() >= (-1 if are_parts else 0), f"{name} has negative labels")
    if options.get("orthogonality") in ('"exact"', '"rows"'):
        for name, axis in {"OPNMF": {"W": 1}, "ONMF": {"H": 0}}.get(kind.name, {"W": 1, "H": 0}).items():
            overlap = (model.factors_[name] > 0).sum(axis=axis).max()
            t.check("constraint", overlap <= 1, f"{name} is to have no overlap, and has an entry in {overlap} components")
    if not form:
        return
    matrices = {name: dense.wide(factor) for name, factor in model.factors_.items()} | {"X": dense.wide(X)}
    approximation = dense.product(dense.letters(form), matrices)
    penalty = 0
    if kind.name == "NonnegativeSparseCoding":
        penalty = dense.Wide(options.get("alpha", "0.1")) * matrices["W"].sum()
    elif options.get("solver") == '"als"':
        penalty = invariants.penalties({"H": "NearOrthogonal()"}, {"H": model.factors_["H"].T})
    if model.status_ != "non_finite":
        size = invariants.objective(t, model.objective_, divergence, X, approximation, penalty, dtype)
        if kind.descends and options.get("solver", '"auto"') == '"auto"' and options.get("orthogonality", '"soft"') == '"soft"':
            invariants.never_rising(t, model.history_.objective, size, float(np.finfo(dtype).eps))
        with np.errstate(over="ignore"):
            half = float(np.float64(model.reconstruction_err_) ** 2 / 2)
        if np.isfinite(half) and half > 1e-280:
            invariants.objective(t, half, divergence, X, approximation, dtype=dtype)
    if model.status_ == "converged" and kind.is_free and float(options.get("tol", "1e-05")) <= 1e-5:
        _stationary(t, model, form, divergence, matrices)


def _stationary(t: Trial, model: Any, form: str, divergence: dense.Divergence, matrices: Mapping[str, Any]) -> None:
    found = invariants.residual(form, divergence, matrices, {}, list(model.factors_))
    is_exact = abs(model.objective_) <= 1e4 * invariants.eps_of(t["X"]) * abs(model.history_[0].objective)
    if found is not None and not is_exact:
        t.check("stationary", found <= invariants.STATIONARY, f"converged, with a K.K.T. residual of {found:.3g}")


def _check_codes(t: Trial, model: Any, kind: Kind, form: str, divergence: dense.Divergence, made: str, X: Any) -> None:
    if not hasattr(model, "transform"):
        return
    is_signed = kind.name.startswith("Trunc")
    codes = t.call("model.transform(X)", "codes")
    invariants.finite(t, "codes", codes, signed=is_signed)
    m = X.shape[0] if hasattr(X, "shape") else len(X)
    t.check("shapes", codes.shape == (m, model.components_.shape[0]), f"codes have shape {codes.shape}")
    together = t.call(f"{made}.fit_transform(X)", "together")
    invariants.equal(
        t, "codes", "fit_transform and transform", together, codes, invariants.SAME if codes.dtype == np.float64 else 1e-3
    )
    if hasattr(model, "inverse_transform"):
        back = t.call("model.inverse_transform(codes)", "back")
        t.check("shapes", back.shape == (m, model.n_features_in_), f"inverse_transform gives shape {back.shape}")
    if hasattr(model, "score") and t.one_in(2):
        score = t.call("model.score(X)", "score")
        t.check("finite", not np.isnan(score), "score is NaN")
        t.check("formula", score <= 1e-3, f"score is {score}")
    for name in ("predict",):
        if hasattr(model, name) and t.one_in(2):
            labels = t.call("model.predict(X)", "labels")
            t.check("shapes", labels.shape == (m,) and labels.min() >= 0, "predict gives labels that are none")
    names = t.call("model.get_feature_names_out()", "names")
    t.check("shapes", len(names) == codes.shape[1], "get_feature_names_out has other names than there are codes")


def _check_copies(t: Trial, model: Any, made: str) -> None:
    again = t.call(f"{made}.fit(X)", "again")
    t.check("same bits", again.components_.tobytes() == model.components_.tobytes(), "components_ differ when it is fitted again")
    copy = t.call("sklearn.base.clone(model).set_params(**model.get_params())", "copy")
    t.check("round trip", repr(copy) == repr(model), "the clone has another representation")
    revived = pickle.loads(pickle.dumps(model))
    t.check("round trip", revived.components_.tobytes() == model.components_.tobytes(), "a pickled model differs")
