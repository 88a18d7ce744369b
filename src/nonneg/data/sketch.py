"""Data of which a few combinations of the rows, or of the columns, are kept, and how these are found."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import linalg

from ..exceptions import DataError
from ..kernels.host import multiplied
from ..kernels.namespace import Array, Namespace, to_host
from .base import Data, Facts, Total, apply_both
from .dense import DenseData
from .profile import Costs, Need
from .steps import Request


@dataclass(eq=False)
class SketchData(DenseData):
    """X known only through a few combinations of its rows, R with RᵀR ≈ XᵀX, or of its columns, R with R Rᵀ ≈ X Xᵀ.

    They are of either sign. With `energy`, ‖X‖², an objective is that of X if the sketch is exact for W, and above it otherwise.
    """

    of: Literal["rows", "columns"] = "rows"
    energy: float | None = None

    @cached_property
    def costs(self) -> Costs:  # type: ignore[override]
        known, form = ("RᵀR ≈ XᵀX", "'X W W.T'") if self.of == "rows" else ("R Rᵀ ≈ X Xᵀ", "'W W.T X'")
        return Costs(
            is_array=True,
            gives=frozenset({Need.COLUMN_GRAM if self.of == "rows" else Need.ROW_GRAM}),
            refusal=f"Only a sketch R with {known} is known of this data, not its entries: use a form and a divergence that need "
            f"no more, such as {form} with 'euclidean'.",
        )

    def in_units(self, unit: float) -> SketchData:
        energy = None if self.energy is None else self.energy / unit / unit
        return SketchData(self.values, self.namespace, self.unit * unit, self.of, energy)

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Array | None]:
        raise self.costs.refuse({Need.ENTRIES})

    def survey(self, totals: Sequence[Total]) -> tuple[Facts, list[float]]:
        if any(total != ("power", 2) for total in totals):
            raise self.costs.refuse({Need.ENTRIES})
        facts, sums = super().survey(totals)
        facts = facts._replace(non_zeros=self.size)  # zeros, of features that are zero, save nothing
        return facts, sums if self.energy is None else [self.energy] * len(sums)

    def subset(self, items: np.ndarray, axis: int) -> Data:
        found: Any = super().subset(items, axis)
        return SketchData(found.values, self.namespace, of=self.of)

    @property
    def items(self) -> Data:
        return DenseData(self.values, self.namespace, self.unit)


def in_single_precision(data: SketchData) -> SketchData:
    """The same in single precision, of about unit scale: enough to look for a start on, whose scale the data does not change."""
    namespace = data.namespace._replace(dtype=data.namespace.xp.float32)
    peak = data.facts.peak or 1.0
    if namespace.is_host:  # without a copy in double precision on the way
        values = np.divide(data.values, peak, out=np.empty(data.shape, np.float32), casting="same_kind")
    else:
        values = namespace.asarray(data.values / peak)
    return SketchData(values, namespace, of=data.of)


def of_gram(gram: Array, namespace: Namespace, of: Literal["rows", "columns"]) -> SketchData:
    """An exact sketch from a formed Gram matrix: its root, square unless the rank is much smaller.

    A sketch narrower than square is not worth another Gram matrix, and what is looked for on it would be without one, as if there
    were none: more work for a few columns less, and other kernels to compile.
    """
    xp = namespace.xp
    values, vectors = xp.linalg.eigh(gram)
    is_there = values > values[-1] * 10 * namespace.eps
    kept = is_there | (2 * int(xp.count_nonzero(is_there)) > gram.shape[0])
    roots = xp.where(is_there, values, xp.zeros_like(values))[kept] ** 0.5
    R = _without_noise(np.array(to_host(vectors[:, kept] * roots)), namespace)
    return SketchData(namespace.asarray(np.ascontiguousarray(R.T if of == "rows" else R)), namespace, of=of)


def _without_noise(R: np.ndarray, namespace: Namespace) -> np.ndarray:
    """R with rows of mere rounding set to zero, in place."""
    lengths = np.sqrt(np.einsum("ij,ij->i", R, R))
    R[~(lengths > 100 * namespace.eps * lengths.max(initial=0.0))] = 0.0
    return R


class Nystrom:
    """A sketch of the Gram matrix K that is exact for some directions O, and can be made so for more.

    K̂ = C A⁻¹ Cᵀ with C = K O and A = OᵀC is never above K, and K̂ O = K O. It takes two readings of the data to begin with, in each
    of which the Gram matrix is applied to a few vectors.

    Parameters
    ----------
    data : Data
    of : {"rows", "columns"}
        The combined items: rows for K = XᵀX, columns for K = X Xᵀ.
    size : int
        Directions to begin with, nearly the leading ones of X.
    generator : Generator
    """

    def __init__(self, data: Data, of: Literal["rows", "columns"], size: int, generator: np.random.Generator) -> None:
        self.data, self.of = data, of
        if data.costs.out_of_core and (of == "rows") not in data.costs.one_pass_grams:
            self._begin_across(size, generator)
            return
        seen = self._applied(generator.standard_normal((data.shape[1 if of == "rows" else 0], size)))
        seen = np.asfortranarray(seen)  # as LAPACK has it, which then works in place: it is as long as X
        self.O = linalg.qr(seen, mode="economic", overwrite_a=True, check_finite=False)[0]
        self.C = self._applied(self.O)

    @classmethod
    def of_arrays(cls, data: Data, of: Literal["rows", "columns"], O: np.ndarray, C: np.ndarray) -> Nystrom:  # noqa: E741
        """One that was made already, of which O and C = K O are known."""
        rows = data.shape[1 if of == "rows" else 0] if data is not None else len(O)
        if O.shape != C.shape or O.ndim != 2 or len(O) != rows:
            raise DataError(f"The stored sketch of X does not have {rows} rows. The checkpoint was altered: delete it.")
        made = cls.__new__(cls)
        made.data, made.of, made.O, made.C = data, of, O, C
        return made

    def _begin_across(self, size: int, generator: np.random.Generator) -> None:
        """Begin in two passes if each product with K takes two.

        With Y = XᵀΩ (for K = XᵀX) the first gives Y and X Y, the second Xᵀ(X Y) = K Y.
        """
        data = self.data.T if self.of == "rows" else self.data
        draws = self.data.namespace.asarray(generator.standard_normal((data.shape[1], size)))
        Y, Z = apply_both(data, draws)
        KY = np.asarray(to_host(data.apply(Z)))
        Q, T = linalg.qr(np.asarray(to_host(Y)), mode="economic", check_finite=False)
        U, sizes, VT = linalg.svd(T, check_finite=False)
        # Of directions in which Y has next to nothing, K Y is rounding, which to divide by their size would blow up.
        kept = sizes > self.data.namespace.eps**0.5 * sizes.max(initial=0.0)
        self.O, self.C = Q @ U[:, kept], KY @ (VT[kept].T / sizes[kept])

    def _applied(self, M: np.ndarray) -> np.ndarray:
        """K M."""
        product = self.data.apply_gram(self.data.namespace.asarray(M), transposed=self.of == "rows")
        return np.asarray(to_host(product))

    @property
    def sketch(self) -> SketchData:
        """R with RᵀR = K̂, from A^(−1/2) Cᵀ; eigenvalues of mere rounding are dropped."""
        namespace = self.data.namespace
        A = multiplied(self.O.T, self.C).astype(np.float64)
        values, vectors = np.linalg.eigh((A + A.T) / 2)
        kept = values > values[-1] * 10 * namespace.eps
        root = vectors[:, kept] / np.sqrt(values[kept])
        R = _without_noise(self.C @ root if self.C.dtype == root.dtype else multiplied(self.C, root), namespace)
        values = namespace.asarray(np.ascontiguousarray(R.T if self.of == "rows" else R))
        found = SketchData(values, namespace, of=self.of, energy=self.data.power_sum(2))
        found.log = self.data.log
        return found

    def in_units_of(self, data: Data, unit: float) -> Nystrom:
        """The same for data in other units."""
        return Nystrom.of_arrays(data, self.of, self.O, self.C if unit == 1 else self.C / unit / unit)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Its arrays, besides X."""
        return {"O": self.O, "C": self.C}

    def copy(self) -> Nystrom:
        """Another one that is added to on its own."""
        return copy(self)

    def add(self, W: np.ndarray, KW: np.ndarray | None = None) -> None:
        """Make it exact for W too, by one more pass, or by none if K W is given."""
        W = np.asarray(to_host(W), dtype=np.float64)
        if KW is not None:
            inside = self.O.T @ W
            Q, sizes, VT = linalg.svd(W - self.O @ inside, full_matrices=False, check_finite=False)
            kept = sizes > max(1e-4, self.data.namespace.eps**0.5) * np.linalg.norm(W, axis=0).max()
            more = (KW - self.C @ inside) @ (VT[kept].T / sizes[kept])
            self.O, self.C = np.hstack([self.O, Q[:, kept]]), np.hstack([self.C, more])
            return
        Q, T = linalg.qr(W - self.O @ (self.O.T @ W), mode="economic", check_finite=False)
        Q = Q[:, abs(np.diag(T)) > 1e-4 * np.linalg.norm(W, axis=0).max()]  # others are in the span already
        if Q.shape[1]:
            self.O, self.C = np.hstack([self.O, Q]), np.hstack([self.C, self._applied(Q)])
