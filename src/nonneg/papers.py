"""The package of the papers, nonneg-papers: imported when it is asked for, or an error that says how to get it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .exceptions import MissingLibraryError

if TYPE_CHECKING:
    from nonneg_papers.catalogue import Methods


def import_papers(what: str, module: str = "nonneg_papers") -> Any:
    """Import the package of the papers, or a module of it.

    Parameters
    ----------
    what : str
        The thing to be found there, for the error.
    module : str, default="nonneg_papers"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingLibraryError(
            f"{what} is in the package nonneg-papers, which is not installed: pip install ./papers in a copy of "
            "nonneg's repository."
        ) from error


def methods(search: str = "", *, status: str | None = None) -> Methods:
    """List the methods that the papers define or compare with, apart from those of scikit-learn, as a table that prints itself.

    The table is in the package nonneg-papers.

    Parameters
    ----------
    search : str, default=""
        Only those with this text in their name, whatever its case.
    status : {"ready", "by form", "derived"}, optional
        Only those that have a name of their own; that are a form to be given; or that are a step in the derivation of others.

    Returns
    -------
    sequence of Method
        It prints itself as a table, in a notebook too.

    See Also
    --------
    explain : How a fit will be done.

    Examples
    --------
    >>> from nonneg import methods
    >>> print(methods("OPNMF"))
    method  what                            printed             here                                                      status
    ------  ------------------------------  ------------------  --------------------------------------------------------  ------
    OPNMF   D(X‖W WᵀX), WᵀW = I; also NLHN  ONL 31, 35; NNP 40  `nonneg.OPNMF(solver="paper")`; `nonneg.OPNMF` runs PNMF  ready
    """
    found: Methods = import_papers("The catalogue of methods", "nonneg_papers.catalogue").methods(search, status=status)
    return found
