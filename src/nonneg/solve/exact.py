"""Factors of either sign, by least squares."""

from __future__ import annotations

from typing import Any

from ..algebra.expression import Letter, Word
from ..data import as_dense
from ..kernels.namespace import Array
from .point import Point


def solved(point: Point, factor: str) -> Array:
    """The F with the least ‖X − A F B‖, other factors fixed: AᵀA F B Bᵀ = AᵀX Bᵀ (for F Gᵀ, Ding et al. 2010).

    It is found by steps from the F there is, each with a little added to the diagonals of AᵀA and B Bᵀ: the least point of a bound,
    which never raises the objective. Two of them come to the solution, to rounding, unless columns are nearly parallel.
    """
    model, xp = point.problem.model, point.problem.namespace.xp
    ((A, letter, B),) = model.form.around(factor)
    sides, grams = (Word([letter]), A.T + Word([Letter(model.data)]) + B.T), (A.T + A, B + B.T)
    point.compute((*sides, *(gram for gram in grams if gram)))
    F, target = (as_dense(point.operand(word)) for word in sides)
    left, right = (as_dense(point.operand(gram)) if gram else None for gram in grams)
    for _ in range(2):
        fitted = F if left is None else left @ F
        step = target - (fitted if right is None else fitted @ right)
        if left is not None:
            step = xp.linalg.solve(_definite(xp, left), step)
        if right is not None:
            step = xp.linalg.solve(_definite(xp, right), step.T).T
        F = F + step
    return point.problem.namespace.in_rows(F.T if letter.transposed else F)


def _definite(xp: Any, gram: Array) -> Array:
    """A Gram matrix with a ridge on its diagonal, of √eps of its entries.

    For nearly parallel columns the solution would be huge numbers that cancel, in F and in the objective; for a column of zeros, of
    a dead component, there would be none.
    """
    info = xp.finfo(gram.dtype)
    diagonal = xp.linalg.diagonal(gram)
    ridge = float(info.eps) ** 0.5 * diagonal + float(info.eps) * xp.max(diagonal) + float(info.smallest_normal)
    return gram + ridge * xp.eye(gram.shape[0], dtype=gram.dtype, device=gram.device)
