import numpy as np
import pytest

from nonneg.algebra.expression import Word, parse
from nonneg.planning import Multiply, Visit, canonical
from nonneg.planning.plans import multiply
from nonneg.planning.steps import results
from nonneg.planning.traces import contractions, needed

SHAPES = {"W": (6, 2), "X": (6, 5), "H": (2, 5)}
W, H = parse("W"), parse("H")


def words(*texts):
    return {canonical(parse(text))[0] for text in texts}


def entries(word):
    sizes = [SHAPES[name][:: -1 if flipped else 1] for name, flipped in word]
    return sizes[0][0] * sizes[-1][1]


@pytest.mark.parametrize(
    ("terms", "factor", "have", "expected"),
    [
        # one number, whichever way round it stands, from the two small matrices that are there
        ({"W W.T X X.T W": 1, "X X.T W W.T W": 1}, W, ("W.T W", "W.T X X.T W", "X X.T W"), [(2, 4)]),
        ({"X X.T W": 2}, W, ("W", "X X.T W"), [(2, 12)]),
        ({"X X.T W": 2}, W, ("W", "X X.T W", "W.T X X.T W"), [(2, 12)]),
        ({"X X.T W": 2}, W, ("W.T X X.T W",), [(2, 0)]),
        ({"X H.T": 1, "W H H.T": -1}, W, ("W", "X H.T", "H H.T", "W.T W"), [(1, 12), (-1, 4)]),
        ({"W.T W H": 1}, H, (), [(1, 0)]),
        ({"X": 1}, parse("X"), (), [(1, 30)]),
    ],
    ids=str,
)
def test_contractions(terms, factor, have, expected, rng):
    """Their coefficients, and the entries summed over, none for a trace; and that they come to ⟨F, Σ w⟩."""
    terms = [(coefficient, parse(text)) for text, coefficient in terms.items()]
    said = contractions(terms, factor, words(*have), lambda word: -entries(word))
    matrices = {name: rng.random(shape) for name, shape in SHAPES.items()}

    def value(word):
        return multiply(word, matrices)

    assert sorted((c, entries(left) if right else 0) for c, left, right in said) == sorted(expected)
    total = sum(c * (np.sum(value(left) * value(right)) if right else np.trace(value(left))) for c, left, right in said)
    assert total == pytest.approx(sum(c * np.sum(value(factor) * value(word)) for c, word in terms))


def test_sums_are_as_long_as_can_be_or_as_short():
    have = words("W", "W.T W", "W.T X X.T W", "W W.T X X.T W")
    ((_, left, right),) = contractions([(1.0, parse("W W.T X X.T W"))], W, have, lambda word: -entries(word))
    assert {canonical(left)[0], canonical(right)[0]} == words("W", "W W.T X X.T W")
    ((_, left, right),) = contractions([(1.0, parse("W W.T X X.T W"))], W, have, entries)
    assert {canonical(left)[0], canonical(right)[0]} == words("W.T W", "W.T X X.T W")


def test_steps_of_a_plan():
    XH, HH, WHH = (Multiply(parse(" ".join((a, b))), parse(a), parse(b)) for a, b in (("X", "H.T"), ("H", "H.T"), ("W", "H H.T")))
    assert needed([XH, HH, WHH], [parse("W H H.T")]) == [HH, WHH]
    assert needed([XH, HH, WHH], [parse("H X.T")]) == [XH]  # a product and its transpose are one
    assert needed([XH, HH, WHH], [W]) == []
    visit = Visit(W, H, (parse("E H.T"),), False)
    assert needed([HH, visit, XH], [parse("E H.T")]) == [HH, visit]
    assert results([XH, visit]) == {parse("H X.T"): parse("X H.T"), parse("E H.T"): parse("E H.T")}
    assert Word() not in results([XH])
