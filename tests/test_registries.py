"""Where a new part must appear: each name of a registry, in every place that lists the names of its kind.

Lists that can follow from the registry do (command line, fuzzer, strategies); these are the others. A missing name fails with the
place where it is to be written.
"""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import nonneg
from nonneg import constraints, divergences, estimators, files, selection, solvers
from nonneg.selection import criteria
from nonneg.solve import initialization
from nonneg.solve import solvers as engine_solvers

ROOT = Path(__file__).parents[1]
CATALOGUE = "papers/src/nonneg_papers/catalogue.py"


def text(path):
    return (ROOT / path).read_text(encoding="utf8")


def braces(function, parameter):
    """Names that a docstring lists in braces for a parameter."""
    found = re.search(rf"^ *{parameter} : .*?\{{(.*?)\}}", inspect.getdoc(function), re.MULTILINE)
    return re.findall(r'"([\w-]+)"', found[1]) if found else []


def subclasses(module, *bases):
    """Names of the classes in a module that are of a kind, without its base classes."""
    found = [cls for cls in vars(module).values() if inspect.isclass(cls) and issubclass(cls, bases) and cls not in bases]
    return [cls.__name__ for cls in found]


DIVERGENCES = subclasses(divergences, divergences.Objective, divergences.Divergence)
CONSTRAINTS = subclasses(constraints, constraints.Constraint)
SOLVERS = subclasses(engine_solvers, engine_solvers.Solver)
CRITERIA = subclasses(criteria, criteria.Criterion)
FORMULAE = [name for name in DIVERGENCES if name not in ("WeightedSum", "Trace")]
ESTIMATORS = [name for name in estimators.__all__ if name != "Orthogonality"]
OF_PAPERS = [name for name in ESTIMATORS if name not in ("ConsensusNMF", "IntegrativeNMF")]
API = set(re.findall(r"\w+", text("docs/reference/api.rst")))
INITS = {
    path.relative_to(ROOT): re.findall(r'"([\w-]+)"', line)
    for path in [ROOT / "src/nonneg/factorization.py", *sorted((ROOT / "src/nonneg/estimators").glob("*.py"))]
    for line in re.findall(r"^ *init : \{(.*?)\}", path.read_text(encoding="utf8"), re.MULTILINE)
}
"""Lists of initializations in docstrings; estimators without one have that of their base class."""
ENDINGS = [kind.suffixes[0] for kind in files.KINDS if kind.suffixes]
MODULES = (nonneg.cells, nonneg.coclusters, nonneg.datasets, nonneg.metrics, nonneg.neuro, nonneg.plot, selection, nonneg.text)
FUNCTIONS = [name for module in MODULES for name in module.__all__ if callable(getattr(module, name))]

OF_ESTIMATORS = [f"tests/estimators/{name}.py" for name in ("cases", "test_discriminants", "test_integrative")]
PENALTIES = sorted({*CONSTRAINTS} - {type(one).__name__ for one in constraints.NAMES.values()} - {"Direction", "Support"})
"""Constraints with settings; those left out are tested with the objectives and the estimator that use them."""
OF_PENALTIES = text("tests/constraints/test_penalties.py")
OF_FILES = "".join(path.read_text(encoding="utf8") for folder in ("io", "neuro") for path in (ROOT / "tests" / folder).glob("*.py"))

PLACES = {
    "divergence": [
        (DIVERGENCES, "nonneg.divergences.__all__", divergences.__all__),
        (FORMULAE, "nonneg.divergences.FAMILIES, from which tests draw", [family.__name__ for family in divergences.FAMILIES]),
        (FORMULAE, "docs/guide/divergences.md", text("docs/guide/divergences.md")),
        (DIVERGENCES, "docs/reference/api.rst", API),
    ],
    "constraint": [
        (CONSTRAINTS, "nonneg.constraints.__all__", constraints.__all__),
        (CONSTRAINTS, "docs/reference/api.rst", API),
        (PENALTIES, "tests/constraints/test_penalties.py: no name stands for it, so that other tests draw it", OF_PENALTIES),
    ],
    "solver": [
        (SOLVERS, "nonneg.solve.solvers.__all__, in src/nonneg/solve/solvers/__init__.py", engine_solvers.__all__),
        (SOLVERS, "docs/reference/api.rst", API),
        (solvers.NAMES, "the docstring of factorize, solver", braces(nonneg.factorize, "solver")),
    ],
    "initialization": [(initialization.NAMES, f"{path}, in the docstring, init", names) for path, names in INITS.items()],
    "estimator": [
        (ESTIMATORS, "nonneg.__all__", nonneg.__all__),
        (OF_PAPERS, f"{CATALOGUE}, the table of methods", text(CATALOGUE)),
        (ESTIMATORS, "docs/start/which-model.md", text("docs/start/which-model.md")),
        (ESTIMATORS, "docs/reference/api.rst", API),
        (ESTIMATORS, "tests/estimators", "".join(map(text, OF_ESTIMATORS))),
    ],
    "public name": [
        (
            [name for name in nonneg.__all__ if not inspect.ismodule(getattr(nonneg, name))],
            "docs/reference/api.rst",
            API,
        ),
        (FUNCTIONS, "docs/reference/api.rst, of modules", API),
    ],
    "criterion": [
        (CRITERIA, "nonneg.selection.criteria.__all__", criteria.__all__),
        (CRITERIA, "nonneg.selection.criteria.NAMES", [cls.__name__ for cls in criteria.NAMES.values()]),
        (CRITERIA, "docs/reference/api.rst", API),
        (criteria.NAMES, "docs/guide/ranks.md", text("docs/guide/ranks.md")),
        (criteria.NAMES, "the docstring of rank_scan, criteria", inspect.getdoc(selection.rank_scan)),
    ],
    "kind of file": [
        (ENDINGS, "docs/reference/command-line.md", text("docs/reference/command-line.md")),
        (ENDINGS, "tests/io or tests/neuro", OF_FILES),
    ],
}
CASES = [(kind, names, where, found) for kind, places in PLACES.items() for names, where, found in places]


@pytest.mark.parametrize(("kind", "names", "where", "found"), CASES, ids=[f"{kind} in {where}" for kind, _, where, _ in CASES])
def test_every_part_is_listed(kind, names, where, found):
    missing = [name for name in names if name not in found]
    assert not missing, f"Not listed in {where}: the {kind} {', '.join(missing)}."


def test_every_number_has_a_sentence():
    spec = importlib.util.spec_from_file_location("constants", ROOT / "docs/_ext/constants.py")
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    found = list(extension.numbers())
    assert len(found) > 200
    makers = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    unknown = [
        f"{number.module}: {number.name}, {number.by}, {number.on}" for number in found if number.by and number.by not in makers
    ]
    assert not unknown, f"Numbers tuned by what is no file of benchmarks/: {unknown}"
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\d", number.on) for number in found if number.by)
    assert sum(bool(number.by) for number in found) > 100
    silent = [f"{number.module}: {number.name} = {number.value}" for number in found if not number.decides]
    assert not silent, f"Constants without a sentence below them: {', '.join(silent)}."
