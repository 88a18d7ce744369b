"""A file larger than memory: readings beside bare readings and bare products, the memory that a fit takes, and what it finds.

``python benchmarks/disk.py --gigabytes 24 --ranks 20 50 --limit 4 --folder /somewhere --remove`` makes a .npy of planted parts for
each rank, if it is not there, fits OPNMF to it, and removes it. ``--sparse 1e9 --limit 4`` makes an .h5ad of so many counts, by
rows, 8 bytes for each, and fits NMF with the I-divergence. Resident memory is watched; with ``--limit 4`` the process ends when it
is above so many gigabytes. What is measured is printed as JSON. ``--gigabytes .05``, or ``--sparse 1e6``, shows soon that it runs.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import nonneg
from nonneg import open_data
from nonneg.solve.solvers.quasi_newton import QuasiNewton

FEATURES = 20_000
PARTS = 20
BLOCK = 2**27


def planted(path: Path, gigabytes: float, parts: int, seed: int = 0) -> np.ndarray:
    """A float32 .npy of parts that do not overlap, times gamma codes, plus noise; the part of each feature."""
    rows = int(gigabytes * 1e9 / 4 / FEATURES)
    labels = np.random.default_rng(seed).integers(0, parts, FEATURES)
    if path.exists() and path.stat().st_size > 4 * rows * FEATURES:
        return labels
    generator = np.random.default_rng(seed + 1)
    H = np.zeros((parts, FEATURES), np.float32)
    H[labels, np.arange(FEATURES)] = generator.uniform(0.5, 1.5, FEATURES)
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (rows, FEATURES)})
        for start in range(0, rows, 1000):
            count = min(1000, rows - start)
            block = generator.standard_gamma(2.0, (count, parts), np.float32) @ H
            block += 0.5 * generator.random((count, FEATURES), np.float32)
            file.write(block.tobytes())
    return labels


def counted(path: Path, non_zeros: float, seed: int = 0) -> None:
    """An .h5ad of counts, by rows: cells of ten kinds, in each of which other genes are frequent."""
    import h5py

    genes, per_cell = 30_000, 1000
    cells = int(non_zeros / per_cell)
    if path.exists():
        return
    generator = np.random.default_rng(seed)
    frequent = generator.permuted(np.tile(np.arange(genes), (10, 1)), axis=1)[:, :5000]
    with h5py.File(path, "w") as file:
        file.create_group("obs")
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (cells, genes)
        total = cells * per_cell
        data = group.create_dataset("data", (total,), "f4", chunks=(2**20,))
        indices = group.create_dataset("indices", (total,), "i4", chunks=(2**20,))
        group.create_dataset("indptr", data=np.arange(cells + 1, dtype=np.int64) * per_cell)
        for start in range(0, cells, 1000):
            count = min(1000, cells - start)
            kinds = generator.integers(0, 10, count)
            picked = [np.sort(generator.choice(frequent[kind], per_cell, replace=False)) for kind in kinds]
            where = slice(start * per_cell, (start + count) * per_cell)
            indices[where] = np.concatenate(picked)
            data[where] = 1 + generator.poisson(1.0, count * per_cell)


def forget(path: Path) -> None:
    """Have the system let go of what it keeps of a file in memory, so that it is read from the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def bare_reading(path: Path) -> float:
    """Seconds that it takes to read a file and do nothing with it."""
    forget(path)
    buffer, began = bytearray(2**24), time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.perf_counter() - began


def bare_products(rows: int, size: int) -> float:
    """Seconds that Xᵀ(X M) takes in BLAS on blocks in memory, for as many blocks as there are."""
    each = BLOCK // 4 // FEATURES
    generator = np.random.default_rng(0)
    block, M = generator.random((each, FEATURES), np.float32), generator.random((FEATURES, size), np.float32)
    total = np.zeros_like(M)
    seconds = []
    for _ in range(4):
        began = time.perf_counter()
        total += block.T @ (block @ M)
        seconds.append(time.perf_counter() - began)
    return min(seconds) * rows / each


def resident() -> float:
    """Gigabytes of memory that the process has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e9


@contextmanager
def watched(limit: float | None) -> Iterator[dict[str, float]]:
    """The most memory that was resident meanwhile; more than the limit ends the process."""
    found, over = {"most": resident()}, threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            found["most"] = max(found["most"], resident())
            if limit is not None and found["most"] > limit:
                print(f"{found['most']:.2f} GB are resident, more than {limit}", flush=True)
                os._exit(3)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def dense(path: Path, gigabytes: float, ranks: list[int], limit: float | None, removes: bool) -> Iterator[dict[str, Any]]:
    from sklearn.metrics import adjusted_rand_score

    for rank in ranks:
        target = path.with_name(f"{path.stem}-{rank}.npy")
        labels = planted(target, gigabytes, rank)
        forget(target)
        with watched(limit) as memory:
            data = open_data(target, block_bytes=BLOCK)
            began = time.perf_counter()
            model = nonneg.OPNMF(rank, random_state=0).fit(data)
            whole = time.perf_counter() - began
        point = nonneg.factorize(data, "X W W.T", init={"W": model.factors_["W"]}, solver="multiplicative", max_iter=0)
        yield {
            "what": f"OPNMF, {data.shape[0]} × {data.shape[1]} float32, r = {rank}",
            "gigabytes": round(data.source.n_bytes / 1e9, 2),
            "readings": data.log.count - 1,
            "seconds of each reading": [round(seconds, 2) for seconds in data.log.seconds[:-1]],
            "seconds of a bare reading": round(bare_reading(target), 2),
            "seconds of bare products": round(bare_products(data.shape[0], 4 * rank), 2),
            "seconds elsewhere": round(whole - sum(data.log.seconds[:-1]), 2),
            "most gigabytes resident": round(memory["most"], 2),
            "status": str(model.status_),
            "objective, and once more from all of X": [model.objective_, point.objective],
            "ARI": adjusted_rand_score(labels, model.components_.argmax(axis=0)),
        }
        if removes:
            target.unlink()


def sweep_in_memory(data: Any, factors: dict[str, np.ndarray]) -> float:
    """Seconds that an iteration of the same solver takes with all blocks in memory, as one of them tells."""
    block = next(iter(data.pieces()))[1]
    init = {"W": factors["W"][: block.shape[0]], "H": factors["H"]}

    def seconds(iterations: int) -> float:
        solver, began = QuasiNewton(together=True), time.perf_counter()
        nonneg.factorize(block, "W H", init=init, divergence=1, solver=solver, max_iter=iterations, check_every=100, tol=0)
        return time.perf_counter() - began

    seconds(1)
    return (seconds(11) - seconds(1)) / 10 * data.shape[0] / block.shape[0]


def sparse(path: Path, non_zeros: float, limit: float | None) -> Iterator[dict[str, Any]]:
    counted(path, non_zeros)
    forget(path)
    with watched(limit) as memory:
        data = open_data(path, block_bytes=BLOCK)
        model = nonneg.NMF(20, divergence="kullback-leibler", max_iter=4, tol=0, random_state=0).fit(data)
    seconds = data.log.seconds
    in_memory = sweep_in_memory(data, model.factors_)
    yield {
        "what": f"NMF with the I-divergence, {data.shape[0]} × {data.shape[1]}, {data.facts.non_zeros:.3g} non-zeros, r = 20",
        "gigabytes": round(path.stat().st_size / 1e9, 2),
        "readings": len(seconds),
        "seconds of a reading, median and most": [round(float(np.median(seconds)), 2), round(max(seconds), 2)],
        "seconds of a bare reading": round(bare_reading(path), 2),
        "seconds of the same sweep in memory, from one block": round(in_memory, 2),
        "most gigabytes resident": round(memory["most"], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--ranks", type=int, nargs="+", default=[20])
    parser.add_argument("--folder", type=Path, default=Path("bench"))
    parser.add_argument("--limit", type=float)
    parser.add_argument("--sparse", type=float, metavar="NON_ZEROS")
    parser.add_argument("--remove", action="store_true", help="remove each .npy when it has been used")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    if given.sparse:
        rows += sparse(given.folder / f"counts-{given.sparse:.0e}.h5ad", given.sparse, given.limit)
    else:
        path = given.folder / f"planted-{given.gigabytes:g}.npy"
        for row in dense(path, given.gigabytes, given.ranks, given.limit, given.remove):
            print(json.dumps(row, indent=1, ensure_ascii=False), flush=True)
            rows.append(row)
    print(json.dumps(rows, ensure_ascii=False))


if __name__ == "__main__":
    main()
