"""Copies from main memory to a CUDA card that run beside its work, by PyTorch."""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar
from weakref import finalize

import numpy as np
import torch

T = TypeVar("T")
_READ_ONLY = 8
"""cudaHostRegisterReadOnly."""


class PageLock:
    """Locks the pages of an array in place while it is there itself, so that copies to a card need no second one."""

    def __init__(self, array: np.ndarray) -> None:
        if torch.from_numpy(array[:1]).is_pinned() and torch.from_numpy(array[-1:]).is_pinned():
            return
        runtime = torch.cuda.cudart()
        place, flags = array.ctypes.data, 0 if array.flags.writeable else _READ_ONLY
        try:
            if int(runtime.cudaHostRegister(place, array.nbytes, flags)) == 0:
                finalize(self, runtime.cudaHostUnregister, place)
                return
            torch.zeros(1, device="cuda").item()  # meets the error that the runtime holds back for the next call
        except RuntimeError:
            pass  # the system locks no more pages: copies are staged


class Staging:
    """Page-locked buffers through which arrays go to a card: one is filled while the last is copied from."""

    def __init__(self, device: Any) -> None:
        self._device, self._stream = device, torch.cuda.Stream(device)
        self._buffers: list[Any] = [None, None]
        self._copied: list[Any] = [None, None]
        self._next = 0

    def __call__(self, make: Callable[[Callable[[np.ndarray], Any]], T]) -> tuple[T, Any]:
        """What a function makes of arrays copied to the card, and an event for when they are there."""
        with torch.cuda.device(self._device), torch.cuda.stream(self._stream):
            found = make(self._copy)
            return found, self._stream.record_event()

    def _copy(self, array: np.ndarray) -> Any:
        source = torch.from_numpy(array)
        if not source.is_pinned():
            source = self._staged(source)
            found = source.to(self._device, non_blocking=True)
            self._copied[self._next] = self._stream.record_event()
            self._next = 1 - self._next
            return found
        return source.to(self._device, non_blocking=True)

    def _staged(self, source: Any) -> Any:
        number = self._next
        if self._copied[number] is not None:
            self._copied[number].synchronize()
        if self._buffers[number] is None or self._buffers[number].nbytes < source.nbytes:
            self._buffers[number] = torch.empty(source.nbytes, dtype=torch.uint8, pin_memory=True)
        buffer = self._buffers[number][: source.nbytes].view(source.dtype).view(source.shape)
        return buffer.copy_(source)


def arrived(pairs: Iterable[tuple[T, Any]]) -> Iterator[T]:
    """Things on a card, each as soon as it is there; given up only when the card has finished with it."""
    for found, event in pairs:
        torch.cuda.current_stream().wait_event(event)
        yield found
        torch.cuda.current_stream().synchronize()
