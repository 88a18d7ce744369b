"""Which refusals are worth the name: an error that was meant, and says what it is about."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable

from sklearn.exceptions import NotFittedError

import nonneg.exceptions

_OURS = tuple(error for error in vars(nonneg.exceptions).values() if isinstance(error, type) and issubclass(error, BaseException))
_RAW = re.compile(
    "math domain|broadcast|division by zero|not aligned|matmul|zero-size array|could not convert|cannot reshape|"
    "Probabilities|infs or NaNs|object has no attribute|not subscriptable|unexpected keyword|HistGradientBoosting|"
    "truth value|setting an array element|must be real number|unsupported operand|cannot convert float"
)
"""What NumPy, SciPy and Python say to whoever wrote the code, and scikit-learn to whoever has another task."""
_DATA = ("X", "data", "array", "Input", "input", "sample", "samples", "feature", "features", "y", "Codes", "Coordinates")


def trouble_with(error: Exception, words: Iterable[str] | None) -> str:
    """Why this is no refusal; nothing if it is one."""
    message = str(error)
    if isinstance(error, NotFittedError):
        return ""
    if isinstance(error, FileNotFoundError) and message.startswith("There is no file"):
        return ""
    if not isinstance(error, ValueError | TypeError):
        return f"a raw {type(error).__name__}"
    if not isinstance(error, _OURS) and not _is_meant(error):
        return f"a {type(error).__name__} that nobody raised on purpose"
    if _RAW.search(message) and not isinstance(error, _OURS):
        return "words that are not for users"
    if len(message.split()) < 4:
        return "not a sentence"
    if words is not None and not any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) for word in words):
        return f"names none of {', '.join(words)}"
    return ""


def data_words(*names: str) -> tuple[str, ...]:
    """Words of which an error about data has to have one."""
    return (*names, *_DATA)


def _is_meant(error: Exception) -> bool:
    """Whether it comes from a `raise` here or in scikit-learn, rather than out of something that was computed."""
    *_, last = traceback.extract_tb(error.__traceback__)
    is_known = any(folder in last.filename for folder in ("/nonneg/", "/nonneg_papers/", "/sklearn/"))
    return is_known and (last.line or "").lstrip().startswith("raise")
