"""Slices of a head: PNMF §6.3, Fig. 4 and 5, on public volumes in place of the paper's own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nonneg import NMF, PNMF, metrics

from .. import load_ixi, load_mni152
from ._drawing import grids, pictures
from ._page import Page

TITLE = "MRI: slices of a head (PNMF §6.3, Fig. 4–5)"
RANK = 25
SLICE = 50
"""The slice that is shown with its reconstructions."""


def build(page: Page) -> None:
    page.say("""
        The paper has one T1 volume of 90 axial slices of 256 × 256 pixels, which is not public. Here are two that are. (a)
        The template MNI152, an average of 152 people without the skull, at 1 mm: 90 axial slices, evenly spaced from the
        lowest to the highest with brain in them, in a frame of 256 × 256. It has the paper's size, and is smoother than any
        one person. (b) The head of one person, the first of the ten of IXI, with skull, at 2 mm: the upper 90 axial slices,
        120 × 90 pixels. X has a slice in each row. Pixels that are zero in every slice are left out of the fit, and drawn
        as zero.
    """)
    page.say("""
        PNMF of the transposed matrix (“PNMF of slices”), as for clustering in §5 of the paper, groups slices: its basis images are
        averages of neighbours. It needs products of 90 × 90 only, not of all pixels, and could be what the paper shows.
    """)
    claims(page, {name: study(page, name, images) for name, images in (("MNI152", mni152()), ("IXI", ixi()))})


def mni152() -> np.ndarray:
    """90 slices of 256 × 256."""
    volume = load_mni152().images[0] / 255
    inside = np.flatnonzero(volume.any(axis=(0, 1)))
    slices = upright(volume)[np.linspace(inside[0], inside[-1], 90).round().astype(int)]
    _, height, width = slices.shape
    top, left = (256 - height) // 2, (256 - width) // 2
    return np.pad(slices, ((0, 0), (top, 256 - height - top), (left, 256 - width - left)))


def ixi() -> np.ndarray:
    """90 slices of 120 × 90, down from the top of the head."""
    volume = load_ixi().images[0].astype(np.float64)
    top = np.flatnonzero((volume > 0.05 * volume.max()).any(axis=(0, 1)))[-1]  # above it there is air, which is not quite zero
    return upright(volume / volume.max())[top - 89 : top + 1]


def upright(volume: np.ndarray) -> np.ndarray:
    """Axial slices as pictures, front up, from a volume whose axes run to the right, to the front, upwards."""
    return volume.transpose(2, 1, 0)[:, ::-1]


class Measures(NamedTuple):
    """What a fit of the slices is like."""

    error: float
    of_slice: float
    """The error of the slice that is shown."""
    better: int
    """How many slices are fitted better than by 1000 iterations of NMF."""
    rho: float
    entropy: float


def claims(page: Page, found: dict[str, dict[str, Measures]]) -> None:
    def told(what: str, *labels: str) -> str:
        """The numbers, volume by volume: of the first method, against the second."""
        pairs = {name: [f"{getattr(measures[label], what):.3f}" for label in labels] for name, measures in found.items()}
        return "; ".join(f"{' against '.join(numbers)} ({name})" for name, numbers in pairs.items())

    page.claim(
        "PNMF Fig. 4, §7",
        "On biomedical images too, PNMF derives bases that are more localised than those of NMF, and considerably more orthogonal.",
        [
            check
            for measures in found.values()
            for n in (100, 1000)
            for pnmf, nmf in [(measures[f"PNMF, {n}"], measures[f"NMF, {n}"])]
            for check in (pnmf.entropy < nmf.entropy, pnmf.rho > nmf.rho)
        ],
        f"""Fig. 4 names no number of iterations: judged after 100 and 1000. After 1000, ρ of PNMF against NMF:
        {told("rho", "PNMF, 1000", "NMF, 1000")}; entropy:
        {told("entropy", "PNMF, 1000", "NMF, 1000")}. After 100, the number of Fig. 5, ρ is
        {told("rho", "PNMF, 100", "NMF, 100")}.""",
    )
    page.claim(
        "PNMF Fig. 5",
        "In the reconstruction of a slice, PNMF with 100 iterations “is able to bring out considerably more details” than NMF.",
        [measures["PNMF, 100"].of_slice < measures["NMF, 100"].of_slice for measures in found.values()],
        f"""Relative error of the slice shown, PNMF against NMF, after 100 iterations: {told("of_slice", "PNMF, 100", "NMF, 100")};
        after 1000: {told("of_slice", "PNMF, 1000", "NMF, 1000")}. A slice made of 25 parts, each brighter or darker as a whole, has
        fewer details than what NMF makes of whole slices.""",
    )
    of_slices = {
        n: [measures[f"PNMF of slices, {n}"].of_slice < measures[f"NMF, {n}"].of_slice for measures in found.values()]
        for n in (100, 1000)
    }
    closer = ", ".join(f"{measures['PNMF of slices, 1000'].better} of 90 ({name})" for name, measures in found.items())
    page.claim(
        "PNMF Fig. 5, if it was PNMF of the transpose",
        "The same with PNMF of slices, after 100 iterations.",
        of_slices[100],
        f"""After 100 iterations {told("of_slice", "PNMF of slices, 100", "NMF, 100")}. After 1000 it is so on
        {sum(of_slices[1000])} of {len(found)} volumes: {told("of_slice", "PNMF of slices, 1000", "NMF, 1000")}. PNMF of slices is
        then closer than NMF to {closer}, and its basis
        images are no parts: ρ is {told("rho", "PNMF of slices, 1000", "NMF, 1000")}. Error of all slices:
        {told("error", "PNMF of slices, 1000", "NMF, 1000")}.""",
    )


def study(page: Page, name: str, images: np.ndarray) -> dict[str, Measures]:
    shape, seen = images.shape[1:], images.any(axis=0)
    X = images[:, seen]
    page.heading(f"{name}: {len(X)} slices of {shape[0]} × {shape[1]}, rank {RANK}")
    fits = {}  # basis images, and the slices made of them
    for label, estimator in estimators().items():
        data = X.T if "slices" in label else X
        fit = page.fit(estimator, data)
        codes = fit.transform(data)
        rebuilt = fit.inverse_transform(codes)
        fits[label] = (codes, rebuilt.T) if "slices" in label else (fit.components_.T, rebuilt)
    bases = {label: flat(W.T, seen).T for label, (W, _) in fits.items() if "1000" in label}
    page.figure(
        grids(bases, shape, columns=5, across=3, width=4.2),
        f"""Fig. 4: the {RANK} basis images of NMF and PNMF, printed rules, seed 0. White is zero, dark is large. The paper shows
        two; the third is explained above.""",
    )
    methods, counts = ("NMF", "PNMF", "PNMF of slices"), (100, 1000)
    rebuilt = [[framed(fits[f"{method}, {n}"][1], seen)[SLICE] for method in methods] for n in counts]
    page.figure(
        pictures(
            [[images[SLICE], *rebuilt[0]], [None, *rebuilt[1]]],
            [["original", *(f"{method}, {n} iterations" for method in methods)] for n in counts],
            size=2.4,
        ),
        f"Fig. 5: slice {SLICE + 1} of {len(X)}, and its reconstructions. The paper's PNMF had 100 iterations.",
    )
    measures = {
        label: Measures(
            metrics.relative_error(X, X_hat),
            metrics.relative_error(X[[SLICE]], X_hat[[SLICE]]),
            int(np.sum(errors(X, X_hat) < errors(X, fits["NMF, 1000"][1]))),
            metrics.orthogonality(W),
            metrics.basis_entropy(W),
        )
        for label, (W, X_hat) in fits.items()
    }
    page.table(
        ("", "‖X − X̂‖ / ‖X‖", "of the slice shown", "slices fitted better than by NMF", "ρ of basis images", "their entropy"),
        [(label, *values) for label, values in measures.items()],
        f"NMF: after 1000 iterations; of {len(X)}. ρ: NNP Eq. 65, 1 is best. Entropy: PNMF Eq. 37, in nats; less is more local.",
    )
    return measures


def estimators() -> dict[str, Any]:
    printed: dict[str, Any] = {"solver": "paper", "tol": 0, "random_state": 0}
    return {
        "NMF, 100": NMF(RANK, max_iter=100, **printed),
        "NMF, 1000": NMF(RANK, max_iter=1000, **printed),
        "PNMF, 100": PNMF(RANK, max_iter=100, **printed),
        "PNMF, 1000": PNMF(RANK, max_iter=1000, **printed),
        "PNMF, default": PNMF(RANK, random_state=0),
        "PNMF of slices, 100": PNMF(RANK, max_iter=100, **printed),
        "PNMF of slices, 1000": PNMF(RANK, max_iter=1000, **printed),
        "PNMF of slices, default": PNMF(RANK, random_state=0),
    }


def errors(X: np.ndarray, X_hat: np.ndarray) -> np.ndarray:
    """How far each slice is from its reconstruction."""
    return np.linalg.norm(X - X_hat, axis=1)


def framed(rows: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Pictures again of rows of the pixels that were seen."""
    images = np.zeros((len(rows), *seen.shape))
    images[:, seen] = rows
    return images


def flat(rows: np.ndarray, seen: np.ndarray) -> np.ndarray:
    return framed(rows, seen).reshape(len(rows), -1)
