"""
Topics of documents
===================

A pipeline of scikit-learn's vectorizer and `nonneg.NMF` with the I-divergence, which suits counts.
The documents are generated from three lists of words.
"""

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from nonneg import NMF, plot, text

rng = np.random.default_rng(0)
sky = ["star", "planet", "orbit", "telescope", "moon", "galaxy", "light", "comet", "sun"]
kitchen = ["bread", "oven", "flour", "salt", "butter", "sugar", "bake", "dough", "light"]
match = ["goal", "team", "player", "coach", "ball", "score", "league", "win", "season"]
documents = []
for _ in range(200):
    mixture = rng.dirichlet([0.2, 0.2, 0.2])
    documents.append(" ".join(str(rng.choice((sky, kitchen, match)[rng.choice(3, p=mixture)])) for _ in range(30)))

pipeline = make_pipeline(CountVectorizer(), NMF(3, divergence="kl", random_state=0)).fit(documents)
print(text.topics(pipeline, X=documents, count=5))

# %%

words = pipeline[0].get_feature_names_out()
plot.top_features(pipeline[-1], words)
