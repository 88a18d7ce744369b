"""Quadratic assignment: small instances of QAPLIB, whose least costs are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nonneg.exceptions import find

from .cache import FetchError, fetch

if TYPE_CHECKING:
    from sklearn.utils import Bunch

OPTIMA = {
    "chr12a": 9_552,
    "chr12b": 9_742,
    "chr12c": 11_156,
    "chr15a": 9_896,
    "chr18a": 11_098,
    "esc16a": 68,
    "had12": 1_652,
    "nug12": 578,
    "nug15": 1_150,
    "nug20": 2_570,
    "nug30": 6_124,
    "rou12": 235_528,
    "rou15": 354_210,
    "scr12": 31_410,
    "scr15": 51_140,
    "tai12a": 224_416,
    "tai15a": 388_214,
    "tai20a": 703_482,
}


def assignment_names() -> list[str]:
    """The names of the instances, which begin with those of who made them; the number is that of the facilities.

    Returns
    -------
    list of str
        Names, in alphabetical order.

    See Also
    --------
    load_assignment : One of them.

    Examples
    --------
    >>> from nonneg_papers import assignment_names
    >>> "nug12" in assignment_names()
    True
    """
    return list(OPTIMA)


def load_assignment(name: str) -> Bunch:
    """A quadratic assignment problem of QAPLIB by its name.

    Parameters
    ----------
    name : str
        One of `assignment_names`.

    Returns
    -------
    Bunch
        ``flows`` (n, n) between facilities, ``distances`` (n, n) between places, and ``optimum``, the least Σ_ij flows_ij
        distances_p(i)p(j) over all permutations p, which is proven; ``DESCR``.

    See Also
    --------
    assignment_names : The names.
    nonneg.graph.match_graphs : Finds assignments.

    Examples
    --------
    >>> from nonneg_papers import load_assignment
    >>> from nonneg.graph import match_graphs
    >>> problem = load_assignment("nug12")  # doctest: +SKIP
    >>> D = problem.distances  # doctest: +SKIP
    >>> p = match_graphs(D.max() - D, problem.flows, random_state=0).permutation  # doctest: +SKIP
    >>> (problem.flows * D[p][:, p]).sum() == problem.optimum  # doctest: +SKIP
    True
    """
    from sklearn.utils import Bunch

    known = find("name", name, {known: known for known in OPTIMA}, "nothing else")
    path = fetch(f"qaplib/{known}.dat")
    size, *entries = (int(word) for word in path.read_text(encoding="ascii").split())
    if len(entries) != 2 * size**2:
        raise FetchError(f"{path} has {len(entries)} entries, not two matrices of {size} × {size}. It was cut off or altered.")
    flows, distances = np.array(entries, dtype=np.float64).reshape(2, size, size)
    return Bunch(flows=flows, distances=distances, optimum=OPTIMA[known], DESCR=DESCRIPTION.format(name=known, size=size))


DESCRIPTION = """{name}: {size} facilities to be assigned to {size} places, from QAPLIB

R. E. Burkard, S. E. Karisch and F. Rendl, QAPLIB: a quadratic assignment problem library, Journal of Global Optimization 10, 1997,
pp. 391-403.
"""
