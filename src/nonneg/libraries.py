"""Libraries that not everybody needs, imported where they are."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .exceptions import MissingLibraryError


def needed(module: str, extra: str, what: str) -> Any:
    """A library that is not always there, or an error that says how to get it.

    Parameters
    ----------
    module : str
    extra : str
        The extra of this package that installs it.
    what : str
        What needs it, as the beginning of a sentence.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingLibraryError(
            f"{what} needs {package}, which is not installed: pip install 'nonneg[{extra}]', or pip install {package}."
        ) from error
