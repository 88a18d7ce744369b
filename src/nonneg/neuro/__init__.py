"""Brains in the conventions of nilearn: images in, an atlas and loadings out. Needs ``pip install 'nonneg[neuro]'``.

Nilearn and nibabel are imported when a name of this module is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .atlases import compare_atlases
    from .parcellation import OPNMFParcellation

__all__ = ["OPNMFParcellation", "compare_atlases"]

_MODULES = {"OPNMFParcellation": "parcellation", "compare_atlases": "atlases"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'nonneg.neuro' has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
