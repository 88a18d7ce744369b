"""A fit that fails leaves its estimator as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..exceptions import Stopped

P = ParamSpec("P")
R = TypeVar("R")


def atomic_fit(fit: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method that leaves its estimator as it was before, if anything is raised: an error, or KeyboardInterrupt.

    `Stopped` is the exception: the result until then is kept. Attributes are to be replaced, not changed in place: an object
    they refer to is not copied.
    """

    @wraps(fit)
    def guarded(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except Stopped:
            raise
        except BaseException:
            self.__dict__ = before
            raise

    return guarded
