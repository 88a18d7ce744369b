"""A Dask cluster: sending data to workers, finding the worker of a block, and fetching results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from ..exceptions import DataError
from ..kernels.tuned import tuned


def the_dask() -> Any:
    """Dask, imported on first use."""
    return import_module("dask")


def _client() -> Any:
    """The client of a cluster, if any."""
    try:
        return import_module("distributed").get_client()
    except (ImportError, ValueError):  # threads of this process
        return None


def scheduler_at() -> str | None:
    """The address of the cluster's scheduler, if any."""
    client = _client()
    return None if client is None or client.scheduler is None else str(client.scheduler.address)


def is_reached(scheduler: str) -> bool:
    """Whether the scheduler at an address is still there."""
    client = _client()
    return client is not None and client.status == "running" and scheduler_at() == scheduler


def sender(scheduler: str | None) -> Callable[[Sequence[Any]], list[Any]]:
    """A function that sends values to workers of a cluster, or wraps them for threads.

    Values go to one worker each, since `broadcast` hangs if a worker is lost; several go together, since the latency of a message
    exceeds its transfer.
    """
    dask = the_dask()
    if scheduler is not None and not is_reached(scheduler):
        raise DataError(f"The Dask scheduler at {scheduler}, which X was first read by, cannot be reached any more.")
    client = _client() if scheduler is not None else None
    if client is None:
        return lambda values: [dask.delayed(value, traverse=False, pure=False) for value in values]
    return lambda values: [
        sent for start in range(0, len(values), _SENT) for sent in client.scatter(list(values[start : start + _SENT]), hash=False)
    ]


_SENT = tuned(16, by="cluster", on="2026-11-17")
"""Things that are sent together: the rows of so many blocks."""


def homes_of(scheduler: str | None, parts: Sequence[Any]) -> list[str | None]:
    """The worker that has each block, if known.

    The work on it is done there: left to itself, a scheduler would move blocks to workers that are idle for a moment.
    """
    client = _client() if scheduler is not None else None
    if client is None:
        return [None] * len(parts)
    where = client.who_has()
    return [next(iter(where.get(part.key) or ()), None) for part in parts]


def results_of(added: Any, rest: list[Any], homes: set[str]) -> tuple[Any, list[Any]]:
    """Compute a graph. A lost worker with tasks pinned to it is an error, since no other would run them."""
    if not homes:
        return the_dask().compute(added, rest)
    distributed, client = import_module("distributed"), _client()
    futures = client.compute([added, *rest])
    while True:
        try:
            distributed.wait(futures, timeout=_PATIENCE)
            break
        except (TimeoutError, distributed.TimeoutError):
            lost = homes - set(client.ncores())
            if lost:
                client.cancel(futures)
                raise OSError(f"{', '.join(sorted(lost))} cannot be reached any more") from None
    total, *others = client.gather(futures)
    return total, others


_PATIENCE = 1.0
"""Seconds after which it is looked whether all workers are there."""


def is_loss(error: BaseException) -> bool:
    """Whether something went wrong because a worker was lost."""
    return type(error).__name__ in ("KilledWorker", "FutureCancelledError", "CancelledError", "FutureLostError", "CommClosedError")
