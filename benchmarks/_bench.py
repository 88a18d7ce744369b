"""What every benchmark needs: clocks, turns, targets, threads, slopes; rows, the table they make, and the file they go to.

A group is a file in this folder with a TITLE and a function ``run(bench)``. It measures, and adds rows to `bench`: a ratio to a
peer, a cost beside what cannot be done without, or a number. What cannot run, for want of a peer or of data, becomes a row that
says so (``with bench.attempt(...)``), and the rest goes on.
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

import nonneg
from nonneg import metrics
from nonneg_papers import FetchError

if TYPE_CHECKING:
    from nonneg.solve.solution import Progress

FOLDER = Path(__file__).parent
LONG = 5.0
"""Seconds beyond which something is not measured a second time."""
ROUNDING = 1e-9
"""A target counts as reached where the rest is rounding."""


# ---- clocks


class Timed(NamedTuple):
    seconds: float
    result: Any


def timed(call: Callable[[], Any]) -> Timed:
    started = perf_counter()
    result = call()
    return Timed(perf_counter() - started, result)


def processed(call: Callable[[], Any]) -> Timed:
    """The seconds that the processor worked for it, whatever else the machine did meanwhile."""
    started = process_time()
    result = call()
    return Timed(process_time() - started, result)


def in_turns(calls: Mapping[str, Callable[[], Timed]], rounds: int) -> dict[str, list[Timed]]:
    """Each of the calls in turn, again and again, so that whatever else the machine does falls on all; long ones once."""
    taken: dict[str, list[Timed]] = {name: [] for name in calls}
    for turn in range(rounds):
        for name, call in calls.items():
            if turn == 0 or taken[name][0].seconds <= LONG:
                taken[name].append(call())
    return taken


def seconds_of(runs: Iterable[Timed]) -> list[float]:
    return [run.seconds for run in runs]


@contextmanager
def threads(count: int) -> Iterator[None]:
    """As many threads for everybody: BLAS and OpenMP, compiled kernels and new processes (which look it up), and PyTorch."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = str(count)
    try:
        with threadpool_limits(count):
            yield
    finally:
        os.environ.pop("OMP_NUM_THREADS")
        if before is not None:
            os.environ["OMP_NUM_THREADS"] = before


# ---- targets


class Mark(NamedTuple):
    """Where a run stands."""

    seconds: float
    objective: float
    iteration: int


@dataclass(frozen=True)
class Target:
    """An objective to reach, and, where it is asked for, a ρ = ‖WᵀW − I‖ (unit columns) at the same time."""

    objective: float
    rho: float = math.inf

    def holds(self, progress: Progress) -> bool:
        if progress.objective > self.objective * (1 + ROUNDING):
            return False
        return math.isinf(self.rho) or metrics.orthogonality_error(progress.factors["W"]) <= self.rho * (1 + ROUNDING)


def follow(
    X: Any,
    form: str,
    init: Mapping[str, Any],
    there: Callable[[Progress], bool] = lambda progress: False,
    limit: float = 60.0,
    **settings: Any,
) -> list[Mark]:
    """Where `factorize` stands after each check, until it is there, or beyond the limit. The clock starts with the call.

    Looking whether it is there is not counted; computing the objective, forming Gram matrices and the like are.
    """
    marks: list[Mark] = []
    looking, started = 0.0, perf_counter()

    def look(progress: Progress) -> bool:
        nonlocal looking
        now = perf_counter()
        marks.append(Mark(now - started - looking, progress.objective, progress.iteration))
        enough = there(progress) or marks[-1].seconds > limit
        looking += perf_counter() - now
        return enough

    nonneg.factorize(X, form, init=init, callback=look, **({"tol": 0, "max_iter": 10**6, "check_every": 1} | settings))
    return marks


def reach(X: Any, form: str, init: Mapping[str, Any], target: Target, limit: float = 60.0, **settings: Any) -> Timed:
    """The seconds that `factorize` takes to the target, infinite where it does not get there; and where it stands then."""
    reached = False

    def there(progress: Progress) -> bool:
        nonlocal reached
        reached = target.holds(progress)
        return reached

    last = follow(X, form, init, there, limit, **settings)[-1]
    return Timed(last.seconds if reached else math.inf, last)


# ---- growth


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The exponent p of the law cost = c · sizeᵖ that fits best: least squares in logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


# ---- other processes


def apart(*arguments: str, **environment: str) -> Any:
    """What a function of `_apart.py` finds, in a process of its own."""
    path = os.pathsep.join(filter(None, (str(Path(nonneg.__file__).parents[1]), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, str(FOLDER / "_apart.py"), *arguments],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def extra_memory(X: Any, form: str, rank: int, **settings: Any) -> float:
    """What `factorize` needs at its peak beyond the data, as a share of what these take."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("X.npz" if sparse.issparse(X) else "X.npy")
        sparse.save_npz(path, X) if sparse.issparse(X) else np.save(path, X)
        found = apart("memory", str(path), form, str(rank), json.dumps(settings))
    return (found["peak"] - found["before"]) / found["data"]


# ---- rows


@dataclass
class Row:
    """One figure. Of rows that differ in `start` alone, the table makes one."""

    problem: str
    what: str
    peer: str = ""
    start: str = ""
    ours: float | None = None
    theirs: float | None = None
    unit: str = ""
    """Of ours and theirs."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    wanted: float | None = None
    at_least: bool = True
    """Whether more is better."""
    holds: bool = True
    """Whether all else that was wanted holds too."""
    details: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def met(self) -> bool | None:
        if self.wanted is None or self.value is None:
            return None
        return self.holds and (self.value >= self.wanted if self.at_least else self.value <= self.wanted)


@dataclass
class Bench:
    """What a group is given: whether to be quick, and where to put what it finds."""

    quick: bool = False
    rows: list[Row] = field(default_factory=list)
    curves: list[dict[str, Any]] = field(default_factory=list)
    failed: bool = False

    def faster(self, ours: Sequence[float], theirs: Sequence[float], at_least: float | None = None, **words: Any) -> None:
        """How many times faster than a peer. Figures taken in turns are compared in pairs."""
        late = {"not reached": ours, "not reached by them": theirs}
        note = ", ".join(words for words, seconds in late.items() if not all(map(math.isfinite, seconds)))
        self._compare(ours, theirs, [b / a for a, b in _pairs(ours, theirs)], at_least, at_least=True, note=note, **words)

    def cost(self, ours: Sequence[float], theirs: Sequence[float], at_most: float | None = None, **words: Any) -> None:
        """How many times the cost of something else."""
        self._compare(ours, theirs, [a / b for a, b in _pairs(ours, theirs)], at_most, at_least=False, **words)

    def number(self, values: Sequence[float], at_most: float | None = None, **words: Any) -> None:
        self._add(Row(value=median(values), low=min(values), high=max(values), wanted=at_most, at_least=False, **words))

    def race(
        self,
        X: Any,
        form: str,
        init: Mapping[str, Any],
        fit: Callable[[], Timed],
        judge: Callable[[Any], Target],
        at_least: float | None = None,
        rounds: int = 3,
        settings: Mapping[str, Any] | None = None,
        **words: Any,
    ) -> Timed:
        """A peer's fit, and `factorize` from the same start to where that one ended, in turns; a fit that takes long once.

        Returns the first of the fits.
        """
        rounds, patience = (1, 0.2) if self.quick else (rounds, 10.0)
        theirs, ours = [fit()], []
        target = judge(theirs[0].result)
        limit = patience + (theirs[0].seconds if math.isfinite(theirs[0].seconds) else patience)
        while len(ours) < rounds and (not ours or math.isfinite(ours[-1].seconds)):
            if ours and theirs[0].seconds <= LONG:
                theirs.append(fit())
            ours.append(reach(X, form, init, target, limit, **(settings or {})))
        last = ours[-1].result
        details = {**asdict(target), "iterations": last.iteration, "our objective": last.objective, **words.pop("details", {})}
        self.faster(seconds_of(ours), seconds_of(theirs), at_least, details=details, **words)
        return theirs[0]

    def meet(
        self,
        X: Any,
        form: str,
        init: Mapping[str, Any],
        theirs: Sequence[Mark],
        within: float = 1e-3,
        rounds: int = 3,
        **words: Any,
    ) -> None:
        """Both to the same place: so far above the lower of the two ends.

        From one start two methods may end in two minima, and the one whose minimum is higher never reaches the other's objective.
        """
        end = follow(X, form, init, limit=max(theirs[-1].seconds, 0.1))[-1]
        target = Target((1 + within) * min(end.objective, theirs[-1].objective))
        their_seconds = next((mark.seconds for mark in theirs if mark.objective <= target.objective), math.inf)
        ours = [reach(X, form, init, target, limit=2 * end.seconds) for _ in range(1 if self.quick else rounds)]
        details = {"objective": theirs[-1].objective, "our objective": end.objective}
        what = f"{words.pop('what')}, both to {100 * within:g} % above the lower end"
        self.faster(seconds_of(ours), [their_seconds], what=what, details=details, **words)

    def curve(self, method: str, marks: Sequence[Mark], **words: Any) -> None:
        """The objective as it falls; of many marks, those that a logarithmic axis tells apart."""
        chosen = np.unique(np.geomspace(1, len(marks), 200).astype(int) - 1)
        seconds, objective = ([getattr(marks[i], name) for i in chosen] for name in ("seconds", "objective"))
        self.curves.append({"method": method, "seconds": seconds, "objective": objective, **words})

    @contextmanager
    def attempt(self, problem: str, what: str, peer: str = "", start: str = "") -> Iterator[None]:
        """What goes wrong inside becomes a row that says what."""
        try:
            yield
        except (ImportError, FetchError, FileNotFoundError) as error:
            self._add(Row(problem, what, peer, start, note=f"left out: {error}"))
        except Exception as error:
            self.failed = True
            self._add(Row(problem, what, peer, start, note=f"failed: {type(error).__name__}: {error}"))

    def _compare(
        self,
        ours: Sequence[float],
        theirs: Sequence[float],
        ratios: list[float],
        wanted: float | None,
        *,
        at_least: bool,
        unit: str = "s",
        **words: Any,
    ) -> None:
        numbers = {"ours": median(ours), "theirs": median(theirs), "value": median(ratios), "low": min(ratios), "high": max(ratios)}
        self._add(Row(**numbers, wanted=wanted, at_least=at_least, unit=unit, **words))

    def _add(self, row: Row) -> None:
        if self.quick:
            row.wanted = None  # for the real sizes only
        self.rows.append(row)
        told = [row.problem, row.start, row.what, row.peer, _figure(row.value), row.note]
        print("    " + " | ".join(part for part in told if part), file=sys.stderr, flush=True)


def _pairs(ours: Sequence[float], theirs: Sequence[float]) -> list[tuple[float, float]]:
    if len(ours) == len(theirs):
        return list(zip(ours, theirs, strict=True))
    return [(a, median(theirs)) for a in ours] if len(ours) > len(theirs) else [(median(ours), b) for b in theirs]


# ---- the table

HEADER = ("problem", "what", "ours", "theirs", "peer", "ratio or value", "from – to", "wanted")


def table(rows: Sequence[Row]) -> str:
    """The rows as Markdown, in columns; those that differ in the start alone are one line, from the least to the largest."""
    together: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        together.setdefault((row.problem, row.what, row.peer), []).append(row)
    lines = [HEADER, *(_line(group) for group in together.values())]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines)


def _line(rows: Sequence[Row]) -> tuple[str, ...]:
    first, starts = rows[0], [row for row in rows if row.start]
    problem = f"{first.problem}, {len(starts)} starts" if len(starts) > 1 else ", ".join(filter(None, (first.problem, first.start)))
    values = [row.value for row in rows if row.value is not None]
    notes = "; ".join(dict.fromkeys(row.note for row in rows if row.note))
    spread = [(row.low, row.high) for row in rows if row.low is not None and row.high is not None]
    low, high = (min(low for low, _ in spread), max(high for _, high in spread)) if spread else (None, None)
    return (
        problem,
        f"{first.what} ({notes})" if notes else first.what,
        _range([row.ours for row in rows], first.unit),
        _range([row.theirs for row in rows], first.unit),
        first.peer,
        _figure(median(values) if values else None),
        f"{_figure(low)} – {_figure(high)}" if low != high else "",
        _wanted(rows),
    )


def _wanted(rows: Sequence[Row]) -> str:
    judged = [row for row in rows if row.met is not None]
    if not judged:
        return ""
    sign, met = "≥" if judged[0].at_least else "≤", sum(bool(row.met) for row in judged)
    verdict = ("yes" if met else "no") if len(judged) == 1 else f"{met} of {len(judged)}"
    return f"{sign} {judged[0].wanted:g}: {verdict}"


def _range(values: Sequence[float | None], unit: str) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return ""
    least, most = _figure(min(known)), _figure(max(known))
    return f"{least if least == most else f'{least} – {most}'} {unit}".strip()


def _figure(value: float | None) -> str:
    """Three digits that count."""
    if value is None or not math.isfinite(value):
        return "" if value is None else "never" if value > 0 else "nan"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:#.3g}" if abs(value) >= 1e-3 or value == 0 else f"{value:.1e}"


# ---- the file


def read(path: Path) -> dict[str, Any]:
    """What is in the file, if there is one: groups by name."""
    return json.loads(path.read_text(encoding="utf8")) if path.exists() else {}


def write(path: Path, results: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_finite(results), indent=1, ensure_ascii=False) + "\n", encoding="utf8")


def as_results(bench: Bench, title: str, seconds: float) -> dict[str, Any]:
    rows = [asdict(row) | {"met": row.met} for row in bench.rows]
    return {"title": title, "seconds": round(seconds, 1), "on": surroundings(), "rows": rows, "curves": bench.curves}


def as_rows(results: Mapping[str, Any]) -> list[Row]:
    return [Row(**{key: value for key, value in row.items() if key != "met"}) for row in results["rows"]]


def _finite(value: Any) -> Any:
    """As JSON knows numbers: without infinity."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


def surroundings() -> dict[str, Any]:
    """On what it ran."""
    versions = {}
    for name in ("numpy", "scipy", "scikit-learn", "numba", "opnmf", "hmmlearn", "torch", "torchnmf"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = None
    return {
        "date": str(date.today()),
        "nonneg": nonneg.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "processor": _processor(),
        "system": f"{sys.platform} {platform.machine()}",
        **versions,
    }


def _processor() -> str:
    try:
        names = [
            line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
        ]
    except OSError:
        names = []
    return names[0] if names else platform.processor()
