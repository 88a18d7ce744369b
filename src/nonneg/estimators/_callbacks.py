"""scikit-learn's own callbacks, such as `ProgressBar`, in versions that have them: ``model.set_callbacks(ProgressBar())``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from ..solve.progress import Listener, Listeners, current_listener, listening
from ..solve.solution import Progress, Solution

__all__ = ["Callbacks", "Tasks", "told_to_callbacks", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin as Callbacks
    from sklearn.callback import with_callbacks
except ImportError:  # before scikit-learn 1.9

    class Callbacks:  # type: ignore[no-redef]
        """Nothing: this version of scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        return method


class Tasks(Listener):
    """The starts of a fit as tasks of scikit-learn's callbacks, and checks as tasks in these, of which nobody knows how many come.

    Parameters
    ----------
    estimator : estimator
    root : sklearn.callback.CallbackContext
        Of the fit.
    """

    def __init__(self, estimator: Any, root: Any) -> None:
        self._estimator, self._root, self._lock = estimator, root, Lock()
        self._starts: dict[int, Any] = {}

    def began(self, start: int, of: int, max_iter: int, tol: float) -> None:
        with self._lock:
            context = self._root.subcontext("start", task_id=start, max_subtasks=None)
            self._starts[start] = context.call_on_fit_task_begin(estimator=self._estimator)

    def checked(self, progress: Progress, start: int) -> Any:
        with self._lock:
            context = self._starts[start].subcontext("check").call_on_fit_task_begin(estimator=self._estimator)
            told = {"iteration": progress.iteration, "objective": progress.objective}
            return context.call_on_fit_task_end(estimator=self._estimator, metadata=told)

    def ended(self, solution: Solution, start: int) -> None:
        with self._lock:
            self._starts[start].call_on_fit_task_end(estimator=self._estimator)


@contextmanager
def told_to_callbacks(estimator: Any, starts: int) -> Iterator[None]:
    """Let scikit-learn's callbacks of an estimator follow a fit."""
    root = estimator._init_callback_context(max_subtasks=starts, sequential_subtasks=False)
    root.call_on_fit_task_begin(estimator=estimator)
    with listening(Listeners(current_listener(), Tasks(estimator, root))):
        yield
    root.call_on_fit_task_end(estimator=estimator)
