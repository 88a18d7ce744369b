"""
Which divergence?
=================

Large entries decide a Euclidean fit; with the I-divergence entries count by their relative size, as
the noise of counts does. How far the parts found are from the parts of Poisson counts:
"""

import matplotlib.pyplot as plt
import numpy as np

from nonneg import NMF
from nonneg.selection import match_components

rng = np.random.default_rng(0)
parts = rng.gamma(0.4, 1.0, (4, 60)) * np.geomspace(1, 30, 60)
counts = rng.poisson(0.3 * rng.gamma(1, 1, (150, 4)) @ parts).astype(float)
names = ["euclidean", "kullback-leibler", 0.5]
similarities = [match_components(parts, NMF(4, divergence=name, random_state=0).fit(counts)).similarity for name in names]
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.boxplot(similarities, tick_labels=[str(name) for name in names])
axes.set_ylabel("cosine with the planted part")
