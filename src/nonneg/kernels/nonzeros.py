"""Triton kernels for CUDA over the stored entries of a sparse matrix in rows: products, and products with X^p ∘ X̂^e.

A program holds a piece of a row, gathers the rows of V that its entries need, makes X̂ there, and multiplies. Rows are cut into
pieces of bounded length, whose sums are added in a fixed order, without atomic additions: same input, same bits.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from .fused import _raise, padded

Array = Any
WIDEST = 128
"""Columns of a factor that a program holds; wider ones are gone over in parts."""
_TOGETHER, _WARPS = 16, 1
"""Entries of a piece that are worked on together, and warps of threads that do: the quickest of nine on an H200, rank 50."""


@triton.jit
def _multiply(
    FIRST, ROW, PLACE, COLUMNS, X, U, V, M, OUT, EXTRA, LOGS,
    FLOOR: tl.constexpr, R: tl.constexpr, Q: tl.constexpr, BLOCK: tl.constexpr,
    DATA: tl.constexpr, POWER: tl.constexpr, RAISED: tl.constexpr,
    SAME: tl.constexpr, PRODUCT: tl.constexpr, LOG: tl.constexpr, LOG_POWER: tl.constexpr,
):  # fmt: skip
    """E·M for a piece of a row, with E = x^DATA · y^POWER if RAISED, else E = x; and Σ x^LOG_POWER ln y."""
    piece, k, r, q = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK), tl.arange(0, R), tl.arange(0, Q)
    row, first, last = tl.load(ROW + piece), tl.load(FIRST + piece), tl.load(FIRST + piece + 1)
    total, logs = tl.zeros((Q,), tl.float64), tl.zeros((BLOCK,), tl.float64)
    if RAISED or LOG:
        u = tl.load(U + row * R + r)
    for start in range(first, last, BLOCK):
        inside = start + k < last
        column = tl.load(COLUMNS + start + k, mask=inside, other=0).to(tl.int64)
        x = tl.load(X + start + k, mask=inside, other=1.0)
        if RAISED or LOG:
            v = tl.load(V + column[:, None] * R + r[None, :], mask=inside[:, None], other=0.0)
            y = tl.maximum(tl.sum(u[None, :] * v, 1), FLOOR).to(x.dtype)
        if PRODUCT:
            e = tl.where(inside, _raise(x, DATA) * _raise(y, POWER) if RAISED else x, 0.0)
            w = v if SAME else tl.load(M + column[:, None] * Q + q[None, :], mask=inside[:, None], other=0.0)
            total += tl.sum(e[:, None] * w, 0).to(tl.float64)
        if LOG:
            logs += tl.where(inside, _raise(x, LOG_POWER) * tl.log(y), 0.0).to(tl.float64)
    if PRODUCT:
        place = tl.load(PLACE + piece)
        if place >= 0:
            tl.store(OUT + place * Q + q, total)
        else:
            tl.store(EXTRA + (-place - 1) * Q + q, total)
    if LOG:
        tl.store(LOGS + piece, tl.sum(logs, 0))


@triton.jit
def _add_pieces(LONG, BEGIN, END, EXTRA, OUT, Q: tl.constexpr):
    """Add the sums of further pieces of a long row to that of its first."""
    number, q = tl.program_id(0), tl.arange(0, Q)
    row, first, last = tl.load(LONG + number), tl.load(BEGIN + number), tl.load(END + number)
    total = tl.load(OUT + row * Q + q)
    for piece in range(first, last):
        total += tl.load(EXTRA + piece * Q + q)
    tl.store(OUT + row * Q + q, total)


@triton.jit
def _sample(FIRST, ROW, COLUMNS, U, V, Y, R: tl.constexpr, BLOCK: tl.constexpr, ADDS: tl.constexpr):
    """The entries of U·Vᵀ in the places of a piece of a row; added to Y if ADDS."""
    piece, k, r = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK), tl.arange(0, R)
    row, first, last = tl.load(ROW + piece), tl.load(FIRST + piece), tl.load(FIRST + piece + 1)
    u = tl.load(U + row * R + r)
    for start in range(first, last, BLOCK):
        inside = start + k < last
        column = tl.load(COLUMNS + start + k, mask=inside, other=0).to(tl.int64)
        v = tl.load(V + column[:, None] * R + r[None, :], mask=inside[:, None], other=0.0)
        y = tl.sum(u[None, :] * v, 1)
        if ADDS:
            y += tl.load(Y + start + k, mask=inside, other=0.0)
        tl.store(Y + start + k, y, mask=inside)


def multiplied(pattern: Any, entries: Array, M: Array) -> Array:
    """E·M, for a sparse E with these entries."""
    parts: list[Any] = [_run(pattern, entries, M[:, start : start + WIDEST])[0] for start in range(0, M.shape[1], WIDEST)]
    return parts[0] if len(parts) == 1 else torch.cat(parts, 1)


def sampled(pattern: Any, U: Array, V: Array) -> Array:
    """The entries of U·Vᵀ in the places of a pattern."""
    found = torch.empty(len(pattern.columns), device=U.device, dtype=U.dtype)
    pieces = pattern.pieces
    for start in range(0, U.shape[1], WIDEST):
        left, right = (padded(side[:, start : start + WIDEST]) for side in (U, V))
        _sample[(len(pieces.row),)](
            pieces.first, pieces.row, pattern.columns, left, right, found,
            R=left.shape[1], BLOCK=_TOGETHER, ADDS=start > 0, num_warps=_WARPS,
        )  # fmt: skip
    return found


def raised(
    pattern: Any,
    entries: Array,
    U: Array,
    V: Array,
    exponents: tuple[float, float],
    M: Array | None,
    floor: float,
    log_power: float | None = None,
) -> tuple[Array | None, Array | None]:
    """E·M for E = X^p ∘ X̂^e with X̂ = U·Vᵀ ≥ floor, and Σ X^log_power · ln X̂; nothing as long as the entries is stored."""
    return _run(pattern, entries, M, (U, V), exponents, floor, log_power)


def _run(
    pattern: Any,
    entries: Array,
    M: Array | None,
    sides: tuple[Array, Array] | None = None,
    exponents: tuple[float, float] = (1.0, 0.0),
    floor: float = 0.0,
    log_power: float | None = None,
) -> tuple[Array | None, Array | None]:
    pieces, rows = pattern.pieces, pattern.shape[0]
    U, V = (entries, entries) if sides is None else map(padded, sides)
    is_same = sides is not None and M is not None and (M.data_ptr(), M.shape, M.stride()) == _place(sides[1])
    matrix = V if M is None or is_same else padded(M)
    width = 16 if M is None else matrix.shape[1]
    out = torch.empty((rows, width), device=entries.device, dtype=torch.float64)
    extra = torch.empty((len(pieces.row) - rows, width), device=entries.device, dtype=torch.float64)
    logs = torch.empty(len(pieces.row) if log_power is not None else 0, device=entries.device, dtype=torch.float64)
    _multiply[(len(pieces.row),)](
        pieces.first, pieces.row, pieces.place, pattern.columns, entries, U, V, matrix, out, extra, logs, FLOOR=floor,
        R=16 if sides is None else U.shape[1], Q=width, BLOCK=_TOGETHER, DATA=float(exponents[0]), POWER=float(exponents[1]),
        RAISED=sides is not None, SAME=is_same, PRODUCT=M is not None, LOG=log_power is not None,
        LOG_POWER=float(log_power or 0), num_warps=_WARPS,
    )  # fmt: skip
    if M is not None and len(pieces.long):
        _add_pieces[(len(pieces.long),)](pieces.long, pieces.begin, pieces.end, extra, out, Q=width)
    return None if M is None else out[:, : M.shape[1]].to(entries.dtype), None if log_power is None else logs.sum()


def _place(matrix: Array) -> tuple[Any, ...]:
    return matrix.data_ptr(), matrix.shape, matrix.stride()
