"""Kernels by scikit-learn's names, or as functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.metrics.pairwise import KERNEL_PARAMS, PAIRWISE_KERNEL_FUNCTIONS

from ..exceptions import IncompatibleError, is_number


def check_kernel(kernel: Any, owner: Any, *also: str) -> None:
    """Refuse, before any work, a kernel that is not known, or parameters of it that cannot be.

    Parameters
    ----------
    kernel : str or callable
    owner : object
        An estimator with `gamma`, `degree`, `coef0` and `kernel_params`.
    *also : str
        Other names that it knows.
    """
    if isinstance(kernel, str) and kernel not in ("precomputed", *also) and kernel not in PAIRWISE_KERNEL_FUNCTIONS:
        known = ", ".join(map(repr, ("precomputed", *also, *sorted(PAIRWISE_KERNEL_FUNCTIONS))))
        raise IncompatibleError(f"Unknown kernel {kernel!r}. Known names: {known}; or a function of two samples.")
    if not isinstance(kernel, str) and not callable(kernel):
        raise IncompatibleError(f"kernel must be a name or a function of two samples; got {kernel!r}.")
    for parameter in ("gamma", "degree", "coef0"):
        value = getattr(owner, parameter)
        if value is not None and not is_number(value):
            raise IncompatibleError(f"{parameter} must be a number; got {value!r}.")
    if owner.kernel_params is not None and not isinstance(owner.kernel_params, Mapping):
        raise IncompatibleError(f"kernel_params must be a dict, or None; got {owner.kernel_params!r}.")


def kernel_options(kernel: Any, owner: Any) -> dict[str, Any]:
    """The parameters that a kernel is called with."""
    if callable(kernel):
        return dict(owner.kernel_params or {})
    given = {name: getattr(owner, name) for name in ("gamma", "degree", "coef0")}
    return {name: value for name, value in given.items() if value is not None and name in KERNEL_PARAMS.get(kernel, ())}
