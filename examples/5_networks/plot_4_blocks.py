"""
A block model
=============

In a block model the chance of an edge depends on the groups of its ends, also where groups avoid
themselves. The form ``"W B W.T"`` learns groups W and the table B of how often groups meet.
"""

import matplotlib.pyplot as plt
import numpy as np

from nonneg import Factorization

rng = np.random.default_rng(0)
groups = np.sort(rng.integers(3, size=90))
table = np.array([[0.05, 0.6, 0.1], [0.6, 0.05, 0.3], [0.1, 0.3, 0.7]])
A = np.triu(rng.random((90, 90)) < table[groups][:, groups], 1).astype(float)
A += A.T

model = Factorization("W B W.T", 3, divergence="kullback-leibler", n_init=5, random_state=0).fit(A)
W, B = model.factors_["W"], model.factors_["B"]
sizes = W.sum(axis=0)
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
left.imshow(A, cmap="gray_r")
left.set_title("edges, vertices sorted by group")
right.imshow(W / sizes, aspect="auto", cmap="Greens")
right.set_title("learned groups")
print((B * np.outer(sizes, sizes) / (B * np.outer(sizes, sizes)).sum()).round(2))
