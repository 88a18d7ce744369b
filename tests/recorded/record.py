"""The file of recorded results, and the bounds of worse ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from .fits import Fit, Outcome

FILE = Path(__file__).parent / "objectives.json"
TINY = 1e-12
"""An absolute share of the tolerance, for objectives that are zero but for rounding."""
OVERLAP = 1e-3
"""By how much factors that ought to be orthogonal may overlap more than they did, as a share, and beside it."""


def read() -> dict[str, Outcome]:
    if not FILE.exists():
        return {}
    return {name: Outcome(**values) for name, values in json.loads(FILE.read_text(encoding="utf8")).items()}


def write(outcomes: Mapping[str, Outcome]) -> None:
    values = {name: outcome._asdict() for name, outcome in outcomes.items()}
    FILE.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf8")


def difference(fit: Fit, now: Outcome, before: Outcome) -> str | None:
    """In which way a fit has become worse; None where it has not."""
    loss = before.objective - now.objective if fit.more_is_better else now.objective - before.objective
    if not loss <= fit.tolerance * abs(before.objective) + TINY:
        kind = "less" if fit.more_is_better else "more"
        share = abs(loss / before.objective)
        return (
            f"{fit.name}: the objective is {now.objective!r}, and was {before.objective!r}: {share:.2e} of it {kind}, and"
            f" {fit.tolerance:g} is allowed. It ended after {now.n_iter} iterations ({now.status}), and did after "
            f"{before.n_iter} ({before.status})."
        )
    if now.overlap is not None and before.overlap is not None and now.overlap > before.overlap * (1 + OVERLAP) + OVERLAP:
        return (
            f"{fit.name}: factors that ought to be orthogonal overlap more: ‖WᵀW − I‖ is {now.overlap:.6g}, and was "
            f"{before.overlap:.6g}. The objective is {now.objective!r}, and was {before.objective!r}."
        )
    return None
