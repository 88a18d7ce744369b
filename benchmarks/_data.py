"""The data that the benchmarks run on, and where all methods start. Rows are features (pixels, voxels, terms) but where it is said.

``quick`` gives something small of the same kind, which needs no files.
"""

from __future__ import annotations

import os
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from scipy import ndimage, sparse
from scipy.io import loadmat
from sklearn.decomposition._nmf import _initialize_nmf  # where opnmf has its starts from

from nonneg_papers import load_cbcl, load_ixi, load_olivetti

TEXTS = {
    "reviews": ("text/reviews/reviews.mat", "dtm"),
    "ohscal": ("text/ohscal/ohscal.mat", "dtm"),
    "20 Newsgroups": ("text/20newsgroups/20Newsgroups.mat", "fea"),
}


def described(X: np.ndarray | sparse.sparray) -> str:
    return f"{X.shape[0]} × {X.shape[1]}" + (f", {X.nnz} non-zeros" if sparse.issparse(X) else "")


# ---- dense


@cache
def faces(quick: bool = False) -> np.ndarray:
    """CBCL: 361 pixels × 2429 faces."""
    return parts_and_noise(36, 120) if quick else np.ascontiguousarray(load_cbcl().data.T)


def olivetti(quick: bool = False) -> np.ndarray:
    """4096 pixels × 400 faces."""
    return parts_and_noise(150, 40) if quick else np.ascontiguousarray(load_olivetti().data.T)


def uniform(quick: bool = False) -> np.ndarray:
    """Uniform random numbers, 2000 × 5000: nothing to find, which is hard for those who skip what does not move."""
    return np.random.default_rng(0).random((20, 50) if quick else (2000, 5000))


def parts_and_noise(rows: int, columns: int, parts: int = 12, seed: int = 0) -> np.ndarray:
    """Overlapping parts in random amounts, and noise."""
    rng = np.random.default_rng(seed)
    basis = rng.gamma(0.3, size=(rows, parts))
    return basis @ rng.gamma(1.0, size=(parts, columns)) + 0.05 * rng.random((rows, columns))


@cache
def spatial(quick: bool = False) -> np.ndarray:
    """Made-up maps of tissue, 50 000 voxels × 300 subjects: a common map, 40 smooth parts with an effect each, smooth noise."""
    shape, subjects, parts = ((10, 8, 5), 30, 8) if quick else ((50, 40, 25), 300, 40)
    rng = np.random.default_rng(0)
    tissue = ndimage.gaussian_filter(rng.normal(size=shape), 2.0).ravel()
    tissue = np.clip(0.35 + 0.25 * np.clip(tissue / tissue.std(), -1.2, 2.5), 0.02, None)
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 3)
    centres, widths = grid[rng.integers(len(grid), size=parts)], rng.uniform(3.0, 8.0, size=(parts, 3))
    maps = np.stack([np.exp(-0.5 * np.sum(((grid - c) / w) ** 2, axis=1)) for c, w in zip(centres, widths, strict=True)], axis=1)
    maps[maps < 0.05] = 0.0
    X = tissue[:, None] * (1 + 0.12 * rng.normal(size=subjects) + 0.35 * maps @ rng.normal(size=(parts, subjects)))
    for column in X.T:
        noise = ndimage.gaussian_filter(rng.normal(size=shape), 1.0).ravel()
        column += 0.08 * noise / noise.std()
    return np.clip(X, 0, None, out=X)


@cache
def brains(quick: bool = False) -> np.ndarray:
    """Scans of ten people, 50 000 voxels × 300: each brain cut out, moved to a common box, and bent thirty times.

    IXI's T1 scans, whose brains are marked by DLMUSE. Scans of 300 people who have been registered are not to be had freely; these
    are ten, roughly registered by the extent of the brain, and what makes thirty of each is a random affine change of a few per
    cent, as registration leaves it. Voxels are those that most of the 300 have in the brain.
    """
    if quick:
        return parts_and_noise(400, 30, seed=1)
    people, rng = load_ixi(), np.random.default_rng(0)
    box = np.array((48, 56, 44))
    columns, coverage = [], np.zeros(box)
    for image, label in zip(people.images, people.labels, strict=True):
        inside = label > 0
        corners = [np.flatnonzero(inside.any(axis=tuple({0, 1, 2} - {axis})))[[0, -1]] for axis in range(3)]
        first, last = np.array(corners, dtype=float).T
        brain = np.where(inside, image.astype(float), 0.0) / image[inside].mean()
        for _ in range(30):
            change = np.diag((last - first) / (box - 1)) @ (np.eye(3) + 0.03 * rng.normal(size=(3, 3)))
            offset = (first + last) / 2 - change @ ((box - 1) / 2) + rng.normal(size=3)
            columns.append(ndimage.affine_transform(brain, change, offset, output_shape=tuple(box), order=1))
            coverage += columns[-1] > 0
    voxels = np.sort(np.argsort(-coverage.ravel(), kind="stable")[:50_000])
    return np.ascontiguousarray(np.stack([column.ravel()[voxels] for column in columns], axis=1))


# ---- sparse


@cache
def documents(name: str, quick: bool = False) -> sparse.csr_array:
    """Counts of terms, documents × terms, from the folder that NONNEG_DATA names."""
    if quick:
        return made_up_counts(60, 150)
    folder = os.environ.get("NONNEG_DATA")
    file, variable = TEXTS[name]
    if not folder or not (Path(folder) / file).exists():
        raise FileNotFoundError(f"NONNEG_DATA names no folder with {file}")
    return sparse.csr_array(loadmat(Path(folder) / file, spmatrix=False)[variable]).astype(float)


def made_up_counts(rows: int, columns: int, density: float = 0.1, seed: int = 0) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    pattern = sparse.random_array((rows, columns), density=density, format="csr", rng=rng)
    pattern.data = 1.0 + rng.poisson(0.5, size=pattern.nnz)
    return pattern


# ---- where to start


def starts(X: np.ndarray, rank: int, seeds: tuple[int, ...] = (0, 1, 2)) -> dict[str, np.ndarray]:
    """W for the rows of X: random ones, and NNDSVD with its zeros raised to a thousandth of the mean, as opnmf needs them."""
    found = {f"random {seed}": np.random.default_rng(seed).random((X.shape[0], rank)) for seed in seeds}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        W, _ = _initialize_nmf(X, rank, init="nndsvd", random_state=0)
    return {**found, "nndsvd": np.ascontiguousarray(np.maximum(W, 1e-3 * W.mean()))}


def pair(X: np.ndarray | sparse.sparray, rank: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """W and H, uniform, and such that W H is as large as X on average."""
    rng, size = np.random.default_rng(seed), 2 * np.sqrt(X.mean() / rank)
    return size * rng.random((X.shape[0], rank)), size * rng.random((rank, X.shape[1]))


def planted_partition(vertices: int, edges: int, blocks: int, inside: float, seed: int = 0) -> tuple[sparse.csr_array, np.ndarray]:
    """A graph with about so many edges, that share of them between vertices of one block, the others anywhere; and the blocks."""
    generator = np.random.default_rng(seed)
    block = generator.integers(blocks, size=vertices)
    order = np.argsort(block, kind="stable")
    first = np.searchsorted(block[order], np.arange(blocks + 1))
    i = generator.integers(vertices, size=edges)
    size = first[block[i] + 1] - first[block[i]]
    near = order[first[block[i]] + (generator.random(edges) * size).astype(np.int64)]
    j = np.where(generator.random(edges) < inside, near, generator.integers(vertices, size=edges))
    kept = i != j
    A = sparse.coo_array((np.ones(kept.sum()), (i[kept], j[kept])), shape=(vertices, vertices)).tocsr()
    A = sparse.csr_array(A + A.T)
    A = sparse.csr_array((np.ones(A.nnz), A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape)
    return A, block


def rewired(A: np.ndarray, share: float, generator: np.random.Generator) -> np.ndarray:
    """The graph with a share of its edges, at least one, between other vertices; loops stay."""
    A, is_undirected = A.copy(), bool((A == A.T).all())
    i, j = np.triu_indices(len(A), 1) if is_undirected else np.nonzero(~np.eye(len(A), dtype=bool))
    edges, gaps = np.flatnonzero(A[i, j]), np.flatnonzero(A[i, j] == 0)
    count = min(max(1, round(share * len(edges))), len(gaps))
    for chosen, value in ((generator.permutation(edges)[:count], 0.0), (generator.permutation(gaps)[:count], 1.0)):
        A[i[chosen], j[chosen]] = value
        if is_undirected:
            A[j[chosen], i[chosen]] = value
    return A
