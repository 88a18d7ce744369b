import pytest

from nonneg.algebra.expression import THETA, Letter, Word, parse
from nonneg.exceptions import ExpressionError


@pytest.mark.parametrize("text", ["W W.T X", "W W' X", "W Wᵀ X", "W@W.T@X", "  W   W.T @ X "])
def test_spellings_of_one_form(text):
    assert parse(text) == (Letter("W"), Letter("W", True), Letter("X"))


@pytest.mark.parametrize("text", ["W", "W.T", "W H", "A W B W.T C", "W_1 H2.T", "Φ β.T"])
def test_text_is_read_back_as_the_same_word(text):
    word = parse(text)
    assert word.text == text
    assert parse(str(word)) == word == word.T.T
    assert eval(repr(word)) == word


def test_words_multiply_by_concatenation_and_transpose_by_reversal():
    left, right = parse("A B.T"), parse("C")
    assert left + right == parse("A B.T C")
    assert (left + right).T == right.T + left.T == parse("C.T B A.T")
    assert isinstance(left[:1], Word)
    assert left[1] == Letter("B", True)
    assert str(Word()) == "I"


def test_a_scalar_commutes_and_has_no_transpose():
    word = parse("A B") + Word([Letter(THETA)]) + parse("C")
    assert word[0] == Letter(THETA) == word.T[0]
    assert word.matrices == parse("A B C")


@pytest.mark.parametrize(
    ("text", "is_gram"), [("W W.T", True), ("W.T W", True), ("A B B.T A.T", True), ("W W", False), ("A B.T", False), ("W", False)]
)
def test_is_gram(text, is_gram):
    assert parse(text).is_gram is is_gram


def test_occurrences():
    word = parse("A W B W.T C")
    assert word.names == ("A", "W", "B", "C")
    assert word.count("W") == 2
    assert word.count("Q") == 0
    assert list(word.around("W")) == [
        (parse("A"), Letter("W"), parse("B W.T C")),
        (parse("A W B"), Letter("W", True), parse("C")),
    ]


@pytest.mark.parametrize("text", ["W*H", "W + H", "1W H", "W.t", "W.T.T", "W^T", "(W H)", "W,H", "2 W"])
def test_unreadable_forms_are_quoted(text):
    with pytest.raises(ExpressionError, match=r"Cannot read .* in the form .*\.T for a transpose"):
        parse(text)


@pytest.mark.parametrize("text", ["", "   ", "@"])
def test_empty_form(text):
    with pytest.raises(ExpressionError, match="form is empty"):
        parse(text)


@pytest.mark.parametrize("form", [5, None, ("W", "H"), ["W", "H"]])
def test_a_form_is_text(form):
    with pytest.raises(ExpressionError, match="form is text such as"):
        parse(form)


@pytest.mark.parametrize("text", ["W θ H", "Wᵀᵀ H"])
def test_names_that_cannot_be_factors(text):
    with pytest.raises(ExpressionError):
        parse(text)
