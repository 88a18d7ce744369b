"""
Learning from a stream
======================

``partial_fit`` takes samples in batches and forgets them. The components after one pass are
compared with those of a fit to all samples.
"""

import matplotlib.pyplot as plt

from nonneg import OPNMF
from nonneg.datasets import make_parts
from nonneg.selection import match_components

planted = make_parts(1200, 60, 6, noise=0.5, random_state=0)
stream, similarity, seen = OPNMF(6, random_state=0), [], []
for first in range(0, 1200, 60):
    stream.partial_fit(planted.data[first : first + 60])
    similarity.append(match_components(planted.parts, stream).similarity.min())
    seen.append(first + 60)
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.plot(seen, similarity, "o-")
axes.set(xlabel="samples seen", ylabel="least cosine with a planted part")
