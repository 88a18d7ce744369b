"""
Hidden states of a sequence
===========================

`nonneg.QNMFHMM` learns a hidden Markov chain from how often symbols follow each other. The sequence
is read once, whatever its length.
"""

from nonneg import QNMFHMM, plot
from nonneg.datasets import make_hidden_chain

chain = make_hidden_chain(3, 9, 20000, stay=0.6, random_state=0)
model = QNMFHMM(3, random_state=0).fit(chain.sequence)
print(model.transmat_.round(2))
plot.transitions(model)
