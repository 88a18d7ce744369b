"""scikit-learn's NMF, as far as it can do the same: the same data, held against the same invariants."""

from __future__ import annotations

import numpy as np
import sklearn
import sklearn.decomposition

from . import data, dense, invariants
from .errors import data_words
from .trial import Trial

_DIVERGENCES = (
    dense.EUCLIDEAN._replace(source='"frobenius"'),
    dense.KULLBACK_LEIBLER,
    dense.Divergence('"itakura-saito"', "beta", 0),
    dense.Divergence("1.5", "beta", 1.5),
    dense.Divergence("0.5", "beta", 0.5),
    dense.Divergence("3", "beta", 3),
)
_WRONG = {
    "n_components": ("0", "-1", "1.5", '"three"', "True"),
    "init": ('"nothing"', "3"),
    "solver": ('"newton"', "3", "None"),
    "max_iter": ("0", "-1", "1.5", '"many"'),
    "tol": ("-1", "np.nan", '"small"'),
    "random_state": ("-1", '"seed"', "1.5"),
    "beta_loss": ('"nothing"', "[]", "np.nan"),
    "alpha_W": ("-1", "np.nan", '"x"'),
    "verbose": ('"loud"', "[]"),
}


def case(t: Trial) -> None:
    t.offer("sklearn", sklearn)
    if t.one_in(5):
        _refusals(t)
        return
    divergence = t.pick(_DIVERGENCES) if t.one_in(2) else _DIVERGENCES[0]
    solver = '"cd"' if divergence.parameter == 2 and not t.one_in(3) else '"mu"'
    m, n = data.sides(t)
    X = data.matrix(t, m, n, positive=divergence.needs_positive)
    count = t.integer(1, t.pick((3, 3, max(m, n) + 1)))
    init = t.pick(('"random"', '"nndsvda"', '"nndsvdar"', "None"))
    iterations = t.pick(("30", "100", "1000"))
    made = (
        f"sklearn.decomposition.NMF({count}, init={init}, solver={solver}, beta_loss={divergence.source}, "
        f"max_iter={iterations}, tol={t.pick(('1e-5', '1e-4', '0'))}, random_state=0)"
    )
    t.subject = f"NMF {solver}"
    model = t.call(f"{made}.fit(X)", "model")
    is_converged = model.n_iter_ < int(iterations)
    t.note("status converged" if is_converged else "status max_iter")
    invariants.finite(t, "components_", model.components_)
    invariants.finite(t, "reconstruction_err_", model.reconstruction_err_)
    codes = t.call("model.transform(X)", "codes")
    invariants.finite(t, "codes", codes)
    together = t.call(f"{made}.fit_transform(X)", "together")
    with np.errstate(over="ignore"):
        half = float(np.float64(model.reconstruction_err_) ** 2 / 2)
    if np.isfinite(half) and half > 1e-280:
        invariants.objective(t, half, divergence, X, dense.wide(together) @ dense.wide(model.components_), dtype=codes.dtype)
    if is_converged and "tol=0" not in made:
        matrices = {"W": dense.wide(together), "H": dense.wide(model.components_), "X": dense.wide(X)}
        found = invariants.residual("W H", divergence, matrices, {}, ("W", "H"))
        if found is not None:
            t.check("stationary", found <= invariants.STATIONARY, f"converged, with a K.K.T. residual of {found:.3g}")
    if t.one_in(4):
        again = t.call(f"{made}.fit(X)", "again")
        t.check(
            "same bits", again.components_.tobytes() == model.components_.tobytes(), "components_ differ when it is fitted again"
        )
    if t.one_in(2) and codes.dtype == np.float64:
        _related(t, divergence, solver, count, X)
    invariants.equal(
        t, "codes", "fit_transform and transform", together, codes, invariants.SAME if codes.dtype == np.float64 else 1e-3
    )


def _related(t: Trial, divergence: dense.Divergence, solver: str, count: int, X: object) -> None:
    t.let("dense", "X.toarray() if sparse.issparse(X) else np.array(X, dtype=float)")
    m, n = t["dense"].shape
    t.let("W", f"np.random.default_rng(0).uniform(0.5, 1.5, ({m}, {count}))")
    t.let("H", f"np.random.default_rng(1).uniform(0.5, 1.5, ({count}, {n}))")
    made = (
        f"sklearn.decomposition.NMF({count}, init='custom', solver={solver}, beta_loss={divergence.source}, tol=0, max_iter={{}})"
    )

    def value(data_source: str, iterations: int, scale: str = "", rows: str = "") -> tuple[float, float]:
        t.let("fitted", made.format(iterations))
        own = f"W{rows}{scale}" if rows or scale or t.one_in(4) else "W.copy()"  # what is given as it is is written to
        codes = t.call(f"fitted.fit_transform({data_source}, W={own}, H=H.copy())", "base")
        found = t["fitted"].components_
        data_ = dense.wide(eval(data_source, t.namespace))
        worth, size = dense.value(divergence, data_, dense.wide(codes) @ dense.wide(found))
        return float(worth), float(size)

    few = t.integer(1, 4)
    base, size = value("dense", few)
    relation = t.pick(("more", "sparse", "scaled", "permuted"))
    if relation == "more":
        invariants.never_rising(t, [base, value("dense", few + 3)[0]], size, float(np.finfo(float).eps))
    elif relation == "sparse":
        invariants.equal(t, "sparse = dense", "objective", value("sparse.csr_array(dense)", few)[0], base, invariants.SAME, size)
    elif relation == "scaled":
        scaled = value("dense * 2.0**12", few, " * 2.0**12")[0] / 2.0 ** (12 * divergence.degree)
        invariants.equal(t, "scaled", "objective", scaled, base, invariants.SAME, size)
    else:
        t.let("order", f"np.random.default_rng(0).permutation({m})")
        invariants.equal(t, "permuted", "objective", value("dense[order]", few, rows="[order]")[0], base, invariants.SAME, size)


def _refusals(t: Trial) -> None:
    if t.one_in(2):
        wrong = t.pick(data.ILLEGAL)
        t.subject = "NMF data"
        t.call(f"sklearn.decomposition.NMF(1).fit({wrong})", refusal=data_words(), must_refuse=True)
    wrong = t.pick(tuple(_WRONG))
    t.subject = f"NMF {wrong}"
    given = f"{wrong}={t.pick(_WRONG[wrong])}" + (", solver='mu'" if wrong == "beta_loss" else "")
    t.call(f"sklearn.decomposition.NMF({given}).fit(np.random.default_rng(0).random((9, 4)))", refusal=(wrong,), must_refuse=True)
