"""The picture of the README, 12 parts of drawn faces: `python benchmarks/picture.py docs/images/faces.png`."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from nonneg import OPNMF
from nonneg.datasets import make_faces

_PARTS = 12


def main(path: str) -> None:
    faces = make_faces(400)
    height, width = faces.feature_shape
    model = OPNMF(_PARTS, random_state=0).fit(faces.data)
    codes = model.transform(faces.data)
    order = np.argsort(-codes.mean(axis=0))
    parts = [model.components_[k] for k in order]
    colours = plt.get_cmap("turbo")(np.linspace(0.05, 0.95, _PARTS))[:, :3]
    mixed = np.ones((height, width, 3))
    labels = model.components_[order].argmax(axis=0).reshape(height, width)
    for k, part in enumerate(parts):
        mine = labels == k
        depth = (part / part.max()).reshape(height, width)[mine, None] ** 0.5
        mixed[mine] = 1 - depth * (1 - colours[k])
    shown, some = faces.data[::41][:4], codes[::41][:4]
    figure, grid = plt.subplots(2, 9, figsize=(11, 3.3), gridspec_kw={"width_ratios": [1] * 8 + [2.1]}, layout="constrained")
    for column, (image, code) in enumerate(zip(shown, some, strict=True)):
        draw(grid[0, column], image.reshape(height, width), "gray")
        draw(grid[1, column], (code @ model.components_).reshape(height, width), "gray")
    for axes, part in zip([*grid[0, 4:8], *grid[1, 4:8]], parts, strict=False):
        draw(axes, part.reshape(height, width), "gray_r")
    for axes in grid[:, 8]:
        axes.remove()
    atlas = figure.add_subplot(grid[0, 8].get_gridspec()[:, 8])
    draw(atlas, mixed, None)
    grid[0, 0].set_title("faces", loc="left")
    grid[1, 0].set_title(f"the same, made of {_PARTS} parts", loc="left")
    grid[0, 4].set_title("eight of the parts", loc="left")
    atlas.set_title(f"all {_PARTS}")
    figure.savefig(path, dpi=90)


def draw(axes: plt.Axes, image: np.ndarray, cmap: str | None) -> None:
    axes.imshow(image, cmap=cmap)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)


if __name__ == "__main__":
    main(sys.argv[1])
