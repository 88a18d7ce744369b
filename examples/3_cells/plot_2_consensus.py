"""
Consensus over restarts
=======================

`nonneg.ConsensusNMF` fits from many random starts, clusters all components, and keeps what the runs
agree on, as cNMF does. The clustergram shows the distances between components of all runs: dark
squares are programs that come back.
"""

import numpy as np

from nonneg import ConsensusNMF, plot

rng = np.random.default_rng(0)
programs = rng.gamma(0.3, 1.0, (4, 120))
counts = rng.poisson(3 * rng.gamma(0.5, 1.0, (250, 4)) @ programs).astype(float)

model = ConsensusNMF(4, n_runs=20, random_state=0).fit(counts)
print(model.stability_.round(2))
plot.clustergram(model)
