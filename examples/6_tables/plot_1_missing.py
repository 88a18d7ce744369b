"""
Missing entries
===============

A table of ratings, most of them unknown. ``missing="ignore"`` fits what is known;
``inverse_transform`` predicts the rest.
"""

import matplotlib.pyplot as plt
import numpy as np

from nonneg import NMF

rng = np.random.default_rng(0)
full = rng.gamma(1.0, 1.0, (60, 3)) @ rng.gamma(1.0, 1.0, (3, 40))
known = rng.random(full.shape) < 0.4
X = np.where(known, full, np.nan)

model = NMF(3, missing="ignore", random_state=0).fit(X)
predicted = model.inverse_transform(model.transform(X))
figure, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for one, image, title in zip(axes, (X, predicted, full), ("known", "predicted", "true"), strict=True):
    one.imshow(image, cmap="viridis", vmin=0, vmax=full.max(), aspect="auto")
    one.set_title(title)
print(f"Relative error of unknown entries: {np.linalg.norm((predicted - full)[~known]) / np.linalg.norm(full[~known]):.3f}")
