"""Saved models come back: parameters, attributes to the last bit, and methods. Other files are refused."""

import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import NMF, NNMFHMM, OPNMF, QNMFHMM, Factorization, KernelPNMF, Model, NonnegativeKernelFDA, NonnegativeLDA, load
from nonneg.constraints import Sparse
from nonneg.divergences import Alpha, Beta, Polynomial
from nonneg.estimators.fields import ATTRIBUTES
from nonneg.estimators.storing import VERSION, write_model
from nonneg.exceptions import ExpressionError, FileError
from nonneg.graph import GraphClustering
from nonneg.loading import read_stored
from nonneg.solvers import Multiplicative

from .cases import MAKERS, parts

X = parts(20, 12, 3)
y = np.array(["ann", "bob", "eve"])[np.arange(20) % 3]
SEQUENCES = "abcabcabbabac" * 9


def assert_same(first, second, where=""):
    """Equal, with the same types, to the last bit."""
    assert type(first) is type(second), where
    if isinstance(first, np.ndarray | np.generic):
        assert first.dtype == second.dtype, where
        np.testing.assert_array_equal(first, second, err_msg=where)
    elif sparse.issparse(first):
        assert_same(first.toarray(), second.toarray(), where)
    elif isinstance(first, dict):
        assert list(first) == list(second), where
        for key in first:
            assert_same(first[key], second[key], f"{where}[{key!r}]")
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), where
        for number, pair in enumerate(zip(first, second, strict=True)):
            assert_same(*pair, f"{where}[{number}]")
    elif isinstance(first, float) and np.isnan(first):
        assert np.isnan(second), where
    elif isinstance(first, np.random.Generator):
        assert first.bit_generator.state == second.bit_generator.state, where
    elif isinstance(first, np.random.RandomState):
        assert_same(first.get_state(), second.get_state(), where)
    elif isinstance(first, Model):  # constraints that hold arrays are equal to themselves only
        assert (str(first), repr(first)) == (str(second), repr(second)), where
    elif hasattr(first, "__dict__") and type(first).__module__.startswith("nonneg.estimators"):
        assert_same(vars(first), vars(second), where)
    else:
        assert first == second, where


def again(model, tmp_path):
    model.save(tmp_path / "model.nonneg")
    found = load(tmp_path / "model.nonneg")
    left_out = getattr(type(model), "_left_out", ())
    assert_same({name: value for name, value in vars(model).items() if name not in left_out}, vars(found), type(model).__name__)
    return found


@pytest.mark.parametrize("name", MAKERS)
def test_factorizations(name, tmp_path):
    model = MAKERS[name]().fit(X)
    found = again(model, tmp_path)
    new = X.copy()  # BLAS has a product of its own for an array with itself, and kernels keep X
    assert repr(found) == repr(model)
    if hasattr(model, "transform"):
        np.testing.assert_array_equal(found.transform(new), model.transform(new))
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(found.predict(new), model.predict(new))
    if hasattr(model, "partial_fit"):
        np.testing.assert_array_equal(found.partial_fit(X).components_, model.partial_fit(X).components_)


@pytest.mark.parametrize("estimator", [NonnegativeLDA(), NonnegativeKernelFDA(kernel="rbf"), NonnegativeKernelFDA()], ids=repr)
def test_discriminants(estimator, tmp_path):
    model = estimator.fit(X, y)
    found = again(model, tmp_path)
    np.testing.assert_array_equal(found.predict(X), model.predict(X))
    np.testing.assert_array_equal(found.transform(X), model.transform(X))


@pytest.mark.parametrize("estimator", [QNMFHMM(2, random_state=0), NNMFHMM(2, random_state=0, max_iter=50)], ids=repr)
def test_chains(estimator, tmp_path):
    model = estimator.fit(SEQUENCES)
    found = again(model, tmp_path)
    assert found.score(SEQUENCES) == model.score(SEQUENCES)
    np.testing.assert_array_equal(found.predict(SEQUENCES), model.predict(SEQUENCES))
    for ours, theirs in zip(found.sample(20, random_state=0), model.sample(20, random_state=0), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("method", ["auto", "onl", "kernel-pnmf"])
def test_graphs(method, tmp_path):
    networkx = pytest.importorskip("networkx")
    model = GraphClustering(2, method=method, n_init=2, random_state=0).fit(networkx.karate_club_graph())
    np.testing.assert_array_equal(again(model, tmp_path).labels_, model.labels_)


@pytest.mark.parametrize(
    "estimator",
    [
        NMF(2, divergence=Beta(1) + 0.5 * Beta(2), init="random", max_iter=5, tol=0),
        NMF(2, divergence=Polynomial([(1 / 2, 0, 2), (-1, 1, 1)]), init="random", max_iter=5, tol=0),
        NMF(
            2, divergence=Alpha(0.5), solver=Multiplicative(exponent=0.5), random_state=np.random.default_rng(3), max_iter=5, tol=0
        ),
        NMF(2, init={"W": np.ones((20, 2)), "H": X[:2]}, max_iter=5, tol=0),
        NMF(3, fixed_components=X[:1], random_state=np.random.RandomState(3), max_iter=5, tol=0),
        Factorization("W H", 2, constraints={"H": Sparse(0.1)}, max_iter=5, tol=0, random_state=0),
        Factorization("W H", 2, constraints={"W": "signed"}, max_iter=5, tol=0, random_state=0),
        OPNMF(2, orthogonality="exact", random_state=0),
        KernelPNMF(2, kernel="rbf", gamma=0.1, random_state=0),
    ],
    ids=lambda estimator: repr(estimator)[:60],
)
def test_parameters_that_are_objects(estimator, tmp_path):
    again(estimator.fit(X), tmp_path)


def test_unfitted_estimators_are_refused(tmp_path):
    assert repr(again(OPNMF(5, tol=float("inf")), tmp_path)) == "OPNMF(n_components=5, tol=inf)"


def test_names_of_features(tmp_path):
    pandas = pytest.importorskip("pandas")
    model = NMF(2, random_state=0).fit(pandas.DataFrame(X, columns=[f"feature {j}" for j in range(12)]))
    assert again(model, tmp_path).feature_names_in_.dtype == object


def test_sparse_arrays_that_are_kept(tmp_path):
    model = NonnegativeKernelFDA(kernel="linear").fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(again(model, tmp_path).predict(X), model.predict(X))


@pytest.mark.parametrize("model", [Model("W W.T X", "kl"), Model("W.T S W", "trace", {"W": "orthogonal"}, data="S")], ids=str)
def test_models(model, tmp_path):
    write_model(NMF(2), tmp_path / "m.nonneg", {"model": model, "text": "é", "nothing": None, "array": X})
    about = read_stored(tmp_path / "m.nonneg").about
    assert about["model"] == model
    assert about["text"] == "é"
    np.testing.assert_array_equal(about["array"], X)


@pytest.mark.parametrize("cls", [QNMFHMM, GraphClustering])
def test_another_process(cls, tmp_path):
    """Nothing has been imported there that would know the class."""
    given = SEQUENCES if cls is QNMFHMM else np.kron(np.eye(2), np.ones((3, 3)))
    cls(2, random_state=0).fit(given).save(tmp_path / "m.nonneg")
    code = f"import nonneg; print(type(nonneg.load({str(tmp_path / 'm.nonneg')!r})).__name__)"
    path = {"PYTHONPATH": str(nonneg.__path__[0].removesuffix("nonneg"))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=path, timeout=60, check=True)
    assert done.stdout.strip() == cls.__name__


class TestWhatIsRefused:
    @pytest.fixture
    def path(self, tmp_path):
        NMF(2, random_state=0).fit(X).save(tmp_path / "m.nonneg")
        return tmp_path / "m.nonneg"

    def altered(self, path, change):
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        content = json.loads(members["model.json"])

        def put(array):
            """Add an array, as a value of JSON."""
            number, stream = len(members), io.BytesIO()
            np.save(stream, array)
            members[f"arrays/{number}.npy"] = stream.getvalue()
            return {"of": "array", "number": number}

        change(content, put) if change.__code__.co_argcount > 1 else change(content)
        members["model.json"] = json.dumps(content).encode()
        with zipfile.ZipFile(path, "w") as archive:
            for name, member in members.items():
                archive.writestr(name, member)

    def test_a_newer_version(self, path):
        self.altered(path, lambda content: content.update(version=VERSION + 1, nonneg="9.0"))
        with pytest.raises(FileError, match=r"newer nonneg, '9.0', in version 2 .* Update nonneg"):
            load(path)

    @pytest.mark.parametrize("version", [0, -1])
    def test_a_version_that_never_was(self, version, path):
        self.altered(path, lambda content: content.update(version=version))
        with pytest.raises(FileError, match=f"its version is {version}, and the first is 1"):
            load(path)

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_two_members_of_one_name(self, path):
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("model.json", archive.read("model.json"))
        with pytest.raises(FileError, match=r"2 files called 'model\.json'"):
            load(path)

    def test_a_folder_and_a_pipe(self, tmp_path):
        with pytest.raises(FileError, match="is a folder; give a file"):
            load(tmp_path)
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FileError, match="is a pipe or a device; give a file"):
            load(tmp_path / "pipe")

    def test_classes_of_others(self, path):
        self.altered(path, lambda content: content["estimator"].update({"of": "Popen"}))
        with pytest.raises(FileError, match="'Popen' in it, which this version"):
            load(path)

    def test_attributes_that_are_none(self, path):
        self.altered(path, lambda content: content["estimator"]["attributes"].update({"__class__": 3}))
        with pytest.raises(FileError, match="no attribute"):
            load(path)

    def test_other_parameters(self, path):
        self.altered(path, lambda content: content["estimator"]["parameters"].update({"colour": 3}))
        with pytest.raises(FileError, match=r"NMF has no parameter 'colour'.* altered"):
            load(path)

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
    def test_a_part_of_a_file(self, path, share):
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(FileError, match=r"not all of it|cut off"):
            load(path)

    def test_other_files(self, path):
        path.write_text("no model")
        with pytest.raises(FileError, match="not a model"):
            load(path)
        np.savez(path.with_suffix(".npz"), X)
        with pytest.raises(FileError, match=r"has no model\.json"):
            load(path.with_suffix(".npz"))
        with pytest.raises(FileNotFoundError):
            load(path.with_name("nothing"))

    def test_functions(self, tmp_path):
        model = KernelPNMF(2, kernel=lambda a, b: float(a @ b), random_state=0).fit(X)
        with pytest.raises(TypeError, match=r"KernelPNMF.kernel is .* of type function"):
            model.save(tmp_path / "m.nonneg")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("name", "array", "match"),
        [
            ("components_", np.full((2, 12), np.nan), "not finite"),
            ("components_", np.full((2, 12), np.inf), "not finite"),
            ("components_", np.full((2, 12), -1.0), "entries from -1"),
            ("components_", np.ones((2, 11)), "shape"),
            ("components_", np.ones(12), "shape"),
            ("components_", np.ones((2, 12), int), "kind 'f'"),
            ("components_", np.ones((2, 12), np.float16), "kind 'f'"),
            ("components_", np.array([["1"] * 12] * 2), "kind 'f'"),
            ("row_labels_", np.full(20, 2**60), "entries from"),
            ("row_labels_", np.zeros(19, int), "shape"),
        ],
    )
    def test_arrays_that_no_fit_leaves(self, name, array, match, path):
        self.altered(path, lambda content, put: content["estimator"]["attributes"].update({name: put(array)}))
        with pytest.raises(FileError, match=rf"m\.nonneg.*NMF\.(components_|row_labels_).*{match}"):
            load(path)

    @pytest.mark.parametrize("factor", [np.ones((2, 11)), np.full((2, 12), np.nan), -np.ones((2, 12))])
    def test_factors_that_are_not_those_of_the_model(self, factor, path):
        def change(content, put):
            content["estimator"]["attributes"]["factors_"]["items"][1][1] = put(factor)

        self.altered(path, change)
        with pytest.raises(FileError, match=r"factors_\['H'\]"):
            load(path)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("n_features_in_", "12"),
            ("n_features_in_", -1),
            ("n_features_in_", True),
            ("n_iter_", 1.5),
            ("model_", 3),
            ("history_", {"of": "list", "items": []}),
            ("status_", "converged"),
            ("solver_", None),
            ("objective_", "low"),
            ("factors_", {"of": "dict", "items": []}),
            ("_shape", {"of": "tuple", "items": [0, -1]}),
            ("_sklearn_output_config", {"of": "dict", "items": [["transform", 3]]}),
        ],
    )
    def test_values_that_no_fit_leaves(self, name, value, path):
        self.altered(path, lambda content: content["estimator"]["attributes"].update({name: value}))
        with pytest.raises(FileError, match=rf"m\.nonneg.*NMF\.{name}"):
            load(path)

    @pytest.mark.parametrize("name", ["model_", "factors_", "n_features_in_"])
    def test_attributes_that_are_missing(self, name, path):
        self.altered(path, lambda content: content["estimator"]["attributes"].pop(name))
        with pytest.raises(FileError, match=name):
            load(path)

    @pytest.mark.parametrize("name", ["_hidden", "fit", "no name_", "biclusters_", "__dict__"])
    def test_attributes_that_stand_for_something_else(self, name, path):
        self.altered(path, lambda content: content["estimator"]["attributes"].update({name: 3}))
        with pytest.raises(FileError, match="no attribute"):
            load(path)

    @pytest.mark.parametrize("value", [5, None, "NMF", {"of": "tuple", "items": []}, {"of": "Beta", "fields": {"b": 1}}], ids=str)
    def test_other_objects_are_refused(self, value, path):
        self.altered(path, lambda content: content.update(estimator=value))
        with pytest.raises(FileError, match="in place of an estimator"):
            load(path)

    @pytest.mark.parametrize(
        "about",
        [
            5,
            {"of": "dict", "items": [["command", 3]]},
            {"of": "dict", "items": [["data", "X.npy"]]},
            {"of": "dict", "items": [["fit_seconds", "long"]]},
            {"of": "dict", "items": [["shape", {"of": "list", "items": ["a"]}]]},
            {"of": "dict", "items": [["layout", 3]]},
        ],
        ids=str,
    )
    def test_invalid_annotations(self, about, path):
        self.altered(path, lambda content: content.update(about=about))
        with pytest.raises(FileError, match=r"m\.nonneg"):
            load(path)

    @pytest.mark.parametrize(
        "record",
        [
            3,
            {"iteration": "0"},
            {"objective": None},
            {"violation": 3},
            {"violation": {"of": "dict", "items": [["W", "far"]]}},
            {"exponent": {"of": "dict", "items": []}},
            {"of": "Layout", "fields": {"shape": {"of": "tuple", "items": [2, 2]}}},
        ],
        ids=str,
    )
    def test_records_of_a_history(self, record, path):
        def change(content):
            records = content["estimator"]["attributes"]["history_"]["records"]
            if isinstance(record, dict) and "of" not in record:
                records[0]["fields"].update(record)
            else:
                records[0] = record

        self.altered(path, change)
        with pytest.raises(FileError, match=r"m\.nonneg"):
            load(path)

    def test_an_array_that_is_read_again_and_again(self, path):
        """A few bytes of JSON would each time fill as much memory as the array."""

        def change(content):
            attributes = content["estimator"]["attributes"]
            attributes["more_"] = {"of": "list", "items": [attributes["components_"]] * 1000}

        self.altered(path, change)
        with pytest.raises(FileError, match="read twice"):
            load(path)

    def test_json_that_would_fill_the_memory(self, path, monkeypatch):
        self.altered(path, lambda content: content.update(more=[[]] * 200_000))
        monkeypatch.setattr("nonneg.kernels.memory.available_bytes", lambda: 10_000_000)
        with pytest.raises(FileError, match=r"model\.json holds 25"):
            load(path)

    @pytest.mark.parametrize("text", ["[" * 100_000, "NaN", "1" * 5000, "{"])
    def test_json_that_is_none(self, text, path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("model.json", '{"format": "nonneg model", "version": 1, "estimator": ' + text + "}")
        with pytest.raises(FileError, match=r"m\.nonneg"):
            load(path)

    def test_a_form_of_thousands_of_letters(self, path):
        self.altered(path, lambda content: content["estimator"]["attributes"]["model_"].update(form="W H " * 3000))
        with pytest.raises(FileError, match="at most 64 matrices; this one has 6000"):
            load(path)
        with pytest.raises(ExpressionError, match="at most 64 matrices"):
            Model("W H " * 3000)
        Model("W H " * 32)

    def test_arrays_of_the_other_byte_order(self, path):
        components = load(path).components_
        self.altered(
            path, lambda content, put: content["estimator"]["attributes"].update(components_=put(components.astype(">f8")))
        )
        assert load(path).components_.dtype.isnative
        np.testing.assert_array_equal(load(path).components_, components)

    def test_chains_of_other_sizes(self, tmp_path):
        """Their kernels would read beyond an array."""
        for name, array in (("transmat_", np.ones((1, 1))), ("emissionprob_", np.full((2, 2), 0.5)), ("startprob_", np.ones(1))):
            QNMFHMM(2, random_state=0).fit(SEQUENCES).save(tmp_path / "m.nonneg")
            attribute = name
            self.altered(
                tmp_path / "m.nonneg",
                lambda content, put, array=array, attribute=attribute: content["estimator"]["attributes"].update(
                    {attribute: put(array)}
                ),
            )
            with pytest.raises(FileError, match="has shape"):
                load(tmp_path / "m.nonneg")


GENERATORS = {
    "MT19937 pos": (np.random.MT19937, lambda state, put: state["state"].update(pos=625)),
    "MT19937 negative pos": (np.random.MT19937, lambda state, put: state["state"].update(pos=-500_000_000)),
    "MT19937 pos of text": (np.random.MT19937, lambda state, put: state["state"].update(pos="1")),
    "MT19937 pos of a bool": (np.random.MT19937, lambda state, put: state["state"].update(pos=True)),
    "MT19937 short key": (np.random.MT19937, lambda state, put: state["state"].update(key=put(np.ones(3, np.uint32)))),
    "MT19937 wide key": (np.random.MT19937, lambda state, put: state["state"].update(key=put(np.ones(624, np.uint64)))),
    "MT19937 key of zeros": (np.random.MT19937, lambda state, put: state["state"].update(key=put(np.zeros(624, np.uint32)))),
    "Philox buffer_pos": (np.random.Philox, lambda state, put: state.update(buffer_pos=5)),
    "Philox negative buffer_pos": (np.random.Philox, lambda state, put: state.update(buffer_pos=-(2**40))),
    "Philox short buffer": (np.random.Philox, lambda state, put: state.update(buffer=put(np.ones(1, np.uint64)))),
    "Philox has_uint32": (np.random.Philox, lambda state, put: state.update(has_uint32=2)),
    "SFC64 short": (np.random.SFC64, lambda state, put: state["state"].update(state=put(np.ones(2, np.uint64)))),
    "PCG64 uinteger": (np.random.PCG64, lambda state, put: state.update(uinteger=2**32)),
    "PCG64 state": (np.random.PCG64, lambda state, put: state["state"].update(state=2**128)),
    "PCG64 even increment": (np.random.PCG64, lambda state, put: state["state"].update(inc=0)),
    "PCG64 nothing": (np.random.PCG64, lambda state, put: state.clear()),
    "PCG64 of another": (np.random.PCG64, lambda state, put: state.update(bit_generator="MT19937")),
    "PCG64 of no kind": (np.random.PCG64, lambda state, put: state.update(bit_generator={"of": "list", "items": []})),
    "PCG64 of more": (np.random.PCG64, lambda state, put: state.update(more=1)),
}
LEGACY = {
    "has_gauss": lambda state, put: state.update(has_gauss=2),
    "gauss": lambda state, put: state.update(gauss={"of": "float", "value": "nan"}),
    "no gauss": lambda state, put: state.pop("gauss"),
}


def change_state(content, put, change):
    """Change the stored state of a random generator, as a dict."""

    def opened(value):
        if isinstance(value, dict) and value.get("of") == "dict":
            return {key: opened(item) for key, item in value["items"]}
        return value

    def closed(value):
        if isinstance(value, dict) and "of" not in value:
            return {"of": "dict", "items": [[key, closed(item)] for key, item in value.items()]}
        return value

    stored = content["estimator"]["parameters"]["random_state"]
    state = opened(stored["state"])
    change(state, put)
    stored["state"] = closed(state)


class TestRandomStates:
    altered = TestWhatIsRefused.altered

    @pytest.mark.parametrize("legacy", [False, True])
    @pytest.mark.parametrize("case", GENERATORS)
    def test_states_that_lead_out_of_memory(self, case, legacy, tmp_path):
        bits, change = GENERATORS[case]
        random_state = np.random.RandomState(bits(3)) if legacy else np.random.Generator(bits(3))
        NMF(2, random_state=random_state).save(tmp_path / "m.nonneg")
        self.altered(tmp_path / "m.nonneg", lambda content, put: change_state(content, put, change))
        with pytest.raises(FileError, match=r"m\.nonneg.*[Rr]andom state"):
            load(tmp_path / "m.nonneg")

    @pytest.mark.parametrize("case", LEGACY)
    def test_states_of_legacy_generators(self, case, tmp_path):
        NMF(2, random_state=np.random.RandomState(3)).save(tmp_path / "m.nonneg")
        self.altered(tmp_path / "m.nonneg", lambda content, put: change_state(content, put, LEGACY[case]))
        with pytest.raises(FileError, match=r"m\.nonneg.*[Rr]andom state"):
            load(tmp_path / "m.nonneg")

    @pytest.mark.parametrize("legacy", [False, True])
    @pytest.mark.parametrize("bits", sorted({kind for kind, _ in GENERATORS.values()}, key=lambda kind: kind.__name__))
    def test_every_kind_comes_back(self, bits, legacy, tmp_path):
        random_state = np.random.RandomState(bits(3)) if legacy else np.random.Generator(bits(3))
        random_state.standard_normal(3)
        random_state.bytes(3)
        NMF(2, random_state=random_state).save(tmp_path / "m.nonneg")
        found = load(tmp_path / "m.nonneg").random_state
        np.testing.assert_array_equal(found.standard_normal(9), random_state.standard_normal(9))


class TestFields:
    """Every attribute that a fit leaves has a check."""

    def models(self):
        yield from (make().fit(X) for make in MAKERS.values())
        for classes in (y, y[:20] == "ann"):
            yield NonnegativeLDA().fit(X, classes)
            yield NonnegativeKernelFDA(kernel="rbf").fit(X, classes)
            yield NonnegativeKernelFDA(kernel="precomputed").fit(X @ X.T, classes)
        yield QNMFHMM(2, random_state=0).fit(SEQUENCES)
        yield NNMFHMM(2, random_state=0, max_iter=50).fit(SEQUENCES)
        yield GraphClustering(2, random_state=0).fit(X @ X.T)
        hidden = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
        for missing in (NMF, OPNMF, nonneg.NMTF):
            yield missing(2, missing="ignore", random_state=0).fit(hidden)
        yield OPNMF(2, random_state=0).partial_fit(X).partial_fit(X[:5])
        yield nonneg.PNMF(2, divergence="kl", random_state=0).partial_fit(X).partial_fit(X[:5])
        yield NMF(2, random_state=0).fit(X.astype(np.float32))
        yield nonneg.ONMF(2, orthogonality="exact", random_state=0).fit(X)
        yield nonneg.SymmetricNMF(2, kernel="precomputed", random_state=0).fit(X @ X.T)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_attributes(self, tmp_path):
        for model in self.models():
            again(model, tmp_path)
            attributes = vars(model).keys() - model.get_params(deep=False).keys() - set(type(model)._left_out)
            assert {name for name in attributes if not name.startswith("_skl")} <= ATTRIBUTES.keys(), type(model).__name__
