"""The directive ``numbers``: the constants at module level, those that are tuned, or with ``:others:`` the others."""

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from constants import numbers


class NumbersDirective(SphinxDirective):
    option_spec = {"others": directives.flag}

    def run(self) -> list[nodes.Node]:
        others = "others" in self.options
        heads = ("module", "name", "value", "decides") if others else ("module", "name", "value", "decides", "set by", "on")
        rows = [number[: len(heads)] for number in numbers() if others != bool(number.by)]
        widths = (22, 18, 18, 60, 14, 12)[: len(heads)]
        group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in widths), cols=len(widths))
        group += nodes.thead("", _row(*heads))
        group += nodes.tbody("", *(_row(*row) for row in rows))
        return [nodes.table("", group)]


def _row(*cells: str) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph(text=cell)) for cell in cells))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("numbers", NumbersDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
