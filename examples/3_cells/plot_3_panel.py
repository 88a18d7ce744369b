"""
A panel of genes
================

Which twelve genes are enough to code cells? `nonneg.selection.select_features` takes the foremost
genes of each component of a `nonneg.PNMF`, and ``restrict`` makes an estimator that needs these
only.
"""

import matplotlib.pyplot as plt
import numpy as np

from nonneg import PNMF
from nonneg.datasets import make_parts
from nonneg.selection import select_features

planted = make_parts(300, 100, 4, noise=0.5, random_state=0)
model = PNMF(4, random_state=0).fit(planted.data)
panel = np.asarray(select_features(model, 12))
print("Genes of the panel:", panel)

small = model.restrict(panel)
full, reduced = model.transform(planted.data), small.transform(planted.data[:, panel.astype(int)])
figure, axes = plt.subplots(1, 4, figsize=(9, 2.4), layout="constrained")
for k, one in enumerate(axes):
    one.plot(full[:, k], reduced[:, k], ".", ms=3)
    one.set(title=f"component {k}", xlabel="100 genes")
axes[0].set_ylabel("12 genes")
