"""A sketch by projection: the data projected on a few combinations of the rows, or of the columns."""

from __future__ import annotations

from typing import Any, Literal

from numpy.random import Generator

from ..exceptions import DataError
from ..kernels.namespace import Array, to_host
from ..kernels.tuned import tuned
from .base import Data
from .sketch import SketchData

_THERE = tuned(1e-4, by="gpu", on="2026-11-19")
"""Length, as a share of the longest column, from which a direction is added."""


class Projection:
    """A sketch of the Gram matrix K that is exact for some factors, and can be made so for more.

    K̂ = C Cᵀ with C = XᵀQ, for K = XᵀX, is never above K; K̂ W = K W where X W lies in the span of Q. All but Q and C is done on the
    short side of X, and no square root is taken: this suits a device, where a Nyström sketch of the long side does not.

    Parameters
    ----------
    data : Data
    of : {"rows", "columns"}
        The items combined: rows for K = XᵀX, columns for K = X Xᵀ.
    size : int
        Directions to begin with.
    generator : Generator
    """

    def __init__(self, data: Data, of: Literal["rows", "columns"], size: int, generator: Generator) -> None:
        self.data, self.of = data, of
        draws = data.namespace.asarray(generator.standard_normal((data.shape[0 if of == "rows" else 1], size)))
        self.Q = _orthonormal(data.namespace.xp, data.apply_gram(draws, transposed=of == "columns"))
        self.C = self._coded(self.Q)

    @classmethod
    def of_arrays(cls, data: Data, of: Literal["rows", "columns"], Q: Array, C: Array) -> Projection:
        """A sketch from its arrays."""
        short, long = data.shape if of == "rows" else data.shape[::-1]
        if Q.shape != (short, *Q.shape[1:2]) or C.shape != (long, *Q.shape[1:2]):
            raise DataError(f"The stored sketch of X does not fit {short} × {long}. The checkpoint was altered: delete it.")
        made = cls.__new__(cls)
        made.data, made.of, made.Q, made.C = data, of, data.namespace.asarray(Q), data.namespace.asarray(C)
        return made

    @property
    def arrays(self) -> dict[str, Any]:
        """Its arrays, besides X."""
        return {"Q": to_host(self.Q), "C": to_host(self.C)}

    def _coded(self, Q: Array) -> Array:
        return self.data.apply(Q, transposed=self.of == "rows")

    @property
    def sketch(self) -> SketchData:
        values = self.C.T if self.of == "rows" else self.C
        found = SketchData(values, self.data.namespace, of=self.of, energy=self.data.power_sum(2))
        found.log = self.data.log
        return found

    def add(self, W: Array, KW: Array | None = None) -> None:
        """Make it exact for W too, by two more products with X."""
        xp = self.data.namespace.xp
        codes = self.data.apply(W, transposed=self.of == "columns")
        longest = xp.sqrt(xp.max(xp.sum(codes * codes, axis=0)))
        for _ in range(2):  # once more for the rounding of the first
            codes = codes - self.Q @ (self.Q.T @ codes)
        Q, T = xp.linalg.qr(codes, mode="reduced")
        kept = abs(xp.linalg.diagonal(T)) > _THERE * longest
        if bool(xp.any(kept)):
            Q = Q[:, kept]
            self.Q, self.C = xp.concat([self.Q, Q], axis=1), xp.concat([self.C, self._coded(Q)], axis=1)


def _orthonormal(xp: Any, columns: Array) -> Array:
    return xp.linalg.qr(columns, mode="reduced")[0]
