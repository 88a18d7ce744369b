"""Pictures of fitted estimators. Each function takes an estimator of any kind and `ax`, draws into it, and returns it.

They need matplotlib: ``pip install 'nonneg[plot]'``.

>>> import matplotlib
>>> matplotlib.use("Agg")
>>> from sklearn.datasets import load_digits
>>> from nonneg import OPNMF, plot
>>> model = OPNMF(16, random_state=0).fit(load_digits().data)
>>> plot.components(model, (8, 8)).get_title()
'16 components'
"""

from .curves import convergence, ranks
from .graphs import matching, partition, transitions
from .matrices import memberships, reordered
from .parts import components, top_features
from .runs import clustergram

__all__ = [
    "clustergram",
    "components",
    "convergence",
    "matching",
    "memberships",
    "partition",
    "ranks",
    "reordered",
    "top_features",
    "transitions",
]
