"""A page about a fit: one HTML file, with everything in it and nothing that it would have to fetch.

>>> import tempfile
>>> from pathlib import Path
>>> from sklearn.datasets import load_digits
>>> from nonneg import OPNMF
>>> X = load_digits().data
>>> path = Path(tempfile.mkdtemp()) / "digits.html"
>>> OPNMF(4, random_state=0).fit(X).report(path, X, shape=(8, 8))
>>> "<h1>" in path.read_text(encoding="utf8")
True
"""

from .page import write_report
from .ranks import write_rank_report

__all__ = ["write_rank_report", "write_report"]
