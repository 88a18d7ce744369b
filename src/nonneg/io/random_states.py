"""Random generators made from stored states. NumPy checks no state, and would use its positions as places in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..exceptions import FileError

_KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)
}
_HIGHEST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "has_gauss": 1, "uinteger": 2**32 - 1}
"""Largest value of each number of a state; of others, that of an unsigned integer of 128 bits."""


def make_generator(state: Any) -> np.random.Generator:
    """Make a generator from the state of its bit generator."""
    return np.random.Generator(_make_bits(state))


def make_random_state(state: Any) -> np.random.RandomState:
    """Make a legacy generator from its state, as a dict."""
    if not isinstance(state, Mapping):
        raise FileError(f"A random state must be a dict; got {state!r}.")
    bits = _make_bits({name: value for name, value in state.items() if name not in ("has_gauss", "gauss")})
    found = np.random.RandomState(bits)
    _check(state, found.get_state(legacy=False), "A random state")
    found.set_state(dict(state))
    return found


def _make_bits(state: Any) -> Any:
    kind = state.get("bit_generator") if isinstance(state, Mapping) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise FileError(f"A random state must be of {', '.join(_KINDS)}; got {kind!r}.")
    bits = _KINDS[kind](0)
    _check(state, bits.state, f"The random state of {kind}")
    inside = state["state"]
    # From these states all numbers are equal, and draws that reject some of them never end.
    if inside.get("inc", 1) % 2 == 0 or (kind == "MT19937" and not inside["key"][1:].any()):
        raise FileError(f"The random state of {kind} is none that a seed leads to.")
    bits.state = dict(state)
    return bits


def _check(state: Any, fresh: Any, where: str, name: str = "state") -> None:
    """Compare a state with one of a fresh generator: names, types, shapes and ranges."""
    if isinstance(fresh, Mapping):
        if not isinstance(state, Mapping) or state.keys() != fresh.keys():
            raise FileError(f"{where}: {name} must have {', '.join(fresh)}.")
        for key, value in fresh.items():
            _check(state[key], value, where, key)
        return
    if isinstance(fresh, np.ndarray):
        is_same = isinstance(state, np.ndarray) and (state.dtype, state.shape) == (fresh.dtype, fresh.shape)
        wanted = f"{fresh.size} numbers of {fresh.dtype}"
    elif isinstance(fresh, int):
        most = _HIGHEST.get(name, 2**128 - 1)
        is_same, wanted = type(state) is int and 0 <= state <= most, f"an int from 0 to {most}"
    else:
        is_same = type(state) is type(fresh) and (not isinstance(fresh, float) or bool(np.isfinite(state)))
        wanted = f"of type {type(fresh).__name__}"
    if not is_same:
        raise FileError(f"{where}: {name} must be {wanted}; got {str(state)[:60]}.")
