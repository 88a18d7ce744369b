"""
Parts of faces
==============

Each face is a sum of parts: hair, eyes, glasses, a beard, in different amounts. `nonneg.OPNMF` sees
400 faces, and no labels, and finds the parts.
"""

import matplotlib.pyplot as plt

from nonneg import OPNMF, plot
from nonneg.datasets import make_faces

faces = make_faces(400, random_state=0)
shape = faces.feature_shape

figure, grid = plt.subplots(2, 6, figsize=(8, 3.4))
for axes, image in zip(grid.flat, faces.images, strict=False):
    axes.imshow(image, cmap="gray_r")
    axes.set_axis_off()
figure.suptitle("Twelve of 400 faces")

# %%
# The rows of ``components_`` are the parts.

model = OPNMF(12, random_state=0).fit(faces.data)
plot.components(model, shape)

# %%
# ``transform`` says how much of each part is in a face, and ``inverse_transform`` makes a face of these twelve numbers.

codes = model.transform(faces.data[:6])
figure, grid = plt.subplots(2, 6, figsize=(8, 3.4))
for row, images in zip(grid, (faces.data[:6], model.inverse_transform(codes)), strict=True):
    for axes, image in zip(row, images, strict=True):
        axes.imshow(image.reshape(shape), cmap="gray_r")
        axes.set_axis_off()
figure.suptitle("Above: faces of 1920 pixels. Below: made of 12 numbers each")
