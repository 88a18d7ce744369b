"""Constants at module level, with the sentence below each."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[2] / "src" / "nonneg"


class Number(NamedTuple):
    """A constant at module level, or several in one statement."""

    module: str
    name: str
    value: str
    decides: str
    by: str = ""
    """The benchmark that a tuned number was set by."""
    on: str = ""


def numbers(package: Path = PACKAGE) -> Iterator[Number]:
    """Constants of a package in capital letters whose values are numbers, or tuples of numbers."""
    for path in sorted(package.rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf8")).body
        for number, statement in enumerate(body):
            if not isinstance(statement, ast.Assign):
                continue
            value, given = _provenance(statement.value)
            if _is_number(value) and (name := _constant(statement.targets[0])):
                below = body[number + 1] if number + 1 < len(body) else None
                text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
                module = path.relative_to(package).with_suffix("").as_posix()
                yield Number(module, name, ast.unparse(value), " ".join(str(text).split()), **given)


def _provenance(value: ast.expr) -> tuple[ast.expr, dict[str, str]]:
    """The value inside `tuned(...)`, and what it says of itself; any other as it is."""
    match value:
        case ast.Call(func=ast.Name(id="tuned"), args=[inside], keywords=keywords):
            return inside, {keyword.arg or "": str(ast.literal_eval(keyword.value)) for keyword in keywords}
    return value, {}


def _constant(target: ast.expr) -> str:
    name = ast.unparse(target).strip("()")
    return name if re.fullmatch(r"_?[A-Z][A-Z0-9_]*(, _?[A-Z][A-Z0-9_]*)*", name) else ""


def _is_number(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=found):
            return isinstance(found, int | float) and not isinstance(found, bool)
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
        case ast.Tuple(elts=elements):
            return bool(elements) and all(map(_is_number, elements))
    return False
