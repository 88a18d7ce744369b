"""Estimators on a CUDA card: the figures of the documentation, with date and machine. GROUPS of them by name, or all.

python benchmarks/gpu.py parts entries beside nonzeros iteration starts scan small
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
from nonneg.selection import rank_scan
from nonneg.selection.criteria import Restarts
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


def counts() -> torch.Tensor:
    """Poisson counts, 50 000 × 5000, of 50 random components; seed 0."""
    torch.manual_seed(0)
    return torch.poisson(torch.rand(50_000, 50, device="cuda") @ torch.rand(50, 5000, device="cuda"))


def entries() -> Iterator[Row]:
    """The I-divergence on 50 000 × 5000, r = 50: an alternating iteration of ours and by hand, and a fit to its own stop."""
    X = counts()
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
    exact = torch.rand(50_000, 50, device="cuda") @ torch.rand(50, 5000, device="cuda")
    took, model = _timed(lambda: NMF(50, divergence="kullback-leibler", random_state=0).fit(exact))
    yield (
        "the same on the expectation, which has an exact fit",
        f"{took:.2f} s, objective {model.objective_:.5g}, {model.status_.value}, {model.n_iter_} iterations",
    )


def beside() -> Iterator[Row]:
    """The rule of torchnmf, transcribed: gradients by autograd, a loss every ten iterations, at most 200 of them, tol 1e-4."""
    X, tiny = counts(), float(torch.finfo(torch.float32).eps)
    size = float(X.mean() / 50) ** 0.5
    W, H = ((2 * size * torch.rand(rows, 50, device="cuda")).requires_grad_() for rows in (50_000, 5000))

    def step() -> None:
        for factor, other in ((W, H), (H, W)):
            factor.grad, fixed = None, other.detach()
            product = factor @ fixed.T if factor is W else fixed @ factor.T
            product.backward(X / (product.detach() + tiny))
            assert factor.grad is not None
            with torch.no_grad():
                factor.mul_(factor.grad.relu().add_(tiny).div_(fixed.sum(0).clamp_min(tiny)))

    def loss() -> float:
        with torch.no_grad():
            product = W @ H.T
            return float((torch.xlogy(X, X / product.clamp_min(tiny)) - X + product).sum(dtype=torch.float64))

    each = milliseconds(step, 10)
    with torch.no_grad():
        for factor in (W, H):
            factor.copy_(2 * size * torch.rand_like(factor))

    def fit() -> tuple[float, int]:
        first = before = loss()
        for iteration in range(1, 201):
            step()
            if iteration % 10 == 0:
                before, last = loss(), before
                if (last - before) / first < 1e-4:
                    break
        return before, iteration

    took, (reached, iterations) = _timed(fit)
    ours = milliseconds(_stepper(point_at(Model("W H", "kullback-leibler"), X, {"W": W.detach(), "H": H.detach().T.contiguous()})))
    yield "an iteration", f"{each:.2f} ms, ours {ours:.2f} ms, {each / ours:.1f}"
    model = NMF(50, divergence="kullback-leibler", random_state=0, callback=lambda progress: progress.objective <= reached)
    mine = seconds(lambda: model.fit(X))
    yield f"to the objective of its stop, {reached:.5g} after {iterations}", f"{took:.2f} s, ours {mine:.2f} s, {took / mine:.1f}"


def nonzeros() -> Iterator[Row]:
    """The I-divergence of sparse data, 10⁶ × 10⁵ with 10⁸ non-zeros, r = 50: an iteration, products of cuSPARSE, and by hand."""
    m, n, each, r = 10**6, 10**5, 100, 50
    torch.manual_seed(0)
    columns = (torch.randint(0, n // each, (m, each), device="cuda") + torch.arange(0, n, n // each, device="cuda")).ravel()
    starts = torch.arange(0, m * each + 1, each, device="cuda")
    X = torch.sparse_csr_tensor(starts, columns, torch.rand(m * each, device="cuda") + 0.1, (m, n))
    W, H = torch.rand(m, r, device="cuda") + 0.1, torch.rand(r, n, device="cuda") + 0.1
    ours = milliseconds(_stepper(point_at(Model("W H", "kullback-leibler"), X, {"W": W, "H": H})), 5)
    turned = X.to_sparse_coo().T.coalesce().to_sparse_csr()
    V = H.T.contiguous()
    bare = milliseconds(lambda: (torch.sparse.mm(X, V), torch.sparse.mm(turned, W)), 5)

    def ratio(A: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        rows = torch.repeat_interleave(torch.arange(len(left), device="cuda"), A.crow_indices().diff())
        pieces = zip(*(array.split(2**22) for array in (rows, A.col_indices(), A.values())), strict=True)
        entries = torch.cat([x / (left[i] * right[j]).sum(1) for i, j, x in pieces])
        return torch.sparse_csr_tensor(A.crow_indices(), A.col_indices(), entries, A.shape)

    def by_hand() -> None:
        W1 = W * torch.sparse.mm(ratio(X, W, V), V) / V.sum(0)
        _ = V * torch.sparse.mm(ratio(turned, V, W1), W1) / W1.sum(0)

    hand = milliseconds(by_hand, 3)
    yield "an iteration", f"{ours:.1f} ms, both products by cuSPARSE {bare:.1f} ms, PyTorch by hand {hand:.1f} ms"


def iteration() -> Iterator[Row]:
    """A multiplicative step beside its bare products."""
    for samples, features, r in ((5000, 20_000, 50), (1000, 200_000, 20), (2000, 300_000, 100)):
        X, W = torch.rand(samples, features, device="cuda"), torch.rand(features, r, device="cuda")
        for constraint in ("free", "orthogonal"):
            model = Model("X W W.T", "euclidean", {} if constraint == "free" else {"W": "orthogonal"})
            point = point_at(model, X, {"W": W})
            ours, bare = milliseconds(_stepper(point)), milliseconds(lambda X=X, W=W: X.T @ (X @ W))
            label = f"X W Wᵀ, {constraint}, {samples} × {features}, r = {r}"
            yield label, f"{ours:.2f} ms, bare products {bare:.2f} ms, {ours / bare:.2f}"
        del X


def starts() -> Iterator[Row]:
    """Ten starts beside one."""
    X = planted(20_000, 500, 20)
    for cls in (OPNMF, NMF):
        one, ten = (seconds(lambda n=n, cls=cls: cls(20, n_init=n, random_state=0).fit(X), 5) for n in (1, 10))
        yield f"{cls.__name__}(20), 500 × 20 000: one start, ten starts", f"{one:.3f} s, {ten:.3f} s, {ten / one:.1f}"


def scan() -> Iterator[Row]:
    """Ten ranks, each from ten starts, of data of the size of CBCL's faces."""
    X = planted(361, 2429, 25)
    for cls in (OPNMF, NMF):
        took = seconds(lambda cls=cls: rank_scan(cls(), X, range(5, 55, 5), criteria=Restarts(10), random_state=0), 1)
        yield f"rank_scan({cls.__name__}()), 2429 × 361, ranks 5, 10, … 50", f"{took:.2f} s"


def small() -> Iterator[Row]:
    """A small problem on the card, where device="auto" takes it, and on the host."""
    X = planted(361, 2429, 49).cpu().numpy()
    took = (seconds(lambda where=where: OPNMF(49, random_state=0, device=where).fit(X)) for where in ("cuda", "auto", None))
    yield "OPNMF(49), 2429 × 361: card, auto, host", ", ".join(f"{each:.3f} s" for each in took)


GROUPS = {group.__name__: group for group in (parts, entries, beside, nonzeros, iteration, starts, scan, small)}


if __name__ == "__main__":
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {date.today()}")
    for name in sys.argv[1:] or GROUPS:
        print(f"\n{name}: {GROUPS[name].__doc__}")
        for label, result in GROUPS[name]():
            print(f"  {label}: {result}", flush=True)
