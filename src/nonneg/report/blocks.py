"""Blocks of a page: values without HTML, which page.html writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class Block:
    """Base of all blocks; page.html has a macro with the name of each kind."""

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Text(Block):
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Code(Block):
    """Lines of code or of a formula; `wraps` breaks long ones."""

    text: str
    wraps: bool = False


@dataclass(frozen=True)
class Facts(Block):
    """Names and values; empty values are left out."""

    known: Mapping[str, Any]


@dataclass(frozen=True)
class Notes(Block):
    """Warnings; without any, the text `otherwise`."""

    items: Sequence[str]
    otherwise: str = ""


@dataclass(frozen=True)
class Bar:
    """A cell of a table: a bar, by its share of the width."""

    share: float


@dataclass(frozen=True)
class Table(Block):
    """A table; the first cell of a row is its name."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Columns(Block):
    """Blocks side by side."""

    blocks: Sequence[Block]


@dataclass(frozen=True)
class Folded(Block):
    """A block that opens on a click."""

    title: str
    block: Block


@dataclass(frozen=True)
class Chart(Block):
    """Curves as SVG, with their description."""

    svg: str
    label: str


@dataclass(frozen=True)
class Picture(Block):
    """An image as a data URI; one of ink on paper is inverted where pages are dark."""

    source: str
    alt: str
    caption: str = ""
    is_ink: bool = False
    is_wide: bool = False


@dataclass(frozen=True)
class Gallery(Block):
    """Images of components."""

    pictures: Sequence[Picture]


@dataclass(frozen=True)
class Cut(Block):
    """A slice through a volume, with the letters of its left and right edge."""

    picture: Picture
    sides: tuple[str, str]


@dataclass(frozen=True)
class Volumes(Block):
    """Volumes by name, each with its slices."""

    volumes: Sequence[tuple[str, Sequence[Cut]]]


@dataclass(frozen=True)
class Section:
    """A heading and the blocks below it."""

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
