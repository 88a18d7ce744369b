"""
NMF, OPNMF or PCA
=================

Three ways to describe digits by sixteen components. Those of PCA have both signs; those of
`nonneg.NMF` overlap; those of `nonneg.OPNMF` hardly do, so that each pixel belongs to one part.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from nonneg import NMF, OPNMF
from nonneg.datasets import load_digits

digits = load_digits()
X = digits.data[::3]
models = [PCA(16, random_state=0), NMF(16, random_state=0), OPNMF(16, random_state=0)]

figure, axes = plt.subplots(1, 3, figsize=(9, 3.4))
for one, model in zip(axes, models, strict=True):
    approximation = model.inverse_transform(model.fit_transform(X))
    error = np.linalg.norm(X - approximation) / np.linalg.norm(X)
    tiles = [part.reshape(8, 8) / np.abs(part).max() for part in model.components_]
    image = np.block([[np.pad(tile, 1) for tile in tiles[row : row + 4]] for row in range(0, 16, 4)])
    one.imshow(image, cmap="RdBu_r", vmin=-1, vmax=1)
    one.set_title(f"{type(model).__name__}: relative error {error:.2f}")
    one.set_axis_off()
