"""Baum–Welch from chains with nearly the same pairs: longer runs of symbols tell which of them is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..kernels.tuned import tuned
from ..solve.progress import current_listener, is_interrupted
from ._chain import stationary, transitions
from ._sequences import Encoded

_SPREAD = tuned(1e-3, by="chains", on="2026-11-19")
"""Share of each start that goes to all states and symbols alike: no step leads away from zero."""
_KEPT = tuned(0.1, by="chains", on="2026-11-19")
"""Least share of a probability that extrapolation leaves."""
_ENOUGH = tuned(1e-3, by="chains", on="2026-11-19")
"""Gain at which cycles end, as a share of the gain by chance alone: half the number of parameters, by Wilks."""


class Refined(NamedTuple):
    """A refined chain."""

    W: np.ndarray
    Y: np.ndarray
    log_likelihoods: np.ndarray
    """Of the sequences: at the start, and after each cycle."""


class _Step(NamedTuple):
    """A chain, the transitions above the emissions, with its log-likelihood and the next chain."""

    chain: np.ndarray
    value: float
    following: np.ndarray


def refined(
    sequences: Encoded, starts: Sequence[tuple[np.ndarray, np.ndarray]], passes: int, separate: tuple[np.ndarray, np.ndarray] | None
) -> Refined | None:
    """The likeliest of chains (W, Y), refined by Baum and Welch's steps, a pass over the sequences each.

    Two steps and an extrapolation make a cycle (SQUAREM: Varadhan and Roland 2008); if the extrapolation lowers the likelihood, the
    plain step takes its place. First states have the stationary distribution. A `separate` chain is preferred if it is less likely
    by no more than chance; None, if the sequences are impossible in all starts.
    """
    from ..kernels.chains import expected_counts

    n_symbols, n_states = starts[0][0].shape
    first, counts = np.empty(n_states), np.empty((n_states + n_symbols, n_states))
    chance = n_states * (n_symbols + n_states - 2) / 2

    def step(chain: np.ndarray) -> _Step:
        P, W = chain[:n_states], chain[n_states:]
        data = sequences.codes, sequences.offsets
        value = expected_counts(*data, _stationary(P), P, W, first, counts[:n_states], counts[n_states:])
        return _Step(chain, float(value), _distributions(counts))

    now = max((step(_spread(*start)) for start in starts), key=lambda one: one.value)
    if not np.isfinite(now.value):
        return None
    values, left = [now.value], passes - len(starts)
    while left >= 3 and not is_interrupted():
        current_listener().phase(f"Baum–Welch, log-likelihood {now.value:.8g}")
        middle = step(now.following)
        ahead = step(_extrapolated(now.chain, middle.chain, middle.following))
        left -= 2
        if not ahead.value >= middle.value:
            ahead = step(middle.following)
            left -= 1
        gain, now = ahead.value - now.value, ahead
        values.append(now.value)
        if gain <= _ENOUGH * chance:
            break
    if separate is not None and step(np.vstack([transitions(separate[1]), separate[0]])).value >= now.value - chance:
        return Refined(*separate, np.array(values))
    P = now.chain[:n_states]
    return Refined(now.chain[n_states:], _stationary(P)[:, None] * P, np.array(values))


def _spread(W: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The chain with a little of each distribution spread."""
    chain = np.vstack([transitions(Y), W])
    return (1 - _SPREAD) * chain + _SPREAD * np.vstack([np.full(Y.shape, 1 / len(Y)), np.full(W.shape, 1 / len(W))])


def _distributions(counts: np.ndarray) -> np.ndarray:
    """Rows of transitions and columns of emissions that sum to one; states that never occur have all alike."""
    n_states = counts.shape[1]
    emitted = counts[n_states:] if counts[n_states:].any(axis=0).all() else counts[n_states:] + np.finfo(float).tiny
    return np.vstack([transitions(counts[:n_states]), emitted / emitted.sum(axis=0)])


def _extrapolated(first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
    """The limit of steps that shrink at a constant rate, shortened so that probabilities stay positive."""
    step, change = second - first, third - 2 * second + first
    length = max(1.0, float(np.linalg.norm(step)) / max(float(np.linalg.norm(change)), np.finfo(float).tiny))
    return _distributions(np.maximum(first + 2 * length * step + length**2 * change, _KEPT * third))


def _stationary(P: np.ndarray) -> np.ndarray:
    return stationary(P, np.ones(len(P)))
