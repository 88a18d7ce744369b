"""Programs of counts by consensus: how many, and which, beside scikit-learn's NMF and the `cnmf` package.

5000 cells × 2000 genes, Poisson, ten planted programs over a shared background (`planted_ranks.planted`). `ConsensusNMF(n_runs=20)`
is scanned over 6, 8, 10, 12 and 14 programs by stability, and fitted with the number found; scikit-learn's NMF has the planted
number, with the I-divergence and with the Euclidean distance, and so has cnmf, if the interpreter of an environment with it is
given. Reported are the cosine of each planted program with its match, and seconds of processor time. Then two batches, with six
programs of both and two of each, by `IntegrativeNMF`; and a panel of 200 genes for twelve programs: codes of 500 new cells by it
are compared with those by all genes, and timed. ``--only batches panel`` does these two alone:

    python benchmarks/consensus.py [--cells 5000] [--runs 20] [--cnmf /path/to/python] [--only programs batches panel]
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import NMF

from nonneg import PNMF, ConsensusNMF, IntegrativeNMF
from nonneg.selection import match_components, rank_scan, select_features
from planted_ranks import planted

NUMBERS, PROGRAMS = (6, 8, 10, 12, 14), 10
_CNMF = """
import sys, time, warnings
warnings.simplefilter("ignore")
import anndata, numpy as np
from scipy import sparse
from cnmf import cNMF
folder, runs, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
X = sparse.load_npz(folder + "/X.npz").tocsr()
adata = anndata.AnnData(X)
adata.obs_names, adata.var_names = [f"c{i}" for i in range(X.shape[0])], [f"g{j}" for j in range(X.shape[1])]
adata.write_h5ad(folder + "/counts.h5ad")
began = time.process_time()
model = cNMF(output_dir=folder, name="found")
model.prepare(counts_fn=folder + "/counts.h5ad", components=[count], n_iter=runs, seed=0, num_highvar_genes=X.shape[1])
model.factorize(worker_i=0, total_workers=1)
model.combine()
model.consensus(k=count, density_threshold=0.5, show_clustering=False)
usage, scores, tpm, genes = model.load_results(K=count, density_threshold=0.5)
programs, seconds = tpm.T.reindex(columns=adata.var_names).fillna(0).to_numpy(), time.process_time() - began
np.savez(folder + "/found.npz", programs=programs, seconds=seconds)
"""


def cnmf(python: str, X: Any, runs: int) -> tuple[np.ndarray, float]:
    """Programs of the package, in units of counts, and its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        sparse.save_npz(f"{folder}/X.npz", sparse.csr_matrix(X))
        subprocess.run([python, "-c", _CNMF, folder, str(runs), str(PROGRAMS)], check=True, capture_output=True)
        found = np.load(f"{folder}/found.npz")
        return found["programs"], float(found["seconds"])


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    return function(), time.process_time() - began


def batches(cells: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Counts of two batches, six programs of both and two of each; labels of cells; programs, shared ones first."""
    _, programs, _ = planted(10, 2000, 10, seed=0)
    rng, n = np.random.default_rng(1), cells // 2
    found = []
    for own in ([6, 7], [8, 9]):
        allowed, usages = np.array([*range(6), *own]), np.zeros((n, 10))
        usages[np.arange(n), rng.choice(allowed, n)] = 1.0
        for _ in range(2):
            usages[np.arange(n), rng.choice(allowed, n)] += rng.gamma(0.4, 1.0, n) * (rng.random(n) < 0.5)
        usages *= (rng.lognormal(0.0, 0.4, n) * 400)[:, None] / usages.sum(axis=1, keepdims=True)
        found.append(sparse.csr_array(rng.poisson(usages @ programs).astype(np.float64)))
    return sparse.csr_array(sparse.vstack(found)), np.repeat(["first", "second"], n), programs


def show_batches(cells: int) -> None:
    X, labels, programs = batches(cells)
    model = IntegrativeNMF(6, n_own=2, divergence="kl", random_state=0)
    _, seconds = timed(lambda: model.fit(X, groups=labels))
    match = match_components(programs, model)
    planted_groups = np.repeat([-1, 0, 1], [6, 2, 2])
    right = int((model.component_groups_[match.order] == planted_groups).sum())
    print(
        f"two batches: {right} of 10 programs in their place, cosines from {match.similarity.min():.3f}; {seconds:.1f} s",
        flush=True,
    )


def show_panel(cells: int) -> None:
    X, *_ = planted(cells, 2000, 12, seed=0)
    model = PNMF(12, random_state=0).fit(X[:-500])
    panel = select_features(model, 200)
    small, new = model.restrict(panel), X[-500:][:, panel]
    spent = []
    for _ in range(5):
        began = time.perf_counter()
        codes = small.transform(new)
        spent.append(time.perf_counter() - began)
    whole = model.transform(X[-500:])
    correlations = np.sort([np.corrcoef(codes[:, k], whole[:, k])[0, 1] for k in range(12)])
    print(f"panel of 200 genes: correlations {', '.join(f'{one:.3f}' for one in correlations)}; {max(spent):.3f} s for 500 cells")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--cnmf", metavar="PYTHON")
    parser.add_argument("--folder", type=Path, help="where measurements of the scan are kept")
    parts = ("programs", "batches", "panel")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    given = parser.parse_args()
    if "programs" in given.only:
        show_programs(given)
    if "batches" in given.only:
        show_batches(given.cells)
    if "panel" in given.only:
        show_panel(given.cells)


def show_programs(given: argparse.Namespace) -> None:
    X, programs, _ = planted(given.cells, 2000, PROGRAMS, seed=0)

    def told(who: str, components: Any, seconds: float) -> None:
        cosines = np.sort(match_components(programs, components).similarity)
        print(f"{who}: cosines {', '.join(f'{one:.3f}' for one in cosines)}; {seconds:.0f} s", flush=True)

    model = ConsensusNMF(n_runs=given.runs, divergence="kl", random_state=0)
    scan, seconds = timed(lambda: rank_scan(model, X, NUMBERS, random_state=0, folder=given.folder))
    print(f"scan of {NUMBERS}: {scan.best_} programs; {seconds:.0f} s\n{scan.table.to_string()}\n{scan.why_}", flush=True)
    model.set_params(n_components=scan.best_)
    _, seconds = timed(lambda: model.fit(X))
    told(f"ConsensusNMF({scan.best_}, n_runs={given.runs}), stability from {model.stability_.min():.3f}", model, seconds)
    for loss, solver in (("kullback-leibler", "mu"), ("frobenius", "cd")):
        peer = NMF(PROGRAMS, beta_loss=loss, solver=solver, init="random" if solver == "mu" else None, random_state=0)
        _, seconds = timed(lambda peer=peer: peer.fit(sparse.csr_matrix(X)))
        told(f"scikit-learn NMF({PROGRAMS}, {loss!r}), {peer.n_iter_} iterations", peer.components_, seconds)
    if given.cnmf:
        told(f"cnmf, {given.runs} runs", *cnmf(given.cnmf, X, given.runs))


if __name__ == "__main__":
    main()
