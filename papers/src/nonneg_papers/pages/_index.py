"""The index of the pages: what each took, and every claim of the papers with what holds of it, collected from all of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._page import RULE, VERDICTS, Claim, document, marked, table


def summaries(folder: Path, names: list[str]) -> dict[str, dict[str, Any]]:
    """What pages that have been made, now or before, left beside them."""
    files = {name: folder / f"{name}.json" for name in names}
    return {name: json.loads(path.read_text(encoding="utf8")) for name, path in files.items() if path.exists()}


def index(folder: Path, titles: Mapping[str, str], notes: Mapping[str, str], surroundings: str) -> str:
    """The index in HTML; `notes` says what happened to a page that could not be made."""
    made = summaries(folder, list(titles))
    claims = {name: [Claim(**claim) for claim in summary["claims"]] for name, summary in made.items()}
    pages = table(
        ("page", *VERDICTS, "no paper's: hold", "seconds", "of a core", "run on", ""),
        [_line(name, title, made.get(name), claims.get(name, []), notes.get(name, "")) for name, title in titles.items()],
        """How many claims of the papers hold, on each page; of lines that are no paper's (beyond the papers, or a package), how
        many of them hold, counted apart; and how long the page took: seconds, and seconds of a core.""",
    )
    collected = table(
        ("page", *Claim.HEADER),
        [(f"[{name}]({name}.html)", *claim.row) for name in claims for claim in claims[name]],
        f"Every claim, with the evidence. {RULE}",
    )
    return document("The papers' experiments, run again", f"{pages}<p>{marked(surroundings)}</p><h2>What holds</h2>{collected}")


def _line(name: str, title: str, summary: Mapping[str, Any] | None, claims: list[Claim], note: str) -> tuple[Any, ...]:
    if summary is None:
        return title, *("" for _ in VERDICTS), "", "", "", "", note or "not run"
    count, others = Counter(claim.verdict for claim in claims if claim.of_a_paper), [c for c in claims if not c.of_a_paper]
    return (
        f"[{title}]({name}.html)",
        *(count[verdict] for verdict in VERDICTS),
        f"{sum(claim.verdict == VERDICTS[0] for claim in others)} of {len(others)}" if others else "",
        f"{summary['seconds']:.0f}",
        f"{summary['cpu']:.0f}",
        summary["date"],
        f"{note}; what is linked is older" if note else "",
    )
