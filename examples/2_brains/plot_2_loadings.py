"""
Loadings and age
================

Loadings say how much of each component a subject has. Here one component shrinks with age, and a
correlation finds it.
"""

import matplotlib.pyplot as plt
import numpy as np

from nonneg import OPNMF
from nonneg.datasets import make_parts

rng = np.random.default_rng(0)
planted = make_parts(150, 400, 6, random_state=0)
age = rng.uniform(20, 80, 150)
codes = 1 + 0.3 * rng.random((150, 6))
codes[:, 2] *= 1.4 - age / 160
X = np.maximum(codes @ planted.parts + 0.01 * rng.normal(size=(150, 400)), 0)

model = OPNMF(6, random_state=0)
loadings = model.fit_transform(X)
correlations = np.array([np.corrcoef(age, one)[0, 1] for one in loadings.T])
k = np.abs(correlations).argmax()

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.bar(range(6), correlations)
left.set(xlabel="component", ylabel="correlation with age")
right.plot(age, loadings[:, k], ".")
right.set(xlabel="age", ylabel=f"loading of component {k}")
