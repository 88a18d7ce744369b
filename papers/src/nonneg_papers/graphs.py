"""Graphs: to be cut into parts, or matched with a permuted copy of themselves."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array

from .cache import FetchError, describe, fetch
from .formats import make_sparse
from .graph_formats import Network, read_clu, read_dl, read_gml, read_matrix_market, read_pajek, read_suitesparse

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Fields = dict[str, Any]

PARTITIONING = (
    *("Scotland", "Cities", "WorldCities", "Journals", "DutchElite", "Strike", "Sawmill", "Korea1", "Korea2", "Football", "A99m"),
    "PolBlogs",
)
MATCHING = (
    *("SAMPIN", "WOLFK", "football35", "cage5", "BKOFFC", "curtis54", "will57", "PRISON", "CAG_mat72", "GlossGT", "RDPOS", "PADGB"),
    *("PADGM", "WOLFN", "strike", "ZACHC", "ZACHE", "korea1", "korea2", "mexican_power", "Sawmill", "dolphins"),
)
EXTRA = ("karate", "lesmis", "netscience", "polbooks", "adjnoun", "celegansneural")


def graph_names(role: Literal["partitioning", "matching"] | None = None) -> list[str]:
    """The names of the graphs.

    Parameters
    ----------
    role : {"partitioning", "matching"}, optional
        The use of the graphs in the papers; None lists all graphs, those of no paper too.

    Returns
    -------
    list of str
        Names for `load_graph`; "strike", "korea1" and "korea2", as graphs for matching, are "Strike", "Korea1" and "Korea2".

    See Also
    --------
    load_graph : One of them.

    Examples
    --------
    >>> from nonneg_papers import graph_names
    >>> "PolBlogs" in graph_names("partitioning")
    True
    """
    if role not in (None, "partitioning", "matching"):
        raise ValueError(f"role={role!r} is not known; it can be 'partitioning', 'matching', None.")
    if role is not None:
        return list(PARTITIONING if role == "partitioning" else MATCHING)
    return list({name.casefold(): name for name in (*MATCHING, *PARTITIONING, *EXTRA)}.values())


def load_graph(name: str, *, largest_component: bool = False, drop_isolated: bool = False) -> Bunch:
    """A graph by its name.

    Parameters
    ----------
    name : str
        One of `graph_names`, in any case; "Korea" is "Korea1".
    largest_component : bool
        Keep only the largest component; of a directed graph, the weak one.
    drop_isolated : bool
        Drop the vertices that have no line to another one.

    Returns
    -------
    Bunch
        ``adjacency`` (n, n), a csr_array of float64, symmetric unless ``directed``, entry (i, j) being the line from i to j;
        ``names`` (n,) of the vertices, numbers from 1 where the file has none; ``DESCR``. Where there are labels, ``target`` (n,)
        from 0, and ``target_names``. Where the vertices have been joined by what they share, ``data`` (n, n_features), a
        csr_array: who has what, with ``feature_names``; ``adjacency`` is ``data @ data.T`` without the diagonal. If vertices are
        left out, features that none of the others has are, too; the classes remain numbered as they were. "Journals" has
        ``readers`` (n,), "DutchElite" has ``task`` (n,) and ``domain`` (n,), "A99m" has ``sex`` (n,).

    See Also
    --------
    graph_names : The names.
    nonneg.graph.read_graph : Graphs from files.

    Examples
    --------
    >>> from nonneg_papers import load_graph
    >>> blogs = load_graph("PolBlogs", drop_isolated=True)  # doctest: +SKIP
    >>> blogs.adjacency.shape  # doctest: +SKIP
    (1224, 1224)
    """
    from sklearn.utils import Bunch

    graph = _GRAPHS[_find(name)]
    fields = graph.read(*(fetch(f"graphs/{path}") for path in graph.files))
    if drop_isolated:
        fields = _subset(fields, _lines_at(fields["adjacency"]) > 0)
    if largest_component:
        fields = _subset(fields, _in_largest_component(fields["adjacency"]))
    return Bunch(**fields, DESCR=describe(graph.title, [f"graphs/{path}" for path in graph.files], graph.licence, graph.notes))


def _find(name: Any) -> str:
    known = {known.casefold(): known for known in _GRAPHS}
    folded = "korea1" if str(name).casefold() == "korea" else str(name).casefold()
    if folded in known:
        return known[folded]
    near = [repr(known[match]) for match in difflib.get_close_matches(folded, known, n=3)]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise ValueError(f"name={name!r} is not known.{hint} It can be {', '.join(map(repr, known.values()))}.")


# ---------------------------------------------------------------- matrices


def _adjacency(
    n: int, lines: Iterable[tuple[int, int, float]], *, directed: bool, edges: Iterable[tuple[int, int, float]] = ()
) -> csr_array:
    """The matrix of these lines, and of undirected edges besides; lines that come more than once are added."""
    lines, edges = list(lines), list(edges)
    both_ways = edges if directed else [*lines, *edges]
    lines = [*lines, *edges, *((j, i, value) for i, j, value in both_ways if i != j)]
    rows, columns, values = np.array(lines, dtype=np.float64).reshape(-1, 3).T
    return make_sparse(coo_array((values, (rows.astype(np.int64), columns.astype(np.int64))), shape=(n, n)))


def _binary(matrix: csr_array) -> csr_array:
    matrix.data[:] = 1.0
    return matrix


def _without_diagonal(matrix: csr_array) -> csr_array:
    return make_sparse(matrix - diags_array(matrix.diagonal()))


def _lines_at(adjacency: csr_array) -> np.ndarray:
    """The number of lines that join each vertex with others, to it or from it."""
    pattern = _binary(_without_diagonal(adjacency))
    return pattern.sum(axis=0) + pattern.sum(axis=1)


def _in_largest_component(adjacency: csr_array) -> np.ndarray:
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(adjacency, directed=True, connection="weak")
    return component == np.bincount(component).argmax()


def _subset(fields: Fields, kept: np.ndarray) -> Fields:
    """The vertices that are kept, in everything that belongs to vertices."""
    fields = {key: value[kept] if key in PER_VERTEX else value for key, value in fields.items()}
    fields["adjacency"] = make_sparse(fields["adjacency"][:, kept])
    if "data" in fields and not kept.all():
        present = _binary(fields["data"].copy()).sum(axis=0) > 0
        fields["data"], fields["feature_names"] = make_sparse(fields["data"][:, present]), fields["feature_names"][present]
    return fields


PER_VERTEX = {"adjacency", "names", "target", "data", "readers", "task", "domain", "sex"}


# ---------------------------------------------------------------- readers of one kind of graph each


def _graph(adjacency: csr_array, names: Sequence[str], *, directed: bool, **more: Any) -> Fields:
    numbered = [name or str(number) for number, name in enumerate(names, start=1)]
    return {"adjacency": adjacency, "directed": directed, "names": np.array(numbered, dtype=str), **more}


def _labels(codes: np.ndarray, classes: Mapping[Any, str]) -> Fields:
    """Classes counted from 0, in the order in which they are listed."""
    place = {code: i for i, code in enumerate(classes)}
    return {"target": np.array([place[code] for code in codes], dtype=np.int64), "target_names": np.array(list(classes.values()))}


def _dl(path: Path, *, level: str | None = None, directed: bool) -> Fields:
    """A matrix of a UCINET file."""
    file = read_dl(path)
    matrix = file.matrices[level] if level is not None else next(iter(file.matrices.values()))
    return _graph(make_sparse(matrix), file.labels or [""] * len(matrix), directed=directed)


def _matrix(path: Path, *, read: Callable[[Path], csr_array]) -> Fields:
    """A matrix that is taken for that of a directed graph."""
    adjacency = make_sparse(read(path))
    return _graph(adjacency, [""] * adjacency.shape[0], directed=True)


def _pajek(
    path: Path, *, directed: bool = False, which: int = 0, partition: str = "", classes: Mapping[int, str] | None = None
) -> Fields:
    """A network of a Pajek file, with a partition of that file if there is one."""
    file = read_pajek(path)
    network = file.networks[which]
    adjacency = _adjacency(network.n, network.arcs, edges=network.edges, directed=directed)
    labels = {} if classes is None else _labels(file.partitions[partition], classes)
    return _graph(adjacency, network.names, directed=directed, **labels)


def _gml(path: Path, *, weight: str | None = None, label: str = "", classes: Mapping[Any, str] | None = None) -> Fields:
    """A graph in GML; weights are an attribute of edges, labels one of nodes."""
    graph = read_gml(path)
    place = {node: i for i, node in enumerate(graph)}
    lines = [(place[i], place[j], 1.0 if weight is None else float(edge[weight])) for i, j, edge in graph.edges(data=True)]
    adjacency = _adjacency(len(graph), lines, directed=graph.is_directed())
    nodes = graph.nodes(data=True)
    labels = {} if classes is None else _labels(np.array([node[label] for _, node in nodes]), classes)
    names = [str(node.get("label", number)) for number, node in nodes]
    return _graph(adjacency, names, directed=graph.is_directed(), **labels)


def _two_mode(data: csr_array, names: Sequence[str], feature_names: Sequence[str], **more: Any) -> Fields:
    """Things that are joined by what they share."""
    data = make_sparse(data)
    more = {"data": data, "feature_names": np.array(feature_names, dtype=str), **more}
    return _graph(_without_diagonal(data @ data.T), names, directed=False, **more)


def _incidence(network: Network, n_first: int) -> csr_array:
    """The lines between the first vertices (rows) and the others (columns)."""
    rows, columns, values = np.array(network.edges, dtype=np.float64).reshape(-1, 3).T
    places = (rows.astype(np.int64), columns.astype(np.int64) - n_first)
    return csr_array(coo_array((values, places), shape=(n_first, network.n - n_first)))


# ---------------------------------------------------------------- readers of single graphs


def _scotland(path: Path) -> Fields:
    file = read_pajek(path)
    network = file.networks[0]
    industries = file.partitions["Industrial_categories.clu"]
    n = len(industries)
    labels = _labels(industries, INDUSTRIES)
    return _two_mode(_incidence(network, n), network.names[:n], network.names[n:], **labels)


def _cities(path: Path, classes: Path) -> Fields:
    network = read_pajek(path, extra_columns=1).networks[0]
    n, matrix = network.n_first, network.matrix
    if matrix is None or not np.array_equal(matrix[:, :-1].sum(axis=1), matrix[:, -1]):
        raise FetchError(f"{path} should have the sums of its rows in its last column, and has not.")
    data = csr_array(matrix[:, :-1].T)
    return _two_mode(data, network.names[n:], network.names[:n], **_labels(read_clu(classes)[n:], SERVICES))


def _world_cities(path: Path, classes: Path) -> Fields:
    network = read_pajek(path).networks[0]
    n = network.n_first
    labels = _labels(read_clu(classes)[n:], WORLD_SERVICES)
    return _two_mode(_incidence(network, n).T, network.names[n:], network.names[:n], **labels)


def _journals(path: Path) -> Fields:
    file = read_pajek(path, encoding="cp1250")
    matrix, names = file.networks[0].matrix, file.networks[0].names
    assert matrix is not None
    adjacency = _without_diagonal(csr_array(matrix))
    labels = _labels(file.partitions["vrste_revij"], JOURNALS)
    return _graph(adjacency, names, directed=False, readers=matrix.diagonal().copy(), **labels)


def _dutch_elite(path: Path) -> Fields:
    file = read_pajek(path, encoding="cp1252")
    network = file.networks[0]
    n = network.n_first
    tasks, domains = file.partitions["Task"][n:], file.partitions["Domain"][n:]
    codes, counts = np.unique(tasks, return_counts=True)
    largest = {int(code): TASKS[code] for code in codes[np.argsort(-counts, kind="stable")[:3]]}
    labels = _labels(np.where(np.isin(tasks, list(largest)), tasks, 0), {**largest, 0: "misc"})
    return _two_mode(
        _binary(make_sparse(_incidence(network, n))).T,
        network.names[n:],
        network.names[:n],
        **labels,
        task=np.array([TASKS[code] for code in tasks]),
        domain=np.array([DOMAINS[code] for code in domains]),
    )


def _a99m(path: Path) -> Fields:
    file = read_pajek(path)
    network = file.networks[0]
    adjacency = _binary(_adjacency(network.n, network.arcs, edges=network.edges, directed=False))
    sexes = np.array(["female" if shape == "ellipse" else "male" if shape == "triangle" else "other" for shape in _shapes(network)])
    states = np.array([{1: 0, 4: 1}.get(state, 2) for state in file.partitions["A.clu"]])
    labels = _labels(states, {0: "inactive", 1: "active", 2: "others"})
    return _graph(adjacency, network.names, directed=False, **labels, sex=sexes)


def _shapes(network: Network) -> list[str]:
    """The shapes of vertices: a vertex without one has that of the vertex before it, by Pajek's rule; the first is an ellipse."""
    shapes, shape = [], "ellipse"
    for attributes in network.attributes:
        shape = next((word for word in attributes.lower().split() if word in SHAPES), shape)
        shapes.append(shape)
    return shapes


SHAPES = {"ellipse", "box", "diamond", "triangle", "cross", "empty", "house", "man", "woman"}


def _korea(path: Path, *, village: int) -> Fields:
    return _pajek(path, which=village - 1, partition=f"Korea{village}_members.clu", classes={0: "not a member", 1: "member"})


def _polblogs(path: Path) -> Fields:
    fields = _gml(path, label="value", classes={0: "liberal", 1: "conservative"})
    fields["adjacency"] = _binary(_without_diagonal(fields["adjacency"]))
    return fields


INDUSTRIES = {
    1: "oil & mining",
    2: "railway",
    3: "engineering & steel",
    4: "electricity & chemicals",
    5: "domestic products",
    6: "banks",
    7: "insurance",
    8: "investment",
}
SERVICES = {2: "accountancy", 3: "advertising", 4: "banking and finance", 5: "law"}
WORLD_SERVICES = {
    1: "accountancy",
    2: "advertising",
    3: "banking/finance",
    4: "insurance",
    5: "law",
    6: "management consultancy",
}
JOURNALS = {
    1: "dailies",
    2: "business",
    3: "computers",
    4: "home",
    5: "fashion",
    6: "news weeklies",
    7: "free papers",
    8: "men, special interest",
    9: "teenagers",
    10: "regional",
    11: "special interest",
    12: "women, special interest",
    13: "TV guides",
    14: "women",
}
TASKS = {
    1: "Advice",
    2: "Administration",
    3: "Management",
    4: "Unknown",
    5: "Other",
    6: "Inspection",
    7: "Representation of the people",
    8: "Arbitration/administration of justice",
}
DOMAINS = {
    1: "General Affairs",
    2: "Foreign Affairs",
    3: "Defence",
    4: "Economic Affairs",
    5: "Finance",
    6: "Justice",
    7: "Agriculture & Nature",
    8: "Education & Science",
    9: "Culture",
    10: "Social Affairs",
    11: "Transport",
    12: "Health & Welfare",
    13: "Sports",
    14: "Spatial Planning & Environment",
    15: "Interior",
    18: "Media",
}
CONFERENCES = {
    0: "Atlantic Coast",
    1: "Big East",
    2: "Big Ten",
    3: "Big Twelve",
    4: "Conference USA",
    5: "Independents",
    6: "Mid-American",
    7: "Mountain West",
    8: "Pacific Ten",
    9: "Southeastern",
    10: "Sun Belt",
    11: "Western Athletic",
}


# ---------------------------------------------------------------- the graphs

PAJEK = "Pajek data sets (V. Batagelj, A. Mrvar), CC BY-NC-SA 2.5 unless a set states otherwise; cite the authors of the data."
UCINET = "UCINET IV data set, passed on with the Pajek data sets (CC BY-NC-SA 2.5)."
SUITESPARSE = "SuiteSparse Matrix Collection, CC BY 4.0."
NEWMAN = "none stated; from M. Newman's page of network data: cite the authors of the data."


@dataclass(frozen=True)
class _Graph:
    """A graph: what it is, what was assumed, and how it is made of its files."""

    title: str
    notes: str
    licence: str
    files: tuple[str, ...]
    read: Callable[..., Fields]


def _ucinet(title: str, file: str, level: str | None, notes: str, *, directed: bool) -> _Graph:
    return _Graph(title, notes, UCINET, (file,), partial(_dl, level=level, directed=directed))


_GRAPHS = {
    "Scotland": _Graph(
        "Scotland: 108 joint stock companies of 1904–5 in 8 industries, joined by 136 directors.",
        """Undirected. A row of the data is a company, a column a director who sits in several; 358 seats (the page that describes
        the file says 356). The adjacency is the number of directors that two companies share, 276 pairs; its diagonal is left out.
        The target is the industry. 16 companies have none of these directors and are isolated; the largest component has 86
        companies.""",
        PAJEK,
        ("Scotland/Scotland.paj",),
        _scotland,
    ),
    "Cities": _Graph(
        "Cities: 46 global service firms of 4 sectors, and how present they are in 55 world cities (GaWC data set 6).",
        """Undirected, weighted. A row of the data is a firm, a column a city, a value the presence from 0 to 3; 1342 are not 0. In
        the file cities are rows, and a 47th number in each is the sum of the others: it is dropped. The adjacency is data @ data.T,
        its diagonal left out. The target is the sector; its names are from comments in the file.""",
        PAJEK,
        ("Cities/da6+.net", "Cities/cities.clu"),
        _cities,
    ),
    "WorldCities": _Graph(
        "WorldCities: 100 global service firms of 6 sectors, and how present they are in 315 cities (GaWC data set 11).",
        """Undirected, weighted. A row of the data is a firm, a column a city, a value the presence from 0 to 5; 7518 are not 0, and
        2 cities have no firm. In the file cities come first. The adjacency is data @ data.T, its diagonal left out. The target is
        the sector.""",
        PAJEK,
        ("WorldCities/WorldCities.net", "WorldCities/WorldCities.clu"),
        _world_cities,
    ),
    "Journals": _Graph(
        "Journals: 124 Slovenian magazines and newspapers of 14 kinds, joined by the readers they share, 1999–2000.",
        """Undirected, weighted: the number of people asked who read both; 5972 pairs, 78 % of all, of very different weights. The
        diagonal of the stored matrix, the number of readers of each, is larger than all else: it is not in the adjacency but in
        readers. The target is the kind, its names translated.""",
        PAJEK,
        ("Journals/revije.paj",),
        _journals,
    ),
    "DutchElite": _Graph(
        "DutchElite: 937 administrative bodies of the Netherlands in April 2006, joined by 3810 people.",
        """Undirected. A row of the data is a body, a column a person (first in the file), 1 for a seat. The file has 5221 seats in
        41 roles; the roles are left out, so that 5220 pairs remain. The adjacency is the number of people that two bodies share,
        2733 pairs; its diagonal is left out. 201 bodies share nobody; the largest component has 705. The target is an assumption:
        the paper has 4 classes, "3 largest + misc", and the file does not say of which partition; here it is the task, with 394,
        245, 203 and 95 bodies. By the domain it would be 133, 106, 102 and 596. All tasks and domains are in task and domain.""",
        PAJEK,
        ("DutchElite/DutchElite.paj",),
        _dutch_elite,
    ),
    "Strike": _Graph(
        "Strike: 24 employees of a sawmill on strike, joined by talking about it often; 3 groups.",
        """Undirected, not weighted, 38 edges, connected. The target is the group by language and age. 12 permutations of the
        vertices leave it unchanged: 11, 12, 13 can be interchanged, and 23, 24 (counted from 1). As a graph for matching its name
        is strike.""",
        PAJEK,
        ("Strike/strike.paj",),
        partial(
            _pajek,
            partition="Strike_groups.clu",
            classes={1: "Spanish-speaking", 2: "young English-speaking", 3: "old English-speaking"},
        ),
    ),
    "Sawmill": _Graph(
        "Sawmill: 36 employees of a sawmill, joined by talking about work often.",
        """Undirected, not weighted, 62 edges, connected. The target is an assumption: the paper has 3 classes, and the only
        partition with 3 in the source is the core number (1, 2, 3) of each vertex, which is computed from the graph and no
        independent truth. Other groups can be read from the names: HP, HM, EP, EM are for Hispanic and English, planer and
        mill.""",
        PAJEK,
        ("Sawmill/Sawmill.net", "Sawmill/Sawmill.kcore.clu"),
        lambda network, cores: {**_pajek(network), **_labels(read_clu(cores), {1: "1-core", 2: "2-core", 3: "3-core"})},
    ),
    **{
        f"Korea{village}": _Graph(
            f"Korea{village}: 39 women of a Korean village, joined by talking about family planning.",
            f"""Undirected, not weighted, {n_edges} edges. The last 4 vertices are isolated; {rest}. The target is whether a woman
            is a member of the Mothers' Club. There are two villages, Korea1 and Korea2; which one the paper used is not recorded.
            The name Korea gives the first. {n_automorphisms} permutations of the vertices leave the graph unchanged.""",
            PAJEK,
            ("Korea/Korea.paj",),
            partial(_korea, village=village),
        )
        for village, n_edges, rest, n_automorphisms in (
            (1, 69, "of the others 33 are connected, and 2 are a pair", 768),
            (2, 84, "the others are connected", 48),
        )
    },
    "Football": _Graph(
        "Football: 115 teams of American college football in 12 conferences, joined by games in autumn 2000.",
        """Undirected, not weighted, 613 edges, connected. The target is the conference as in M. Newman's file; a few are known to
        be wrong for that season (T. S. Evans, 2010), and are left as they are.""",
        NEWMAN,
        ("Football/football.gml",),
        partial(_gml, label="value", classes=CONFERENCES),
    ),
    "A99m": _Graph(
        "A99m: 234 characters, marriages and the like in the German soap opera Lindenstraße (Graph Drawing contest 1999).",
        """Taken as undirected and not weighted: the file has 48 arcs and 278 edges of five relations, which are 325 pairs, one of
        them in two relations. Vertices 1 to 179 are characters, the others stand for marriages, and tie families together; one
        vertex is isolated. Many have no name, and have their number instead. The target has the classes that the paper names:
        inactive 52, active 67, and others 115, merged here from the eight states of the file. ``sex`` is female 76, male 101, other
        57 (couples, and what is no character), read from the shapes of the vertices: ellipse, triangle, any other. 11 vertices have
        no shape, and have that of the vertex before, which is Pajek's rule. The paper says that it was given as a rectangular
        matrix, which the file is not.""",
        PAJEK,
        ("A99m/A99m.paj",),
        _a99m,
    ),
    "PolBlogs": _Graph(
        "PolBlogs: 1490 political blogs of February 2005, liberal and conservative, with the links between them.",
        """Directed, not weighted. The file has 19090 links, 65 of them repeated and 3 from a blog to itself: the former are merged,
        the latter dropped, so that 19022 remain, between 16715 pairs. 1224 blogs have a link (drop_isolated), the largest component
        has 1222. The target is the leaning, in part judged by hand.""",
        NEWMAN,
        ("PolBlogs/polblogs.gml",),
        _polblogs,
    ),
    "SAMPIN": _ucinet(
        "SAMPIN: who influences whom among 18 novices of a monastery (S. F. Sampson).",
        "SAMPSON/SAMPSON.DAT",
        "SAMPIN",
        "Directed, weighted: ranks from 1 to 3 (the strongest), 53 arcs. The seventh of ten stacked matrices.",
        directed=True,
    ),
    "WOLFK": _ucinet(
        "WOLFK: kinship among 20 monkeys (L. Wolfe).",
        "WOLF/WOLF.DAT",
        "WOLFK",
        """Directed, not weighted, 15 arcs. The first of two stacked matrices. 4 vertices are isolated, and 1728 permutations leave
        the graph unchanged, so that a matching can be judged by its lines only, not by its vertices.""",
        directed=True,
    ),
    "football35": _Graph(
        "football35: 35 countries, and the football players that each exports to the others, of the teams of the World Cup 1998.",
        """Directed, weighted: numbers of players, 118 arcs. Equal to Pajek/football of the SuiteSparse collection. It has nothing
        to do with Football, the American college teams.""",
        PAJEK,
        ("football35/football.net",),
        partial(_pajek, directed=True),
    ),
    "cage5": _Graph(
        "cage5: DNA electrophoresis, 37 states of a polymer (A. van Heukelum).",
        """Taken as directed, weighted: 233 entries, of which 37 are the diagonal, which is kept. The pattern is symmetric, the
        values are not; the columns of the matrix add up to 1.""",
        SUITESPARSE,
        ("cage5/cage5.mtx",),
        partial(_matrix, read=read_matrix_market),
    ),
    "BKOFFC": _ucinet(
        "BKOFFC: how 40 members of an office rank the others by how much they talk (Bernard, Killworth, Sailer).",
        "BKOFF/BKOFF.DAT",
        "BKOFFC",
        """Directed, weighted: ranks from 1 to 39, 1558 of 1560 possible arcs, so that nothing is left without the weights. The
        second of two stacked matrices. 2 permutations of the vertices leave the graph unchanged.""",
        directed=True,
    ),
    "curtis54": _Graph(
        "curtis54: a pattern of order 54 from the Harwell-Boeing collection (A. Curtis).",
        """Taken as directed, not weighted: 291 entries, of which 54 are the diagonal, which is kept; nearly symmetric. 8
        permutations of the vertices leave the graph unchanged.""",
        SUITESPARSE,
        ("curtis54/curtis54.mat",),
        partial(_matrix, read=read_suitesparse),
    ),
    "will57": _Graph(
        "will57: a pattern of order 57 from the Harwell-Boeing collection (R. Willoughby).",
        "Taken as directed, not weighted: 281 entries, of which 57 are the diagonal, which is kept.",
        SUITESPARSE,
        ("will57/will57.mtx",),
        partial(_matrix, read=read_matrix_market),
    ),
    "PRISON": _ucinet(
        "PRISON: whom 67 prison inmates name as friends (J. Gagnon, D. MacRae).",
        "PRISON/PRISON.DAT",
        None,
        "Directed, not weighted, 182 arcs.",
        directed=True,
    ),
    "CAG_mat72": _Graph(
        "CAG_mat72: a combinatorial matrix of order 72 (JGD_CAG).",
        """Directed, weighted: 940 arcs. INCOMPLETE: the matrix of the SuiteSparse collection has 72 more entries, its diagonal,
        which this copy has not; all else agrees with what is known of that matrix.""",
        SUITESPARSE,
        ("CAG_mat72/CAG_mat72.txt",),
        partial(_matrix, read=read_matrix_market),
    ),
    "GlossGT": _Graph(
        "GlossGT: 72 terms of a glossary of graph theory, and which are used to explain which (B. Cherowitzo).",
        """Directed, not weighted: 114 arcs and 4 edges, taken as two arcs each, so that there are 122, as in Pajek/GlossGT of the
        SuiteSparse collection. 5 vertices are isolated. 1920 permutations of the vertices leave the graph unchanged.""",
        PAJEK,
        ("GlossGT/glossTG.paj",),
        partial(_pajek, directed=True),
    ),
    "RDPOS": _ucinet(
        "RDPOS: friendship in the bank wiring room, 14 workers (F. Roethlisberger, W. Dickson).",
        "WIRING/WIRING.DAT",
        "RDPOS",
        """Undirected, not weighted, 13 edges. The third of six stacked matrices. 5 vertices are isolated, and 480 permutations of
        the vertices leave the graph unchanged.""",
        directed=False,
    ),
    "PADGB": _ucinet(
        "PADGB: business ties among 16 families of Florence (J. Padgett).",
        "PADGETT/PADGETT.DAT",
        "PADGB",
        """Undirected, not weighted, 15 edges. The second of two stacked matrices. 5 families are isolated, and 720 permutations of
        the vertices leave the graph unchanged.""",
        directed=False,
    ),
    "PADGM": _ucinet(
        "PADGM: marriages among 16 families of Florence (J. Padgett).",
        "PADGETT/PADGETT.DAT",
        "PADGM",
        "Undirected, not weighted, 20 edges. The first of two stacked matrices. One family, PUCCI, is isolated.",
        directed=False,
    ),
    "WOLFN": _ucinet(
        "WOLFN: how often 20 monkeys were seen together (L. Wolfe).",
        "WOLF/WOLF.DAT",
        "WOLFN",
        """Undirected, weighted from 1 to 17; 181 of 190 possible edges, so that little is left without the weights. The second of
        two stacked matrices.""",
        directed=False,
    ),
    "ZACHC": _ucinet(
        "ZACHC: the 34 members of Zachary's karate club, with the strengths of their ties.",
        "ZACHARY/Zachary.DAT",
        "ZACHC",
        "Undirected, weighted from 1 to 7, 78 edges. The second of two stacked matrices. It has no labels: see karate.",
        directed=False,
    ),
    "ZACHE": _ucinet(
        "ZACHE: the 34 members of Zachary's karate club.",
        "ZACHARY/Zachary.DAT",
        "ZACHE",
        """Undirected, not weighted, 78 edges. The first of two stacked matrices. 480 permutations of the vertices leave the graph
        unchanged. It has no labels: see karate.""",
        directed=False,
    ),
    "mexican_power": _Graph(
        "mexican_power: 35 members of the political elite of Mexico, joined by political, family and business ties.",
        "Undirected, not weighted, 117 edges, connected. The target is military or civilian.",
        PAJEK,
        ("mexican_power/mexican_power.paj",),
        partial(_pajek, partition="mexican_military.clu", classes={1: "military", 2: "civilian"}),
    ),
    "dolphins": _Graph(
        "dolphins: 62 dolphins of Doubtful Sound, joined if they were often together (D. Lusseau and others).",
        """Undirected, not weighted, 159 edges. The well known split into two groups is not in the file. 4 permutations of the
        vertices leave the graph unchanged.""",
        PAJEK,
        ("dolphins/dolphins.net",),
        _pajek,
    ),
    "karate": _Graph(
        "karate: the 34 members of Zachary's karate club, and with whom they stayed when it split.",
        """Undirected, not weighted, 78 edges, those of ZACHE. The target is the club after the split, 17 each. Vertices are named
        by numbers from 0, as in the file.""",
        NEWMAN,
        ("karate/karate_club.gml",),
        partial(_gml, label="club", classes={"Mr. Hi": "Mr. Hi", "Officer": "Officer"}),
    ),
    "lesmis": _Graph(
        "lesmis: 77 characters of Les Misérables, joined if they appear together (D. E. Knuth).",
        "Undirected, weighted by how often they do, from 1 to 31; 254 edges.",
        NEWMAN,
        ("lesmis/lesmis.gml",),
        partial(_gml, weight="value"),
    ),
    "netscience": _Graph(
        "netscience: 1589 authors of papers on networks, joined if they wrote one together (M. Newman).",
        "Undirected, weighted, 2742 edges. 128 authors are isolated, the largest component has 379.",
        NEWMAN,
        ("netscience/netscience.gml",),
        partial(_gml, weight="value"),
    ),
    "polbooks": _Graph(
        "polbooks: 105 books on US politics, joined if they are often bought together (V. Krebs).",
        "Undirected, not weighted, 441 edges. The target is the leaning of the book.",
        NEWMAN,
        ("polbooks/polbooks.gml",),
        partial(_gml, label="value", classes={"l": "liberal", "n": "neutral", "c": "conservative"}),
    ),
    "adjnoun": _Graph(
        "adjnoun: 112 common adjectives and nouns of David Copperfield, joined if they stand side by side (M. Newman).",
        """Undirected, not weighted, 425 edges. The target is adjective or noun. Lines run between the classes rather than within
        them, so that methods that look for dense blocks do not find them.""",
        NEWMAN,
        ("adjnoun/adjnoun.gml",),
        partial(_gml, label="value", classes={0: "adjective", 1: "noun"}),
    ),
    "celegansneural": _Graph(
        "celegansneural: the 297 neurons of the worm C. elegans (J. White and others; D. Watts, S. Strogatz).",
        """Directed, weighted. The file has 2359 arcs, 14 of them twice: the weights of these are added, so that there are 2345.""",
        NEWMAN,
        ("celegansneural/celegansneural.gml",),
        partial(_gml, weight="value"),
    ),
}
