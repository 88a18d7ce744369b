"""One step of a plan, taken: the product that it stands for, by the data where the data have a part in it."""

from __future__ import annotations

from collections.abc import Callable

from ..algebra.expression import Letter, Word
from ..data import Data
from ..data.host import multiplied, positive_part
from ..data.namespace import Array
from .steps import Apply, ApplyGram, Multiply, SelfProduct, SignedPart


def computed(
    step: Multiply | Apply | ApplyGram | SelfProduct | SignedPart,
    value: Callable[[Word], Array],
    reach: Callable[[Letter], tuple[Data, str]],
) -> Array:
    """What a step computes, all but a `Visit`, which computes several products at once.

    Parameters
    ----------
    step : Step
    value : callable
        The value of a word that is known.
    reach : callable
        The data that a letter stands for, and of which sign: "⁺", "⁻", or "" for all of it.
    """
    match step:
        case Multiply(_, left, right):
            return multiplied(value(left), value(right))
        case Apply(_, left, right, is_data_first):
            letter, other = (left[0], value(right)) if is_data_first else (right[0], value(left))
            data, sign = reach(letter)
            return (data.apply if is_data_first else data.apply_after)(other, transposed=letter.transposed, sign=sign)
        case ApplyGram(_, left, right, is_gram_first):
            gram, other = (left, value(right)) if is_gram_first else (right, value(left).T)
            found = reach(gram[0])[0].apply_gram(other, transposed=gram[0].transposed)
            return found if is_gram_first else found.T
        case SelfProduct(result):
            return reach(result[0])[0].with_itself(*(letter.transposed for letter in result))
        case SignedPart(_, whole, sign):
            return positive_part(value(whole) if sign == "⁺" else -value(whole))
