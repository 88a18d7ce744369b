"""Data sets of the papers: faces, swimmers, brains.

The data are not part of the library. They are downloaded when they are first asked for, into the user's cache, or into the folder
that the environment variable ``NONNEG_DATA`` names; a folder that already has them needs no network, and may be read-only. Every
file is checked against a pinned hash each time it is read. Downloading needs pooch: ``pip install 'nonneg[data]'``.

Each loader returns a `sklearn.utils.Bunch` with ``data`` (n_samples, n_features), non-negative float64, ``feature_shape`` and
``DESCR``; with ``images`` where the samples are pictures, upright and 0 for black; and with ``target`` where there are labels. The
factorizations of the papers have samples in columns: ``X = load_feret().data.T``.
"""

from ._cache import FetchError
from .faces import load_cbcl, load_feret, load_olivetti, load_opnmf_reference, load_orl, load_pie, load_swimmer, load_yale
from .mri import load_ixi, load_mni152

__all__ = [
    "FetchError",
    "load_cbcl",
    "load_feret",
    "load_ixi",
    "load_mni152",
    "load_olivetti",
    "load_opnmf_reference",
    "load_orl",
    "load_pie",
    "load_swimmer",
    "load_yale",
]
