"""Which rank, and how far to trust it: `rank_scan`; and components, matched, named, and as a partition of features.

>>> import numpy as np
>>> from nonneg import OPNMF
>>> from nonneg.selection import atlas, rank_scan
>>> draw = np.random.default_rng(0)
>>> X = draw.gamma(2, size=(50, 4)) @ np.kron(np.eye(4), np.ones(9)) * draw.gamma(100, 0.01, size=(50, 36))
>>> scan = rank_scan(OPNMF(), X, range(1, 7), random_state=0)
>>> scan.best_
4
>>> atlas(OPNMF(scan.best_, random_state=0).fit(X)).sizes
array([9, 9, 9, 9])
"""

from . import criteria
from .components import Atlas, Feature, Match, atlas, match_components, select_features, top_features
from .meta import MetaComponents, meta_components
from .rules import Choice
from .scan import RankScan, rank_scan
from .strata import strata

__all__ = [
    "Atlas",
    "Choice",
    "Feature",
    "Match",
    "MetaComponents",
    "RankScan",
    "atlas",
    "criteria",
    "match_components",
    "meta_components",
    "rank_scan",
    "select_features",
    "strata",
    "top_features",
]
