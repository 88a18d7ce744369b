"""A case is a sequence of choices, each an int below a bound, of which 0 is the simplest.

So a case can be drawn from a seed alone, replayed from the ints, and shrunk without knowing what they stand for: by making them
smaller and fewer, as long as the same finding is made.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Ints that are drawn, or replayed as far as they are given, with zeros after them."""

    def __init__(self, seed: str | None = None, given: Sequence[int] = ()) -> None:
        self._random = random.Random(seed) if seed is not None else None
        self._given = given
        self.made: list[int] = []

    def below(self, bound: int) -> int:
        place = len(self.made)
        if self._random is not None:
            choice = self._random.randrange(bound)
        else:
            choice = min(self._given[place], bound - 1) if place < len(self._given) else 0
        self.made.append(choice)
        return choice

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, the first being the simplest."""
        return options[self.below(len(options))]

    def integer(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def one_in(self, count: int) -> bool:
        """Yes, once in so many times; no is simpler."""
        return self.below(count) == count - 1


def shrunk(choices: list[int], still: Callable[[list[int]], bool], attempts: int = 200) -> list[int]:
    """The simplest choices, greedily, that `still` make the same finding."""
    best, left = choices, attempts

    def is_better(candidate: list[int]) -> bool:
        nonlocal best, left
        if candidate == best or left <= 0:
            return False
        left -= 1
        if still(candidate):
            best = candidate
            return True
        return False

    size = len(best)
    while size:  # first whole stretches, then single choices
        for start in range(0, len(best), size):
            stretch = best[start : start + size]
            if any(stretch):
                is_better([*best[:start], *[0] * len(stretch), *best[start + size :]])
            is_better([*best[:start], *best[start + size :]])
        size //= 2
    improved = True
    while improved and left > 0:
        improved = False
        for place in range(len(best)):
            while place < len(best) and best[place] and left > 0:
                smaller = [value for value in dict.fromkeys((0, best[place] // 2, best[place] - 1)) if value < best[place]]
                if not any(is_better([*best[:place], value, *best[place + 1 :]]) for value in smaller):
                    break
                improved = True
    return best
