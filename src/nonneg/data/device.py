"""Arrays of PyTorch, CuPy and other libraries: where a fit works on X, and how results become arrays of the library of X.

An array in main memory is read as NumPy's without a copy, so that compiled kernels serve it. One on a device stays there, as
`DeviceData`: products and passes over entries run there. Single rows come to the host, and so does what is not a factor.
`placed` moves X to the device that a user names.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from math import inf
from traceback import clear_frames
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import DeviceMemoryError, IncompatibleError, MissingLibraryError
from ..kernels.memory import readable
from ..kernels.namespace import Array, Namespace, has_cuda, has_kernels, is_array, namespace_of, to_host
from ..kernels.projective import Steps, steps_of
from ..kernels.tuned import tuned
from .base import Data
from .dense import DenseData
from .steps import Request, floor_of


class DeviceData(DenseData):
    """A dense array on a device. The product with a NumPy array is one, too."""

    def apply(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        if not isinstance(M, np.ndarray):
            return super().apply(M, transposed=transposed, sign=sign)
        return to_host(super().apply(self.namespace.asarray(M), transposed=transposed, sign=sign))

    def apply_after(self, M: Array, *, transposed: bool = False, sign: str = "") -> Array:
        if not isinstance(M, np.ndarray):
            return super().apply_after(M, transposed=transposed, sign=sign)
        return to_host(super().apply_after(self.namespace.asarray(M), transposed=transposed, sign=sign))

    def visit(
        self, U: Array, V: Array | None, requests: Sequence[Request], log_power: float | None = None
    ) -> tuple[list[Array], Any]:
        if V is not None and self._has_kernels(U, requests):
            from ..kernels import fused

            return fused.visit(self.values, self.unit, U, V, requests, floor_of(self.namespace.xp, U.dtype), log_power)
        return super().visit(U, V, requests, log_power)

    def _has_kernels(self, U: Array, requests: Sequence[Request]) -> bool:
        """Whether kernels that form no X̂ serve these requests."""
        if not has_kernels(self.namespace) or any(r.operand.exponents is None or r.matrix is None for r in requests):
            return False
        from ..kernels import fused

        widths = [r.matrix.shape[1 if r.side == "right" else 0] for r in requests if r.matrix is not None]
        return bool(fused.can_visit(self.values, U.shape[1], *widths))


def steps(namespace: Namespace) -> Steps:
    """The steps of coordinate descent for all rows at once: kernels where there are any, else by the array library."""
    if not has_kernels(namespace):
        return steps_of(namespace.xp)
    from ..kernels import fused

    return fused.STEPS


def recorded(namespace: Namespace, function: Callable[..., Sequence[Array]]) -> Callable[..., Sequence[Array]]:
    """A function of arrays, recorded as a CUDA graph where arrays are PyTorch's, on CUDA; else as it is."""
    if not has_cuda(namespace):
        return function
    from ..kernels.recorded import Recorded

    return Recorded(function)


def dense(values: Array, namespace: Namespace, unit: float = 1.0) -> DenseData:
    """A dense array as data, where it lies."""
    return (DenseData if namespace.is_host else DeviceData)(values, namespace, unit)


def in_memory(data: Any) -> Any:
    """Data on a device in main memory; anything else as it is."""
    return placed(data, "cpu") if isinstance(data, Data) else data


def is_sparse_tensor(X: Any) -> bool:
    """Whether X is a sparse tensor of PyTorch, or a sparse matrix of CuPy."""
    library = type(X).__module__.partition(".")[0]
    return library == "cupyx" or (library == "torch" and getattr(X, "is_sparse", False)) or _is_in_rows(X, library)


def _is_in_rows(X: Any, library: str) -> bool:
    return library == "torch" and str(getattr(X, "layout", "")) in ("torch.sparse_csr", "torch.sparse_csc")


def on_host(X: Any) -> Any:
    """An array on a device as NumPy's, a sparse tensor as SciPy's; anything else as it is."""
    if not is_sparse_tensor(X):
        return to_host(X) if is_on_device(X) else X
    from .device_sparse import of_tensor

    found = of_tensor(X)
    return in_memory(found).values if isinstance(found, Data) else found


def library_of(X: Any) -> Namespace | None:
    """Library and device of an array of another library than NumPy; None for anything else, as a Dask or a sparse array."""
    if type(X).__module__.startswith("cupyx.scipy.sparse"):
        X = X.data
    if isinstance(X, np.ndarray | str | list | tuple | Data) or not hasattr(X, "ndim") or _is_lazy(X) or not is_array(X):
        return None
    try:
        return namespace_of(X)
    except (AttributeError, TypeError):  # a dtype or a layout that the standard has not
        return None


def is_on_device(X: Any) -> bool:
    """Whether an array is on a device, so that NumPy cannot read it where it lies."""
    library = library_of(X)
    return library is not None and not any(name in str(library.device).lower() for name in _HOST)


_HOST = "cpu", "meta"
"""Names of devices in main memory, and of the one of tensors that have no entries."""


# ---- the device that a user names


_CARD = r"cuda(:\d+)?"
"""Names of cards."""


def check_device(device: Any) -> None:
    """Refuse an invalid name of a device."""
    if device is not None and not (isinstance(device, str) and re.fullmatch(f"auto|cpu|{_CARD}", device)):
        raise IncompatibleError(
            f"device must be None (where X lies), 'auto', 'cpu', 'cuda' or a card by its number, 'cuda:1'; got {device!r}."
        )


def card(device: str) -> tuple[Any, Any]:
    """The array library that works on a card, PyTorch or else CuPy, and its name for the card."""
    number, seen = int(device.partition(":")[2] or 0), []
    for name, look in (("torch", _of_torch), ("cupy", _of_cupy)):
        if find_spec(name) is not None:
            count, found, version = look(device, number)
            if number < count:
                return found
            seen.append(f"{version} sees {count or 'none'}")
    if not seen:
        raise MissingLibraryError(f"device={device!r} takes PyTorch with CUDA, or CuPy; neither is installed: pip install torch.")
    raise IncompatibleError(
        f"device={device!r}: there is no such card; {' and '.join(seen)}. device='auto' takes one where there is one; device=None "
        "works where X lies."
    )


def _of_torch(device: str, number: int) -> tuple[int, Any, str]:
    """How many cards PyTorch sees, its namespace with a card, and its version."""
    import torch
    from array_api_compat import torch as xp

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return count, (xp, torch.device("cuda", number)), f"PyTorch {torch.__version__}"


def _of_cupy(device: str, number: int) -> tuple[int, Any, str]:
    """The same of CuPy."""
    import cupy
    from array_api_compat import cupy as xp

    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        count = 0
    return count, (xp, cupy.cuda.Device(number) if count else None), f"CuPy {cupy.__version__}"


def placed(data: Any, device: str | None) -> Any:
    """Data where a fit is to work on them: on a card, in main memory, or, for None, where they lie.

    Parameters
    ----------
    data : Data
    device : {None, "auto", "cpu", "cuda", "cuda:1", …}
    """
    if device == "auto":
        is_near = data.namespace.is_host and not data.costs.out_of_core
        device = "cuda" if is_near and data.size >= _WORTHWHILE.get(data.costs.storage, inf) and _has_card() else None
    if device is None:
        return data
    single = str(data.namespace.dtype).endswith("float32")
    if device == "cpu":
        return data if data.namespace.is_host else moved(data, Namespace(np, np.dtype("f4" if single else "f8"), "cpu"))
    xp, where = card(device)
    return moved(data, Namespace(xp, xp.float32 if single else xp.float64, where))


def not_to_be_moved(data: Data, namespace: Namespace, what: str = "") -> IncompatibleError:
    """The error for a device that data cannot be moved to."""
    what = what or f"Data of the kind {type(data).__name__}"
    return IncompatibleError(
        f"{what} are worked on in main memory; device={str(namespace.device)!r} is for dense and sparse arrays. Leave out device."
    )


def moved(data: Any, namespace: Namespace) -> Any:
    """The same data where arrays of another library are: on a device, or in main memory."""
    if not hasattr(data, "moved"):
        raise not_to_be_moved(data, namespace)
    return data.moved(namespace)


# ---- memory


def fits(n_bytes: int, namespace: Namespace) -> bool:
    """Whether so many bytes can be on a device with room left for work."""
    free = _memory_of(namespace.device).free if "cuda" in str(namespace.device).lower() else None
    return free is None or n_bytes <= _SHARE * free


_SHARE = tuned(0.75, by="gpu", on="2026-11-19")
"""Share of the free memory of a card that X may take; larger X pass through it in blocks. The rest is for factors and X̂."""


class Memory(NamedTuple):
    """Bytes of a card: free for this process, in use by its arrays, and in all."""

    free: int
    used: int
    total: int


def _memory_of(device: Any) -> Memory:
    if hasattr(device, "mem_info"):  # CuPy's
        free, total = device.mem_info
        return Memory(free, total - free, total)
    import torch

    free, total = torch.cuda.mem_get_info(device)
    used, share = torch.cuda.memory_allocated(device), torch.cuda.get_per_process_memory_fraction(device)
    free += torch.cuda.memory_reserved(device) - used
    return Memory(max(0, min(free, int(share * total) - used)), used, total)


@contextmanager
def memory_explained() -> Iterator[None]:
    """Context in which a card that runs out of memory is a `DeviceMemoryError`, after which it can be used again."""
    try:
        yield
        return
    except Exception as error:
        if not any(text in f"{type(error).__name__} {error}" for text in _SHORTAGES):
            raise
        asked = re.search(r"(?:allocate|allocating) ([\d.,]+) ?(GiB|MiB|KiB|bytes)", str(error))
        clear_frames(error.__traceback__)  # they hold on to arrays
    raise DeviceMemoryError(_shortage(asked))


_SHORTAGES = "OutOfMemoryError", "CUDA out of memory", "STATUS_ALLOC_FAILED"
"""Names of errors of PyTorch, CuPy and CUDA's libraries without memory."""
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
"""Units in which they say how much was asked for."""


def _shortage(asked: re.Match[str] | None) -> str:
    """Free unused memory of the card, and name the memory asked for, the memory there is, and a remedy."""
    said = "for its work" if asked is None else f"for {readable(int(float(asked[1].replace(',', '')) * _UNITS[asked[2]]))} more"
    found = _released()
    numbers = ""
    if found is not None:
        numbers = (
            f": of {readable(found.total)}, arrays of this process take {readable(found.used)}; {readable(found.free)} are free"
        )
    return (
        f"The device has no memory {said}{numbers}. Dense NumPy arrays and files pass through a card in blocks with device='cuda'; "
        "float32 takes half; fewer components take less, and device='cpu' works in main memory."
    )


def _released() -> Memory | None:
    """Give back cached memory; the memory of the card that is used."""
    gc.collect()
    if "torch" in sys.modules:
        import torch

        if torch.cuda.is_available():
            torch.cuda.empty_cache()
            return _memory_of(torch.device("cuda", torch.cuda.current_device()))
    if "cupy" in sys.modules:
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()
        return _memory_of(cupy.cuda.Device())
    return None


_WORTHWHILE = tuned({"dense": 2**19, "sparse": 2**17}, by="gpu", on="2026-11-20")
"""Stored entries of X from which "auto" takes a card. One H200 is quicker than the 16 cores of its host from a fifth as many dense
ones, but the first fit of a process takes seconds more."""


@cache
def _has_card() -> bool:
    try:
        card("cuda")
    except (IncompatibleError, MissingLibraryError):
        return False
    return True


def gram_in_double(columns: np.ndarray, namespace: Namespace) -> np.ndarray:
    """The products of columns with each other, in double precision, made on a device."""
    own = namespace.xp.astype(namespace.asarray(columns), namespace.xp.float64)
    return to_host(own.T @ own)


def name_of(X: Any) -> str | None:
    """The name of the card that an array is on; None in main memory, and on other devices."""
    library = library_of(X) if is_on_device(X) else None
    name = None if library is None else _name_of(library.device)
    return name if name is not None and re.fullmatch(_CARD, name) else None


def describe(data: Any, namespace: Namespace) -> str:
    """The device that works on data: its name, the precision of products, and a pass over X with its floor."""
    single = str(namespace.dtype).endswith("float32")
    each = (4 if single else 8) + (4 if data.costs.storage == "sparse" else 0)  # beside an entry its column
    name, precision, rate = _name_of(namespace.device), f"float{32 if single else 64}", 0.0
    if has_cuda(namespace):
        import torch

        found = torch.cuda.get_device_properties(namespace.device)
        name = f"{name} ({found.name})"
        rate = 2e3 * getattr(found, "memory_clock_rate", 0) * getattr(found, "memory_bus_width", 0) / 8
        precision += f", {_PRECISIONS[torch.get_float32_matmul_precision()]}" if single else ""
    floor = f", at least {1e3 * data.size * each / rate:.2g} ms" if rate and not data.costs.out_of_core else ""
    way = f" in {len(data.stops)} blocks copied from main memory" if data.costs.out_of_core else ""
    return f"{name}, {precision}; a pass over X reads {readable(data.size * each)}{way}{floor}"


_PRECISIONS = {"highest": "products exact to it", "high": "products to 4e-7", "medium": "products in TF32, to 1e-4"}
"""What `torch.set_float32_matmul_precision` means for products with X ∘ X̂⁻¹ and the like; see `kernels.fused`."""


def _name_of(where: Any) -> str:
    return f"cuda:{where.id}" if hasattr(where, "id") else str(where)


def _is_lazy(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] in ("dask", "scipy", "pandas", "h5py", "zarr")


def as_library(array: Any, library: Namespace) -> Any:
    """A NumPy array of numbers as one of another library, on its device; anything else as it is."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
        return array
    if array.ndim == 2 and array.flags.f_contiguous:  # transposed on the device: rows and columns in turn take long here
        return library.xp.asarray(array.T, device=library.device).T
    return library.xp.asarray(np.ascontiguousarray(array), device=library.device)
