"""The command line: how soon it is there, how long it takes by size, and what memory a file of 2 GB takes.

    python benchmarks/command_line.py [--folder /tmp]

Files are made of ten planted parts with noise, fitted by ``nonneg fit --rank 10``, and removed. Said are the time of the first line
of progress, that of all, start included, and the largest resident memory of the process; for the last two files also what the
method needs resident: the library with its compiled loops, as a fit of the first file has it, and the file, which is mapped; or, of
the last one, two blocks, what is computed of one, and the sketch, or what else stands for the data.
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

RANK = 10
SIZES = ((1000, 100), (10_000, 1000), (62_500, 1000), (100_000, 2500))
DIRECTIONS = 11 * RANK
"""Of rows and of columns, in the low-rank stand-in that NMF of the last file ends with (`engine/compressing.py`)."""


def write(path: Path, rows: int, features: int) -> None:
    """A file of planted parts with noise, written in blocks."""
    parts, draw = np.kron(np.eye(RANK), np.ones(features // RANK)), np.random.default_rng(0)
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(rows, features))
    for start in range(0, rows, 10_000):
        some = X[start : start + 10_000]
        some[:] = draw.gamma(1.0, 1.0, (len(some), RANK)) @ parts
        some += 0.1 * draw.random((len(some), features), dtype=np.float32)
    X.flush()


def run(*arguments: str, folder: Path) -> tuple[float, float, float, float, list[str]]:
    """Time of the first line, of all, of the processor, and peak memory in megabytes of a command; and its lines."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "nonneg", *arguments]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines, first = [], 0.0
    for line in process.stderr:
        first = first or time.perf_counter() - began
        lines.append(f"{time.perf_counter() - began:8.1f} s  {line.rstrip()}")
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, "\n".join(lines)
    return first, time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write is not None:
        write(Path(given.write[0]), *map(int, given.write[1:]))
        return
    times = []
    for _ in range(5):
        began, before = time.perf_counter(), os.times()
        subprocess.run([sys.executable, "-m", "nonneg", "--help"], stdout=subprocess.DEVNULL, check=True)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        times.append((time.perf_counter() - began, used))
    print(f"nonneg --help: {min(t for t, _ in times):.2f} s, of the processor {min(t for _, t in times):.2f} s (best of 5)")
    peaks = {}
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        for rows, features in SIZES:
            # A process that is started begins with the largest memory that this one has had: files are written by another.
            subprocess.run([sys.executable, __file__, "--write", f"{name}/X.npy", str(rows), str(features)], check=True)
            for model in ("opnmf", "nmf"):
                options = ("fit", "X.npy", "--model", model, "--rank", str(RANK))
                first, seconds, used, peaks[rows, model], lines = run(*options, folder=Path(name))
                print(
                    f"{model}, {rows} × {features}: first line after {first:.2f} s; {seconds:.1f} s; of the processor {used:.1f} s"
                )
                print(f"peak memory {peaks[rows, model]:.0f} MB", *lines, sep="\n")
    mapped, blocks = 8 * SIZES[2][0] * SIZES[2][1], 2 * BLOCK_BYTES
    needed = {
        (SIZES[2], "opnmf"): mapped,
        (SIZES[2], "nmf"): mapped,
        (SIZES[3], "opnmf"): blocks + 8 * 4 * RANK * (rows + 2 * features),
        (SIZES[3], "nmf"): blocks + 8 * (2 * DIRECTIONS + 3 * RANK) * (rows + features),
    }
    for ((rows, features), model), count in needed.items():
        peak, need = peaks[rows, model], peaks[SIZES[0][0], model] + count / 1e6
        print(f"{model}, {rows} × {features}: peak memory {peak:.0f} MB; needed {need:.0f} MB: {peak / need:.2f} times that")


if __name__ == "__main__":
    main()
