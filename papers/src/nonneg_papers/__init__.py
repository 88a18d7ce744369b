"""The data of the papers, the catalogue of their methods, and their figures and tables made again.

The data are downloaded when they are first asked for, into the user's cache, or into the folder that the environment variable
``NONNEG_DATA`` names; a folder that already has them needs no network, and may be read-only. Every file is checked against the hash
in ``registry.txt`` each time it is read.

Each loader returns a `sklearn.utils.Bunch` with ``data`` (n_samples, n_features), non-negative float64, ``feature_shape`` and
``DESCR``; with ``images`` if the samples are pictures, upright and 0 for black; and with ``target`` if there are labels. The
factorizations of the papers have samples in columns: ``X = load_feret().data.T``. Graphs have an ``adjacency`` instead, and all of
them one loader: `load_graph`, by one of the names that `graph_names` lists. So have texts, whose ``data`` are sparse, documents ×
terms: `load_text` and `text_names`. Pairs of letters and of codons are square matrices of counts, with their ``symbols``.
`load_assignment` has ``flows``, ``distances`` and the ``optimum`` of quadratic assignment problems, by one of `assignment_names`.
"""

from .assignments import assignment_names, load_assignment
from .cache import FetchError
from .chains import load_codon_pairs, load_letter_pairs
from .faces import load_cbcl, load_feret, load_olivetti, load_opnmf_reference, load_orl, load_pie, load_swimmer, load_yale
from .graphs import graph_names, load_graph
from .mri import load_ixi, load_mni152
from .texts import load_text, text_names

__all__ = [
    "FetchError",
    "assignment_names",
    "graph_names",
    "load_assignment",
    "load_cbcl",
    "load_codon_pairs",
    "load_feret",
    "load_graph",
    "load_ixi",
    "load_letter_pairs",
    "load_mni152",
    "load_olivetti",
    "load_opnmf_reference",
    "load_orl",
    "load_pie",
    "load_swimmer",
    "load_text",
    "load_yale",
    "text_names",
]
