"""What is lost when something is killed: a worker in the middle of a fit, and the process that fits, at random moments.

``python benchmarks/kills.py --workers 10 --clients 20``. A fit that has lost a worker must come to what one comes to that has not;
one whose process was killed is begun again with the same checkpoint, and must come to the same bits.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import nonneg

SETTINGS = {"solver": "multiplicative", "init": "random", "random_state": 0, "tol": 0.0, "max_iter": 3000}


def data() -> np.ndarray:
    generator = np.random.default_rng(0)
    return generator.random((3000, 10)) @ generator.random((10, 300)) + 0.1 * generator.random((3000, 300))


def workers(times: int) -> None:
    """A worker killed in the middle of a fit, again and again."""
    import dask.array as da
    from distributed import Client, LocalCluster

    X, generator = data(), np.random.default_rng()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)
        settings = {**SETTINGS, "max_iter": 40}
        expected = nonneg.NMF(10, **settings).fit(da.from_array(X, chunks=(300, 300)))
        for number in range(times):
            client.wait_for_workers(2)
            pids = list(client.run(os.getpid).values())
            delay = float(generator.uniform(0.1, 3.0))
            timer = threading.Timer(delay, os.kill, (pids[number % len(pids)], signal.SIGKILL))
            timer.start()
            found = nonneg.NMF(10, **settings).fit(da.from_array(X, chunks=(300, 300)))
            timer.join()
            same = np.array_equal(found.components_, expected.components_)
            print(f"worker {number + 1}: killed after {delay:.2f} s; the same bits: {same}", flush=True)


def clients(times: int) -> None:
    """The process that fits killed, again and again, until it has come to its end."""
    with tempfile.TemporaryDirectory() as folder:
        target, generator = Path(folder) / "W.npy", np.random.default_rng()
        command = [sys.executable, __file__, "--fit", folder]
        for number in range(times):
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                first = process.stdout.readline() if process.stdout is not None else ""
                time.sleep(float(generator.uniform(0.0, 0.4)))
                process.kill()
            print(f"client {number + 1}: went on from iteration {first.strip() or 'unknown'}", flush=True)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        expected = nonneg.factorize(data(), "W H", 10, **SETTINGS).factors["W"]
        print("the same bits:", bool(np.array_equal(np.load(target), expected)))


def fit(folder: Path) -> None:
    """What is killed: a fit that writes a checkpoint at every check."""
    checkpoint = nonneg.Checkpoint(folder / "run.nonneg", every=0)
    found = nonneg.factorize(
        data(), "W H", 10, **SETTINGS, checkpoint=checkpoint, callback=lambda progress: print(progress.iteration, flush=True)
    )
    np.save(folder / "W.npy", found.factors["W"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--clients", type=int, default=0)
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit is not None:
        fit(given.fit)
        return
    clients(given.clients) if given.clients else None  # first: a cluster leaves BLAS with another number of threads
    workers(given.workers) if given.workers else None


if __name__ == "__main__":
    main()
