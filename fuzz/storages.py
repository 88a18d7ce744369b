"""The same data in memory, in files and on Dask: the same steps from the same start, the same codes and scores of a model."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from . import data, dense, invariants, parts
from .trial import Trial

_DIVERGENCES = tuple(d for d in dense.DIVERGENCES if d.family in ("beta", "alpha"))
_FORMS = ("W H", "X W W.T", "W S H", "W W.T X")
_ESTIMATORS = ("NMF", "PNMF", "OPNMF", "ONMF", "NMTF", "ProjectiveClustering", "BiQNMF", "NonnegativeSparseCoding")
_FORM_OF = {"NMF": "W H", "PNMF": "X W W.T", "OPNMF": "X W W.T", "NMTF": "W S H", "ProjectiveClustering": "W W.T X"}
_MODULES = {"h5py": "h5py", "zarr": "zarr", "pd": "pandas", "da": "dask.array", "dask": "dask", "anndata": "anndata"}
_OPEN = "nonneg.open_data(folder / {name!r}{options}, block_bytes={bytes})"


def case(t: Trial) -> None:
    for name, module in _MODULES.items():
        t.offer(name, import_module(module))
    t.do(f'_ = dask.config.set(scheduler="{t.pick(("synchronous", "threads"))}")')
    divergence = t.pick(_DIVERGENCES) if t.one_in(2) else t.pick(_DIVERGENCES[:2])
    m, n = t.integer(2, 12), t.integer(2, 9)
    m, n = t.pick(((m, n), (m, n), (2500, n), (40, 600))) if t.one_in(20) else (m, n)
    dtype = t.pick(("np.float64", "np.float64", "np.float32"))
    weights = t.pick(("none", "none", "samples", "entries", "missing", "features"))
    t.let("X", f"({data.entries(t, m, n, positive=divergence.needs_positive)}).astype({dtype})")
    V = _weigh(t, weights, m, n)
    if (V == 0).any() and weights != "missing" and t.one_in(3):
        t.do(f"X[np.broadcast_to(V{'[:, None]' if weights == 'samples' else ''} == 0, X.shape)] = 0", "X")
    stored, kind = _store(t, m, n, weights)
    t.subject = f"{kind} {weights}"
    t.pick((_steps, _estimator))(t, divergence, m, n, weights, V, stored)


def _weigh(t: Trial, weights: str, m: int, n: int) -> Any:
    """Set V, or hide entries of X; give the weights of all entries."""
    drawn = f"np.random.default_rng({t.integer(0, 99)})"
    if weights == "missing":
        t.let("X", f"np.where({drawn}.random(({m}, {n})) < 0.8, X, np.nan).astype(X.dtype)")
        if np.isnan(t["X"]).all():
            t.do("X[0, 0] = 1", "X")
        return 1.0 - np.isnan(t["X"])
    if weights == "samples":
        return np.ones((m, n)) * t.let("V", f"{drawn}.integers(0, 3, {m}) + (np.arange({m}) == 0.0)")[:, None]
    if weights == "features":
        return np.ones((m, n)) * t.let("V", f"{drawn}.integers(0, 3, {n}) + (np.arange({n}) == 0.0)")
    if weights == "entries":
        return t.let("V", f"{drawn}.integers(0, 3, ({m}, {n})) + (np.arange({m * n}).reshape({m}, {n}) == 0.0)")
    return np.ones((m, n))


def _store(t: Trial, m: int, n: int, weights: str) -> tuple[str, str]:
    """Write X to a place; source of what stands for it, and the kind of place."""
    kinds = ["npy", "npy", "turned", "HDF5", "zarr", "Parquet", "h5ad", "list", "Dask", "Dask", "Dask table"]
    kinds += ["path", "memory map", "AnnData", "AnnData view", "backed AnnData"]
    kinds += ["h5ad by rows", "h5ad by columns", "sparse Dask"] if weights != "missing" else []
    kind = t.pick(kinds)
    rows = t.integer(1, m)
    if kind == "Dask":
        return t_stored(t, f"da.from_array(X, chunks=({rows}, {t.integer(1, n)}))"), kind
    if kind == "sparse Dask":
        return t_stored(t, f"da.from_array(X, chunks=({rows}, {n})).map_blocks(sparse.csr_array)"), kind
    if kind == "AnnData":
        return t_stored(t, "anndata.AnnData(sparse.csr_matrix(X))" if weights != "missing" else "anndata.AnnData(X)"), kind
    if kind == "AnnData view":
        return t_stored(t, f"anndata.AnnData(np.hstack([X, X]))[:, :{n}]{t.pick(('.X', ''))}"), kind
    t.folder()
    if kind in ("path", "memory map"):
        t.do("np.save(folder / 'X.npy', X)")
        return t_stored(t, "folder / 'X.npy'" if kind == "path" else "np.load(folder / 'X.npy', mmap_mode='r')"), kind
    if kind == "backed AnnData":
        t.do("anndata.AnnData(X).write_h5ad(folder / 'X.h5ad')")
        return t_stored(t, "anndata.read_h5ad(folder / 'X.h5ad', backed='r')"), kind
    if kind == "Dask table":
        import dask.dataframe

        t.offer("dd", dask.dataframe)
        return t_stored(t, f'dd.from_pandas(pd.DataFrame(X, columns=[f"c{{j}}" for j in range({n})]), chunksize={rows})'), kind
    size = rows * (m if kind in ("turned", "h5ad by columns") else n) * t["X"].itemsize
    name, options = "X.npy", ""
    if kind == "npy":
        t.do(f"np.save(folder / 'X.npy', {t.pick(('X', 'np.asfortranarray(X)'))})")
    elif kind == "turned":
        t.do("np.save(folder / 'X.npy', np.ascontiguousarray(X.T))")
        options = ', blocks="features"'
    elif kind == "list":
        cut = t.integer(1, m - 1)
        t.do(f"np.save(folder / 'a.npy', X[:{cut}]); np.save(folder / 'b.npy', X[{cut}:])")
        return t_stored(t, f"nonneg.open_data([folder / 'a.npy', folder / 'b.npy'], block_bytes={size})"), kind
    elif kind == "HDF5":
        name = "X.h5"
        t.do("with h5py.File(folder / 'X.h5', 'w') as file: file.create_dataset('X', data=X)")
    elif kind == "zarr":
        name = "X.zarr"
        t.do("zarr.open(str(folder / 'X.zarr'), mode='w', shape=X.shape, chunks=(3, X.shape[1]), dtype=X.dtype)[:] = X")
    elif kind == "Parquet":
        name = "X.parquet"
        columns = f'[f"c{{j}}" for j in range({n})]'
        t.do(f"pd.DataFrame(X, columns={columns}).to_parquet(folder / 'X.parquet', row_group_size={rows})")
    else:
        name = "X.h5ad"
        form = {"h5ad": "X", "h5ad by rows": "sparse.csr_matrix(X)"}.get(kind, "sparse.csc_matrix(X)")
        t.do(f"anndata.AnnData({form}).write_h5ad(folder / 'X.h5ad')")
    return t_stored(t, _OPEN.format(name=name, options=options, bytes=size)), kind


def t_stored(t: Trial, source: str) -> str:
    """Set `stored`, which is not compared with itself after each call: that would read it."""
    t.do(f"stored = {source}")
    return "stored"


def _tolerance(X: Any) -> float:
    """Sums in another order, over a few steps."""
    return invariants.SAME if X.dtype == np.float64 else 1e-3


def _steps(t: Trial, divergence: dense.Divergence, m: int, n: int, weights: str, V: Any, stored: str) -> None:
    form, count = t.pick(_FORMS), t.integer(1, 3)
    sides = {"W H": {"W": (m, count), "H": (count, n)}, "X W W.T": {"W": (n, count)}, "W W.T X": {"W": (m, count)}}
    sides["W S H"] = {"W": (m, count), "S": (count, count), "H": (count, n)}
    for seed, (name, shape) in enumerate(sides[form].items()):
        t.let(name, f"np.random.default_rng({seed}).uniform(0.5, 1.5, {shape}).astype(X.dtype)")
    given = ", ".join(f"{name!r}: {name}" for name in sides[form])
    options = f"init={{{given}}}, divergence={divergence.source}, max_iter={t.integer(1, 4)}, tol=0, check_every=1"
    solver = t.pick(('"multiplicative"', *parts.DESCENDING))
    options += {
        "samples": ", weights=(V, None)",
        "features": ", weights=(None, V)",
        "entries": ", weights=V",
        "missing": ', missing="ignore"',
    }.get(weights, "")
    t.subject += f" {form} {divergence.source} {solver}"
    in_memory, in_place = (f"nonneg.factorize({of}, {form!r}, solver={solver}, {options})" for of in ("X", stored))
    is_particular = solver in parts.PARTICULAR
    own = t.call(in_memory, "own", refusal=data.WORDS, same_as="" if is_particular else in_place)
    far = t.call(in_place, "far", refusal=data.WORDS, same_as="" if is_particular else in_memory)
    for name, factor in far.factors.items():
        invariants.finite(t, name, factor)
    a, b = own.history.objective, far.history.objective
    size = max(abs(a).max(), abs(b).max()) + float(np.nansum(dense.wide(t["X"]) ** 2)) * 1e-9
    if solver == '"multiplicative"':
        invariants.equal(t, "stored = memory", "objective of the start", b[0], a[0], _tolerance(t["X"]), size)
        if not (form in ("X W W.T", "W W.T X") and (V == 0).any()):  # fills are tried in another order
            invariants.equal(t, "stored = memory", "objective", b[-1], a[-1], _tolerance(t["X"]), size)
    if not (form in ("X W W.T", "W W.T X") and (V == 0).any()):
        matrices = {name: dense.wide(factor) for name, factor in far.factors.items()} | {"X": np.nan_to_num(dense.wide(t["X"]))}
        expected, size = dense.weighted_value(
            divergence, matrices["X"], dense.product(dense.letters(form), matrices), np.broadcast_to(V, (m, n))
        )
        if np.isfinite(expected):
            eps = invariants.eps_of(t["X"])
            invariants.equal(t, "objective", "objective", far.objective, expected, invariants.ROUNDINGS * eps, float(size))
    if solver != '"multiplicative"' or divergence.family == "beta":
        invariants.never_rising(t, b, float(size), invariants.eps_of(t["X"]))


def _estimator(t: Trial, divergence: dense.Divergence, m: int, n: int, weights: str, V: Any, stored: str) -> None:
    name = t.pick(_ESTIMATORS)
    divergence = dense.EUCLIDEAN if name in ("ONMF", "NonnegativeSparseCoding") else divergence
    count = t.integer(1, 3)
    options = f"{count}, max_iter=40, random_state=0"
    options += "" if name == "NonnegativeSparseCoding" else f", divergence={divergence.source}"
    options += ', missing="ignore"' if weights == "missing" else ""
    given = {"samples": ", sample_weight=V", "entries": ", weights=V", "features": ", weights=(None, V)"}.get(weights, "")
    t.subject += f" {name} {divergence.source}"
    in_memory = f"nonneg.{name}({options}).fit(X{given})"
    model = t.call(f"nonneg.{name}({options}).fit({stored}{given})", "model", refusal=data.WORDS, same_as=in_memory)
    t.note(f"status {model.status_.value}")
    for factor_name, factor in model.factors_.items():
        invariants.finite(t, f"factors_[{factor_name!r}]", factor)
    form, X = _FORM_OF.get(name, ""), t["X"]
    eps = invariants.eps_of(X)
    if form and not ("X" in form.split() and (V == 0).any()):
        matrices = {key: dense.wide(factor) for key, factor in model.factors_.items()} | {"X": np.nan_to_num(dense.wide(X))}
        approximation = dense.product(dense.letters(form), matrices)
        expected, size = dense.weighted_value(divergence, matrices["X"], approximation, np.broadcast_to(V, (m, n)))
        if np.isfinite(expected):
            limit = invariants.ROUNDINGS * eps
            invariants.equal(t, "objective", "objective_", model.objective_, expected, limit, float(size))
            invariants.never_rising(t, model.history_.objective, float(size), eps)
        if name in ("NMF", "PNMF") and count == 1 and (X > 0).all() and (V > 0).all() and divergence.parameter in (1, 2):
            memory = t.call(in_memory, "memory")
            if model.status_ == memory.status_ == "converged":  # of positive data and one part there is one minimum
                size = 0.01 * memory.objective_ + invariants.ROUNDINGS * eps * float(size)
                is_near = model.objective_ <= memory.objective_ + size
                t.check("stored = memory", is_near, f"ends at {model.objective_}, in memory at {memory.objective_}")
    if hasattr(model, "transform") and name not in ("BiQNMF",):
        far = t.call(f"np.asarray(model.transform({stored}))", "codes", refusal=data.WORDS, same_as="model.transform(X)")
        own = t.call("model.transform(X)", "own", refusal=data.WORDS, same_as=f"model.transform({stored})")
        invariants.finite(t, "codes", far)
        invariants.equal(t, "stored = memory", "codes", far, own, _tolerance(X))
    if hasattr(model, "score") and name != "BiQNMF":
        far = t.call(f"model.score({stored})", "score", refusal=data.WORDS, same_as="model.score(X)")
        own = t.call("model.score(X)", "own", refusal=data.WORDS, same_as=f"model.score({stored})")
        seen = dense.wide(X)[~np.isnan(X)]
        _, terms = dense.value(divergence, seen, seen)  # a score near zero is known to roundings of its terms
        limit = _tolerance(X) * abs(own) + 100 * eps * float(terms) / m
        invariants.equal(t, "score", "score", far, own, 1.0, limit)
