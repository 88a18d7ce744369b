"""Components as pictures, and as lists of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..io import Layout
from .axes import axes, light_frame, make_room, without_frame
from .slices import Slice, cuts, slices
from .views import layout_of, names_of, parts_of, top_of


def components(
    model: Any,
    shape: Any = None,
    *,
    count: int | None = None,
    columns: int | None = None,
    radiological: bool = False,
    ax: Any = None,
) -> Any:
    """The components as images, side by side, each from white to its largest entry; of volumes, the axial slice with most of it.

    Without a layout of features, the largest weights of each component are drawn as bars: `top_features`.

    Parameters
    ----------
    model : estimator
        Fitted.
    shape : tuple of int or Layout, optional
        Height and width of an image; or how features lie in a picture, as `nonneg.files.read` says it.
    count : int, optional
        How many to show; all of them by default.
    columns : int, optional
        How many in a row.
    radiological : bool, default=False
        Of volumes with an affine, whether the right of the body is on the left of the picture; by default, left is left.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes or array of Axes
        What was drawn into.

    See Also
    --------
    top_features : Bars in place of images.
    nonneg.files.Layout : How features lie in a picture.

    Examples
    --------
    >>> from nonneg import OPNMF, plot
    >>> from nonneg.datasets import make_faces
    >>> model = OPNMF(2, random_state=0).fit(make_faces(20).data)
    >>> axes = plot.components(model, (48, 40))
    """
    parts = parts_of(model)
    if shape is None or (isinstance(shape, Layout) and len(shape.shape) == 1):
        return top_features(model, first=8 if count is None else count, ax=ax)
    shown = parts[: len(parts) if count is None else count]
    layout = layout_of(shape, parts.shape[1])
    cut = [slices(layout, part, cuts(layout, part), radiological=radiological)[-1] for part in shown] if layout.is_volume else []
    tiles = [one.values for one in cut] or [layout.picture(part) for part in shown]
    height, width = tiles[0].shape
    columns = columns or _columns(len(tiles), height / width)
    rows = -(-len(tiles) // columns)
    gap = max(1, round(0.08 * max(height, width)))
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap), np.nan)
    is_signed = bool((shown < 0).any())
    for number, tile in enumerate(tiles):
        top, left = (number // columns) * (height + gap), (number % columns) * (width + gap)
        peak = float(np.abs(tile).max())
        sheet[top : top + height, left : left + width] = tile / (peak or 1.0)
    ax = axes(ax, (min(9.0, 0.9 * columns), min(9.0, 0.9 * rows * height / width + 0.4)))
    colour, least = ("RdBu_r", -1.0) if is_signed else ("gray_r", 0.0)
    ax.imshow(np.ma.masked_invalid(sheet), cmap=colour, vmin=least, vmax=1.0, interpolation="nearest")
    without_frame(ax)
    for number in range(len(tiles)):
        top, left = (number // columns) * (height + gap), (number % columns) * (width + gap)
        ax.add_patch(_frame(left, top, width, height))
        if cut:
            _label(ax, cut[number], left, top, width, height)
    ax.set_title(f"{len(shown)} components" + ("" if len(shown) == len(parts) else f" of {len(parts)}"))
    return ax


def _label(ax: Any, cut: Slice, left: float, top: float, width: float, height: float) -> None:
    """Sides and place of a slice, inside its frame."""
    near = 0.03 * width
    ax.text(left + width / 2, top + height - 0.5, cut.name, ha="center", va="bottom", fontsize=5)
    for side, place, align in zip(cut.sides or (), (left + near, left + width - 1 - near), ("left", "right"), strict=False):
        ax.text(place, top + near, side, ha=align, va="top", fontsize=6)


def _columns(count: int, slope: float) -> int:
    """How many tiles to put into a row: somewhat more than into a column, with few places left empty."""
    wanted = np.sqrt(1.5 * count * slope)
    candidates = [c for c in range(1, count + 1) if 0.6 * wanted <= c <= 1.7 * wanted] or [min(count, max(1, round(wanted)))]
    return int(min(candidates, key=lambda c: (-count % c) / count + abs(np.log(c / wanted))))


def _frame(left: float, top: float, width: float, height: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((left - 0.5, top - 0.5), width, height, fill=False, edgecolor="0.8", linewidth=0.6)


def top_features(model: Any, names: Any = None, *, count: int = 6, first: int = 8, ax: Any = None) -> Any:
    """The features with the largest weights in each component, as bars relative to the largest.

    Parameters
    ----------
    model : estimator
        Fitted.
    names : sequence of str, optional
        Names of the features; by default those of `fit`.
    count : int, default=6
        How many features of each component.
    first : int, default=8
        How many components.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes or array of Axes
        What was drawn into.

    See Also
    --------
    components : Images in place of bars.
    nonneg.selection.top_features : The same as lists.

    Examples
    --------
    >>> from nonneg import NMF, plot
    >>> from nonneg.datasets import make_parts
    >>> model = NMF(3, random_state=0).fit(make_parts(60, 20, 3).data)
    >>> axes = plot.top_features(model)
    """
    parts = parts_of(model)[:first]
    labels = names_of(model, parts.shape[1], names)
    ax = axes(ax, (6.0, 0.6 + 0.19 * (count + 1) * len(parts)))
    place, ticks, shown = 0.0, [], []
    for number, part in enumerate(parts):
        top = top_of(part, count)
        lengths = part[top] / (np.abs(part).max() or 1.0)
        places = place + np.arange(len(top))
        ax.barh(places, lengths, height=0.72, color="#0072b2" if number % 2 == 0 else "#56b4e9")
        ticks += list(places)
        shown += [_short(labels[j]) for j in top]
        ax.text(1.02, place + (len(top) - 1) / 2, f"{number + 1}", transform=ax.get_yaxis_transform(), va="center", weight="bold")
        place += len(top) + 1.0
    ax.set_yticks(ticks, shown, fontsize="small")
    ax.set_ylim(place - 1.2, -0.8)
    ax.set_xlabel("weight, relative to the largest")
    light_frame(ax)
    ax.tick_params(axis="y", length=0)
    ax.set_title("Top features of each component")
    make_room(ax)
    return ax


def _short(name: str, most: int = 28) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
