"""What can go wrong before any number is computed, each with its own name.

All of them are `ValueError`, so code written for scikit-learn catches them. A message says what was given, why it
cannot be, and what would be. `Stopped` is none of them: it is a `KeyboardInterrupt`.
"""

from typing import Any


class ExpressionError(ValueError):
    """A product form that cannot be read, or that does not mean anything."""


class ShapeError(ValueError):
    """Factors, ranks and data whose sizes do not fit each other."""


class DataError(ValueError):
    """Data that the model cannot approximate: negative, not finite, empty, or of the wrong kind."""


class IncompatibleError(ValueError):
    """Two parts of a model that cannot be used together, or one that is not known."""


class FileError(DataError):
    """A file that is not what it should be: empty, cut off, of another kind, or more than can be held."""


class ReadingError(FileError):
    """A file of which more has to be said before it can be read: an option of `nonneg.files.read`, of which a value is proposed.

    Parameters
    ----------
    text : str
        What is in the way, and what to do, without the option.
    option : str
        The name of the option.
    value : str or list of str
        What may be given for it.
    """

    def __init__(self, text: str, option: str, value: Any) -> None:
        super().__init__(f"{text}: {option}={value!r}.")
        self.text, self.option, self.value = text, option, value

    def __reduce__(self) -> Any:
        return type(self), (self.text, self.option, self.value)


class MissingLibraryError(DataError, ImportError):
    """Something that needs a library which is not installed."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C, after what was found so far has been kept: in the estimator, or as `solution`."""

    solution: Any = None


class EmptySamplesWarning(UserWarning):
    """Some samples have no known value, or zeros only: nothing is learned from them."""
