"""Hidden Markov chains, symbol by symbol: likelihoods, posteriors, best paths, samples.

Sequences lie end to end: sequence i has the symbols codes[offsets[i] : offsets[i + 1]]. Emissions are symbols × states here, so
that the data of a symbol are contiguous. Forward and backward probabilities are divided by their sums at each step, so nothing
underflows; paths are followed in logarithms.
"""

from __future__ import annotations

import numpy as np

from .compiler import compiled

_BLOCK = 1024
"""Symbols whose forward probabilities are held at a time, on the way back."""
_NEVER = 1e-250
"""States less probable than this, given the symbols before, are none."""


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
            for k in range(n_states):
                now[k] = following[k]
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


@compiled
def expected_counts(
    codes: np.ndarray,
    offsets: np.ndarray,
    start: np.ndarray,
    transitions: np.ndarray,
    emissions: np.ndarray,
    first: np.ndarray,
    pairs: np.ndarray,
    emitted: np.ndarray,
) -> float:
    """Baum and Welch's expectations: of first states, of pairs of states, and of symbols × states. Returns ln P(sequences).

    Forward probabilities are kept at the beginnings of blocks, and computed again within a block on the way back.
    """
    n_states, longest, total = len(start), 0, 0.0
    first[:], pairs[:], emitted[:] = 0.0, 0.0, 0.0
    for number in range(len(offsets) - 1):
        longest = max(longest, offsets[number + 1] - offsets[number])
    kept, forward = np.empty((longest // _BLOCK + 1, n_states)), np.empty((_BLOCK, n_states))
    backward, weighted = np.empty(n_states), np.empty(n_states)
    for number in range(len(offsets) - 1):
        begin, end = offsets[number], offsets[number + 1]
        blocks = (end - begin - 1) // _BLOCK
        for step in range(2 * blocks + 1):  # all blocks forwards, then all but the last again, backwards
            block = min(step, 2 * blocks - step)
            low = begin + block * _BLOCK
            count = min(_BLOCK, end - low)
            for i in range(count):
                scale = 0.0
                for k in range(n_states):
                    if i > 0:
                        reached = 0.0
                        for j in range(n_states):
                            reached += forward[i - 1, j] * transitions[j, k]
                    elif block > 0:
                        reached = kept[block, k]
                    else:
                        reached = start[k]
                    forward[i, k] = reached * emissions[codes[low + i], k]
                    scale += forward[i, k]
                if scale <= 0.0:
                    return -np.inf
                if step <= blocks:
                    total += np.log(scale)
                for k in range(n_states):
                    forward[i, k] /= scale
            if step < blocks:
                for k in range(n_states):
                    kept[block + 1, k] = 0.0
                    for j in range(n_states):
                        kept[block + 1, k] += forward[count - 1, j] * transitions[j, k]
                continue
            for i in range(count - 1, -1, -1):
                is_last, share = low + i == end - 1, 0.0
                for j in range(n_states):
                    reached = 1.0 if is_last else 0.0
                    if not is_last:
                        for k in range(n_states):
                            reached += transitions[j, k] * weighted[k]
                    backward[j] = reached if forward[i, j] > _NEVER else 0.0
                    share += forward[i, j] * backward[j]
                if not is_last:
                    for j in range(n_states):
                        for k in range(n_states):
                            pairs[j, k] += forward[i, j] / share * weighted[k]
                for j in range(n_states):
                    backward[j] /= share
                    emitted[codes[low + i], j] += forward[i, j] * backward[j]
                    weighted[j] = emissions[codes[low + i], j] * backward[j]
        for j in range(n_states):
            first[j] += forward[0, j] * backward[j]
    for j in range(n_states):
        for k in range(n_states):
            pairs[j, k] *= transitions[j, k]
    return total
