"""What is saved comes back: parameters, attributes to the last bit, and what can be done with it. What is no model is refused."""

import json
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
from nonneg.exceptions import FileError
from nonneg.graph import GraphClustering
from nonneg.loading import read_stored
from nonneg.model_files import VERSION, write_model
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
    elif hasattr(first, "_records"):
        assert_same(list(first), list(second), where)
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


def test_what_was_not_fitted(tmp_path):
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
        change(content)
        members["model.json"] = json.dumps(content).encode()
        with zipfile.ZipFile(path, "w") as archive:
            for name, member in members.items():
                archive.writestr(name, member)

    def test_a_newer_version(self, path):
        self.altered(path, lambda content: content.update(version=VERSION + 1, nonneg="9.0"))
        with pytest.raises(FileError, match=r"newer nonneg, 9.0, in version 2 .* Update nonneg"):
            load(path)

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
        with pytest.raises(FileError, match="was altered"):
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
