"""The fits that are pinned: plain calls over estimators, storages, dtypes, weights, files, Dask and resumed runs.

Only what `nonneg` exports is called. The fits of `tests.recorded`, whose starts are given, are pinned too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import nonneg
from nonneg import graph

from . import fits as recorded

Fit = Callable[[Path], Any]
"""A fit, given an empty folder for its files; it returns the estimator or the `Solution`."""

# ---- data


def planted(rows: int, columns: int, rank: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    basis = np.kron(np.eye(rank), np.ones(columns // rank))
    return rng.gamma(1.0, size=(rows, rank)) @ basis + 0.1 * rng.random((rows, basis.shape[1]))


def small() -> np.ndarray:
    return planted(60, 24, 4)


def tall() -> np.ndarray:
    return planted(3000, 60, 4)


def wide() -> np.ndarray:
    return planted(50, 3000, 4)


def counts() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.poisson(rng.gamma(0.3, size=(400, 5)) @ rng.gamma(0.2, size=(5, 150))).astype(float) + np.eye(400, 150)


DATA = {"small": small, "tall": tall, "wide": wide, "counts": counts}

# ---- storages


def in_file(X: np.ndarray, folder: Path) -> Any:
    np.save(folder / "X.npy", X)
    return nonneg.open_data(folder / "X.npy", block_bytes=2**15)


def sparse_in_file(X: np.ndarray, folder: Path) -> Any:
    import anndata

    anndata.AnnData(sparse.csr_matrix(X)).write_h5ad(folder / "X.h5ad")
    return nonneg.open_data(folder / "X.h5ad", block_bytes=2**15)


def on_dask(X: np.ndarray, folder: Path) -> Any:
    import dask.array as da

    return da.from_array(X, chunks=(max(len(X) // 4, 1), X.shape[1]))


def with_gaps(X: np.ndarray, folder: Path) -> Any:
    return np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)


def observed(X: np.ndarray, folder: Path) -> Any:
    return nonneg.Observed(sparse.csr_array(X * (np.random.default_rng(1).random(X.shape) < 0.5)))


STORAGES: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "dense": lambda X, folder: X,
    "float32": lambda X, folder: X.astype(np.float32),
    "fortran": lambda X, folder: np.asfortranarray(X),
    "csr": lambda X, folder: sparse.csr_array(X),
    "csr float32": lambda X, folder: sparse.csr_array(X.astype(np.float32)),
    "csc": lambda X, folder: sparse.csc_array(X),
    "file": in_file,
    "float32 file": lambda X, folder: in_file(X.astype(np.float32), folder),
    "sparse file": sparse_in_file,
    "dask": on_dask,
}

# ---- fits


def fitted(maker: Callable[[], Any], data: str, storage: Callable[..., Any], folder: Path, **given: Any) -> Any:
    X = storage(DATA[data](), folder)
    return maker().fit(X, **{name: value(X.shape) if callable(value) else value for name, value in given.items()})


def _sample_weight(shape: tuple[int, int]) -> np.ndarray:
    return np.random.default_rng(2).integers(0, 3, shape[0]).astype(float)


def _entry_weights(shape: tuple[int, int]) -> np.ndarray:
    return np.random.default_rng(2).uniform(0.2, 1.8, shape)


def resumed(maker: Callable[..., Any], data: str, storage: Callable[..., Any], folder: Path) -> Any:
    """A fit that ended at a small `max_iter`, resumed from its checkpoint."""
    X = storage(DATA[data](), folder)
    for most in (7, 60):
        found = maker(max_iter=most, checkpoint=nonneg.Checkpoint(folder / "run.nonneg", every=0)).fit(X)
    return found


def streamed(maker: Callable[[], Any], folder: Path) -> Any:
    model = maker()
    for batch in np.array_split(tall(), 6):
        model.partial_fit(batch)
    return model


def factorized(form: str, rank: Any, data: str, folder: Path, **given: Any) -> Any:
    return nonneg.factorize(DATA[data](), form, rank, random_state=0, max_iter=60, **given)


def of_record(fit: recorded.Fit, folder: Path) -> Any:
    return recorded.found(fit)


SHORT = {"max_iter": 60, "random_state": 0}
KL, IS = {"divergence": "kullback-leibler"}, {"divergence": "itakura-saito"}
MODELS: dict[str, tuple[type, dict[str, Any]]] = {
    "PNMF": (nonneg.PNMF, {"n_components": 4}),
    "PNMF KL": (nonneg.PNMF, {"n_components": 4, **KL}),
    "OPNMF": (nonneg.OPNMF, {"n_components": 4}),
    "NMF": (nonneg.NMF, {"n_components": 4}),
    "NMF KL": (nonneg.NMF, {"n_components": 4, **KL}),
    "ONMF": (nonneg.ONMF, {"n_components": 4}),
    "NMTF": (nonneg.NMTF, {"n_components": (3, 4)}),
}
"""Fitted from every storage."""
OTHERS: dict[str, tuple[type, dict[str, Any]]] = {
    "PNMF IS": (nonneg.PNMF, {"n_components": 4, **IS}),
    "OPNMF KL": (nonneg.OPNMF, {"n_components": 4, **KL}),
    "OPNMF exact": (nonneg.OPNMF, {"n_components": 4, "orthogonality": "exact"}),
    "OPNMF restarts": (nonneg.OPNMF, {"n_components": 4, "n_init": 3}),
    "OPNMF paper": (nonneg.OPNMF, {"n_components": 4, "solver": "paper"}),
    "NMF IS": (nonneg.NMF, {"n_components": 4, **IS}),
    "NMF beta 1.5": (nonneg.NMF, {"n_components": 4, "divergence": 1.5}),
    "NMF restarts": (nonneg.NMF, {"n_components": 4, "n_init": 3, "init": "random"}),
    "NonnegativeSparseCoding": (nonneg.NonnegativeSparseCoding, {"n_components": 4, "alpha": 0.1}),
    "ONMTF": (nonneg.ONMTF, {"n_components": (3, 4)}),
    "FONT": (nonneg.FONT, {"n_components": (3, 4)}),
    "BiQNMF": (nonneg.BiQNMF, {"n_clusters": (3, 4)}),
    "BiORNM3F": (nonneg.BiORNM3F, {"n_clusters": (3, 4)}),
    "ProjectiveClustering": (nonneg.ProjectiveClustering, {"n_clusters": 4}),
    "KernelPNMF": (nonneg.KernelPNMF, {"n_components": 4}),
    "SymmetricNMF": (nonneg.SymmetricNMF, {"n_components": 4, "kernel": "linear"}),
    "Factorization": (nonneg.Factorization, {"form": "X W H", "n_components": 4}),
}
"""Fitted from memory, dense and sparse."""
FORMS = {"W W.T X": 4, "W H": 4, "W S H": (3, 4), "L L.T X R R.T": (3, 4), "X W H": 4, "A B H": (4, 4)}


def _pins() -> Iterator[tuple[str, Fit]]:
    for name, (kind, settings) in MODELS.items():
        maker = partial(kind, **SHORT, **settings)
        for storage, store in STORAGES.items():
            data = "counts" if "KL" in name or "sparse" in storage or "cs" in storage else "tall"
            yield f"{name}, {data}, {storage}", partial(fitted, maker, data, store)
        dense = STORAGES["dense"]
        yield f"{name}, wide", partial(fitted, maker, "wide", dense)
        yield f"{name}, wide file", partial(fitted, maker, "wide", in_file)
        yield f"{name}, sample weights", partial(fitted, maker, "small", dense, sample_weight=_sample_weight)
        yield f"{name}, entry weights", partial(fitted, maker, "small", dense, weights=_entry_weights)
        yield f"{name}, weighted file", partial(fitted, maker, "small", in_file, weights=_entry_weights)
        yield f"{name}, gaps", partial(fitted, partial(maker, missing="ignore"), "small", with_gaps)
        yield f"{name}, observed", partial(fitted, maker, "counts", observed)
        own = partial(kind, random_state=0, **settings)
        yield f"{name}, resumed", partial(resumed, own, "small", dense)
        yield f"{name}, resumed from a file", partial(resumed, own, "tall", in_file)
    for name, (kind, settings) in OTHERS.items():
        for data, storage in (("small", "dense"), ("counts", "csr")):
            if not (name.endswith("IS") and storage == "csr"):  # infinite at zeros
                yield f"{name}, {data}, {storage}", partial(fitted, partial(kind, **SHORT, **settings), data, STORAGES[storage])
    yield "PNMF, streamed", partial(streamed, partial(nonneg.PNMF, 4, random_state=0))
    yield "OPNMF, streamed", partial(streamed, partial(nonneg.OPNMF, 4, random_state=0))
    for form, rank in FORMS.items():
        yield f"factorize {form}", partial(factorized, form, rank, "small")
    yield "GraphClustering", lambda folder: graph.GraphClustering(4, random_state=0).fit(_friends())
    for fit in recorded.FITS:
        yield f"recorded: {fit.name}", partial(of_record, fit)


def _friends() -> np.ndarray:
    return recorded.friends(np.random.default_rng(0))


PINS: dict[str, Fit] = dict(_pins())


def run(name: str, folder: Path) -> Any:
    """Run a pinned fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of max_iter, and of columns without entries
        return PINS[name](folder)
