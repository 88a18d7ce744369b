"""Curves as SVG and matrices as PNG, by nothing but the standard library: a page needs no library for pictures."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterable
from html import escape
from itertools import pairwise
from textwrap import wrap

import numpy as np

WIDTH, HEIGHT = 480, 230
"""Units of a chart."""
LEFT, RIGHT, TOP, BOTTOM = 78, 14, 12, 40
"""Margins of a chart."""
LETTER, LINE = 7.8, 17
"""Width of a digit, which few letters exceed, and height of a line, at 14 units as in style.css."""


def curve(
    x: np.ndarray, y: np.ndarray, *, label: str, across: str, up: str, errors: np.ndarray | None = None, mark: float | None = None
) -> str:
    """A line chart that takes the colours and the width of the page.

    Parameters
    ----------
    x, y : array
    label : str
        Its description, for readers who do not see it.
    across, up : str
        Titles of the axes.
    errors : array, optional
        Standard errors of y.
    mark : float, optional
        A place of x to point at; the last by default.
    """
    is_log = bool(np.all(y > 0) and y.max() > 20 * y.min() and errors is None)
    heights = np.log10(y) if is_log else np.asarray(y, dtype=float)
    spread = np.zeros(len(y)) if errors is None else np.asarray(errors, dtype=float)
    low, high = float((heights - spread).min()), float((heights + spread).max())
    pad = 0.06 * (high - low) or 0.5 * (abs(high) or 1.0)
    low, high = low - pad, high + pad
    if np.all(y >= 0) and not is_log and low < 0:
        low = 0.0
    start, end = float(x[0]), float(x[-1]) if x[-1] > x[0] else float(x[0]) + 1.0
    ticks_x = ticks(start, end)
    ticks_y = [t for t in (range(math.ceil(low), math.floor(high) + 1) if is_log else ticks(low, high)) if low <= t <= high]
    if is_log and len(ticks_y) < 2:
        ticks_y = [math.log10(t) for t in ticks(10**low, 10**high) if t > 0 and low <= math.log10(t) <= high]
    names_y = told_apart(10**t if is_log else t for t in ticks_y)
    middle = (TOP + HEIGHT - BOTTOM) / 2
    title = wrap(up, int(2 * middle / LETTER))
    left = max(LEFT, math.ceil(LINE * len(title) + LETTER * max(map(len, names_y), default=0)) + 14)

    def at_x(value: float) -> float:
        return left + (value - start) / (end - start) * (WIDTH - left - RIGHT)

    def at_y(value: float) -> float:
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    points = " ".join(f"{at_x(a):.1f},{at_y(b):.1f}" for a, b in zip(x, heights, strict=True))
    lines = "".join(f'<line x1="{left}" x2="{WIDTH - RIGHT}" y1="{at_y(t):.1f}" y2="{at_y(t):.1f}" class="grid"/>' for t in ticks_y)
    ticks_x = [t for t in ticks_x if start <= t <= end]
    names = "".join(
        f'<text x="{left - 8}" y="{at_y(t) + 4:.1f}" text-anchor="end">{text}</text>'
        for t, text in zip(ticks_y, names_y, strict=True)
    )
    names += "".join(
        f'<text x="{at_x(t):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{text}</text>'
        for t, text in zip(ticks_x, told_apart(ticks_x), strict=True)
    )
    names += f'<text x="{(left + WIDTH - RIGHT) / 2}" y="{HEIGHT - 4}" text-anchor="middle">{escape(across)}</text>'
    names += "".join(
        f'<text transform="translate({13 + LINE * number} {middle}) rotate(-90)" text-anchor="middle">{escape(line)}</text>'
        for number, line in enumerate(title)
    )
    at = len(x) - 1 if mark is None else int(np.argmin(np.abs(x - mark)))
    dot = f'<circle cx="{at_x(float(x[at])):.1f}" cy="{at_y(heights[at]):.1f}" r="4" class="dot"/>'
    if mark is not None:
        dot += f'<line x1="{at_x(float(x[at])):.1f}" x2="{at_x(float(x[at])):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" class="mark"/>'
    for a, b, e in zip(x, heights, spread, strict=True):
        if e > 0:
            dot += f'<line x1="{at_x(a):.1f}" x2="{at_x(a):.1f}" y1="{at_y(b - e):.1f}" y2="{at_y(b + e):.1f}" class="error"/>'
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label, quote=True)}">{lines}'
        f'<polyline points="{points}" class="line"/>{dot}{names}</svg>'
    )


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between two."""
    if not high > low or not math.isfinite(high - low):
        return [low]
    step = 10 ** math.floor(math.log10((high - low) / count))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (factor * step) <= count)
    return [round(step * k, 12) for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def short(value: float, digits: int = 4) -> str:
    """A number with so many significant digits; with one less if it has a power of ten."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        return f"{float(f'{value:.{digits}g}'):.{max(digits, 6)}g}".replace("-", "−")
    mantissa, _, power = f"{value:.{digits - 2}e}".partition("e")
    return f"{float(mantissa):.{digits}g}e{int(power)}".replace("-", "−")


def told_apart(values: Iterable[float], most: int = 12) -> list[str]:
    """Numbers with as few digits as tell each from the next, if it differs; `most` digits at the most."""
    given = [float(value) for value in values]
    for digits in range(4, most + 1):
        texts = [short(value, digits) for value in given]
        if all(a != b or one == other for (a, b), (one, other) in zip(pairwise(texts), pairwise(given), strict=True)):
            break
    return texts


def png(picture: np.ndarray, *, least: float = 0.0, most: float | None = None) -> str:
    """A matrix in grey levels, from white for `least` to black for `most`, as a data URI; of both signs, blue and red."""
    picture = np.asarray(picture, dtype=float)
    peak = float(np.abs(picture).max()) if most is None else most
    peak = peak if peak > 0 else 1.0
    if picture.min() < 0:
        share = np.clip(picture / peak, -1, 1)[..., None]
        red, blue = np.array([178, 24, 43]), np.array([33, 102, 172])
        pixels = np.where(share >= 0, 255 + share * (red - 255), 255 - share * (blue - 255))
        return encoded(np.rint(pixels).astype(np.uint8), colour=True)
    return encoded(np.rint(255 * (1 - np.clip((picture - least) / (peak - least or 1.0), 0, 1))).astype(np.uint8), colour=False)


def overlaid(background: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Pixels of values from 0 to 1 in red, the larger the less transparent, over a background from 0 to 1 in grey; NaN is white."""
    grey = np.where(np.isnan(background), 255, 232 - 120 * np.nan_to_num(background))
    share = np.sqrt(np.clip(values, 0, 1))[..., None]
    return np.rint(grey[..., None] * (1 - share) + np.array([190, 20, 30]) * share).astype(np.uint8)


def encoded(pixels: np.ndarray, *, colour: bool) -> str:
    """Pixels of eight bits as PNG, in a data URI."""
    height, width = pixels.shape[:2]
    rows = pixels.reshape(height, -1)
    content = np.hstack([np.zeros((height, 1), dtype=np.uint8), rows]).tobytes()

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2 if colour else 0, 0, 0, 0)
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(content, 9)) + chunk(b"IEND", b"")
    return f"data:image/png;base64,{base64.b64encode(file).decode()}"
