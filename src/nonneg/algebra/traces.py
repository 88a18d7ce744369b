"""Sums of traces and squared norms as text, and their derivatives as sums of words.

>>> objective = parse_traces("½‖X − W H‖² + 0.1 tr(W.T L W)")
>>> print(objective)
1/2 Xᵀ X + 1/2 Hᵀ Wᵀ W H − Xᵀ W H + 0.1 Wᵀ L W
>>> print(derivative_of_trace(objective, "H"))
Wᵀ W H − Wᵀ X
"""

from __future__ import annotations

import re
from fractions import Fraction

from ..exceptions import ExpressionError
from .expression import Word, parse
from .rewriting import Sum, derivative, rational

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|½)|(?P<name>(?!ᵀ)[^\W\d](?:(?!ᵀ)\w)*(?:\.T|ᵀ|')?)"
    r"|(?P<square>(?:‖|\|\|?)\s*(?:²|\^2|\*\*2))|(?P<sign>[-+−*/()@]|‖|\|\|?))"
)


class _Reader:
    """A text, read token by token."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self.tokens: list[tuple[str, str]] = []
        end = len(text.rstrip())
        while self.place < end:
            match = _TOKEN.match(text, self.place)
            if match is None:
                raise self.error(f"cannot read {text[self.place :].strip()!r}")
            self.place = match.end()
            kind = str(match.lastgroup)
            self.tokens.append((kind, match[kind].replace("−", "-").replace("||", "‖").replace("|", "‖")))
        self.place = 0

    def error(self, reason: str) -> ExpressionError:
        return ExpressionError(
            f"In {self.text!r}: {reason}. Write sums of words such as 'A W - 2 B', their squared norms '‖X - W H‖²' (or "
            "'|X - W H|^2') and traces 'tr(W.T L W)', each with a number in front if it has one."
        )

    def next_is(self, *tokens: str) -> bool:
        return self.place < len(self.tokens) and self.tokens[self.place][1] in tokens

    def kind(self) -> str:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        self.place += 1
        return self.tokens[self.place - 1][1]

    def expect(self, token: str) -> None:
        if not self.next_is(token):
            found = repr(self.tokens[self.place][1]) if self.place < len(self.tokens) else "the end"
            raise self.error(f"{token!r} should follow, not {found}")
        self.take()

    def number(self) -> Fraction:
        """A coefficient: numbers, multiplied or divided; 1 if there is none."""
        found = Fraction(1)
        while self.kind() == "number":
            text = self.take()
            found *= Fraction(1, 2) if text == "½" else rational(float(text))
            while self.next_is("/"):
                self.take()
                if self.kind() != "number":
                    raise self.error("a number should follow '/'")
                found /= rational(float(self.take()))
            if self.next_is("*"):
                self.take()
        return found

    def sign(self) -> int:
        """The sign in front of a term."""
        return -1 if self.next_is("+", "-") and self.take() == "-" else 1

    def words(self) -> Sum:
        """A sum of words."""
        terms = []
        while True:
            coefficient = self.sign() * self.number()
            names = []
            while self.kind() == "name" or self.next_is("@"):
                token = self.take()
                names += [token] if token != "@" else []
            if not names:
                raise self.error("a word, such as 'W H', is missing")
            terms.append((parse(" ".join(names)), coefficient))
            if not self.next_is("+", "-"):
                return Sum(terms)

    def traces(self) -> Sum:
        """A sum of traces and squared norms, as the words to be traced."""
        total = Sum()
        while True:
            coefficient = self.sign() * self.number()
            if self.next_is("tr", "Tr"):
                self.take()
                self.expect("(")
                inside = self.words()
                self.expect(")")
            elif self.next_is("‖"):
                self.take()
                inside = _squared(self.words())
                if self.kind() != "square":
                    raise self.error("'‖²' should close a norm")
                self.take()
            else:
                raise self.error("a term begins with 'tr(' or '‖'")
            total = total + inside.scaled(coefficient)
            if not self.next_is("+", "-"):
                return total

    def finished(self, found: Sum) -> Sum:
        if self.place < len(self.tokens):
            raise self.error(f"{self.tokens[self.place][1]!r} is not expected")
        return found


def _squared(part: Sum) -> Sum:
    """The words whose traces add up to ‖part‖²; equal traces are added up."""
    terms = list(part)
    pairs = [(word.T + word, c * c) for word, c in terms]
    pairs += [(one.T + other, 2 * c * d) for i, (one, c) in enumerate(terms) for other, d in terms[i + 1 :]]
    return Sum(pairs)


def parse_traces(text: str) -> Sum:
    """A sum of traces and squared norms, as the words to be traced."""
    reader = _Reader(text)
    return reader.finished(reader.traces())


def parse_sum(text: str) -> Sum:
    """A sum of words, each with its coefficient."""
    reader = _Reader(text)
    return reader.finished(reader.words())


def names_in(text: str) -> list[str]:
    """Names of matrices, each once, in order of appearance."""
    named = [parse(token)[0].name for kind, token in _Reader(text).tokens if kind == "name" and token not in ("tr", "Tr")]
    return list(dict.fromkeys(named))


def derivative_of_trace(part: Sum, factor: str) -> Sum:
    """The derivative by a factor of the traces of words."""
    total = Sum()
    for word, coefficient in part:
        total = total + derivative(word, factor, Sum.of(Word())).scaled(coefficient)
    return total
