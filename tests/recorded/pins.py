"""Results of pinned fits: bits of its factors, the course of its run, passes over X, peak memory; and the public signatures.

``python -m tests.recorded.pins`` compares this tree with pins.json, which holds for the machine and libraries it names.
``--write`` records this tree; ``--beside CHECKOUT`` compares it with another commit on this machine, whichever that is
(``git worktree add ../before COMMIT``). Parts of names select fits.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import inspect
import json
import os
import platform
import subprocess
import sys
import tempfile
import tracemalloc
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import nonneg

from .plain import PINS, run

FILE = Path(__file__).parent / "pins.json"
SIGNATURES = Path(__file__).parent / "signatures.json"
GOLDEN = Path(__file__).parent / "golden"
MEMORY = 1.1, 2**18
"""By what share, and by how many bytes beside it, the peak of memory may grow."""


def machine() -> str:
    """What bits depend on beside the code."""
    import llvmlite.binding
    import numba
    import scipy
    import sklearn
    from threadpoolctl import threadpool_info

    blas = sorted({f"{found.get('architecture')} {found.get('version')}" for found in threadpool_info()})
    versions = f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}, numba {numba.__version__}"
    return f"{llvmlite.binding.get_host_cpu_name()}, Python {platform.python_version()}, {versions}, {', '.join(blas)}"


def hash_of(arrays: Mapping[str, Any]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for name, array in sorted(arrays.items()):
        array = np.ascontiguousarray(array)
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def measure(name: str, peak: bool = False) -> dict[str, Any]:
    """Run a pinned fit and describe what it came to; with `peak`, run it again, all being compiled, to measure its memory."""
    with tempfile.TemporaryDirectory() as folder:
        found = run(name, Path(folder))
    history = getattr(found, "history_", getattr(found, "history", ()))
    told = {
        "iterations": getattr(found, "n_iter_", getattr(found, "n_iter", None)),
        "status": getattr(found, "status_", getattr(found, "status", None)),
        "solver": getattr(found, "solver_", getattr(found, "solver", None)),
        "passes": history[-1].readings if len(history) and hasattr(history[-1], "readings") else None,
    }
    return {
        "bits": hash_of(_arrays(found)),
        "course": hash_of({"objective": [record.objective for record in history]}) if len(history) else None,
        **{what: str(value) for what, value in told.items() if value is not None},
        **({"peak": _peak(name)} if peak else {}),
    }


def _peak(name: str) -> int:
    """Bytes that a fit allocates at most at one time."""
    with tempfile.TemporaryDirectory() as folder:
        tracemalloc.start()
        run(name, Path(folder))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def _arrays(found: Any) -> dict[str, Any]:
    factors = getattr(found, "factors_", getattr(found, "factors", None))
    if factors:
        return dict(factors)
    kept = {name: value for name, value in vars(found).items() if name.endswith("_") or not name.startswith("_")}
    return {name: value for name, value in kept.items() if isinstance(value, np.ndarray | float) and "time" not in name}


def difference(now: Mapping[str, Any], before: Mapping[str, Any]) -> str | None:
    """In what a fit differs from what was recorded; None where it does not."""
    differing = [
        f"{what} {now.get(what)}, was {before[what]}" for what in before if what != "peak" and now.get(what) != before[what]
    ]
    if now.get("peak", 0) > MEMORY[0] * before["peak"] + MEMORY[1]:
        differing.append(f"peak of memory {now['peak']}, was {before['peak']}")
    return "; ".join(differing) or None


# ---- signatures


def signatures() -> dict[str, str]:
    """The signature of every public function, class and method."""
    found: dict[str, str] = {}
    for name in nonneg.__all__:
        _add(found, name, getattr(nonneg, name))
    return dict(sorted(found.items()))


def _add(found: dict[str, str], name: str, what: Any) -> None:
    if inspect.ismodule(what):
        for inner in getattr(what, "__all__", ()):
            _add(found, f"{name}.{inner}", getattr(what, inner))
    elif inspect.isclass(what):
        found[name] = _signature(what)
        for inner, member in inspect.getmembers(what):
            if not inner.startswith("_") and callable(member) and not inspect.isclass(member):
                found[f"{name}.{inner}"] = _signature(member)
    elif callable(what):
        found[name] = _signature(what)


def _signature(what: Any) -> str:
    try:
        parameters = inspect.signature(what).parameters.values()
    except (TypeError, ValueError):
        return "built in"
    return ", ".join(str(parameter.replace(annotation=inspect.Parameter.empty)) for parameter in parameters)


# ---- golden files


def write_golden() -> None:
    """Write files of this version that later versions must read, or refuse with a sentence."""
    X = golden_data()
    GOLDEN.mkdir(exist_ok=True)
    for name, estimator in golden_models().items():
        estimator.fit(X).save(GOLDEN / f"{name}.nonneg")
        np.save(GOLDEN / f"{name}.npy", estimator.transform(X) if hasattr(estimator, "transform") else estimator.factors_["L"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of max_iter
        golden_fit(max_iter=20, checkpoint=GOLDEN / "checkpoint-2.nonneg")


def golden_data() -> np.ndarray:
    """Counts, whose sums are exact on every machine."""
    return np.random.default_rng(0).poisson(3.0, size=(20, 8)).astype(float)


def golden_models() -> dict[str, Any]:
    settings = {"random_state": 0, "max_iter": 200, "tol": 1e-4}
    return {
        "opnmf": nonneg.OPNMF(3, **settings),
        "nmf": nonneg.NMF(3, divergence="kullback-leibler", **settings),
        "biqnmf": nonneg.BiQNMF((2, 3), **settings),
    }


def golden_fit(**settings: Any) -> Any:
    return nonneg.NMF(3, solver="multiplicative", init="random", random_state=0, tol=0, **settings).fit(golden_data())


# ---- the command


def measured(names: Iterable[str], tell: bool = False) -> dict[str, Any]:
    found = {}
    for name in names:
        found[name] = measure(name, peak=True)
        if tell:
            print(f"{found[name]['bits']}  {name}", file=sys.stderr, flush=True)
    return found


def of_checkout(path: Path, names: list[str]) -> dict[str, Any]:
    """The same fits by the sources of a checkout."""
    environment = os.environ | {"PYTHONPATH": str(path.resolve() / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.recorded.pins", "--json", *names]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def write() -> None:
    FILE.write_text(json.dumps({"machine": machine(), "fits": measured(PINS, tell=True)}, indent=1, ensure_ascii=False) + "\n")
    write_signatures()


def write_signatures() -> None:
    SIGNATURES.write_text(json.dumps(signatures(), indent=1, ensure_ascii=False) + "\n")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of fits; all without")
    parser.add_argument("--write", action="store_true", help="record this tree")
    parser.add_argument("--signatures", action="store_true", help="record the signatures of public names only")
    parser.add_argument("--golden", action="store_true", help="write model and checkpoint files of this version")
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", help="compare with another commit, on this machine")
    parser.add_argument("--json", action="store_true", help="print what these fits come to")
    given = parser.parse_args(arguments)
    importlib.import_module("nonneg.estimators")
    names = [name for name in PINS if not given.names or any(part in name for part in given.names)]
    for asked, record in ((given.write, write), (given.signatures, write_signatures), (given.golden, write_golden)):
        if asked:
            record()
            return 0
    if given.json:
        print(json.dumps(measured(names)))
        return 0
    if given.beside is None:
        content = json.loads(FILE.read_text())
        if content["machine"] != machine():
            print(f"pins.json was recorded on {content['machine']}; this is {machine()}. Compare with --beside CHECKOUT.")
            return 2
        before = content["fits"]
    else:
        before = of_checkout(given.beside, names)
    now = measured(names)
    differing = {name: found for name in names if (found := difference(now[name], before[name])) is not None}
    for name, found in differing.items():
        print(f"{name}: {found}")
    print(f"{len(names)} fits, {len(differing)} differ")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
