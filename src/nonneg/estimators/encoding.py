"""Codes of new samples: the h ≥ 0 for which h C approximates a sample best, the components C being known.

Every sample is solved for on its own: its code does not depend on other samples, so a matrix can be encoded in
pieces. Samples that have converged are left alone, the others go on. That is why there are loops here beside the engine's, which
has one objective and one end for all of X: rounds of the engine that let go of the samples that are done, and with the Euclidean
distance the kernel of coordinate descent itself, which goes over each row until that has converged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..constraints import Constraint, Entrywise, Free
from ..data import Curve, Data, Descent, Observed, Request, read_data
from ..data.base import chunks
from ..data.device import in_memory
from ..data.weighted import DataTerm, has_weights, parts_of
from ..divergences import Objective
from ..exceptions import DataError
from ..factorization import factorize
from ..kernels.threads import over_rows
from ..kernels.tuned import tuned
from ..model import Model
from ..solve.progress import inner_runs
from ..solve.solvers import Multiplicative

_SWEEP = tuned(10, by="wide", on="2026-11-15")
"""Iterations in the first round; each round that follows has twice as many, and lets go of the samples that have converged."""


def encode(
    X: Any,
    components: np.ndarray,
    divergence: Objective,
    constraint: Constraint | None = None,
    tol: float = 1e-7,
    max_iter: int = 2000,
) -> np.ndarray:
    """The codes of samples, (n_samples, n_components): for each row x of X, argmin D(x ‖ h C) over h ≥ 0.

    Parameters
    ----------
    X : array, sparse array or Data of shape (n_samples, n_features)
        Samples.
    components : array of shape (n_components, n_features)
        C.
    divergence : Objective
        One that does not depend on scale (γ, Rényi) is replaced by its `separable` kin: for a single sample they have the same
        minimiser.
    constraint : Constraint, optional
        Constraint of each code.
    tol : float
        A code has converged when a round of iterations changes it by no more than `tol` times its largest entry.
    max_iter : int
        Most iterations of a code.

    Returns
    -------
    array of shape (n_samples, n_components)
        One row of codes for each sample.

    See Also
    --------
    nonneg.NMF : Estimators have it as ``transform``.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.divergences import get_divergence
    >>> from nonneg.estimators.encoding import encode
    >>> encode(np.array([[2.0, 2, 3]]), np.array([[1.0, 1, 0], [0, 0, 1]]), get_divergence("euclidean")).round(4)
    array([[2., 3.]])
    """
    if isinstance(X, Data):
        X = in_memory(X)
        pieces = ((piece, _of_known if piece is X else encode) for piece in parts_of(X))
        return np.concatenate([codes_of(piece, components, divergence, constraint, tol, max_iter) for piece, codes_of in pieces])
    divergence, constraint = divergence.separable, constraint or Free()
    components = within_reach(components, divergence)
    terms = _penalties_of(constraint)
    if divergence.is_quadratic and terms is not None:
        return _least_squares(X, components, terms, tol, max_iter)
    if constraint.is_signed:  # there is nothing to keep from falling below zero
        C = components.astype(np.float64)
        return (np.asarray(X @ C.T) @ np.linalg.pinv(C @ C.T, hermitian=True)).astype(components.dtype)
    return _divergent(X, components, Model("H C", divergence, {"H": constraint, "C": "fixed"}), tol, max_iter)


def _penalties_of(constraint: Constraint) -> Entrywise | None:
    """The penalties on the sum of codes, and of their squares, zero without any; None if the constraint is more than these."""
    terms = constraint.entrywise
    is_all = terms is not None and terms == Entrywise(terms.penalty, ridge=terms.ridge) and not constraint.is_signed
    return terms if is_all else None


def _of_known(
    X: Data, components: np.ndarray, divergence: Objective, constraint: Constraint | None, tol: float, max_iter: int
) -> np.ndarray:
    """The codes of samples in memory, with weights or with missing entries."""
    of_kind = _of_weighted if has_weights(X) or (constraint is not None and constraint.is_signed) else _of_incomplete
    return of_kind(X, within_reach(components, divergence.separable), divergence.separable, constraint, tol, max_iter)


def _of_incomplete(
    X: Any, components: np.ndarray, divergence: Objective, constraint: Constraint | None, tol: float, max_iter: int
) -> np.ndarray:
    """The codes of samples with missing entries; zero for a sample without known entries.

    Features that all samples lack are left out. Samples that lack no other are encoded as any are.
    """
    (m, n), count = X.shape, components.shape[0]
    ones, known = X.namespace.ones, DataTerm("power", 0.0)
    requests = [Request(known, "right", ones(n, 1)), Request(known, "left", ones(1, m))]
    of_samples, of_features = (counts.ravel() for counts in X.visit(ones(m, 1), ones(1, n), requests)[0])
    kept = np.flatnonzero(of_features)
    if len(kept) < n:
        X, components = X.subset(kept, 1), np.ascontiguousarray(components[:, kept])
    codes = np.zeros((m, count), components.dtype)
    whole, partly = np.flatnonzero(of_samples == len(kept)), np.flatnonzero((of_samples > 0) & (of_samples < len(kept)))
    for some in chunks(len(whole) if len(kept) else 0, len(kept)):
        codes[whole[some]] = encode(X.take(whole[some], 0), components, divergence, constraint, tol, max_iter)
    constraint = constraint or Free()
    terms = _penalties_of(constraint)
    if divergence.is_quadratic and terms is not None and not terms.ridge and len(partly):
        codes[partly] = _of_weighted(X.subset(partly, 0), components, divergence, constraint, tol, max_iter)
        return codes
    model = Model("H C", divergence, {"H": constraint, "C": "fixed"})
    for some, known in X.known(partly):
        codes[some] = _divergent(known, components, model, tol, max_iter, is_complete=False)
    return codes


def _of_weighted(
    X: Any, components: np.ndarray, divergence: Objective, constraint: Constraint | None, tol: float, max_iter: int
) -> np.ndarray:
    """The codes of samples with weights, or with missing entries; zero for a sample without known entries."""
    constraint = constraint or Free()
    size, scale = X.facts.peak or 1.0, float(components.max()) or 1.0
    X, C = X.in_units(size), np.ascontiguousarray(components.T / components.dtype.type(scale))
    mass, reach = _known_sums(X, ((1.0, np.ones_like(C[:, :1])), (0.0, C)))
    total = reach.sum(axis=1, keepdims=True)
    codes = np.repeat(np.where(total > 0, mass / np.where(total > 0, total, 1.0), 0.0), C.shape[1], axis=1).astype(C.dtype)
    codes[reach == 0] = 0.0  # nothing that is known of the sample has any of the component
    terms = _penalties_of(constraint)
    if divergence.is_quadratic and terms is not None and not terms.ridge and X.costs.swept_weights:
        penalty = terms.penalty / size / scale
        products, sums = _known_sums(X, ((1.0, C), (0.0, C * C.sum(axis=1, keepdims=True))))
        codes = _start_of_squares(products, sums, penalty).astype(C.dtype)
        X.sweep_rows(codes, C, (penalty, 0.0, 0, max_iter, tol))
        return _in_user_units(codes.astype(np.float64), size, scale, components.dtype)
    model = Model("H C", divergence, {"H": constraint, "C": "fixed"})
    if not constraint.is_free:  # a constraint is about codes as they are
        X, C, size, scale = X.in_units(1 / size), np.ascontiguousarray(components.T), 1.0, 1.0
        codes = np.maximum(codes, np.finfo(C.dtype).tiny)
    codes = _in_rounds(lambda active: X.subset(active, 0), codes, np.flatnonzero(codes.any(axis=1)), C.T, model, tol, max_iter)
    return _in_user_units(codes.astype(np.float64), size, scale, components.dtype)


def _known_sums(X: Data, terms: Sequence[tuple[float, np.ndarray]]) -> list[np.ndarray]:
    """Σ v xᵖ M over the known entries of each sample, for powers p and matrices M."""
    (m, n), dtype = X.shape, terms[0][1].dtype
    requests = [Request(DataTerm("power", power), "right", np.ascontiguousarray(M)) for power, M in terms]
    return X.visit(np.ones((m, 1), dtype), np.ones((1, n), dtype), requests)[0]


def _start_of_squares(products: np.ndarray, sums: np.ndarray, penalty: float) -> np.ndarray:
    """Codes to begin with, given Σ x c and the sums of the rows of Σ c cᵀ: if several codes fit, the end depends on them."""
    return np.where(sums > 0, np.maximum(products - penalty, 0.0) / np.where(sums > 0, sums, 1.0), 0.0)


def _in_rounds(
    some: Callable[[np.ndarray], Any],
    codes: np.ndarray,
    active: np.ndarray,
    components: np.ndarray,
    model: Model,
    tol: float,
    max_iter: int,
) -> np.ndarray:
    """Rounds of multiplicative steps, each for the samples that have not converged in the last one; `codes` are changed."""
    done, rounds = 0, _SWEEP
    while active.size and done < max_iter:
        rounds = min(rounds, max_iter - done)
        before = codes[active]
        with inner_runs("codes"):
            solution = factorize(
                some(active),
                model,
                init={"H": before, "C": components},
                solver=Multiplicative(),
                max_iter=rounds,
                tol=0,
                check_every=rounds,
            )
        codes[active] = solution.factors["H"]
        done, rounds = done + rounds, 2 * rounds
        largest = codes[active].max(axis=1)  # a code of zeros stays zero: the rule multiplies
        active = active[(np.abs(codes[active] - before).max(axis=1) > tol * largest) & (largest > 0)]
    return codes


def within_reach(components: np.ndarray, divergence: Objective) -> np.ndarray:
    """Components with a little, eps times the largest entry, of the features that none has, if these would be infinitely far."""
    floor = np.finfo(components.dtype).eps * components.max()
    missing = components.max(axis=0) < floor
    if not divergence.infinite_at_zero or not missing.any():
        return components
    return np.where(missing & components.any(axis=1, keepdims=True), floor, components)


def _least_squares(X: Any, components: np.ndarray, terms: Entrywise, tol: float, max_iter: int) -> np.ndarray:
    """½‖x − h C‖² + penalty Σh + ½ ridge ‖h‖² by cyclic coordinate descent: each entry in turn takes its exact minimum."""
    from ..kernels.coordinates import linear_rows

    scale = float(abs(components).max()) or 1.0  # of extreme data, squares are zero or infinite
    C = components.astype(np.float64) / scale
    size = float(abs(X).max()) or 1.0
    targets = np.asarray((X / size) @ C.T, dtype=np.float64) - terms.penalty / size / scale
    G = C @ C.T
    codes = _start_of_squares(targets, G.sum(axis=1), 0.0)
    codes[:, np.diag(G) == 0] = 0.0
    G = G + terms.ridge / scale**2 * np.eye(len(G)) if terms.ridge else G
    over_rows(linear_rows, codes.shape[0], codes, G, targets, 0.0, 0.0, 0, max_iter, tol)
    return _in_user_units(codes, size, scale, components.dtype)


def _in_user_units(codes: np.ndarray, size: float, scale: float, dtype: Any) -> np.ndarray:
    """Codes times size/scale, or an error if that overflows their type."""
    most = float(np.finfo(dtype).max)
    largest = float(codes.max(initial=0.0))
    if largest and math.log2(largest) + math.log2(size) - math.log2(scale) >= math.log2(most):
        raise DataError(
            f"X has entries of up to {size:g} and the components of up to {scale:g}: codes would be more than {most:g}, the most "
            f"that {np.dtype(dtype)} can hold. Give X in the units in which the model was fitted."
        )
    root = math.sqrt(size) / math.sqrt(scale)  # two factors that do not overflow
    return (codes if size == scale else codes * root * root).astype(dtype)


def _divergent(X: Any, components: np.ndarray, model: Model, tol: float, max_iter: int, *, is_complete: bool = True) -> np.ndarray:
    """Any divergence, in units in which nothing over- or underflows. Of incomplete data, X holds the known entries, zeros too."""
    size, scale = float(abs(X).max()) or 1.0, float(components.max()) or 1.0  # sums of extreme data are zero or infinite
    is_free = model.constraints["H"].is_free and model.divergence.degree is not None
    if not is_free:  # a constraint is about codes as they are; its penalty, if it has one, has the unit of the objective
        size = size if model.constraints["H"].is_free else scale
        divergence, doublings = model.divergence.in_units(math.log2(size))
        model = Model(model.form, divergence, {**model.constraints, "H": model.constraints["H"].in_units(doublings, 0.0)})
    # In the type of the components: a single precision X may have another scale than its type can hold.
    X, components = X / components.dtype.type(size), components / components.dtype.type(scale)
    codes = np.zeros((X.shape[0], components.shape[0]), dtype=components.dtype)
    mass = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
    active = np.flatnonzero(mass > 0)  # a sample of zeros is made of nothing
    # Samples of very different size share a floor: each is measured in its own unit, unless its constraint has another.
    unit = np.where(mass > 0, mass, 1.0) if is_free else np.ones_like(mass)
    X = _rows_divided(X, unit).astype(components.dtype)
    reach = np.full(len(mass), float(components.sum())) if is_complete else _pattern(X) @ components.sum(axis=0, dtype=np.float64)
    codes[active] = (mass[active] / unit[active] / np.where(reach > 0, reach, 1.0)[active])[:, None]
    curve, terms = model.divergence.curve, _penalties_of(model.constraints["H"])
    if curve is not None and curve.is_suited and terms is not None and not terms.ridge:
        codes = _newton(X.astype(np.float64), components, codes, curve, terms.penalty, tol, max_iter, is_complete)
    else:
        codes = _in_rounds(
            lambda some: X[some] if is_complete else Observed(X[some]), codes, active, components, model, tol, max_iter
        )
    used = (components > 0).astype(np.float64)
    alive = used.any(axis=1, keepdims=True).T if is_complete else _pattern(X) @ used.T > 0
    return _in_user_units(codes.astype(np.float64) * alive * unit[:, None], size, scale, components.dtype)


def _pattern(X: Any) -> sparse.csr_array:
    """1 for stored entries."""
    return sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)


def _rows_divided(X: Any, by: np.ndarray) -> Any:
    """X with each row divided by a number; zeros that are stored stay so."""
    if not sparse.issparse(X):
        return X / by[:, None]
    X = sparse.csr_array(X)
    return sparse.csr_array((X.data / np.repeat(by, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape)


def _newton(
    X: Any,
    components: np.ndarray,
    codes: np.ndarray,
    curve: Curve,
    penalty: float,
    tol: float,
    max_iter: int,
    is_complete: bool,
) -> np.ndarray:
    """Newton's method, one entry of a code after the other, each sample as often as it needs, in double precision."""
    codes, V = codes.astype(np.float64), np.ascontiguousarray(components, dtype=np.float64)
    data = read_data(X if is_complete else Observed(X), "X")
    data.descend(Descent(codes, V, curve, (float(penalty), 0.0, 0, max_iter, float(tol))))
    return codes
