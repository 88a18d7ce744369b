"""Results of a scan of ranks: a section of the page about a fit, and a page of its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ..plot.curves import draw_curves
from .blocks import Block, Code, Facts, Folded, Notes, Section, Table, Text
from .html import write_page
from .pictures import chart
from .sections import command, python_imports, versions
from .wording import short


def ranks(found: Mapping[str, Any]) -> Section:
    """The curves of all criteria, their choices, and the table behind them."""
    charts: list[Block] = []
    for criterion, group in groupby(found["curves"], key=lambda curve: curve["criterion"]):
        curves = [curve for curve in group if np.isfinite(curve["values"]).sum() > 1]
        if not curves:
            continue
        label = f"{criterion}: " + "; ".join(
            f"{one['label']} for ranks {one['which']} from {one['ranks'][0]} to {one['ranks'][-1]}".replace("  ", " ")
            + f"; it speaks for {one['best']}"
            for one in curves
        )
        charts.append(chart(partial(draw_curves, curves), f"{label}."))
    columns = found["columns"]
    rows = [[_shown(values[number]) for values in columns.values()] for number in range(len(columns["rank"]))]
    numbers = Table("Criteria by rank", tuple(columns), rows)
    return Section("Ranks", [Text(found["why"]), *charts, Folded("The numbers", numbers)])


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

    See Also
    --------
    write_report : A page about one fit.
    nonneg.plot.ranks : The picture alone.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from nonneg import NMF
    >>> from nonneg.datasets import make_parts
    >>> from nonneg.report import write_rank_report
    >>> from nonneg.selection import rank_scan
    >>> scan = rank_scan(NMF(), make_parts(30, 12, 2).data, [1, 2], random_state=0)
    >>> write_rank_report(NMF(), scan.summary(), "ranks.html")  # doctest: +SKIP
    """
    about = about or {}
    data = [Path(one).name for one in about.get("data", ())]
    shape, best, warned = about.get("shape"), found["best"], about.get("warnings", ())
    known = {
        "Rank": " × ".join(map(str, best)) if isinstance(best, list | tuple) else str(best),
        "Judged by": ", ".join(dict.fromkeys(one["criterion"] for one in found["curves"])),
        "Data": None if shape is None else f"{shape[0]} × {shape[1]}",
        "Time": None if "fit_seconds" not in about else f"{about['fit_seconds']:.3g} s",
        "Seed": None if about.get("seed") is None else str(about["seed"]),
        "Started": str(about.get("began") or "")[:16].replace("T", " "),
    }
    sections = {
        "summary": Section("Summary", [Facts(known), *command(about)]),
        "ranks": ranks(found),
        "python": Section("The same in Python", [Code(_python(estimator, found, about))]),
        "details": Section("Details", [versions()]),
    }
    if warned:
        sections["notes"] = Section("What to know", [Notes(warned)])
    title = f"Ranks of {type(estimator).__name__}{f' for {data[0]}' if data else ''}"
    lead = "A curve has to be looked at before a number is believed: where it is flat, other ranks are as good."
    write_page(path, title, lead, sections)
