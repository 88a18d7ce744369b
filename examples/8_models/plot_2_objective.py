"""
An objective of your own
========================

Smooth parts: NMF with a penalty on differences between neighbouring features, written as a formula.
`nonneg.Objective` differentiates it and finds rules under which it does not rise.
"""

import matplotlib.pyplot as plt
import numpy as np

from nonneg import Objective

rng = np.random.default_rng(0)
x = np.linspace(0, 1, 80)
bumps = np.exp(-(((x - np.array([[0.2], [0.5], [0.8]])) / 0.06) ** 2))
X = np.maximum(rng.gamma(1, 1, (30, 3)) @ bumps + 0.4 * rng.normal(size=(30, 80)), 0)
A = np.eye(80, k=1) + np.eye(80, k=-1)
D = np.diag(A.sum(axis=1))

figure, axes = plt.subplots(1, 2, figsize=(8, 2.6), layout="constrained", sharey=True)
for one, weight in zip(axes, (0, 30), strict=True):
    formula = f"½‖X − W H‖² + {weight} tr(H D H.T) − {weight} tr(H A H.T) + {weight / 100} tr(W.T W)"
    solution = Objective(formula, given={"X": X, "A": A, "D": D}).optimize({"W": (30, 3), "H": (3, 80)}, random_state=0)
    H = solution.factors["H"]
    one.plot(x, (H / np.linalg.norm(H, axis=1, keepdims=True)).T)
    one.set_title(f"penalty {weight}")
