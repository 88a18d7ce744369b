"""Other packages' own tests, run on our estimators.

A test module of a peer is executed anew, while the names it imports stand for adapters of ours; what it then defines as tests is
collected by pytest from the module here that asks for it. Nothing of theirs is copied. A module here may name `BY_DESIGN`: patterns
of test ids, with the exception that such a test ends with, and why. It must fail then, with that exception (xfail, strict), and
each pattern must match some test; see conftest. `not_ours` are tests that touch nothing of ours, and are left out.
"""

import contextlib
import importlib.util
import os
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest


def their_tests(path, patches, also=None, not_ours=(), package=None):
    """The tests of a file, with {"package.name": ours} in force while it is imported, and `also` set in it afterwards."""
    name = f"{package or 'their'}.{Path(path).stem}__on_nonneg"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    with contextlib.ExitStack() as stack:
        stack.enter_context(np.errstate())  # they may set what NumPy warns of, for good
        for target, ours in patches.items():
            stack.enter_context(mock.patch(target, ours))
        sys.modules[name] = module
        spec.loader.exec_module(module)
    vars(module).update(also or {})
    return {key: value for key, value in vars(module).items() if key.startswith(("test_", "Test")) and key not in not_ours}


def installed_file(package, *parts):
    """A file of an installed package, or a skip that says what is missing."""
    try:
        module = __import__(package)
    except ImportError:
        pytest.skip(f"{package} is not installed", allow_module_level=True)
    path = Path(module.__file__).parent.joinpath(*parts)
    if path.exists():
        return path
    checkout = os.environ.get("NONNEG_PEER_TESTS")
    other = Path(checkout or "").joinpath(package, *parts)
    if not checkout or not other.exists():
        pytest.skip(
            f"{package} is installed without {'/'.join(parts)}; set NONNEG_PEER_TESTS to where it is",
            allow_module_level=True,
        )
    return other
