"""The announcement of a compiled kernel: kept on disk only if it is; and silence."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys

import pytest

from nonneg.kernels import blocks, chains, coordinates, everywhere, moves, newton, sampled, sums, swaps

COMPILE = """
import numpy as np
from nonneg.kernels import compiler, sums
compiler._LONG = 0.0
print(sums.plain_sums(np.eye(3)))
"""
NOWHERE = "import numba.core.caching as c; c.CacheImpl._locator_classes = []"
FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"


def run_with(folder, before=""):
    """Compile a kernel in a process of its own; what it says."""
    run = subprocess.run(
        [sys.executable, "-c", f"{before}\n{COMPILE}"],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout == "(3, 3.0, 3.0)\n"
    return run.stderr


def test_a_kernel_that_is_kept(tmp_path):
    said = run_with(tmp_path)
    assert said.startswith("nonneg: compiled the kernel plain_sums in")
    assert said.endswith("s; it is kept for the next time.\n")
    assert list(tmp_path.rglob("*.nbc"))
    assert run_with(tmp_path) == ""


def test_silently(tmp_path):
    """As commands with --quiet compile."""
    before = "from nonneg.kernels.compiler import compiling_silently; silence = compiling_silently(); silence.__enter__()"
    assert run_with(tmp_path, before) == ""


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(NOWHERE, id="no folder"),
        pytest.param(FULL, id="a full disk", marks=pytest.mark.skipif(os.name == "nt", reason="no limit on the size of files")),
    ],
)
def test_a_kernel_that_cannot_be_kept(before, tmp_path):
    """It is used all the same, and the message says how it could be kept. On a full disk numba would raise OSError."""
    for _ in range(2):
        said = run_with(tmp_path, before)
        assert said.startswith("nonneg: compiled the kernel plain_sums in")
        assert "it is not kept" in said
        assert "NUMBA_CACHE_DIR" in said
        assert not list(tmp_path.rglob("*.nb?"))


@pytest.mark.parametrize("module", [blocks, chains, coordinates, everywhere, moves, newton, sampled, sums, swaps])
def test_kernels_copy_and_add_arrays_in_loops(module):
    """A slice that is assigned an array, and an array that is added in place, bring numba's message about shapes with them."""
    tree = ast.parse(inspect.getsource(module))
    assigned = [(node.targets[0], node.value) for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    pairs = [pair for target, value in assigned for pair in _pairs(target, value)]
    slices = [ast.unparse(target) for target, value in pairs if _has_slice(target) and not isinstance(value, ast.Constant)]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Call)]
    products = [ast.unparse(node) for node in calls if ast.unparse(node.value.func) == "np.dot"]
    assert slices + products == []


@pytest.mark.parametrize("module", [blocks, chains, coordinates, everywhere, moves, newton, sampled, sums, swaps])
def test_pieces_of_kernels_are_inlined(module):
    """A kernel that another one calls is a weak symbol: its bits would depend on the process's other compilations."""
    kernels = {node.name: node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.FunctionDef)}
    separate = {name for name, node in kernels.items() if "compiled" in map(ast.unparse, node.decorator_list)}
    called = {ast.unparse(node.func) for name in separate for node in ast.walk(kernels[name]) if isinstance(node, ast.Call)}
    assert separate & called == set()


def _pairs(target, value):
    both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
    return zip(target.elts, value.elts, strict=True) if both else [(target, value)]


def _has_slice(target):
    return isinstance(target, ast.Subscript) and any(isinstance(node, ast.Slice) for node in ast.walk(target.slice))
