"""Counts by area, as a table to print and to put into a document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .invariants import DESCRIPTIONS

_MARKS = "<!-- {0}: begin -->", "<!-- {0}: end -->"
_OF_FILES = ("files", "models")
"""Areas that are counted by kinds of files, in a table of their own."""
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
    """Put the counts of runs, added up, between the marks of a document; where there are none, leave what is there."""
    runs = [json.loads(path.read_text()) for path in own]
    of_files, others = ([_part(run, areas) for run in runs if areas & set(run["areas"])] for areas in _split(runs))
    text = document.read_text()
    if others:
        text = _between(text, "fuzz", _markdown(others) + (_peer(json.loads(peer.read_text())) if peer.exists() else ""))
    if of_files:
        text = _between(text, "fuzz of files", _kinds(of_files))
    document.write_text(text)


def _split(runs: Sequence[Mapping]) -> tuple[set[str], set[str]]:
    """The areas of runs that are of files, and the others."""
    areas = {area for run in runs for area in run["areas"]}
    return areas & set(_OF_FILES), areas - set(_OF_FILES)


def _part(run: Mapping, areas: set[str]) -> Mapping:
    return {**run, "areas": {area: of for area, of in run["areas"].items() if area in areas}}


def _between(text: str, name: str, what: str) -> str:
    """A text with something else between two marks."""
    begin, end = (mark.format(name) for mark in _MARKS)
    before, rest = text.split(begin)
    return f"{before}{begin}\n{what}{end}{rest.split(end)[1]}"


def _added(runs: Sequence[Mapping]) -> dict[str, dict[str, int]]:
    """Counts of all runs, by area."""
    counts: dict[str, dict[str, int]] = {}
    for one in runs:
        for area, of in one["areas"].items():
            total = counts.setdefault(area, {})
            for key, value in of.items():
                total[key] = total.get(key, 0) + value
    return counts


def _kinds(runs: Sequence[Mapping]) -> str:
    """How many files of each kind were altered, and how many of these could be read."""
    counts = _added(runs)
    found = [
        (key[6:], of[key], of.get(f"read {key[6:]}", 0)) for of in counts.values() for key in sorted(of) if key[:6] == "files "
    ]
    altered, findings = sum(count for _, count, _ in found), sum(of.get("findings", 0) for of in counts.values())
    seconds = sum(one["seconds"] for one in runs)
    lines = [f"{_seeds(runs)}, {altered} altered files, {seconds:.0f} s, {findings} findings.", ""]
    lines += ["| kind | altered files | read | refused |", "|---|---|---|---|"]
    lines += [f"| {kind} | {count} | {read} | {count - read} |" for kind, count, read in found]
    lines += ["", "| invariant | what it says | times checked |", "|---|---|---|"]
    lines += [f"| {name} | {DESCRIPTIONS.get(name, '')} | {count} |" for name, count in sorted(checked(counts).items())]
    return "\n".join(lines) + "\n"


def _seeds(runs: Sequence[Mapping]) -> str:
    seeds = sorted({one["seed"] for one in runs})
    return f"Seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"


def _markdown(runs: Sequence[Mapping]) -> str:
    counts = _added(runs)
    cases, seconds = sum(of.get("cases", 0) for of in counts.values()), sum(one["seconds"] for one in runs)
    lines = [f"{_seeds(runs)}, {cases} cases, {seconds:.0f} s.", ""]
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
