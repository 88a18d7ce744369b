"""Hidden Markov chains, symbol by symbol: likelihoods, posteriors, best paths, samples.

Sequences lie end to end: sequence i has the symbols codes[offsets[i] : offsets[i + 1]]. Emissions are symbols × states here, so
that the data of a symbol are contiguous. Forward and backward probabilities are divided by their sums at each step, so nothing
underflows; paths are followed in logarithms.
"""

from __future__ import annotations

import numpy as np

from .compiler import compiled


@compiled
def log_likelihoods(
    codes: np.ndarray, offsets: np.ndarray, start: np.ndarray, transitions: np.ndarray, emissions: np.ndarray, found: np.ndarray
) -> None:
    """The forward algorithm: ln P(sequence) of each sequence; −∞ of one that cannot be."""
    n_states = len(start)
    now, following = np.empty(n_states), np.empty(n_states)
    for number in range(len(offsets) - 1):
        total = 0.0
        for t in range(offsets[number], offsets[number + 1]):
            scale = 0.0
            for k in range(n_states):
                if t == offsets[number]:
                    reached = start[k]
                else:
                    reached = 0.0
                    for j in range(n_states):
                        reached += now[j] * transitions[j, k]
                following[k] = reached * emissions[codes[t], k]
                scale += following[k]
            if scale <= 0.0:
                total = -np.inf
                break
            total += np.log(scale)
            for k in range(n_states):
                now[k] = following[k] / scale
        found[number] = total


@compiled
def posteriors(
    codes: np.ndarray, offsets: np.ndarray, start: np.ndarray, transitions: np.ndarray, emissions: np.ndarray, found: np.ndarray
) -> int:
    """Forwards and backwards: P(state at t | sequence) of each symbol. Returns the first that cannot be, or their number."""
    n_states = len(start)
    backward, earlier = np.empty(n_states), np.empty(n_states)
    for number in range(len(offsets) - 1):
        first, end = offsets[number], offsets[number + 1]
        for t in range(first, end):
            scale = 0.0
            for k in range(n_states):
                if t == first:
                    reached = start[k]
                else:
                    reached = 0.0
                    for j in range(n_states):
                        reached += found[t - 1, j] * transitions[j, k]
                found[t, k] = reached * emissions[codes[t], k]
                scale += found[t, k]
            if scale <= 0.0:
                return number
            for k in range(n_states):
                found[t, k] /= scale
        backward[:] = 1.0
        for t in range(end - 2, first - 1, -1):
            scale = 0.0
            for j in range(n_states):
                reached = 0.0
                for k in range(n_states):
                    reached += transitions[j, k] * emissions[codes[t + 1], k] * backward[k]
                earlier[j] = reached
                scale += reached
            total = 0.0
            for j in range(n_states):
                backward[j] = earlier[j] / scale
                found[t, j] *= backward[j]
                total += found[t, j]
            for j in range(n_states):
                found[t, j] /= total
    return len(offsets) - 1


@compiled
def best_paths(
    codes: np.ndarray,
    offsets: np.ndarray,
    log_start: np.ndarray,
    log_transitions: np.ndarray,
    log_emissions: np.ndarray,
    states: np.ndarray,
    found: np.ndarray,
) -> None:
    """Viterbi: the states that are likeliest together with each sequence, and ln P(sequence, states)."""
    n_states, longest = len(log_start), 0
    for number in range(len(offsets) - 1):
        longest = max(longest, offsets[number + 1] - offsets[number])
    came_from = np.empty((longest, n_states), np.int16)
    now, following = np.empty(n_states), np.empty(n_states)
    for number in range(len(offsets) - 1):
        first, end = offsets[number], offsets[number + 1]
        for k in range(n_states):
            now[k] = log_start[k] + log_emissions[codes[first], k]
        for t in range(first + 1, end):
            for k in range(n_states):
                best, most = 0, -np.inf
                for j in range(n_states):
                    reached = now[j] + log_transitions[j, k]
                    if reached > most:
                        best, most = j, reached
                came_from[t - first, k] = best
                following[k] = most + log_emissions[codes[t], k]
            now[:] = following
        state = 0
        for k in range(n_states):
            if now[k] > now[state]:
                state = k
        found[number] = now[state]
        for t in range(end - 1, first - 1, -1):
            states[t] = state
            if t > first:
                state = came_from[t - first, state]


@compiled
def drawn(
    uniforms: np.ndarray, start: np.ndarray, transitions: np.ndarray, emissions: np.ndarray, states: np.ndarray, codes: np.ndarray
) -> None:
    """States and symbols of one sequence, from cumulative probabilities; those of emissions are states × symbols here."""
    for t in range(len(codes)):
        row = start if t == 0 else transitions[states[t - 1]]
        states[t] = min(np.searchsorted(row, uniforms[t, 0], side="right"), len(row) - 1)
        row = emissions[states[t]]
        codes[t] = min(np.searchsorted(row, uniforms[t, 1], side="right"), len(row) - 1)
