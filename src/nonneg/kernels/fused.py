"""Triton kernels for CUDA: products with X^p ∘ X̂^e that form no X̂, and coordinate descent in all rows at once.

As in flash attention, a program holds a block of rows, walks over blocks of columns, makes a tile of X̂ = U·V, loads the tile of X
once, and multiplies. Ranges of a long side are summed in a fixed order, without atomic additions: same input, same bits.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from .projective import Steps
from .tuned import tuned

Array = Any
WIDEST = 128
"""Components, at most: a tile of more does not fit into the registers."""
_PROGRAMS = 512
"""Programs that keep a card busy."""


@triton.jit
def _raise(x, EXPONENT: tl.constexpr):
    """x^EXPONENT, of x > 0; zero to a positive power is zero."""
    if EXPONENT == 0:
        y = tl.full(x.shape, 1.0, x.dtype)
    elif EXPONENT == 1:
        y = x
    elif EXPONENT == 2:
        y = x * x
    elif EXPONENT == -1:
        y = 1.0 / x
    elif EXPONENT == -2:
        y = 1.0 / (x * x)
    elif EXPONENT == 0.5:
        y = tl.sqrt(x)
    elif EXPONENT == -0.5:
        y = 1.0 / tl.sqrt(x)
    else:
        least = 1.2e-38 if x.dtype == tl.float32 else 1e-307  # the lowest that have their type: others would be doubles
        y = tl.where(x > 0, tl.exp2(EXPONENT * tl.log2(tl.maximum(x, least))), 0.0).to(x.dtype)
    return y  # the only one: some versions of Triton refuse a return within an `if`


@triton.jit
def _entries(x, y, inside, DATA: tl.constexpr, POWER: tl.constexpr):
    """x^DATA · y^POWER inside of the matrix, zero outside."""
    if DATA == 1 and POWER == -1:
        e = x / y
    elif DATA == 0:
        e = _raise(y, POWER)
    else:
        e = _raise(x, DATA) * _raise(y, POWER)
    return tl.where(inside, e, 0.0)


@triton.jit
def _by_rows(
    X, U, V, M, OUT, SECOND, LOGS, m, n, stride, scale, floor, span,
    R: tl.constexpr, Q: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, UNIT: tl.constexpr,
    DATA: tl.constexpr, POWER: tl.constexpr, DATA2: tl.constexpr, POWER2: tl.constexpr, TWO: tl.constexpr,
    LOG: tl.constexpr, LOG_POWER: tl.constexpr, SAME: tl.constexpr, PRODUCTS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """E·M for a block of rows and a range of columns, and Σ x^LOG_POWER ln y of each row.

    Rows of X are `stride` times UNIT entries apart, and n is a multiple of UNIT: so many entries are loaded at once.
    """
    rows = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    part, r, q = tl.program_id(1), tl.arange(0, R), tl.arange(0, Q)
    first, last = part * span, tl.minimum(part * span + span, n)
    is_row = rows[:, None] < m
    u = tl.load(U + rows[:, None] * R + r[None, :], mask=is_row, other=0.0)
    total, second = tl.zeros((BM, Q), tl.float32), tl.zeros((BM, Q), tl.float32)
    logs = tl.zeros((BM, BN), tl.float32)
    for start in range(first, last, BN):
        columns = start + tl.arange(0, BN)
        is_column = tl.max_constancy(columns < last, [UNIT])
        v = tl.load(V + columns[:, None] * R + r[None, :], mask=is_column[:, None], other=0.0)
        inside = is_row & is_column[None, :]
        x = tl.load(X + rows[:, None] * (stride * UNIT) + columns[None, :], mask=inside, other=1.0) * scale
        y = tl.maximum(tl.dot(u, tl.trans(v), input_precision=PRECISION), floor)
        if PRODUCTS:
            w = v if SAME else tl.load(M + columns[:, None] * Q + q[None, :], mask=is_column[:, None], other=0.0)
            total = tl.dot(_entries(x, y, inside, DATA, POWER), w, total, input_precision=PRECISION)
            if TWO:
                second = tl.dot(_entries(x, y, inside, DATA2, POWER2), w, second, input_precision=PRECISION)
        if LOG:
            logs += tl.where(inside, _raise(x, LOG_POWER) * tl.log(y), 0.0)
    place = part.to(tl.int64) * m + rows
    if PRODUCTS:
        tl.store(OUT + place[:, None] * Q + q[None, :], total, mask=is_row)
        if TWO:
            tl.store(SECOND + place[:, None] * Q + q[None, :], second, mask=is_row)
    if LOG:
        tl.store(LOGS + place, tl.sum(logs.to(tl.float64), 1), mask=rows < m)


@triton.jit
def _by_columns(
    X, U, V, N, OUT, SECOND, LOGS, m, n, stride, scale, floor, span,
    R: tl.constexpr, Q: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, UNIT: tl.constexpr,
    DATA: tl.constexpr, POWER: tl.constexpr, DATA2: tl.constexpr, POWER2: tl.constexpr, TWO: tl.constexpr,
    LOG: tl.constexpr, LOG_POWER: tl.constexpr, SAME: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Eᵀ·N for a block of columns and a range of rows, and Σ x^LOG_POWER ln y of each column."""
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    part, r, q = tl.program_id(1), tl.arange(0, R), tl.arange(0, Q)
    first, last = part * span, tl.minimum(part * span + span, m)
    is_column = tl.max_constancy(columns < n, [UNIT])
    v = tl.load(V + columns[:, None] * R + r[None, :], mask=is_column[:, None], other=0.0)
    total, second = tl.zeros((BN, Q), tl.float32), tl.zeros((BN, Q), tl.float32)
    logs = tl.zeros((BM, BN), tl.float32)
    for start in range(first, last, BM):
        rows = (start + tl.arange(0, BM)).to(tl.int64)
        is_row = rows < last
        u = tl.load(U + rows[:, None] * R + r[None, :], mask=is_row[:, None], other=0.0)
        w = u if SAME else tl.load(N + rows[:, None] * Q + q[None, :], mask=is_row[:, None], other=0.0)
        inside = is_row[:, None] & is_column[None, :]
        x = tl.load(X + rows[:, None] * (stride * UNIT) + columns[None, :], mask=inside, other=1.0) * scale
        y = tl.maximum(tl.dot(u, tl.trans(v), input_precision=PRECISION), floor)
        total = tl.dot(tl.trans(_entries(x, y, inside, DATA, POWER)), w, total, input_precision=PRECISION)
        if TWO:
            second = tl.dot(tl.trans(_entries(x, y, inside, DATA2, POWER2)), w, second, input_precision=PRECISION)
        if LOG:
            logs += tl.where(inside, _raise(x, LOG_POWER) * tl.log(y), 0.0)
    place = part.to(tl.int64) * n + columns
    tl.store(OUT + place[:, None] * Q + q[None, :], total, mask=is_column[:, None])
    if TWO:
        tl.store(SECOND + place[:, None] * Q + q[None, :], second, mask=is_column[:, None])
    if LOG:
        tl.store(LOGS + place, tl.sum(logs.to(tl.float64), 0), mask=is_column)


@triton.jit
def _coordinate_rows(
    F, C, QUADRATIC, OUT, m, r, of_point, of_row, out_point, out_row, penalty, firmness,
    R: tl.constexpr, BM: tl.constexpr, PASSES: tl.constexpr,
):  # fmt: skip
    """Move each entry of a block of rows to its minimum, in turn. A warp holds the block; the last strides of arrays are 1."""
    rows, k = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM), tl.arange(0, R)
    rows, k = tl.max_contiguous(rows, 1), tl.max_contiguous(k, 1)  # or a warp would go along a row: the longest way to its sums
    point = tl.program_id(1).to(tl.int64)
    is_row, is_component = rows < m, k < r
    inside = is_component[:, None] & is_row[None, :]
    begun, target = F + point * of_point + rows * of_row, C + (point * m + rows) * r
    f = tl.load(begun[None, :] + k[:, None], mask=inside, other=0.0)
    quadratic = QUADRATIC + point * r * r
    curvature = tl.load(quadratic + k * (r + 1), mask=is_component, other=0.0)
    firm = firmness * tl.sum(curvature, 0)
    used = tl.max(tl.where((curvature > 0) | (tl.sum(f, 1) > 0), k + 1, 0), 0)  # a batch may have points of fewer components
    for _ in range(PASSES):
        for j in range(used):
            others = tl.load(quadratic + j * r + k, mask=is_component & (k != j), other=0.0)
            own = tl.load(quadratic + j * r + j) + firm
            c = tl.load(target + j, mask=is_row, other=0.0) + firm * tl.load(begun + j, mask=is_row, other=0.0) - penalty
            new = tl.maximum((c - tl.sum(f * others[:, None], 0)) * (1.0 / tl.maximum(own, 1e-37)), 0.0)
            f = tl.where(k[:, None] == tl.where(own > 0, j, -1), new[None, :], f)
    place = OUT + point * out_point + rows * out_row
    tl.store(place[None, :] + k[:, None], f, mask=inside)


@triton.jit
def _line(
    B, G, MIXED, B2, CROSS, G2, LINEAR, NEW, SHARE, NUMBERS,
    r, R: tl.constexpr, ROWS: tl.constexpr, SHARES: tl.constexpr, HAS_LINEAR: tl.constexpr,
):  # fmt: skip
    """`projective.best_share` of one point, in double precision: r × r matrices come in ranges of rows."""
    point = tl.program_id(0).to(tl.int64)
    first_entry, k = point * r * r, tl.arange(0, R)
    traced, halved = tl.zeros((ROWS, R), tl.float64), tl.zeros((ROWS, R), tl.float64)
    first, second = tl.zeros((ROWS, R), tl.float64), tl.zeros((ROWS, R), tl.float64)
    third, fourth = tl.zeros((ROWS, R), tl.float64), tl.zeros((ROWS, R), tl.float64)
    for start in range(0, r, ROWS):
        i = start + tl.arange(0, ROWS)
        inside, on_diagonal = (i[:, None] < r) & (k[None, :] < r), i[:, None] == k[None, :]
        place, turned = first_entry + i[:, None] * r + k[None, :], first_entry + k[None, :] * r + i[:, None]
        b = tl.load(B + place, mask=inside, other=0.0).to(tl.float64)
        g = tl.load(G + place, mask=inside, other=0.0).to(tl.float64)
        b2 = tl.load(B2 + place, mask=inside, other=0.0).to(tl.float64)
        g2 = tl.load(G2 + place, mask=inside, other=0.0).to(tl.float64)
        b1 = tl.load(MIXED + place, mask=inside, other=0.0).to(tl.float64) + tl.load(MIXED + turned, mask=inside, other=0.0)
        g1 = tl.load(CROSS + place, mask=inside, other=0.0).to(tl.float64) + tl.load(CROSS + turned, mask=inside, other=0.0)
        traced += tl.where(on_diagonal, b, 0.0)
        halved += b * g / 2
        first += (b * g1 + b1 * g) / 2 - tl.where(on_diagonal, b1, 0.0)
        second += (b * g2 + b1 * g1 + b2 * g) / 2 - tl.where(on_diagonal, b2, 0.0)
        third += (b1 * g2 + b2 * g1) / 2
        fourth += b2 * g2 / 2
    one, two = tl.sum(tl.sum(first, 1), 0), tl.sum(tl.sum(second, 1), 0)
    three, four = tl.sum(tl.sum(third, 1), 0), tl.sum(tl.sum(fourth, 1), 0)
    if HAS_LINEAR:
        one += tl.load(LINEAR + point)
    share, lowest = 0.0 * one, 0.0 * one
    t = 1.0 + 0.0 * one
    for _ in range(SHARES):
        value = t * (one + t * (two + t * (three + t * four)))
        share = tl.where(value < lowest, t, share)
        lowest = tl.where(value < lowest, value, lowest)
        t = t / 2
    trace, half = tl.sum(tl.sum(traced, 1), 0), tl.sum(tl.sum(halved, 1), 0)
    tl.store(SHARE + point, share.to(SHARE.dtype.element_ty))
    tl.store(NUMBERS + 2 * point, half - trace + lowest)
    tl.store(NUMBERS + 2 * point + 1, half + trace)
    for start in range(0, r, ROWS):
        i = start + tl.arange(0, ROWS)
        inside = (i[:, None] < r) & (k[None, :] < r)
        place, turned = first_entry + i[:, None] * r + k[None, :], first_entry + k[None, :] * r + i[:, None]
        g = tl.load(G + place, mask=inside, other=0.0).to(tl.float64)
        g2 = tl.load(G2 + place, mask=inside, other=0.0).to(tl.float64)
        g1 = tl.load(CROSS + place, mask=inside, other=0.0).to(tl.float64) + tl.load(CROSS + turned, mask=inside, other=0.0)
        tl.store(NEW + place, (g + share * (g1 + share * g2)).to(NEW.dtype.element_ty), mask=inside)


@triton.jit
def _largest_eigenvalue(G, OUT, r, R: tl.constexpr, SQUARINGS: tl.constexpr, PRECISION: tl.constexpr):
    """The Rayleigh quotient of a column of a power of G, which is squared again and again."""
    i = tl.arange(0, R)
    g = tl.load(G + i[:, None] * r + i[None, :], mask=(i[:, None] < r) & (i[None, :] < r), other=0.0)
    on_diagonal = i[:, None] == i[None, :]
    p = g / tl.maximum(tl.sum(tl.sum(tl.where(on_diagonal, g, 0.0), 1), 0), 1e-37)
    for _ in range(SQUARINGS):
        p = tl.dot(p, p, input_precision=PRECISION)
        p = p / tl.maximum(tl.sum(tl.sum(tl.where(on_diagonal, p, 0.0), 1), 0), 1e-37)
    v = tl.sum(p, 0)
    tl.store(OUT, tl.sum(tl.sum(g * v[None, :], 1) * tl.sum(p, 1), 0) / tl.maximum(tl.sum(v * v, 0), 1e-37))


@triton.jit
def _ratio(NUMERATOR, DENOMINATOR, OUT, count, least, most, BLOCK: tl.constexpr):
    """A range of entries of `bounded_ratio`."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    n = tl.load(NUMERATOR + place, mask=place < count, other=0.0)
    d = tl.load(DENOMINATOR + place, mask=place < count, other=1.0)
    ratio = n / tl.where(d < least, least, d)
    ratio = tl.where(ratio < 0.0, 0.0, tl.where(ratio > most, most, ratio))  # NaN stays, and is noticed later
    tl.store(OUT + place, ratio, mask=place < count)


class Tiles(NamedTuple):
    """The shape of a tile of X, warps and stages of its pipeline."""

    rows: int
    columns: int
    warps: int
    stages: int


PRECISIONS = {"highest": "bf16x6", "high": "bf16x3", "medium": "tf32"}
"""Products of tiles by PyTorch's `get_float32_matmul_precision`: as exact as float32, to 4e-7, and to 1e-4."""
_WIDE = 64
"""Columns of a factor beyond which tiles are narrower, to fit into registers."""
_TILES = {
    "highest": (Tiles(64, 64, 4, 3), Tiles(64, 64, 4, 2)),
    "high": (Tiles(64, 64, 4, 3), Tiles(64, 64, 4, 3)),
    "medium": (Tiles(64, 128, 4, 2), Tiles(64, 128, 4, 2)),
}
"""Tiles of passes by rows, and by columns: the fastest of twelve on an H200, of 50 000 × 5000, r = 50."""
_NARROW = Tiles(64, 32, 4, 2)


def can_visit(X: Array, *widths: int) -> bool:
    """Whether the kernels take an array, beside matrices with so many columns."""
    return X.is_cuda and X.dtype == torch.float32 and 1 in X.stride() and max(widths) <= WIDEST


class _Product(NamedTuple):
    """E·M, or Eᵀ·M if `is_left`, for E = X^data ∘ X̂^power."""

    exponents: tuple[float, float]
    M: Array
    is_left: bool


def visit(
    X: Array, unit: float, U: Array, V: Array, requests: Sequence[Any], floor: float, log_power: float | None = None
) -> tuple[list[Array], Array | None]:
    """The products of `Data.visit` for X/unit and X̂ = U·V ≥ floor. Requests for the same matrix share passes, two and two."""
    products = [
        _Product(request.operand.exponents, request.matrix if request.side == "right" else request.matrix.T, request.side == "left")
        for request in requests
    ]
    if X.stride(1) != 1:
        X, U, V = X.T, V.T, U.T
        products = [product._replace(is_left=not product.is_left) for product in products]
    results, logarithm = _Visit(X, 1.0 / unit, U, V.T, padded(U), padded(V.T), floor).run(products, log_power)
    return [result.T if request.side == "left" else result for request, result in zip(requests, results, strict=True)], logarithm


class _Visit(NamedTuple):
    """Passes over X, whose rows are in one piece; X̂ = left · rightᵀ, padded U and VT."""

    X: Array
    scale: float
    left: Array
    right: Array
    U: Array
    VT: Array
    floor: float

    def run(self, products: Sequence[_Product], log_power: float | None) -> tuple[list[Array], Array | None]:
        results: dict[int, Array] = {}
        logarithm = None
        for places in _pairs(products):
            first = products[places[0]]
            exponents = [products[place].exponents for place in places]
            walk = self._by_columns if first.is_left else self._by_rows
            sums, total = walk(exponents, first.M, log_power if logarithm is None else None)
            logarithm = total if logarithm is None else logarithm
            results.update(zip(places, sums, strict=True))
        if log_power is not None and logarithm is None:
            _, logarithm = self._by_rows([], None, log_power)
        return [results[place] for place in range(len(products))], logarithm

    def _by_rows(
        self, exponents: Sequence[tuple[float, float]], M: Array | None, log_power: float | None
    ) -> tuple[list[Array], Array | None]:
        (m, n), R = self.X.shape, self.U.shape[1]
        matrix, width, tiles = self._operand(M, self.right, self.VT, 0)
        span, parts = _ranges(n, triton.cdiv(m, tiles.rows), tiles.columns)
        out, logs = self._results(exponents, parts, m, matrix, log_power)
        _by_rows[triton.cdiv(m, tiles.rows), parts](
            self.X, self.U, self.VT, matrix, out[0], out[-1], logs, m, n, self.X.stride(0) // self.unit, self.scale, self.floor,
            span, R=R, **self._options(exponents, matrix, tiles, log_power), SAME=matrix is self.VT, PRODUCTS=bool(exponents),
        )  # fmt: skip
        return [_added(parts)[:, :width] for parts in out[: len(exponents)]], None if log_power is None else logs.sum()

    def _by_columns(
        self, exponents: Sequence[tuple[float, float]], M: Array, log_power: float | None
    ) -> tuple[list[Array], Array | None]:
        (m, n), R = self.X.shape, self.U.shape[1]
        matrix, width, tiles = self._operand(M, self.left, self.U, 1)
        span, parts = _ranges(m, triton.cdiv(n, tiles.columns), tiles.rows)
        out, logs = self._results(exponents, parts, n, matrix, log_power)
        _by_columns[triton.cdiv(n, tiles.columns), parts](
            self.X, self.U, self.VT, matrix, out[0], out[-1], logs, m, n, self.X.stride(0) // self.unit, self.scale, self.floor,
            span, R=R, **self._options(exponents, matrix, tiles, log_power), SAME=matrix is self.U,
        )  # fmt: skip
        return [_added(parts)[:, :width] for parts in out], None if log_power is None else logs.sum()

    def _results(
        self, exponents: Sequence[Any], parts: int, length: int, matrix: Array, log_power: float | None
    ) -> tuple[list[Array], Array]:
        """Arrays for sums over ranges of a side, and for those of logarithms; others in place of those that are not needed."""
        out = [self._empty(parts, length, matrix.shape[1]) for _ in exponents] or [self.U]
        if log_power is None:
            return out, out[0]
        return out, torch.empty((parts, length), device=self.X.device, dtype=torch.float64)

    def _operand(self, M: Array | None, factor: Array, own: Array, side: int) -> tuple[Array, int, Tiles]:
        """The matrix to multiply with, `own` if it is this factor, its columns before padding, and the tiles that fit."""
        matrix = own if M is None or _place(M) == _place(factor) else padded(M)
        is_wide = max(own.shape[1], matrix.shape[1]) > _WIDE
        tiles = _NARROW if is_wide else _TILES[torch.get_float32_matmul_precision()][side]
        return matrix, factor.shape[1] if M is None else M.shape[1], tiles

    def _options(
        self, exponents: Sequence[tuple[float, float]], matrix: Array, tiles: Tiles, log_power: float | None
    ) -> dict[str, Any]:
        (a, b), (c, d) = [*exponents, (0.0, 0.0), (0.0, 0.0)][:2]
        return {
            "Q": matrix.shape[1], "BM": tiles.rows, "BN": tiles.columns, "UNIT": self.unit, "DATA": a, "POWER": b,
            "DATA2": c, "POWER2": d,
            "LOG": log_power is not None, "LOG_POWER": log_power or 0.0, "TWO": len(exponents) == 2,
            "PRECISION": PRECISIONS[torch.get_float32_matmul_precision()],
            "num_warps": tiles.warps, "num_stages": tiles.stages,
        }  # fmt: skip

    @property
    def unit(self) -> int:
        """Entries of a row that can be loaded at once: so many divide its length, and the distance to the next."""
        return 4 if self.X.stride(0) % 4 == 0 and self.X.shape[1] % 4 == 0 else 1

    def _empty(self, *shape: int) -> Array:
        return torch.empty(shape, device=self.X.device, dtype=torch.float32)


def _pairs(products: Sequence[_Product]) -> list[list[int]]:
    """Products with the same matrix on the same side, two and two, by number."""
    groups: dict[Any, list[int]] = {}
    for number, product in enumerate(products):
        groups.setdefault((product.is_left, _place(product.M)), []).append(number)
    return [group[start : start + 2] for group in groups.values() for start in range(0, len(group), 2)]


def _place(matrix: Array) -> tuple[Any, ...]:
    """The memory of a matrix: the same for two views of one."""
    return matrix.data_ptr(), matrix.shape, matrix.stride()


def _added(parts: Array) -> Array:
    return parts[0] if len(parts) == 1 else parts.sum(0)


def padded(matrix: Array) -> Array:
    """A matrix in rows, with columns of zeros up to a power of two, 16 at least."""
    return torch.nn.functional.pad(matrix, (0, max(16, triton.next_power_of_2(matrix.shape[1])) - matrix.shape[1])).contiguous()


def _ranges(length: int, blocks: int, step: int) -> tuple[int, int]:
    """Length of the ranges that a side is cut into so that all of the card works, and their number."""
    pieces = max(1, min(_PROGRAMS // max(blocks, 1), -(-length // (4 * step))))
    span = -(-length // (pieces * step)) * step
    return span, -(-length // span)


_GROUP = 32
"""Components that are gone over together if there are more than `_WIDE`: a step of few is shorter than one of many."""
_ROWS, _MANY_ROWS, _MANY = tuned((8, 32, 2**16), by="gpu", on="2026-11-20")
"""Rows of a warp: four threads for each, so that sums over components are short; of many rows one for each, which is less work."""


def _move_rows(F: Array, C: Array, Q: Array, penalty: float = 0.0, passes: int = 1, firmness: float = 0.0) -> Array:
    """`projective.coordinate_rows` for tensors.

    Parameters
    ----------
    F, C : tensors of shape (..., m, r)
    Q : tensor of shape (..., r, r)

    Returns
    -------
    tensor
        The new F.
    """
    *points, m, r = F.shape
    f, C, Q = F.reshape(-1, m, r), C.reshape(-1, m, r).contiguous(), Q.reshape(-1, r, r).contiguous()
    if r <= _WIDE:
        found = torch.empty_like(C)
        _descend(f, C, Q, found, penalty, passes, firmness / r)
        return found.reshape(*points, m, r)
    firm = firmness / r * Q.diagonal(dim1=-2, dim2=-1).sum(-1)[:, None, None]
    C, Q = C + firm * f, Q + firm * torch.eye(r, device=Q.device, dtype=Q.dtype)
    found, of = f.clone(memory_format=torch.contiguous_format), torch.arange(r, device=Q.device) // _GROUP
    others = torch.where(of[:, None] == of, torch.zeros_like(Q), Q)
    for _ in range(passes):
        for start in range(0, r, _GROUP):
            some = slice(start, min(start + _GROUP, r))
            part = torch.baddbmm(C[..., some], found, others[..., some], alpha=-1)
            _descend(found[..., some], part, Q[:, some, some].contiguous(), found[..., some], penalty, 1, 0.0)
    return found.reshape(*points, m, r)


def _descend(f: Array, c: Array, Q: Array, out: Array, penalty: float, passes: int, firmness: float) -> None:
    """The same of contiguous c and Q, into `out`, which may be f."""
    points, m, r = f.shape
    f, rows = f if f.stride(2) == 1 else f.contiguous(), _MANY_ROWS if points * m >= _MANY else _ROWS
    _coordinate_rows[triton.cdiv(m, rows), points](
        f, c, Q, out, m, r, *f.stride()[:2], *out.stride()[:2], penalty, firmness, R=max(4, triton.next_power_of_2(r)), BM=rows,
        PASSES=passes, num_warps=1,
    )  # fmt: skip


_TOGETHER = 1024
"""Entries of a small matrix that a program works on together."""


def _find_share(
    B: Array, G: Array, mixed: Array, B2: Array, cross: Array, square: Array, linear: Array | None, shares: int
) -> tuple[Array, Array, Array]:
    """`projective.best_share` for tensors of shape (..., r, r): one kernel in place of some forty."""
    *points, r, _ = B.shape
    new, share = torch.empty_like(B), torch.empty(points, device=B.device, dtype=B.dtype)
    numbers = torch.empty((*points, 2), device=B.device, dtype=torch.float64)
    R = max(2, triton.next_power_of_2(r))
    _line[(share.numel(),)](
        *(matrix.contiguous() for matrix in (B, G, mixed, B2, cross, square)), numbers if linear is None else linear, new, share,
        numbers, r, R=R, ROWS=max(1, _TOGETHER // R), SHARES=shares, HAS_LINEAR=linear is not None, num_warps=8,
    )  # fmt: skip
    return share[..., None, None], new, numbers


_ENTRIES = 1024
"""Entries of a range of entrywise work."""


def bounded_ratio(numerator: Array, denominator: Array, least: float, most: float) -> Array:
    """`host.bounded_ratio` of tensors of float32 in one walk."""
    numerator, denominator = numerator.contiguous(), denominator.contiguous()
    found, count = torch.empty_like(numerator), numerator.numel()
    _ratio[(triton.cdiv(count, _ENTRIES),)](numerator, denominator, found, count, least, most, BLOCK=_ENTRIES)
    return found


_SQUARINGS = 12
"""Squarings of a Gram matrix: an eigenvalue is missed by a share of 1e-4 at most, if others are as near as that."""


def largest_eigenvalue(gram: Array) -> Array:
    """The largest eigenvalue of a matrix without negative entries, a Gram matrix, as a 0-d tensor."""
    r = gram.shape[0]
    if r > WIDEST:
        return torch.linalg.eigvalsh(gram)[-1]
    found = torch.empty((), device=gram.device, dtype=gram.dtype)
    _largest_eigenvalue[(1,)](
        gram.contiguous(), found, r, R=max(16, triton.next_power_of_2(r)), SQUARINGS=_SQUARINGS, PRECISION=PRECISIONS["highest"],
        num_warps=8,
    )  # fmt: skip
    return found


STEPS = Steps(_move_rows, _find_share)
