"""Which array library, dtype and device: decided once, from the data.

NumPy arrays are computed with NumPy itself; everything else through the array API (`array_api_compat`), so PyTorch, CuPy and
others need no code of their own and are imported only by the user who passes them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

Array = Any


class Namespace(NamedTuple):
    """An array library with a dtype and a device."""

    xp: Any
    dtype: Any
    device: Any

    def __reduce__(self) -> Any:
        """Modules cannot be pickled; their names can."""
        return _restored, (self.xp.__name__, self.dtype, self.device)

    def asarray(self, array: Any) -> Array:
        """An array, usually drawn or given on the host, as one of ours."""
        if is_array(array) and not isinstance(array, np.ndarray) and self.xp is np:
            array = to_host(array)
        return self.xp.asarray(array, dtype=self.dtype, device=self.device)

    @property
    def is_host(self) -> bool:
        """Whether its arrays are NumPy's, which compiled kernels work on."""
        return self.xp is np

    @property
    def is_single(self) -> bool:
        """Whether its arrays are NumPy's float32, of which small ones are kept in double precision."""
        return self.is_host and bool(self.dtype == np.float32)

    def in_rows(self, array: Array) -> Array:
        """An array with each row in one piece: entries of arrays in different orders take several times as long to combine."""
        return np.ascontiguousarray(array) if self.is_host else array

    def ones(self, *shape: int) -> Array:
        return self.xp.ones(shape, dtype=self.dtype, device=self.device)

    @property
    def eps(self) -> float:
        return float(self.xp.finfo(self.dtype).eps)

    @property
    def smallest(self) -> float:
        return float(self.xp.finfo(self.dtype).smallest_normal)

    @property
    def largest(self) -> float:
        return float(self.xp.finfo(self.dtype).max)


def _restored(module: str, dtype: Any, device: Any) -> Namespace:
    return Namespace(import_module(module), dtype, device)


@cache
def _has_triton() -> bool:
    return find_spec("torch") is not None and find_spec("triton") is not None


def has_kernels(namespace: Namespace) -> bool:
    """Whether arrays are PyTorch's, on CUDA, and Triton is there."""
    return has_cuda(namespace) and _has_triton()


def has_cuda(namespace: Namespace) -> bool:
    """Whether arrays are PyTorch's, on CUDA."""
    return bool(namespace.xp.__name__.endswith("torch") and "cuda" in str(namespace.device))


def is_array(array: Any) -> bool:
    """Whether it belongs to an array library, rather than being a list or a table."""
    if isinstance(array, np.ndarray):
        return True
    import array_api_compat

    return bool(array_api_compat.is_array_api_obj(array))


def namespace_of(array: Array) -> Namespace:
    """Library, floating dtype and device of an array: float32 stays, other real numbers become float64."""
    if isinstance(array, np.ndarray):
        return Namespace(np, array.dtype if array.dtype == np.float32 else np.dtype(np.float64), "cpu")
    import array_api_compat

    xp = array_api_compat.array_namespace(array)
    return Namespace(xp, array.dtype if array.dtype == xp.float32 else xp.float64, array_api_compat.device(array))


def without_gradient(array: Array) -> Array:
    """The array detached from automatic differentiation."""
    return array.detach() if getattr(array, "requires_grad", False) else array


def to_host(array: Array) -> np.ndarray:
    """A NumPy copy of an array of any library."""
    if isinstance(array, np.ndarray):
        return array
    import array_api_compat

    array = without_gradient(array)
    try:
        return np.asarray(array_api_compat.to_device(array, "cpu"))
    except (TypeError, ValueError, RuntimeError):  # libraries whose arrays only speak DLPack, or call the host otherwise
        return np.from_dlpack(array)
