"""The array libraries that the engine is tried on."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from nonneg.data import device


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


@pytest.fixture
def as_device(monkeypatch):
    """Takes main memory for a device, whose arrays NumPy reads by `to_host` alone."""
    import torch

    monkeypatch.setattr(device, "_HOST", ("meta",))
    read = torch.Tensor.__array__

    def refuse(tensor, *arguments, **options):
        if sys._getframe(1).f_code.co_name != "to_host":
            raise TypeError("can't convert cuda:0 device type tensor to numpy.")
        return read(tensor, *arguments, **options)

    monkeypatch.setattr(torch.Tensor, "__array__", refuse)


@pytest.fixture
def card(monkeypatch):
    """Takes main memory for a card, whose tensors NumPy reads by `to_host` alone, unless there is a card; gives products with X."""
    import array_api_compat.torch as xp
    import torch

    from nonneg.data.device import DeviceData

    apply, seen = DeviceData.apply, []
    monkeypatch.setattr(DeviceData, "apply", lambda self, *a, **options: seen.append(1) or apply(self, *a, **options))
    if torch.cuda.is_available():
        return seen
    monkeypatch.setattr(device, "_HOST", ("meta",))
    monkeypatch.setattr(device, "card", lambda name: (xp, torch.device("cpu")))
    monkeypatch.setattr(device, "_name_of", lambda where: "cuda:0")
    read = torch.Tensor.__array__

    def refuse(tensor, *arguments, **options):
        if sys._getframe(1).f_code.co_name != "to_host":
            raise TypeError("can't convert cuda:0 device type tensor to numpy.")
        return read(tensor, *arguments, **options)

    monkeypatch.setattr(torch.Tensor, "__array__", refuse)
    return seen
