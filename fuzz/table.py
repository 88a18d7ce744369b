"""Counts by area, as a table to print and to put into a document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .invariants import DESCRIPTIONS

_BEGIN, _END = "<!-- fuzz: begin -->", "<!-- fuzz: end -->"
_COLUMNS = ("area", "cases", "calls", "refusals", "checks", "findings", "converged", "other statuses", "still gains")
_GAINS = "converged, small residual, gains"

Counts = Mapping[str, Mapping[str, int]]


def rows(counts: Counts) -> list[Sequence[str]]:
    found: list[list[int]] = []
    for of in counts.values():
        statuses = {key: value for key, value in of.items() if key.startswith("status ")}
        converged = statuses.pop("status converged", 0)
        checks = sum(value for key, value in of.items() if key.startswith("checked "))
        plain = [of.get(key, 0) for key in ("cases", "calls", "refusals")]
        found.append([*plain, checks, of.get("findings", 0), converged, sum(statuses.values()), of.get(_GAINS, 0)])
    total = [sum(column) for column in zip(*found, strict=True)] or [0] * (len(_COLUMNS) - 1)
    return [[area, *map(str, row)] for area, row in zip([*counts, "all"], [*found, total], strict=True)]


def checked(counts: Counts) -> dict[str, int]:
    """How often each invariant was checked."""
    totals: dict[str, int] = {}
    for of in counts.values():
        for key, value in of.items():
            if key.startswith("checked "):
                name = key.removeprefix("checked ")
                totals[name] = totals.get(name, 0) + value
    return totals


def table(counts: Counts) -> str:
    lines = [_COLUMNS, *rows(counts)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_COLUMNS))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


def rewrite(document: Path, own: Sequence[Path], peer: Path) -> None:
    """Put the counts of runs, added up, between the marks of a document."""
    text = document.read_text()
    before, rest = text.split(_BEGIN)
    _, after = rest.split(_END)
    parts = [_markdown([json.loads(path.read_text()) for path in own])]
    if peer.exists():
        parts.append(_peer(json.loads(peer.read_text())))
    document.write_text(f"{before}{_BEGIN}\n{''.join(parts)}{_END}{after}")


def _markdown(runs: Sequence[Mapping]) -> str:
    counts: dict[str, dict[str, int]] = {}
    for one in runs:
        for area, of in one["areas"].items():
            total = counts.setdefault(area, {})
            for key, value in of.items():
                total[key] = total.get(key, 0) + value
    seeds = sorted({one["seed"] for one in runs})
    cases, seconds = sum(of.get("cases", 0) for of in counts.values()), sum(one["seconds"] for one in runs)
    lines = [f"Seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}, {cases} cases, {seconds:.0f} s.", ""]
    lines += [" | ".join(("", *line, "")).strip() for line in (_COLUMNS, ["---"] * len(_COLUMNS), *rows(counts))]
    lines += ["", "| invariant | what it says | times checked |", "|---|---|---|"]
    lines += [f"| {name} | {DESCRIPTIONS.get(name, '')} | {count} |" for name, count in sorted(checked(counts).items())]
    return "\n".join(lines) + "\n"


def _peer(results: Mapping) -> str:
    counts = results["areas"]["peer"]
    lines = ["", f"scikit-learn's `NMF`, {counts['calls']} calls:", "", "| invariant | times checked | fails |", "|---|---|---|"]
    failed: dict[str, int] = {}
    for report in results["findings"]:
        failed[report["invariant"]] = failed.get(report["invariant"], 0) + report["count"]
    lines += [f"| {name} | {count} | {failed.get(name, 0)} |" for name, count in sorted(checked(results["areas"]).items())]
    return "\n".join(lines) + "\n"
