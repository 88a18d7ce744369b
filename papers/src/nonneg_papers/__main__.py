"""Run the papers' experiments on public data: ``python -m nonneg_papers`` for all pages, ``... faces mri`` for some.

Each page is written to ``reproduction/NAME.html``; ``reproduction/index.html`` lists them, with every claim of the papers and what
holds of it. Several pages run two at a time, each in a process of its own with one thread; what they show does not depend on it.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before BLAS is loaded, here and in the processes that are started

import importlib
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

from . import FetchError, pages
from .pages._index import index, summaries
from .pages._page import FOLDER, publish, publish_beside_others, surroundings

PAGES = sorted(path.stem for path in Path(pages.__file__).parent.glob("[!_]*.py"))
WORKERS = 2


def main(names: list[str]) -> int:
    unknown = set(names) - set(PAGES)
    if unknown:
        print(f"No page is called {', '.join(map(repr, sorted(unknown)))}. There are: {', '.join(PAGES)}.", file=sys.stderr)
        return 2
    modules = {name: importlib.import_module(f"{pages.__name__}.{name}") for name in PAGES}
    titles = {name: module.TITLE for name, module in modules.items()}
    before = summaries(FOLDER, PAGES)
    longest_first = sorted(names or PAGES, key=lambda name: -before[name]["seconds"] if name in before else -float("inf"))
    notes, begin, run = {}, perf_counter(), publish if len(longest_first) == 1 else publish_beside_others
    with ProcessPoolExecutor(WORKERS, get_context("spawn"), max_tasks_per_child=1) as pool:
        running = {pool.submit(run, name, titles[name], modules[name].build): name for name in longest_first}
        for done in as_completed(running):
            name, error = running[done], done.exception()
            if isinstance(error, FetchError | ImportError):  # data not at hand: the others may still run
                notes[name] = f"left out: {error}"
            elif error is not None:
                traceback.print_exception(error)
                notes[name] = f"failed: {error!r}"
            if name in notes:
                print(f"{name}: {notes[name]}", file=sys.stderr, flush=True)
    minutes = (perf_counter() - begin) / 60
    total = f"{len(running)} page(s) in {minutes:.1f} minutes, {WORKERS} at a time."
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "index.html").write_text(index(FOLDER, titles, notes, f"{total} {surroundings()}"), encoding="utf8")
    print(f"{total}\n{FOLDER / 'index.html'}")
    return 1 if notes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
