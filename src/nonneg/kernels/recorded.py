"""CUDA graphs: kernels of a step recorded once and started together, since small kernels take longer to start than to run."""

# mypy: allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

Array = Any
_WARM_UP = 2
"""Calls before recording, which compile kernels and reserve memory."""


class Recorded:
    """A function of tensors that returns tensors, recorded at its first call; shapes and types stay those of that call."""

    def __init__(self, function: Callable[..., Sequence[Array]]) -> None:
        self._function = function
        self._graph: Any = None
        self._given: list[Array] = []
        self._found: Sequence[Array] = ()

    def __call__(self, *tensors: Array) -> list[Array]:
        if self._graph is None:
            self._record(tensors)
        for own, given in zip(self._given, tensors, strict=True):
            own.copy_(given)
        self._graph.replay()
        return [found.clone() for found in self._found]

    def _record(self, tensors: Sequence[Array]) -> None:
        self._given = [tensor.clone(memory_format=torch.contiguous_format) for tensor in tensors]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP):
                self._function(*self._given)
            self._graph.capture_begin()
            self._found = self._function(*self._given)
            self._graph.capture_end()
        torch.cuda.current_stream().wait_stream(stream)
