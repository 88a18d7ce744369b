"""Every command from the shell, as its help shows it; and what becomes of files that are not what they should be."""

import io
import json
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import nonneg

pytest.importorskip("click")
pytest.importorskip("rich")
COMMANDS = ["cocluster", "datasets", "fit", "hmm", "lda", "match", "methods", "model", "partition", "report", "transform"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(nonneg.__file__).parents[1]), "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}


def start(*arguments, cwd, **settings):
    command = [sys.executable, "-m", "nonneg", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=cwd, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings
    )


def shell(*arguments, cwd, **settings):
    """Run a command; its exit code, and what it printed."""
    process = start(*arguments, cwd=cwd, **settings)
    out, err = process.communicate(timeout=600)
    assert "Traceback" not in err, err
    return process.returncode, out, err


def fails(*arguments, cwd, match, code=1, **settings):
    """The command fails, with one sentence about it."""
    status, _, err = shell(*arguments, cwd=cwd, **settings)
    assert (status, bool(re.search(match, err))) == (code, True), err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("shell")


@pytest.fixture
def table(tmp_path):
    """A small table with names."""
    X = np.random.default_rng(0).gamma(1.0, 1.0, (12, 2)) @ np.kron(np.eye(2), np.ones(3))
    rows = [",".join(["id", *"abcdef"]), *(",".join([f"s{i}", *map(str, row)]) for i, row in enumerate(X))]
    (tmp_path / "table.csv").write_text("\n".join(rows))
    return tmp_path


def changed(table, row, column, value):
    rows = [line.split(",") for line in (table / "table.csv").read_text().splitlines()]
    rows[row][column] = value
    (table / "table.csv").write_text("\n".join(",".join(line) for line in rows))


class TestHelp:
    def test_it_is_there_at_once(self, folder):
        """Half a second, of the processor: what else runs on the machine is not what is measured."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        status, out, _ = shell("--help", cwd=folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert status == 0
        assert all(re.search(rf"^  {name} ", out, re.MULTILINE) for name in COMMANDS)
        assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5

    def test_nothing_heavy_is_imported(self):
        code = (
            "import sys; from nonneg.cli.app import app; [app.get_command(None, name) for name in app.list_commands(None)]; "
            "print(*sys.modules)"
        )
        found = subprocess.run(
            [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True
        ).stdout.split()
        assert not {"numpy", "scipy", "sklearn", "numba"} & set(found)

    def test_mistyped(self, folder):
        fails("fti", cwd=folder, match="Did you mean 'fit'", code=2)

    def test_completion(self, folder):
        environment = ENVIRONMENT | {"_NONNEG_COMPLETE": "bash_complete", "COMP_WORDS": "nonneg parti", "COMP_CWORD": "1"}
        code = "import sys; sys.argv = ['nonneg']; from nonneg.cli import main; main()"
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
        assert "partition" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_of_the_help_work(name, folder):
    pytest.importorskip("networkx")
    status, out, _ = shell(name, "--help", cwd=folder)
    lines = [line.strip() for line in out.partition("Example, as it stands:")[2].splitlines() if line.strip().startswith("nonneg ")]
    assert status == 0
    assert lines, "there is an example"
    for line in lines:
        arguments = [one.strip('"') for one in re.findall(r'"[^"]*"|\S+', line)][1:]
        target = arguments[arguments.index("-o") + 1] if "-o" in arguments else None
        if target and (folder / target).exists() and arguments[0] == "datasets":
            continue
        status, out, err = shell(*arguments, cwd=folder)
        assert status == 0, err
        assert out.strip()
        assert target is None or (folder / target).stat().st_size


class TestFit:
    def test_all_that_is_written(self, table):
        outputs = {
            "components": "parts.csv",
            "loadings": "codes.parquet",
            "labels": "labels.csv",
            "report": "page.html",
            "out": "m.nonneg",
        }
        pytest.importorskip("pyarrow")
        options = [word for name, file in outputs.items() for word in (f"--{name}", file)]
        status, out, err = shell("fit", "table.csv", "-r", "2", "--json", *options, cwd=table)
        assert status == 0, err
        found = json.loads(out)
        assert (found["status"], found["samples"], found["features"], found["interrupted"]) == ("converged", 12, 6, False)
        assert set(found["files"].values()) == set(outputs.values())
        parts, codes = (nonneg.files.read(table / outputs[name]) for name in ("components", "loadings"))
        assert (parts.features.tolist(), parts.samples.tolist()) == (list("abcdef"), ["part 1", "part 2"])
        assert codes.samples[:2].tolist() == ["s0", "s1"]
        model = nonneg.load(table / "m.nonneg")
        assert model.feature_names_in_.tolist() == list("abcdef")
        labels = nonneg.files.read(table / "labels.csv").values.ravel()
        assert len(set(labels[:3])) == len(set(labels[3:])) == 1
        page = (table / "page.html").read_text(encoding="utf8")
        assert "OPNMF of table.csv, 2 parts" in page
        assert not re.search(r'(src|href)="(?!data:|#)', page), "nothing is fetched"
        assert not shell("transform", "m.nonneg", "table.csv", "-o", "again.csv", cwd=table)[0]
        np.testing.assert_allclose(nonneg.files.read(table / "again.csv").values, codes.values)

    def test_columns_in_another_order(self, table):
        assert not shell("fit", "table.csv", "-r", "2", "-q", "-o", "m.nonneg", "--loadings", "codes.csv", cwd=table)[0]
        found = nonneg.files.read(table / "table.csv")
        shuffled = nonneg.files.Table(found.values[:, ::-1], found.samples, found.features[::-1])
        nonneg.files.write(shuffled, table / "shuffled.csv")
        assert not shell("transform", "m.nonneg", "shuffled.csv", "-o", "again.csv", cwd=table)[0]
        codes, again = (nonneg.files.read(table / name).values for name in ("codes.csv", "again.csv"))
        np.testing.assert_allclose(again, codes)
        nonneg.files.write(nonneg.files.Table(found.values[:, 1:], found.samples, found.features[1:]), table / "fewer.csv")
        fails("transform", "m.nonneg", "fewer.csv", "-o", "again.csv", cwd=table, match="lacks 1 of the 6 columns .* 'a'")

    def test_quiet(self, table):
        assert shell("fit", "table.csv", "-r", "2", "--quiet", cwd=table) == (0, "", "")
        assert (table / "table.nonneg").exists()

    def test_parameters(self, table):
        options = ["--divergence", "kl", "--restarts", "2", "--set", "warm_start=true", "--max-iter", "5", "--tol", "0"]
        status, out, _ = shell("fit", "table.csv", "-m", "nmf", "-r", "2", "--json", *options, cwd=table)
        assert (status, len(json.loads(out)["objectives"]), json.loads(out)["n_iter"]) == (0, 2, 5)
        assert nonneg.load(table / "table.nonneg").warm_start is True
        fails("fit", "table.csv", "-r", "2", "--set", "colour=red", cwd=table, match="has no parameter colour", code=2)

    def test_interrupted(self, tmp_path):
        np.save(tmp_path / "X.npy", np.random.default_rng(0).random((400, 200)))
        options = ["--tol", "0", "--max-iter", "100000000", "--solver", "multiplicative", "--init", "random"]
        process = start("fit", "X.npy", "-r", "10", *options, cwd=tmp_path)
        seen = ""
        while "iteration" not in seen:
            seen = process.stderr.readline()
            assert seen, "it goes on"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
        assert process.returncode == 130, err
        assert nonneg.load(tmp_path / "X.nonneg").status_ == "stopped_by_callback"

    def test_volumes(self, tmp_path):
        """The grey matter of MNI152, cut into two halves of which subjects have more or less: maps and atlas line up with mask and
        affine, and new volumes are read in the same mask."""
        nibabel = pytest.importorskip("nibabel")
        try:
            brain = nonneg.datasets.load_mni152()
        except (nonneg.datasets.FetchError, ImportError) as error:
            pytest.skip(str(error))
        step, rng = 8, np.random.default_rng(0)
        grey = brain.images[1][::step, ::step, ::step] / 255
        affine = brain.affine @ np.diag([step, step, step, 1])
        mask = grey > 0.3
        is_left = np.arange(grey.shape[0])[:, None, None] < grey.shape[0] / 2
        halves = np.stack([grey * is_left, grey * ~is_left], axis=3)
        subjects = halves @ rng.gamma(1.0, 1.0, (2, 20))
        nibabel.save(nibabel.Nifti1Image(subjects, affine), tmp_path / "all.nii.gz")
        nibabel.save(nibabel.Nifti1Image(mask.astype(np.int16), affine), tmp_path / "mask.nii.gz")
        options = ["--mask", "mask.nii.gz", "--components", "maps.nii.gz", "--atlas", "atlas.nii.gz", "--report", "page.html"]
        status, _, err = shell("fit", "all.nii.gz", "-r", "2", *options, cwd=tmp_path)
        assert status == 0, err
        maps, atlas = (nibabel.load(tmp_path / name) for name in ("maps.nii.gz", "atlas.nii.gz"))
        for volume in (maps, atlas):
            np.testing.assert_allclose(volume.affine, affine)
        labels = np.asarray(atlas.dataobj)
        assert maps.shape == (*mask.shape, 2)
        assert not labels[~mask].any()
        of_halves = [set(labels[mask & side].tolist()) for side in np.broadcast_arrays(is_left & mask, ~is_left & mask)]
        assert sorted(map(tuple, of_halves)) == [(1,), (2,)]
        status, _, err = shell("transform", "all.nonneg", "all.nii.gz", "-o", "codes.csv", cwd=tmp_path)
        assert status == 0, err
        assert nonneg.files.read(tmp_path / "codes.csv").shape == (20, 2)


class TestWhatGoesWrong:
    def test_no_file(self, tmp_path):
        fails("fit", "nothing.csv", "-r", "2", cwd=tmp_path, match="There is no file nothing.csv")

    def test_another_kind_of_file(self, tmp_path):
        (tmp_path / "X.npy").write_bytes(b"\0\1\2\3")
        fails("fit", "X.npy", "-r", "2", cwd=tmp_path, match="does not begin as one does")

    def test_an_empty_file(self, tmp_path):
        (tmp_path / "X.csv").touch()
        fails("fit", "X.csv", "-r", "2", cwd=tmp_path, match="X.csv is empty")

    def test_a_truncated_archive(self, tmp_path):
        np.savez(tmp_path / "X.npz", X=np.ones((50, 50)))
        (tmp_path / "X.npz").write_bytes((tmp_path / "X.npz").read_bytes()[:5000])
        fails("fit", "X.npz", "-r", "2", cwd=tmp_path, match="not a whole archive.* cut off")

    @pytest.mark.parametrize(
        ("value", "match"),
        [
            ("-1", r"row 3 \('s2'\), column 'b' is -1, which is below zero"),
            ("much", r"row 3 \('s2'\), column 'b' is 'much', which is not a number"),
            ("NaN", r"row 3 \('s2'\), column 'b' is nan, which is no number to fit"),
        ],
    )
    def test_cells(self, value, match, table):
        changed(table, 3, 2, value)
        fails("fit", "table.csv", "-r", "2", cwd=table, match=match)

    def test_ranks(self, table):
        fails("fit", "table.csv", "-r", "0", cwd=table, match="0 parts cannot be learned", code=2)
        fails("fit", "table.csv", "-r", "7", cwd=table, match="do not fit into 6 features")
        fails("cocluster", "table.csv", "-r", "2,0", cwd=table, match="not a number of at least 1", code=2)
        fails("partition", "table.csv", "-k", "0", cwd=table, match="--parts", code=2)

    def test_outputs_are_looked_at_before_the_work(self, tmp_path):
        """There are no data; it is the output that is complained about."""
        fails("fit", "nothing.csv", "-r", "2", "-o", "no/such/folder.nonneg", cwd=tmp_path, match="is not a folder")
        fails("fit", "nothing.csv", "-r", "2", "--report", ".", cwd=tmp_path, match="is a folder")
        fails("fit", "nothing.csv", "-r", "2", "--components", "parts.docx", cwd=tmp_path, match="told by the end of the name")

    def test_a_full_disk(self, tmp_path):
        """A limit on the size of files stands for it: what is not whole is not there, and what was there before still is."""
        (tmp_path / "digits.npy").write_text("before")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # noqa: E731
        fails(
            "datasets",
            "digits",
            "-o",
            "digits.npy",
            cwd=tmp_path,
            match="could not be written: .* still there, whole",
            preexec_fn=limit,
        )
        assert [path.name for path in tmp_path.iterdir()] == ["digits.npy"]
        assert (tmp_path / "digits.npy").read_text() == "before"

    def test_a_model_of_a_newer_version(self, table):
        nonneg.NMF(2, random_state=0).fit(nonneg.files.read(table / "table.csv").values).save(table / "m.nonneg")
        with zipfile.ZipFile(table / "m.nonneg") as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        members["model.json"] = members["model.json"].replace(b'"version": 1', b'"version": 99')
        with zipfile.ZipFile(table / "m.nonneg", "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        fails("transform", "m.nonneg", "table.csv", "-o", "codes.csv", cwd=table, match="newer nonneg")
        fails("report", "m.nonneg", "-o", "page.html", cwd=table, match="newer nonneg")

    def test_a_zip_bomb(self, tmp_path):
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)})
        with zipfile.ZipFile(tmp_path / "X.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("X.npy", header.getvalue() + bytes(10**6))
        fails("fit", "X.npz", "-r", "2", cwd=tmp_path, match="1000000 × 1000000")

    def test_a_path_outside_of_an_archive(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "X.npz", "w") as archive:
            archive.writestr("../outside.npy", b"anything")
        fails("fit", "X.npz", "-r", "2", cwd=tmp_path, match="outside of it")
        assert [path.name for path in tmp_path.iterdir()] == ["X.npz"]

    def test_a_pickle_in_disguise(self, tmp_path):
        class Evil:
            def __reduce__(self):
                return (open, (str(tmp_path / "it ran"), "w"))

        (tmp_path / "X.npy").write_bytes(pickle.dumps(Evil()))
        fails("fit", "X.npy", "-r", "2", cwd=tmp_path, match="is a pickle")
        assert not (tmp_path / "it ran").exists()

    def test_errors_for_machines(self, tmp_path):
        status, out, _ = shell("fit", "nothing.csv", "-r", "2", "--json", cwd=tmp_path)
        assert status == 1
        assert "There is no file" in json.loads(out)["error"]

    def test_no_such_data_set(self, tmp_path):
        fails("datasets", "digitz", "-o", "X.npz", cwd=tmp_path, match="Did you mean 'digits'")

    def test_forms(self, tmp_path):
        fails("model", "X X", cwd=tmp_path, match="nothing to learn")
        fails("model", "W H", "--divergence", "manhattan", cwd=tmp_path, match="Unknown divergence 'manhattan'")
