"""Estimators on a CUDA card: the figures of the documentation, with date and machine. GROUPS of them by name, or all.

python benchmarks/gpu.py parts entries iteration starts small stream
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import numpy as np
import torch

from nonneg import NMF, OPNMF, Model
from nonneg.kernels import fused
from nonneg.solve.problem import point_at
from nonneg.solvers import Multiplicative

Row = tuple[str, str]


def planted(features: int, samples: int, parts: int) -> torch.Tensor:
    """Samples × features: part k covers its own range of features and a tenth of each neighbour's, with noise; seed 1."""
    generator = torch.Generator(device="cuda").manual_seed(1)
    W, size = torch.zeros(features, parts, device="cuda"), features // parts
    for k in range(parts):
        first, last = max(0, int((k - 0.1) * size)), min(features, int((k + 1.1) * size))
        W[first:last, k] = torch.rand(last - first, generator=generator, device="cuda") + 0.2
    H = -torch.log(torch.rand(parts, samples, generator=generator, device="cuda") + 1e-9)
    noise = 0.3 * torch.rand(features, samples, generator=generator, device="cuda")
    return (W @ H).add_(noise).T


def seconds(call: Callable[[], Any], repeats: int = 3) -> float:
    """The median time of a call, after one to warm up."""
    call()
    return float(np.median([_timed(call)[0] for _ in range(repeats)]))


def milliseconds(call: Callable[[], Any], repeats: int = 30) -> float:
    """Time of a call among many in a row, by the clock of the card."""
    for _ in range(3):
        call()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(repeats):
        call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / repeats


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    torch.cuda.synchronize()
    begun = time.perf_counter()
    found = call()
    torch.cuda.synchronize()
    return time.perf_counter() - begun, found


def _stepper(point: Any) -> Callable[[], Any]:
    """A multiplicative step from a point, whose own products are not kept."""
    solver = Multiplicative()
    state = solver.new_state(point.problem)
    return lambda: solver.step(point.problem.point(point.factors), state)


def parts() -> Iterator[Row]:
    """OPNMF of planted parts, a tensor on the card in, to its own stop; the second row cold only once."""
    for samples, features, rank in ((1000, 200_000, 20), (2000, 300_000, 100)):
        X = planted(features, samples, rank)
        length = float(torch.linalg.vector_norm(X))
        cold, _ = _timed(lambda X=X, rank=rank: OPNMF(rank, random_state=0).fit(X))
        for seed in range(3):
            took, model = _timed(lambda X=X, rank=rank, seed=seed: OPNMF(rank, random_state=seed).fit(X))
            error = model.reconstruction_err_ / length
            yield (
                f"OPNMF({rank}), {samples} × {features}, seed {seed}",
                f"{took:.3f} s ({cold:.1f} s cold), relative error {error:.5f}, {model.status_.value}, {model.n_iter_} iterations",
            )
        del X
        torch.cuda.empty_cache()


def entries() -> Iterator[Row]:
    """The I-divergence on 50 000 × 5000, r = 50: an alternating iteration of ours and by hand, and a fit to its own stop."""
    torch.manual_seed(0)
    X = torch.poisson(torch.rand(50_000, 50, device="cuda") @ torch.rand(50, 5000, device="cuda"))
    W, H = torch.rand(50_000, 50, device="cuda") + 0.1, torch.rand(50, 5000, device="cuda") + 0.1

    def by_hand() -> None:
        W1 = W * ((X / (W @ H)) @ H.T) / H.sum(1)
        _ = H * (W1.T @ (X / (W1 @ H))) / W1.sum(0)[:, None]

    for precision in ("highest", "high", "medium"):
        torch.set_float32_matmul_precision(precision)
        point = point_at(Model("W H", "kullback-leibler"), X, {"W": W, "H": H})
        ours, theirs = milliseconds(_stepper(point)), milliseconds(by_hand)
        yield f"iteration, {precision} ({fused.PRECISIONS[precision]})", f"{ours:.2f} ms, PyTorch by hand {theirs:.2f} ms"
    torch.set_float32_matmul_precision("highest")
    cold, _ = _timed(lambda: NMF(50, divergence="kullback-leibler", random_state=0).fit(X))
    took, model = _timed(lambda: NMF(50, divergence="kullback-leibler", random_state=0).fit(X))
    yield (
        "NMF(50, divergence='kullback-leibler') to its own stop",
        (f"{took:.2f} s ({cold:.1f} s cold), objective {model.objective_:.5g}, {model.status_.value}, {model.n_iter_} iterations"),
    )


def iteration() -> Iterator[Row]:
    """A multiplicative step beside its bare products."""
    X = torch.rand(5000, 20_000, device="cuda")
    W, r = torch.rand(20_000, 50, device="cuda"), 50
    for constraint in ("free", "orthogonal"):
        model = Model("X W W.T", "euclidean", {} if constraint == "free" else {"W": "orthogonal"})
        point = point_at(model, X, {"W": W})
        ours, bare = milliseconds(_stepper(point)), milliseconds(lambda: X.T @ (X @ W))
        yield f"X W Wᵀ, {constraint}, 5000 × 20 000, r = {r}", f"{ours:.2f} ms, bare products {bare:.2f} ms, {ours / bare:.2f}"


def starts() -> Iterator[Row]:
    """Ten starts beside one."""
    X = planted(20_000, 500, 20)
    one, ten = (seconds(lambda n=n: OPNMF(20, n_init=n, random_state=0).fit(X)) for n in (1, 10))
    yield "OPNMF(20), 500 × 20 000: one start, ten starts", f"{one:.3f} s, {ten:.3f} s, {ten / one:.1f}"


def small() -> Iterator[Row]:
    """A small problem on the card and on its host."""
    X = planted(361, 2429, 49)
    host = X.cpu().numpy()
    card, own = (seconds(lambda Y=Y: OPNMF(49, random_state=0).fit(Y)) for Y in (X, host))
    yield "OPNMF(49), 2429 × 361: card, host", f"{card:.3f} s, {own:.3f} s"


GROUPS = {group.__name__: group for group in (parts, entries, iteration, starts, small)}


if __name__ == "__main__":
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {date.today()}")
    for name in sys.argv[1:] or GROUPS:
        print(f"\n{name}: {GROUPS[name].__doc__}")
        for label, result in GROUPS[name]():
            print(f"  {label}: {result}", flush=True)
