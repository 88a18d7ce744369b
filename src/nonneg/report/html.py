"""Pages as HTML: one file, which fetches nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..exceptions import needed
from ..io.atomic import written_whole
from ..version import __version__
from .blocks import Section

_FOLDER = Path(__file__).parent


def write_page(path: Any, title: str, lead: str, sections: Mapping[str, Section]) -> None:
    """Write a page of sections, with links to them."""
    jinja = needed("jinja2", "plot", "A report")
    templates = jinja.Environment(loader=jinja.FileSystemLoader(_FOLDER), autoescape=True, trim_blocks=True)
    style = (_FOLDER / "style.css").read_text(encoding="utf8")
    text = templates.get_template("page.html").render(title=title, lead=lead, sections=sections, style=style, version=__version__)
    with written_whole(path) as unfinished:
        unfinished.write_text(text, encoding="utf8")
