"""Read ranks, and scan them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from ..exceptions import IncompatibleError
from .fitting import told
from .running import Session, parsed


def ranks_of(text: str) -> list[int] | str:
    """Parse ranks: 8, 2-12, 2-20:2, or 2,4,8, in order; "auto" as it is."""
    if text == "auto":
        return text
    found: set[int] = set()
    try:
        for part in text.replace("–", "-").split(","):
            span, _, step = part.partition(":")
            first, mark, last = span.strip().partition("-")
            if step and not mark:  # 2:12 is no span, and would be taken for 2 alone
                raise ValueError
            found |= set(range(int(first), int(last if mark else first) + 1, int(step or 1)))
    except ValueError:
        found = set()
    if not found:
        raise click.BadParameter(f"{text!r} is not a number of parts, nor several: 2-12, 2-20:2, 2,4,8, auto.", param_hint="--rank")
    if min(found) < 1:
        raise click.BadParameter(f"{min(found)} parts cannot be learned; at least 1.", param_hint="--rank")
    return sorted(found)


def most_parts(ranks: list[int] | str) -> int:
    """The largest rank; 0 for "auto", which goes as far as the data allow."""
    return 0 if isinstance(ranks, str) else ranks[-1]


def rank_parameter(cls: Any, ranks: Any, assignments: Sequence[str]) -> str:
    """Name the parameter for the rank. Refuse it in --set, and several ranks for models that cannot be scanned."""
    from ..selection.subjects import can_be_scanned

    name = next(name for name in RANKS if name in inspect.signature(cls).parameters)
    if name in parsed(tuple(assignments)):
        raise click.UsageError(f"--set {name} is the rank: give it by --rank.")
    if not isinstance(ranks, int | tuple) and not can_be_scanned(cls):
        raise click.UsageError(f"--rank has to be one number for {cls.__name__}: its ranks cannot be scanned.")
    return name


RANKS = ("n_components", "n_clusters", "n_states")
"""Names of the rank parameter."""


def with_best_rank(session: Session, estimator: Any, name: str, X: Any, ranks: Any, **settings: Any) -> None:
    """Scan ranks, and give the estimator the best."""
    if ranks == "auto":
        session.phase("Scanning ranks 2 to 12, as far as the data allow, to fit the best; --rank 8 would fit that one only.")
    try:
        scan = scanned(session, estimator, X, ranks, **settings)
    except IncompatibleError as error:
        raise IncompatibleError(f"{error} To fit without a scan, give one rank: --rank 2.") from error
    if session.interrupted:
        raise KeyboardInterrupt("stopped before every rank was measured, so that none was fitted, and nothing is written.")
    best = "×".join(map(str, np.atleast_1d(scan.best_)))
    session.say(f"{'rank':<12} {best}. {scan.why_}")
    estimator.set_params(**{name: scan.best_})


def scanned(
    session: Session,
    estimator: Any,
    X: Any,
    ranks: Sequence[int] | str,
    *,
    seed: int,
    criteria: Sequence[str] = (),
    jobs: Any = None,
    keep: Any = None,
    strata: Any = None,
) -> Any:
    """The result of `nonneg.selection.rank_scan`; after Ctrl-C, of the ranks measured by then."""
    from ..exceptions import Stopped
    from ..selection import rank_scan

    scan = None
    with told(session):
        try:
            given = list(criteria) or "auto"
            scan = rank_scan(estimator, X, ranks, y=strata, criteria=given, random_state=seed, n_jobs=jobs, folder=keep)
        except Stopped as stopped:
            scan = stopped.solution
            raise
    at = f" The measurements are in {keep}; the same command goes on from there." if keep else ""
    if scan is None:
        raise KeyboardInterrupt(f"stopped before any rank was measured.{at}")
    if session.interrupted:
        session.result["stopped"] = f"Stopped by the user before every rank was measured.{at}"
    session.result["ranks"] = scan.summary()
    return scan
