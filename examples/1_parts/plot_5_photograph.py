"""
Textures of a photograph
========================

Patches of a photograph that comes with scikit-learn, as sums of a few others: dark and light edges
of all directions.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.feature_extraction.image import extract_patches_2d

from nonneg import NonnegativeSparseCoding

photograph = load_sample_image("china.jpg").mean(axis=2)[::2, ::2] / 255
patches = extract_patches_2d(photograph, (8, 8), max_patches=1500, random_state=0).reshape(1500, -1)
contrast = patches - patches.mean(axis=1, keepdims=True)
contrast = contrast[contrast.std(axis=1) > 0.05]

# %%
# What is lighter than the mean of a patch, and what is darker, are two nonnegative images each.

X = np.hstack([np.maximum(contrast, 0), np.maximum(-contrast, 0)])
model = NonnegativeSparseCoding(25, alpha=0.05, random_state=0, max_iter=300, tol=1e-4).fit(X)
light, dark = np.split(model.components_, 2, axis=1)
tiles = [(part / np.abs(part).max()).reshape(8, 8) for part in light - dark]
grid = np.block([[np.pad(tile, 1) for tile in tiles[row : row + 5]] for row in range(0, 25, 5)])
figure, axes = plt.subplots(figsize=(4, 4))
axes.imshow(grid, cmap="gray", vmin=-1, vmax=1)
axes.set_axis_off()
