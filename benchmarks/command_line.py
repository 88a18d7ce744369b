"""The command line: how soon it is there, and a file of 2 GB fitted from it.

    python benchmarks/command_line.py [--gigabytes 2] [--folder /tmp]

A file is made of ten planted parts with noise, fitted by ``nonneg fit --model opnmf``, and removed. Said are the time of the first
line of progress, the largest resident memory of the process, and what the method needs resident: the library with its compiled
loops, as a fit of a small file has it, two blocks, what is computed of one, and the sketch.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from nonneg.data.files import BLOCK_BYTES

RANK, FEATURES = 10, 2500


def write(path: Path, n_bytes: float) -> int:
    """A file of planted parts with noise, written in blocks."""
    rows = int(n_bytes / (8 * FEATURES))
    parts, draw = np.kron(np.eye(RANK), np.ones(FEATURES // RANK)), np.random.default_rng(0)
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(rows, FEATURES))
    for start in range(0, rows, 10_000):
        some = X[start : start + 10_000]
        some[:] = draw.gamma(1.0, 1.0, (len(some), RANK)) @ parts
        some += 0.1 * draw.random((len(some), FEATURES), dtype=np.float32)
    X.flush()
    return rows


def run(*arguments: str, folder: Path) -> tuple[float, float, float, float, list[str]]:
    """Time of the first line, time, time of the processor, and peak memory in megabytes of a command; and its lines."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "nonneg", *arguments]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines, first = [], 0.0
    for line in process.stderr:
        first = first or time.perf_counter() - began
        lines.append(f"{time.perf_counter() - began:6.1f} s  {line.rstrip()}")
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, "\n".join(lines)
    return first, time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write is not None:
        print(write(given.write, given.gigabytes * 1e9))
        return
    times = []
    for _ in range(5):
        began, before = time.perf_counter(), os.times()
        subprocess.run([sys.executable, "-m", "nonneg", "--help"], stdout=subprocess.DEVNULL, check=True)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        times.append((time.perf_counter() - began, used))
    print(f"nonneg --help: {min(t for t, _ in times):.2f} s, of the processor {min(t for _, t in times):.2f} s (best of 5)")
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        for file, size in (("small.npy", 2e6), ("large.npy", given.gigabytes * 1e9)):
            # A process that is started begins with the largest memory that this one has had: files are written by another.
            made = subprocess.run(
                [sys.executable, __file__, "--write", folder / file, "--gigabytes", str(size / 1e9)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            rows = int(made.stdout)
            first, seconds, used, peak, lines = run("fit", file, "--model", "opnmf", "--rank", str(RANK), folder=folder)
            print(f"{file}, {rows} × {FEATURES}: first line after {first:.2f} s, {seconds:.0f} s, of the processor {used:.0f} s")
            print("\n".join(lines))
            if file == "small.npy":
                library = peak
        sketch = 8 * 4 * RANK * (2 * FEATURES) / 1e6
        need = library + 2 * BLOCK_BYTES / 1e6 + 8 * 4 * RANK * rows / 1e6 + sketch
        print(f"peak memory {peak:.0f} MB; the library {library:.0f} MB, needed {need:.0f} MB: {peak / need:.2f} times that")


if __name__ == "__main__":
    main()
