from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

from nonneg.algebra.expression import Letter, Word, parse
from nonneg.algebra.rewriting import (
    Sum,
    by_sign,
    cancel,
    derivative,
    letter_by_letter,
    rational,
    reduce_identity,
    split_signs,
    symmetric,
    without_common_number,
)


def sum_of(**terms):
    """Sum from text: ``sum_of(A_B=2)`` is 2 A B."""
    return Sum({parse(text.replace("_", " ").replace("T ", ".T ")): c for text, c in terms.items()})


def evaluate(total, matrices):
    def product(word):
        return reduce(np.matmul, (matrices[name].T if flipped else matrices[name] for name, flipped in word))

    return sum(float(c) * product(word) for word, c in total)


def test_equal_words_add_up_and_vanish_at_zero():
    A, B = sum_of(A=1), sum_of(B=1)
    assert sum_of(A=2) == A + A
    assert not A - A
    assert A + B == B + A
    assert hash(A + B) == hash(B + A)
    assert Sum({parse("A.T"): 1, parse("B.T"): Fraction(1, 2)}) == (A + B.scaled(Fraction(1, 2))).T
    assert Sum.of(parse("A"), parse("A")) == sum_of(A=2)


@pytest.mark.parametrize(
    ("total", "text"),
    [(Sum(), "0"), (sum_of(A=1, B=-2), "A − 2 B"), (sum_of(A=-1), "− A"), (Sum({parse("A B.T"): Fraction(1, 2)}), "1/2 A Bᵀ")],
)
def test_print(total, text):
    assert str(total) == text


@pytest.mark.parametrize("form", ["W H", "W W.T X", "A W B W.T A.T", "W B W.T", "H.T W.T", "W W W"])
def test_the_chain_rule(form, rng):
    """⟨M, product⟩ by W is the sum over the occurrences of W; complex steps differentiate it exactly."""
    word = parse(form)
    matrices = {name: rng.random((3, 3)) for name in [*word.names, "M"]}
    W, step = matrices["W"], 1e-30
    expected = np.empty_like(W)
    for place in np.ndindex(W.shape):
        moved = W.astype(complex)
        moved[place] += 1j * step
        expected[place] = np.sum(matrices["M"] * evaluate(Sum.of(word), {**matrices, "W": moved})).imag / step
    np.testing.assert_allclose(evaluate(derivative(word, "W", sum_of(M=1)), matrices), expected)


def test_no_occurrence_no_derivative():
    assert not derivative(parse("A B"), "W", sum_of(M=1))


@pytest.mark.parametrize(
    ("text", "axis", "expected"),
    [
        ("W W.T W", "columns", "W"),
        ("W.T W W.T W A", "columns", "A"),
        ("A W W.T", "columns", "A W W.T"),
        ("H H.T H", "rows", "H"),
        ("A.T W.T W B", "columns", "A.T B"),
    ],
)
def test_reduce_identity(text, axis, expected):
    name = text.split()[-1][0] if axis == "rows" else "W"
    assert reduce_identity(parse(text), Letter(name, axis == "columns")) == parse(expected)


def test_reduce_identity_to_the_empty_word():
    assert reduce_identity(parse("W.T W.T W W"), Letter("W", True)) == Word()


def test_cancel_takes_the_common_part_out_of_both_sides():
    numerator, denominator = cancel(sum_of(A=6, B=1), sum_of(A=4, C=3))
    assert (numerator, denominator) == (sum_of(A=2, B=1), sum_of(C=3))


@pytest.mark.parametrize(("a", "b", "expected"), [(4, 6, (2, 3)), (Fraction(1, 2), Fraction(3, 4), (2, 3)), (5, 5, (1, 1))])
def test_common_numbers_are_divided_out(a, b, expected):
    assert without_common_number(sum_of(A=a), sum_of(B=b)) == (sum_of(A=expected[0]), sum_of(B=expected[1]))
    assert without_common_number(Sum(), Sum()) == (Sum(), Sum())


def test_split_signs_keeps_the_difference_and_leaves_both_sides_non_negative(rng):
    S, W = rng.standard_normal((3, 3)), rng.random((3, 3))
    matrices = {"S": S, "W": W, "S⁺": np.maximum(S, 0), "S⁻": np.maximum(-S, 0)}
    part = Sum({parse("S W S"): 2, parse("W S.T W"): -1, parse("W"): -1})
    sides = by_sign(split_signs(part, {"W"}, lambda piece: letter_by_letter(piece, "S")))
    difference = evaluate(part, matrices)
    values = [evaluate(side, matrices) for side in sides]
    np.testing.assert_allclose(values[0] - values[1], difference)
    assert all((value >= 0).all() for value in values)
    assert all("S" not in word.names for side in sides for word, _ in side)


def test_numbers_that_are_not_simple_stay_readable():
    assert rational(0.3) == Fraction(3, 10)
    assert rational(1 / 3) == Fraction(1, 3)
    assert float(rational(1e-12)) == 1e-12
    assert float(rational(0.123456789)) == 0.123456789
    ones, others = without_common_number(sum_of(A=2), Sum({parse("B"): 2 * rational(0.123456789)}))
    assert (str(ones), str(others)) == ("A", "0.123457 B")


def test_pieces_between_a_factor_are_split_as_a_whole():
    def split(piece):
        return [(Word([Letter(f"({piece}){mark}")]), sign) for mark, sign in (("⁺", 1), ("⁻", -1))]

    found = split_signs(Sum({parse("A B W C"): 1}), {"W"}, split)
    assert str(found) == "(A B)⁺ W (C)⁺ − (A B)⁺ W (C)⁻ − (A B)⁻ W (C)⁺ + (A B)⁻ W (C)⁻"
    assert split_signs(Sum({parse("W W.T"): 3}), {"W"}, split) == Sum({parse("W W.T"): 3})


def test_symmetric_matrices_lose_their_transposes():
    assert symmetric(parse("S.T W.T S"), {"S"}) == parse("S W.T S")
