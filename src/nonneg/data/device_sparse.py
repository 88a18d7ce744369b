"""Sparse data on a device: products and passes over the entries run there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import DataError
from ..kernels.compressed import Compressed, Pattern
from ..kernels.host import as_dense
from ..kernels.namespace import Array, Namespace, has_kernels, to_host
from .base import Data, Facts, Total, terms_of
from .dense import known_from
from .device import is_on_device, library_of
from .sparse import SparseData
from .steps import ElementwiseOperand, Request, floor_of
from .visiting import Pass, row_blocks


@dataclass(eq=False)
class DeviceSparse(SparseData):
    """A sparse array in rows, on a device. The product with a NumPy array is one, too."""

    values: Compressed

    @classmethod
    def of(cls, X: sparse.csr_array, namespace: Namespace) -> DeviceSparse:
        """A SciPy array, copied to a device."""
        wide = max(X.shape) >= 2**31
        columns = namespace.xp.asarray(X.indices.astype(np.int64 if wide else np.int32, copy=False), device=namespace.device)
        starts = namespace.xp.asarray(X.indptr.astype(np.int64), device=namespace.device)
        return cls.made(starts, columns, namespace.asarray(X.data), X.shape, namespace)

    @classmethod
    def made(cls, starts: Array, columns: Array, entries: Array, shape: tuple[int, int], namespace: Namespace) -> DeviceSparse:
        """Three arrays on a device, as those of SciPy's arrays in rows."""
        return cls(Compressed(Pattern(starts, columns, shape, namespace), entries, _kernels(namespace)), namespace)

    def moved(self, namespace: Namespace) -> Data:
        if namespace.is_host:
            found: Data = SparseData(self._on_host.astype(namespace.dtype), namespace)
        else:
            found = DeviceSparse.of(self._on_host, namespace)
        return known_from(self, found)

    @cached_property
    def _on_host(self) -> sparse.csr_array:
        """A SciPy copy in main memory, for methods without a kernel for the device."""
        pattern = self.values.pattern
        columns, starts = to_host(pattern.columns), to_host(pattern.starts)
        return sparse.csr_array((to_host(self.values.entries), columns, starts.astype(columns.dtype)), shape=self.shape)

    def in_units(self, unit: float) -> DeviceSparse:
        return DeviceSparse(self.values.with_entries(self.values.entries / unit), self.namespace)

    # ---- sums

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        xp, x = self.namespace.xp, self.values.entries
        extremes = [0.0] * (self.size < self.shape[0] * self.shape[1])
        if self.size:
            extremes += [float(xp.min(x)), float(xp.max(x))]
        # A negative power of a zero is refused with the data (`requires_positive_data`); a positive one adds nothing.
        sums = [float(xp.sum(terms_of(xp, x, *total), dtype=xp.float64)) for total in totals]
        return Facts(float(np.min(extremes)), float(np.max(extremes)), int(xp.count_nonzero(x))), sums

    def _measured_lengths(self, axis: int) -> np.ndarray:
        xp, X = self.namespace.xp, self.values.T if axis else self.values
        squares = X.with_entries(xp.square(X.entries)) @ self.namespace.ones(self.shape[1 - axis], 1)
        return np.sqrt(to_host(squares)[:, 0].astype(np.float64))

    # ---- products

    @cached_property
    def _signed_parts(self) -> dict[str, Compressed]:
        xp, x = self.namespace.xp, self.values.entries
        return {sign: self.values.with_entries((xp.abs(x) + part) / 2) for sign, part in (("⁺", x), ("⁻", -x))}

    def apply(self, M: Any, *, transposed: bool = False, sign: str = "") -> Array:
        X: Any = self._signed_parts[sign] if sign else self.values
        product = (X.T if transposed else X) @ self._given(M)
        return to_host(product) if _is_of_host(M) else product

    def _given(self, M: Any) -> Array:
        """A matrix as a dense array of this device."""
        return self.namespace.asarray(as_dense(M)) if _is_of_host(M) else M

    def apply_after(self, M: Any, *, transposed: bool = False, sign: str = "") -> Array:
        return Data.apply_after(self, M, transposed=transposed, sign=sign)

    def with_itself(self, first: bool, second: bool) -> Array:
        if first == second:
            return Data.with_itself(self, first, second)
        X = self.values if first else self.values.T  # Gram matrices are formed only if they are small
        xp, side = self.namespace.xp, X.shape[1]
        total = xp.zeros((side, side), dtype=self.namespace.dtype, device=self.namespace.device)
        for rows in row_blocks(*X.shape, self.namespace.device):
            block = X.dense(rows)
            total += block.T @ block
        return total

    def itself(self) -> Array:
        return self.values.dense(slice(0, self.shape[0]))

    def take(self, items: np.ndarray, axis: int) -> sparse.csr_array:
        return (self._on_host if axis == 0 else self._on_host_turned)[items]

    @cached_property
    def _on_host_turned(self) -> sparse.csr_array:
        return self._on_host.T.tocsr()

    def subset(self, items: np.ndarray, axis: int) -> DeviceSparse:
        some = self.take(items, axis)
        return DeviceSparse.of(some.T.tocsr() if axis else some, self.namespace)

    def blocks(self, *, transposed: bool = False, as_stored: bool = False) -> Iterator[tuple[slice, sparse.csr_array]]:
        return SparseData(self._on_host, self.namespace).blocks(transposed=transposed, as_stored=as_stored)

    # ---- entry by entry

    def visit(self, U: Any, V: Any | None, requests: Sequence[Request], log_power: float | None = None) -> tuple[list[Array], Any]:
        given = [r if r.matrix is None else r._replace(matrix=self._given(r.matrix)) for r in requests]
        return super().visit(self._given(U), V if V is None else self._given(V), given, log_power)

    def _way_at_non_zeros(self, U: Any, V: Any | None) -> Any:
        return self._gathered if V is None else self._sampled

    def _products(
        self, U: Array, V: Array, exponents: tuple[float, float], right: Array | None, left: Array | None, log_power: float | None
    ) -> tuple[Array | None, Array | None, Any]:
        floor, product, other, logarithm = floor_of(self.namespace.xp, U.dtype), None, None, None
        if right is not None or log_power is not None:
            product, logarithm = self.values.raised(U, V.T, exponents, right, floor, log_power)
        if left is not None:
            other, _ = self.values.T.raised(V.T, U, exponents, left, floor)
        return product, other, logarithm

    def _approximation(self, walk: Pass) -> Array:
        if walk.V is not None:
            return self.values.at_entries(walk.U, walk.V.T, walk.floor)
        xp, pattern = self.namespace.xp, self.values.pattern
        found = xp.take(xp.reshape(walk.U, (-1,)), pattern.rows * self.shape[1] + pattern.columns, axis=0)
        return xp.clip(found, walk.floor, xp.inf)

    def _gathered(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None
    ) -> tuple[list[Array], Array | None]:
        xp, x, products = self.namespace.xp, self.values.entries, []
        approximation, made = self._approximation(Pass(self, U, V, ())), {}
        for operand, side, matrix in requests:
            if operand not in made:
                made[operand] = self.values.with_entries(operand.evaluate(xp, x, approximation))
            E = made[operand]
            if matrix is None:
                products.append(E.dense(slice(0, self.shape[0])))
            else:
                products.append(E @ matrix if side == "right" else (E.T @ matrix.T).T)
        terms = None if log_power is None else x**log_power * xp.log(approximation)
        return products, None if terms is None else xp.sum(terms, dtype=xp.float64)

    def _everywhere(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None
    ) -> tuple[list[Array], Array | None]:
        xp, walk, logarithm = self.namespace.xp, Pass(self, U, V, requests), None
        needs_data = any(request.operand.needs_data for request in requests)  # only if X has no zeros
        for rows in row_blocks(*self.shape, self.namespace.device):
            approximation = walk.approximation(rows)
            x = self.values.dense(rows) if needs_data else None

            def evaluate(operand: ElementwiseOperand, x: Array = x, a: Array = approximation) -> Array:
                return operand.evaluate(xp, x, a)

            walk.add(rows, evaluate)
            if log_power is not None:
                total = xp.sum(xp.log(approximation), dtype=xp.float64)
                logarithm = total if logarithm is None else logarithm + total
        return walk.results, logarithm


def _kernels(namespace: Namespace) -> Any:
    if not has_kernels(namespace):
        return None
    from ..kernels import nonzeros

    return nonzeros


def _is_of_host(M: Any) -> bool:
    return isinstance(M, np.ndarray) or sparse.issparse(M)


# ---- what a user gives


def of_tensor(X: Any) -> Data | sparse.csr_array:
    """A sparse tensor of PyTorch or a sparse matrix of CuPy as data on its device; as a SciPy array from main memory."""
    if X.ndim != 2 or not _is_real(X):
        raise DataError(f"X must be a sparse matrix of real numbers; got {X.ndim} dimensions of {X.dtype}.")
    library = library_of(X)
    assert library is not None
    starts, columns, entries = _of_cupy(X) if type(X).__module__.startswith("cupyx") else _of_torch(X)
    if is_on_device(X):
        return DeviceSparse.made(starts, columns, library.xp.astype(entries, library.dtype), tuple(X.shape), library)
    return sparse.csr_array((to_host(entries), to_host(columns), to_host(starts)), shape=tuple(X.shape))


def _is_real(X: Any) -> bool:
    return not any(kind in str(X.dtype) for kind in ("complex", "half", "float16"))


def _of_torch(X: Any) -> tuple[Array, Array, Array]:
    """Starts of rows, columns and entries, in order, entries of one place added up, without zeros."""
    import torch

    X = X.detach()
    if X.layout is not torch.sparse_coo:
        is_turned = X.layout is torch.sparse_csc
        starts, others = (X.ccol_indices(), X.row_indices()) if is_turned else (X.crow_indices(), X.col_indices())
        own = torch.repeat_interleave(torch.arange(len(starts) - 1, device=X.device), starts[1:] - starts[:-1])
        places = torch.stack([others, own] if is_turned else [own, others])
        X = torch.sparse_coo_tensor(places, X.values(), X.shape, check_invariants=False)
    X = X.coalesce()
    (rows, columns), entries = X.indices(), X.values()
    is_there = entries != 0  # NaN is there, and refused by name
    rows, columns, entries = rows[is_there].contiguous(), columns[is_there], entries[is_there]
    starts = torch.searchsorted(rows, torch.arange(X.shape[0] + 1, device=X.device))
    return starts, columns if max(X.shape) >= 2**31 else columns.int(), entries


def _of_cupy(X: Any) -> tuple[Array, Array, Array]:
    X = X.tocsr(copy=True)  # the user's arrays are never changed
    X.sum_duplicates()
    X.eliminate_zeros()
    return X.indptr.astype("int64"), X.indices, X.data
