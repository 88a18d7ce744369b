"""PyTorch on CUDA and CuPy beside NumPy, on a machine that has them: the same objectives, and no waiting inside a step."""

import importlib.util
from collections.abc import Callable, Iterator

import numpy as np

from nonneg import Model, factorize
from nonneg.divergences import Alpha, Beta, DualI, Gamma, Renyi
from nonneg.solve.problem import point_at
from nonneg.solvers import Multiplicative

MODELS = [
    ("W H", {}, 5),
    ("W W.T X", {}, 5),
    ("W W.T X", {"W": "orthogonal"}, 5),
    ("W S H", {"W": "stochastic"}, (4, 5)),
    ("L L.T X R R.T", {}, (3, 4)),
]
DIVERGENCES = [Beta(2), Beta(1), Beta(0), Beta(0.5), Alpha(0.5), Gamma(0.5), Renyi(2), DualI()]


def libraries() -> Iterator[tuple[str, Callable[[np.ndarray], object]]]:
    if importlib.util.find_spec("torch"):
        import torch

        if torch.cuda.is_available():
            yield "torch", lambda array: torch.asarray(array, device="cuda")
    if importlib.util.find_spec("cupy"):
        import cupy

        yield "cupy", cupy.asarray


def difference(X: np.ndarray, move: Callable[[np.ndarray], object]) -> float:
    """The largest relative difference of final objectives from NumPy's, over models, divergences and solvers."""
    worst = 0.0
    for form, constraints, rank in MODELS:
        for divergence in DIVERGENCES:
            for solver in ("multiplicative", "adaptive"):
                model, settings = (
                    Model(form, divergence, constraints),
                    {"max_iter": 20, "tol": 0, "random_state": 0, "solver": solver},
                )
                host, device = (factorize(data, model, rank, **settings).objective for data in (X, move(X)))
                worst = max(worst, abs(host - device) / host)
    return worst


def steps_that_wait() -> Iterator[str]:
    """The models whose multiplicative step makes the host wait for the device."""
    import torch

    X = torch.rand((200, 120), device="cuda", dtype=torch.float64) + 0.1
    for form, constraints, rank in MODELS:
        model, solver = Model(form, "kullback-leibler", constraints), Multiplicative()
        point = point_at(model, X, factorize(X, model, rank, max_iter=0, random_state=0).factors)
        state = solver.new_state(point.problem)
        point = solver.step(point, state)
        torch.cuda.set_sync_debug_mode("error")
        try:
            solver.step(point, state)
        except RuntimeError as error:
            yield f"{model!r}: {error}"
        finally:
            torch.cuda.set_sync_debug_mode("default")


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = rng.random((200, 15)) @ rng.random((15, 120)) + 0.1
    for name, move in libraries():
        for dtype in (np.float64, np.float32):
            print(f"{name}, {dtype.__name__}: objectives differ from NumPy's by {difference(X.astype(dtype), move):.1e} at most")
        if name == "torch":
            print("steps that wait:", list(steps_that_wait()) or "none")
