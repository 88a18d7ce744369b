"""
Parts of handwritten digits
===========================

Sixteen strokes of which scikit-learn's digits are made.
"""

from nonneg import OPNMF, plot
from nonneg.datasets import load_digits

X = load_digits().data
model = OPNMF(16, random_state=0).fit(X)
plot.components(model, shape=(8, 8))
