"""
How many parts?
===============

`nonneg.selection.rank_scan` fits several numbers of components and measures the error on blocks of
samples and pixels that were held out. The faces are made of twelve parts.
"""

from nonneg import OPNMF
from nonneg.datasets import make_faces
from nonneg.selection import rank_scan

faces = make_faces(120, random_state=0)
X = faces.images[:, ::2, ::2].reshape(120, -1)
scan = rank_scan(OPNMF(), X, range(10, 15), random_state=0)
print(scan.best_)
print(scan.why_)
scan.plot()
