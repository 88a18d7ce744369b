"""
Which features tell classes apart
=================================

`nonneg.NonnegativeLDA` is Fisher's discriminant with weights of one sign. On scikit-learn's breast
cancer data ten of thirty features have a weight.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from nonneg import NonnegativeLDA

data = load_breast_cancer()
model = NonnegativeLDA().fit(data.data, data.target)
weights = model.components_[0] * data.data.std(axis=0)
used = weights.nonzero()[0]
used = used[abs(weights[used]).argsort()]
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.barh([data.feature_names[j] for j in used], weights[used])
axes.set_xlabel("weight × standard deviation")
