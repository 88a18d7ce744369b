"""Every public function and class documents the parameters of its signature, in numpydoc's form."""

import ast
import dataclasses
import inspect
import re
import textwrap
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from numpydoc.validate import validate

import nonneg
import nonneg_papers
from nonneg import (
    cells,
    coclusters,
    constraints,
    datasets,
    divergences,
    estimators,
    exceptions,
    files,
    graph,
    hmm,
    metrics,
    neuro,
    plot,
    report,
    reporting,
    selection,
    solvers,
    testing,
    text,
)
from nonneg.estimators import encoding
from nonneg.solve import initialization

MODULES = (nonneg, constraints, divergences, solvers, metrics, datasets, reporting, testing, initialization, estimators)
MODULES += (selection, selection.criteria, files, neuro, plot, report, nonneg_papers)
MODULES += (cells, coclusters, exceptions, graph, hmm, text)
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in MODULES
    for name in getattr(module, "__all__", ())
    if callable(getattr(module, name))
} | {
    "nonneg.encoding.encode": encoding.encode,
    "nonneg.methods": nonneg.methods,
}
ESTIMATORS = {name: getattr(estimators, name) for name in estimators.__all__ if name != "Orthogonality"}


def section(text, title):
    """The lines of one section of a docstring."""
    found = re.search(rf"\n{title}\n-+\n(.*?)(?:\n\n?[A-Z]\w+( \w+)?\n-+\n|\Z)", text, re.DOTALL)
    return found[1] if found else ""


def documented(text, title="Parameters"):
    """The names in a section of a docstring."""
    names = re.findall(r"^\*{0,2}(\w[\w, ]*?)(?: :|$)", section(text, title), re.MULTILINE)
    return [name for line in names for name in line.split(", ")]


def entries(text):
    """The entries of a section by name."""
    found = [entry.rstrip() for entry in re.split(r"\n(?=\S)", text) if entry.strip()]
    return {entry.partition(" :")[0]: entry for entry in found}


def test_there_is_something_to_check():
    assert len(PUBLIC) > 50
    assert documented(inspect.getdoc(nonneg.factorize))[:3] == ["X", "form", "rank"]
    assert documented(inspect.getdoc(nonneg.NMF), "Attributes")[0] == "components_"
    assert len(ESTIMATORS) == 21


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
        assert taken - set(listed) <= {"self", "_"} or len(listed) < 3, "a list of parameters is complete"


LEFT_OUT = {"ES01", "GL01"}
"""A second paragraph, and a summary on the second line, as early versions of numpydoc want it."""


@pytest.mark.parametrize("name", [name for name in PUBLIC if "initialization" not in name])
def test_numpydoc(name):
    """Every parameter is described in order, what is returned is said, there are a See Also and an example, in numpydoc's order."""
    thing = PUBLIC[name]
    is_record = inspect.isclass(thing) and not documented(inspect.getdoc(thing))  # its fields are explained one by one
    left_out = LEFT_OUT | ({"PR01"} if is_record else set())
    found = validate(f"{thing.__module__}.{thing.__qualname__}")["errors"]
    assert not [error for error in found if error[0] not in left_out]


def test_the_reference_has_every_public_name():
    """See Also leads nowhere on the site if a name has no page."""
    text, room, listed = (Path(__file__).parent.parent / "docs" / "reference" / "api.rst").read_text(), "", []
    for line in text.splitlines():
        if line.startswith(".. currentmodule:: "):
            room = line.split()[-1]
        elif re.fullmatch(r"   [\w.]+", line):
            listed.append(f"{room}.{line.strip()}")
    assert len(listed) == len(set(listed))
    pages = {id(attrgetter(name.removeprefix("nonneg."))(nonneg)) for name in listed}
    inner = ("nonneg_papers", "nonneg.solve.initialization", "nonneg.encoding")
    assert not [name for name, thing in PUBLIC.items() if id(thing) not in pages and not name.startswith(inner)]


def written(cls):
    """The docstring of a class as it stands in the source."""
    return ast.get_docstring(ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]) or ""


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_text_stands_once(name):
    """No class repeats what a base says about a parameter or an attribute, which its docstring is completed by."""
    cls = ESTIMATORS[name]
    for title in ("Parameters", "Attributes"):
        own = entries(section(written(cls), title))
        for base in [base for base in cls.__mro__[1:] if base.__module__.startswith("nonneg")]:
            of_base = entries(section(written(base), title))
            assert not [one for one in own if of_base.get(one) == own[one]], f"said by {base.__name__}"
            own = {one: text for one, text in own.items() if one not in of_base}


@pytest.mark.parametrize("name", ESTIMATORS)
class TestEstimators:
    def test_parameters(self, name):
        text = inspect.getdoc(ESTIMATORS[name])
        assert documented(text) == list(inspect.signature(ESTIMATORS[name]).parameters)
        assert not re.search(r"\{[A-Z_]+\}", text), "every place in braces is filled"
        assert ">>> " in text, "has an example"

    def test_defaults(self, name):
        """The docstring's defaults are those of the signature."""
        text = section(inspect.getdoc(ESTIMATORS[name]), "Parameters")
        for parameter in inspect.signature(ESTIMATORS[name]).parameters.values():
            said = re.search(rf"^{parameter.name} : .*default=(.+)$", text, re.MULTILINE)
            assert said, f"{parameter.name} has a default"
            assert eval(said[1]) == parameter.default

    def test_attributes(self, name):
        """What is said to be there after `fit` is, and nothing else ends in an underscore."""
        X = np.random.default_rng(0).random((9, 9)) + np.eye(9)
        number = "n_clusters" if "n_clusters" in inspect.signature(ESTIMATORS[name]).parameters else "n_components"
        parameters = {"random_state": 0} if "random_state" in inspect.signature(ESTIMATORS[name]).parameters else {}
        model = ESTIMATORS[name](**{number: 2}, **parameters).fit(X + X.T, np.arange(9) % 3)
        listed = documented(inspect.getdoc(ESTIMATORS[name]), "Attributes")
        assert len(listed) == len(set(listed)) > 3
        for attribute in listed:
            assert attribute == "feature_names_in_" or hasattr(model, attribute), f"{attribute} is missing"
        stored = {attribute for attribute in vars(model) if attribute.endswith("_") and not attribute.startswith("_")}
        assert stored - set(listed) <= {"X_fit_", "n_components_"}, (
            "what is stored is documented, but for what is of no use to others"
        )

    def test_methods(self, name):
        """Public methods of ours have docstrings, with the parameters they take."""
        for method, function in inspect.getmembers(ESTIMATORS[name], callable):
            if method.startswith("_") or not getattr(function, "__module__", "").startswith("nonneg"):
                continue
            text = inspect.getdoc(function)
            assert text, f"{method} has a docstring"
            assert set(documented(text)) == set(inspect.signature(function).parameters) - {"self"}, method
