"""Names of samples in tables of codes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn import get_config

from ..data import sample_names


def with_sample_names(transform: Callable[..., Any]) -> Callable[..., Any]:
    """Give pandas codes the names of their samples: scikit-learn does so for data frames only."""

    @wraps(transform)
    def named(self: Any, X: Any, **settings: Any) -> Any:
        codes = transform(self, X, **settings)
        asked = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        names = sample_names(X) if asked == "pandas" and isinstance(codes, np.ndarray) else None
        if names is None:
            return codes
        import pandas

        return pandas.DataFrame(codes, index=names)

    return named
