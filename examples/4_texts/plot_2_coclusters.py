"""
Documents and words, grouped together
=====================================

`nonneg.BiQNMF` puts documents and words into clusters at the same time. Sorted by them, the matrix
of counts has blocks.
"""

import matplotlib.pyplot as plt
import numpy as np

from nonneg import BiQNMF, plot

rng = np.random.default_rng(0)
documents, words = rng.integers(3, size=120), rng.integers(4, size=80)
rates = rng.gamma(0.5, 3.0, (3, 4))[documents][:, words]
counts = rng.poisson(rates).astype(float)

model = BiQNMF((3, 4), random_state=0).fit(counts)
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
left.imshow(counts, aspect="auto", cmap="gray_r")
left.set(title="as given", xlabel="words", ylabel="documents")
plot.reordered(model, counts, ax=right)
right.set_title("by clusters")
