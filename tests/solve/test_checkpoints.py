"""A fit that was cut off goes on from its checkpoint, to the same bits; a checkpoint of anything else is refused."""

import errno
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import Checkpoint, factorize, open_data
from nonneg.exceptions import DataError, IncompatibleError
from nonneg.io.atomic import check_writable, short_name, written_whole
from nonneg.solve import checkpoints, run
from nonneg.solvers import NAMES as SOLVERS

pytestmark = pytest.mark.wide(one_in=6)


class CutOff(Exception):  # noqa: N818
    """In place of whatever may end a process."""


def data(shape=(60, 40), rank=4, seed=1):
    generator = np.random.default_rng(seed)
    return generator.gamma(0.5, 1.0, (shape[0], rank)) @ generator.gamma(0.5, 1.0, (rank, shape[1])) + 0.1 * generator.random(shape)


def cut_off_at(iteration, starts=1):
    """A callback that raises at an iteration of the last of some starts."""
    seen = []

    def callback(progress):
        seen.append(progress.iteration)
        if progress.iteration >= iteration and seen.count(0) == starts:
            raise CutOff

    return callback


def same_bits(one, other):
    assert one.keys() == other.keys()
    for name, factor in one.items():
        assert factor.dtype == other[name].dtype
        np.testing.assert_array_equal(factor, other[name])


# ---- to the same bits


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("form", "divergence"), [("W H", 2), ("W H", 1), ("X W W.T", 2)])
def test_factorize(form, divergence, solver, tmp_path):
    X, checkpoint = data(), Checkpoint(tmp_path / "run.nonneg", every=0)
    settings = {"divergence": divergence, "solver": solver, "init": "random", "max_iter": 40, "tol": 0, "random_state": 0}
    try:
        whole = factorize(X, form, 4, **settings)
    except IncompatibleError:
        pytest.skip("a solver that is not for this model")
    with pytest.raises(CutOff):
        factorize(X, form, 4, **settings, checkpoint=checkpoint, callback=cut_off_at(20))
    seen = []
    found = factorize(X, form, 4, **settings, checkpoint=checkpoint, callback=lambda progress: seen.append(progress.iteration))
    assert seen[0] > 10
    same_bits(found.factors, whole.factors)
    assert (found.objective, found.n_iter, found.status) == (whole.objective, whole.n_iter, whole.status)
    np.testing.assert_array_equal(found.history.objective, whole.history.objective)


@pytest.mark.parametrize("stored", ["dense", "sparse"])
@pytest.mark.parametrize(("form", "divergence"), [("W H", 2), ("X W W.T", 2), ("X W W.T", 1)])
def test_missing_values(form, divergence, stored, tmp_path):
    X, checkpoint = data(), Checkpoint(tmp_path / "run.nonneg", every=0)
    known = np.random.default_rng(0).random(X.shape) < 0.8
    given = np.where(known, X, np.nan) if stored == "dense" else nonneg.Observed(sparse.csr_array(known * X))
    settings = {"divergence": divergence, "missing": "ignore", "init": "random", "max_iter": 40, "tol": 0, "random_state": 0}
    whole = factorize(given, form, 4, **settings)
    with pytest.raises(CutOff):
        factorize(given, form, 4, **settings, checkpoint=checkpoint, callback=cut_off_at(20))
    seen = []
    for _ in range(2):  # from where it was cut off, and when it is over
        found = factorize(
            given, form, 4, **settings, checkpoint=checkpoint, callback=lambda progress: seen.append(progress.iteration)
        )
        same_bits(found.factors, whole.factors)
        np.testing.assert_array_equal(found.history.objective, whole.history.objective)
        np.testing.assert_array_equal(found.reconstruct(), whole.reconstruct())
    assert seen[0] > 10
    assert len(seen) == len(set(seen))


def test_other_weights_are_refused(tmp_path):
    X, settings = data(), {"max_iter": 20, "tol": 0, "random_state": 0, "checkpoint": tmp_path / "run.nonneg"}
    weights = np.random.default_rng(0).permutation(np.arange(1.0, 61))
    factorize(X, "W H", 4, **settings, weights=(weights, None))
    for other in (None, (weights[::-1], None), (None, np.arange(1.0, 41)), np.random.default_rng(0).random(X.shape)):
        with pytest.raises(DataError, match="weights of X"):
            factorize(X, "W H", 4, **settings, weights=other)


FITS = {
    "OPNMF": (nonneg.OPNMF, {}),
    "NMF": (nonneg.NMF, {}),
    "I-divergence": (nonneg.NMF, {"divergence": "kullback-leibler", "max_iter": 60}),
    "NMTF": (nonneg.NMTF, {}),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("store", ["memory", "file"])
@pytest.mark.parametrize("name", FITS)
def test_estimators(name, store, tmp_path):
    estimator, settings = FITS[name]
    X = data((300, 60))
    np.save(tmp_path / "X.npy", X)

    def own():
        return X if store == "memory" else open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 5)

    model = estimator(4, random_state=0, n_init=2, **settings)
    whole = model.fit(own())
    expected, history = dict(whole.factors_), whole.history_
    kept = {"checkpoint": Checkpoint(tmp_path / "run.nonneg", every=0)}
    with pytest.raises(CutOff):
        estimator(4, random_state=0, n_init=2, **settings, **kept, callback=cut_off_at(10, starts=2)).fit(own())
    seen = []
    found = estimator(4, random_state=0, n_init=2, **settings, **kept, callback=seen.append).fit(own())
    assert [progress.iteration for progress in seen].count(0) <= 3  # the first start is not run again, but for later stages
    same_bits(found.factors_, expected)
    np.testing.assert_array_equal(found.history_.objective, history.objective)
    seen.clear()
    again = estimator(4, random_state=0, n_init=2, **settings, **kept, callback=seen.append).fit(own())
    assert not seen
    same_bits(again.factors_, expected)


def test_without_a_seed_the_seeds_of_the_file_are_gone_on_with(tmp_path):
    X, checkpoint = data(), Checkpoint(tmp_path / "run.nonneg", every=0)
    first = nonneg.NMF(3, init="random", checkpoint=checkpoint).fit(X)
    again = nonneg.NMF(3, init="random", checkpoint=checkpoint).fit(X)
    same_bits(first.factors_, again.factors_)


# ---- refusals


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n_components": 4}, "sizes is"),
        ({"divergence": "kullback-leibler"}, "model is"),
        ({"tol": 1e-3}, "tol is"),
        ({"random_state": 1}, "seeds is"),
        ({"solver": "multiplicative"}, "solver is"),
        ({"init": "random"}, "starts is"),
    ],
)
def test_other_parameters_are_refused(change, says, tmp_path):
    X, path = data(), tmp_path / "run.nonneg"
    settings = {"n_components": 3, "random_state": 0, "checkpoint": path}
    nonneg.NMF(**settings).fit(X)
    with pytest.raises(DataError, match=f"checkpoint of another fit: .*{says}.*there, and"):
        nonneg.NMF(**{**settings, **change}).fit(X)


@pytest.mark.parametrize("other", [data(seed=2), data((61, 40)), data().astype(np.float32)])
def test_other_data_are_refused(other, tmp_path):
    model = nonneg.NMF(3, random_state=0, checkpoint=tmp_path / "run.nonneg").fit(data())
    before = dict(vars(model))
    with pytest.raises(DataError, match="of X is"):
        model.fit(other)
    assert vars(model) == before


def test_signature_of_entries(tmp_path):
    model = nonneg.NMF(3, random_state=0, checkpoint=tmp_path / "run.nonneg").fit(data())
    with pytest.raises(
        DataError, match=r"entries of X is \[least .*, largest .*, number of non-zeros 2400, sum of squares .*\] there, and"
    ):
        model.fit(data(seed=2))


def test_other_objects_are_refused_as_checkpoints(tmp_path):
    path = tmp_path / "run.nonneg"
    for content in (b"", b"something else"):
        path.write_bytes(content)
        with pytest.raises(DataError, match="not a run"):
            nonneg.NMF(3, checkpoint=path).fit(data())
        assert path.read_bytes() == content
    for wrong in (3, {"path": 1}):
        with pytest.raises(IncompatibleError, match="checkpoint must be"):
            nonneg.NMF(3, checkpoint=wrong).fit(data())
    with pytest.raises(IncompatibleError, match="every must be"):
        Checkpoint("x", every=-1)


def changed(content, change):
    """An archive of runs with its JSON and arrays changed."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    told = json.loads(members.pop("run.json"))
    arrays = {name: np.load(io.BytesIO(member)) for name, member in members.items()}
    change(told, arrays)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("run.json", json.dumps(told))
        for name, array in arrays.items():
            with archive.open(name, "w") as member:
                np.save(member, array)
    return stream.getvalue()


def write_altered(path, change):
    """Change what a checkpoint holds: `change` gets the content of its first start, and its arrays."""

    def of_start(content, arrays):
        ((_, start),) = content["starts"]["items"]
        name = f"arrays/{start['number']}.npy"
        arrays[name] = np.frombuffer(changed(arrays[name].tobytes(), change), np.uint8)

    path.write_bytes(changed(path.read_bytes(), of_start))


def inside(item, *keys):
    """A part of the JSON of an archive: an item of a dict, or a field of an object."""
    for key in keys:
        if isinstance(item, dict) and item.get("of") == "dict":
            item = dict(item["items"])[key]
        else:
            item = item["fields"][key] if isinstance(item, dict) and "fields" in item else item[key]
    return item


def set_array(keys, array):
    """A change of an array of a run: those that hold it are found by keys."""

    def change(content, arrays):
        arrays[f"arrays/{inside(content, *keys)['number']}.npy"] = array

    return change


def set_run(**values):
    return lambda content, arrays: content["run"]["fields"].update(values)


ALTERED = {
    "NaN": set_array(["run", "point", "factors", "W"], np.full((60, 3), np.nan)),
    "negative": set_array(["run", "point", "factors", "W"], np.full((60, 3), -1.0)),
    "rows": set_array(["run", "point", "factors", "W"], np.ones((2, 3))),
    "text": set_array(["run", "point", "factors", "W"], np.full((60, 3), "1")),
    "product": set_array(["run", "point", "known", 0, 1], np.ones((1, 1))),
    "last": set_array(["run", "state", "last", "H"], np.ones((1, 1))),
    "no factor": lambda content, arrays: inside(content, "run", "point", "factors")["items"].pop(),
    "no array": lambda content, arrays: arrays.clear(),
    "iteration": set_run(n_iter="1"),
    "negative iteration": set_run(n_iter=-(10**18)),
    "large iteration": set_run(n_iter=10**18),
    "status": set_run(status="well"),
    "watch": set_run(watch=3),
    "state": set_run(state=None),
    "class": lambda content, arrays: content["run"].update(of="Popen"),
    "run": lambda content, arrays: content.update(run=5),
    "draws": lambda content, arrays: inside(content, "run", "state", "draws")["fields"].update(half=2**32),
    "draws in a circle": lambda content, arrays: inside(content, "run", "state", "draws")["fields"].update(increment=0),
    "history": lambda content, arrays: inside(content, "run", "history").update(records=[3]),
    "objective": lambda content, arrays: inside(content, "run", "point").update(objective=["a", "b"]),
}


@pytest.mark.parametrize("case", ALTERED)
def test_runs_that_no_fit_has_written_are_refused(case, tmp_path):
    X, path = data(), tmp_path / "run.nonneg"
    settings = {"random_state": 0, "solver": "coordinate", "init": "random", "max_iter": 40, "tol": 0}
    with pytest.raises(CutOff):
        factorize(X, "W H", 3, **settings, checkpoint=Checkpoint(path, every=0), callback=cut_off_at(20))
    write_altered(path, ALTERED[case])
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"run\.nonneg|beyond max_iter"):
        factorize(X, "W H", 3, **settings, checkpoint=path)
    assert path.read_bytes() == before


SOLVED = {
    "NaN": set_array(["solution", "factors", "W"], np.full((60, 3), np.nan)),
    "rows": set_array(["solution", "factors", "W"], np.ones((2, 3))),
    "status": lambda content, arrays: inside(content, "solution", "status").update(value="well"),
    "more": lambda content, arrays: content["solution"]["items"].append(["model", 3]),
    "solution": lambda content, arrays: content.update(solution=5),
}


@pytest.mark.parametrize("case", SOLVED)
def test_solutions_that_no_fit_has_written_are_refused(case, tmp_path):
    X, path = data(), tmp_path / "run.nonneg"
    factorize(X, "W H", 3, random_state=0, max_iter=20, checkpoint=path)
    write_altered(path, SOLVED[case])
    with pytest.raises(DataError, match=r"run\.nonneg"):
        factorize(X, "W H", 3, random_state=0, max_iter=20, checkpoint=path)


@pytest.mark.parametrize(
    "change",
    [
        lambda content, arrays: content.update(seeds=5),
        lambda content, arrays: content.update(seeds={"of": "list", "items": []}),
        lambda content, arrays: content.update(identity="5"),
        lambda content, arrays: content.update(identity=5),
        lambda content, arrays: content.update(starts=5),
        lambda content, arrays: content["starts"]["items"].append(["x", 3]),
        lambda content, arrays: arrays.update({"arrays/0.npy": np.zeros(5, np.uint8)}),
        lambda content, arrays: content.update(version=99),
        lambda content, arrays: content.update(format="nonneg model"),
    ],
)
def test_files_that_no_fit_has_written_are_refused(change, tmp_path):
    path = tmp_path / "run.nonneg"
    factorize(data(), "W H", 3, random_state=0, max_iter=20, checkpoint=path)
    path.write_bytes(changed(path.read_bytes(), change))
    with pytest.raises(DataError, match=r"run\.nonneg"):
        factorize(data(), "W H", 3, random_state=0, max_iter=20, checkpoint=path)


def test_a_size_that_lies(tmp_path):
    path, header = tmp_path / "run.nonneg", b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("run.json", json.dumps({"format": "nonneg run", "version": 2}))
        archive.writestr("arrays/0.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64))
    with pytest.raises(DataError, match=r"not a run .* 10000000000000"):
        factorize(data(), "W H", 3, checkpoint=path)


def test_two_fits_do_not_share_a_file(tmp_path):
    X, path = data(), tmp_path / "run.nonneg"

    def other(progress):
        with pytest.raises(DataError, match="another fit that is going on"):
            nonneg.NMF(3, random_state=0, checkpoint=path).fit(X)
        return True

    nonneg.NMF(3, random_state=0, checkpoint=path, callback=other).fit(X)


def test_a_folder_has_a_file_for_each_fit(tmp_path):
    from sklearn.model_selection import GridSearchCV

    X, folder = data(), tmp_path / "runs"
    search = GridSearchCV(nonneg.NMF(random_state=0, checkpoint=f"{folder}/"), {"n_components": [2, 3]}, cv=2)
    search.fit(X)
    assert len(list(folder.glob("*.nonneg"))) == 2 * 2 + 1
    with pytest.raises(DataError, match="another fit"):
        GridSearchCV(
            nonneg.NMF(random_state=0, checkpoint=tmp_path / "one.nonneg"), {"n_components": [2, 3]}, cv=2, error_score="raise"
        ).fit(X)


# ---- whole or not at all


def test_a_disk_that_is_full_leaves_the_old_one(tmp_path, monkeypatch):
    X, path = data(), tmp_path / "run.nonneg"
    settings = {"random_state": 0, "solver": "multiplicative", "max_iter": 40, "tol": 0}
    with pytest.raises(CutOff):
        factorize(X, "W H", 3, **settings, checkpoint=Checkpoint(path, every=0), callback=cut_off_at(20))
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.os, "fsync", full)
        with pytest.raises(DataError, match=r"could not be written: .*No space left on device.* still there, whole"):
            factorize(X, "W H", 3, **settings, checkpoint=Checkpoint(path, every=0))
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["run.nonneg"]
    whole = factorize(X, "W H", 3, **settings)
    same_bits(factorize(X, "W H", 3, **settings, checkpoint=path).factors, whole.factors)


def test_leftovers_of_a_killed_process_are_removed(tmp_path):
    kill = "import os, sys; from nonneg.io.atomic import written_whole\nwith written_whole(sys.argv[1]): os.kill(os.getpid(), 9)"
    for name in ("run.nonneg", "other.nonneg"):
        subprocess.run([sys.executable, "-c", kill, str(tmp_path / name)], check=False)
    assert len(list(tmp_path.iterdir())) == 2
    nonneg.NMF(3, random_state=0, checkpoint=tmp_path / "run.nonneg").fit(data())
    assert len(list(tmp_path.iterdir())) == 2
    nonneg.NMF(3, random_state=0, checkpoint=tmp_path / "other.nonneg").fit(data())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other.nonneg", "run.nonneg"]


@pytest.mark.parametrize("suffix", [".nonneg", ".csv", ".html"])
def test_the_next_writer_removes_leftovers_of_a_killed_process(suffix, tmp_path):
    path = tmp_path / f"X{suffix}"
    kill = "import os, sys; from nonneg.io.atomic import written_whole\nwith written_whole(sys.argv[1]): os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", kill, str(path)], check=False)
    with written_whole(path) as unfinished:
        unfinished.write_bytes(b"all")
        with written_whole(path) as other:  # which leaves what a process that is alive writes
            other.write_bytes(b"all of it")
    assert path.read_bytes() == b"all"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_checkpoint_leaves_files_of_others(tmp_path):
    X, path = data(), tmp_path / "run.nonneg"
    with written_whole(path) as unfinished:
        unfinished.write_bytes(b"a model")
        nonneg.NMF(3, random_state=0, checkpoint=path).fit(X)
    assert path.read_bytes() == b"a model"


def test_folders_and_devices_are_no_checkpoints(tmp_path):
    """A pipe would be waited for, a device read without end, and a link lead elsewhere."""
    X, lock = data(), tmp_path / f"{short_name(tmp_path / 'run.nonneg')}.lock"
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/full"):
        with pytest.raises(DataError, match="is not a file"):
            nonneg.NMF(3, checkpoint=path).fit(X)
    lock.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="cannot be written"):
        nonneg.NMF(3, checkpoint=tmp_path / "run.nonneg").fit(X)
    assert not (tmp_path / "elsewhere").exists()
    lock.unlink()
    os.mkfifo(lock)
    nonneg.NMF(3, checkpoint=tmp_path / "run.nonneg").fit(X)


def test_a_folder_that_becomes_read_only_before_the_lock_is_removed(tmp_path, monkeypatch):
    X, path, unlink = data(), tmp_path / "run.nonneg", Path.unlink

    def refuse(self, **settings):
        if self.suffix == ".lock":
            raise PermissionError(errno.EACCES, "Permission denied")
        unlink(self, **settings)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        model = nonneg.NMF(3, random_state=0, checkpoint=path).fit(X)
    np.testing.assert_array_equal(nonneg.NMF(3, random_state=0, checkpoint=path).fit(X).components_, model.components_)


def test_the_unfinished_file_of_another_fit_stays(tmp_path):
    """Its name begins as that of this one."""
    with written_whole(tmp_path / "run.nonneg") as unfinished:
        unfinished.write_bytes(b"half of it")
        nonneg.NMF(3, random_state=0, checkpoint=tmp_path / "run").fit(data())
    assert (tmp_path / "run.nonneg").read_bytes() == b"half of it"


def test_links_to_a_checkpoint_are_one_file(tmp_path):
    X, path, link = data(), tmp_path / "run.nonneg", tmp_path / "link.nonneg"
    link.symlink_to(path)

    def other(progress):
        with pytest.raises(DataError, match="another fit that is going on"):
            nonneg.NMF(3, random_state=0, checkpoint=link).fit(X)
        return True

    nonneg.NMF(3, random_state=0, checkpoint=path, callback=other).fit(X)
    nonneg.NMF(3, random_state=0, checkpoint=link).fit(X)
    assert link.is_symlink()


NAMES = [b"n" * 228 + b".nonneg", b"n" * 248 + b".nonneg", b"n." + b"x" * 253, b"\xff\xfe.nonneg"]


@pytest.mark.parametrize("name", NAMES, ids=["235 bytes", "255 bytes", "a long ending", "not UTF-8"])
def test_names_that_are_long_or_no_text(name, tmp_path):
    path = tmp_path / os.fsdecode(name)
    model = nonneg.NMF(3, random_state=0, checkpoint=path).fit(data())
    model.fit(data())
    model.set_params(checkpoint=None).save(path)
    np.testing.assert_array_equal(nonneg.load(path).components_, model.components_)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_name_that_is_too_long_is_refused_before_the_work(tmp_path):
    with pytest.raises(OSError, match="too long"):
        check_writable(tmp_path / ("n" * 256))


def test_a_disk_that_is_really_full(tmp_path):
    """A file may not become larger than so many bytes: what a full disk does to a process that writes."""
    resource = pytest.importorskip("resource", reason="limits on files are a matter of Unix")
    X, path = data((300, 40)), tmp_path / "run.nonneg"
    settings = {"random_state": 0, "solver": "multiplicative", "max_iter": 40, "tol": 0}
    with pytest.raises(CutOff):
        factorize(X, "W H", 3, **settings, checkpoint=Checkpoint(path, every=0), callback=cut_off_at(20))
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
        with pytest.raises(DataError, match=r"could not be written: .* still there, whole"):
            factorize(X, "W H", 3, **settings, checkpoint=Checkpoint(path, every=0))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["run.nonneg"]


def test_other_estimators_are_refused(tmp_path):
    X, path = data(), tmp_path / "run.nonneg"
    nonneg.NMF(3, random_state=0, checkpoint=path).fit(X)
    for other in (nonneg.OPNMF(3, random_state=0, checkpoint=path), nonneg.NMF(3, random_state=0, n_init=2, checkpoint=path)):
        with pytest.raises(DataError, match="checkpoint of another fit"):
            other.fit(X)
    write(path, X)
    with pytest.raises(DataError, match="not a run"):
        nonneg.NMF(3, random_state=0, checkpoint=path).fit(X)


def write(path, X):
    with open(path, "wb") as file:
        np.save(file, X)


def test_a_parallel_search_with_a_folder(tmp_path):
    from sklearn.model_selection import GridSearchCV

    X, folder = data(), tmp_path / "runs"
    search = GridSearchCV(nonneg.NMF(random_state=0, checkpoint=f"{folder}/"), {"n_components": [2, 3]}, cv=2, n_jobs=2)
    scores = search.fit(X).cv_results_["mean_test_score"]
    assert len(list(folder.iterdir())) == 2 * 2 + 1
    alone = GridSearchCV(nonneg.NMF(random_state=0), {"n_components": [2, 3]}, cv=2).fit(X)
    np.testing.assert_allclose(scores, alone.cv_results_["mean_test_score"], rtol=1e-9)


SCRIPT = """
    import sys, numpy as np, nonneg
    X = np.load(sys.argv[1])
    settings = {"solver": "multiplicative", "init": "random", "max_iter": 300, "tol": 0, "random_state": 0, "check_every": 5}
    found = nonneg.factorize(X, "W H", 5, **settings, checkpoint=nonneg.Checkpoint(sys.argv[2], every=0),
                             callback=lambda _: print("check", flush=True))
    np.save(sys.argv[3], found.factors["W"])
"""


@pytest.mark.parametrize("max_iter", [60, 62])
def test_a_process_killed_between_its_last_iteration_and_its_solution(max_iter, tmp_path, monkeypatch):
    """The stored run is at max_iter, and takes no step beyond; a larger max_iter goes on from it."""
    X, path = data((40, 20)), tmp_path / "run.nonneg"
    settings = {"solver": "multiplicative", "init": "random", "tol": 0, "random_state": 0, "check_every": 5}
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.CheckpointWriter, "finish", lambda *_: (_ for _ in ()).throw(SystemExit))
        with pytest.raises(SystemExit):
            factorize(X, "W H", 3, max_iter=max_iter, checkpoint=nonneg.Checkpoint(path, every=0), **settings)
    for more in (0, 30):
        found = factorize(X, "W H", 3, max_iter=max_iter + more, checkpoint=nonneg.Checkpoint(path, every=0), **settings)
        expected = factorize(X, "W H", 3, max_iter=max_iter + more, **settings)
        assert found.n_iter == max_iter + more
        assert found.status is expected.status
        np.testing.assert_array_equal(found.factors["W"], expected.factors["W"])
        np.testing.assert_array_equal(found.history.objective, expected.history.objective)


def test_a_process_that_is_killed(tmp_path):
    """At random moments, which are mostly in the middle of writing a checkpoint: that is what it does most of the time."""
    X = data((200, 100))
    np.save(tmp_path / "X.npy", X)
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), *(str(tmp_path / name) for name in ("X.npy", "run.nonneg", "W.npy"))]
    generator = np.random.default_rng(0)
    for _ in range(4):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for _ in range(int(generator.integers(2, 30))):
                process.stdout.readline()
            time.sleep(float(generator.uniform(0, 0.02)))
            process.send_signal(signal.SIGKILL)
        if (tmp_path / "run.nonneg").exists():
            checkpoints.read_content(tmp_path / "run.nonneg")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    expected = factorize(X, "W H", 5, solver="multiplicative", init="random", max_iter=300, tol=0, random_state=0, check_every=5)
    np.testing.assert_array_equal(np.load(tmp_path / "W.npy"), expected.factors["W"])


# ---- Ctrl-C, and callbacks


def ctrl_c_at(iteration):
    def callback(progress):
        if progress.iteration >= iteration:
            os.kill(os.getpid(), signal.SIGINT)

    return callback


@pytest.mark.parametrize("name", ["NMF", "OPNMF", "NMTF", "ProjectiveClustering", "SymmetricNMF"])
def test_ctrl_c_keeps_the_best_so_far(name):
    X = data((40, 40))
    X = X + X.T
    model = getattr(nonneg, name)(3, random_state=0, solver="multiplicative", tol=0, callback=ctrl_c_at(20))
    with pytest.raises(KeyboardInterrupt, match="holds the best so far"):
        model.fit(X)
    assert model.status_ == "stopped_by_user"
    assert model.status_.sentence.startswith("Stopped by the user")
    assert 20 <= model.n_iter_ <= 40
    assert np.isfinite(model.objective_)
    assert model.history_[-1].objective == model.objective_
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_a_later_start_says_so():
    """The first start may be over, and the best so far: the fit is not."""
    seen = []

    def in_the_second_start(progress):
        seen.append(progress.iteration)
        if seen.count(0) == 2 and progress.iteration >= 10:
            os.kill(os.getpid(), signal.SIGINT)

    model = nonneg.NMF(3, random_state=0, init="random", n_init=3, callback=in_the_second_start)
    with pytest.raises(KeyboardInterrupt, match="holds the best so far"):
        model.fit(data())
    assert seen.count(0) == 2
    assert model.status_ == "stopped_by_user"


def test_ctrl_c_with_starts_side_by_side():
    model = nonneg.NMF(3, random_state=0, solver="multiplicative", init="random", n_init=4, n_jobs=2, tol=0, callback=ctrl_c_at(20))
    with pytest.raises(KeyboardInterrupt):
        model.fit(data())
    assert model.status_ == "stopped_by_user"


def test_ctrl_c_between_starts_keeps_those_that_are_done():
    seen = []

    def callback(progress):
        seen.append(progress.iteration)
        if seen.count(0) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    model = nonneg.NMF(3, random_state=0, init="random", n_init=5, callback=callback)
    with pytest.raises(KeyboardInterrupt):
        model.fit(data())
    assert len(model.objectives_) == 2


def test_ctrl_c_in_a_factorization():
    with pytest.raises(KeyboardInterrupt) as stopped:
        factorize(data(), "W H", 3, solver="multiplicative", tol=0, callback=ctrl_c_at(20))
    assert stopped.value.solution.status == "stopped_by_user"


@pytest.mark.parametrize("later", [0, 1, 7])
def test_ctrl_c_in_the_midst_of_a_reading(later, tmp_path):
    """Some readings after a check: the run ends at that check."""
    X = data()
    np.save(tmp_path / "X.npy", X)
    source = open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 6)
    seen = []

    def callback(progress):
        seen.append(progress.iteration)
        if progress.iteration == 20:
            last = source.log.count + later
            source.log.over = lambda: source.log.count >= last

    found = factorize(source, "W H", 3, divergence=1, solver="multiplicative", tol=0, callback=callback)
    assert (found.status, found.n_iter, seen[-1]) == ("stopped_by_user", 20, 20)
    at_it = factorize(X, "W H", init=found.factors, divergence=1, max_iter=0)
    assert found.objective == pytest.approx(at_it.objective, rel=1e-9)


@pytest.mark.parametrize("form", ["X W W.T", "W H", "W W.T X"])
def test_ctrl_c_in_a_reading_that_looks_at_the_data_again(form, tmp_path):
    """What was found on what stands for the data is kept."""
    X = data((80, 60))
    np.save(tmp_path / "X.npy", X)
    source = open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 6)

    def callback(progress):
        source.log.over = lambda: True

    found = factorize(source, form, 3, random_state=0, callback=callback)
    assert found.status == "stopped_by_user"
    assert found.objective <= factorize(X, form, 3, random_state=0).objective * 1.1


def test_ctrl_c_in_the_first_reading_of_a_later_start(tmp_path):
    """The starts before it are whole, and the best of them is kept."""
    X = data()
    np.save(tmp_path / "X.npy", X)
    source = open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 6)
    starts = []

    def callback(progress):
        starts.append(progress.iteration)
        if starts.count(0) == 2 and progress.iteration == 8:
            os.kill(os.getpid(), signal.SIGINT)

    settings = {"solver": "multiplicative", "init": "random", "max_iter": 8, "tol": 0, "random_state": 0}
    model = nonneg.NMF(3, divergence=1, n_init=4, **settings, callback=callback)
    with pytest.raises(KeyboardInterrupt, match="holds the best so far"):
        model.fit(source)
    assert len(model.objectives_) == 2


def test_ctrl_c_before_hardening(tmp_path):
    """What is left to do after the runs takes readings, which are made all the same."""
    X = data((60, 30))
    np.save(tmp_path / "X.npy", X)
    source = open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 6)
    model = nonneg.OPNMF(3, orthogonality="rows", solver="multiplicative", random_state=0, tol=0, callback=ctrl_c_at(20))
    with pytest.raises(KeyboardInterrupt, match="holds the best so far"):
        model.fit(source)
    assert model.status_ == "stopped_by_user"
    assert (np.count_nonzero(model.components_, axis=0) <= 1).all()


@pytest.mark.parametrize("every", [0, 3600], ids=["often", "not yet"])
@pytest.mark.parametrize("solver", ["multiplicative", "auto"])
def test_ctrl_c_and_a_checkpoint(every, solver, tmp_path):
    """The file has where the run was stopped, even if it was not yet time to write it."""
    X, path = data(), tmp_path / "run.nonneg"
    settings = {"random_state": 0, "solver": solver, "max_iter": 60, "tol": 0}
    kept = {"checkpoint": Checkpoint(path, every=every)}
    with pytest.raises(KeyboardInterrupt):
        nonneg.NMF(3, **settings, **kept, callback=ctrl_c_at(20)).fit(X)
    seen = []
    found = nonneg.NMF(3, **settings, **kept, callback=lambda progress: seen.append(progress.iteration)).fit(X)
    whole = nonneg.NMF(3, **settings).fit(X)
    same_bits(found.factors_, whole.factors_)
    assert min(seen) > 10


def test_a_grid_search_stops_too():
    from sklearn.model_selection import GridSearchCV

    model = nonneg.NMF(random_state=0, solver="multiplicative", tol=0, callback=ctrl_c_at(20))
    with pytest.raises(KeyboardInterrupt):
        GridSearchCV(model, {"n_components": [2, 3]}, cv=2).fit(data())


def test_a_callback_that_returns_true_ends_without_raising():
    model = nonneg.NMF(3, random_state=0, solver="multiplicative", tol=0, callback=lambda progress: progress.iteration >= 20)
    assert model.fit(data()).status_ == "stopped_by_callback"
    assert model.n_iter_ == 20
    with pytest.raises(IncompatibleError, match="callback must be"):
        nonneg.NMF(3, callback=3).fit(data())


# ---- looks between checks, where iterations take long


@pytest.fixture
def slow(monkeypatch):
    """As if every iteration took so long that it is looked at."""
    monkeypatch.setattr(run, "_PATIENCE", 0.0)
    monkeypatch.setattr(run, "_LOOKING", 0)


LOOKED_AT = [("W H", 2), ("W H", 1), ("X W W.T", 2), ("X W W.T", 1), ("W S H", 2)]


@pytest.mark.parametrize("store", ["memory", "file"])
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
@pytest.mark.parametrize(("form", "divergence"), LOOKED_AT)
def test_looks_change_nothing(form, divergence, solver, store, tmp_path, monkeypatch):
    """Neither the factors, nor the history, nor the number of readings: how fast a machine is does not show."""
    X = data()
    np.save(tmp_path / "X.npy", X)

    def own():
        return X if store == "memory" else open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 5)

    settings = {"divergence": divergence, "solver": solver, "init": "random", "max_iter": 33, "random_state": 0}
    try:
        plain = factorize(own(), form, 4, **settings)
    except IncompatibleError:
        pytest.skip("a solver that is not for this model")
    monkeypatch.setattr(run, "_PATIENCE", 0.0)
    monkeypatch.setattr(run, "_LOOKING", 0)
    seen = []
    looked = factorize(own(), form, 4, **settings, callback=lambda progress: seen.append(progress.iteration))
    if store == "memory":
        assert sorted(set(seen)) == list(range(looked.n_iter + 1))
    same_bits(looked.factors, plain.factors)
    for column in ("iteration", "objective", "readings"):
        np.testing.assert_array_equal(getattr(looked.history, column), getattr(plain.history, column))


@pytest.mark.parametrize("every", [0, 3600], ids=["often", "not yet"])
@pytest.mark.parametrize("solver", ["auto", "multiplicative", "newton", "adaptive"])
def test_ctrl_c_before_the_first_check_keeps_the_iterations(solver, every, slow, tmp_path):
    """Of data that are far: in the midst of a reading, an iteration or two after which is lost."""
    X, path = data(), tmp_path / "run.nonneg"
    np.save(tmp_path / "X.npy", X)
    settings = {"divergence": 1, "solver": solver, "init": "random", "tol": 0, "max_iter": 30, "random_state": 0}

    def own():
        return open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 6)

    source = own()

    def callback(progress):
        if progress.iteration == 0:
            last = source.log.count + 9
            source.log.over = lambda: source.log.count >= last

    found = factorize(source, "W H", 3, **settings, checkpoint=Checkpoint(path, every=every), callback=callback)
    assert found.status == "stopped_by_user"
    assert 2 <= found.n_iter < 10
    assert found.history.iteration.tolist() == [0, found.n_iter]
    at_it = factorize(X, "W H", init=found.factors, divergence=1, max_iter=0)
    assert found.objective == found.history[-1].objective == pytest.approx(at_it.objective, rel=1e-9)
    seen = []
    again = factorize(own(), "W H", 3, **settings, checkpoint=path, callback=lambda progress: seen.append(progress.iteration))
    assert min(seen) > found.n_iter
    whole = factorize(own(), "W H", 3, **settings)
    same_bits(again.factors, whole.factors)
    np.testing.assert_array_equal(again.history.objective, whole.history.objective)


@pytest.mark.parametrize("solver", ["multiplicative", "newton"])
def test_ctrl_c_at_a_look_in_memory(solver, slow, tmp_path):
    X, path = data(), tmp_path / "run.nonneg"
    settings = {"divergence": 1, "solver": solver, "init": "random", "tol": 0, "max_iter": 30, "random_state": 0}
    with pytest.raises(KeyboardInterrupt) as stopped:
        factorize(X, "W H", 3, **settings, checkpoint=Checkpoint(path, every=3600), callback=ctrl_c_at(4))
    found = stopped.value.solution
    assert (found.status, found.n_iter) == ("stopped_by_user", 5)
    assert found.history.iteration.tolist() == [0, 5]
    seen = []
    again = factorize(X, "W H", 3, **settings, checkpoint=path, callback=lambda progress: seen.append(progress.iteration))
    assert seen[0] == 6
    whole = factorize(X, "W H", 3, **settings)
    same_bits(again.factors, whole.factors)
    np.testing.assert_array_equal(again.history.iteration, whole.history.iteration)


def test_a_callback_may_end_a_run_at_a_look(slow):
    found = factorize(data(), "W H", 3, solver="multiplicative", tol=0, callback=lambda progress: progress.iteration >= 13)
    assert (found.status, found.n_iter) == ("stopped_by_callback", 13)
    assert found.history.iteration.tolist() == [0, 10, 13]


def test_a_checkpoint_is_written_at_looks(slow, tmp_path):
    X, checkpoint = data(), Checkpoint(tmp_path / "run.nonneg", every=0)
    settings = {"solver": "multiplicative", "init": "random", "tol": 0, "max_iter": 30, "random_state": 0}
    with pytest.raises(CutOff):
        factorize(X, "W H", 3, **settings, checkpoint=checkpoint, callback=cut_off_at(7))
    seen = []
    factorize(X, "W H", 3, **settings, checkpoint=checkpoint, callback=lambda progress: seen.append(progress.iteration))
    assert seen[0] == 7


@pytest.mark.parametrize("form", ["X W W.T", "W H"])
def test_ctrl_c_in_the_reading_that_proves_it_and_a_checkpoint(form, tmp_path):
    """The readings before it are not made again."""
    X, path = data((80, 60)), tmp_path / "run.nonneg"
    np.save(tmp_path / "X.npy", X)
    settings = {"random_state": 0, "init": "random"}

    def own():
        return open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 6)

    source = own()

    def callback(progress):
        source.log.over = lambda: True

    found = factorize(source, form, 3, **settings, checkpoint=Checkpoint(path, every=3600), callback=callback)
    assert found.status == "stopped_by_user"
    source, whole = own(), own()
    again = factorize(source, form, 3, **settings, checkpoint=path)
    expected = factorize(whole, form, 3, **settings)
    same_bits(again.factors, expected.factors)
    assert source.log.count < whole.log.count


def test_ctrl_c_when_a_fit_is_over_says_so(tmp_path):
    """Its start is in the checkpoint, and nothing is left to do: it is what a fit without Ctrl-C comes to, and named so."""
    X, path = data(), tmp_path / "run.nonneg"
    whole = nonneg.NMF(3, random_state=0, checkpoint=path).fit(X)
    assert whole.status_ == "converged"

    class Pressing(nonneg.NMF):
        def _finished(self, X, solution):
            os.kill(os.getpid(), signal.SIGINT)
            return solution

    model = Pressing(3, random_state=0, checkpoint=path)
    with pytest.raises(KeyboardInterrupt, match=r"interrupted when its fit was over; it holds all of it\. Converged"):
        model.fit(X)
    assert model.status_ == "converged"
    same_bits(model.factors_, whole.factors_)

    def at_the_end(progress):
        if progress.iteration == whole.n_iter_:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="when it was over") as stopped:
        factorize(X, "W H", 3, random_state=0, max_iter=5000, callback=at_the_end)
    assert stopped.value.solution.status == "converged"


# ---- further than max_iter


def further(fit, path, few, many):
    """What a fit that has ended at `few` iterations comes to with `many`, the iterations that this took, and what that is from
    the beginning.
    """
    first = fit(max_iter=few, checkpoint=path)
    seen = []
    found = fit(max_iter=many, checkpoint=path, callback=lambda progress: seen.append(progress.iteration))
    again = fit(max_iter=many, checkpoint=path, callback=lambda progress: pytest.fail("it was over"))
    whole = fit(max_iter=many)
    for each in (found, again):
        same_bits(each.factors, whole.factors)
        assert (each.objective, each.n_iter, each.status) == (whole.objective, whole.n_iter, whole.status)
        for column in ("iteration", "objective"):
            np.testing.assert_array_equal(getattr(each.history, column), getattr(whole.history, column))
    return first, seen


@pytest.mark.parametrize("few", [110, 117], ids=["at a check", "between checks"])
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
@pytest.mark.parametrize(("form", "divergence"), LOOKED_AT)
def test_a_larger_max_iter(form, divergence, solver, few, tmp_path):
    X = data((40, 30))

    def fit(**more):
        settings = {"divergence": divergence, "solver": solver, "init": "random", "tol": 0, "random_state": 0}
        return factorize(X, form, 4, **settings, **more)

    try:
        fit(max_iter=1)
    except IncompatibleError:
        pytest.skip("a solver that is not for this model")
    first, seen = further(fit, tmp_path / "run.nonneg", few, 143)
    if first.status == "max_iter":
        assert min(seen) > few - 1


def test_state_between_checks_is_written_too(tmp_path):
    """The curve of the objective decides when a run is over; with this `tol`, one point of it does."""
    rng = np.random.default_rng(0)
    X = rng.poisson(3 * (rng.random((40, 4)) @ rng.random((4, 30)))).astype(float)
    settings = {"divergence": "kullback-leibler", "solver": "quasi-newton", "init": "random", "random_state": 0}
    further(lambda **more: factorize(X, "W H", 4, tol=4.932572848372221e-07, **settings, **more), tmp_path / "run", 105, 2000)


@pytest.mark.parametrize("kind", ["missing", "filled", "weights", "float32", "sparse"])
def test_a_larger_max_iter_for_other_data(kind, tmp_path):
    X = data((40, 30))
    known = np.random.default_rng(0).random(X.shape) < 0.8
    given, more = {
        "missing": (np.where(known, X, np.nan), {"missing": "ignore"}),
        "filled": (np.where(known, X, np.nan), {"missing": "ignore"}),
        "weights": (X, {"weights": known + 0.5}),
        "float32": (X.astype(np.float32), {}),
        "sparse": (sparse.csr_array(known * X), {}),
    }[kind]
    form = "X W W.T" if kind == "filled" else "W H"

    def fit(**settings):
        return factorize(given, form, 4, divergence=1, init="random", tol=0, random_state=0, **more, **settings)

    first, seen = further(fit, tmp_path / "run.nonneg", 104, 131)
    assert first.status != "max_iter" or min(seen) > 103


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("store", ["memory", "file"])
@pytest.mark.parametrize("name", [*FITS, "projective"])
def test_a_larger_max_iter_of_estimators(name, store, tmp_path):
    """With whatever stands for the data, and the start that "auto" finds, which must not depend on it."""
    estimator, settings = (FITS | {"projective": (nonneg.PNMF, {"divergence": 1})})[name]
    X = data((300, 60))
    np.save(tmp_path / "X.npy", X)

    def fit(**more):
        own = X if store == "memory" else open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 5)
        model = estimator(4, n_init=2, random_state=0, **{**settings, "tol": 1e-9, **more}).fit(own)
        model.factors, model.objective, model.n_iter = model.factors_, model.objective_, model.n_iter_
        model.status, model.history = model.status_, model.history_
        return model

    _, seen = further(fit, tmp_path / "run.nonneg", 103, 128)
    begins_anew = (name, store) == ("NMF", "file")  # of several starts, some would have gone on for longer
    assert begins_anew or all(iteration > 102 for iteration in seen)


def test_few_iterations_are_done_again(tmp_path):
    """They were planned for as few, by another plan, and are no beginning of many."""
    X = data()

    def fit(**more):
        return factorize(X, "W H", 3, init="random", solver="multiplicative", tol=0, random_state=0, **more)

    _, seen = further(fit, tmp_path / "run.nonneg", 20, 150)
    assert seen[0] == 0


def test_a_max_iter_below_the_done_iterations_is_refused(tmp_path):
    X, path = data(), tmp_path / "run.nonneg"
    settings = {"init": "random", "solver": "multiplicative", "tol": 0, "random_state": 0, "checkpoint": path}
    factorize(X, "W H", 3, **settings, max_iter=120)
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"has come to iteration 120 with max_iter=120, and cannot go back: here max_iter is 110"):
        factorize(X, "W H", 3, **settings, max_iter=110)
    assert path.read_bytes() == before
    with pytest.raises(DataError, match=r"another fit: tol is 0(\.0)? there, and 0\.1 here\. Give"):
        factorize(X, "W H", 3, **{**settings, "tol": 0.1}, max_iter=200)


def test_a_fit_that_has_converged_has_with_any_larger_max_iter(tmp_path):
    X, path = data(), tmp_path / "run.nonneg"
    model = nonneg.NMF(3, random_state=0, checkpoint=path, max_iter=1000).fit(X)
    assert model.status_ == "converged"
    again = nonneg.NMF(3, random_state=0, checkpoint=path, max_iter=2000, callback=lambda _: pytest.fail("it was over")).fit(X)
    same_bits(again.factors_, model.factors_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_starts_that_are_done_again_are_not_taken_for_others(tmp_path):
    """When it is cut off before all of them are, those that are left are still of the plan for few iterations."""
    X, checkpoint = data(), Checkpoint(tmp_path / "run.nonneg", every=0)

    def fit(max_iter, **more):
        settings = {"init": "random", "solver": "multiplicative", "tol": 0, "random_state": 0, "n_init": 2}
        return nonneg.NMF(3, **settings, max_iter=max_iter, **more).fit(X)

    fit(30, checkpoint=checkpoint)
    with pytest.raises(CutOff):
        fit(130, checkpoint=checkpoint, callback=cut_off_at(50))
    seen = []
    found = fit(130, checkpoint=checkpoint, callback=lambda progress: seen.append(progress.iteration))
    assert seen.count(0) == 1
    same_bits(found.factors_, fit(130).factors_)


@pytest.mark.parametrize("name", ["NMF", "OPNMF", "KernelPNMF"])
@pytest.mark.parametrize("stored", ["array", "file", "features"])
def test_the_same_entries_in_other_places_are_other_data(name, stored, tmp_path):
    """A permuted X has the same extremes and sums."""
    if name == "KernelPNMF" and stored != "array":
        pytest.skip("KernelPNMF takes arrays only")
    X = np.random.default_rng(0).poisson(3.0, size=(40, 12)).astype(float)

    def fitted(X):
        if stored != "array":
            np.save(tmp_path / "X.npy", X if stored == "file" else np.ascontiguousarray(X.T))
            X = open_data(tmp_path / "X.npy", block_bytes=900, blocks="samples" if stored == "file" else "features")
        return getattr(nonneg, name)(2, random_state=0, checkpoint=tmp_path / "run.nonneg").fit(X)

    first = fitted(X)
    for other in (np.random.default_rng(1).permuted(X, axis=0), X[::-1].copy()):
        with pytest.raises(DataError, match="checkpoint of another fit: entries of X"):
            fitted(other)
    assert fitted(X).objective_ == first.objective_


def test_an_empty_name_is_refused():
    with pytest.raises(IncompatibleError, match="checkpoint is an empty text"):
        nonneg.NMF(2, checkpoint="").fit(np.ones((4, 4)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_max_iter_below_the_done_iterations_is_refused_before_a_new_start(tmp_path):
    """Below a hundred iterations plans depend on their number: what was there was thrown away."""
    model = nonneg.NMF(3, divergence="kullback-leibler", tol=0, random_state=0, checkpoint=tmp_path / "run.nonneg")
    model.set_params(max_iter=40).fit(data())
    before = (tmp_path / "run.nonneg").read_bytes()
    with pytest.raises(DataError, match="has come to iteration 40 with max_iter=40, and cannot go back"):
        model.set_params(max_iter=10).fit(data())
    assert (tmp_path / "run.nonneg").read_bytes() == before


def test_other_blocks_are_named(tmp_path):
    X = data((300, 60))
    np.save(tmp_path / "X.npy", X)
    model = nonneg.OPNMF(3, random_state=0, checkpoint=tmp_path / "run.nonneg")
    model.fit(open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 5))
    with pytest.raises(DataError, match=r"storage of X is .5 blocks, .* there, and .2 blocks"):
        model.fit(open_data(tmp_path / "X.npy", block_bytes=X.nbytes // 2))


def test_a_path_that_cannot_be_a_checkpoint(tmp_path):
    (tmp_path / "text").write_text("no arrays")
    for name, why in (("text", r"not all of it\. Delete it"), ("folder/run.nonneg", "the folder .*folder does not exist")):
        with pytest.raises(DataError, match=why):
            nonneg.NMF(2, checkpoint=tmp_path / name).fit(data())
    assert (tmp_path / "text").read_text() == "no arrays"
