"""Checks that any model can be put through: objectives that never rise, K.K.T. conditions, gradients.

The reference is computed a second time, dense and naive: values and derivatives from the textbook formulas, products from
left to right. Nothing of the engine is used for it but the form, read as a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import matmul
from typing import Any

import numpy as np
from scipy import sparse

from .algebra.expression import Word
from .algebra.majorization import PowerLaw
from .constraints import Constraint, DoublyStochastic, Stochastic
from .divergences import Objective, get_divergence
from .exceptions import IncompatibleError
from .kernels.namespace import Array, namespace_of, to_host
from .model import Model
from .solve.initialization import RandomState
from .solve.problem import point_at
from .solve.signature import infer_shapes
from .solve.solution import Solution

__all__ = ["assert_kkt", "assert_monotone", "check_gradient", "dense_gradient", "divergence_parts", "divergence_value"]


def assert_monotone(solution: Solution, rtol: float = 1e-12) -> None:
    """Assert that the objective never rose from one check to the next; if it is maximised, that it never fell.

    Parameters
    ----------
    solution : Solution
        Of a run with ``check_every=1``, if no step is to be missed.
    rtol : float
        Tolerance for rounding, relative to the largest value in the history. An objective is a difference of sums, known to a few
        hundred times the dtype's epsilon of them: the default is for float64, float32 needs about 1e-4. With 0 no rise is let pass.

    See Also
    --------
    assert_kkt : The point is stationary.
    check_gradient : Gradients and their parts.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.testing import assert_monotone
    >>> X = np.random.default_rng(0).random((9, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=2, solver="multiplicative", check_every=1, random_state=0)
    >>> assert_monotone(solution)
    """
    values = solution.history.objective * (-1.0 if solution.model.divergence.maximised else 1.0)
    _require(bool(np.all(np.isfinite(values))), "The objective is not finite at every check.")
    rises = np.diff(values)
    allowed = rtol * np.max(np.abs(values))
    worst = int(np.argmax(rises)) if rises.size else 0
    _require(
        not np.any(rises > allowed),
        lambda: (
            f"The objective got worse by {rises[worst]:.3g} at iteration {solution.history.iteration[worst + 1]}, from "
            f"{solution.history.objective[worst]:.17g}; rounding is {allowed:.3g}."
        ),
    )


def assert_kkt(model: Model, X: Any, factors: Mapping[str, Array], tol: float = 1e-6) -> None:
    """Assert the conditions of Karush, Kuhn and Tucker: F ≥ 0, ∇ ≥ 0 and F∘∇ = 0 for every learned F, ∇ = 0 if signed.

    Parameters
    ----------
    model : Model
        Its learned factors free, signed, stochastic or doubly stochastic. Of the last two, ∇ is the gradient of the Lagrangian,
        with the multipliers that fit best on the support of F.
    X : array or sparse array
        The data.
    factors : dict of arrays
        Of all factors, as in ``solution.factors``.
    tol : float
        ∇ may be negative by so much of ∇⁺ + ∇⁻ at the same place; F∘∇ may differ from zero by so much of the largest entry of F
        times the largest of ∇⁺ + ∇⁻.

    See Also
    --------
    assert_monotone : The objective never rose.
    check_gradient : Gradients and their parts.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.testing import assert_kkt
    >>> X = np.random.default_rng(0).random((9, 2)) @ np.random.default_rng(1).random((2, 8))
    >>> solution = nonneg.factorize(X, "W H", rank=2, tol=0, max_iter=300, random_state=0)
    >>> assert_kkt(solution.model, X, solution.factors, tol=1e-3)
    """
    matrices = {name: _dense(factor) for name, factor in factors.items()} | {model.data: _dense(X)}
    for name in model.learned:
        factor, (slack, size) = matrices[name], dense_gradient(model, name, matrices)
        slack -= _multipliers(model.constraints[name], factor, slack)
        if model.constraints[name].is_signed:
            worst = np.max(np.abs(slack)) / np.max(size)
            _require(worst <= tol, f"The gradient by {name}, which is of either sign, is not zero but {worst:.3g} of its parts.")
            continue
        product = np.max(np.abs(factor * slack)) / (np.max(factor) * np.max(size))
        _require(bool(np.all(factor >= 0)), f"{name} has negative entries.")
        _require(
            bool(np.all(slack >= -tol * size)),
            lambda s=slack, z=size, n=name: f"The gradient by {n} is negative, by {np.max(-s / z):.3g} of its parts.",
        )
        _require(product <= tol, f"{name} and its gradient are both positive somewhere, with a product of {product:.3g}.")


def check_gradient(
    model: Model,
    X: Any,
    rank: int | Sequence[int] | None = None,
    *,
    factors: Mapping[str, Array] | None = None,
    random_state: RandomState = 0,
    tol: float = 1e-6,
) -> None:
    """Assert that the two parts of every gradient are non-negative, and that their difference is the derivative.

    Parameters
    ----------
    model : Model
        Its rules are checked, for every learned factor.
    X : array or sparse array
        The data.
    rank : int or sequence of int, optional
        Of the factors, if they are to be drawn.
    factors : dict of arrays, optional
        Point of the check; drawn from [0.5, 1.5) by default, fixed factors too.
    random_state : int, Generator or RandomState
        To draw them with.
    tol : float
        How far the difference of the parts may be from central differences of `divergence_value`, relative to the sum of the parts.
        With a step of ε^(1/3), central differences are good to ε^(2/3) = 4e-11 of the sums that make up a value, of which the
        gradient by one entry is a small part.

    See Also
    --------
    dense_gradient : The gradient it compares with.
    assert_monotone : The objective never rose.

    Notes
    -----
    The derivative of the dual I-divergence, −ln(X/X̂), has no parts of one sign; for it only the difference is checked.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.testing import check_gradient
    >>> check_gradient(nonneg.Model("W W.T X", "kullback-leibler"), np.random.default_rng(0).random((5, 4)), rank=2)
    """
    if factors is None:
        generator = np.random.default_rng(random_state) if isinstance(random_state, int | None) else random_state
        shapes = infer_shapes(model, X.shape, rank, {})
        factors = {name: generator.uniform(0.5, 1.5, shape) for name, shape in shapes.items()}
    matrices = {**factors, model.data: _dense(X)}
    point = point_at(model, X, factors)
    for name in model.learned:
        positive, negative = map(to_host, point.gradient(name))
        if isinstance(model.divergence.law, PowerLaw):
            _require(bool(np.all(positive >= 0) and np.all(negative >= 0)), f"A part of the gradient by {name} is negative.")
        _, size = dense_gradient(model, name, matrices)
        error = np.max(np.abs(positive - negative - _central_differences(model, name, matrices))) / np.max(size)
        _require(error <= tol, f"The gradient by {name} is off by {error:.3g} of the sum of its parts.")


def divergence_value(divergence: str | float | Objective, X: Array, approximation: Array) -> Array:
    """D(X ‖ X̂) as the textbooks print it; the trace of X̂ for the trace objective.

    Written with the operations of the array's own library, so that automatic differentiation can follow.

    Parameters
    ----------
    divergence : str, float or Objective
        See `nonneg.divergences`.
    X : array
        The data.
    approximation : array
        X̂, of the shape of X.

    Returns
    -------
    array
        One number.

    See Also
    --------
    divergence_parts : The two parts of its derivative.
    nonneg.divergences.get_divergence : Divergences by name or number.

    Examples
    --------
    >>> float(divergence_value("euclidean", np.array([[3.0, 1.0]]), np.array([[1.0, 1.0]])))
    2.0
    """
    return get_divergence(divergence).textbook(X, approximation, namespace_of(approximation).xp)


def divergence_parts(
    divergence: str | float | Objective, X: np.ndarray, approximation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """P and Q of ∂D/∂X̂ = P − Q, QNMF Table 1; for the dual I-divergence 1 and 1 + ln(X/X̂), for the trace 0 and I.

    Parameters
    ----------
    divergence : str, float or Objective
        See `nonneg.divergences`.
    X : array
        The data.
    approximation : array
        X̂, of the shape of X.

    Returns
    -------
    tuple of two arrays
        P and Q, each of the shape of X.

    See Also
    --------
    divergence_value : The value.
    dense_gradient : The gradient by a factor.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg.testing import divergence_parts
    >>> P, Q = divergence_parts("euclidean", np.array([[1.0, 2]]), np.array([[3.0, 4]]))
    >>> P, Q
    (array([[3., 4.]]), array([[1., 2.]]))
    """
    return get_divergence(divergence).textbook_parts(X, approximation)


def dense_gradient(model: Model, factor: str, matrices: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The gradient ∇⁺ − ∇⁻ of the objective by a factor, and the sum ∇⁺ + ∇⁻ it is small against, QNMF Eq. 9.

    Parameters
    ----------
    model : Model
        Form and divergence.
    factor : str
        Name of the factor.
    matrices : dict of arrays
        All matrices of the form, and the data.

    Returns
    -------
    tuple of two arrays
        ∇⁺ − ∇⁻ and ∇⁺ + ∇⁻.

    See Also
    --------
    check_gradient : Compares it with differences.
    divergence_parts : The derivative by X̂.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> from nonneg.testing import dense_gradient
    >>> W, H = np.ones((2, 1)), np.ones((1, 2))
    >>> gradient, size = dense_gradient(nonneg.Model("W H"), "W", {"X": np.eye(2), "W": W, "H": H})
    >>> gradient
    array([[1.],
           [1.]])
    """
    P, Q = divergence_parts(model.divergence, matrices[model.data], _product(model.form, matrices))
    sizes = {name: np.abs(matrix) for name, matrix in matrices.items()}
    return _occurrences(model.form, factor, P - Q, matrices), _occurrences(model.form, factor, np.abs(P) + np.abs(Q), sizes)


def _occurrences(form: Word, factor: str, middle: np.ndarray, matrices: Mapping[str, np.ndarray]) -> np.ndarray:
    """Σ over the occurrences of a factor of leftᵀ · middle · rightᵀ, transposed like the occurrence."""
    total = np.zeros_like(matrices[factor])
    for left, occurrence, right in form.around(factor):
        piece = reduce(matmul, [*_arrays(left.T, matrices), middle, *_arrays(right.T, matrices)])
        total += piece.T if occurrence.transposed else piece
    return total


def _central_differences(model: Model, factor: str, matrices: Mapping[str, np.ndarray]) -> np.ndarray:
    sign = -1.0 if model.divergence.maximised else 1.0

    def value(F: np.ndarray) -> float:
        return sign * divergence_value(model.divergence, matrices[model.data], _product(model.form, {**matrices, factor: F}))

    F, step = matrices[factor], np.finfo(np.float64).eps ** (1 / 3)
    derivative = np.empty_like(F)
    for place in np.ndindex(F.shape):
        change = np.zeros_like(F)
        change[place] = step * F[place]
        derivative[place] = (value(F + change) - value(F - change)) / (2 * change[place])
    return derivative


def _multipliers(constraint: Constraint, factor: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Multipliers of the sums at each entry: λ, or λ + μ, fitted to the gradient on the support of the factor."""
    if constraint.is_free or constraint.is_signed:
        return np.zeros_like(gradient)
    rows, columns = np.indices(factor.shape)
    match constraint:
        case Stochastic("columns"):
            conditions = [columns]
        case Stochastic("rows"):
            conditions = [rows]
        case Stochastic("matrix"):
            conditions = [0 * rows]
        case DoublyStochastic():
            conditions = [rows, columns]
        case _:
            raise IncompatibleError(f"assert_kkt knows free and stochastic factors; got the constraint {constraint!r}.")
    normals = np.hstack([np.eye(condition.max() + 1)[condition.ravel()] for condition in conditions])
    weights = factor.ravel()
    solution, *_ = np.linalg.lstsq(weights[:, None] * normals, weights * gradient.ravel())
    return (normals @ solution).reshape(factor.shape)


def _arrays(word: Word, matrices: Mapping[str, Array]) -> list[Array]:
    return [matrices[letter.name].T if letter.transposed else matrices[letter.name] for letter in word]


def _product(word: Word, matrices: Mapping[str, Array]) -> Array:
    return reduce(matmul, _arrays(word, matrices))


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(to_host(matrix), dtype=np.float64)


def _require(condition: bool, message: Any) -> None:
    """An assertion that ``python -O`` leaves in place; the message may be a function, called if it is needed."""
    if not condition:
        raise AssertionError(message() if callable(message) else message)
