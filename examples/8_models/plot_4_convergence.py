"""
Two solvers
===========

The same model, minimised by coordinate descent (the default) and by the multiplicative rule of Lee
and Seung.
"""

import matplotlib.pyplot as plt

from nonneg import NMF
from nonneg.datasets import make_faces

X = make_faces(150, random_state=0).images[:, ::2, ::2].reshape(150, -1)
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
for solver in ("coordinate", "multiplicative"):
    history = NMF(12, solver=solver, max_iter=400, tol=0, init="random", random_state=0).fit(X).history_
    axes.semilogy(history.iteration, history.objective, label=solver)
axes.set(xlabel="iteration", ylabel="objective")
axes.legend()
