"""What the papers say of the rules themselves, tried on small data."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from nonneg import Model, TruncatedNonnegativeSVD, factorize
from nonneg.constraints import Orthogonal
from nonneg.datasets import load_digits, load_karate
from nonneg.graph import DiscriminativeKMeans
from nonneg.solvers import Multiplicative

from ._page import Page

TITLE = "What the papers say of the rules"
SEEDS = range(5)
RANK = 6
STEPS = 300


def build(page: Page) -> None:
    X = np.asarray(load_digits().data[:300], dtype=float)
    K = np.asarray(load_karate().adjacency.todense(), dtype=float)
    page.say(f"""
        The first 300 of scikit-learn's digits, and Zachary's karate club; seeds 0 to {len(SEEDS) - 1}, uniform starts. Figures are
        those of the exact steps that are printed: no acceleration, no search for a start.
    """)
    page.heading("ONL: orthogonal rules")
    cancelled(page, X)
    manifold(page, X)
    unconstrained(page, K)
    page.heading("QNMF: theorems")
    monotone(page, X)
    page.heading("PNMF: clipped singular vectors")
    clipped(page, X)


def run(X: Any, model: Model, seed: int, steps: int = STEPS, **settings: Any) -> Any:
    settings = {"init": "random", "random_state": seed, "solver": Multiplicative(), "tol": 0, "check_every": 1} | settings
    return factorize(X, model, RANK, max_iter=steps, **settings)


def share(X: np.ndarray, solution: Any) -> float:
    """‖X − X̂‖² / ‖X‖²."""
    return float(2 * solution.objective / np.sum(X**2))


def cancelled(page: Page, X: np.ndarray) -> None:
    models = {steps: Model("W H", constraints={"H": Orthogonal("rows", steps=steps)}) for steps in (2, 3)}  # type: ignore[arg-type]
    errors = {steps: [share(X, run(X, model, seed, solver=Multiplicative(1))) for seed in SEEDS] for steps, model in models.items()}
    page.claim(
        "ONL §3.3",
        "Rules without the terms on both sides converge faster (here: a lower error after so many steps).",
        [short < long for long, short in zip(errors[2], errors[3], strict=True)],
        f"""‖X − X̂‖²/‖X‖² of ONMF after {STEPS} steps, ONL Eq. 28 and, before words are cancelled, Eq. 27: means
        {np.mean(errors[3]):.3f} and {np.mean(errors[2]):.3f}.""",
    )


def manifold(page: Page, X: np.ndarray) -> None:
    model = Model("X W W.T", constraints={"W": "orthogonal"})
    on, beside = [], []
    for seed in SEEDS:
        groups = np.random.default_rng(seed).integers(RANK, size=X.shape[1])
        W = np.eye(RANK)[groups]
        W = W / np.maximum(np.linalg.norm(W, axis=0), 1)
        for start, found in ((W, on), (W + 0.2, beside)):
            found.append(share(X, run(X, model, seed, init={"W": start}, solver=Multiplicative(1))))
    page.claim(
        "ONL §3.1",
        "A start on the manifold converges very poorly (here: to a higher error than the same start plus .2).",
        [high > low for high, low in zip(on, beside, strict=True)],
        f"""‖X − X̂‖²/‖X‖² of OPNMF, ONL Eq. 31, after {STEPS} steps from random groups of pixels: {np.mean(on):.3f} on the manifold,
        zeros being as small as the engine lets them be, and {np.mean(beside):.3f} with .2 added.""",
    )


def unconstrained(page: Page, K: np.ndarray) -> None:
    S = DiscriminativeKMeans()(K)
    S = np.asarray(S if isinstance(S, np.ndarray) else S.itself() if hasattr(S, "itself") else S.toarray(), dtype=float)
    falls, ends = [], []
    for exponent, seed in product((1, 0.5), SEEDS):
        W = np.random.default_rng(seed).random((len(K), 2))
        W = W / np.linalg.norm(W)
        traces = [float(np.trace(W.T @ S @ W))]
        plus, minus = np.maximum(S, 0), np.maximum(-S, 0)
        for _ in range(STEPS):
            W = W * ((plus @ W) / np.maximum(minus @ W, 1e-300)) ** exponent
            W = W / np.linalg.norm(W)
            traces.append(float(np.trace(W.T @ S @ W)))
        falls.append(min(np.diff(traces)) >= -1e-9)
        ends.append((traces[0], traces[-1]))
    largest = float(np.linalg.eigvalsh(S)[-1])
    page.claim(
        "ONL App. C",
        "NL and √NL raise tr(WᵀSW) with each step, to a local maximum (here: with W at unit length, where the trace is bounded).",
        falls,
        f"""Karate, discriminative K-means, two columns. From {ends[0][0]:.3f} to {ends[0][1]:.3f} with exponent 1, and from
        {ends[len(SEEDS)][0]:.3f} to {ends[len(SEEDS)][1]:.3f} with 1/2 (seed 0); at unit length {largest:.3f} can be had. It does
        not fall in {sum(falls)} of {len(falls)} runs. Without a bound on W the trace grows with its scale.""",
    )


def monotone(page: Page, X: np.ndarray) -> None:
    P = X / X.max()
    forms: dict[str, Callable[[Any], Model]] = {
        "Theorem 1": lambda d: Model("X W W.T", d),
        "Theorem 2": lambda d: Model("W H", d, {"H": "stochastic-rows"}),
        "Theorem 3": lambda d: Model("W H", d, {"H": Orthogonal("rows", steps=1)}),
    }
    rises: dict[str, list[bool]] = {}
    ratios = []
    for (name, make), divergence in product(forms.items(), ("euclidean", "kullback-leibler")):
        for seed in SEEDS[:2]:
            solution = run(P + 0.01, make(divergence), seed, 100)
            values = solution.history.objective
            rises.setdefault(name, []).append(bool((np.diff(values) <= 1e-10 * values[0]).all()))
            if name == "Theorem 1":
                ratios.append(_kkt(P + 0.01, run(P + 0.01, make(divergence), seed, 2000)) if divergence == "euclidean" else 0.0)
    page.claim(
        "QNMF Theorems 1–3",
        "With the proven exponents the objective does not rise (of Theorems 2 and 3 the augmented one; here: the plain one).",
        [all(kept) for kept in rises.values()],
        f"""{"; ".join(f"{name}: {sum(kept)} of {len(kept)} runs of 100 steps" for name, kept in rises.items())}.""",
    )
    page.claim(
        "QNMF §3.2",
        "The K.K.T. conditions hold asymptotically (here: max |W∘∇| falls below a thousandth of its parts in 2000 steps of PNMF).",
        [ratio < 1e-3 for ratio in ratios if ratio],
        f"max |W∘(∇⁺ − ∇⁻)| / max W∘(∇⁺ + ∇⁻) is {', '.join(f'{ratio:.1e}' for ratio in ratios if ratio)} at the end.",
    )


def _kkt(X: np.ndarray, solution: Any) -> float:
    W, K = solution.factors["W"], X.T @ X
    plus, minus = W @ (W.T @ K @ W) + K @ W @ (W.T @ W), 2 * K @ W
    return float(np.abs(W * (plus - minus)).max() / (W * (plus + minus)).max())


def clipped(page: Page, X: np.ndarray) -> None:
    U, s, VT = np.linalg.svd(X, full_matrices=False)
    ranks = {k: int(np.linalg.matrix_rank(np.maximum((U[:, :k] * s[:k]) @ VT[:k], 0))) for k in (2, 5, 10)}
    kept = TruncatedNonnegativeSVD(10).fit(X)
    page.claim(
        "PNMF §2",
        "Making negative entries zero raises the rank of a truncated singular value decomposition.",
        [rank > k for k, rank in ranks.items()],
        f"""{"; ".join(f"of {k} singular vectors: rank {rank}" for k, rank in ranks.items())}. A clipped matrix of rank 10 at most
        has
        {kept.components_.shape[0]} of them (PNMF §2, tSVD).""",
    )
