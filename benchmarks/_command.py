"""The one command: ``python benchmarks`` for all groups, ``python benchmarks tall text`` for some.

Rows are told as they come; each group is put into the file when it is done, beside what other groups have put there before, so a
run can be taken up again group by group. The table at the end is of all that is in the file.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from _bench import FOLDER, Bench, as_results, as_rows, read, table, write

GROUPS = (
    "projective",
    "exact",
    "tall",
    "text",
    "divergence",
    "dense",
    "acceleration",
    "graphs",
    "communities",
    "documents",
    "chains",
    "iteration",
    "growth",
    "wide",
    "single",
    "startup",
    "defaults",
    "applications",
    "missing",
    "ranks",
    "planted_ranks",
)


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    unknown = [name for name in given.groups if name not in GROUPS]
    if unknown:
        parser.error(f"no group is called {', '.join(map(repr, unknown))}; there are {', '.join(GROUPS)}")
    path = given.json or FOLDER.parent / "bench" / ("quick.json" if given.quick else "results.json")
    failed = False
    for name in [] if given.show else given.groups or GROUPS:
        failed |= _run(name, path, given.quick)
    results = read(path)
    for group in (group for name, group in results.items() if name in GROUPS):
        print(f"\n{group['title']}\n\n{table(as_rows(group))}")
    print(f"\n{path}")
    if given.plot:
        from _plot import draw

        print(draw([curve for group in results.values() for curve in group["curves"]], given.plot))
    return int(failed)


def _run(name: str, path: Path, quick: bool) -> bool:
    """Run a group and put it into the file; whether something failed in it."""
    module, bench, started = importlib.import_module(name), Bench(quick), perf_counter()
    print(f"{name}: {module.TITLE}", file=sys.stderr, flush=True)
    module.run(bench)
    results = read(path) | {name: as_results(bench, module.TITLE, perf_counter() - started)}
    write(path, {name: results[name] for name in (*GROUPS, *results) if name in results})
    return bench.failed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description="Speed beside peers, growth, memory: one table, one JSON file.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"all if none is named: {', '.join(GROUPS)}")
    parser.add_argument("--json", type=Path, metavar="PATH", help="where to (default: bench/results.json)")
    parser.add_argument("--plot", type=Path, metavar="PATH", help="draw objective against time there (.png, .svg)")
    parser.add_argument("--quick", action="store_true", help="small data, in seconds, to see that all runs")
    parser.add_argument("--show", action="store_true", help="run nothing: the table of what is in the file")
    return parser
