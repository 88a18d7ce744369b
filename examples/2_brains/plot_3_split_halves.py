"""
Split-half reproducibility
==========================

Are the components there in other people too? The criterion "halves" fits both halves of the
subjects, matches the components, and reports the least similar pair.
"""

from nonneg import OPNMF
from nonneg.datasets import make_parts
from nonneg.selection import rank_scan

subjects = make_parts(120, 300, 6, noise=0.3, random_state=0).data
scan = rank_scan(OPNMF(), subjects, range(3, 10), criteria="halves", random_state=0)
print(scan.why_)
scan.plot()
