"""The measures of the papers: of clusters, of bases, of scores, of matched graphs, of approximations.

Every measure is one float (`edge_error` an int), computed in double precision from NumPy arrays or whatever can be read as such.
A basis W has its parts in its columns, as in the papers; of an estimator with `components_`, give the transpose. A column of zeros
has no direction and counts as the worst there is, so that a dead part never makes a basis look better.
"""

from .bases import basis_entropy, orthogonality, orthogonality_error, sparseness, stochastic_error
from .clusters import clustering_accuracy, clustering_entropy, normalized_entropy, purity
from .comparison import edge_error, equal_error_rate, relative_error

__all__ = [
    "basis_entropy",
    "clustering_accuracy",
    "clustering_entropy",
    "edge_error",
    "equal_error_rate",
    "normalized_entropy",
    "orthogonality",
    "orthogonality_error",
    "purity",
    "relative_error",
    "sparseness",
    "stochastic_error",
]
