"""Altered model files, checkpoints and folders of scans: what is read can be worked with, or an error says what is wrong."""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import nonneg
import nonneg.selection

from . import mutations, seeds
from .files import attempt, store
from .trial import Refused, Trial

_RNG = np.random.default_rng(0)
X = _RNG.random((8, 5)) + 0.1
S = X @ X.T
Y = np.repeat(["a", "b"], 4)
SYMBOLS = _RNG.integers(0, 3, 40)
_NEVER = {"checkpoint": None, "callback": None, "verbose": 0, "n_jobs": None, "max_iter": 3, "n_init": 1}
"""Parameters that a model file may set to anything, and that would have a fit take long, or write."""
MODELS: dict[str, tuple[Callable[[], Any], tuple[Any, ...]]] = {
    "NMF": (lambda: nonneg.NMF(2, random_state=np.random.default_rng(1)), (X,)),
    "NMF KL": (lambda: nonneg.NMF(2, divergence="kullback-leibler", random_state=0, missing="ignore"), (X,)),
    "OPNMF": (lambda: nonneg.OPNMF(2, random_state=np.random.RandomState(1)), (X,)),
    "ONMF": (lambda: nonneg.ONMF(2, random_state=0), (X,)),
    "NMTF": (lambda: nonneg.NMTF((2, 2), random_state=0), (X,)),
    "BiQNMF": (lambda: nonneg.BiQNMF(2, random_state=0), (X,)),
    "SymmetricNMF": (lambda: nonneg.SymmetricNMF(2, random_state=0), (S,)),
    "KernelPNMF": (lambda: nonneg.KernelPNMF(2, random_state=0), (X,)),
    "ProjectiveClustering": (lambda: nonneg.ProjectiveClustering(2, random_state=0), (X,)),
    "NonnegativeSparseCoding": (lambda: nonneg.NonnegativeSparseCoding(2, random_state=0), (X,)),
    "NonnegativeLDA": (lambda: nonneg.NonnegativeLDA(), (X, Y)),
    "QNMFHMM": (lambda: nonneg.hmm.QNMFHMM(2, random_state=0), (SYMBOLS,)),
    "GraphClustering": (lambda: nonneg.graph.GraphClustering(2, random_state=0), (S,)),
}


def case(t: Trial) -> None:
    t.pick((_model, _model, _model, _checkpoint, _checkpoint, _scan))(t)


def _model(t: Trial) -> None:
    name = t.pick(tuple(MODELS))
    t.subject = f"model {name}"
    valid = _saved(name)
    given = _placed(t, valid, "a model file")
    t.offer("used", used)
    t.offer("given", MODELS[name][1])
    if attempt(t, "nonneg.load(folder / 'm.nonneg')", "m.nonneg") is None:
        t.check("files", given != valid, "a valid file was refused")
        return
    t.counts["read a model file"] += given != valid
    with contextlib.suppress(Refused):
        t.call("used(found, *given)", "codes")


def used(model: Any, *given: Any) -> list[Any]:
    """What a model that was read makes of data, and what a fit of it learns."""
    usual = model.get_params(deep=False)
    model.set_params(**{name: value for name, value in _NEVER.items() if name in usual})
    found = []
    repr(model)
    if hasattr(model, "transform") and len(given[0]) > 0:
        found.append(model.transform(given[0]))
    if isinstance(usual.get("n_components"), int) and usual["n_components"] > 20:
        return found
    clone(model).fit(*given)
    return found


def _checkpoint(t: Trial) -> None:
    how = t.pick(("ended", "unended", "starts"))
    t.subject = f"checkpoint {how}"
    valid = _begun(how)
    given = _placed(t, valid, "a checkpoint")
    t.offer("resumed", partial(resumed, how))
    model = attempt(t, "resumed(folder / 'm.nonneg')", "m.nonneg", writes=True)
    if model is None:
        t.check("files", given != valid, "a valid file was refused")
        return
    t.counts["read a checkpoint"] += given != valid
    is_right = all(np.isfinite(factor).all() and (factor >= 0).all() for factor in model.factors_.values())
    t.check("finite", is_right and np.isfinite(model.objective_), "factors, or the objective, are negative or not finite")


def resumed(how: str, path: Path) -> Any:
    """A fit that goes on from a checkpoint."""
    made = nonneg.NMF(2, random_state=0, max_iter=8 if how == "unended" else 6, checkpoint=path, n_init=2 if how == "starts" else 1)
    return made.fit(X)


def _scan(t: Trial) -> None:
    t.subject = "scan"
    folder = t.folder()
    valid = _scanned()
    given = mutations.altered(t, valid)
    t.counts["files a folder of a scan"] += given != valid
    store(t, given)
    t.do("(folder / 'scan').mkdir(exist_ok=True)")
    assert folder
    t.offer("scanned", scanned)
    scan = attempt(t, "scanned(folder / 'scan')", "scan", writes=True)
    if scan is None:
        t.check("files", given != valid, "a valid folder was refused")
        return
    t.counts["read a folder of a scan"] += given != valid
    t.check("finite", scan.best_ in (1, 2), lambda: f"suggests {scan.best_}")


def scanned(folder: Path) -> Any:
    """A scan of which some measurements are there."""
    return nonneg.selection.rank_scan(nonneg.NMF(max_iter=5), X, [1, 2], criteria="error", random_state=0, folder=folder)


def _placed(t: Trial, valid: bytes, kind: str) -> bytes:
    t.folder()
    given = mutations.altered(t, {"m.nonneg": valid}).get("m.nonneg", b"")
    t.counts[f"files {kind}"] += given != valid
    store(t, {"m.nonneg": given})
    return given


@cache
def _saved(name: str) -> bytes:
    make, given = MODELS[name]
    with tempfile.TemporaryDirectory() as folder, _quietly():
        model = make()
        if "max_iter" in model.get_params():
            model.set_params(max_iter=5)
        model.fit(*given).save(Path(folder) / "m.nonneg")
        used(nonneg.load(Path(folder) / "m.nonneg"), *given)
        return (Path(folder) / "m.nonneg").read_bytes()


@cache
def _begun(how: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder, _quietly():
        path = Path(folder) / "m.nonneg"
        nonneg.NMF(2, random_state=0, max_iter=6, checkpoint=path, n_init=2 if how == "starts" else 1).fit(X)
        return path.read_bytes()


@cache
def _scanned() -> seeds.Files:
    with tempfile.TemporaryDirectory() as folder, _quietly():
        scanned(Path(folder) / "scan")
        return {str(one.relative_to(folder)): one.read_bytes() for one in sorted(Path(folder).rglob("*")) if one.is_file()}


@contextlib.contextmanager
def _quietly() -> Any:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
