"""Types of parameters that estimators share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..constraints import Constraint
from ..divergences import Objective
from ..solve.checkpoints import Checkpoint
from ..solve.solution import Progress
from ..solve.solvers import Solver

Rank = int | str | tuple[int, int] | None
"""A number of components, or of row and column clusters; a word such as "auto"."""
Divergence = str | float | Objective
Init = str | ArrayLike | Mapping[str, ArrayLike] | None
SolverName = str | Solver
RandomState = int | np.random.Generator | np.random.RandomState | None
Callback = Callable[[Progress], Any] | None
Store = str | os.PathLike[str] | Checkpoint | None
Constraints = Mapping[str, str | Constraint] | None
Device = str | None
"""Where to work: "auto", "cpu", "cuda", "cuda:1"; None is where X lies."""
Kernel = str | Callable[..., float]
KernelParams = Mapping[str, Any] | None
