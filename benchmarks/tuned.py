"""The tuned numbers, each halved and doubled: which results and times they change, and which change nothing.

``python benchmarks/tuned.py [NAME...]`` takes parts of names, as ``solve.stopping``; all that are tuned without. A number is tried
on the quickest calls that pass a function with it, of ``beside.py`` and some more, then of the pinned fits (``tests/recorded``).
Each try is a process of its own, forked once all is compiled. Numbers inside compiled kernels are not changed by it: they are "not
passed", as are those of what none of the calls does. All of them take half an hour of a core. That nothing moves on these small
data does not say that a number can go: sizes and thresholds act on large ones, which the benchmark it was set by has.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import json
import math
import os
import pickle
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_ext"), str(ROOT / "benchmarks")]

from constants import PACKAGE, Number, numbers  # noqa: E402

FACTORS = (0.5, 2.0)
"""What a number is multiplied with."""
TRIED = 3
"""Calls on which a number is tried, at most."""
LONGEST = 1.0
"""Seconds of processor time of a call, at most."""
PATIENCE = 60
"""Seconds after which a try is given up."""
NOTICED = 1.3
"""Ratio of times from which a time counts as another."""


def calls() -> dict[str, Callable[[], Any]]:
    """Every call on which numbers are tried, by name; each returns what it found. Forks have no pool of Dask."""
    import beside
    from tests.recorded import pins, plain

    def pinned(name: str) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            return pins._arrays(plain.run(name, Path(folder)))

    found: dict[str, Callable[[], Any]] = {name: (lambda name=name: pinned(name)) for name in plain.PINS}  # type: ignore[misc]
    return {name: call for name, call in found.items() if "dask" not in name} | dict(beside.CALLS) | OTHERS


def _matching() -> Any:
    from nonneg.graph import match_graphs

    rng = np.random.default_rng(0)
    A = np.triu(rng.random((60, 60)) < 0.1, 1).astype(float)
    A, order = A + A.T, rng.permutation(60)
    return match_graphs(A, A[np.ix_(order, order)], random_state=0).permutation


def _chain() -> Any:
    import nonneg

    states = np.random.default_rng(0).integers(0, 3, 1500)
    symbols = (2 * states + np.random.default_rng(1).integers(0, 3, 1500)) % 6
    return nonneg.QNMFHMM(3, random_state=0).fit([[str(one) for one in symbols]]).log_likelihoods_


def _imputed() -> Any:
    import beside
    import nonneg

    return nonneg.NMFImputer(random_state=0).fit_transform(beside.with_gaps()[:300])


def _communities() -> Any:
    import beside
    from nonneg.graph import GraphClustering

    return GraphClustering("auto", random_state=0).fit(beside.graph()[:300][:, :300]).labels_


def _block_model() -> Any:
    import beside
    from nonneg.graph import GraphClustering

    return GraphClustering(4, method="block-model", random_state=0).fit(beside.graph()[:300][:, :300]).labels_


def _discriminant() -> Any:
    from sklearn.datasets import load_digits

    import nonneg

    X, y = load_digits(return_X_y=True)
    return nonneg.NonnegativeLDA(2).fit(X[:400], y[:400]).components_


def _consensus() -> Any:
    import beside
    import nonneg

    return nonneg.ConsensusNMF(6, n_runs=10, random_state=0).fit(beside.digits()[:300]).components_


OTHERS: dict[str, Callable[[], Any]] = {
    "match_graphs, 60 vertices": _matching,
    "QNMFHMM": _chain,
    "NMFImputer": _imputed,
    "GraphClustering, auto": _communities,
    "GraphClustering, block model": _block_model,
    "NonnegativeLDA, digits": _discriminant,
    "ConsensusNMF, digits": _consensus,
}
"""Calls of what neither the pins nor `beside.py` have."""


# ---- where a number is used


def users(number: str, module: str) -> Iterator[tuple[str, str]]:
    """Files of the package in which a constant is known, and the name that it has there."""
    for path in PACKAGE.rglob("*.py"):
        own = path.relative_to(PACKAGE).with_suffix("").as_posix()
        if own == module:
            yield str(path), number
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, ast.ImportFrom) and node.module and module.split("/")[-1] == node.module.split(".")[-1]:
                yield from ((str(path), alias.asname or alias.name) for alias in node.names if alias.name == number)


def functions_with(path: str, name: str) -> set[tuple[str, int]]:
    """Functions of a file that read a global: file and first line, as code objects have them; decorators count as lines."""
    found = set()
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf8"))):
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            continue
        if any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node)):
            found.add((path, min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])))
    return found


def passed(call: Callable[[], Any]) -> tuple[set[tuple[str, int]], float]:
    """The functions of the package that a call passes, and its seconds of processor time, compiling and counting among them."""
    seen: set[tuple[str, int]] = set()
    root = str(PACKAGE)

    def profile(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(root):
            seen.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    began = process_time()
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen, process_time() - began


# ---- trying


def scaled(value: Any, factor: float) -> Any:
    """A number, or all of a tuple, times a factor; whole numbers stay whole, and above zero."""
    if isinstance(value, tuple):
        return tuple(scaled(one, factor) for one in value)
    return max(1, int(value * factor)) if isinstance(value, int) and value else value * factor


def in_a_fork(work: Callable[[], Any]) -> Any:
    """The result of a function that runs in a forked process; its error, as text, if it raises one."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(PATIENCE)  # threads of a pool are not there in a fork: a call that waits for one ends here
        with contextlib.suppress(BaseException):
            try:
                found = work()
            except Exception as error:
                found = f"{type(error).__name__}: {error}"[:120]
            with os.fdopen(writing, "wb") as file:
                pickle.dump(found, file)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        content = file.read()
    os.waitpid(child, 0)
    return pickle.loads(content) if content else "the process ended"


def tried(call: Callable[[], Any], places: list[tuple[ModuleType, str]], factor: float) -> Any:
    """What a call finds, and its seconds of processor time, with a number changed in the modules that know it."""

    def work() -> Any:
        for module, name in places:
            setattr(module, name, scaled(getattr(module, name), factor))
        began = process_time()
        return call(), process_time() - began

    return in_a_fork(work)


def difference(found: Any, before: Any) -> float:
    """The largest relative difference of two results; 0 for the same bits."""
    if isinstance(found, dict) and isinstance(before, dict):
        return max((difference(found[name], before[name]) for name in before if name in found), default=math.inf)
    found, before = np.asarray(found), np.asarray(before)
    if found.shape != before.shape:
        return math.inf
    if found.dtype.kind not in "fiub":
        return 0.0 if np.array_equal(found, before) else math.inf
    with np.errstate(all="ignore"):
        apart = np.nanmax(np.abs(found.astype(float) - before), initial=0.0)
        return float(apart / max(float(np.nanmax(np.abs(before), initial=0.0)), 1e-300)) if apart else 0.0


def effects(number: Number, known: dict[str, Any], everything: dict[str, Callable[[], Any]]) -> list[dict[str, Any]] | None:
    """What halving and doubling a number changes in the quickest calls that pass it, until one moves; None without any."""
    from tests.recorded import plain

    rows = []
    for name in number.name.split(", "):
        using = list(users(name, number.module))
        functions = set().union(*(functions_with(path, known_as) for path, known_as in using))
        places = []
        for path, known_as in using:
            module = "nonneg." + Path(path).relative_to(PACKAGE).with_suffix("").as_posix().replace("/", ".")
            places.append((importlib.import_module(module.removesuffix(".__init__")), known_as))
        reaching = sorted(  # pins end at 60 iterations: others first
            (call for call in known if known[call][0] & functions), key=lambda call: (call in plain.PINS, known[call][1])
        )
        kinds: dict[str, str] = {}
        for call in reaching:
            if known[call][1] <= LONGEST:
                kinds.setdefault(call.split(",")[0], call)
        for call in list(kinds.values())[:TRIED]:
            known[call][2] = known[call][2] or tried(everything[call], [], 1.0)
            if isinstance(known[call][2], str):
                continue
            before, seconds = known[call][2]
            for factor in FACTORS:
                found = tried(everything[call], places, factor)
                row = {"number": name, "factor": factor, "call": call}
                if isinstance(found, str):
                    rows.append(row | {"error": found})
                else:
                    rows.append(row | {"difference": difference(found[0], before), "time": found[1] / max(seconds, 1e-9)})
            if any(row.get("difference") for row in rows):
                break
    return rows or None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of numbers, module.NAME; all that are tuned without")
    parser.add_argument("--json", type=Path, help="where to write all figures")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = [
        number
        for number in numbers()
        if (any(part in f"{number.module.replace('/', '.')}.{number.name}" for part in given.names) if given.names else number.by)
    ]
    everything, known = calls(), {}
    for name, call in everything.items():
        try:
            known[name] = [*passed(call), None]
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr)
    print(f"{len(chosen)} numbers, {len(known)} calls, {sum(one[1] for one in known.values()):.0f} s", file=sys.stderr, flush=True)
    print("| number | value | bits | difference, at most | time, least and most | on |\n| --- | --- | --- | --- | --- | --- |")
    figures = {}
    for number in chosen:
        rows = effects(number, known, everything)
        label = f"{number.module.replace('/', '.')}.{number.name}"
        figures[label] = rows
        if rows is None:
            print(f"| {label} | {number.value} | not passed | | | |", flush=True)
            continue
        errors = [row for row in rows if "error" in row]
        apart = [row["difference"] for row in rows if "difference" in row]
        times = [row["time"] for row in rows if "time" in row]
        says = "error" if errors else "move" if any(apart) else "the same"
        on = ", ".join(sorted({row["call"] for row in rows}))
        told = f"{max(apart, default=0):.1g} | {min(times, default=1):.2f} to {max(times, default=1):.2f}"
        still = says == "the same" and all(1 / NOTICED < ratio < NOTICED for ratio in times)
        print(f"| {label} | {number.value} | {'**nothing moves**' if still else says} | {told} | {on} |", flush=True)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
