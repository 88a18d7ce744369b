"""OPNMF beside the codes that people run: MATLAB's and R's, on the faces and from the start that they were given."""

from __future__ import annotations

import numpy as np

from nonneg import OPNMF, metrics

from .. import load_opnmf_reference
from ._bases import matched
from ._drawing import grids
from ._page import Page

TITLE = "OPNMF: the results of its MATLAB and R codes"
RANK = 6
SEEDS = range(4)


def build(page: Page) -> None:
    reference = load_opnmf_reference()
    X = reference.data.T  # the codes' W has a row for each picture, so pictures are the features here, and pixels the samples
    page.say(f"""
        The test data of the package `opnmf`: 400 faces of 64 × 64 pixels, rank {RANK}, one start, and the W that its MATLAB
        and R kin reached from it. There W has a row for each picture: pictures are features, and X is 4096 samples (pixels)
        × 400 features.
    """)

    page.heading("From the same start, with the printed rule")
    ours = page.fit(OPNMF(RANK, solver="paper", init=reference.init_W.T, max_iter=50_000, tol=1e-5), X)
    W = ours.components_.T
    rows = [(f"W of the {name} code", *compared(W, reference[f"W_{name}"])) for name in ("matlab", "R")]
    rows.append(("MATLAB beside R", *compared(reference.W_matlab, reference.W_R)))
    page.table(
        ("", "‖W − W′‖ / ‖W′‖", "largest |W − W′| / largest W′"),
        [(name, f"{whole:.2e}", f"{entry:.2e}") for name, whole, entry in rows],
        "Columns are matched first. The last line is how far the two codes are from one another.",
    )

    page.heading("What the default finds from starts of its own")
    runs = {f"default, seed {seed}": page.fit(OPNMF(RANK, random_state=seed), X).components_.T for seed in SEEDS}
    bases = {"MATLAB code": reference.W_matlab, "R code": reference.W_R, "printed rule, same start": W, **runs}
    page.table(
        ("", "‖X − X̂‖ / ‖X‖", "ρ, 1 is best", "‖WᵀW − I‖, 0 is best"),
        [(name, f"{error(X, W):.6f}", *measured(W)) for name, W in bases.items()],
        "X̂ = X W Wᵀ. ρ: NNP Eq. 65; ‖WᵀW − I‖ with columns of unit length: PNMF Eq. 38. The first two lines are of the files.",
    )
    page.claim(
        "the package `opnmf`",
        "From the start that was given, the printed rule ends at the W of the MATLAB and R codes.",
        [whole < 1e-4 for _, whole, _ in rows[:2]],
        f"""‖W − W′‖ / ‖W′‖ is {rows[0][1]:.1e} and {rows[1][1]:.1e}; the two codes are {rows[2][1]:.1e} apart. All
        stopped by a tolerance.""",
    )
    errors, rhos = ([measure(W) for W in runs.values()] for measure in (lambda W: error(X, W), metrics.orthogonality))
    lower = [value < error(X, reference.W_matlab) for value in errors]
    more = [value > metrics.orthogonality(reference.W_matlab) for value in rhos]
    page.claim(
        "beyond the papers",
        "From starts of its own, the default ends at a lower error than the codes, and more orthogonal.",
        [*lower, *more],
        f"""Of {len(SEEDS)} starts, {sum(lower)} end at a lower error, {sum(more)} at a higher ρ; errors of {min(errors):.4f} to
        {max(errors):.4f}, against {error(X, reference.W_matlab):.4f}.""",
    )
    best = min(runs.values(), key=lambda W: error(X, W))
    faces = {"MATLAB code": X @ reference.W_matlab, "best default": X @ matched(best, reference.W_matlab)}
    page.figure(
        grids(faces, (64, 64), columns=3, width=3.3, colours="gray"),
        "X W as pictures, the codes' H: averages of faces that belong together, those of the default in the order of the others.",
    )


def compared(W: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    difference = matched(W, other) - other
    return float(np.linalg.norm(difference) / np.linalg.norm(other)), float(np.abs(difference).max() / other.max())


def error(X: np.ndarray, W: np.ndarray) -> float:
    return metrics.relative_error(X, X @ W @ W.T)


def measured(W: np.ndarray) -> tuple[float, float]:
    return metrics.orthogonality(W), metrics.orthogonality_error(W)
