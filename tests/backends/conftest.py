"""The array libraries that the engine is tried on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest


@dataclass(frozen=True)
class Backend:
    name: str
    array: type
    asarray: Callable[[np.ndarray], Any]
    float32: Any
    float64: Any

    def numpy(self, array):
        assert isinstance(array, self.array)
        return np.asarray(array) if self.name != "array_api_strict" else np.from_dlpack(array)


@pytest.fixture(params=["numpy", "array_api_strict", "torch"])
def backend(request):
    xp = pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    array = xp.Tensor if request.param == "torch" else xp.ndarray if request.param == "numpy" else type(xp.asarray(0))
    if request.param != "array_api_strict":
        yield Backend(request.param, array, xp.asarray, xp.float32, xp.float64)
        return
    # Nothing but what every library of the standard can do: no shapes that depend on data, no boolean masks.
    with xp.ArrayAPIStrictFlags(data_dependent_shapes=False, boolean_indexing=False):
        yield Backend(request.param, array, xp.asarray, xp.float32, xp.float64)
