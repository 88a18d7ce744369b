"""Results of a scan of ranks: a section of the page about a fit, and a page of its own."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..io.atomic import written_whole
from .drawing import curve, short
from .page import Section, code, facts, figure, frame, python_imports, table, versions


def ranks(found: Mapping[str, Any]) -> Section:
    """The curves of all criteria, their choices, and the table behind them."""
    figures = []
    for one in found["curves"]:
        which = f" {one['which']}" if one["which"] else ""
        x, y = np.array(one["ranks"], dtype=float), np.array(one["values"], dtype=float)
        kept = np.isfinite(y)
        if kept.sum() < 2:
            continue
        errors = np.array(one["errors"], dtype=float)
        label = f"{one['criterion']}: {one['label']} for ranks{which} from {one['ranks'][0]} to {one['ranks'][-1]}; it speaks for "
        label += f"{one['best']}."
        bars = errors[kept] if np.isfinite(errors).all() else None
        drawn = curve(x[kept], y[kept], label=label, across="rank", up=one["label"], errors=bars, mark=float(one["best"]))
        figures.append(figure(drawn, label))
    columns = found["columns"]
    rows = [[_shown(values[number]) for values in columns.values()] for number in range(len(columns["rank"]))]
    numbers = table("What each criterion says about each rank", tuple(columns), rows)
    why = f"<p>{escape(found['why'])}</p>"
    return "Ranks", f"{why}{''.join(figures)}<details><summary>The numbers</summary>{numbers}</details>"


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " × ".join(map(str, value))
    return str(value) if isinstance(value, int) else short(float(value)) if np.isfinite(value) else "–"


def _python(estimator: Any, found: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """The scan in Python: the same ranks, criteria and seed."""
    axes = {one["which"].removeprefix("of "): one["ranks"] for one in found["curves"]}
    first, *others = axes.values()
    scanned = axes if any(axis != first for axis in others) else first
    criteria = list(dict.fromkeys(one["criterion"] for one in found["curves"]))
    seed = "" if about.get("seed") is None else f", random_state={about['seed']}"
    imports, read = python_imports(estimator, about)
    call = f"rank_scan({estimator!r}, X, {scanned}, criteria={criteria}{seed})"
    return f"{imports}from nonneg.selection import rank_scan\n\n{read}scan = {call}"


def write_rank_report(estimator: Any, found: Mapping[str, Any], path: Any, *, about: Mapping[str, Any] | None = None) -> None:
    """Write a page about a scan of ranks.

    Parameters
    ----------
    estimator : estimator
        Data of the fits.
    found : dict
        As `RankScan.summary` gives it.
    path : path
        Of the page, .html; an existing file is overwritten.
    about : dict, optional
        Fields about the data and the scan.
    """
    about = about or {}
    data = [Path(one).name for one in about.get("data", ())]
    title = f"Ranks of {type(estimator).__name__}{f' for {data[0]}' if data else ''}"
    shape = about.get("shape")
    best = found["best"]
    summary = facts(
        {
            "Rank": " × ".join(map(str, best)) if isinstance(best, list | tuple) else str(best),
            "Judged by": ", ".join(dict.fromkeys(one["criterion"] for one in found["curves"])),
            "Data": None if shape is None else f"{shape[0]} × {shape[1]}",
            "Time": None if "fit_seconds" not in about else f"{about['fit_seconds']:.3g} s",
            "Seed": None if about.get("seed") is None else str(about["seed"]),
            "Started": str(about.get("began") or "")[:16].replace("T", " "),
        }
    )
    command = f"<p>The command:</p>{code(about['command'], wraps=True)}" if "command" in about else ""
    sections = {
        "summary": ("Summary", summary + command),
        "ranks": ranks(found),
        "python": ("The same in Python", code(_python(estimator, found, about))),
        "details": ("Details", versions()),
    }
    warned = "".join(f"<li>{escape(text)}</li>" for text in about.get("warnings", ()))
    if warned:
        sections["notes"] = ("What to know", f'<ul class="notes">{warned}</ul>')
    lead = "A curve has to be looked at before a number is believed: where it is flat, other ranks are as good."
    text = frame(title, lead, sections)
    with written_whole(path) as unfinished:
        unfinished.write_text(text, encoding="utf8")
