"""What is lost when processes are killed, disks are full and folders become read-only, two processes at a time on the same names.

``python benchmarks/losses.py --trials 200``. Each trial copies a folder with files of an earlier run, starts a command twice in it,
and strikes at a random moment: by a signal to one of the two or to both, by a disk with room for a part of what is written, or by
taking the right to write. Every file must then be the old one or the new one, whole; the same command, run again, must come to the
same bits as one that was never struck, and leave no other file behind. The table has a row for each kind of strike.

Half of the moments are anywhere in the command, half while a file is being written. Four of five processes are forked from one that
has imported and compiled everything, so that most of their time is work; the fifth is ``python -m nonneg`` from its start.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import nonneg
from nonneg.files import read

KINDS = ("SIGKILL", "SIGTERM", "SIGINT", "full disk", "read-only")
SHAPE, RANK = (1500, 120), 8
_DROP, _CAPABILITIES = 24, (1, 2)
"""Of prctl: to drop a capability; and those by which root may write and read what it has no right to."""


def components(path: Path) -> np.ndarray:
    return np.asarray(nonneg.load(path).components_)


def table(path: Path) -> np.ndarray:
    return np.asarray(read(path).values)


def page(path: Path) -> np.ndarray:
    """The length of its pictures; numbers of seconds differ from page to page."""
    text = path.read_text(encoding="utf8")
    if not text.startswith("<!DOCTYPE html>") or not text.rstrip().endswith("</html>"):
        raise ValueError(f"{path} is not a whole page")
    return np.array([len(part) for part in text.split('"') if part.startswith("data:image")])


@dataclass
class Job:
    """A command, and how each of its files is read."""

    name: str
    line: str
    outputs: dict[str, Callable[[Path], np.ndarray]]
    duration: float = 1.0

    @property
    def words(self) -> list[str]:
        return self.line.split()

    def command(self) -> list[str]:
        return [sys.executable, *(["-m", "nonneg", *self.words] if self.line else [__file__, "--checkpoint"])]


_FIT = "fit X.npy --model nmf --rank 8 --seed 1 -o model.nonneg --components parts.csv --loadings codes.npy --report page.html"
JOBS = (
    Job("fit", _FIT, {"model.nonneg": components, "parts.csv": table, "codes.npy": table, "page.html": page}),
    Job("rank", "rank X.npy -m nmf -r 1-2 -c gabriel --seed 1 -o ranks.csv --keep scan", {"ranks.csv": table}),
    Job("transform", "transform given.nonneg X.npy -o codes.csv", {"codes.csv": table}),
    Job("report", "report given.nonneg --data X.npy -o page.html", {"page.html": page}),
    Job("checkpoint", "", {"W.npy": table}),
)


def data(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return generator.random((SHAPE[0], RANK)) @ generator.random((RANK, SHAPE[1])) + 0.1 * generator.random(SHAPE)


def go_on() -> None:
    """What the command line has no words for: a fit that writes a checkpoint at every check."""
    checkpoint = nonneg.Checkpoint("run.nonneg", every=0)
    settings: dict[str, Any] = {"solver": "multiplicative", "init": "random", "tol": 0.0, "random_state": 1}
    model = nonneg.NMF(RANK, max_iter=int(os.environ.get("ITERATIONS", "300")), checkpoint=checkpoint, **settings)
    nonneg.files.write(model.fit(np.load("X.npy")).components_, "W.npy")


def obey_rights() -> None:
    """Take from this process, where it is root's, what lets root write where it has no right to."""
    import ctypes

    libc = ctypes.CDLL(None)
    for capability in _CAPABILITIES:
        libc.prctl(_DROP, capability, 0, 0, 0)
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, sets) == 0:
        for number in range(2):  # effective and permitted
            sets[number] &= ~sum(1 << capability for capability in _CAPABILITIES)
        libc.capset(header, sets)


def start(job: Job, folder: Path, *, is_forked: bool, limit: int = 0, is_bound: bool = False) -> int:
    """Run a job in a folder, as another process; with a limit, no file may become larger than so many bytes."""
    log = os.open(folder.parent / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    pid = os.fork()
    if pid:
        os.close(log)
        return pid
    code = 70
    try:
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(folder)
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        if is_bound:
            obey_rights()
        if not is_forked:
            os.execv(sys.executable, job.command())
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["nonneg", *job.words]
        code = _called(job)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _called(job: Job) -> int:
    from nonneg.cli.app import app

    try:
        go_on() if job.name == "checkpoint" else app(job.words, prog_name="nonneg")
    except SystemExit as error:
        return int(error.code or 0)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def ended(pid: int, seconds: float) -> int | None:
    """The status of a process, waited for; None where it is still going."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.001)
    return None


def is_writing(folder: Path) -> bool:
    """Whether there is a file that is not finished."""
    return any(".tmp" in name for name in os.listdir(folder)) or ((folder / "scan").is_dir() and is_writing(folder / "scan"))


def wait_for_moment(pids: list[int], folder: Path, job: Job, chance: random.Random, slowness: float) -> str:
    """Wait for a moment in the life of processes."""
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0, slowness * job.duration))
        return "anywhere"
    until = time.monotonic() + 3 * slowness * job.duration
    while time.monotonic() < until and not is_writing(folder) and any(Path(f"/proc/{pid}").exists() for pid in pids):
        pass
    time.sleep(chance.uniform(0, 0.004))
    return "writing"


class Harness:
    """Templates of folders, and what each job comes to where it is not struck."""

    def __init__(self, room: Path, chance: random.Random) -> None:
        self.room, self.chance, self.expected, self.old = room, chance, {}, {}
        for job in JOBS:
            template = room / f"template {job.name}"
            template.mkdir()
            self._prepare(job, template)

    def _prepare(self, job: Job, template: Path) -> None:
        """Files of an earlier run, of other data; and what the job comes to with these."""
        for number in (0, 1):
            np.save(template / "X.npy", data(number))
            nonneg.NMF(RANK, random_state=number).fit(data(number)).save(template / "given.nonneg")
            os.environ["ITERATIONS"] = "300" if number else "100"
            folder = self.room / f"{job.name} {number}"
            shutil.copytree(template, folder)
            if number and job.name == "checkpoint":  # it goes on from where an earlier one with the same data ended
                os.environ["ITERATIONS"] = "100"
                self._run(job, template)
                os.environ["ITERATIONS"] = "300"
                shutil.copy(template / "W.npy", self.room / f"{job.name} 0" / "W.npy")
            began = time.monotonic()
            self._run(job, folder)
            job.duration = time.monotonic() - began
            found = {name: load(folder / name) for name, load in job.outputs.items()}
            (self.expected if number else self.old)[job.name] = found
            if not number:
                for name in job.outputs:
                    shutil.copy(folder / name, template / name)
        if job.name == "checkpoint":
            self.old[job.name] = {"W.npy": table(template / "W.npy")}
        self.names = {**getattr(self, "names", {}), job.name: {each.name for each in folder.iterdir()}}

    def _run(self, job: Job, folder: Path) -> None:
        status = ended(start(job, folder, is_forked=True), 120)
        if status != 0:
            raise RuntimeError(f"{job.name} ended with {status}: {(folder.parent / 'log').read_text()[-2000:]}")

    def verdicts(self, job: Job, folder: Path) -> dict[str, str]:
        """Of each file whether it is the old one, the new one, another that is whole, gone, or broken."""
        found = {}
        for name, load in job.outputs.items():
            try:
                values = load(folder / name)
            except FileNotFoundError:
                found[name] = "gone"
            except Exception as error:
                found[name] = f"broken: {error}"
            else:
                before, after = (kept[job.name][name] for kept in (self.old, self.expected))
                same = [np.array_equal(values, one) for one in (before, after)]
                found[name] = (
                    "old" if same[0] else "new" if same[1] else "whole" if np.isfinite(values).all() else "broken: not finite"
                )
        return found

    def trial(self, number: int, kind: str, job: Job) -> Counter[str]:
        """Strike once, look at what is there, and run the job again."""
        chance, count = self.chance, Counter({"trials": 1})
        is_forked = chance.random() < 0.8
        with self._disk(number, job, kind) as (folder, ballast):
            before = os.path.getsize(folder.parent / "log") if (folder.parent / "log").exists() else 0
            # Without a disk of its own, a limit on the size of files does what a full one does.
            limit = chance.randrange(200, 60_000) if kind == "full disk" and ballast is None else 0
            pids = []
            for _ in range(2):
                pids.append(start(job, folder, is_forked=is_forked, limit=limit, is_bound=kind == "read-only"))
                time.sleep(chance.uniform(0, 0.3 * job.duration))
            if kind == "read-only":
                wait_for_moment(pids, folder, job, chance, 1.5)
                os.chmod(folder, 0o555)
            elif kind != "full disk":
                slowness = 1.5 if is_forked else 8.0
                count[wait_for_moment(pids, folder, job, chance, slowness)] += 1
                for pid in pids[: chance.choice((1, 1, 2))]:
                    with suppress(ProcessLookupError):
                        os.kill(pid, getattr(signal, kind))
            statuses = [ended(pid, 120) for pid in pids]
            for pid, status in zip(pids, statuses, strict=True):
                if status is None:  # it hangs
                    count["hangs"] += 1
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
            count["struck"] += any(status not in (0, None) for status in statuses)
            os.chmod(folder, 0o755)
            if ballast is not None:
                ballast.unlink()
            found = self.verdicts(job, folder)
            allowed = ("old", "new", "whole") if kind == "SIGINT" else ("old", "new")
            lost = {name: verdict for name, verdict in found.items() if verdict not in allowed}
            count.update(f"files {verdict}" for verdict in found.values() if verdict in ("old", "new", "whole"))
            status = ended(start(job, folder, is_forked=True), 120)
            again = self.verdicts(job, folder)
            differing = {name: verdict for name, verdict in again.items() if verdict != "new"}
            left = [
                str(each.relative_to(folder)) for each in folder.rglob("*") if ".tmp" in each.name or each.name.endswith(".lock")
            ]
            left += sorted({each.name for each in folder.iterdir()} - self.names[job.name])
            with open(folder.parent / "log", encoding="utf8", errors="replace") as log:
                log.seek(before)
                said = log.read()
            for what, value in (("lost", lost), ("differ", differing), ("left", sorted(set(left)))):
                count[what] += bool(value)
                if value:
                    print(f"trial {number}, {kind}, {job.name}: {what}: {value}; {status}; {said[-600:]}", flush=True)
            if "Traceback" in said and job.words:  # Python itself says so of a script that is interrupted
                count["tracebacks"] += 1
                print(f"trial {number}, {kind}, {job.name}: a traceback: {said[-800:]}", flush=True)
        return count

    @contextmanager
    def _disk(self, number: int, job: Job, kind: str) -> Iterator[tuple[Path, Path | None]]:
        """A copy of a template; for a full disk on one of its own, if that is allowed, with a file that takes most of its room."""
        place, ballast = self.room / str(number), None
        place.mkdir()
        is_mounted = kind == "full disk" and os.system(f"mount -t tmpfs -o size=4m none '{place}' 2>/dev/null") == 0
        try:
            folder = place / "folder"
            shutil.copytree(self.room / f"template {job.name}", folder)
            if is_mounted:
                room = shutil.disk_usage(place).free
                taken = max(room - self.chance.randrange(0, 160_000), 0)
                ballast = place / "ballast"
                ballast.write_bytes(bytes(taken))
            yield folder, ballast
        finally:
            if is_mounted:
                subprocess.run(["umount", str(place)], check=True)
            shutil.rmtree(place)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--job", choices=[job.name for job in JOBS])
    parser.add_argument("--checkpoint", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.checkpoint:
        go_on()
        return
    chance, found = random.Random(given.seed), {}
    cases = [(kind, job) for kind in KINDS for job in JOBS if given.kind in (None, kind) and given.job in (None, job.name)]
    with tempfile.TemporaryDirectory() as room:
        harness = Harness(Path(room), chance)
        for number in range(given.trials):
            kind, job = cases[number % len(cases)]
            found[kind, job.name] = found.get((kind, job.name), Counter()) + harness.trial(number, kind, job)
    columns = ("trials", "struck", "files old", "files new", "files whole", "lost", "differ", "left", "hangs", "tracebacks")
    print(f"| strike | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for kind in (*KINDS, "all"):
        total: Counter[str] = sum((count for (one, _), count in found.items() if kind in (one, "all")), Counter())
        if total:
            print(f"| {kind} | " + " | ".join(str(total[column]) for column in columns) + " |")


if __name__ == "__main__":
    main()
