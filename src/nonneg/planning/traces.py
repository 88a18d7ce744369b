"""Inner products of a factor with sums of words, from known products.

⟨F, w⟩ is the trace of Fᵀ w, and a trace is a cyclic word: it can be rotated, transposed, and cut into two known parts. So
⟨W, W Wᵀ X Xᵀ W⟩ and ⟨W, X Xᵀ W Wᵀ W⟩ are one number, and one of the two words suffices.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import NamedTuple

from ..algebra.expression import Word
from .steps import SelfProduct, SignedPart, Step, Visit, canonical


class Contraction(NamedTuple):
    """A multiple of ⟨left, right⟩, or of the trace of left if right is empty."""

    coefficient: float
    left: Word
    right: Word


def contractions(
    terms: Iterable[tuple[float, Word]], F: Word, have: Container[Word], rank: Callable[[Word], int]
) -> tuple[Contraction, ...]:
    """⟨F, Σ coefficient · word⟩ from canonical words in `have` as far as possible; `rank` is lowest for the best."""
    rings: dict[Word, tuple[float, Word]] = {}
    for coefficient, word in terms:
        ring = F.T + word
        name = min(turned for way in (ring, ring.T) for turned in _rotations(way))
        total, ring = rings.get(name, (0.0, ring))
        rings[name] = total + coefficient, ring
    return tuple(Contraction(coefficient, *_cut(ring, have, rank)) for coefficient, ring in rings.values())


def _rotations(ring: Word) -> list[Word]:
    """All cyclic rotations of a word: their traces are equal."""
    return [ring[i:] + ring[:i] for i in range(len(ring))]


def _cut(ring: Word, have: Container[Word], rank: Callable[[Word], int]) -> tuple[Word, Word]:
    """The best known words with ⟨left, right⟩ = tr(ring); or the ring itself and an empty word."""
    cuts: list[tuple[Word, Word]] = [(turned[:i].T, turned[i:]) for turned in _rotations(ring) for i in range(1, len(ring) + 1)]
    if len(ring) == 2:
        return cuts[0]
    at_hand = [cut for cut in cuts if all(not word or canonical(word)[0] in have for word in cut)]
    if at_hand:
        return min(at_hand, key=lambda cut: rank(cut[0]))
    return min(_rotations(ring)[:2], key=lambda word: abs(rank(word))), Word()


def needed(steps: Sequence[Step], words: Iterable[Word]) -> list[Step]:
    """The steps to the given words: all up to an elementwise pass over the data, and those on its products."""
    first = max((place for place, step in enumerate(steps, 1) if isinstance(step, Visit)), default=0)
    wanted, leading = {canonical(word)[0] for word in words}, []
    for step in reversed(steps[first:]):
        if not isinstance(step, Visit) and canonical(step.result)[0] in wanted:
            leading.append(step)
            wanted.update(canonical(word)[0] for word in _made_of(step))
    return [*steps[:first], *reversed(leading)]


def _made_of(step: Step) -> tuple[Word, ...]:
    """The words that a step takes as input."""
    match step:
        case SelfProduct() | Visit():
            return ()
        case SignedPart(_, whole, _):
            return (whole,)
        case _:
            return step.left, step.right
