"""The directive ``numbers``: a table of the constants at module level."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from constants import numbers


class NumbersDirective(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        widths = (22, 18, 18, 60)
        group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in widths), cols=len(widths))
        group += nodes.thead("", _row("module", "name", "value", "decides"))
        group += nodes.tbody("", *(_row(*number) for number in numbers()))
        return [nodes.table("", group)]


def _row(*cells: str) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph(text=cell)) for cell in cells))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("numbers", NumbersDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
