"""Two Dask workers of one thread beside one: seconds of a fit, and bytes over the network for each reading.

``python benchmarks/cluster.py --gigabytes 4``. Blocks are made on the workers, and kept there (`persist`); what travels between
workers is counted by them, what goes to and from the client is what a reading sends and gets: (m + n) · few numbers.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

import nonneg

FEATURES = 4000


def block(number: int, rows: int, rank: int) -> np.ndarray:
    """Rows of planted parts, the same for each number."""
    parts = np.zeros((rank, FEATURES), np.float32)
    parts[np.arange(FEATURES) % rank, np.arange(FEATURES)] = 1.0
    generator = np.random.default_rng(number)
    codes = generator.standard_gamma(2.0, (rows, rank), np.float32)
    return codes @ parts + 0.5 * generator.random((rows, FEATURES), np.float32)


def collection(gigabytes: float, rank: int) -> Any:
    import dask
    import dask.array as da

    rows = 5000
    count = max(2, int(gigabytes * 1e9 / 4 / FEATURES / rows))
    blocks = [dask.delayed(block)(number, rows, rank) for number in range(count)]
    return da.concatenate([da.from_delayed(each, (rows, FEATURES), np.float32) for each in blocks])


def sent(client: Any) -> int:
    """Bytes that workers have sent to each other and to clients so far."""
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def measured(workers: int, gigabytes: float, rank: int) -> list[dict[str, Any]]:
    from distributed import Client, LocalCluster, wait

    rows = []
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        X = client.persist(collection(gigabytes, rank))
        wait(X)
        for name, model in (
            ("OPNMF", nonneg.OPNMF(rank, random_state=0)),
            ("NMF, I-divergence", nonneg.NMF(rank, divergence="kullback-leibler", max_iter=4, tol=0, random_state=0)),
        ):
            before, began = sent(client), time.perf_counter()
            model.fit(X)
            seconds, readings = time.perf_counter() - began, model.history_[-1].readings
            rows.append(
                {
                    "what": f"{name}, {X.shape[0]} × {X.shape[1]}, r = {rank}",
                    "workers": workers,
                    "seconds": round(seconds, 2),
                    "readings": int(readings),
                    "bytes between workers for each reading": int((sent(client) - before) / max(readings, 1)),
                    "(m + n) · r · 4": (X.shape[0] + X.shape[1]) * rank * 4,
                    "objective": model.objective_,
                }
            )
            print(json.dumps(rows[-1], ensure_ascii=False), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=0.5)
    parser.add_argument("--rank", type=int, default=20)
    given = parser.parse_args()
    one, two = (measured(workers, given.gigabytes, given.rank) for workers in (1, 2))
    for first, second in zip(one, two, strict=True):
        same = np.isclose(first["objective"], second["objective"], rtol=1e-9)
        print(f"{first['what']}: {first['seconds'] / second['seconds']:.2f} × with two workers; same objective: {bool(same)}")


if __name__ == "__main__":
    main()
