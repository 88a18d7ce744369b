"""Runs every Triton kernel once on a card, on shapes that no tile divides, for compute-sanitizer."""

import os

os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"  # or memory beside an array would belong to PyTorch's cache
os.environ["TRITON_INTERPRET"] = "0"

import pkgutil
from importlib import import_module
from typing import NamedTuple

import array_api_compat.torch as xp
import numpy as np
import torch
import triton
from scipy import sparse

import nonneg.kernels
from nonneg.data.device_sparse import DeviceSparse
from nonneg.data.steps import Request
from nonneg.kernels import compressed, fused
from nonneg.kernels.namespace import Namespace


class Powers(NamedTuple):
    exponents: tuple[float, float]


def draw(*shape, dtype=torch.float32):
    return torch.rand(shape, device="cuda", dtype=dtype) + 0.1


def run():
    X, U, V = draw(150, 85), draw(150, 5), draw(5, 85)
    requests = [
        Request(Powers((1.0, -1.0)), "right", V.T),
        Request(Powers((0.0, 0.3)), "right", V.T),
        Request(Powers((1.0, -1.0)), "left", draw(4, 150)),
    ]
    fused.visit(X, 2.0, U, V, requests, 1e-19, 1.0)
    fused.visit(X.T.contiguous().T, 2.0, U, V, requests, 1e-19, 1.0)
    for rank in (6, 70):
        H = draw(2, rank, 90)
        fused.STEPS.rows(draw(2, 41, rank), draw(2, 41, rank), H @ H.mT, 0.25, 2, 0.1)
    for rank, linear in ((5, torch.ones(2, device="cuda", dtype=torch.float64)), (40, None)):
        fused.STEPS.share(*(F.mT @ F for F in draw(6, 2, 30, rank)), linear, 12)
        fused.largest_eigenvalue(draw(rank, rank))
    fused.bounded_ratio(draw(50, 41), draw(50, 41), 0.2, 4.0)
    compressed._LENGTH = 20
    for dtype in (torch.float32, torch.float64):
        host = sparse.random_array((37, 200), density=0.2, rng=np.random.default_rng(0), format="csr")
        S = DeviceSparse.of(host, Namespace(xp, dtype, torch.device("cuda", 0))).values
        S @ draw(200, 150, dtype=dtype)
        S.T @ draw(37, 3, dtype=dtype)
        S.at_entries(draw(37, 140, dtype=dtype), draw(200, 140, dtype=dtype), 1e-19)
        S.raised(draw(37, 5, dtype=dtype), draw(200, 5, dtype=dtype), (1.0, -0.7), draw(200, 9, dtype=dtype), 1e-19, 1.0)
    torch.cuda.synchronize()


def launched():
    """The kernels of all modules, and whether each was compiled or is a part of others."""
    for found in pkgutil.iter_modules(nonneg.kernels.__path__):
        module = import_module(f"nonneg.kernels.{found.name}")
        for name, kernel in vars(module).items():
            if isinstance(kernel, triton.runtime.JITFunction) and kernel.__module__ == module.__name__:
                yield f"{found.name}.{name}", bool(kernel.device_caches) or name in PARTS


PARTS = {"_raise", "_entries"}

if __name__ == "__main__":
    run()
    left_out = [name for name, was in launched() if not was]
    print(f"not run: {left_out}" if left_out else "all kernels ran")
