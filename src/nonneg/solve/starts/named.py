"""Start from given factors, or from an initialization by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .base import Beginning, Setting, Start


@dataclass(frozen=True)
class Given(Start):
    """Given factors."""

    factors: Mapping[str, Any]

    def make(self, setting: Setting) -> Beginning:
        return Beginning(self.factors)


@dataclass(frozen=True)
class Named(Start):
    """An initialization by its name."""

    name: str

    def make(self, setting: Setting) -> Beginning:
        return Beginning(self.name, is_warm=self.name == "coclusters")  # a settled partition: components have their shape
