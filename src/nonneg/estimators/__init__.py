"""The factorizations of the papers as scikit-learn estimators: X has its samples in rows, `components_` are rows too."""

from ._base import Factorizer as Factorizer
from ._base import Orthogonality
from .clustering import ProjectiveClustering
from .coclustering import BiORNM3F, BiQNMF
from .consensus import ConsensusNMF
from .discriminant import NonnegativeKernelFDA, NonnegativeLDA
from .generic import Factorization
from .integrative import IntegrativeNMF
from .nmf import NMF, NonnegativeSparseCoding
from .orthogonal import ONMF
from .pairwise import KernelPNMF, SymmetricNMF
from .projective import OPNMF, PNMF
from .signed import ConvexNMF, SemiNMF
from .svd import TruncatedNonnegativeSVD
from .trifactor import FONT, NMTF, ONMTF

__all__ = [
    "BiORNM3F",
    "BiQNMF",
    "ConsensusNMF",
    "ConvexNMF",
    "FONT",
    "Factorization",
    "IntegrativeNMF",
    "KernelPNMF",
    "NMF",
    "NMTF",
    "NonnegativeKernelFDA",
    "NonnegativeLDA",
    "NonnegativeSparseCoding",
    "ONMF",
    "ONMTF",
    "OPNMF",
    "Orthogonality",
    "PNMF",
    "ProjectiveClustering",
    "SemiNMF",
    "SymmetricNMF",
    "TruncatedNonnegativeSVD",
]

PARTS: dict[str, type] = {
    "nmf": NMF,
    "consensus": ConsensusNMF,
    "opnmf": OPNMF,
    "pnmf": PNMF,
    "onmf": ONMF,
    "sparse": NonnegativeSparseCoding,
    "clustering": ProjectiveClustering,
    "svd": TruncatedNonnegativeSVD,
    "form": Factorization,
}
"""Models of parts, by their names in ``nonneg fit`` and ``nonneg rank``."""
COCLUSTERS: dict[str, type] = {cls.__name__.lower(): cls for cls in (BiORNM3F, BiQNMF, NMTF, ONMTF, FONT)}
"""Models of co-clusters, by their names in ``nonneg cocluster`` and ``nonneg rank``."""
