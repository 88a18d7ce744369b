"""The graphs: on the real files where they are at hand, against the manifest's numbers; their formats on small made-up ones."""

import json
import re

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from at_hand import at_hand
from nonneg_papers import FetchError, graph_names, graphs, load_graph
from nonneg_papers import graph_formats as formats
from nonneg_papers.cache import FILES


def folder(*paths):
    """The folder of the graphs; skip unless these files are in it."""
    return at_hand(*(f"graphs/{path}" for path in paths)) / "graphs"


def load(name, **options):
    folder(*graphs._GRAPHS[graphs._find(name)].files)
    return load_graph(name, **options)


def dense(name):
    return load(name).adjacency.toarray()


def n_edges(adjacency, directed=False):
    return adjacency.nnz if directed else (adjacency.nnz + np.count_nonzero(adjacency.diagonal())) // 2


def from_lines(n, lines, both_ways=False):
    matrix = np.zeros((n, n))
    for i, j, value in lines:
        matrix[i, j] += value
        if both_ways:
            matrix[j, i] += value
    return matrix


# ---------------------------------------------------------------- every graph

SIZES = {  # vertices, edges or arcs
    "Scotland": (108, 276),
    "Cities": (46, 46 * 45 // 2),
    "WorldCities": (100, 100 * 99 // 2),
    "Journals": (124, 5972),
    "DutchElite": (937, 2733),
    "Strike": (24, 38),
    "Sawmill": (36, 62),
    "Korea1": (39, 69),
    "Korea2": (39, 84),
    "Football": (115, 613),
    "A99m": (234, 325),
    "PolBlogs": (1490, 19022),
    "SAMPIN": (18, 53),
    "WOLFK": (20, 15),
    "football35": (35, 118),
    "cage5": (37, 233),
    "BKOFFC": (40, 1558),
    "curtis54": (54, 291),
    "will57": (57, 281),
    "PRISON": (67, 182),
    "CAG_mat72": (72, 940),
    "GlossGT": (72, 122),
    "RDPOS": (14, 13),
    "PADGB": (16, 15),
    "PADGM": (16, 20),
    "WOLFN": (20, 181),
    "ZACHC": (34, 78),
    "ZACHE": (34, 78),
    "mexican_power": (35, 117),
    "dolphins": (62, 159),
    "karate": (34, 78),
    "lesmis": (77, 254),
    "netscience": (1589, 2742),
    "polbooks": (105, 441),
    "adjnoun": (112, 425),
    "celegansneural": (297, 2345),
}
DIRECTED = {
    "PolBlogs",
    "SAMPIN",
    "WOLFK",
    "football35",
    "cage5",
    "BKOFFC",
    "curtis54",
    "will57",
    "PRISON",
    "CAG_mat72",
    "GlossGT",
} | {"celegansneural"}
WEIGHTED = {
    *("Cities", "WorldCities", "Scotland", "Journals", "DutchElite", "SAMPIN", "football35", "cage5", "BKOFFC", "CAG_mat72"),
    *("WOLFN", "ZACHC", "lesmis", "netscience", "celegansneural"),
}
DIAGONAL = {"cage5": 37, "curtis54": 54, "will57": 57}
CLASSES = {
    "Scotland": [11, 11, 16, 7, 19, 8, 14, 22],
    "Cities": [5, 11, 14, 16],
    "WorldCities": [18, 15, 23, 11, 16, 17],
    "Journals": [5, 13, 8, 4, 4, 8, 13, 12, 5, 8, 23, 9, 5, 7],
    "DutchElite": [394, 245, 203, 95],
    "Strike": [4, 9, 11],
    "Sawmill": [5, 18, 13],
    "Korea1": [27, 12],
    "Korea2": [27, 12],
    "Football": [9, 8, 11, 12, 10, 5, 13, 8, 10, 12, 7, 10],
    "A99m": [52, 67, 115],
    "PolBlogs": [758, 732],
    "mexican_power": [12, 23],
    "karate": [17, 17],
    "polbooks": [43, 13, 49],
    "adjnoun": [58, 54],
}
TWO_MODE = {"Scotland": (108, 136, 358), "Cities": (46, 55, 1342), "WorldCities": (100, 315, 7518), "DutchElite": (937, 3810, 5220)}


@pytest.mark.parametrize("name", SIZES)
def test_graph(name):
    bunch = load(name)
    adjacency, (n, lines) = bunch.adjacency, SIZES[name]
    assert isinstance(adjacency, csr_array)
    assert (adjacency.dtype, adjacency.indices.dtype, adjacency.shape) == (np.float64, np.int32, (n, n))
    assert adjacency.has_canonical_format
    assert np.isfinite(adjacency.data).all()
    assert adjacency.data.min() > 0
    assert bunch.directed is (name in DIRECTED)
    assert n_edges(adjacency, bunch.directed) == lines
    assert (abs(adjacency - adjacency.T).nnz == 0) is not bunch.directed
    assert np.count_nonzero(adjacency.diagonal()) == DIAGONAL.get(name, 0)
    assert (set(adjacency.data) != {1}) is (name in WEIGHTED)
    assert (bunch.names.shape, bunch.names.dtype.kind) == ((n,), "U")
    assert all(bunch.names)
    assert ("target" in bunch) is ("target_names" in bunch) is (name in CLASSES)
    if name in CLASSES:
        assert bunch.target.dtype == np.int64
        assert bunch.target.shape == (n,)
        np.testing.assert_array_equal(np.bincount(bunch.target), CLASSES[name])
        assert len(bunch.target_names) == len(CLASSES[name])
    assert ("data" in bunch) is ("feature_names" in bunch) is (name in TWO_MODE)
    if name in TWO_MODE:
        rows, columns, entries = TWO_MODE[name]
        assert isinstance(bunch.data, csr_array)
        assert (bunch.data.shape, bunch.data.nnz, bunch.data.dtype) == ((rows, columns), entries, np.float64)
        assert len(bunch.feature_names) == columns
        shared = (bunch.data @ bunch.data.T).toarray()
        np.fill_diagonal(shared, 0)
        np.testing.assert_array_equal(adjacency.toarray(), shared)
    first, _, source, licence, _, *notes = bunch.DESCR.split("\n")
    assert first.startswith(f"{name}: ")
    assert re.match(r"Source: \S+ (in \S+ )?of github\.com/\w", source)
    assert re.match(r"Licence: \w", licence)
    assert ("ndirected" if name not in DIRECTED else "irected") in " ".join(notes)
    assert max(map(len, bunch.DESCR.split("\n"))) <= 200


def test_sizes_and_classes_are_those_of_the_manifest():
    manifest = json.loads((folder("MANIFEST.json") / "MANIFEST.json").read_text(encoding="utf8"))
    listed = {entry["name"]: entry for entry in manifest if entry["files"]}
    assert {name.casefold() for name in listed} - {"korea"} == {name.casefold() for name in SIZES}
    own = {"Scotland", "Cities", "WorldCities", "DutchElite", "A99m", "PolBlogs", "celegansneural", "Korea"}  # tested by themselves
    for name, entry in listed.items():
        if name in own:
            continue
        bunch = load(name)
        assert (bunch.adjacency.shape[0], n_edges(bunch.adjacency, bunch.directed)) == (entry["n_nodes"], entry["n_edges"])
        assert bool(entry["directed"]) is bunch.directed
        if isinstance(entry["labels"], dict):
            assert list(np.bincount(bunch.target)) == list(entry["labels"]["counts"].values())
    matching = {entry["name"] for entry in listed.values() if entry["role"] == "graph matching"} | {"Sawmill"}
    assert set(graph_names("matching")) == matching


def test_names():
    assert len(graph_names("matching")) == 22
    assert len(graph_names("partitioning")) == 12
    assert set(graph_names()) == set(SIZES) == set(graphs._GRAPHS)
    assert len(graph_names()) == len({name.casefold() for name in graph_names()}) == 36
    for name in (*graph_names("matching"), *graph_names("partitioning"), *graph_names()):
        assert graphs._find(name).casefold() == name.casefold()
    assert graphs._find("strike") == graphs._find("STRIKE") == "Strike"
    assert (graphs._find("korea2"), graphs._find("Korea")) == ("Korea2", "Korea1")
    with pytest.raises(ValueError, match=r"role='both' is not known; it can be 'partitioning', 'matching', None"):
        graph_names("both")


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("footbal", r"name='footbal' is not known\. Did you mean 'Football' or 'football35'\? It can be 'Scotland', .*'celegans"),
        ("3Conference", r"name='3Conference' is not known\. It can be 'Scotland'"),
        (None, r"name=None is not known"),
    ],
)
def test_unknown_names(name, match):
    with pytest.raises(ValueError, match=match):
        load_graph(name)


# ---------------------------------------------------------------- parts of graphs


@pytest.mark.parametrize(
    ("options", "n", "classes"), [("drop_isolated", 1224, [588, 636]), ("largest_component", 1222, [586, 636])]
)
def test_parts_of_polblogs(options, n, classes):
    bunch, whole = load("PolBlogs", **{options: True}), load("PolBlogs")
    assert bunch.adjacency.shape == (n, n)
    assert bunch.adjacency.indices.dtype == np.int32
    assert n_edges(bunch.adjacency + bunch.adjacency.T) == 16715 - (n == 1222)
    np.testing.assert_array_equal(np.bincount(bunch.target), classes)
    place = {name: i for i, name in enumerate(whole.names)}
    kept = [place[name] for name in bunch.names]
    assert abs(whole.adjacency[kept][:, kept] - bunch.adjacency).nnz == 0


@pytest.mark.parametrize(
    ("name", "largest", "joined"),
    [
        ("Scotland", 86, 92),
        ("DutchElite", 705, 736),
        ("Korea1", 33, 35),
        ("Korea2", 35, 35),
        ("A99m", 233, 233),
        ("netscience", 379, 1461),
        ("GlossGT", None, 67),
        ("PADGM", 15, 15),
        ("WOLFK", None, 16),
        ("cage5", 37, 37),
    ],
)
def test_parts(name, largest, joined):
    for option, expected in (("largest_component", largest), ("drop_isolated", joined)):
        bunch = load(name, **{option: True})
        n = bunch.adjacency.shape[0]
        assert expected in (None, n)
        assert bunch.adjacency.shape == (n, n)
        assert len(bunch.names) == n
        if option == "largest_component":
            assert connected_components(bunch.adjacency, connection="weak")[0] == 1
        if "target" in bunch:
            assert len(bunch.target) == n
        if "data" in bunch:
            assert bunch.data.shape == (n, len(bunch.feature_names))
            assert bunch.data.sum(axis=0).min() > 0
            assert abs(graphs._without_diagonal(bunch.data @ bunch.data.T) - bunch.adjacency).nnz == 0
    assert "task" not in bunch or len(bunch.task) == len(bunch.domain) == n


def test_a_loop_does_not_join_and_direction_does_not_matter():
    adjacency = csr_array([[2, 0, 0, 0], [0, 0, 0, 1.0], [0, 0, 0, 0], [0, 0, 1, 0]])
    fields = {"adjacency": adjacency, "directed": True, "names": np.array(list("abcd")), "target_names": np.array(["x"])}
    joined = graphs._subset(fields, graphs._lines_at(adjacency) > 0)
    assert list(joined["names"]) == ["b", "c", "d"]
    assert list(joined["target_names"]) == ["x"]
    np.testing.assert_array_equal(joined["adjacency"].toarray(), [[0, 0, 1], [0, 0, 0], [0, 1, 0]])
    assert list(graphs._in_largest_component(adjacency)) == [False, True, True, True]
    np.testing.assert_array_equal(adjacency.data, [2, 1, 1])  # nothing is changed in passing


# ---------------------------------------------------------------- traps of single graphs


def test_scotland():
    bunch, whole = load("Scotland"), folder("Scotland/Scotland.net")
    assert [bunch.names[0], bunch.names[107]] == [bunch.names[0].lower(), bunch.names[107].lower()]
    assert bunch.names[0] == "north british railway"
    assert bunch.target_names[bunch.target[0]] == "railway"
    isolated = [18, 22, 25, 37, 40, 41, 42, 43, 44, 47, 49, 52, 54, 57, 60, 97]
    np.testing.assert_array_equal(np.flatnonzero(bunch.data.sum(axis=1) == 0) + 1, isolated)
    other = formats.read_pajek(whole / "Scotland/Scotland.net").networks[0]
    np.testing.assert_array_equal(bunch.data.toarray(), from_lines(244, other.edges)[:108, 108:])
    assert set(bunch.data.data) == {1}


def test_cities_have_their_row_sums_dropped():
    bunch = load("Cities")
    matrix = formats.read_pajek(folder() / "Cities/da6+.net", extra_columns=1).networks[0].matrix
    assert matrix.shape == (55, 47)
    np.testing.assert_array_equal(matrix[:, :46].sum(axis=1), matrix[:, 46])
    np.testing.assert_array_equal(bunch.data.toarray(), matrix[:, :46].T)
    assert set(bunch.data.data) == {1, 2, 3}
    assert (bunch.names[-1], bunch.feature_names[0]) == ("FF Freshfields", "Amsterdam")
    assert bunch.target_names[bunch.target[-1]] == "law"
    with pytest.raises(FetchError, match=r"da6\+\.net, line 109: expected 2530 values, found 2585"):
        formats.read_pajek(folder() / "Cities/da6+.net")


def test_cities_that_have_no_row_sums(tmp_path):
    (tmp_path / "a.net").write_text("*Vertices 3 1\n*matrix\n1 2 4\n")
    with pytest.raises(FetchError, match=r"a\.net should have the sums of its rows in its last column"):
        graphs._cities(tmp_path / "a.net", tmp_path / "a.clu")


def test_world_cities_is_the_same_as_a_matrix():
    bunch = load("WorldCities")
    matrix = formats.read_pajek(folder("WorldCities/WorldCities.mat") / "WorldCities/WorldCities.mat").networks[0].matrix
    np.testing.assert_array_equal(bunch.data.toarray(), matrix.T)
    np.testing.assert_array_equal(np.bincount(bunch.data.data.astype(int)), [0, 275, 5610, 1244, 280, 109])
    assert np.count_nonzero(bunch.data.sum(axis=0) == 0) == 2
    assert (bunch.names[0], bunch.feature_names[0]) == ("Ernst & Young", "Aberdeen")


def test_journals_have_their_readers_apart():
    bunch = load("Journals")
    assert bunch.readers.shape == (124,)
    assert (bunch.readers.min() > 0, bunch.readers.max(), bunch.readers[0]) == (True, 31997, 20714)
    assert list(bunch.names[[0, 2]]) == ["Delo", "Večer"]  # windows-1250
    assert bunch.adjacency[0, 1] == 3219
    assert len(load("Journals", drop_isolated=True).readers) == 124


def test_dutch_elite():
    bunch = load("DutchElite")
    assert list(bunch.target_names) == ["Administration", "Advice", "Inspection", "misc"]
    assert set(bunch.task[bunch.target == 0]) == {"Administration"}
    assert len(set(bunch.task[bunch.target == 3])) == 5
    domains, counts = np.unique(bunch.domain, return_counts=True)
    assert len(domains) == 16
    assert sorted(counts)[-3:] == [102, 106, 133]
    assert set(bunch.data.data) == {1}  # one person has two roles in a body
    assert bunch.feature_names[0] == "herkströter, c.a.j. (cor)"
    assert np.count_nonzero(graphs._lines_at(bunch.adjacency) == 0) == 201
    lines = formats.read_pajek(folder() / "DutchElite/DutchElite.paj", encoding="cp1252").networks[0].edges
    assert (len(lines), len(set(lines))) == (5221, 5220)


def test_strike_and_sawmill_and_korea():
    strike = load("Strike")
    assert list(strike.names[:2]) == ["Frank", "Gill"]
    assert strike.target_names[strike.target[0]] == "young English-speaking"
    A = strike.adjacency.toarray()
    for swapped in ([10, 11], [11, 12], [22, 23]):
        order = np.arange(24)
        order[swapped] = swapped[::-1]
        np.testing.assert_array_equal(A[np.ix_(order, order)], A)
    for village in (1, 2):
        korea = load(f"Korea{village}")
        here = folder(f"Korea/Korea{village}.net", f"Korea/Korea{village}_members.clu") / "Korea"
        network = formats.read_pajek(here / f"Korea{village}.net").networks[0]
        np.testing.assert_array_equal(korea.adjacency.toarray(), from_lines(39, network.edges, both_ways=True))
        assert list(korea.names) == network.names
        np.testing.assert_array_equal(korea.target, formats.read_clu(here / f"Korea{village}_members.clu"))
        np.testing.assert_array_equal(np.flatnonzero(korea.adjacency.sum(axis=0) == 0), [35, 36, 37, 38])
    np.testing.assert_array_equal(dense("Korea"), dense("korea1"))


def test_sawmill_classes_are_core_numbers():
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    bunch = load("Sawmill")
    cores = networkx.core_number(networkx.from_scipy_sparse_array(bunch.adjacency))
    np.testing.assert_array_equal(bunch.target + 1, [cores[i] for i in range(36)])


def test_a99m():
    """The sex by the shapes, with those that are inherited, is that of the other file; nameless vertices remain apart."""
    bunch = load("A99m")
    lines = (folder("A99m/A99.gph") / "A99m/A99.gph").read_text(encoding="latin-1").splitlines()
    assert lines[:2] == ["234", "NODE_LIST"]
    given = [line.split()[:2] for line in lines[2:236]]
    sexes = [{"f": 0, "m": 1}.get(sex, 2) if int(number) < 180 else 2 for number, sex in given]
    np.testing.assert_array_equal(bunch.sex, np.array(["female", "male", "other"])[sexes])
    network = formats.read_pajek(folder() / "A99m/A99m.paj").networks[0]
    assert sum(not set(attributes.split()) & graphs.SHAPES for attributes in network.attributes) == 11
    assert (len(network.arcs), len(network.edges)) == (48, 278)
    assert len({frozenset(line[:2]) for line in network.arcs + network.edges}) == 325
    assert bunch.adjacency[43, 52] == 1  # in two relations
    np.testing.assert_array_equal(np.flatnonzero(graphs._lines_at(bunch.adjacency) == 0), [88])
    assert (bunch.names[0], bunch.names[179], network.names[179]) == ("Lydia Nolte", "180", "")
    assert len(set(network.names)) == 176  # a graph that is keyed by names would have so few vertices


def test_polblogs_and_its_copy():
    bunch = load("PolBlogs")
    here = folder("PolBlogs/polBlogs.paj")
    ends = sorted((i - 1, j - 1) for i, j in formats.read_gml(here / "PolBlogs/polblogs.gml").edges())
    assert (len(ends), len(set(ends)), sum(i == j for i, j in ends)) == (19090, 19025, 3)
    file = formats.read_pajek(here / "PolBlogs/polBlogs.paj")
    assert ends == sorted(line[:2] for line in file.networks[0].arcs)
    np.testing.assert_array_equal(file.partitions["political leaning"], bunch.target)
    assert "charlineandjamie.com/dotnetweb01a/blogdisplay.aspx?logname=jamie&logcatid=48" in bunch.names


def test_football_has_a_bare_ampersand():
    assert "TexasA&M" in load("Football").names


def test_football35_is_that_of_suitesparse():
    here = folder("football35/football.mat")
    np.testing.assert_array_equal(dense("football35"), formats.read_suitesparse(here / "football35/football.mat").toarray())
    assert load("football35").names[0] == "ARG"


def test_glossgt_is_that_of_suitesparse():
    here = folder("GlossGT/GlossGT.mat")
    np.testing.assert_array_equal(dense("GlossGT"), formats.read_suitesparse(here / "GlossGT/GlossGT.mat").toarray())


def test_will57_is_that_of_suitesparse():
    here = folder("will57/will57.mat")
    np.testing.assert_array_equal(dense("will57"), formats.read_suitesparse(here / "will57/will57.mat").toarray())


def test_matrices():
    np.testing.assert_allclose(dense("cage5").sum(axis=0), 1)
    np.testing.assert_array_equal(dense("cage5") != 0, dense("cage5").T != 0)
    assert np.count_nonzero((dense("curtis54") != 0) != (dense("curtis54").T != 0)) == 22
    assert "INCOMPLETE" in load("CAG_mat72").DESCR


def test_prison_is_in_two_formats():
    network = formats.read_pajek(folder("PRISON/Prison.net") / "PRISON/Prison.net").networks[0]
    np.testing.assert_array_equal(dense("PRISON"), from_lines(67, network.arcs))


def test_padgett_is_in_two_formats():
    """Marriages come first, business second; in the other format each tie is two arcs."""
    file = formats.read_pajek(folder("PADGETT/Padgett.paj") / "PADGETT/Padgett.paj")
    found = [from_lines(16, network.arcs) for network in file.networks]
    assert any(np.array_equal(dense("PADGB"), matrix) for matrix in found)
    assert any(np.array_equal(dense("PADGM"), matrix) for matrix in found)
    assert list(formats.read_dl(folder() / "PADGETT/PADGETT.DAT").matrices) == ["PADGM", "PADGB"]
    bunch = load("PADGM")
    assert list(bunch.names[bunch.adjacency.sum(axis=0) == 0]) == ["PUCCI"]


def test_the_levels_of_ucinet_files():
    levels = {
        name: list(formats.read_dl(folder(path) / path).matrices)
        for name, path in (("SAMPIN", "SAMPSON/SAMPSON.DAT"), ("RDPOS", "WIRING/WIRING.DAT"), ("BKOFFC", "BKOFF/BKOFF.DAT"))
    }
    assert {name: names.index(name) for name, names in levels.items()} == {"SAMPIN": 6, "RDPOS": 2, "BKOFFC": 1}
    assert levels["SAMPIN"][9] == "SAMNPR"  # so spelled
    assert set(load("SAMPIN").adjacency.data) == {1, 2, 3}
    assert load("WOLFN").adjacency.data.max() == 17
    assert load("BKOFFC").adjacency.data.max() == 39


def test_karate_is_that_of_networkx():
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    graph = networkx.karate_club_graph()
    plain = networkx.to_numpy_array(graph, weight=None)
    np.testing.assert_array_equal(dense("karate"), plain)
    np.testing.assert_array_equal(dense("ZACHE"), plain)
    np.testing.assert_array_equal(dense("ZACHC"), networkx.to_numpy_array(graph))
    bunch = load("karate")
    assert list(bunch.target_names[bunch.target]) == [graph.nodes[i]["club"] for i in range(34)]


def test_dolphins_and_polbooks_and_netscience_and_their_copies():
    here = folder("dolphins/dolphins.gml", "polbooks/polBooks.paj", "netscience/netsience.net")
    dolphins = formats.read_gml(here / "dolphins/dolphins.gml")
    np.testing.assert_array_equal(dense("dolphins"), from_lines(62, [(i, j, 1) for i, j in dolphins.edges()], both_ways=True))
    file, books = formats.read_pajek(here / "polbooks/polBooks.paj"), load("polbooks")
    order = [file.networks[0].names.index(name) for name in books.names]  # gml's first book is the last
    assert order[0] == 104
    other = from_lines(105, file.networks[0].edges + file.networks[0].arcs, both_ways=True)
    np.testing.assert_array_equal(books.adjacency.toarray(), other[np.ix_(order, order)])
    (leaning,) = file.partitions.values()
    np.testing.assert_array_equal(books.target, leaning[order] - 1)
    network, science = formats.read_pajek(here / "netscience/netsience.net").networks[0], load("netscience")
    assert (science.adjacency.data.max(), science.adjacency.data.min().round(4)) == (4.75, 0.0526)
    assert sorted(name.upper() for name in network.names) == sorted(name.upper() for name in science.names)
    np.testing.assert_allclose(
        np.sort(science.adjacency.data)[::2], np.sort([value for *_, value in network.edges + network.arcs]), rtol=1e-5
    )


def test_celegans_has_repeated_arcs_added():
    bunch = load("celegansneural")
    gml = formats.read_gml(folder() / "celegansneural/celegansneural.gml")
    assert (gml.number_of_edges(), len(set(gml.edges()))) == (2359, 2345)
    assert n_edges(bunch.adjacency + bunch.adjacency.T) == 2148
    weights = [edge["value"] for *_, edge in gml.edges(data=True)]
    assert (bunch.adjacency.sum(), max(weights)) == (sum(weights), 70)


# ---------------------------------------------------------------- the registry, and archives


def test_registry():
    used = {f"graphs/{path}" for graph in graphs._GRAPHS.values() for path in graph.files}
    assert used == {path for path in FILES if path.startswith("graphs/")}


def test_registry_agrees_with_the_manifest():
    manifest = json.loads((folder("MANIFEST.json") / "MANIFEST.json").read_text(encoding="utf8"))
    listed = {f"graphs/{file['path']}": file for entry in manifest for file in entry["files"]}
    for path in (path for path in FILES if path.startswith("graphs/")):
        file, entry = FILES[path], listed[path]
        archive, _, member = file.source.partition("#")
        repository = entry["source"].removeprefix("github ")
        assert file.sha256 == entry["sha256"]
        assert file.url.endswith(f".com/{repository}/{entry['commit']}/{entry['source_path']}")
        assert member == entry.get("archive_member", "")
        if member:
            assert FILES[archive].sha256 == entry["source_archive_sha256"]


def test_a_wrong_file_in_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NONNEG_DATA", str(tmp_path))
    path = tmp_path / "graphs/Strike/strike.paj"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"*Vertices 24\n")
    with pytest.raises(FetchError, match=r"strike\.paj is not the file it should be\. Expected SHA-256 33236"):
        load_graph("strike")


# ---------------------------------------------------------------- formats


@pytest.fixture
def written(tmp_path):
    def write(text, name="a.net"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode("latin-1"))
        return path

    return write


PROJECT = """% a comment
*Network "some net"
*Vertices 4
1 "a b"  0.1 0.2 0.5 box
% between
2 "" 0.1 0.2 0.5
4 d
3
*Arcs
*Edges :3 "a role"
 1 2 2.5 [1-*]
 2 3
*arcs
 3 1 -1 c Blue
 3 3 w
*Arcslist
 1 2 4
*Edgeslist :1
 4 3
*Partition some classes
% 1 - one
*Vertices 4
1 1
2
 3

*Vector weights
*Vertices 2
0.5
1e2
*net second
*Vertices 3 1
*Matrix
1 0
"""


def test_pajek(written):
    for ends in ("\n", "\r\n", "\r"):
        file = formats.read_pajek(written(PROJECT.replace("\n", ends)))
        first, second = file.networks
        assert (first.n, first.n_first, first.names) == (4, 4, ["a b", "", "", "d"])
        assert first.attributes == ["0.1 0.2 0.5 box", "0.1 0.2 0.5", "", ""]
        assert first.edges == [(0, 1, 2.5), (1, 2, 1), (3, 2, 1)]
        assert first.arcs == [(2, 0, -1), (2, 2, 1), (0, 1, 1), (0, 3, 1)]
        assert graphs._shapes(first) == ["box"] * 4
        assert list(file.partitions) == ["some classes"]
        np.testing.assert_array_equal(file.partitions["some classes"], [1, 1, 2, 3])
        np.testing.assert_array_equal(file.vectors["weights"], [0.5, 100])
        assert (second.n, second.n_first, second.names) == (3, 1, ["", "", ""])
        np.testing.assert_array_equal(second.matrix, [[1, 0]])


def test_pajek_square_matrix_and_partition(written):
    network = formats.read_pajek(written("*vertices 2\n*matrix\n1 2 3\n4")).networks[0]
    np.testing.assert_array_equal(network.matrix, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(formats.read_clu(written("*Vertices 3\r\n 1\r\n 0\r\n 2\r\n")), [1, 0, 2])


def test_pajek_name_without_its_last_quote(written):
    """WorldCities.mat has one."""
    assert formats.read_pajek(written('*Vertices 2\n1 "a b\r\n2 "c d" 0.5\n')).networks[0].names == ["a b", "c d"]


def test_pajek_encodings(written):
    path = written(b'*Vertices 1\n1 "Ve\xe8er\x85"')
    assert formats.read_pajek(path).networks[0].names == ["Veèer\x85"]  # no end of line, though Python has it for one
    assert formats.read_pajek(path, encoding="cp1250").networks[0].names == ["Večer…"]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", r"is not a Pajek file: it has no \*Vertices"),
        ("<html>404</html>", r"line 1: expected a line that starts with \*, in '<html>"),
        ("*Vertices\n", r"line 1: expected \*Vertices and their number"),
        ('*Vertices 3\n1 "a"\n2 "b"\n', r"line 1: expected 3 vertices, found 2"),
        ('*Vertices 2\n1 "a"\n3 "b"\n', r"line 3: expected a vertex from 1 to 2, found '3'"),
        ('*Vertices 2\n1 "a"\n"b" 2\n', r"line 3: expected a vertex: a number, and a name"),
        ("*Vertices 2\n*Edges\n1 2\n1", r"line 4: expected two vertices, in '1'"),
        ("*Vertices 2\n*Edges\n1 3\n", r"line 3: expected a vertex from 1 to 2, found '3'"),
        ("*Vertices 2\n*Edges\n1 2 1.5.0\n", r"line 3: expected a number, found '1.5.0'"),
        ("*Vertices 2\n*Matrix\n1 2 3\n", r"line 2: expected 4 values, found 3"),
        ("*Vertices 2\n*Matrix\n1 2 3 x\n", r"line 3: expected a number, found 'x'"),
        ("*Edges\n1 2\n", r"line 1: expected \*Vertices before \*edges"),
        ("*Partition a\n*Vertices 3\n1\n2\n", r"line 2: expected 3 values, found 2"),
        ("*Partition a\n1\n2\n", r"line 1: expected \*Vertices after \*partition, in '1'"),
        ("*Hierarchy\n", r"line 1: expected one of \*network, \*partition"),
    ],
)
def test_malformed_pajek(written, text, match):
    with pytest.raises(FetchError, match=rf"a\.net.*{match}"):
        formats.read_pajek(written(text))


def test_malformed_partitions(written):
    with pytest.raises(FetchError, match=r"a\.clu, line 1: expected 3 values, found 2"):
        formats.read_clu(written("*Vertices 3\n1\n2\n", "a.clu"))
    with pytest.raises(FetchError, match=r"a\.clu has 0 partitions; expected 1"):
        formats.read_clu(written("*Network a\n*Vertices 3\n", "a.clu"))


DL = """DL
N=2 NM=2
FORMAT = FULLMATRIX DIAGONAL PRESENT
ROW LABELS:
A
B
COLUMN LABELS:
A
B
LEVEL LABELS:
ONE
TWO
DATA:
 0 1 2
 3
 4 5 6 7
"""


def test_dl(written):
    file = formats.read_dl(written(DL))
    assert file.labels == ["A", "B"]
    assert list(file.matrices) == ["ONE", "TWO"]
    np.testing.assert_array_equal(file.matrices["TWO"], [[4, 5], [6, 7]])
    plain = formats.read_dl(written("dl n = 1\ndata:\n5"))
    assert (plain.labels, list(plain.matrices), plain.matrices["1"]) == ([], ["1"], [[5]])


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", r"is not a UCINET DL file: expected DL, N= and DATA:, found ''"),
        ("N=2\nDATA:\n1 2 3 4", r"is not a UCINET DL file"),
        (DL[:60], r"is not a UCINET DL file.*found 'DL"),
        (DL.replace(" 4 5 6 7", " 4 5 6"), r"says 2 matrices of 2 × 2, that is 8 numbers, and has 7"),
        (DL.replace("7", "x"), r"has something else than numbers after DATA: .*'x'"),
        (DL.replace("B\nCOL", "COL"), r"should have 2 row labels, and has 1"),
        (DL.replace("TWO\n", ""), r"should have 2 level labels, and has 1"),
        (DL.replace("FULLMATRIX", "NODELIST"), r"says FORMAT = NODELIST DIAGONAL PRESENT; only FULLMATRIX"),
        (DL.replace("PRESENT", "ABSENT"), r"says DIAGONAL ABSENT; only"),
    ],
)
def test_malformed_dl(written, text, match):
    with pytest.raises(FetchError, match=rf"a\.DAT {match}"):
        formats.read_dl(written(text, "a.DAT"))


GML = """Creator "someone [else]"
# a comment [
graph [
  directed 1
  node [ id 7 label "A & B" graphics [ x 1.5 y -2 ] ]
  node
  [
    id 3
    label "&quot;C&#38;"
  ]
  node [ id 5 ]
  edge [ source 7 target 3 value 2 ]
  edge [ source 7 target 3 value 1.0e-1 ]
  edge [ source 5 target 5 ]
]
"""


def test_gml(written):
    graph = formats.read_gml(written(GML))
    assert graph.is_directed()
    assert [node.get("label") for _, node in graph.nodes(data=True)] == ["A & B", '"C&', None]
    assert sorted(graph.edges(data="value")) == [(5, 5, None), (7, 3, 0.1), (7, 3, 2)]
    empty = formats.read_gml(written("graph [ node [ id 0 ] ]"))
    assert (empty.is_directed(), len(empty), empty.number_of_edges()) == (False, 1, 0)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", r"of one graph: it has 0"),
        ("graph 3", r"of one graph: it has 0"),
        ("<html> [", r"of one graph: it has 0"),
        (GML + GML, r"of one graph: it has 2"),
        (GML[:-3], ""),
        (GML[: GML.index(" 5 ]\n]")], ""),
        (GML.replace("value 2", "value two"), "two"),
        (GML.replace("id 3", "id 7"), "7"),
        (GML.replace("id 3", "name 3"), "id"),
        (GML.replace("target 5", "target 9"), "9"),
    ],
)
def test_malformed_gml(written, text, match):
    with pytest.raises(FetchError, match=rf"a\.gml is not a GML file.*{match}"):
        formats.read_gml(written(text, "a.gml"))


def test_matrix_market(written):
    head = "%%MatrixMarket matrix coordinate real general\n2 2 2\n"
    np.testing.assert_array_equal(
        formats.read_matrix_market(written(head + "1 2 .5\n2 2 3\n", "a.txt")).toarray(), [[0, 0.5], [0, 3]]
    )
    for text in (head + "1 2 .5\n", head + "1 2 .5\n3 1 1\n", "hello", ""):
        with pytest.raises(FetchError, match=r"a\.mtx is not a complete Matrix Market file: "):
            formats.read_matrix_market(written(text, "a.mtx"))


def test_suitesparse(tmp_path):
    from scipy.io import savemat

    path = tmp_path / "a.mat"
    savemat(path, {"Problem": {"A": csr_array([[0, 2.0], [0, 1]]).tocsc(), "name": "x"}})
    found = formats.read_suitesparse(path)
    assert isinstance(found, csr_array)
    np.testing.assert_array_equal(found.toarray(), [[0, 2], [0, 1]])
    savemat(path, {"A": np.eye(2)})
    with pytest.raises(FetchError, match=r"a\.mat is not a MATLAB file with the matrix Problem\.A: KeyError"):
        formats.read_suitesparse(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(FetchError, match=r"a\.mat is not a MATLAB file"):
        formats.read_suitesparse(path)


def test_lines_become_matrices():
    lines = [(0, 1, 2.0), (1, 0, 3.0), (2, 2, 5.0), (0, 2, 0.0)]
    np.testing.assert_array_equal(graphs._adjacency(3, lines, directed=True).toarray(), [[0, 2, 0], [3, 0, 0], [0, 0, 5]])
    undirected = graphs._adjacency(3, lines, directed=False)
    np.testing.assert_array_equal(undirected.toarray(), [[0, 5, 0], [5, 0, 0], [0, 0, 5]])
    assert undirected.nnz == 3
    mixed = graphs._adjacency(3, [(0, 1, 1.0)], edges=[(1, 2, 1.0)], directed=True)
    np.testing.assert_array_equal(mixed.toarray(), [[0, 1, 0], [0, 0, 1], [0, 1, 0]])
    assert graphs._adjacency(2, [], directed=False).nnz == 0
