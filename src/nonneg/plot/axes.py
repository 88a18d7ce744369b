"""Axes to draw on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import needed


def axes(ax: Any, size: tuple[float, float] = (6.0, 4.0)) -> Any:
    """The axes that were given, or those of a new figure."""
    if ax is not None:
        return ax
    pyplot = needed("matplotlib.pyplot", "plot", "Drawing")
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def make_room(ax: Any) -> None:
    """Give the figure a layout with room beside its axes, as for long names, if it has none."""
    figure = ax.figure.figure
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")


def without_frame(ax: Any) -> None:
    """Remove ticks and frame."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)


def light_frame(ax: Any) -> None:
    """Two of the four lines."""
    ax.spines[["top", "right"]].set_visible(False)


def ink_on(colour: Any) -> str:
    """Black or white, whichever can be read on a colour."""
    return "black" if float(np.dot(colour[:3], [0.299, 0.587, 0.114])) > 0.5 else "white"


def colours(count: int) -> np.ndarray:
    """So many colours that can be told apart, for people who see red and green alike as well, as far as that goes."""
    colormaps = needed("matplotlib", "plot", "Drawing").colormaps
    base = np.array(
        [
            [0, 114, 178],
            [230, 159, 0],
            [0, 158, 115],
            [204, 121, 167],
            [86, 180, 233],
            [213, 94, 0],
            [240, 228, 66],
            [110, 110, 110],
        ]
    )
    if count <= len(base):
        return np.column_stack([base[:count] / 255, np.ones(count)])
    return np.asarray(
        colormaps["tab20"](np.arange(count) % 20) if count <= 20 else colormaps["turbo"](np.linspace(0.05, 0.95, count))
    )
