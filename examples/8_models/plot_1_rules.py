"""
A model is one string
=====================

`nonneg.Model` takes any product of matrices, derives the update rules, and prints them. Here: a
factorization whose components are mixtures of samples (convex NMF).
"""

import matplotlib.pyplot as plt

from nonneg import Factorization, Model
from nonneg.datasets import load_digits

print(Model("H W X", divergence="euclidean"))

# %%

X = load_digits().data[::6]
model = Factorization("H W X", 8, random_state=0).fit(X)
figure, axes = plt.subplots(1, 8, figsize=(8, 1.4))
for one, part in zip(axes, model.components_, strict=True):
    one.imshow(part.reshape(8, 8), cmap="gray_r")
    one.set_axis_off()
