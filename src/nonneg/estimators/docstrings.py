"""Docstrings of estimators: a text about a parameter or an attribute stands once, on the first class that has it.

An entry without a type, such as ``init`` with a text of its own below it, has the type and default of the base class.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import TypeVar

C = TypeVar("C", bound=type)
_TITLE = re.compile(r"([A-Z][A-Za-z ]+)\n-{3,}\n")


def documented(cls: C) -> C:
    """Complete the parameters and attributes in the docstring of a class by those of its bases, so that `help` shows them all.

    Parameters come in the order of the signature, without those that the class does not take. Attributes of the class come first;
    one named after a parameter of a base, as `n_components_`, goes with it.
    """
    if cls.__doc__ is None:  # as under python -OO
        return cls
    sections = dict(_sections(cls.__doc__))
    own = {title: _entries(sections.get(title, "")) for title in ("Parameters", "Attributes")}
    for base in cls.__mro__[1:]:
        if base.__module__.startswith("nonneg.") and base.__doc__:
            of_base = _sections(base.__doc__)
            for title, entries in own.items():
                for name, text in _entries(of_base.get(title, "")).items():
                    entries[name] = _with_type(entries.get(name, text), text)
    known, taken = own["Parameters"], inspect.signature(cls).parameters
    own["Parameters"] = {name: known[name] for name in taken if name in known}
    own["Attributes"] = {name: text for name, text in own["Attributes"].items() if name[:-1] not in known.keys() - taken.keys()}
    filled = {title: "\n".join(entries.values()) for title, entries in own.items()}
    first = sections.pop("")
    sections = filled | {title: text for title, text in sections.items() if title not in filled}
    cls.__doc__ = "\n\n".join([first, *(f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items())]) + "\n"
    return cls


@cache
def _sections(text: str) -> dict[str, str]:
    """The sections of a docstring by title; the text before them by ""."""
    parts = re.split(rf"\n\n(?={_TITLE.pattern.replace('(', '(?:', 1)})", inspect.cleandoc(text))
    titles = [_TITLE.match(part) for part in parts]
    return {found[1] if found else "": part[found.end() :] if found else part for found, part in zip(titles, parts, strict=True)}


def _entries(section: str) -> dict[str, str]:
    """The entries of a section by name."""
    entries = [entry.rstrip() for entry in re.split(r"\n(?=\S)", section) if entry.strip()]
    return {entry.partition("\n")[0].partition(" :")[0]: entry for entry in entries}


def _with_type(entry: str, of_base: str) -> str:
    """An entry; one without a type gets the first line of the same entry of a base class."""
    first, line, text = entry.partition("\n")
    return entry if " :" in first else of_base.partition("\n")[0] + line + text
