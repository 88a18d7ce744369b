"""What must hold of every result, whatever was called: the one place that says so, and how exactly.

A tolerance is a number of roundings of the terms that a result is computed from, in the dtype it was computed in; where iterations
have multiplied roundings, a share of the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from . import dense
from .dense import Divergence
from .trial import Trial

ROUNDINGS = 1e3
"""A sum over 900 entries, each a product of a few factors, is known to so many epsilons of the sum of its terms."""
SAME = 1e-6
"""By what share two runs may differ after a few iterations from the same start, where only the order of sums differs."""
STATIONARY = 0.05
"""A converged point's K.K.T. residual, as a share of the parts of the gradient, with `tol` at its default or below."""
GAIN = 0.01
"""By what share more iterations may lower the objective before that is counted."""

DESCRIPTIONS = {
    "errors": "what is refused is refused on purpose, by a ValueError or TypeError whose sentence names the parameter or the data",
    "accepts": "what is accepted of data in memory is accepted in files and on Dask, and the other way round; likewise of weights",
    "refuses": "what cannot be is refused, not ignored",
    "no raw warnings": "no overflow, division by zero or invalid value is reported by NumPy",
    "memory": "no call on data of up to 30 × 30 takes more than 400 MB",
    "time": "no call takes more than 30 s of processor time",
    "untouched": "the data, and all else that is given, come out as they went in, bit for bit",
    "files": "an unaltered file gives its matrix; what is read at once is what is read in blocks",
    "only the file": "nothing but the file that is given is opened, and nothing written or started",
    "quick": "no small file takes 5 s of processor time",
    "finite": "all results are finite",
    "non-negative": "all factors, components and codes are non-negative",
    "shapes": "results have the shapes, dtypes and ranges that are documented",
    "constraint": "constraints hold as declared: sums and lengths of one, parts given and parts without overlap",
    "objective": "the objective is that of a dense formula in extended precision, to a thousand roundings of its terms",
    "formula": "measures, probabilities and statistics are those of naive formulas",
    "never rises": "the objective never rises by more than rounding, by the solvers and constraints of which that is promised",
    "same bits": "the same seed gives the same bits",
    "sparse = dense": "sparse and dense data lead to the same, from the same start",
    "permuted": "permuted data lead to permuted factors, from the same start",
    "scaled": "scaled data lead to scaled objectives, from the same start",
    "stationary": "if a run says that it has converged, the K.K.T. residual is small",
    "codes": "fit_transform is fit and then transform",
    "stored = memory": "data in files and on Dask lead to what they lead to in memory, step by step from the same start",
    "weight": "an entry, or a sample, of weight 0 or NaN counts nothing, one of weight 2 counts twice",
    "score": "score is that of the same data in memory",
    "exit codes": "a command ends with 0, 1 or 2, and never with a traceback",
    "sentences": "a command that fails says why, in a sentence on standard error",
    "outputs": "files that a command says it wrote are there, and can be read",
    "table": "a scan has a row for each rank, and a number for each criterion",
    "choice": "the chosen rank is one of those offered",
    "resumed": "a scan that goes on from its folder gives what a whole one gives",
    "well-formed": "every tag of a report is closed, and no text of the data becomes markup",
    "printed": "the relative error in a report is that of the given data and their codes",
    "single": "in single precision the objective ends near that of double precision",
    "round trip": "clones, pickles and representations work, and give the same results",
}


def eps_of(array: Any) -> float:
    dtype = getattr(array, "dtype", np.dtype(float))  # lists and data frames have none
    return float(np.finfo(dtype if dtype.kind == "f" else float).eps)


def entries_of(array: Any) -> np.ndarray:
    return np.asarray(array.data if sparse.issparse(array) else array)


def finite(t: Trial, name: str, array: Any, *, signed: bool = False) -> None:
    """An array of numbers, none of them below zero unless they may be."""
    entries = entries_of(array)
    t.check("finite", np.isfinite(entries).all(), f"{name} has entries that are not finite")
    if not signed:
        t.check("non-negative", not (entries < 0).any(), lambda: f"{name} has negative entries, down to {entries.min():g}")


_TINIEST = float(np.finfo(np.float64).tiny)
"""Below this a double has fewer digits, or is zero."""


def equal(t: Trial, invariant: str, what: str, one: Any, other: Any, tolerance: float = 0.0, size: Any = None) -> None:
    """Two arrays or numbers that are to be the same, to a share of the largest of them, or of the size that is given."""
    a, b = dense.wide(one), dense.wide(other)
    t.check(invariant, a.shape == b.shape, f"{what}: {a.shape} against {b.shape}")
    with np.errstate(invalid="ignore"):
        size = max(abs(a).max(initial=0), abs(b).max(initial=0)) if size is None else size
        differs = abs(a - b)
        is_same = (a == b) | (np.isnan(a) & np.isnan(b)) | (differs <= tolerance * size)
        is_same |= (differs < _TINIEST) & bool(tolerance)
    t.check(
        invariant,
        is_same.all(),
        lambda: f"{what}: {_worst(a, is_same)} against {_worst(b, is_same)}, of a size of {float(size):.3g}",
    )


def _worst(array: np.ndarray, is_same: np.ndarray) -> str:
    return f"{float(array[~is_same].ravel()[0]):.17g}"


# ---- constraints


def constrained(t: Trial, name: str, factor: np.ndarray, constraint: str) -> None:
    """A constraint that is restored fully holds to rounding; one that is soft has the scale it is kept at."""
    tolerance = ROUNDINGS * eps_of(factor)
    F = dense.wide(factor)
    sums = {"columns": F.sum(axis=0), "rows": F.sum(axis=1), "matrix": F.sum()}
    if constraint.startswith("doubly"):
        for axis in ("columns", "rows"):
            equal(t, "constraint", f"{axis} of {name}", sums[axis], np.ones_like(sums[axis]), max(1e-9, 10 * tolerance), 1)
    elif constraint.startswith("stochastic"):
        found = sums[constraint.removeprefix("stochastic").removeprefix("-") or "columns"]
        equal(t, "constraint", f"sums of {name}", found, np.ones_like(found), tolerance, 1)
    elif constraint.startswith("unit"):
        lengths = np.sqrt((F**2).sum(axis=1 if constraint.endswith("rows") else 0))
        lengths = lengths[lengths > 0]  # a column of zeros stays one
        equal(t, "constraint", f"lengths of {name}", lengths, np.ones_like(lengths), tolerance, 1)
    elif constraint.startswith("PartlyFixed"):
        t.check("constraint", (F[0] == 1).all(), f"the first row of {name} is given, and was changed")
    elif constraint.startswith("orthogonal"):
        largest = np.linalg.norm(factor.astype(np.float64), 2)
        t.check("constraint", largest <= 1 + 1e2 * tolerance, f"{name} is to have spectral norm one and has {largest:.17g}")


# ---- objectives


def penalties(constraints: Mapping[str, str], factors: Mapping[str, np.ndarray]) -> dense.Wide:
    """What constraints add to the objective."""
    total = dense.Wide(0)
    for name, source in constraints.items():
        F = dense.wide(factors[name])
        if source.startswith("Sparse"):
            total += dense.Wide(_number(source)) * F.sum()
        elif source.startswith("Disjoint"):
            sums = F.sum(axis=1)
            total += dense.Wide(_number(source)) / 2 * ((sums**2).sum() - (F**2).sum())
        elif source.startswith("NearOrthogonal"):
            excess = F.T @ F - np.eye(F.shape[1])
            total += (excess**2).sum() / 4
    return total


def _number(source: str) -> float:
    return float(source.split("(")[1].split(")")[0].split(",")[0])


def objective(
    t: Trial, claimed: float, divergence: Divergence, X: Any, approximation: np.ndarray, penalty: Any = 0, dtype: Any = None
) -> float:
    """The objective as the library has it is that of the formula; what is returned is the size of its terms."""
    Y = dense.wide(approximation)
    expected, size = dense.value(divergence, dense.wide(X), Y)
    expected, size = expected + penalty, size + abs(penalty)
    if np.isfinite(size) and size > 0:
        eps = float(np.finfo(dtype or np.float64).eps)
        with np.errstate(over="ignore"):
            # A penalty on squares of what cancels, as WᵀW − I does, is known to eps times their root.
            expected_, limit = float(expected), float(ROUNDINGS * eps * size + 8 * eps * np.sqrt(abs(penalty))) + 1e-320
        is_same = claimed == expected_ or abs(claimed - expected_) <= limit
        t.check("objective", is_same, lambda: f"objective {claimed!r}, by the formula {expected_!r} ± {limit:.3g}")
    with np.errstate(over="ignore"):
        return float(size)


def never_rising(t: Trial, values: Sequence[float], size: float, eps: float) -> None:
    values = np.asarray(values, dtype=np.float64)
    if np.isfinite(values).all() and len(values) > 1:
        rises, allowed = np.diff(values), ROUNDINGS * eps * (np.abs(values).max() + size)
        t.check(
            "never rises",
            not (rises > allowed).any(),
            lambda: f"the objective rose by {rises.max():.3g} from {values[rises.argmax()]:.6g}; rounding is {allowed:.3g}",
        )


# ---- stationary points


def residual(
    form: str,
    divergence: Divergence,
    matrices: Mapping[str, np.ndarray],
    constraints: Mapping[str, str],
    learned: Sequence[str],
    data: str = "X",
    weights: np.ndarray | None = None,
) -> float | None:
    """How far the K.K.T. conditions are from holding, the worst of all factors; None where that cannot be said.

    Of a factor F with gradient ∇ = ∇⁺ − ∇⁻, less the multipliers of its constraint, it is Σ max(|F∘∇|, F̄ [−∇]₊) / Σ F∘(∇⁺ + ∇⁻),
    F̄ the mean of F: what could be gained by moving entries, as a share of what the gradient is made of. It has no units.
    """
    approximation = dense.product(dense.letters(form), matrices)
    if weights is None:
        P, Q = dense.slopes(divergence, matrices[data], approximation)
    else:  # hidden entries, which may be anything, count nothing
        slopes = dense.slopes(divergence, np.where(weights > 0, matrices[data], 1), np.where(weights > 0, approximation, 1))
        P, Q = (weights * slope for slope in slopes)
    worst = 0.0
    for name in learned:
        F, constraint = matrices[name], constraints.get(name, "free")
        with np.errstate(all="ignore"):
            slope = dense.gradient(form, name, matrices, P - Q)
            parts = dense.gradient(form, name, matrices, P + abs(Q))
        if constraint.startswith("Sparse"):
            slope, parts = slope + _number(constraint), parts + _number(constraint)
        elif constraint.startswith("Disjoint"):
            penalty = dense.Wide(_number(constraint)) * (F.sum(axis=1, keepdims=True) - F)
            slope, parts = slope + penalty, parts + penalty
        elif constraint.startswith("stochastic"):
            axis = {"rows": 1, "matrix": None}.get(constraint.removeprefix("stochastic-"), 0)
            slope = slope - (F * slope).sum(axis=axis, keepdims=True) / F.sum(axis=axis, keepdims=True)
        elif constraint.startswith("unit"):
            slope = slope - F * (F * slope).sum(axis=1 if constraint.endswith("rows") else 0, keepdims=True)
        total = (F * parts).sum()
        if not np.isfinite(slope).all() or not np.isfinite(total) or not total > 0:
            return None
        worst = max(worst, float(np.maximum(abs(F * slope), F.mean() * np.maximum(-slope, 0)).sum() / total))
    return worst
