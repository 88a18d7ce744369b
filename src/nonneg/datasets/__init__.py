"""Small data sets that need no download: digits, drawn faces, planted parts, a karate club, a hidden Markov chain.

Each function returns a `sklearn.utils.Bunch` with a description, ``DESCR``. The faces, brains, graphs and texts of the papers are
in a package of their own, nonneg-papers, in the folder ``papers`` of nonneg's repository.
"""

from typing import NoReturn

from .chains import make_hidden_chain
from .digits import load_digits
from .faces import make_faces
from .karate import load_karate
from .parts import make_parts

__all__ = ["load_digits", "load_karate", "make_faces", "make_hidden_chain", "make_parts"]

_IN_PAPERS = (
    *("FetchError", "assignment_names", "graph_names", "load_assignment", "load_cbcl", "load_codon_pairs", "load_feret"),
    *("load_graph", "load_ixi", "load_letter_pairs", "load_mni152", "load_olivetti", "load_opnmf_reference", "load_orl"),
    *("load_pie", "load_swimmer", "load_text", "load_yale", "text_names"),
)


def __getattr__(name: str) -> NoReturn:
    if name in _IN_PAPERS:
        raise ImportError(
            f"{name} is in the package nonneg-papers: from nonneg_papers import {name}. To get it, pip install ./papers in a copy "
            "of nonneg's repository."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
