"""Work on CUDA arrays by kernels of our own, where they serve."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from ..kernels.namespace import Array, Namespace
from .steps import Request, floor_of


@cache
def _has_triton() -> bool:
    return find_spec("torch") is not None and find_spec("triton") is not None


def has_kernels(namespace: Namespace) -> bool:
    """Whether arrays are PyTorch's, on CUDA, and Triton is there."""
    return namespace.xp.__name__.endswith("torch") and "cuda" in str(namespace.device) and _has_triton()


def visit(
    values: Array,
    unit: float,
    namespace: Namespace,
    U: Array,
    V: Array | None,
    requests: Sequence[Request],
    log_power: float | None,
) -> tuple[list[Array], Any] | None:
    """The results of `Data.visit` for values/unit, by kernels that form no X̂; None where they do not serve."""
    if V is None or not has_kernels(namespace) or any(r.operand.exponents is None or r.matrix is None for r in requests):
        return None
    from ..kernels import fused

    widths = [r.matrix.shape[1 if r.side == "right" else 0] for r in requests if r.matrix is not None]
    if not fused.can_visit(values, U.shape[1], *widths):
        return None
    return fused.visit(values, unit, U, V, requests, floor_of(namespace.xp, U.dtype), log_power)
