"""Single cells: factorizations of an AnnData in scanpy's manner, results in scanpy's slots.

Cells are samples and genes are features. Each function leaves codes in ``obsm["X_nmf"]``, components in ``varm["nmf"]``, and
parameters, objective and status in ``uns["nmf"]``; "nmf" is `key_added`. Any estimator of the library takes an AnnData, too, and
`fit` leaves its results likewise.

>>> import anndata, numpy as np, nonneg.cells
>>> counts = np.random.default_rng(0).poisson(1.0, (30, 12)).astype(float)
>>> adata = anndata.AnnData(counts)
>>> nonneg.cells.nmf(adata, 3, divergence="kl")
>>> adata.obsm["X_nmf"].shape, adata.varm["nmf"].shape, adata.uns["nmf"]["status"]
((30, 3), (12, 3), 'converged')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from .data.annotated import is_annotated
from .data.opening import open_data
from .estimators import NMF, OPNMF, PNMF, ConsensusNMF, IntegrativeNMF
from .exceptions import DataError, IncompatibleError
from .selection import MetaComponents, meta_components, top_features

__all__ = ["consensus_nmf", "fit", "integrative_nmf", "markers", "meta_programs", "nmf", "opnmf", "pnmf"]

_HIGHLY_VARIABLE = "highly_variable"


_PARAMETERS = """

    Parameters
    ----------
    adata : AnnData
        In memory, a view, or backed by a file, which is then read in blocks.
    n_components : int
        How many programs.
    layer : str, optional
        The layer to factorize; X by default.
    use_raw : bool, default=False
        Whether to factorize ``adata.raw``.
    mask_var : str or array of bool, default="auto"
        The genes to use: a column of ``adata.var``, or an array. "auto" is "highly_variable" where there is such a column; None
        takes all genes. Other genes have zeros in ``varm``.
    key_added : str
        Results are in ``obsm["X_" + key_added]``, ``varm[key_added]`` and ``uns[key_added]``; by default the name of the function.
    copy : bool, default=False
        Whether to return a copy with the results, and leave `adata` as it is.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the starts.
    **parameters
        Others of the estimator: ``divergence="kl"`` is right for counts, ``n_init``, ``n_jobs`` and so on.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for.

    See Also
    --------
    markers : The marker genes of each program.
    fit : Any other estimator.
    nonneg.{estimator} : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> from nonneg import cells
    >>> adata = AnnData(np.random.default_rng(0).poisson(3.0, size=(30, 12)).astype(float))
    >>> cells.{name}(adata, 2)
    >>> adata.obsm["X_{name}"].shape, adata.varm["{name}"].shape
    ((30, 2), (12, 2))
    """


def _function(name: str, estimator: type, sentence: str) -> Callable[..., Any]:
    """The function that leaves the results of an estimator in an AnnData."""

    def write(
        adata: Any,
        n_components: int,
        *,
        layer: str | None = None,
        use_raw: bool = False,
        mask_var: str | Sequence[bool] | None = "auto",
        key_added: str = name,
        copy: bool = False,
        random_state: Any = 0,
        **parameters: Any,
    ) -> Any:
        batch_key = parameters.pop("batch_key", None) if estimator is IntegrativeNMF else None
        _check_annotated(adata)
        model = estimator(n_components, random_state=random_state, **parameters)
        if copy and getattr(adata, "isbacked", False):
            raise IncompatibleError("copy=True needs adata in memory, and it is backed by a file. Give adata.to_memory().")
        adata = adata.copy() if copy else adata
        fit(adata, model, layer=layer, use_raw=use_raw, mask_var=mask_var, batch_key=batch_key, key_added=key_added)
        return adata if copy else None

    write.__name__ = write.__qualname__ = name
    write.__doc__ = sentence and sentence + _PARAMETERS.format(name=name, estimator=estimator.__name__)
    return write


nmf = _function("nmf", NMF, "Factorize cells by genes into programs, X ≈ W H; see `nonneg.NMF`.")
pnmf = _function(
    "pnmf", PNMF, "Project cells onto programs that hardly share genes, X ≈ X W Wᵀ, as scPNMF does; see `nonneg.PNMF`."
)
opnmf = _function("opnmf", OPNMF, "Project cells onto nearly orthogonal programs; see `nonneg.OPNMF`.")
consensus_nmf = _function(
    "consensus_nmf", ConsensusNMF, "Find programs that many runs have in common, as cNMF does; see `nonneg.ConsensusNMF`."
)


def integrative_nmf(
    adata: Any, n_components: int, batch_key: str, *, n_own: Any = 2, key_added: str = "integrative_nmf", **settings: Any
) -> Any:
    """Find programs that all batches share, and those of single batches; see `nonneg.IntegrativeNMF`.

    ``uns[key_added]["component_groups"]`` has the batch of each program, and "shared" of the others.

    Parameters
    ----------
    adata : AnnData
        Cells of all batches.
    n_components : int
        How many programs all batches share.
    batch_key : str
        The column of ``adata.obs`` that names the batch of each cell.
    n_own : int or dict, default=2
        How many programs each batch has of its own; or how many of each, by its name.
    key_added : str
        Results are in ``obsm["X_" + key_added]``, ``varm[key_added]`` and ``uns[key_added]``.
    **settings
        Others of `nmf`: ``layer``, ``use_raw``, ``mask_var``, ``copy``, ``random_state``, ``divergence="kl"`` and so on.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for.

    See Also
    --------
    meta_programs : Programs of samples that were factorized one by one.
    markers : The marker genes of each program.
    nonneg.IntegrativeNMF : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> from nonneg import cells
    >>> adata = AnnData(np.random.default_rng(0).poisson(3.0, size=(30, 12)).astype(float))
    >>> adata.obs["batch"] = ["a", "b"] * 15
    >>> cells.integrative_nmf(adata, 2, "batch", n_own=1)
    >>> adata.uns["integrative_nmf"]["component_groups"].tolist()
    ['shared', 'shared', 'a', 'b']
    """
    return _integrative_nmf(adata, n_components, n_own=n_own, batch_key=batch_key, key_added=key_added, **settings)


_integrative_nmf = _function("integrative_nmf", IntegrativeNMF, "")


def fit(
    adata: Any,
    estimator: Any,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: str | Sequence[bool] | None = "auto",
    batch_key: str | None = None,
    key_added: str = "nmf",
) -> Any:
    """Fit any factorization to an AnnData, leave its results there, and return it fitted.

    Parameters
    ----------
    adata : AnnData
        Cells by genes.
    estimator : estimator
        With components and codes: ``nonneg.NMF(10, divergence="kl")``. It is cloned.
    layer : str, optional
        The layer to factorize; X by default.
    use_raw : bool, default=False
        Whether to factorize ``adata.raw``.
    mask_var : str or array of bool, default="auto"
        The genes to use, as in `nmf`.
    batch_key : str, optional
        The column of ``adata.obs`` with the groups of cells, for an `nonneg.IntegrativeNMF`.
    key_added : str, default="nmf"
        Where results are left, as in `nmf`.

    Returns
    -------
    estimator
        For new cells, `top_features`, `select_features`, pictures and pages.

    See Also
    --------
    nmf : The commonest estimator.
    markers : The marker genes of each program.

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> import nonneg
    >>> from nonneg import cells
    >>> adata = AnnData(np.random.default_rng(0).poisson(3.0, size=(30, 12)).astype(float))
    >>> model = cells.fit(adata, nonneg.ONMF(2, random_state=0), key_added="onmf")
    >>> adata.obsm["X_onmf"].shape
    (30, 2)
    """
    _check_annotated(adata)
    _check_writable(adata)
    if not isinstance(key_added, str) or not key_added:
        raise IncompatibleError(f"key_added must be a name; got {key_added!r}.")
    X, names, chosen = _matrix(adata, layer, use_raw, mask_var)
    own = _places(adata.raw if use_raw else adata, chosen, adata, names)
    model = clone(estimator)
    groups = {} if batch_key is None else {"groups": _batches(adata, batch_key)}
    try:
        codes = model.fit(X, **groups).transform(X, **groups)
    except DataError as error:
        if "egative" not in str(error):
            raise
        raise DataError(
            f"{error} X may have been scaled or centred. Factorize counts, or their logarithms: layer='counts', or use_raw=True."
        ) from None
    components = np.asarray(model.components_)
    model.feature_names_in_ = np.array(names, dtype=object)
    adata.obsm[f"X_{key_added}"] = np.asarray(codes)
    found = {
        "params": {
            **{name: _storable(value) for name, value in model.get_params(deep=False).items() if value is not None},
            "estimator": type(model).__name__,
            "use_raw": bool(use_raw),
            **({"layer": layer} if layer is not None else {}),
            **({"batch_key": batch_key} if batch_key is not None else {}),
            **({"mask_var": _called(mask_var)} if chosen is not None else {}),
        },
        "objective": float(model.objective_),
        "status": str(model.status_.value),
        "n_iter": int(model.n_iter_),
        **({"stability": model.stability_} if hasattr(model, "stability_") else {}),
        **({"component_groups": _group_names(model)} if hasattr(model, "component_groups_") else {}),
    }
    adata.varm[key_added] = np.where(own[:, None] >= 0, components.T[own], 0.0)
    if not set(names) <= set(map(str, adata.var_names)):
        found["genes"], found["components"] = np.array(names, dtype=str), components
    adata.uns[key_added] = found
    return model


def _places(of_genes: Any, chosen: np.ndarray | None, adata: Any, names: Sequence[str]) -> np.ndarray:
    """The component's column of each gene of adata, -1 for none: by order, and of a raw with other genes by name."""
    if list(of_genes.var_names) == list(adata.var_names):
        used = np.ones(len(adata.var_names), dtype=bool) if chosen is None else chosen
        return np.where(used, np.cumsum(used) - 1, -1)
    place = _by_name(names, "adata.raw")
    return np.array([place.get(name, -1) for name in map(str, adata.var_names)])


def _by_name(names: Sequence[str], label: str) -> dict[str, int]:
    """The place of each gene by its name, which only one may have."""
    place = {str(name): number for number, name in enumerate(names)}
    if len(place) < len(names):
        twice = next(str(name) for number, name in enumerate(names) if place[str(name)] != number)
        raise DataError(
            f"Genes of {label} are found by name, and {twice!r} names several: call adata.var_names_make_unique() first, before "
            "adata.raw is set."
        )
    return place


def _batches(adata: Any, batch_key: Any) -> np.ndarray:
    """The batch of each cell."""
    if batch_key not in adata.obs:
        raise IncompatibleError(
            f"batch_key is {batch_key!r}, which is no column of adata.obs; it has {', '.join(map(repr, adata.obs))}."
        )
    return np.asarray(adata.obs[batch_key])


def _group_names(model: Any) -> np.ndarray:
    """The batch of each program, by name; "shared" of those of all batches."""
    return np.array(["shared" if group < 0 else str(model.groups_[group]) for group in model.component_groups_])


def _check_annotated(adata: Any) -> None:
    if not is_annotated(adata) or not hasattr(adata, "obsm"):
        raise IncompatibleError(
            f"adata must be an AnnData; got {type(adata).__name__}. Estimators take arrays: nonneg.NMF(10).fit(X)."
        )


def _check_writable(adata: Any) -> None:
    if getattr(adata, "isbacked", False) and getattr(adata, "is_view", False):
        raise IncompatibleError(
            "adata is a view of a backed AnnData, which has no place for results. Give adata.to_memory(), or the whole with "
            "mask_var; or fit an estimator, which takes the view: nonneg.NMF(10).fit(adata)."
        )


def _layers(adata: Any) -> str:
    """The names of its layers; since anndata 0.13 X is one of them, without a name."""
    return ", ".join(repr(name) for name in adata.layers if name is not None)


def _matrix(adata: Any, layer: str | None, use_raw: bool, mask_var: Any) -> tuple[Any, list[str], np.ndarray | None]:
    """The matrix to factorize with the names of its genes, and the mask of genes, if there is one."""
    _check_there(adata, layer, use_raw)
    of_genes = adata.raw if use_raw else adata
    chosen = _mask(of_genes, mask_var)
    names = [str(name) for name in of_genes.var_names]
    if layer is not None:
        X = adata.layers[layer]
    elif use_raw:
        X = _take_raw(adata, chosen)
    else:
        X = _take_X(adata, chosen)
    if chosen is not None:
        names = [name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen]
        if X.shape[1] == len(chosen) > len(names):
            X = X[:, chosen]
    return X, names, chosen


def _check_there(adata: Any, layer: str | None, use_raw: bool) -> None:
    """Refuse two matrices, and one that adata has not."""
    if layer is not None and use_raw:
        raise IncompatibleError("layer and use_raw are two different matrices. Give one of them.")
    if layer is not None and layer not in adata.layers:
        raise IncompatibleError(f"adata has no layer {layer!r}; it has {_layers(adata) or 'none'}.")
    if use_raw and adata.raw is None:
        raise IncompatibleError("use_raw=True, and adata.raw is None.")


def _take_raw(adata: Any, chosen: np.ndarray | None) -> Any:
    """The matrix of adata.raw; all of it is left in the file that it is backed by."""
    if chosen is not None:
        return adata.raw[:, chosen].X
    return open_data(adata.filename, key="raw/X") if getattr(adata, "isbacked", False) else adata.raw.X


def _take_X(adata: Any, chosen: np.ndarray | None) -> Any:
    """X; or, where it is in a file, the AnnData itself, which is read in blocks."""
    X = adata if chosen is None else adata[:, chosen]
    if getattr(adata, "isbacked", False):
        return X
    X = X.X
    if X is None:
        raise IncompatibleError(f"adata has no X. Give one of its layers: {_layers(adata) or 'it has none'}.")
    return X


def _mask(adata: Any, given: Any) -> np.ndarray | None:
    """The genes to use; None for all."""
    if isinstance(given, str) and given == "auto":
        given = _HIGHLY_VARIABLE if _HIGHLY_VARIABLE in adata.var else None
    if given is None:
        return None
    if isinstance(given, str) and given not in adata.var:
        raise IncompatibleError(
            f"mask_var is {given!r}, which is no column of adata.var; it has {', '.join(map(repr, adata.var))}."
        )
    mask = np.asarray(adata.var[given] if isinstance(given, str) else given)
    if mask.shape != (adata.shape[1],) or mask.dtype != bool:
        raise IncompatibleError(
            f"mask_var must be True or False for each of {adata.shape[1]} genes; got {mask.dtype} of shape {mask.shape}."
        )
    if not mask.any():
        raise IncompatibleError("mask_var leaves no gene.")
    return None if mask.all() else mask


def _called(mask_var: Any) -> str:
    """The name of the column of a mask, or that it was an array."""
    return (_HIGHLY_VARIABLE if mask_var == "auto" else mask_var) if isinstance(mask_var, str) else "array"


def _storable(value: Any) -> Any:
    """A parameter as .h5ad can hold it."""
    return value if isinstance(value, str | bool | Real | np.ndarray) else repr(value)


def markers(
    adata: Any, *, key: str = "nmf", by: str = "lift", count: int = 20, layer: str | None = None, use_raw: bool | None = None
) -> Any:
    """The marker genes of each program.

    Parameters
    ----------
    adata : AnnData
        With the results of `nmf` or its like.
    key : str, default="nmf"
        The `key_added` of these.
    by : {"lift", "weight", "zscore"}, default="lift"
        How genes are ranked, as in `nonneg.selection.top_features`.
    count : int, default=20
        The most genes of a program.
    layer, use_raw : optional
        The matrix to rank genes by; by default the one that was factorized.

    Returns
    -------
    DataFrame
        A column for each program, the foremost gene first.

    See Also
    --------
    nmf : Finds the programs.
    nonneg.selection.top_features : The same of any estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> from nonneg import cells
    >>> adata = AnnData(np.random.default_rng(0).poisson(3.0, size=(30, 12)).astype(float))
    >>> cells.nmf(adata, 2)
    >>> cells.markers(adata, count=3).shape
    (3, 2)
    """
    import pandas

    components, names, places = _results(adata, key)
    if layer is None and use_raw is None:
        fitted = adata.uns[key].get("params", {})
        layer, use_raw = fitted.get("layer"), bool(fitted.get("use_raw", False))
    of_genes = adata.raw if use_raw else adata
    if places is None or list(of_genes.var_names) != list(adata.var_names):
        place = _by_name(of_genes.var_names, "adata.raw" if use_raw else "adata")
        places = np.array([place[name] for name in names])
    X = (of_genes.X if layer is None else adata.layers[layer])[:, places]
    tops = top_features(components, names, count, by=by, X=X, codes=adata.obsm[f"X_{key}"])
    return pandas.DataFrame({f"{number + 1}": pandas.Series([feature.name for feature in top]) for number, top in enumerate(tops)})


def meta_programs(samples: Any, *, key: str = "nmf", n_clusters: int | str = "auto", min_share: float = 0.5) -> MetaComponents:
    """Find programs that separate samples have in common; see `nonneg.selection.meta_components`.

    Parameters
    ----------
    samples : list, or dict by name, of AnnData
        Each with results of its own, of `nmf` or its like. Genes that all have are compared.
    key : str, default="nmf"
        The `key_added` of these.
    n_clusters : int or "auto", default="auto"
        How many meta-programs to look for.
    min_share : float, default=0.5
        The share of samples that a meta-program must have programs of.

    Returns
    -------
    MetaComponents
        The meta-programs, that of most samples first.

    See Also
    --------
    integrative_nmf : All samples in one fit.
    nonneg.selection.meta_components : The same of any estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> from nonneg import cells
    >>> H = np.kron(np.eye(2), np.ones(6))
    >>> samples = [AnnData(np.random.default_rng(seed).random((30, 2)) @ H) for seed in range(3)]
    >>> for sample in samples:
    ...     cells.nmf(sample, 2)
    >>> cells.meta_programs(samples, n_clusters=2).components.shape
    (2, 12)
    """
    import pandas

    named = samples if isinstance(samples, Mapping) else dict(enumerate(samples))
    tables = {}
    for name, adata in named.items():
        components, names, _ = _results(adata, key)
        tables[name] = pandas.DataFrame(components, columns=list(names))
    return meta_components(tables, n_clusters, min_share=min_share)


def _results(adata: Any, key: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The components that were left in an AnnData, names of their genes, and their places in it, if all are there."""
    _check_annotated(adata)
    if key not in adata.varm or key not in adata.uns:
        raise IncompatibleError(f"adata has no results named {key!r}: call nonneg.cells.nmf(adata, ..., key_added={key!r}) first.")
    found = adata.uns[key]
    if "genes" in found:
        return np.asarray(found["components"]), np.asarray(found["genes"], dtype=str), None
    components = np.asarray(adata.varm[key]).T
    used = np.flatnonzero(components.any(axis=0))
    return components[:, used], np.array(adata.var_names, dtype=str)[used], used
