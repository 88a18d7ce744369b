"""
Soft and exact parts
====================

Components of `nonneg.OPNMF` overlap a little where the data do. ``orthogonality="exact"`` gives
each pixel to one part, at the price of a larger error; a number between 0 and 1 is a compromise.
"""

import matplotlib.pyplot as plt

from nonneg import OPNMF
from nonneg.datasets import load_digits

X = load_digits().data[::3]
degrees = ["soft", 0.5, "exact"]
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2))
for one, degree in zip(axes, degrees, strict=True):
    model = OPNMF(10, orthogonality=degree, random_state=0).fit(X)
    overlap = model.orthogonality_["W"]
    one.imshow(model.components_, cmap="gray_r", aspect="auto")
    one.set_title(f"{degree}: error {model.reconstruction_err_:.0f}, ρ = {overlap.rho:.3f}")
    one.set_xlabel("pixel")
axes[0].set_ylabel("component")
