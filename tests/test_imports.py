"""What is imported by whom: no heavy library by default, and inside the library only from lower layers."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import nonneg

SOURCE = Path(nonneg.__file__).parent

LAYERS = [
    ("exceptions", "expression", "naming", "kernels"),
    ("rewriting", "majorization", "arrays"),
    ("divergences", "constraints"),
    ("references", "model"),
    ("shapes", "problem", "units"),
    ("initialization", "solution"),
    ("solvers",),
    ("factorization", "rayleigh", "testing", "reporting", "metrics", "datasets", "coclusters"),
    ("encoding",),
    ("estimators",),
    ("graph", "hmm"),
    ("catalogue",),
    ("__init__",),
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
APART = {frozenset(("divergences", "constraints"))}
OPTIONAL = ("torch", "dask", "matplotlib", "cupy", "networkx", "pandas", "jax")


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


def test_no_two_modules_import_each_other():
    edges = {(unit_of(path), other) for path in FILES for other in imports(path)}
    assert not [edge for edge in edges if edge[0] != edge[1] and edge[::-1] in edges]


def test_the_reader_of_imports_reads_imports():
    """Lest the tests above pass because nothing is found."""
    assert {"arrays", "model", "shapes", "solvers"} <= set(imports(SOURCE / "factorization.py"))
    assert {"expression", "majorization"} <= set(imports(SOURCE / "divergences" / "beta.py"))


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
    assert (done.stdout.strip(), done.stderr) == ("converged", "")


def test_all_names_exist():
    assert set(nonneg.__all__) <= set(dir(nonneg))
    for package in (nonneg.constraints, nonneg.divergences, nonneg.solvers):
        assert set(package.__all__) <= set(dir(package))
