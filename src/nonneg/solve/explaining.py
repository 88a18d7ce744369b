"""The lines that explain a strategy: data, model, first pass, stages, memory and passes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..algebra.expression import Word
from ..planning.steps import Multiply, SignedPart
from .explanation import Explanation, Step
from .signature import Signature
from .strategy import Stage, Strategy
from .surrogate import PER_COMPONENT, FirstPass, Kind, directions, most_rounds, side_of

_COPIES = 5
"""Arrays of the size of the factors that a run holds: the point, the best, the last, and two while a factor is updated."""
_PRODUCTS = 4
"""Products of X with its factors that a run holds."""
_FORMED = 5
"""Arrays of the size of a formed product: itself, its root, and their decomposition."""
_SIDES = {"rows": "XᵀX", "columns": "XXᵀ"}


def explain_strategy(signature: Signature, strategy: Strategy, solved: str, restarts: int = 1) -> Explanation:
    """The explanation of a strategy for a problem.

    Parameters
    ----------
    signature : Signature
    strategy : Strategy
    solved : str
        The model, in a line.
    restarts : int
    """
    steps = tuple(_steps(signature, strategy, restarts))
    memory = f"about {_bytes(_memory(signature, strategy))} beyond X"
    return Explanation(
        _data(signature), solved, _first_pass(signature, strategy.first_pass), steps, memory, _passes(signature, strategy)
    )


def _data(signature: Signature) -> str:
    data = signature.data
    rows, columns = data.shape
    is_whole = data.non_zeros >= rows * columns or data.out_of_core
    entries = f", {data.non_zeros / max(rows * columns, 1):.3g} of its entries non-zero" if not is_whole else ""
    known = ", entries weighted" if data.weighted or signature.has_weights else ", all entries known"
    known = ", missing entries filled by the model" if signature.is_filled else known
    place = "read in blocks" if data.out_of_core else "in memory" if data.on_host else "on a device"
    return f"{rows} × {columns}, {data.storage} {_dtype(data.dtype)}{entries}{known}, {place}"


def _dtype(dtype: object) -> str:
    """The name of an array library's type: "float32" of torch.float32 and of numpy.float32."""
    return getattr(dtype, "__name__", None) or str(dtype).rsplit(".", 1)[-1]


def _first_pass(signature: Signature, first: FirstPass) -> str:
    parts = ["extremes", *dict.fromkeys(_total(*total) for total in first.totals)]
    if first.surrogate is Kind.SKETCH and first.side is not None:
        parts.append(f"{PER_COMPONENT * first.size} directions of {_SIDES[first.side]}")
    if first.surrogate is Kind.LOW_RANK:
        parts.append(f"{first.size} directions of rows and of columns")
    formed = _formed(signature)
    return ", ".join(parts) + (f"; then {' and '.join(formed)}" if formed else "")


def _total(kind: str, exponent: float) -> str:
    power = "X" if exponent == 1 else "X²" if exponent == 2 else f"X^{exponent:g}"
    return f"Σ{power}" if kind == "power" else f"Σ{power} ln X"


def _formed(signature: Signature) -> list[str]:
    """The products of X that are formed once."""
    name, costs = signature.model.data, signature.planner.costs
    words = [word for word in signature.planner.constants if name in word.names and len(word) > 1]
    return [f"{_text(word)} ({' × '.join(map(str, costs.shape(word)))})" for word in sorted(words, key=str)]


def _text(word: Word) -> str:
    return str(word).replace(" ", "") if word.is_gram else str(word)


def _steps(signature: Signature, strategy: Strategy, restarts: int) -> Iterator[Step]:
    *earlier, last = strategy.stages
    on = _on(signature, last)
    for stage in earlier:
        length = f"{stage.rounds} passes that they share" if stage.rounds else f"{stage.stopping.max_iter} iterations"
        yield Step("start", f"the best of {_counted([str(start) for start in stage.starts])} after {length}", stage.why)
    if not earlier:
        (start,) = last.starts
        yield Step("start", f"{start}{on if start.searches else ''}", last.why)
    stopping = last.stopping
    most = f"at most {stopping.max_iter} iterations" if stopping.tol else f"{stopping.max_iter} iterations"
    tol = stopping.tol or stopping.step_tol
    parts = [
        f"{last.solver.title or type(last.solver).__name__}{on}",
        *([f"until steady within {tol:g}"] if tol else []),
        most,
        *([f"{restarts} restarts"] if restarts > 1 else []),
    ]
    yield Step("descend", ", ".join(parts), _why(signature, last))


def _counted(names: Sequence[str]) -> str:
    """Names with how often they stand there: "angular × 3, kmeans"."""
    return ", ".join(f"{name} × {names.count(name)}" if names.count(name) > 1 else name for name in dict.fromkeys(names))


def _on(signature: Signature, stage: Stage) -> str:
    if stage.on is Kind.SKETCH:
        side = side_of(signature)
        return f" on a sketch of {_SIDES[side] if side else 'X'}"
    if stage.on is Kind.LOW_RANK:
        return f" on a low-rank surrogate of X, {directions(signature)} directions"
    formed = [text for text in ("XᵀX", "XXᵀ") if any(word.startswith(text) for word in _formed(signature))]
    return f" on {formed[0]}" if formed else ""


def _why(signature: Signature, stage: Stage) -> str:
    if stage.on is None:
        return ""
    return "a round on it takes one pass" if signature.data.out_of_core else "it is much smaller than X"


def _passes(signature: Signature, strategy: Strategy) -> str:
    last = strategy.stages[-1]
    if last.on is not None:
        return f"the first, then one each round, at most {most_rounds(last.on, signature)} rounds"
    reads = _reads(signature)
    if not reads:
        return "the first; none in an iteration"
    searches = ", more for line searches" if last.solver.searches else ""
    return f"the first, then at most {reads} in an iteration{searches}"


def _reads(signature: Signature) -> int:
    """Updates of an iteration that read X."""
    planner, count = signature.planner, 0
    for rule in planner.rules.values():
        steps = planner.plan(rule.words, frozenset())
        count += any(not isinstance(step, Multiply | SignedPart) for step in steps)
    return count


def _memory(signature: Signature, strategy: Strategy) -> float:
    """Bytes that a fit holds beyond X: factors, their products with X, formed products, the surrogate and the start's own."""
    data, costs, kind = signature.data, signature.planner.costs, strategy.surrogate
    first, side = strategy.stages[0], side_of(signature)
    factors = sum(rows * columns for rows, columns in signature.shapes.values())
    entries: float = (len(first.starts) if first.rounds else 1) * (_COPIES * factors + _PRODUCTS * sum(data.shape) * signature.rank)
    entries += _FORMED * sum(math.prod(costs.shape(word)) for word in signature.planner.constants)
    entries += max(start.entries(signature) for start in first.starts)
    if kind is Kind.LOW_RANK:
        entries += 4 * directions(signature) * sum(data.shape)
    if kind is Kind.SKETCH:
        entries += 3 * PER_COMPONENT * signature.rank * data.shape[1 if side == "rows" else 0]
    return entries * 8.0


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.2g} {unit}" if count < 10 else f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
