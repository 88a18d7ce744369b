"""Bases as pictures, and measures as curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure


def grids(
    bases: Mapping[str, np.ndarray],
    shape: tuple[int, int],
    columns: int,
    *,
    across: int = 2,
    width: float = 4.6,
    colours: str = "gray_r",
) -> Figure:
    """One grid of basis images a method, so many `across` the page; each grid has one scale of greys, no picture one of its own.

    `bases` are features × components. Zero is white, and dark is large; "gray" is the other way round. Where a basis has negative
    entries, zero is grey.
    """
    rows, down = -(-next(iter(bases.values())).shape[1] // columns), -(-len(bases) // across)
    height = width * rows * shape[0] / (columns * shape[1]) + 0.35
    figure, panels = plt.subplots(down, across, figsize=(width * across, height * down), layout="constrained", squeeze=False)
    for axes, (title, W) in zip(panels.flat, bases.items(), strict=True):
        # The length of a component means nothing where there is a code to make up for it, as in NMF: all have length one here.
        images = (W / np.linalg.norm(W, axis=0)).T.reshape(-1, *shape)
        largest = np.quantile(np.abs(images), 0.999)  # so that a single pixel does not make all others pale
        axes.imshow(tiled(images, columns), cmap=_greys(colours), vmin=-largest if images.min() < 0 else 0, vmax=largest)
        axes.set_title(title)
        axes.set_axis_off()
    return figure


def pictures(table: Sequence[Sequence[np.ndarray | None]], titles: Sequence[Sequence[str]], *, size: float = 1.6) -> Figure:
    """Photographs in rows and columns, one scale for all: black is 0, white the largest value of the first one."""
    figure, panels = plt.subplots(
        len(table), len(table[0]), figsize=(size * len(table[0]), (size + 0.3) * len(table)), layout="constrained", squeeze=False
    )
    for axes, image, title in zip(panels.flat, chain(*table), chain(*titles), strict=True):
        axes.set_axis_off()
        if image is not None:
            axes.imshow(image, cmap="gray", vmin=0, vmax=table[0][0].max())
            axes.set_title(title, fontsize=9)
    return figure


def curves(
    panels: Mapping[str, Mapping[str, Mapping[int, float]]], ylabel: str, marks: Mapping[str, float] | None = None
) -> Figure:
    """Values against iterations, panel by panel: ``{title: {label: {iteration: value}}}``; `marks` are values of the paper.

    What stands before the comma of a label is the method: its runs share a colour.
    """
    figure, grid = plt.subplots(1, len(panels), figsize=(5.2 * len(panels), 3.6), layout="constrained", squeeze=False, sharey=True)
    methods = list(dict.fromkeys(_method(label) for lines in panels.values() for label in lines))
    for axes, (title, lines) in zip(grid.flat, panels.items(), strict=True):
        drawn = Counter[str]()
        for label, line in lines.items():
            method = _method(label)
            style = ("-", "--", ":", "-.")[drawn[method] % 4]
            axes.plot(list(line), list(line.values()), style, color=f"C{methods.index(method)}", label=label)
            drawn[method] += 1
        for label, value in (marks or {}).items():
            axes.axhline(value, color="0.6", linewidth=0.8)
            axes.annotate(label, (0.99, value), xycoords=("axes fraction", "data"), ha="right", va="top", fontsize=8, color="0.4")
        axes.set(title=title, xlabel="iterations")
        axes.legend(fontsize=8)
    grid[0, 0].set_ylabel(ylabel)
    return figure


def _method(label: str) -> str:
    return label.split(",")[0]


def tiled(images: np.ndarray, columns: int) -> np.ndarray:
    """One picture of many, row by row, with gaps between them."""
    count, height, width = images.shape
    rows, gap = -(-count // columns), max(1, height // 32)
    canvas = np.full((rows * (height + gap) + gap, columns * (width + gap) + gap), np.nan)
    for number, image in enumerate(images):
        top, left = (number // columns) * (height + gap) + gap, (number % columns) * (width + gap) + gap
        canvas[top : top + height, left : left + width] = image
    return canvas


def _greys(name: str) -> plt.Colormap:
    colours = plt.get_cmap(name).copy()
    colours.set_bad("#d8c9a8")  # the gaps: no grey, which could be a value
    return colours
