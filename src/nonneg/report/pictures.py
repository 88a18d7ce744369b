"""Charts and images of a page, drawn by matplotlib."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from io import BytesIO, StringIO
from typing import Any

import numpy as np

from ..exceptions import needed
from .blocks import Chart

_SIZE = (5.2, 2.9)
"""Width and height of a chart, in inches."""
_COLOURS = {"#0072b2": "var(--bar)", "#d55e00": "var(--warn)", "#000000": "var(--soft)", "#808080": "var(--soft)"}
"""Colours of charts, and those of the page, light or dark, in their places."""
_LEFT_OUT = re.compile(r"""<(style|metadata|title).*?</\1>|(?<=<g) id="[^"]*"| (?:width|height)="[0-9.]*pt\"""", re.DOTALL)
"""Parts of an SVG that would hold for the whole page, or stand on it twice."""


def chart(draw: Callable[[Any], Any], label: str) -> Chart:
    """A chart that takes the colours and the width of the page.

    Parameters
    ----------
    draw : callable
        Draws on axes.
    label : str
        Its description, for readers who do not see it.
    """
    matplotlib = needed("matplotlib", "plot", "A report")
    file = StringIO()
    salt = {
        "svg.hashsalt": label,
        "svg.fonttype": "none",
        "font.size": 10.0,
        "font.sans-serif": ["DejaVu Sans"],
        "legend.frameon": False,
    }
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, "backend": matplotlib.rcParams["backend"], **salt}):
        figure = needed("matplotlib.figure", "plot", "A report").Figure(figsize=_SIZE, layout="constrained")
        ax = figure.subplots()
        draw(ax)
        ax.set_title("")
        for artist in figure.findobj(lambda one: hasattr(one, "set_clip_on")):
            artist.set_clip_on(False)
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    text = file.getvalue()
    svg = _LEFT_OUT.sub("", text[text.index("<svg") :])
    for colour, variable in _COLOURS.items():
        svg = svg.replace(colour, variable)
    return Chart(svg, label)


def image(values: np.ndarray, *, most: float | None = None) -> str:
    """A matrix as a data URI: from white for 0 to black for `most`, its largest entry by default; of both signs, blue and red."""
    peak = float(np.abs(values).max()) if most is None else most
    peak = peak if peak > 0 else 1.0
    is_signed = bool(np.min(values) < 0)
    return _encoded(values / peak, cmap="RdBu_r" if is_signed else "gray_r", vmin=-1.0 if is_signed else 0.0, vmax=1.0)


def overlaid(background: np.ndarray, values: np.ndarray) -> str:
    """Values from 0 to 1 in red, the larger the less transparent, over a background from 0 to 1 in grey; NaN is white."""
    grey = np.where(np.isnan(background), 255, 232 - 120 * np.nan_to_num(background))
    share = np.sqrt(np.clip(values, 0, 1))[..., None]
    return _encoded(np.rint(grey[..., None] * (1 - share) + np.array([190, 20, 30]) * share).astype(np.uint8))


def _encoded(pixels: np.ndarray, **settings: Any) -> str:
    """An image as PNG, in a data URI."""
    file = BytesIO()
    needed("matplotlib.image", "plot", "A report").imsave(file, pixels, format="png", metadata={"Software": None}, **settings)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
