"""The factorizations of the papers as scikit-learn estimators: X has its samples in rows, `components_` are rows too."""

from ._base import Orthogonality
from .clustering import ProjectiveClustering
from .generic import Factorization
from .nmf import NMF, NonnegativeSparseCoding
from .orthogonal import ONMF
from .pairwise import KernelPNMF, SymmetricNMF
from .projective import OPNMF, PNMF
from .svd import TruncatedNonnegativeSVD
from .trifactor import FONT, NMTF, ONMTF

__all__ = [
    "FONT",
    "Factorization",
    "KernelPNMF",
    "NMF",
    "NMTF",
    "NonnegativeSparseCoding",
    "ONMF",
    "ONMTF",
    "OPNMF",
    "Orthogonality",
    "PNMF",
    "ProjectiveClustering",
    "SymmetricNMF",
    "TruncatedNonnegativeSVD",
]
