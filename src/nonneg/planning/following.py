"""Executable steps of a plan: functions from a holder of matrices, such as a point, to a product.

Every iteration takes the same steps, so the constants of a step are looked up once, when its function is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..algebra.expression import Letter, Word
from ..data import Data
from ..kernels.host import as_operand, multiplied, positive_part
from ..kernels.namespace import Array
from .steps import Apply, ApplyGram, Multiply, SelfProduct, SignedPart

Source = Callable[[Any], Array]
"""A function from a holder of matrices, such as a point, to a matrix."""


def prepared(
    step: Multiply | Apply | ApplyGram | SelfProduct | SignedPart,
    source: Callable[[Word], Source],
    reach: Callable[[Letter], tuple[Data, str]],
) -> Source:
    """The function of a step other than a `Visit`, which computes several products at once.

    Parameters
    ----------
    step : Step
    source : callable
        From a known word to its `Source`.
    reach : callable
        From a letter to its data and their sign: "⁺", "⁻", or "" for both.
    """
    match step:
        case Multiply(_, left, right):
            a, b = source(left), source(right)
            return lambda point: multiplied(a(point), b(point))
        case Apply(_, left, right, is_data_first):
            letter, other = (left[0], source(right)) if is_data_first else (right[0], source(left))
            data, sign = reach(letter)
            apply = data.apply if is_data_first else data.apply_after
            dtype, shape = data.namespace.dtype, data.shape
            return lambda point: apply(as_operand(other(point), dtype, shape), transposed=letter.transposed, sign=sign)
        case ApplyGram(_, left, right, is_gram_first):
            gram, other = (left, source(right)) if is_gram_first else (right, source(left))
            data, transposed = reach(gram[0])[0], gram[0].transposed
            apply_gram, dtype, shape = data.apply_gram, data.namespace.dtype, data.shape
            if is_gram_first:
                return lambda point: apply_gram(as_operand(other(point), dtype, shape), transposed=transposed)
            return lambda point: apply_gram(as_operand(other(point), dtype, shape).T, transposed=transposed).T
        case SelfProduct(result):
            with_itself, sides = reach(result[0])[0].with_itself, tuple(letter.transposed for letter in result)
            return lambda point: with_itself(*sides)
        case SignedPart(_, whole, sign):
            product = source(whole)
            return lambda point: positive_part(product(point) if sign == "⁺" else -product(point))
