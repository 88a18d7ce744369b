"""OPNMF of brains from files: the figures of docs/fields/brains.md.

    python benchmarks/brains.py small                  # 60 subjects at 8 mm, beside the opnmf package
    python benchmarks/brains.py study                  # 60 subjects at 3 mm, beside opnmf's rule without its voxels × voxels matrix
    python benchmarks/brains.py rank                   # how many parts the latter have, by stratified halves
    python benchmarks/brains.py large SUBJECTS FOLDER  # 300 000 voxels, in blocks; the study is kept in the folder

Seconds are processor time of one thread, start of Python and writing of files included where it says "from the shell".
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import NamedTuple

import numpy as np
from sklearn.decomposition._nmf import _initialize_nmf

import planted_brains
from _bench import processed
from _peers import printed_opnmf, projection
from nonneg.files import read
from nonneg.neuro import compare_atlases

RANK = 12
COMMAND = (str(Path(sys.executable).with_name("nonneg")), "fit", "participants.tsv", "--mask", "mask.nii.gz", "--rank", str(RANK))
OUTPUTS = ("--components", "parts.nii.gz", "--atlas", "atlas.nii.gz", "--loadings", "loadings.csv", "--quiet")


LONGEST = 5000
"""Iterations after which opnmf's rule is cut off."""


class Used(NamedTuple):
    processor: float
    seconds: float
    peak: int
    """Megabytes."""


def from_the_shell(folder: Path) -> Used:
    """What a fit with all outputs takes."""
    before, began, peak = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter(), 0
    process = subprocess.Popen([*COMMAND, *OUTPUTS], cwd=folder, env=os.environ | {"OMP_NUM_THREADS": "1", "TMPDIR": str(folder)})
    while process.poll() is None:
        peak = max(peak, _peak(process.pid))
        sleep(0.1)
    assert process.returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Used(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, perf_counter() - began, peak)


def _peak(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        return next((int(line.split()[1]) // 1000 for line in lines if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def described(X: np.ndarray, W: np.ndarray, planted: np.ndarray) -> str:
    """The objective of components, columns of W, at their best length, their overlap, and how well they find the planted atlas."""
    objective, overlap = projection(X, W.astype(np.float64))
    found = compare_atlases(planted, np.argmax(W, axis=1) + 1)
    return f"objective {objective:.6g}, ‖WᵀW − I‖ {overlap:.3f}, ARI {found.ari:.3f}, Dice {found.dice:.3f}"


def beside(resolution: int) -> None:
    """Sixty subjects from the shell, and opnmf from its own start, to its own stop."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = planted_brains.planted(resolution=resolution)
        planted_brains.write(study, folder)
        inside = np.asarray(study.mask.dataobj) != 0
        X = read(folder / "participants.tsv", mask=folder / "mask.nii.gz").values.T.astype(np.float64)
        planted = np.asarray(study.atlas.dataobj)[inside]
        print(f"{X.shape[0]} voxels, {X.shape[1]} subjects, {RANK} planted parts")
        first, second = from_the_shell(folder), from_the_shell(folder)
        W = read(folder / "parts.nii.gz", mask=folder / "mask.nii.gz").values.T
        print(f"nonneg fit: {first.processor:.1f} and {second.processor:.1f} s, {second.peak} MB; {described(X, W, planted)}")
        W = _initialize_nmf(X, RANK, init="nndsvd")[0]
        if resolution > 6:
            from opnmf.opnmf import opnmf

            run = processed(lambda: opnmf(X, RANK, init="custom", init_W=W)[0])
            print(f"opnmf: {run.seconds:.1f} s; {described(X, run.result, planted)}")
            return
        began, change, count = process_time(), 1.0, 0
        for W_next, _ in printed_opnmf(X, W):
            change, W, count = np.linalg.norm(W_next - W) / np.linalg.norm(W), W_next, count + 1
            if change < 1e-5 or count == LONGEST:
                break
        seconds = process_time() - began
        print(f"opnmf's rule: {seconds:.1f} s, {count} iterations, last change {change:.2g}; {described(X, W, planted)}")


def rank() -> None:
    """The rank of sixty subjects by halves stratified by sex and age, from the shell."""
    with tempfile.TemporaryDirectory() as name:
        planted_brains.write(planted_brains.planted(resolution=3), Path(name))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        command = (COMMAND[0], "rank", *COMMAND[2:5], "--rank", "2-16", "--strata", "sex,age/3")
        subprocess.run(command, cwd=name, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
        print(f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before:.0f} s")


def large(count: int, folder: Path) -> None:
    """A study of 300 000 voxels from the shell, in blocks."""
    if not (folder / "participants.tsv").exists():
        planted_brains.write_many(count, folder)
    used = from_the_shell(folder)
    found = compare_atlases(folder / "planted.nii.gz", folder / "atlas.nii.gz")
    seconds = f"{used.processor:.0f} s of processor time, {used.seconds:.0f} s"
    print(f"{count} × 300 000: {seconds}, peak {used.peak} MB, ARI {found.ari:.3f}")


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["study"]
    if what == "large":
        large(int(rest[0]), Path(rest[1]))
    else:
        {"small": lambda: beside(8), "study": lambda: beside(3), "rank": rank}[what]()
