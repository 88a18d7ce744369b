"""Cases by the thousand: drawn by number, run in worker processes under limits of time, counted, shrunk, written down."""

from __future__ import annotations

import importlib
import json
import multiprocessing
import signal
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .choices import Choices, shrunk
from .trial import Finding, Refused, Trial

AREAS = (
    "engine",
    "estimators",
    "graphs",
    "chains",
    "discriminants",
    "metrics",
    "coclusters",
    "messages",
    "weights",
    "storages",
    "shell",
    "ranks",
    "reports",
    "wide",
    "files",
    "models",
)
SHARES = {
    "engine": 8,
    "estimators": 6,
    "graphs": 2,
    "chains": 2,
    "discriminants": 2,
    "metrics": 1,
    "coclusters": 1,
    "messages": 5,
    "weights": 3,
    "storages": 2,
    "shell": 2,
    "ranks": 1,
    "reports": 1,
    "wide": 1,
    "files": 4,
    "models": 1,
    "peer": 1,
}
"""How many cases of an area come before one of the next."""
LIMIT = 30.0
"""Seconds of processor time that one case may take, with what it has to compile."""
PATIENCE = 300.0
"""Seconds that may pass before a worker is given up: it waits for something, or is in code that no signal reaches."""


SHRINKING = 60.0
"""Seconds that a finding is made simpler for; far below `PATIENCE`."""


class TimeLimit(BaseException):
    """Not an Exception, so that nothing on the way takes it for one of its own."""


@dataclass
class Report:
    """A finding, as it is written down."""

    area: str
    case: str
    invariant: str
    subject: str
    what: str
    script: str
    count: int = 1

    @property
    def key(self) -> tuple[str, str, str]:
        return self.area, self.invariant, self.subject

    def __str__(self) -> str:
        head = f"# {self.area}: {self.invariant} ({self.subject or 'anything'}; {self.count} times; python fuzz --case {self.case})"
        return "\n".join([head, *(f"# {line}" for line in self.what.splitlines()), self.script, ""])


def schedule(areas: Sequence[str]) -> list[str]:
    """The areas in turn, as often as their shares say."""
    return [area for area in areas for _ in range(SHARES[area])]


def run_case(area: str, choices: Choices, counts: Counter[str] | None = None) -> Finding | None:
    """One case, under a limit of processor time."""
    trial = Trial(choices, counts)
    trial.counts["cases"] += 1
    signal.signal(signal.SIGVTALRM, _interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        importlib.import_module(f"fuzz.{area}").case(trial)
    except Refused:
        pass
    except Finding as finding:
        return finding
    except TimeLimit:
        return Finding("time", trial.subject, f"took more than {LIMIT:g} s", trial.script)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        what = "".join(traceback.format_exception(error)).strip()
        return Finding("unforeseen", f"{type(error).__name__} {Path(place.filename).name}:{place.lineno}", what, trial.script)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        trial.close()
    return None


def _interrupt(*_: Any) -> None:
    raise TimeLimit


def investigate(area: str, case: str, choices: list[int], finding: Finding) -> Report:
    """The finding at its simplest."""

    end = time.time() + SHRINKING

    def still(candidate: list[int]) -> bool:
        if time.time() > end:
            return False
        other = run_case(area, Choices(given=candidate))
        return other is not None and other.key == finding.key

    if finding.invariant != "time":
        again = run_case(area, Choices(given=shrunk(choices, still)))
        finding = again if again is not None and again.key == finding.key else finding
    return Report(area, case, finding.invariant, finding.subject, finding.what, finding.script)


def cases(areas: Sequence[str], seed: int, first: int, step: int, end: float = float("inf")) -> Iterator[tuple[int, str, Choices]]:
    """Number, area and choices of every case of a worker: all of them follow from the seed and the number."""
    turns, number = schedule(areas), first
    while number < end:
        area = turns[number % len(turns)]
        yield number, area, Choices(f"{seed}:{number}:{area}")
        number += step


def _work(areas: Sequence[str], seed: int, first: int, step: int, end: float, now: Any, results: Any) -> None:
    """Run the cases of one worker, until they end or the process is killed, and send what was found."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    known: set[tuple[str, str, str]] = set()
    for number, area, choices in cases(areas, seed, first, step, end):
        now[0], now[1] = number, time.time()
        counts: Counter[str] = Counter()
        finding = run_case(area, choices, counts)
        report = None
        if finding is not None:
            report = Report(area, f"{seed}:{number}:{area}", finding.invariant, finding.subject, finding.what, finding.script)
            if report.key not in known:
                known.add(report.key)
                now[1] = time.time()
                report = investigate(area, report.case, choices.made, finding)
        results.put((number, area, counts, report))


@dataclass
class Tally:
    """What came of a run."""

    counts: dict[str, Counter[str]]
    reports: dict[tuple[str, str, str], Report]
    seed: int
    seconds: float = 0.0
    last: int = 0

    def add(self, number: int, area: str, counts: Counter[str], report: Report | None) -> bool:
        """Whether the finding is new."""
        self.last = max(self.last, number)
        self.counts.setdefault(area, Counter()).update(counts)
        if report is None:
            return False
        self.counts[area]["findings"] += 1
        if report.key in self.reports:
            self.reports[report.key].count += 1
            return False
        self.reports[report.key] = report
        return True

    @property
    def calls(self) -> int:
        return sum(counts["calls"] for counts in self.counts.values())

    def to_json(self) -> str:
        content = {
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "last_case": self.last,
            "areas": {area: dict(sorted(counts.items())) for area, counts in self.counts.items()},
            "findings": [asdict(report) for report in self.reports.values()],
        }
        return json.dumps(content, indent=1)


def run(
    areas: Sequence[str],
    seed: int,
    seconds: float,
    calls: float,
    workers: int = 2,
    first: int = 0,
    tell: Any = print,
    count: float = float("inf"),
    shard: tuple[int, int] = (0, 1),
) -> Tally:
    """Run cases in worker processes until time, calls or cases are used up.

    Parameters
    ----------
    first : int
        Number of the first case.
    count : float
        How many cases, those of other shards included.
    shard : pair of int
        (k, n): run the cases whose number is k modulo n after `first`.
    """
    context = multiprocessing.get_context("fork")
    results: Any = context.Queue()
    tally, begun = Tally({}, {}, seed), time.time()
    states, processes = [], []
    begin, step = first + shard[0], workers * shard[1]

    def start(place: int, number: int) -> None:
        work = (areas, seed, number, step, first + count, states[place], results)
        process = context.Process(target=_work, args=work, daemon=True)
        process.start()
        processes[place : place + 1] = [process]

    for place in range(workers):
        states.append(context.Array("d", [begin + place * shard[1], time.time()], lock=False))
        start(place, begin + place * shard[1])
    try:
        while time.time() - begun < seconds and tally.calls < calls:
            are_done = all(process.exitcode == 0 for process in processes)
            try:
                if tally.add(*(arrived := results.get(timeout=1.0))):
                    tell(str(arrived[3]))
            except multiprocessing.queues.Empty:  # type: ignore[attr-defined]
                if are_done:
                    break
            for place, process in enumerate(processes):
                number, since = int(states[place][0]), states[place][1]
                if process.exitcode == 0 or (process.is_alive() and time.time() - since < PATIENCE):
                    continue
                process.kill()
                area = schedule(areas)[number % len(schedule(areas))]
                what = "never came back" if process.is_alive() else f"ended the process ({process.exitcode})"
                report = Report(area, f"{seed}:{number}:{area}", "time", "process", what, "")
                if tally.add(number, area, Counter(cases=1), report):
                    tell(str(report))
                states[place][1] = time.time()
                start(place, number + step)
    except KeyboardInterrupt:
        tell("Interrupted; what was counted so far is kept.")
    finally:
        for process in processes:
            process.kill()
    tally.seconds = time.time() - begun
    return tally
