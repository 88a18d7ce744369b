"""Docstrings as reStructuredText: names of attributes and absolute values are no markup, references are a list."""

import inspect
import re
from typing import Any

from sphinx.application import Sphinx


def as_markup(app: Sphinx, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", "..")):
            line = re.sub(r"(?<=\w)_(?=[,)])(?=[^`]*$)", r"\\_", line)
        line = re.sub(r"(?<!\S)\|(?=\d)", r"\\|", line)
        lines[i] = line
    if "References" in lines:
        start = lines.index("References") + 2
        for i in range(start, len(lines)):
            if not lines[i].strip():
                break
            if not lines[i].startswith(".."):
                lines[i] = ("  " if lines[i].startswith(" ") else "- ") + lines[i].strip()


def as_called(app: Sphinx, what: str, name: str, found: Any, options: Any, signature: str | None, returned: str | None) -> Any:
    """The parameters of an estimator are those of its `__init__`; autodoc shows `__new__`'s, which are any."""
    if signature != "(*args, **kwargs)" or what != "class":
        return None
    parameters = [one.replace(annotation=one.empty) for one in inspect.signature(found).parameters.values()]
    return str(inspect.Signature(parameters)), returned


def skip_other_libraries(app: Sphinx, what: str, name: str, found: Any, skip: bool, options: Any) -> bool | None:
    """Leave out members that Python and scikit-learn have and document, but for those that everybody looks for."""
    module = getattr(found, "__module__", None)
    if module is None and getattr(found, "__objclass__", None) in (str, float, dict, list, tuple):
        return True
    if str(module).startswith(("sklearn", "builtins", "enum")) and name not in ("fit_transform", "get_params", "set_params"):
        return True
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", as_markup, priority=400)  # before numpydoc
    app.connect("autodoc-process-signature", as_called)
    app.connect("autodoc-skip-member", skip_other_libraries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
