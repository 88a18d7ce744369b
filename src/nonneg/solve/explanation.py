"""The lines that explain a strategy: data, model, first pass, stages, memory and passes."""

from __future__ import annotations

import math

from ..planning.steps import Multiply, SignedPart
from .signature import Signature
from .solution import Explanation, Step
from .strategy import Stage, Strategy
from .surrogate import PER_COMPONENT, Kind, directions, most_rounds, side_of

_COPIES = 5
"""Arrays of the size of the factors that a run holds: the point, the best, the last, and two during an update."""
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
    data, first, formed = signature.data, strategy.first_pass, _formed_products(signature)
    rows, columns = data.shape
    is_whole = data.non_zeros >= rows * columns or data.out_of_core
    entries = f", {data.non_zeros / max(rows * columns, 1):.3g} of its entries non-zero" if not is_whole else ""
    known = ", entries weighted" if data.weighted or signature.has_weights else ", all entries known"
    known = ", missing entries filled by the model" if signature.is_filled else known
    place = "read in blocks" if data.out_of_core else "in memory" if data.on_host else "on a device"
    dtype = getattr(data.dtype, "__name__", None) or str(data.dtype).rsplit(".", 1)[-1]  # of numpy.float32 and of torch.float32
    collected = ["extremes"]
    for kind, power in first.totals:
        of = "X" if power == 1 else "X²" if power == 2 else f"X^{power:g}"
        collected.append(f"Σ{of}" if kind == "power" else f"Σ{of} ln X")
    if first.surrogate is Kind.SKETCH and first.side is not None:
        collected.append(f"{PER_COMPONENT * first.size} directions of {_SIDES[first.side]}")
    if first.surrogate is Kind.LOW_RANK:
        collected.append(f"{first.size} directions of rows and of columns")
    return Explanation(
        data=f"{rows} × {columns}, {data.storage} {dtype}{entries}{known}, {place}",
        solved=solved,
        first_pass=", ".join(dict.fromkeys(collected)) + (f"; then {' and '.join(formed)}" if formed else ""),
        steps=_steps(signature, strategy, restarts, formed),
        memory=f"about {_memory(signature, strategy)} beyond X",
        passes=_passes(signature, strategy.stages[-1]),
    )


def _formed_products(signature: Signature) -> list[str]:
    """The products of X that are formed once, with their shapes."""
    name, costs = signature.model.data, signature.planner.costs
    words = sorted((word for word in signature.planner.constants if name in word.names and len(word) > 1), key=str)
    texts = (str(word).replace(" ", "") if word.is_gram else str(word) for word in words)
    return [f"{text} ({' × '.join(map(str, costs.shape(word)))})" for text, word in zip(texts, words, strict=True)]


def _steps(signature: Signature, strategy: Strategy, restarts: int, formed: list[str]) -> tuple[Step, Step]:
    """The start, and the descent."""
    first, last, side = strategy.stages[0], strategy.stages[-1], side_of(signature)
    stopping, tol = last.stopping, last.stopping.tol or last.stopping.step_tol
    on = next((f" on {text}" for text in ("XᵀX", "XXᵀ") if any(word.startswith(text) for word in formed)), "")
    why = ""
    if last.on is not None:
        is_sketch = last.on is Kind.SKETCH
        of = f"a sketch of {_SIDES[side] if side else 'X'}"
        on = f" on {of}" if is_sketch else f" on a low-rank surrogate of X, {directions(signature)} directions"
        why = "a round on it takes one pass" if signature.data.out_of_core else "it is much smaller than X"
    if first is last:
        (start,) = last.starts
        text = f"{start}{on if start.searches else ''}"
    else:
        names = [str(start) for start in first.starts]
        counted = (f"{name} × {names.count(name)}" if names.count(name) > 1 else name for name in dict.fromkeys(names))
        length = f"{first.rounds} passes that they share" if first.rounds else f"{first.stopping.max_iter} iterations"
        text = f"the best of {', '.join(counted)} after {length}"
    parts = [
        f"{last.solver.title or type(last.solver).__name__}{on}",
        *([f"until steady within {tol:g}"] if tol else []),
        f"at most {stopping.max_iter} iterations" if stopping.tol else f"{stopping.max_iter} iterations",
        *([f"{restarts} restarts"] if restarts > 1 else []),
    ]
    return Step("start", text, first.why), Step("descend", ", ".join(parts), why)


def _passes(signature: Signature, last: Stage) -> str:
    if last.on is not None:
        return f"the first, then one each round, at most {most_rounds(last.on, signature)} rounds"
    planner = signature.planner
    updates = [planner.plan(rule.words, frozenset()) for rule in planner.rules.values()]
    reads = sum(any(not isinstance(step, Multiply | SignedPart) for step in steps) for steps in updates)
    if not reads:
        return "the first; none in an iteration"
    return f"the first, then at most {reads} in an iteration{', more for line searches' if last.solver.searches else ''}"


def _memory(signature: Signature, strategy: Strategy) -> str:
    """Memory of a fit beyond X: factors, their products with X, formed products, the surrogate and the start's own."""
    data, costs, kind = signature.data, signature.planner.costs, strategy.stages[-1].on
    first, side = strategy.stages[0], side_of(signature)
    factors = sum(rows * columns for rows, columns in signature.shapes.values())
    entries: float = (len(first.starts) if first.rounds else 1) * (_COPIES * factors + _PRODUCTS * sum(data.shape) * signature.rank)
    entries += _FORMED * sum(math.prod(costs.shape(word)) for word in signature.planner.constants)
    entries += max(start.entries(signature) for start in first.starts)
    if kind is Kind.LOW_RANK:
        entries += 4 * directions(signature) * sum(data.shape)
    if kind is Kind.SKETCH:
        entries += 3 * PER_COMPONENT * signature.rank * data.shape[1 if side == "rows" else 0]
    count = entries * 8.0
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.2g} {unit}" if count < 10 else f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
