"""Every command from the shell, as its help shows it; and damaged or wrong files.

`shell` starts a process, `run` the same command in this one, where that adds nothing.
"""

import html
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
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import nonneg
import nonneg_papers
from nonneg.estimators.storing import write_model
from nonneg.exceptions import FileError
from nonneg.plot.views import column_labels
from tests.command import invoke

pytest.importorskip("click")
pytest.importorskip("rich")
COMMANDS = ["cocluster", "datasets", "export", "fit", "hmm", "lda", "match", "methods", "model", "partition", "rank"]
COMMANDS += ["report", "transform"]
SOURCES = os.pathsep.join(str(Path(package.__file__).parents[1]) for package in (nonneg, nonneg_papers))
ENVIRONMENT = {**os.environ, "PYTHONPATH": SOURCES, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}


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


def run(*arguments, cwd):
    """The same in this process."""
    with chdir(cwd):
        done = invoke(*arguments)
    return done.exit_code, done.stdout, done.stderr


def fails(*arguments, cwd, match, code=1):
    """The command fails, with one sentence about it."""
    status, _, err = run(*arguments, cwd=cwd)
    assert (status, bool(re.search(match, err))) == (code, True), err


def interrupt(process, when):
    """Ctrl-C once a line that matches is there; it ends as it should, and this is what it said."""
    seen, line = "", ""
    while not re.search(when, line):
        line = process.stderr.readline()
        assert line, f"it goes on: {seen}"
        seen += line
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert (process.returncode, "Traceback" in err) == (130, False), seen + err
    return seen + err


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


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.wide) if name == "cocluster" else name for name in COMMANDS])
def test_examples_of_the_help_work(name, folder):
    pytest.importorskip("networkx")
    status, out, _ = shell(name, "--help", cwd=folder)
    lines = [line.strip() for line in out.partition("Example, as it stands:")[2].splitlines() if line.strip().startswith("nonneg ")]
    assert status == 0
    assert lines, "there is an example"
    for line in lines:
        arguments = [one.strip('"') for one in re.findall(r'"[^"]*"|\S+', line)][1:]
        target = arguments[arguments.index("-o") + 1] if "-o" in arguments else None
        status, out, err = (shell if line == lines[-1] else run)(*arguments, cwd=folder)
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
        status, out, err = run("fit", "table.csv", "-r", "2", "--json", *options, cwd=table)
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
        assert not run("transform", "m.nonneg", "table.csv", "-o", "again.csv", cwd=table)[0]
        np.testing.assert_allclose(nonneg.files.read(table / "again.csv").values, codes.values)

    def test_columns_in_another_order(self, table):
        assert not run("fit", "table.csv", "-r", "2", "-q", "-o", "m.nonneg", "--loadings", "codes.csv", cwd=table)[0]
        found = nonneg.files.read(table / "table.csv")
        shuffled = nonneg.files.Table(found.values[:, ::-1], found.samples, found.features[::-1])
        nonneg.files.write(shuffled, table / "shuffled.csv")
        assert not run("transform", "m.nonneg", "shuffled.csv", "-o", "again.csv", cwd=table)[0]
        codes, again = (nonneg.files.read(table / name).values for name in ("codes.csv", "again.csv"))
        np.testing.assert_allclose(again, codes)
        nonneg.files.write(nonneg.files.Table(found.values[:, 1:], found.samples, found.features[1:]), table / "fewer.csv")
        fails("transform", "m.nonneg", "fewer.csv", "-o", "again.csv", cwd=table, match="lacks 1 of the 6 columns .* 'a'")

    def test_quiet(self, table):
        assert run("fit", "table.csv", "-r", "2", "--quiet", cwd=table) == (0, "", "")
        assert (table / "table.nonneg").exists()

    @pytest.mark.parametrize("streams", [("stdout",), ("stdout", "stderr")])
    def test_closed_standard_output(self, table, streams):
        """A pipe that is closed does not keep the files from being written, nor is it an error."""
        reader, writer = os.pipe()
        os.close(reader)
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | dict.fromkeys(streams, writer)
        command = [sys.executable, "-m", "nonneg", "fit", "table.csv", "-r", "2", "-o", "m.nonneg", "--labels", "labels.csv"]
        done = subprocess.run(command, cwd=table, env=ENVIRONMENT, text=True, check=False, **settings)
        os.close(writer)
        assert (done.returncode, "roken pipe" in (done.stderr or "")) == (0, False), done.stderr
        assert (table / "m.nonneg").stat().st_size
        assert (table / "labels.csv").stat().st_size

    def test_no_command_takes_the_file_of_another(self, table):
        assert "in place of" not in run("fit", "table.csv", "-r", "2", cwd=table)[1]
        assert "in place of" not in run("cocluster", "table.csv", "-r", "2", cwd=table)[1]
        names = {path.name for path in table.iterdir()}
        assert {"table.nonneg", "table.cocluster.nonneg"} <= names
        assert "table.nonneg, in place of the one that was there" in run("fit", "table.csv", "-r", "2", cwd=table)[1]

    def test_clusters_of_samples(self, table):
        """Models that group samples say to which group each sample belongs; both columns have a name."""
        assert run("fit", "table.csv", "-m", "clustering", "-r", "2", "--labels", "labels.csv", cwd=table)[0] == 0
        lines = (table / "labels.csv").read_text().splitlines()
        labels = nonneg.load(table / "table.nonneg").labels_ + 1
        assert lines == ["sample,part", *(f"s{i},{label}" for i, label in enumerate(labels))]
        assert run("fit", "table.csv", "-r", "2", "--labels", "labels.csv", cwd=table)[0] == 0
        assert (table / "labels.csv").read_text().splitlines()[0] == "feature,part"

    @pytest.mark.parametrize("file", ["labels.csv", "labels.tsv", "labels.npz", "labels.npy"])
    def test_labels_of_unnamed_samples(self, table, file):
        """They are read back as they were written: one column, of labels."""
        np.save(table / "X.npy", nonneg.files.read(table / "table.csv").values)
        assert run("fit", "X.npy", "-r", "2", "--labels", file, cwd=table)[0] == 0
        found = nonneg.files.read(table / file).values
        np.testing.assert_array_equal(found, column_labels(nonneg.load(table / "X.nonneg"))[:, None] + 1)

    @pytest.mark.parametrize(
        ("options", "read"),
        [
            (("--ignore", "a", "--ignore", "id"), "X = files.read('table.csv', ignore=['a', 'id']).values"),
            (("--transpose",), "X = files.read('table.csv').T.values"),
        ],
    )
    def test_the_same_in_python(self, table, options, read):
        """The page's lines, run, come to the same components."""
        assert run("fit", "table.csv", "-r", "2", "--report", "page.html", *options, cwd=table)[0] == 0
        page = html.unescape((table / "page.html").read_text(encoding="utf8"))
        code = re.search(r">The same in Python</h2><pre[^>]*>(.*?)</pre>", page, re.DOTALL)[1]
        assert read in code
        found = {}
        with chdir(table):
            exec(code, found)
        np.testing.assert_array_equal(found["model"].components_, nonneg.load(table / "table.nonneg").components_)

    def test_the_same_in_python_of_an_array_among_several(self, table):
        np.savez(table / "X.npz", A=np.ones((3, 3)), B=np.eye(4) + 1)
        assert run("fit", "X.npz", "-r", "1", "--variable", "B", "--report", "page.html", cwd=table)[0] == 0
        page = html.unescape((table / "page.html").read_text(encoding="utf8"))
        assert "files.read('X.npz', variable='B').values" in page

    def test_parameters(self, table):
        options = ["--divergence", "kl", "--restarts", "2", "--set", "warm_start=true", "--max-iter", "5", "--tol", "0"]
        status, out, _ = run("fit", "table.csv", "-m", "nmf", "-r", "2", "--json", *options, cwd=table)
        assert (status, len(json.loads(out)["objectives"]), json.loads(out)["n_iter"]) == (0, 2, 5)
        assert nonneg.load(table / "table.nonneg").warm_start is True
        fails("fit", "table.csv", "-r", "2", "--set", "colour=red", cwd=table, match="has no parameter colour", code=2)

    def test_interrupted(self, tmp_path):
        np.save(tmp_path / "X.npy", np.random.default_rng(0).random((400, 200)))
        options = ["--tol", "0", "--max-iter", "100000000", "--solver", "multiplicative", "--init", "random"]
        process = start("fit", "X.npy", "-r", "10", "--report", "page.html", *options, cwd=tmp_path)
        interrupt(process, when="iteration")
        assert "Stopped by the user" in (tmp_path / "page.html").read_text(encoding="utf8")
        assert nonneg.load(tmp_path / "X.nonneg").status_ == "stopped_by_user"

    def test_interrupted_among_several_starts(self, tmp_path):
        """It is acknowledged, and said how many starts there were of those that were asked for."""
        np.save(tmp_path / "X.npy", np.random.default_rng(0).random((400, 200)))
        options = ["--tol", "0", "--max-iter", "2000", "--solver", "multiplicative", "--init", "random", "--restarts", "500"]
        process = start("fit", "X.npy", "-m", "nmf", "-r", "10", "--report", "page.html", *options, cwd=tmp_path)
        assert "Stopping at the next check; press Ctrl-C again to quit" in interrupt(process, when="start 1 of 500: max_iter")
        said = r"Stopped by the user in start \d+ of 500; the best of \d+ finished starts? is kept|an unfinished start is kept"
        assert re.search(said, (tmp_path / "page.html").read_text(encoding="utf8"))
        assert nonneg.load(tmp_path / "X.nonneg").components_.shape == (10, 200)

    def test_checkpoints(self, tmp_path):
        """A fit that was stopped goes on to what it would have come to."""
        np.save(tmp_path / "X.npy", np.random.default_rng(0).random((60, 40)))
        options = ["-m", "nmf", "-r", "3", "--tol", "0", "--solver", "multiplicative", "--init", "random", "--quiet"]
        assert run("fit", "X.npy", *options, "--max-iter", "300", "-o", "whole.nonneg", cwd=tmp_path)[0] == 0

        def ending(writer, run, rounds=None):
            writer._file.put(writer._number, {"run": run, "stage": None, "is_bound": False})
            raise ZeroDivisionError

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("nonneg.solve.checkpoints.CheckpointWriter.write", ending)
            with pytest.raises(ZeroDivisionError):
                run("fit", "X.npy", *options, "--max-iter", "300", "--checkpoint", "run.nonneg", cwd=tmp_path)
        assert (tmp_path / "run.nonneg").exists()
        assert run("fit", "X.npy", *options, "--max-iter", "300", "--checkpoint", "run.nonneg", cwd=tmp_path)[0] == 0
        whole, again = (nonneg.load(tmp_path / name) for name in ("whole.nonneg", "X.nonneg"))
        np.testing.assert_array_equal(again.components_, whole.components_)
        fails("fit", "X.npy", *options, "--max-iter", "9", "--checkpoint", "run.nonneg", cwd=tmp_path, match="cannot go back")
        other = [*options[:4], "--tol", "1e-3", *options[6:]]
        fails("fit", "X.npy", *other, "--max-iter", "300", "--checkpoint", "run.nonneg", cwd=tmp_path, match="of another fit")

    def test_missing_cells(self, table):
        """What is missing is left out of the fit, and of what the page shows."""
        complete = nonneg.files.read(table / "table.csv").values
        changed(table, 3, 2, "")
        changed(table, 5, 6, "NaN")
        options = ["-m", "nmf", "-r", "2", "--missing", "ignore", "--loadings", "codes.csv", "--report", "page.html"]
        status, _, err = run("fit", "table.csv", *options, cwd=table)
        assert status == 0, err
        model = nonneg.load(table / "table.nonneg")
        np.testing.assert_allclose(nonneg.files.read(table / "codes.csv").values @ model.components_, complete, atol=0.02)
        assert run("transform", "table.nonneg", "table.csv", "-o", "again.csv", cwd=table)[0] == 0
        fails("fit", "table.csv", "-m", "svd", "-r", "2", "--missing", "ignore", cwd=table, match="no parameter missing", code=2)

    def test_samples_without_known_values(self, table):
        """They are named, on the page too; nobody takes what stands in their place for what they are made of."""
        for column in range(1, 7):
            changed(table, 3, column, "")
            changed(table, 5, column, "0")
        wanted = ("--json", "--report", "page.html", "--loadings", "codes.csv")
        status, out, err = run("fit", "table.csv", "-r", "2", "--missing", "ignore", *wanted, cwd=table)
        assert status == 0, err
        unknown, zeros = json.loads(out)["warnings"]
        assert unknown.startswith("Sample 3 ('s2') without any known value")
        assert zeros.startswith("Sample 5 ('s4') with zeros only")
        assert unknown in html.unescape((table / "page.html").read_text(encoding="utf8"))
        _, _, err = run("transform", "table.nonneg", "table.csv", "-o", "codes.csv", cwd=table)
        assert "Warning: Sample 3 ('s2') without any known value" in err
        X = nonneg.files.read(table / "table.csv").values
        nonneg.files.write(nonneg.files.Table(sparse.csr_array(np.nan_to_num(X))), table / "X.npz")
        assert "Warning: Samples 3, 5 with zeros only" in run("fit", "X.npz", "-r", "2", cwd=table)[2]

    def test_more_parts_than_samples(self, tmp_path):
        np.save(tmp_path / "X.npy", np.random.default_rng(0).random((4, 40)))
        assert "10 parts are more than the 4 samples" in run("fit", "X.npy", "-r", "10", "--max-iter", "50", cwd=tmp_path)[2]
        assert "more than" not in run("fit", "X.npy", "-r", "4", "--max-iter", "50", cwd=tmp_path)[2]

    def test_cells_below_zero(self, table):
        """An error names the option that takes them as zero; with it, it is said how many there were."""
        changed(table, 3, 2, "-1e-7")
        changed(table, 4, 2, "-2e-7")
        fails("fit", "table.csv", "-r", "2", cwd=table, match="column 'b' is -1e-07, which is below zero.*: --negative clip")
        status, _, err = run("fit", "table.csv", "-r", "2", "--negative", "clip", "--report", "page.html", cwd=table)
        assert (status, "2 of 72 cells are below zero, down to -2e-07, and taken as 0" in err) == (0, True), err
        page = html.unescape((table / "page.html").read_text(encoding="utf8"))
        code, found = re.search(r">The same in Python</h2><pre[^>]*>(.*?)</pre>", page, re.DOTALL)[1], {}
        with chdir(table):
            exec(code, found)
        np.testing.assert_array_equal(found["model"].components_, nonneg.load(table / "table.nonneg").components_)
        for command in (("transform", "table.nonneg", "table.csv", "-o", "codes.csv"), ("rank", "table.csv", "-r", "1,2")):
            fails(*command, cwd=table, match="--negative clip")
        assert run("transform", "table.nonneg", "table.csv", "-o", "codes.csv", "--negative", "clip", cwd=table)[0] == 0
        values = sparse.csr_array(nonneg.files.read(table / "table.csv").values)
        clipped, count, lowest = nonneg.files.Table(values).clipped()
        assert (count, lowest, clipped.values.min()) == (2, -2e-7, 0.0)

    def test_volumes_for_a_model_that_knows_no_mask(self, tmp_path):
        """One that was saved from Python: the error says what to give."""
        nibabel = pytest.importorskip("nibabel")
        volumes = np.random.default_rng(0).uniform(1, 2, (4, 3, 2, 8))
        mask = np.zeros((4, 3, 2), dtype=np.int16)
        mask[1:3] = 1
        for name, array in (("all.nii", volumes), ("mask.nii", mask)):
            nibabel.save(nibabel.Nifti1Image(array, np.eye(4)), tmp_path / name)
        X = nonneg.files.read(tmp_path / "all.nii", mask=tmp_path / "mask.nii").values
        nonneg.OPNMF(2, random_state=0).fit(X).save(tmp_path / "m.nonneg")
        given = ("transform", "m.nonneg", "all.nii", "-o", "codes.csv")
        fails(*given, cwd=tmp_path, match="in 24 voxels, and the model was fitted to 12.*--mask FILE")
        assert run(*given, "--mask", "mask.nii", cwd=tmp_path)[0] == 0

    def test_large_files_are_read_in_blocks(self, table, monkeypatch):
        X = nonneg.files.read(table / "table.csv").values
        np.save(table / "X.npy", X)
        monkeypatch.setattr("nonneg.io.large.LARGE", 100)
        assert nonneg.files.read(table / "X.npy", in_blocks=True).is_far
        status, out, err = run("fit", "X.npy", "-r", "2", "--report", "page.html", "--loadings", "codes.npy", cwd=table)
        assert status == 0, err
        assert "12 samples × 6 features" in out
        page = (table / "page.html").read_text(encoding="utf8")
        assert "The data, reordered" in page
        assert "Relative error" in page
        codes = np.load(table / "codes.npy")
        np.testing.assert_allclose(codes @ nonneg.load(table / "X.nonneg").components_, X, atol=0.02)
        X[3, 4] = -1.0
        np.save(table / "X.npy", X)
        fails("fit", "X.npy", "-r", "2", cwd=table, match="-1 in row 3, column 4")

    def test_annotated_matrices(self, tmp_path):
        """Names of cells and genes go through, into files that anndata reads."""
        anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
        X = np.random.default_rng(0).poisson(np.kron(np.ones((5, 1)), np.kron(np.eye(2), np.ones(4))) * 5 + 0.1).astype(float)
        cells, genes = [f"cell {i}" for i in range(len(X))], [f"gene {j}" for j in range(8)]
        frames = {"obs": pandas.DataFrame(index=cells), "var": pandas.DataFrame(index=genes)}
        anndata.AnnData(sparse.csr_matrix(X), **frames).write_h5ad(tmp_path / "cells.h5ad")
        options = ["-r", "2", "--components", "parts.h5ad", "--loadings", "codes.h5ad"]
        status, _, err = run("fit", "cells.h5ad", *options, cwd=tmp_path)
        assert status == 0, err
        parts, codes = (anndata.read_h5ad(tmp_path / name) for name in ("parts.h5ad", "codes.h5ad"))
        assert (list(parts.var_names), list(parts.obs_names)) == (genes, ["part 1", "part 2"])
        assert (list(codes.obs_names), list(codes.var_names)) == (cells, ["part 1", "part 2"])
        model = nonneg.load(tmp_path / "cells.nonneg")
        np.testing.assert_array_equal(np.asarray(parts.X), model.components_)
        assert list(model.feature_names_in_) == genes

    @pytest.mark.parametrize("name", ["cells.h5ad", "cells.h5", "cells.zarr"])
    def test_one_matrix_of_several(self, name, tmp_path):
        """--variable names it, a layer with or without "layers/"; without it, the shell is told of --variable."""
        rng = np.random.default_rng(0)
        arrays = {"layers/counts": rng.random((12, 6)), "layers/other": rng.random((12, 6))}
        if name == "cells.zarr":
            group = pytest.importorskip("zarr").open_group(str(tmp_path / name), mode="w")
            for key, array in arrays.items():
                group.create_array(key, data=array)
        elif name == "cells.h5":
            with pytest.importorskip("h5py").File(tmp_path / name, "w") as file:
                for key, array in arrays.items():
                    file[key] = array
        else:
            layers = {key.removeprefix("layers/"): array for key, array in arrays.items()}
            pytest.importorskip("anndata").AnnData(rng.random((12, 6)), layers=layers).write_h5ad(tmp_path / name)
        expected = nonneg.OPNMF(2, random_state=0).fit(arrays["layers/counts"]).components_
        for variable in ("counts", "layers/counts"):
            status, _, err = run("fit", name, "-r", "2", "--variable", variable, "-o", "model.nonneg", cwd=tmp_path)
            assert status == 0, err
            np.testing.assert_allclose(nonneg.load(tmp_path / "model.nonneg").components_, expected, atol=1e-9)
        fails("fit", name, "-r", "2", "--variable", "raw", cwd=tmp_path, match="'raw'; it has .*layers/counts")
        if name != "cells.h5ad":
            fails("fit", name, "-r", "2", cwd=tmp_path, match="2 matrices.*: --variable layers/counts")

    def test_raw_counts_of_annotated_matrices(self, tmp_path):
        """raw/X has genes of its own; the command line reads what `open_data` reads."""
        anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
        X = np.random.default_rng(0).random((12, 6))
        genes = [f"gene {j}" for j in range(6)]
        frames = {"obs": pandas.DataFrame(index=[f"cell {i}" for i in range(12)]), "var": pandas.DataFrame(index=genes)}
        cells = anndata.AnnData(X, **frames)
        cells.raw = cells
        cells = cells[:, :4].copy()
        cells.obsm["pca"] = X[:, :3]
        cells.write_h5ad(tmp_path / "cells.h5ad")
        status, _, err = run("fit", "cells.h5ad", "-r", "2", "--variable", "raw/X", "--loadings", "codes.csv", cwd=tmp_path)
        assert status == 0, err
        model = nonneg.load(tmp_path / "cells.nonneg")
        data = nonneg.open_data(tmp_path / "cells.h5ad", key="raw/X")
        np.testing.assert_allclose(model.components_, nonneg.OPNMF(2, random_state=0).fit(data).components_, atol=1e-9)
        assert list(model.feature_names_in_) == genes
        assert nonneg.files.read(tmp_path / "codes.csv").samples[:2].tolist() == ["cell 0", "cell 1"]
        found = nonneg.files.read(tmp_path / "cells.h5ad", variable="obsm/pca")
        assert (found.shape, found.features, len(found.samples)) == ((12, 3), None, 12)

    def test_a_folder_of_parquet(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        X = pandas.DataFrame(np.random.default_rng(0).random((12, 6))).rename(columns="feature {}".format)
        (tmp_path / "X.parquet").mkdir()
        for part in range(12):
            X[part : part + 1].to_parquet(tmp_path / f"X.parquet/part.{part}.parquet", index=False)
        status, _, err = run("fit", "X.parquet", "-r", "2", cwd=tmp_path)
        assert status == 0, err
        model = nonneg.load(tmp_path / "X.nonneg")
        np.testing.assert_allclose(model.components_, nonneg.OPNMF(2, random_state=0).fit(X).components_, atol=1e-9)
        assert list(model.feature_names_in_) == list(X.columns)

    def test_volumes(self, tmp_path):
        """The grey matter of MNI152, cut into two halves of which subjects have more or less: maps and atlas line up with mask and
        affine, and new volumes are read in the same mask."""
        nibabel = pytest.importorskip("nibabel")
        try:
            brain = nonneg_papers.load_mni152()
        except nonneg_papers.FetchError as error:
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
        status, _, err = run("fit", "all.nii.gz", "-r", "2", *options, cwd=tmp_path)
        assert status == 0, err
        maps, atlas = (nibabel.load(tmp_path / name) for name in ("maps.nii.gz", "atlas.nii.gz"))
        for volume in (maps, atlas):
            np.testing.assert_allclose(volume.affine, affine)
        labels = np.asarray(atlas.dataobj)
        assert maps.shape == (*mask.shape, 2)
        assert not labels[~mask].any()
        of_halves = [set(labels[mask & side].tolist()) for side in np.broadcast_arrays(is_left & mask, ~is_left & mask)]
        assert sorted(map(tuple, of_halves)) == [(1,), (2,)]
        status, _, err = run("transform", "all.nonneg", "all.nii.gz", "-o", "codes.csv", cwd=tmp_path)
        assert status == 0, err
        assert nonneg.files.read(tmp_path / "codes.csv").shape == (20, 2)


class TestRank:
    @pytest.fixture
    def three(self, tmp_path):
        """A table of three parts, with noise."""
        rng = np.random.default_rng(0)
        X = rng.gamma(1.0, 1.0, (40, 3)) @ np.kron(np.eye(3), np.ones(4)) + 0.1 * rng.random((40, 12))
        nonneg.files.write(nonneg.files.Table(X, features=list("abcdefghijkl")), tmp_path / "three.csv")
        return tmp_path

    def test_all_that_is_written(self, three):
        pytest.importorskip("matplotlib")
        options = ["-c", "gabriel", "-c", "error", "-o", "ranks.csv", "--plot", "ranks.svg", "--report", "ranks.html", "--json"]
        status, out, err = run("rank", "three.csv", "-m", "nmf", "-r", "1-5:2", *options, cwd=three)
        assert status == 0, err
        found = json.loads(out)
        assert found["rank"] == 3
        assert found["why"]
        ranks = nonneg.files.read(three / "ranks.csv")
        assert ranks.features.tolist()[:2] == ["rank", "gabriel"]
        assert ranks.values[:, 0].tolist() == [1, 3, 5]
        assert "<svg" in (three / "ranks.svg").read_text(encoding="utf8")
        page = (three / "ranks.html").read_text(encoding="utf8")
        assert "Ranks of NMF for three.csv" in page
        assert page.count("<svg") == 2
        assert "rank_scan(NMF(), X, [1, 3, 5], criteria=['gabriel', 'error'], random_state=0)" in html.unescape(page)

    @pytest.mark.parametrize(
        ("model", "options"),
        [
            ("nmf", ["-r", "1-5:2", "-c", "halves", "-c", "error", "--seed", "5", "--divergence", "kl"]),
            ("nmf", ["-r", "1-3", "--seed", "3", "--missing", "ignore", "--negative", "clip", "--ignore", "a"]),
            ("pnmf", ["-r", "1,2", "-c", "restarts", "--transpose", "--set", "n_init=2"]),
            ("nmtf", ["-c", "error", "--ignore", "a", "--set", "max_iter=5"]),
            ("graph", ["-r", "2,3", "--seed", "1"]),
        ],
    )
    @pytest.mark.filterwarnings("ignore:.*ended before having converged")
    def test_the_same_in_python(self, three, model, options):
        """The page's lines, run, are the same study: rank and curves."""
        file = "three.csv"
        if model == "graph":
            pytest.importorskip("networkx")
            file = "karate.edges"
            assert run("datasets", "karate", "-o", file, cwd=three)[0] == 0
        if "clip" in options:
            rows = (three / file).read_text().splitlines()
            rows[3], rows[5] = re.sub(r",[^,]*$", ",", rows[3]), re.sub(r",[^,]*$", ",-1e-7", rows[5])
            (three / file).write_text("\n".join(rows))
        status, out, err = run("rank", file, "-m", model, *options, "--json", "--report", "ranks.html", cwd=three)
        assert status == 0, err
        scan, expected = self._executed(three / "ranks.html").summary(), json.loads(out)["ranks"]
        assert scan["best"] == expected["best"]
        assert expected["why"].startswith(scan["why"]), "and then, why the criterion is not the usual one"
        for name, values in expected["columns"].items():
            # two times the same computation, of data that may be aligned otherwise in memory
            np.testing.assert_allclose(np.array(scan["columns"][name], float), np.array(values, float), rtol=1e-6, err_msg=name)

    @staticmethod
    def _executed(page):
        text = html.unescape(page.read_text(encoding="utf8"))
        code, found = re.search(r">The same in Python</h2><pre[^>]*>(.*?)</pre>", text, re.DOTALL)[1], {}
        with chdir(page.parent):
            exec(code, found)
        return found["scan"]

    @pytest.mark.wide
    def test_fit_with_several(self, three):
        status, _, err = run("fit", "three.csv", "-m", "nmf", "-r", "2-4", "--report", "page.html", cwd=three)
        assert status == 0, err
        assert nonneg.load(three / "three.nonneg").n_components == 3
        assert 'id="ranks"' in (three / "page.html").read_text(encoding="utf8")
        assert not run("report", "three.nonneg", "-o", "again.html", cwd=three)[0]
        assert 'id="ranks"' in (three / "again.html").read_text(encoding="utf8")

    QUICKLY = ("--set", "max_iter=10", "--set", "tol=0.01")

    @pytest.mark.filterwarnings("ignore:.*ended before having converged")
    def test_fit_without_a_rank(self, three):
        """It scans 2 to 12, as far as the data allow, says so and how long that takes, and fits the best."""
        status, out, err = run("fit", "three.csv", "-m", "nmf", *self.QUICKLY, cwd=three)
        assert status == 0, err
        assert re.search(r"Scanning ranks 2 to 12, .* --rank 8.*\n(.*\n)*.*Scanning ranks 2 to 8 takes about [\d.]+ s more", err)
        X = nonneg.files.read(three / "three.csv").values
        best = nonneg.selection.rank_scan(nonneg.NMF(max_iter=10, tol=0.01), X, range(2, 9), random_state=0).best_
        assert nonneg.load(three / "three.nonneg").n_components == best
        assert f"rank         {best}. " in out

    def test_fit_of_a_large_file_without_a_rank(self, three, monkeypatch):
        """A scan needs all of the data in memory, so that they are not left in their file; --quiet says nothing of it."""
        np.save(three / "X.npy", nonneg.files.read(three / "three.csv").values)
        monkeypatch.setattr("nonneg.io.large.LARGE", 100)
        assert run("fit", "X.npy", "-m", "nmf", "-r", "auto", "-q", *self.QUICKLY, cwd=three) == (0, "", "")
        assert nonneg.load(three / "X.nonneg").n_components >= 2

    def test_coclusters_without_a_rank(self, tmp_path):
        np.save(tmp_path / "X.npy", np.random.default_rng(0).random((9, 6)))
        status, out, err = run("cocluster", "X.npy", "-m", "nmtf", *self.QUICKLY, "--report", "page.html", cwd=tmp_path)
        assert status == 0, err
        assert "Scanning ranks 2×4 to 6×4 and 6×2 to 6×4 takes about" in err
        rank = nonneg.load(tmp_path / "X.cocluster.nonneg").n_components
        assert f"rank         {rank[0]}×{rank[1]}. Samples: " in out
        assert 'id="ranks"' in (tmp_path / "page.html").read_text(encoding="utf8")

    def test_a_missing_rank_that_no_scan_can_find(self, table):
        fails("fit", "table.csv", "-m", "svd", cwd=table, match="--rank has to be one number for TruncatedNonneg", code=2)
        fails("fit", "table.csv", "-r", "2", "--set", "n_components=3", cwd=table, match="give it by --rank", code=2)
        np.save(table / "X.npy", np.random.default_rng(0).random((3, 8)))
        fails("fit", "X.npy", cwd=table, match="two halves need 4 at least.*give one rank: --rank 2")

    def test_without_a_rank(self, three):
        status, out, err = run("rank", "three.csv", "-m", "nmf", *self.QUICKLY, "--json", cwd=three)
        assert status == 0, err
        assert json.loads(out)["ranks"]["columns"]["rank"] == list(range(2, 9))

    @pytest.mark.wide
    def test_two_ranks_graphs_and_chains(self, table):
        pytest.importorskip("networkx")
        status, out, _ = run("rank", "table.csv", "-m", "nmtf", "-r", "1,2", "-c", "error", "--json", cwd=table)
        assert (status, len(json.loads(out)["rank"])) == (0, 2)
        assert run("datasets", "karate", "-o", "karate.edges", cwd=table)[0] == 0
        (table / "chain.txt").write_text("ababab" * 5 + "cdcdcd" * 5)
        for file, *options in (("karate.edges", "-m", "graph", "-c", "eigengap"), ("chain.txt", "-m", "chain")):
            status, out, err = run("rank", file, "-r", "2,3", *options, "--json", cwd=table)
            assert status == 0, err
            assert json.loads(out)["rank"] in (2, 3)

    def test_interrupted(self, tmp_path):
        """What was measured is kept, and gone on from."""
        np.save(tmp_path / "X.npy", np.random.default_rng(0).random((100, 60)))
        options = ["-m", "nmf", "-r", "1-40", "-c", "error", "--keep", "measured"]
        process = start("rank", "X.npy", *options, cwd=tmp_path)
        err = interrupt(process, when="left")
        assert "the same command goes on from there" in err
        assert list((tmp_path / "measured").glob("error-*"))

    def test_errors_of_commands(self, table):
        fails("rank", "table.csv", "-r", "many", cwd=table, match="'many' is not a number of parts", code=2)
        fails("rank", "table.csv", "-r", "1:3", cwd=table, match="'1:3' is not a number of parts", code=2)
        fails("rank", "table.csv", "-r", "1-2", "--set", "n_components=3", cwd=table, match="give it by --rank", code=2)
        fails("rank", "table.csv", "-r", "0-3", cwd=table, match="0 parts cannot be learned", code=2)
        fails("rank", "table.csv", "-r", "1-99", cwd=table, match="rank")
        fails("rank", "nothing.csv", "-r", "1-3", cwd=table, match="There is no file")
        changed(table, 3, 2, "NaN")
        fails("rank", "table.csv", "-r", "1-3", cwd=table, match=r"row 3 \('s2'\), column 'b' is nan.*--missing ignore")


class TestInterrupted:
    """Ctrl-C: what was best until then is written and said to be so, and the exit code is 130."""

    ENDLESS = ("--set", "tol=0", "--set", "max_iter=100000000")

    @pytest.mark.parametrize("method", ["qnmf", "nnmf"])
    def test_chains(self, method, tmp_path):
        rng = np.random.default_rng(0)
        (tmp_path / "chain.txt").write_text(" ".join(map(str, rng.integers(40, size=5000))))
        options = ["-k", "5", "--method", method, *self.ENDLESS, "--report", "page.html"]
        options += ["--decoded", "states.txt"] if method == "qnmf" else []  # the other may have no path for a sequence
        interrupt(start("hmm", "chain.txt", *options, cwd=tmp_path), when="iteration")
        model = nonneg.load(tmp_path / "chain.hmm.nonneg")
        assert model.status_ == "stopped_by_user"
        np.testing.assert_allclose(model.transmat_.sum(axis=1), 1)
        assert method == "nnmf" or len((tmp_path / "states.txt").read_text().split()) == 5000
        assert "Stopped by the user" in (tmp_path / "page.html").read_text(encoding="utf8")

    @pytest.mark.wide
    @pytest.mark.parametrize(("method", "restarts"), [("onl", 1), ("kernel-pnmf", 1), ("auto", 1_000_000)])
    def test_partitions(self, method, restarts, tmp_path):
        rng = np.random.default_rng(0)
        np.save(tmp_path / "X.npy", np.triu(rng.random((300, 300)) < 0.1, 1).astype(float))
        options = ["-k", "8", "--symmetrize", "max", "--method", method, "--restarts", restarts, *self.ENDLESS]
        process = start("partition", "X.npy", *options, "--labels", "parts.npy", "--report", "page.html", cwd=tmp_path)
        interrupt(process, when="partitions, iteration")
        model = nonneg.load(tmp_path / "X.partition.nonneg")
        assert (np.load(tmp_path / "parts.npy").ravel() == model.labels_ + 1).all()
        assert "Stopped by the user: this is the best so far." in (tmp_path / "page.html").read_text(encoding="utf8")

    @pytest.mark.wide
    def test_matchings(self, tmp_path):
        rng = np.random.default_rng(0)
        for name in "AB":
            A = np.triu(rng.random((60, 60)) < 0.2, 1).astype(float)
            np.save(tmp_path / f"{name}.npy", A + A.T)
        process = start("match", "A.npy", "B.npy", "--restarts", "1000000", "-o", "pairs.csv", cwd=tmp_path)
        interrupt(process, when="first guess 'random")
        lines = [line.split(",") for line in (tmp_path / "pairs.csv").read_text().splitlines()[1:]]
        assert sorted(int(line[0]) for line in lines) == sorted(int(line[1]) for line in lines) == list(range(1, 61))

    @pytest.mark.wide
    def test_coclusters(self, tmp_path):
        np.save(tmp_path / "X.npy", np.random.default_rng(0).random((200, 100)))
        options = ["-r", "5,4", *self.ENDLESS, "--rows", "rows.csv", "--columns", "columns.csv"]
        interrupt(start("cocluster", "X.npy", *options, cwd=tmp_path), when="iteration")
        model = nonneg.load(tmp_path / "X.cocluster.nonneg")
        assert model.status_ == "stopped_by_user"
        assert len((tmp_path / "rows.csv").read_text().splitlines()) == 201

    def test_ranks(self, tmp_path):
        """The table has the ranks that were measured, and it is said that these are not all."""
        np.save(tmp_path / "X.npy", np.random.default_rng(0).random((100, 60)))
        options = ["-m", "nmf", "-r", "1-40", "-c", "error", "-o", "ranks.csv"]
        err = interrupt(start("rank", "X.npy", *options, cwd=tmp_path), when=r"rank ([3-9]|\d\d),")
        assert "Stopped by the user before every rank was measured" in err
        assert 0 < len(nonneg.files.read(tmp_path / "ranks.csv").values) < 40

    def test_ranks_before_there_is_anything(self, tmp_path):
        np.save(tmp_path / "X.npy", np.random.default_rng(0).random((100, 60)))
        options = ["-m", "nmf", "-r", "2,3", "-c", "error", *self.ENDLESS, "-o", "ranks.csv"]
        err = interrupt(start("rank", "X.npy", *options, cwd=tmp_path), when="measurements")
        assert "stopped before any rank was measured" in err
        assert not (tmp_path / "ranks.csv").exists()

    @pytest.mark.wide
    def test_a_rank_that_is_looked_for_first(self, tmp_path):
        np.save(tmp_path / "X.npy", np.random.default_rng(0).random((100, 60)))
        err = interrupt(start("fit", "X.npy", "-m", "nmf", "-r", "1-40", cwd=tmp_path), when="left")
        assert re.search("before any rank was measured|so that none was fitted", err)
        assert not (tmp_path / "X.nonneg").exists()

    def test_discriminants(self, tmp_path):
        """Some of the classes do not make a classifier."""
        rng = np.random.default_rng(0)
        np.save(tmp_path / "X.npy", rng.random((300, 40)))
        (tmp_path / "classes.txt").write_text("\n".join(map(str, rng.integers(5, size=300))))
        options = ["--classes", "classes.txt", *self.ENDLESS, "--set", "solver=multiplicative"]
        err = interrupt(start("lda", "X.npy", *options, cwd=tmp_path), when="class 1 of 5")
        assert "stopped before every class had its direction" in err
        assert not (tmp_path / "X.lda.nonneg").exists()


class TestWhatGoesWrong:
    @pytest.mark.parametrize(
        "words",
        [
            ("fit", "table.csv", "-r", "2", "--rank", "3"),
            ("model", "A B", "--data", "A", "--data", "B"),
            ("cocluster", "table.csv", "-r", "2", "--seed", "1", "--seed", "2"),
        ],
    )
    def test_an_option_given_twice(self, words, table):
        """Which of the two was meant is not guessed."""
        fails(*words, cwd=table, match="was given 2 times, and takes one value", code=2)

    def test_data_of_a_page_given_twice(self, table):
        """Volumes and images are samples, of one table each; a graph is one."""
        pytest.importorskip("networkx")
        assert run("datasets", "karate", "-o", "karate.edges", cwd=table)[0] == 0
        assert run("partition", "karate.edges", "-k", "2", cwd=table)[0] == 0
        assert run("fit", "table.csv", "-r", "2", cwd=table)[0] == 0
        for model, data in (("karate.partition.nonneg", "karate.edges"), ("table.nonneg", "table.csv")):
            given = ("--data", data, "--data", data, "-o", "page.html")
            fails("report", model, *given, cwd=table, match="names 2: karate.edges|There are 2 files of")

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
            ("NaN", r"row 3 \('s2'\), column 'b' is nan, which is no number to fit.*--missing ignore"),
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
        fails("fit", "nothing.csv", "-r", "2", "--components", "parts.docx", cwd=tmp_path, match="end of the name tells the kind")
        fails("fit", "nothing.csv", "-r", "2", "--report", "page.pdf", cwd=tmp_path, match="A page to write is called")
        fails("rank", "nothing.csv", "-r", "2", "--plot", "ranks.doc", cwd=tmp_path, match="A plot to write is called")

    def test_a_full_disk(self, tmp_path):
        """A limit on the size of files stands for it: what is not whole is not there, and what was there before still is."""
        (tmp_path / "digits.npy").write_text("before")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # noqa: E731
        status, _, err = shell("datasets", "digits", "-o", "digits.npy", cwd=tmp_path, preexec_fn=limit)
        assert (status, bool(re.search("could not be written: .* still there, whole", err))) == (1, True), err
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
        status, out, _ = run("fit", "nothing.csv", "-r", "2", "--json", cwd=tmp_path)
        assert status == 1
        assert "There is no file" in json.loads(out)["error"]

    def test_no_such_data_set(self, tmp_path):
        fails("datasets", "digitz", "-o", "X.npz", cwd=tmp_path, match="Did you mean 'digits'")
        fails("datasets", "graph:karat", "-o", "X.npz", cwd=tmp_path, match="Did you mean 'graph:karate'")

    def test_data_of_the_papers_without_their_package(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "nonneg_papers", None)
        status, out, _ = run("datasets", cwd=tmp_path)
        assert status == 0
        assert re.search(r"^digits ", out, re.MULTILINE)
        assert "pip install ./papers" in out
        fails("datasets", "cbcl", "-o", "X.npz", cwd=tmp_path, match="pip install ./papers")
        monkeypatch.setitem(sys.modules, "nonneg_papers.catalogue", None)
        fails("methods", cwd=tmp_path, match="pip install ./papers")

    def test_forms(self, tmp_path):
        fails("model", "X X", cwd=tmp_path, match="nothing to learn")
        fails("model", "W H", "--divergence", "manhattan", cwd=tmp_path, match="Unknown divergence 'manhattan'", code=2)

    @pytest.mark.parametrize(
        "words",
        [
            ("fit", "-r", "2", "--divergence"),
            ("fit", "-r", "2", "--solver"),
            ("fit", "-r", "2", "--init"),
            ("fit", "-r", "2", "--orthogonality"),
            ("cocluster", "-r", "2", "--divergence"),
            ("rank", "-r", "2", "--divergence"),
            ("match", "other.edges", "--divergence"),
            ("partition", "-k", "2", "--method"),
            ("hmm", "-k", "2", "--set", "solver=foo", "--method"),
        ],
    )
    def test_names_that_are_not_known(self, words, tmp_path):
        """They are wrong usage, which is told before any file is looked for."""
        given = "qnmf" if words[0] == "hmm" else "foo"
        fails(words[0], "nothing.csv", *words[1:], given, cwd=tmp_path, match="foo", code=2)

    @pytest.mark.parametrize("text", ["0.5,1.25\n0.75,2.5\n", "a b\n0.5 1\n2.25 1e-3\n", "0.5\n0.25\n0.125\n"])
    def test_measurements_are_no_symbols(self, text, tmp_path):
        """A table of numbers is no set of sequences; they are not learned from in silence."""
        (tmp_path / "X.csv").write_text(text)
        fails("hmm", "X.csv", "-k", "1", cwd=tmp_path, match=r"holds numbers such as 0.5; a chain is learned from symbols.*--pairs")
        fails("rank", "X.csv", "-m", "chain", "-r", "1,2", cwd=tmp_path, match="a chain is learned from symbols")

    def test_how_sequences_are_read(self, tmp_path):
        (tmp_path / "X.txt").write_text("3 1 2\n2 1 3\n1 2 3\n")
        status, out, err = run("hmm", "X.txt", "-k", "1", cwd=tmp_path)
        assert (status, "3 sequences of 9 words in all, 3 of them different" in out) == (0, True), out
        assert "If it says how often symbols follow each other, use --pairs" in err
        (tmp_path / "X.txt").write_text("abcabc\nabab\n")
        _, out, err = run("hmm", "X.txt", "-k", "1", "--json", cwd=tmp_path)
        assert json.loads(out)["read"] == {"sequences": 2, "length": 10, "symbols": 3, "as": "characters"}
        assert "--pairs" not in err

    def test_options_in_the_words_of_the_shell(self, tmp_path):
        (tmp_path / "X.csv").write_text("a,b,the kind\n1,2,x\n3,4,y\n")
        fails("fit", "X.csv", "-r", "1", cwd=tmp_path, match="Leave out such columns: --ignore 'the kind'$")
        with pytest.raises(nonneg.exceptions.FileError, match=r"ignore=\['the kind'\]"):
            nonneg.files.read(tmp_path / "X.csv")
        np.savez(tmp_path / "X.npz", A=np.ones((3, 3)), B=np.ones((4, 3)))
        fails("fit", "X.npz", "-r", "1", cwd=tmp_path, match="say which variable is wanted: --variable A$")
        assert pickle.loads(pickle.dumps(nonneg.exceptions.ReadingError("t", "ignore", ["a"]))).value == ["a"]

    def test_missing_cells_of_new_samples(self, table):
        """There is no option of transform to advise."""
        assert run("fit", "table.csv", "-r", "2", "-o", "m.nonneg", cwd=table)[0] == 0
        changed(table, 3, 2, "")
        fails("transform", "m.nonneg", "table.csv", "-o", "c.csv", cwd=table, match="that was fitted with --missing ignore")

    def test_a_class_for_each_sample(self, tmp_path):
        (tmp_path / "X.csv").write_text("a,b,id\n1,2,x\n3,4,y\n5,1,z\n")
        fails("lda", "X.csv", "--label", "id", cwd=tmp_path, match="a class of its own for each of the 3 samples")


def commands():
    """All commands, by name."""
    import click

    from nonneg.cli.app import app

    context = click.Context(app)
    return {name: app.get_command(context, name) for name in app.list_commands(context)}


def outputs_of(command):
    from nonneg.cli.outputs import Output

    return [param for param in command.params if isinstance(param.type, Output)]


def check(command, params):
    """Check the outputs of a command that is given some parameters; data are X.npy."""
    import click

    from nonneg.cli.outputs import PATH, check_outputs

    context = click.Context(command)
    for param in command.params:
        several, value = param.multiple or param.nargs < 0, Path("X.npy") if param.type is PATH else None
        value = params.get(param.name, value)
        context.params[param.name] = tuple([value] if value else []) if several else value
    check_outputs(context)


class TestOutputs:
    """What is written is none of what is read, nor written twice; what cannot be printed costs no result."""

    @pytest.fixture
    def data(self, tmp_path):
        """Data, weights of a graph, a model and classes, beside links to the data."""
        X = np.random.default_rng(0).gamma(1.0, 1.0, (8, 4))
        np.save(tmp_path / "X.npy", X)
        np.savetxt(tmp_path / "square.csv", X[:4] + X[:4].T, delimiter=",")
        (tmp_path / "soft.npy").symlink_to("X.npy")
        os.link(tmp_path / "X.npy", tmp_path / "hard.npy")
        (tmp_path / "chain.txt").write_text("abab\nbaba\n")
        (tmp_path / "classes.txt").write_text("\n".join("ab" * 4))
        (tmp_path / "sites.csv").write_text("site\n" + "a\nb\n" * 4)
        write_model(nonneg.NMF(2, random_state=0).fit(X), tmp_path / "Z.nonneg", {"data": [str(tmp_path / "X.npy")]})
        (tmp_path / "Z.html").write_bytes((tmp_path / "Z.nonneg").read_bytes())
        return tmp_path

    @pytest.mark.parametrize(
        "words",
        [
            "fit X.npy -r 2 -o X.npy",
            "fit X.npy -r 2 -o ./soft.npy",
            "fit X.npy -r 2 -o hard.npy",
            "fit soft.npy -r 2 --components X.npy",
            "fit X.npy -r 2 --loadings X.npy",
            "fit X.npy -r 2 --checkpoint X.npy",
            "fit X.npy -r 2 --set checkpoint=X.npy",
            "fit Z.nonneg -r 2",
            "cocluster X.npy -r 2,2 -o X.npy",
            "rank X.npy -r 1-2 -o X.npy",
            "transform Z.nonneg X.npy -o X.npy",
            "transform Z.nonneg X.npy -o new.npy --labels soft.npy",
            "report Z.html -o Z.html",
            "lda X.npy --classes classes.txt -o classes.txt",
            "partition square.csv -k 2 --labels square.csv",
            "match square.csv square.csv -o square.csv",
            "hmm chain.txt -k 2 --decoded chain.txt",
            "rank X.npy -r 1-2 --strata sites.csv:site -o sites.csv",
            "export Z.nonneg --loadings X.npy",
            "export Z.nonneg --components X.npy --loadings a.csv",
        ],
    )
    def test_inputs_are_not_replaced(self, words, data):
        before = {path.name: path.read_bytes() for path in data.iterdir()}
        fails(*words.split(), cwd=data, match="would replace .*, an input. Give another name")
        assert {path.name: path.read_bytes() for path in data.iterdir()} == before

    @pytest.mark.parametrize(
        "words",
        [
            "fit X.npy -r 2 -o a --checkpoint a",
            "fit X.npy -r 2 -o a --set checkpoint=./a",
            "fit X.npy -r 2 --components a.npy --loadings a.npy",
            "fit X.npy -r 2 -o a.html --report ./a.html",
            "fit X.npy -r 2 --checkpoint X.nonneg",
            "transform Z.nonneg X.npy -o a.csv --labels a.csv",
            "rank X.npy -r 1-2 -o a.npy --plot link.png",
        ],
    )
    def test_no_output_replaces_another(self, words, data):
        if "link" in words:
            (data / "link.png").symlink_to("a.npy")
        before = sorted(path.name for path in data.iterdir())
        fails(*words.split(), cwd=data, match="are one file: the second would replace the first")
        assert sorted(path.name for path in data.iterdir()) == before

    @pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symlink", "hard link"])
    @pytest.mark.parametrize("name", COMMANDS)
    def test_every_command_and_all_its_files(self, name, link, tmp_path):
        """Each output beside each input, and beside each other output, whether they are there or not."""
        from nonneg.cli.outputs import PATH

        command, endings = commands()[name], {"table": ".csv", "page": ".html", "plot": ".png", "file": ".nonneg"}
        outputs = outputs_of(command)
        (tmp_path / "given").write_text("1\n")
        for output in outputs:
            path = tmp_path / f"first{endings[output.type.kind]}"
            link(tmp_path / "given", path)
            for read in (param for param in command.params if param.type is PATH):
                with pytest.raises(FileError, match="would replace"):
                    check(command, {output.name: path, read.name: tmp_path / "given"})
            path.unlink()
            for other in (param for param in outputs if param is not output):
                second = tmp_path / f"second{endings[other.type.kind]}"
                second.symlink_to(path)
                with pytest.raises(FileError, match="are one file"):
                    check(command, {output.name: path, other.name: second})
                second.unlink()
                path.write_text("1\n")
                link(path, second)
                with pytest.raises(FileError, match="are one file"):
                    check(command, {output.name: path, other.name: second})
                second.unlink()
                path.unlink()

    def test_a_file_of_a_folder_that_is_read(self, tmp_path):
        pillow = pytest.importorskip("PIL.Image")
        for number in range(4):
            pillow.fromarray(np.random.default_rng(number).integers(0, 255, (3, 3)).astype(np.uint8)).save(
                tmp_path / f"{number}.png"
            )
        fails("rank", ".", "-r", "1-2", "--plot", "1.png", cwd=tmp_path, match="would replace")
        fails("rank", ".", "-r", "1-2", "--plot", "9.png", cwd=tmp_path, match="would become a part of")
        assert run("fit", ".", "-r", "2", "-o", "model.nonneg", cwd=tmp_path)[0] == 0
        assert run("fit", ".", "-r", "2", "-o", "model.nonneg", cwd=tmp_path)[0] == 0  # is in the folder, and no image

    def test_a_plot_beside_the_measurements_of_a_scan(self, data):
        """The same command goes on, and replaces it."""
        (data / "scan").mkdir()
        for _ in range(2):
            assert run("rank", "X.npy", "-r", "1-2", "--keep", "scan", "--plot", "scan/curve.png", cwd=data)[0] == 0
        fails("rank", "X.npy", "-r", "1-2", "--keep", "new.csv", "-o", "new.csv", cwd=data, match="are one file")

    @pytest.mark.parametrize("closed", ["2>/dev/full", "2>&-", "2>&- >&- <&-"])
    def test_a_log_that_cannot_be_written(self, closed, data):
        command = f"{sys.executable} -m nonneg fit X.npy -r 2 -o out.nonneg {closed}"
        assert subprocess.run(command, shell=True, cwd=data, env=ENVIRONMENT, stdout=subprocess.PIPE).returncode == 0
        assert nonneg.load(data / "out.nonneg").components_.shape == (2, 4)

    def test_a_result_that_cannot_be_printed(self, data):
        command = f"{sys.executable} -m nonneg fit X.npy -r 2 -o out.nonneg --json >/dev/full"
        done = subprocess.run(command, shell=True, cwd=data, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stderr) == (1, "nonneg fit: Standard output cannot be written: No space left on device.\n")
        assert (data / "out.nonneg").exists()

    @pytest.mark.parametrize("words", ["--help", "fit --help", "--version"])
    def test_help_that_cannot_be_printed(self, words, tmp_path):
        command = f"{sys.executable} -m nonneg {words} >/dev/full"
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stderr) == (1, "nonneg: No space left on device.\n")

    def test_names_that_are_not_text(self, data):
        """Bytes that are no UTF-8, and escapes for terminals: files are written, and names printed as escapes."""
        name = os.fsdecode(b"\xff\x1b[31m\xc2\x9b.npy")
        (data / "X.npy").rename(data / name)
        status, out, err = run("fit", name, "-r", "2", "--report", name.replace("npy", "html"), "--loadings", "l.csv", cwd=data)
        assert status == 0, err
        assert "\\udcff\\u001b[31m\\u009b.nonneg" in out
        assert not any(mark in out + err for mark in "\x1b\x9b\udcff")
        status, out, _ = run("fit", name, "-r", "2", "--json", "-q", "--checkpoint", name.replace("npy", "run"), cwd=data)
        assert (status, json.loads(out)["files"]["model file"]) == (0, name.replace(".npy", ".nonneg"))
        status, _, err = run("transform", name, name, "-o", "a.csv", cwd=data)
        assert (status, "\x1b" in err) == (1, False)

    def test_names_of_images_that_are_not_text(self, tmp_path):
        pillow = pytest.importorskip("PIL.Image")
        for number in range(3):
            name = os.fsdecode(b"\xff%d.png" % number)
            pillow.fromarray(np.random.default_rng(number).integers(0, 255, (3, 3)).astype(np.uint8)).save(tmp_path / name)
        assert run("fit", ".", "-r", "2", "-o", "m.nonneg", "--loadings", "l.csv", "--report", "r.html", cwd=tmp_path)[0] == 0
        assert (tmp_path / "l.csv").read_text().splitlines()[1].startswith("\\udcff0,")
