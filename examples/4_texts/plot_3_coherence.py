"""
Coherence: do the words of a topic occur together?
==================================================

`nonneg.text.coherence` is the mean normalised pointwise mutual information of a topic's words, from
−1 to 1. With too many topics, the last ones are made of noise, and it falls.
"""

import matplotlib.pyplot as plt
import numpy as np

from nonneg import NMF, text

rng = np.random.default_rng(0)
planted = rng.dirichlet(np.full(80, 0.05), 4)
mixtures = rng.dirichlet(np.full(4, 0.15), 300)
counts = np.array([rng.multinomial(40, mixture @ planted) for mixture in mixtures], dtype=float)

words = [f"word{j}" for j in range(80)]
numbers = range(2, 9)
least = []
for number in numbers:
    model = NMF(number, divergence="kl", random_state=0).fit(counts)
    topics = text.topics(model, words, X=counts, count=6)
    least.append(min(topic.coherence for topic in topics))
figure, axes = plt.subplots(figsize=(5, 3))
axes.plot(numbers, least, "o-")
axes.set(xlabel="number of topics", ylabel="least coherence")
