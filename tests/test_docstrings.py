"""Every public function and class says what it takes: the parameters of its docstring are those of its signature."""

import dataclasses
import inspect
import re

import pytest

import nonneg
from nonneg import constraints, datasets, divergences, initialization, metrics, reporting, solvers, testing

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (nonneg, constraints, divergences, solvers, metrics, datasets, reporting, testing, initialization)
    for name in getattr(module, "__all__", ())
    if callable(getattr(module, name))
}


def documented(text):
    """The names in the section "Parameters" of a docstring."""
    section = re.search(r"\nParameters\n-+\n(.*?)(?:\n\n?[A-Z]\w+( \w+)?\n-+\n|\Z)", text, re.DOTALL)
    names = re.findall(r"^(\w[\w, ]*?)(?: :|$)", section[1], re.MULTILINE) if section else []
    return [name for line in names for name in line.split(", ")]


def test_there_is_something_to_check():
    assert len(PUBLIC) > 50
    assert documented(inspect.getdoc(nonneg.factorize))[:3] == ["X", "form", "rank"]


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring(name):
    thing = PUBLIC[name]
    text = inspect.getdoc(thing)
    assert text, "has a docstring"
    assert text.splitlines()[0].rstrip().endswith("."), "its first line is a sentence"
    listed = documented(text)
    if listed:
        fields = {field.name for field in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else set()
        taken = fields or set(inspect.signature(thing).parameters)
        assert set(listed) <= taken, "documents only what there is"
        assert taken - set(listed) <= {"self"} or len(listed) < 3, "a list of parameters is complete"
