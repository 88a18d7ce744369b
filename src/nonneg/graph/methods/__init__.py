"""Ways to partition a graph, one file each."""

from __future__ import annotations

from .base import Effort, Method, Partitioned
from .blocks import BlockModel
from .kernel_kmeans import KernelKMeans
from .nonnegative import NSC, KernelProjection, NonnegativeLearning
from .pod import POD
from .refined import Refined

METHODS: dict[str, Method] = {
    "auto": BlockModel(),
    "block-model": BlockModel("pairs"),
    "refined": Refined(),
    "onl": NonnegativeLearning(1.0),
    "sqrt-onl": NonnegativeLearning(0.5),
    "nl": NonnegativeLearning(1.0, orthogonal=False),
    "sqrt-nl": NonnegativeLearning(0.5, orthogonal=False),
    "nsc": NSC(),
    "kernel-pnmf": KernelProjection(),
    "kernel-kmeans": KernelKMeans(),
    "pod": POD(),
}

__all__ = [
    "METHODS",
    "NSC",
    "POD",
    "BlockModel",
    "Effort",
    "Partitioned",
    "KernelKMeans",
    "KernelProjection",
    "Method",
    "NonnegativeLearning",
    "Refined",
]
