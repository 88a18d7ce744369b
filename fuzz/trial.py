"""One case under way: source that is drawn, run line by line and written down, so that a finding is a script to paste.

An area is a function of a `Trial`. It draws (`pick`, `integer`), sets up what a call needs (`let`), calls (`call`), and holds the
result against invariants (`check`). What was run so far is the reproducer.
"""

from __future__ import annotations

import contextlib
import io
import resource
import shutil
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import nonneg
import nonneg.estimators
import nonneg.graph
import nonneg.hmm
import nonneg.metrics

from .choices import Choices
from .errors import trouble_with

_IMPORTS = {
    "np.": "import numpy as np",
    "pd.": "import pandas as pd",
    "nx.": "import networkx as nx",
    "sparse.": "from scipy import sparse",
    "nonneg.": "import nonneg",
    "nonneg.graph.": "import nonneg.graph",
    "nonneg.selection.": "import nonneg.selection",
    "scipy.io.": "import scipy.io",
    "sklearn.": "import sklearn.base, sklearn.decomposition",
    "Path(": "from pathlib import Path",
    "tempfile.": "import tempfile",
    "da.": "import dask.array as da",
    "dask.": "import dask",
    "dd.": "import dask.dataframe as dd",
    "h5py.": "import h5py",
    "zarr.": "import zarr",
    "pa.": "import pyarrow as pa, pyarrow.parquet",
    "anndata.": "import anndata",
    "zlib.": "import zlib",
    "stored(": "from fuzz.files import stored",
    "swept(": "from fuzz.files import swept",
    "used(": "from fuzz.models import used",
    "resumed(": "from fuzz.models import resumed",
    "scanned(": "from fuzz.models import scanned",
    "CliRunner": "from click.testing import CliRunner; from nonneg.cli.app import app",
}
_MEMORY = 400_000
"""Kilobytes by which one call on data of this size may raise the most memory that the process ever had, compiling included."""


class Finding(Exception):  # noqa: N818
    """An invariant that does not hold."""

    def __init__(self, invariant: str, subject: str, what: str, script: str = "") -> None:
        super().__init__(what)
        self.invariant, self.subject, self.what, self.script = invariant, subject, what, script

    @property
    def key(self) -> tuple[str, str]:
        """What makes two findings the same."""
        return self.invariant, self.subject


class Refused(Exception):  # noqa: N818
    """A call was refused as it should be, and the case ends there."""


class Trial:
    """What is known of a case while it runs.

    Parameters
    ----------
    choices : Choices
    counts : Counter, optional
        Where calls, refusals, statuses and checks are counted.
    """

    def __init__(self, choices: Choices, counts: Counter[str] | None = None) -> None:
        self.pick, self.integer, self.one_in = choices.pick, choices.integer, choices.one_in
        self.counts: Counter[str] = Counter() if counts is None else counts
        self.namespace: dict[str, Any] = {"np": np, "sparse": sparse, "nonneg": nonneg}
        self.subject = ""
        self.is_weighed = True
        """Whether the memory that calls take is looked at, which takes a millisecond."""
        self._lines: list[str] = []
        self._kept: dict[str, Any] = {}
        self._folders: list[Path] = []

    def __getitem__(self, name: str) -> Any:
        return self.namespace[name]

    def offer(self, name: str, module: Any) -> None:
        """A module that source may name."""
        self.namespace[name] = module

    def folder(self, name: str = "folder") -> Path:
        """Make a folder for files, deleted after the case."""
        self.namespace |= {"Path": Path, "tempfile": tempfile}
        self._folders.append(self.let(name, "Path(tempfile.mkdtemp())"))
        return self._folders[-1]

    def close(self) -> None:
        """Delete the folders of the case."""
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    # ---- running

    def let(self, name: str, source: str) -> Any:
        """Set a variable. It must come out of every call as it went in."""
        self._lines.append(f"{name} = {source}")
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            self.namespace[name] = eval(source, self.namespace)
        self._kept[name] = _print_of(self.namespace[name])
        return self.namespace[name]

    def do(self, source: str, touched: str = "") -> None:
        """Run a statement before the call; it may change a variable."""
        self._lines.append(source)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            exec(source, self.namespace)
        if touched:
            self._kept[touched] = _print_of(self.namespace[touched])

    def call(
        self,
        source: str,
        name: str = "result",
        *,
        refusal: Iterable[str] | None = None,
        must_refuse: bool = False,
        same_as: str = "",
    ) -> Any:
        """One call of a public function or method, whose value goes by a name.

        Parameters
        ----------
        source : str
        name : str
        refusal : iterable of str, optional
            Words of which a refusal has to have one: the name of the parameter, or what the data are called.
        must_refuse : bool
            Whether there is nothing else to do with what is given.
        same_as : str, optional
            Source of a call that is the same but for where the data are: if that is accepted, this must not be refused.
        """
        self._lines.append(f"{name} = {source}")
        self.counts["calls"] += 1
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if self.is_weighed else 0
        with warnings.catch_warnings(record=True) as said, contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("always")
            try:
                value = eval(source, self.namespace)
            except Exception as error:
                self._refused(error, refusal)
                self.check("accepts", not same_as or self._is_refused(same_as), f"{error} Not refused: {same_as}")
                raise Refused from None
        self.check("refuses", not must_refuse, f"accepted what cannot be: {source}")
        raw = [warning for warning in said if issubclass(warning.category, RuntimeWarning)]
        self.check("no raw warnings", not raw, lambda: f"{raw[0].message} ({_place(raw[0].filename)}:{raw[0].lineno})")
        if self.is_weighed:
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            self.check("memory", grown < _MEMORY, f"took {grown // 1024} MB more memory than anything before")
        self.untouched()
        self.namespace[name] = value
        return value

    def _is_refused(self, source: str) -> bool:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            try:
                eval(source, self.namespace)
            except Exception:
                return True
        return False

    def _refused(self, error: Exception, words: Iterable[str] | None) -> None:
        self.counts["refusals"] += 1
        trouble = trouble_with(error, words)
        text = "".join(traceback.format_exception_only(error)).strip()
        where = next((f for f in reversed(traceback.extract_tb(error.__traceback__)) if "/nonneg/" in f.filename), None)
        origin = f"{_place(where.filename)}:{where.name}" if where else ""
        self.check("errors", not trouble, lambda: f"{trouble}: {text} ({origin}:{where.lineno if where else ''})", origin)
        self.untouched()

    # ---- checking

    def check(self, invariant: str, holds: Any, what: Any, subject: str | None = None) -> None:
        """Count an invariant, and make a finding where it does not hold; `what` may be a function, called if it is needed."""
        self.counts[f"checked {invariant}"] += 1
        if not holds:
            said = what() if callable(what) else what
            raise Finding(invariant, self.subject if subject is None else subject, said, self.script)

    def untouched(self) -> None:
        """Whatever was set is as it was set."""
        for name, print_ in self._kept.items():
            now = _print_of(self.namespace[name])
            self.check("untouched", now == print_, f"{name} was changed by the call")

    def note(self, what: str) -> None:
        """Count something that is no finding."""
        self.counts[what] += 1

    @property
    def script(self) -> str:
        body = "\n".join(self._lines)
        return "\n".join([line for word, line in _IMPORTS.items() if word in body] + ["", body])


def _place(filename: str) -> str:
    return filename.rsplit("/nonneg/", 1)[-1] if "/nonneg/" in filename else filename.rsplit("site-packages/", 1)[-1]


def _print_of(value: Any) -> Any:
    """Something that is equal for equal contents: bytes of arrays, whatever holds them."""
    if isinstance(value, dict):
        return {key: _print_of(item) for key, item in value.items()}
    if sparse.issparse(value):
        parts = [value.data, *(getattr(value, name) for name in ("indices", "indptr", "row", "col") if hasattr(value, name))]
        return [np.asarray(part).tobytes() for part in parts], value.shape
    if hasattr(value, "to_numpy"):
        return value.to_numpy().tolist(), list(value.columns) if hasattr(value, "columns") else None
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.tobytes(), value.shape, value.dtype.str
    return repr(value)
