"""Imports: no heavy library by default, and inside the library only from lower layers."""

import ast
import importlib
import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import nonneg
from nonneg.constraints import Constraint
from nonneg.divergences import Objective as Comparison

SOURCE = Path(nonneg.__file__).parent

LAYERS = [
    ("exceptions", "version"),
    ("kernels",),
    ("io",),
    ("data",),
    ("files", "coclusters"),
    ("algebra",),
    ("divergences", "constraints"),
    ("planning",),
    ("references",),
    ("model",),
    ("metrics",),
    ("plot",),
    ("report",),
    ("solve",),
    ("reporting", "solvers"),
    ("objective",),
    ("factorization", "testing", "datasets"),
    ("estimators",),
    ("graph", "hmm"),
    ("selection",),
    ("neuro",),
    ("cells", "loading", "papers", "text"),
    ("__init__",),
    ("cli",),
    ("__main__",),
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
APART = {frozenset(("divergences", "constraints"))}
OPTIONAL = ("torch", "dask", "distributed", "matplotlib", "cupy", "networkx", "pandas", "jax", "h5py", "zarr", "pyarrow")
OPTIONAL += ("nibabel", "nilearn", "PIL", "click", "rich", "jinja2")


def unit_of(path):
    """The layer's member that a file belongs to: a package of the library, or a module."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path):
    """The members of the library that a file imports from, wherever in the file."""
    package = ("nonneg", *path.relative_to(SOURCE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            modules = [module] if module != "nonneg" else [f"nonneg.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (module.split(".")[1] for module in modules if module.startswith("nonneg."))


FILES = sorted(SOURCE.rglob("*.py"))


def test_every_module_has_a_layer():
    assert {unit_of(path) for path in FILES} <= LEVEL.keys()
    assert len(FILES) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imports_point_downwards(path):
    own = unit_of(path)
    for other in set(imports(path)) - {own}:
        assert LEVEL[other] <= LEVEL[own], f"{own} is below {other}, but imports it"
        assert frozenset((own, other)) not in APART, f"{own} and {other} do not know each other"


def named(path):
    """The whole names of what a file imports: nonneg.data.base.Data."""
    package = ("nonneg", *path.relative_to(SOURCE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            yield from (".".join(filter(None, (base, node.module, alias.name))) for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_no_package_imports_the_privates_of_another(path):
    own = unit_of(path)
    for name in named(path):
        unit, *rest = name.removeprefix("nonneg.").split(".")
        if name.startswith("nonneg.") and unit != own:
            private = [part for part in (unit, *rest) if part.startswith("_") and not part.endswith("__")]
            assert not private, f"{own} imports {name}"


def below(kind):
    """Names of the subclasses of a class in the library, as far down as classes go."""
    package = importlib.import_module(".".join(kind.__module__.split(".")[:2]))
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    found, left = set(), [kind]
    while left:
        own = [kind for kind in left.pop().__subclasses__() if kind.__module__.startswith("nonneg.")]
        found |= {kind.__name__ for kind in own}
        left += own
    return found


def kinds():
    """Names of all kinds of data and of weights."""
    weights = nonneg.data.weighted
    return below(nonneg.data.Data) | {name for name in weights.__all__ if isinstance(getattr(weights, name), type)}


KINDS = kinds()


def test_all_kinds_are_known():
    assert {"DenseData", "SparseData", "FileBlocks", "DaskBlocks", "TransposedData", "PairWeighted", "Pair"} <= KINDS
    assert len(KINDS) >= 19


def test_data_have_no_flags():
    """A kind of data declares all that others choose by in its `costs`; other attributes are what they name, or None."""
    things = {"namespace", "shape", "costs", "feature_names", "log", "origin", "in_blocks", "cache", "seen"}
    assert set(nonneg.data.Data.__annotations__) == things


def test_data_have_few_methods():
    """What one kind overrides, or few call, is a function beside the class."""
    methods = [name for name, what in vars(nonneg.data.Data).items() if callable(what) or isinstance(what, property)]
    assert len([name for name in methods if not name.startswith("_")]) <= 18


def asked_for(node):
    """Names of classes that an expression tells objects by: isinstance, a pattern, or a comparison of types."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, classes]):
            asked = [classes]
        case ast.MatchClass(cls=asked_class):
            asked = [asked_class]
        case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=classes):
            asked = classes
        case _:
            asked = []
    names = [name for part in asked for name in ast.walk(part)]
    return {getattr(name, "id", getattr(name, "attr", None)) for name in names}


@pytest.mark.parametrize(
    "code", ["isinstance(X, np.ndarray | DenseData)", "type(X) is data.DenseData", "match X:\n case DenseData(): pass"]
)
def test_questions_are_seen(code):
    assert any("DenseData" in asked_for(node) for node in ast.walk(ast.parse(code)))


def inside(path, *units):
    return unit_of(path) in units


@pytest.mark.parametrize(
    "path", [path for path in FILES if not inside(path, "data", "kernels")], ids=lambda path: path.relative_to(SOURCE).as_posix()
)
def test_only_the_data_know_their_kind(path):
    """Nobody outside the data asks for a kind of data or of weights, nor for the library of arrays."""
    tree = ast.parse(path.read_text(encoding="utf8"))
    for node in ast.walk(tree):
        asked = asked_for(node) & KINDS
        assert not asked, f"line {node.lineno} asks for {asked}, a kind of data or weights"
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            text = ast.unparse(node)
            assert text.split(" is ")[-1].removeprefix("not ") != "np", f"line {node.lineno}: {text}"


PARTS = below(Comparison) | below(Constraint)


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if not inside(path, "divergences", "constraints", "testing")],  # `testing` has formulas of its own
    ids=lambda path: path.relative_to(SOURCE).as_posix(),
)
def test_no_class_of_divergence_or_constraint_is_asked_for(path):
    """Others ask for a property, such as `is_quadratic`, named for what it means."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        asked = asked_for(node) & PARTS
        assert not asked, f"line {node.lineno} asks for {asked}"
        made = [part for part in ast.walk(node) if isinstance(part, ast.Call)] if isinstance(node, ast.Compare) else []
        compared = {getattr(call.func, "id", None) for call in made} & PARTS
        assert not compared, f"line {node.lineno} compares with {compared}"


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if inside(path, "algebra", "planning", "solve", "constraints", "divergences")],
    ids=lambda path: path.relative_to(SOURCE).as_posix(),
)
def test_the_engine_knows_no_sparse_arrays(path):
    assert not [name for name in named(path) if name.startswith("scipy.sparse")]


def test_no_two_modules_import_each_other():
    edges = {(unit_of(path), other) for path in FILES for other in imports(path)}
    assert not [edge for edge in edges if edge[0] != edge[1] and edge[::-1] in edges]


def test_the_reader_of_imports_reads_imports():
    """Lest the tests above pass because nothing is found."""
    assert {"solve", "constraints"} <= set(imports(SOURCE / "factorization.py"))
    assert {"algebra", "exceptions"} <= set(imports(SOURCE / "constraints" / "stochastic.py"))
    assert {"nonneg.kernels.namespace.Array", "numpy"} <= set(named(SOURCE / "solve" / "problem.py"))


def fresh(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=False)


def test_importing_the_library_imports_no_optional_one():
    done = fresh(f"import sys, nonneg; print([name for name in {OPTIONAL!r} if name in sys.modules])")
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_a_factorization_needs_no_optional_library():
    done = fresh(
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({OPTIONAL!r}))\n"
        "import numpy as np, nonneg\n"
        "print(nonneg.factorize(np.ones((3, 3)), 'W H', 1, random_state=0).status)"
    )
    said = [line for line in done.stderr.splitlines() if not line.startswith("nonneg: compiled the kernel")]
    assert (done.stdout.strip(), said) == ("converged", [])


def test_modules_that_need_torch_are_left_out_of_doctests():
    """pytest imports every module of the source for its doctests; without PyTorch these would end the run."""
    ignored = (SOURCE.parent.parent / "pyproject.toml").read_text()
    needing = [
        path for path in SOURCE.rglob("*.py") if re.search(r"^(import|from) (torch|triton)\b", path.read_text(), re.MULTILINE)
    ]
    assert needing
    assert not [path for path in needing if f"--ignore=src/nonneg/{path.relative_to(SOURCE)}" not in ignored]


def test_all_names_exist():
    assert set(dir(nonneg)) == {*nonneg.__all__, "__version__"}
    for name in nonneg.__all__:
        found = getattr(nonneg, name)
        if isinstance(found, ModuleType):
            assert [one for one in found.__all__ if not hasattr(found, one)] == [], name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imported_names_exist(path):
    """Also inside functions, which no import of the module runs."""
    for name in {name.removesuffix(".*") for name in named(path) if name.startswith("nonneg.")}:
        module, _, last = name.rpartition(".")
        missing = None
        try:
            found = importlib.import_module(module)
        except ImportError as error:
            missing = error.name or "nonneg"
        if missing is None:
            assert last == "*" or hasattr(found, last) or importlib.util.find_spec(name), name
        else:  # a library that is not installed
            assert not missing.startswith("nonneg"), name
