"""The largest wᵀAw with wᵀBw = 1 over w ≥ 0, by multiplicative rules: that of NNP Eq. 21, and one for the quotient of Rayleigh.

The rules need a matrix as the difference of two without negative entries, by its products only. For matrices that are there,
these are (|A| ± A)/2, NNP Eq. 16.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from ...exceptions import DataError, IncompatibleError, ShapeError, is_count, is_number, users_line
from ...kernels.csr import to_csr
from ...kernels.tuned import tuned
from ...solve.initialization import make_generator
from ...solve.solution import Status


class Form(Protocol):
    """A symmetric matrix known by its products."""

    def product(self, w: np.ndarray) -> np.ndarray:
        """A w."""

    def parts(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A⁺w and A⁻w, A = A⁺ − A⁻, neither with negative entries."""


class Result(NamedTuple):
    """A direction, and how it was come by."""

    w: np.ndarray
    ratio: float
    n_iter: int
    stopped: str
    """ "tol", "max_iter", or "negative" if the next w would not be non-negative."""


def quotient(A: Form, B: Form, w: np.ndarray) -> float:
    """wᵀAw / wᵀBw; infinite, with the sign of wᵀAw, if wᵀBw is zero."""
    above, below = float(w @ A.product(w)), float(w @ B.product(w))
    if below > 0:
        return above / below
    return float(np.copysign(np.inf, above)) if above else 0.0


def rayleigh(A: Form, B: Form, start: np.ndarray, max_iter: int, tol: float) -> Result:
    """The rule for the quotient of Rayleigh, under which it never falls.

    With λ the quotient at w, J(v) = λ vᵀBv − vᵀAv is zero at v = w, and no larger at the v below, which is the least point of an
    upper bound of J (QNMF Theorem 1 with the exponent of a square); so the quotient at v is λ or more. This holds for any two
    matrices without negative entries of which B, or A, is the difference, and for λ of either sign.
    """
    w, last, previous = start.copy(), 0.0, 0.0
    for n_iter in range(1, max_iter + 1):
        more, less = A.parts(w)
        positive, negative = B.parts(w)
        below = float(w @ (positive - negative))
        last = float(w @ (more - less)) / below if below > 0 else np.inf
        if not np.isfinite(last):
            return Result(w, last, n_iter, "tol")
        if last < 0:
            positive, negative = negative, positive
        rise, fall = more + abs(last) * negative, less + abs(last) * positive
        w = w * np.sqrt(np.divide(rise, fall, out=np.ones_like(w), where=fall > 0))
        w /= np.linalg.norm(w) or 1.0
        if tol and n_iter > 1 and last - previous <= tol * abs(last):
            return Result(w, quotient(A, B, w), n_iter, "tol")
        previous = last
    return Result(w, quotient(A, B, w), max_iter, "max_iter")


def oja(A: Form, B: Form, start: np.ndarray, max_iter: int, tol: float) -> Result:
    """NNP Eq. 21, as printed: w∘(A⁺w)/(A⁻w + w·wᵀBAw), from wᵀBw = 1 on. For A = S_B, B = S_W it is NNP Eq. 55.

    It stops once the direction no longer changes; the length need not settle, and on most data changes between two values.
    """
    length = float(start @ B.product(start))
    w = start / np.sqrt(length) if length > 0 else start.copy()
    for n_iter in range(1, max_iter + 1):
        positive, negative = A.parts(w)
        below = negative + w * float(w @ B.product(A.product(w)))
        if (below[w > 0] < 0).any():  # NNP Eq. 56 does not hold: the next w would be negative
            return Result(w, quotient(A, B, w), n_iter, "negative")
        new = w * np.divide(positive, below, out=np.zeros_like(w), where=below > 0)
        if not np.isfinite(new).all() or not new.any():
            return Result(w, quotient(A, B, w), n_iter, "negative")
        change = np.linalg.norm(_of_length_one(new) - _of_length_one(w))
        w = new
        if tol and change <= tol:
            return Result(w, quotient(A, B, w), n_iter, "tol")
    return Result(w, quotient(A, B, w), max_iter, "max_iter")


def _of_length_one(w: np.ndarray) -> np.ndarray:
    """W ≥ 0 over its length; squares of w itself may be no floats."""
    w = w / w.max()
    return np.asarray(w / np.linalg.norm(w))


RULES = {"rayleigh": rayleigh, "oja": oja}


class Entries:
    """A dense or sparse matrix."""

    def __init__(self, A: Any) -> None:
        self.A, self.sizes = A, abs(A)

    def product(self, w: np.ndarray) -> np.ndarray:
        return np.asarray(self.A @ w)

    def parts(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        bulk, product = np.asarray(self.sizes @ w), self.product(w)
        return (bulk + product) / 2, np.maximum(bulk - product, 0.0) / 2  # may be negative by rounding only


def ascend(A: Entries, B: Entries, start: np.ndarray, max_iter: int, tol: float) -> Result:
    """The rule for the quotient, resumed from a higher point as long as its end is no local maximum (second-order check)."""
    result = rayleigh(A, B, start, max_iter, tol)
    while result.stopped == "tol" and np.isfinite(result.ratio) and result.n_iter < max_iter:
        higher = _escape(A, B, result, start > 0, tol)
        if higher is None:
            break
        again = rayleigh(A, B, higher, max_iter - result.n_iter, tol)
        result = again._replace(n_iter=again.n_iter + result.n_iter)
    return result


_SUPPORT = 1e-6
"""Share of the largest weight above which a weight counts as positive; smaller ones are on their way to zero."""
_DENSE = tuned(500, by="tuned", on="2026-11-19")
"""Rows up to which all eigenvectors are computed, rather than the leading one by Lanczos iterations."""


def _escape(A: Entries, B: Entries, found: Result, is_free: np.ndarray, tol: float) -> np.ndarray | None:
    """A point above a stationary one; None at a local maximum.

    With λ the quotient at w and M = A − λB, it rises along v if vᵀMw > 0, or if vᵀMw = 0 and vᵀMv > 0. Tried are the positive part
    of Mw among zero weights, and the leading eigenvector of M among the positive ones. The best point of a line is a root of a
    quadratic equation.
    """
    w, ratio = found.w, found.ratio
    M = A.A - ratio * B.A
    positive = np.flatnonzero(w > _SUPPORT * w.max())
    bulk = A.sizes @ w + abs(ratio) * (B.sizes @ w)
    slope = np.asarray(M @ w)
    enters = np.where(is_free & (w <= _SUPPORT * w.max()) & (slope > 1e-8 * bulk), slope, 0.0)
    v = np.zeros_like(w)
    v[positive] = _leading_vector(M[np.ix_(positive, positive)] if not sparse.issparse(M) else M[positive][:, positive])
    points = [point for d in (enters, v, -v) if d.any() for point in _best_on_line(A, B, w, d)]
    points += [np.maximum(side, 0.0) for side in (v, -v)]
    best = max(points, key=lambda point: quotient(A, B, point) if point.any() else -np.inf)
    gain = quotient(A, B, best) - ratio
    return best / np.linalg.norm(best) if gain > max(tol, 1e-12) * abs(ratio) else None


def _leading_vector(M: Any) -> np.ndarray:
    """The eigenvector of the largest eigenvalue."""
    n = M.shape[0]
    if n <= _DENSE:
        return np.asarray(np.linalg.eigh(M.toarray() if sparse.issparse(M) else M)[1][:, -1])
    return np.asarray(eigsh(M, k=1, which="LA", v0=np.linspace(1.0, 2.0, n), tol=1e-6)[1][:, 0])


def _best_on_line(A: Entries, B: Entries, w: np.ndarray, d: np.ndarray) -> list[np.ndarray]:
    """Candidates for the largest quotient on w + t d ≥ 0, t > 0: the stationary points, and the end of the line."""
    Ad, Bd = A.product(d), B.product(d)
    a0, a1, a2 = float(w @ A.product(w)), float(w @ Ad), float(d @ Ad)
    b0, b1, b2 = float(w @ B.product(w)), float(w @ Bd), float(d @ Bd)
    roots = np.roots([a2 * b1 - a1 * b2, a2 * b0 - a0 * b2, a1 * b0 - a0 * b1])
    falls = d < 0
    end = float((w[falls] / -d[falls]).min()) if falls.any() else np.inf
    steps = [float(root.real) for root in roots if abs(root.imag) <= 1e-12 * abs(root) and 0 < root.real < end]
    steps += [end] if np.isfinite(end) else []
    return [np.maximum(w + t * d, 0.0) for t in steps]


@dataclass(frozen=True, eq=False)
class RayleighResult:
    """The result of `maximize_rayleigh`."""

    w: np.ndarray
    """The direction, w ≥ 0 with wᵀBw = 1."""
    value: float
    """wᵀAw."""
    n_iter: int
    """Iterations from the start that ended highest."""
    status: Status
    """Converged, with "rayleigh" to a local maximum; stopped at max_iter; or no progress, if the next w of NNP Eq. 21 would have
    been negative."""


def maximize_rayleigh(
    A: Any,
    B: Any = None,
    *,
    rule: str = "rayleigh",
    init: Any = None,
    n_init: int = 10,
    max_iter: int = 10_000,
    tol: float = 1e-10,
    random_state: Any = None,
) -> RayleighResult:
    r"""Maximize wᵀAw with wᵀBw = 1 over w ≥ 0, for any symmetric A and any positive semi-definite B.

    .. math:: \max_{w \ge 0} w^T A w \quad \text{with } w^T B w = 1

    Parameters
    ----------
    A : array or sparse array of shape (n, n)
        Symmetric, with entries of either sign.
    B : array or sparse array of shape (n, n), default=None
        Symmetric and positive semi-definite, with entries of either sign; by default the identity.
    rule : {"rayleigh", "oja"}, default="rayleigh"
        "rayleigh" raises wᵀAw / wᵀBw with each step. "oja" is NNP Eq. 21, as printed, which need not: see the notes.
    init : array of shape (n,), default=None
        The start, instead of random ones. Its zeros stay zero.
    n_init : int, default=10
        Random starts, uniform in (0, 1) as in NNP, each entry in units of its entry on the diagonal of B. The best end is returned.
    max_iter : int, default=10000
        Of each start.
    tol : float, default=1e-10
        Stop once the value grows by no more than this share of it; with "oja", once the direction changes by no more. 0 runs to
        `max_iter`.
    random_state : int, Generator, RandomState or None
        Of the random starts.

    Returns
    -------
    RayleighResult
        With `w`, `value`, `n_iter` and `status`.

    See Also
    --------
    NonnegativeLDA : A classifier from such directions.
    Objective : Objectives of your own.

    Notes
    -----
    NNP Eq. 21 is w ∘ (A⁺w)/(A⁻w + w·wᵀBAw), with A⁺ and A⁻ the positive and the negative entries of A. Its fixed points are
    eigenvectors of A, restricted to the support of w: B sets their length only. The rule for the quotient is
    w ∘ √[(A⁺w + λB⁻w)/(A⁻w + λB⁺w)], λ = wᵀAw/wᵀBw, under which λ never falls. At its end the second-order conditions are
    checked: from a saddle point, or a minimum, it goes on along an eigenvector of A − λB. So it ends in a local maximum; if A is
    neither of rank one nor free of negative entries there may be several. For Fisher's ratio `NonnegativeLDA` does better: it takes
    exact steps.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import maximize_rayleigh
    >>> A, B = np.array([[2.0, -1.0], [-1.0, 1.0]]), np.array([[1.0, 0.5], [0.5, 3.0]])
    >>> found = maximize_rayleigh(A, B, random_state=0)
    >>> found.w.round(3), round(found.value, 3)
    (array([1., 0.]), 2.0)
    """
    if not isinstance(rule, str) or rule not in RULES:
        raise IncompatibleError(f"Unknown rule {rule!r}. Known names: {', '.join(map(repr, RULES))}.")
    check_iterations(max_iter, tol)
    if not is_count(n_init, 1):
        raise IncompatibleError(f"n_init must be an int of at least 1; got {n_init!r}.")
    generator = make_generator(random_state)
    A, exponent = _read_matrix(A, "A")
    n = A.shape[0]
    B, other = _read_matrix(sparse.eye_array(n, format="csr") if B is None else B, "B")
    if B.shape != A.shape:
        raise ShapeError(f"A and B must have the same shape; A has {A.shape}, and B {B.shape}.")
    diagonal = np.asarray(B.diagonal())
    if diagonal.min() < 0:
        raise DataError(
            f"B must be positive semi-definite, and has {diagonal.min():g} on its diagonal, relative to its largest entry."
        )
    if init is None:
        units = np.sqrt(1 / np.where(diagonal > 0, diagonal, 1.0))
        starts = [units * generator.uniform(np.nextafter(0, 1), 1, n) for _ in range(n_init)]
    else:
        starts = [units := read_start(init, n, "rows of A")]
    above, below = Entries(A), Entries(B)
    if not all(float(start @ below.product(start)) > 0 for start in (units / units.max(), *starts)):
        raise DataError("wᵀBw is not above zero at the start, so that w cannot be scaled to wᵀBw = 1. B must be positive there.")
    run = oja if rule == "oja" else ascend
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        results = [run(above, below, start / start.max(), int(max_iter), float(tol)) for start in starts]
    result = max(results, key=lambda result: (result.stopped != "negative", result.ratio))
    status = {"tol": Status.CONVERGED, "max_iter": Status.MAX_ITER, "negative": Status.NO_PROGRESS}[result.stopped]
    if status is Status.NO_PROGRESS:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"maximize_rayleigh: rule='oja' stopped after {result.n_iter - 1} iterations, as the next w would have negative "
            "entries, or no others than zero: wᵀBAw is not positive there. Use rule='rayleigh'.",
            ConvergenceWarning,
            stacklevel=users_line(),
        )
    # A was divided by 2^exponent and B by 2^other, so that nothing over- or underflows on the way.
    length = np.sqrt(float(result.w @ below.product(result.w)))
    if not (length > 0 and np.isfinite(result.ratio)):
        raise DataError("B is singular: there is a w ≥ 0 with wᵀBw = 0, along which the ratio has no bound. Add a ridge to B.")
    scale, half = (other + 1) // 2, other % 2
    w = np.ldexp(result.w / length * np.sqrt(2.0) ** half, -scale)
    return RayleighResult(w, float(np.ldexp(result.ratio, exponent - other)), result.n_iter, status)


def check_iterations(max_iter: Any, tol: Any) -> None:
    if not isinstance(max_iter, Integral) or isinstance(max_iter, bool) or max_iter < 1:
        raise IncompatibleError(f"max_iter must be an int of at least 1; got {max_iter!r}.")
    if not is_number(tol) or tol < 0:
        raise IncompatibleError(f"tol must be a number of at least 0; got {tol!r}.")


def read_start(init: Any, n: int, items: str) -> np.ndarray:
    """Weights to start from, checked."""
    try:
        start = np.array(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"init must be numbers, one for each of the {n} {items}; got {init!r}.") from None
    if start.shape != (n,):
        raise ShapeError(f"init must have one weight for each of the {n} {items}; its shape is {start.shape}.")
    if not np.isfinite(start).all() or start.min() < 0 or not start.any():
        raise DataError("init must be finite, must not be negative anywhere, and not zero everywhere.")
    return start


def _read_matrix(A: Any, name: str) -> tuple[Any, int]:
    """A symmetric matrix in units of a power of two near its largest entry, and that power."""
    try:
        A = to_csr(A, name, dtype=np.float64) if sparse.issparse(A) else np.array(A, dtype=np.float64)
    except DataError:
        raise
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a square matrix of numbers; got {type(A).__name__}.") from None
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not A.shape[0]:
        raise ShapeError(f"{name} must be a square matrix; its shape is {A.shape}.")
    entries = A.data if sparse.issparse(A) else A
    if not np.isfinite(entries).all():
        raise DataError(f"{name} has NaN or infinity in it.")
    if not entries.any():
        raise DataError(f"{name} is zero everywhere: there is nothing to maximize.")
    exponent = int(np.frexp(np.abs(entries).max())[1])
    if sparse.issparse(A):
        A.data = np.ldexp(entries, -exponent)
    else:
        A = np.ldexp(A, -exponent)
    difference = float(abs(A - A.T).max())
    if difference > 1e-8:  # of entries below one: more than rounding of sums
        raise DataError(
            f"{name} must be symmetric, but entries differ from their mirror image by up to {difference:g} of the largest. Only "
            f"the symmetric part of {name} counts: give ({name} + {name}ᵀ)/2."
        )
    return A, exponent
