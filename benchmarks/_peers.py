"""What others do, at their own defaults, and the papers' rules in plain NumPy; and the formulas that all are judged by.

Each returns how long it took and what it found. A package that is not installed is an ImportError, for `Bench.attempt` to report.
"""

from __future__ import annotations

import logging
import math
import os
import warnings
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import decomposition

from _bench import Mark, Timed, processed, timed
from nonneg import metrics

KL = "kullback-leibler"


# ---- judgement


def squares(X: Any) -> float:
    return float(X.data @ X.data) if sparse.issparse(X) else float(np.vdot(X, X))


def projection(X: Any, W: np.ndarray) -> tuple[float, float]:
    """½‖X − W Wᵀ X‖² with W at its best length, and ρ of W."""
    Y = X.T @ W
    B, G = Y.T @ Y, W.T @ W
    return 0.5 * (squares(X) - np.trace(B) ** 2 / float(np.sum(B * G))), metrics.orthogonality_error(W)


def euclidean(X: Any, W: np.ndarray, H: np.ndarray) -> float:
    """½‖X − W H‖²."""
    return 0.5 * (squares(X) - 2 * float(np.sum((X @ H.T) * W)) + float(np.sum((W.T @ W) * (H @ H.T))))


def i_divergence(X: sparse.csr_array, W: np.ndarray, H: np.ndarray) -> float:
    """Σ x ln(x/x̂) − x + x̂ over all entries, of which those where X is zero have the last term only."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    fitted = np.empty(X.nnz)
    for start in range(0, X.nnz, 2**17):
        part = slice(start, start + 2**17)
        fitted[part] = np.einsum("ik,ki->i", W[rows[part]], H[:, X.indices[part]])
    return float(np.sum(X.data * np.log(X.data / fitted)) - X.data.sum() + W.sum(axis=0) @ H.sum(axis=1))


# ---- packages


def surprise(stored: sparse.csr_array, rank: int, sweeps: int) -> tuple[Timed, np.ndarray, np.ndarray]:
    """Its NMF of ratings, without biases, for so many sweeps: how long these take, and both factors."""
    from surprise import NMF, Trainset

    users: dict[int, list[tuple[int, float]]] = {
        i: list(zip(*(part[slice(*stored.indptr[i : i + 2])].tolist() for part in (stored.indices, stored.data)), strict=True))
        for i in range(stored.shape[0])
    }
    things: dict[int, list[tuple[int, float]]] = {j: [] for j in range(stored.shape[1])}
    scale = (float(stored.data.min()), float(stored.data.max()))
    names = [{i: i for i in range(count)} for count in stored.shape]
    ratings = Trainset(users, things, *stored.shape, stored.nnz, scale, *names)
    model = NMF(n_factors=rank, n_epochs=sweeps, random_state=0)
    return processed(lambda: model.fit(ratings)), model.pu, model.qi


def opnmf(X: np.ndarray, W: np.ndarray) -> tuple[Timed, list[Mark]]:
    """The package, to its own stop, and the objectives that it reports on its way: as its W is, not at its best length."""
    from opnmf.opnmf import opnmf as fit

    marks: list[Mark] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            words = dict(word.split("=") for word in record.getMessage().replace(",", "").split() if "=" in word)
            if {"iter", "obj"} <= set(words):
                marks.append(Mark(perf_counter() - started, 0.5 * float(words["obj"]) ** 2, int(words["iter"])))

    logger, listener = logging.getLogger("opnmf"), Listener()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(listener)
    try:
        started = perf_counter()
        run = timed(lambda: fit(X, W.shape[1], init="custom", init_W=W.copy())[0])
    finally:
        logger.removeHandler(listener)
        logger.setLevel(level)
    return run, marks


def scikit_learn(X: Any, W: np.ndarray, H: np.ndarray, solver: str, beta: str = "frobenius", **settings: Any) -> Timed:
    """NMF, "cd" or "mu", or MiniBatchNMF, with its defaults but for the start."""
    if solver == "minibatch":
        model = decomposition.MiniBatchNMF(H.shape[0], init="custom", beta_loss=beta, random_state=0, **settings)
    else:
        model = decomposition.NMF(H.shape[0], init="custom", solver=solver, beta_loss=beta, random_state=0, **settings)
    starts = W.copy(), H.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that max_iter was reached
        return timed(lambda: (model.fit_transform(X, W=starts[0], H=starts[1]), model.components_, model.n_iter_))


def cd_marks(X: Any, W: np.ndarray, H: np.ndarray, run: Timed, chunk: int = 5) -> list[Mark]:
    """Where a run of scikit-learn's `cd` stood on its way, found by going that way again in short pieces.

    It keeps nothing from one iteration to the next but W and H, so pieces make the same way. Seconds are those of the run that was
    not interrupted, shared out among its iterations.
    """
    n_iter, marks = run.result[2], []
    for done in range(chunk, n_iter + chunk, chunk):
        W, H, _ = scikit_learn(X, W, H, "cd", tol=0, max_iter=chunk).result
        marks.append(Mark(run.seconds * min(done, n_iter) / n_iter, euclidean(X, W, H), done))
    return marks


def torchnmf(X: np.ndarray, W: np.ndarray, H: np.ndarray, beta: float = 2.0) -> Timed:
    """torchnmf's NMF on the CPU, in double precision; what it calls H is W here.

    It has as many threads as serve it best, since they wait by spinning: where a core is busy, two are far slower than one.
    """
    import torch
    from torchnmf.nmf import NMF

    data, before = torch.tensor(X), torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # the factors have it, whatever they are given as

    def fit(threads: int, **settings: Any) -> Timed:
        torch.set_num_threads(threads)
        model = NMF(H=torch.tensor(W), W=torch.tensor(H.T.copy()))
        seconds, n_iter = timed(lambda: model.fit(data, beta=beta, **settings))
        return Timed(seconds, (model.H.detach().numpy(), model.W.detach().numpy().T, n_iter))

    try:
        fit(1, max_iter=1)
        return fit(min(range(1, int(os.environ.get("OMP_NUM_THREADS", "1")) + 1), key=lambda threads: fit(threads, max_iter=5)[0]))
    finally:
        torch.set_default_dtype(before)


# ---- the papers' rules


def times_gram(X: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The product with K = X Xᵀ: K itself where it is small, else X(XᵀW)."""
    if sparse.issparse(X):
        transposed = X.T.tocsr()
        return lambda W: X @ (transposed @ W)
    if X.shape[0] > 2 * X.shape[1]:
        return lambda W: X @ (X.T @ W)
    K = X @ X.T
    return lambda W: K @ W


def printed_opnmf(X: Any, W: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """ONL Eq. 31 as it is run: exponent 1, spectral norm one, entries of at least 1e-16. W and K W after each iteration.

    These are the iterates of the opnmf package, for half of its products and without a singular value decomposition.
    """
    multiply = times_gram(X)
    KW = multiply(W)
    while True:
        W = np.maximum(W * KW / (W @ (W.T @ KW)), 1e-16)
        W /= math.sqrt(np.linalg.eigvalsh(W.T @ W)[-1])
        KW = multiply(W)
        yield W, KW


def printed_pnmf(X: Any, W: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """PNMF Eq. 20 and 21: exponent 1, and the best length after each step. W and K W after each iteration."""
    multiply = times_gram(X)
    KW = multiply(W)
    while True:
        W = np.maximum(W * 2 * KW / (W @ (W.T @ KW) + KW @ (W.T @ W)), 1e-300)
        KW = multiply(W)
        B, G = W.T @ KW, W.T @ W
        scale = math.sqrt(np.trace(B) / np.sum(B * G))
        W, KW = W * scale, KW * scale
        yield W, KW


Rule = Callable[[Any, np.ndarray], Iterator[tuple[np.ndarray, np.ndarray]]]


def run_rule(
    rule: Rule, X: Any, W: np.ndarray, *, limit: float = math.inf, max_iter: int = 10**9, target: Any = None
) -> tuple[Timed, list[Mark]]:
    """A rule until a target, a time, or a number of iterations; looking where it stands is not counted.

    Infinite seconds where there is a target that is not reached.
    """
    total, marks, looking, reached = squares(X), [], 0.0, target is None
    started = perf_counter()
    for iteration, (basis, product) in enumerate(rule(X, W), start=1):
        now = perf_counter()
        B, G = basis.T @ product, basis.T @ basis
        objective = 0.5 * (total - 2 * float(np.trace(B)) + float(np.sum(B * G)))
        marks.append(Mark(now - started - looking, objective, iteration))
        if target is not None and objective <= target.objective:
            reached = math.isinf(target.rho) or metrics.orthogonality_error(basis) <= target.rho
        enough = (target is not None and reached) or marks[-1].seconds > limit or iteration >= max_iter
        looking += perf_counter() - now
        if enough:
            break
    return Timed(marks[-1].seconds if reached else math.inf, basis), marks


def tri_factorized(
    X: Any, W: np.ndarray, S: np.ndarray, H: np.ndarray, *, is_fast: bool = False, tol: float = 1e-4, max_iter: int = 5000
) -> dict[str, np.ndarray]:
    """X ≈ W S H by the rules of ONMTF (FONT Eq. 11, 12 and 7), or of FONT (Eq. 16, 17 and 7), as they are printed.

    W and H are given unit lengths after each step, which S takes up: the rules of FONT let them grow without bound otherwise. The
    objective is looked at every 100 iterations, as in the paper, and the end is where it has changed by less than `tol` of it.
    """
    last, least = math.inf, np.finfo(float).tiny
    for iteration in range(max_iter):
        up = X @ H.T @ S.T
        W = W * ((up + W) / (W @ (S @ (H @ H.T) @ S.T) + least) if is_fast else up / (W @ (W.T @ up) + least))
        length = np.linalg.norm(W, axis=0) + least
        W, S = W / length, S * length[:, None]
        up = S.T @ (X.T @ W).T
        H = H * ((up + H) / ((S.T @ (W.T @ W) @ S) @ H + least) if is_fast else up / ((up @ H.T) @ H + least))
        length = np.linalg.norm(H, axis=1) + least
        H, S = H / length[:, None], S * length
        S = S * ((W.T @ (X @ H.T)) / ((W.T @ W) @ S @ (H @ H.T) + least))
        if iteration % 100 == 99:
            objective = euclidean(X, W @ S, H)
            if abs(last - objective) <= tol * objective:
                break
            last = objective
    return {"W": W, "S": S, "H": H}


def k_lines(K: np.ndarray, W: np.ndarray, max_iter: int = 100) -> np.ndarray:
    """An exactly orthogonal W from one that is nearly so: each row to the line it is closest to, each line to its rows."""
    m, r = W.shape
    labels = None
    for _ in range(max_iter):
        KW = K @ W
        strength = np.einsum("ik,ik->k", W, KW)
        closest = np.argmax(KW / np.sqrt(np.where(strength > 0, strength, np.inf)), axis=1)
        if labels is not None and np.array_equal(labels, closest):
            break
        labels, W = closest, np.zeros((m, r))
        for k in range(r):
            rows = np.flatnonzero(labels == k)
            if len(rows):
                W[rows, k] = np.abs(np.linalg.eigh(K[np.ix_(rows, rows)])[1][:, -1])
    return W
