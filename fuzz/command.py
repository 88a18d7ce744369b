"""The one command: run areas, run one case again, or put the table of the last run into a document."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .choices import Choices
from .running import AREAS, Tally, investigate, run, run_case
from .table import rewrite, table

FOLDER = Path(__file__).parent / "findings"


def main(arguments: Sequence[str]) -> int:
    """Returns how the process is to end: 1 where there are findings."""
    given = _parser().parse_args(arguments)
    areas = ("peer",) if given.peer else given.areas or AREAS
    for area in areas:
        if area not in (*AREAS, "peer"):
            _parser().error(f"no area is called {area!r}; there are {', '.join(AREAS)}")
    if given.table:
        own = sorted(FOLDER.glob("results*.json"))
        rewrite(Path(given.table), own, FOLDER / "peer.json")
        return 0
    if given.case:
        return _again(given.case)
    limit = 120.0 if given.cases == float("inf") else float("inf")
    tally = run(
        areas,
        given.seed,
        limit if given.seconds is None else given.seconds,
        given.calls,
        given.workers,
        given.first,
        count=given.cases,
        shard=_shard(given.shard),
    )
    _write(tally, "peer" if given.peer else "results", given.label)
    print(table(tally.counts))
    print(f"\n{tally.calls} calls in {tally.seconds:.0f} s, {len(tally.reports)} kinds of findings (in {FOLDER}).")
    print(f"To go on: python fuzz --seed {tally.seed} --first {tally.last + 1}")
    return int(bool(tally.reports) and not given.peer)


def _again(case: str) -> int:
    """One case, as its name says, shrunk where something is found."""
    _, _, area = case.split(":")
    choices = Choices(case)
    finding = run_case(area, choices)
    print(f"{case} holds." if finding is None else investigate(area, case, choices.made, finding))
    return int(finding is not None)


def _shard(text: str) -> tuple[int, int]:
    """Read K/N, K from 1 to N."""
    try:
        place, number = map(int, text.split("/"))
    except ValueError:
        place = number = 0
    if not 1 <= place <= number:
        _parser().error(f"--shard is K/N with K from 1 to N, such as 1/2; got {text!r}")
    return place - 1, number


def _write(tally: Tally, name: str, label: str) -> None:
    """Write counts and findings; a label keeps them beside those of other runs, and `--table` adds all of them up."""
    FOLDER.mkdir(exist_ok=True)
    ending = f"-{label}" if label else ""
    (FOLDER / f"{name}{ending}.json").write_text(tally.to_json())
    lines = map(str, sorted(tally.reports.values(), key=lambda report: -report.count))
    name = "findings" if name == "results" else name
    (FOLDER / f"{name}{ending}.txt").write_text("\n".join(lines))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python fuzz", description=__doc__)
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"of {', '.join(AREAS)}; all of them if none is named")
    parser.add_argument("--seconds", type=float, help="when to stop (default 120; without a limit if --cases is given)")
    parser.add_argument("--calls", type=float, default=float("inf"), help="stop after so many calls")
    parser.add_argument("--cases", type=float, default=float("inf"), help="stop after so many cases")
    parser.add_argument("--shard", default="1/1", metavar="K/N", help="every N-th case, from the K-th on, for N processes at once")
    parser.add_argument("--label", default="", help="keep the counts of this run in results-LABEL.json, beside those of others")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, metavar="I", help="the number of the first case, to go on from another run")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--case", metavar="SEED:I:AREA", help="run one case again")
    parser.add_argument("--peer", action="store_true", help="scikit-learn's NMF in place of this library")
    parser.add_argument("--table", metavar="FILE", help="write the counts of all results*.json into a document")
    return parser
