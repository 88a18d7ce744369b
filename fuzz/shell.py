"""The command line in this process: drawn files and options, exit codes, messages, and what was written."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import numpy as np

from . import data, invariants, parts
from .trial import Trial

_RUN = 'lambda *words: CliRunner().invoke(app, [str(word) for word in words], prog_name="nonneg")'
_WRITE = {
    "X.csv": "np.savetxt(folder / 'X.csv', X, delimiter=',')",
    "X.tsv": "np.savetxt(folder / 'X.tsv', X, delimiter='\\t')",
    "X.npy": "np.save(folder / 'X.npy', X)",
    "X.npz": "np.savez(folder / 'X.npz', X=X)",
    "X.parquet": "pd.DataFrame(X, columns=[f'c{j}' for j in range(X.shape[1])]).to_parquet(folder / 'X.parquet')",
    "X.mtx": "scipy.io.mmwrite(folder / 'X.mtx', sparse.coo_array(X))",
    "X.mat": "scipy.io.savemat(folder / 'X.mat', {'X': X})",
    "X.h5": "with h5py.File(folder / 'X.h5', 'w') as file: file.create_dataset('X', data=X)",
    "X.zarr": "zarr.open(str(folder / 'X.zarr'), mode='w', shape=X.shape, chunks=(3, X.shape[1]), dtype=X.dtype)[:] = X",
    "X.h5ad": "anndata.AnnData(sparse.csr_matrix(X)).write_h5ad(folder / 'X.h5ad')",
    "named.csv": (
        "pd.DataFrame(X, columns=[f'f <b>{j}' for j in range(X.shape[1])], "
        "index=[f's{i}' for i in range(len(X))]).to_csv(folder / 'named.csv')"
    ),
}
_MODULES = {"h5py": "h5py", "zarr": "zarr", "pd": "pandas", "anndata": "anndata", "scipy": "scipy"}
_BROKEN = {
    "none.csv": "pass",
    "empty.csv": "(folder / 'empty.csv').write_text('')",
    "text.csv": "(folder / 'text.csv').write_text('a,b\\nx,y\\n')",
    "ragged.csv": "(folder / 'ragged.csv').write_text('1,2\\n3\\n')",
    "negative.csv": "(folder / 'negative.csv').write_text('1,-2\\n3,4\\n')",
    "missing.csv": "(folder / 'missing.csv').write_text('1,\\n3,4\\n')",
    "infinite.csv": "(folder / 'infinite.csv').write_text('1,inf\\n3,4\\n')",
    "noise.npy": "(folder / 'noise.npy').write_bytes(bytes(range(200)))",
    "noise.npz": "(folder / 'noise.npz').write_bytes(b'PK' + bytes(range(200)))",
    "noise.h5ad": "(folder / 'noise.h5ad').write_bytes(bytes(range(200)))",
    "noise.parquet": "(folder / 'noise.parquet').write_bytes(b'PAR1' + bytes(200))",
    "flat.npy": "np.save(folder / 'flat.npy', np.ones(4))",
    "cube.npy": "np.save(folder / 'cube.npy', np.ones((2, 2, 2)))",
    "objects.npy": "np.save(folder / 'objects.npy', np.array([[None, 1]], dtype=object))",
    "X.unknown": "(folder / 'X.unknown').write_bytes(bytes(range(200)))",
    "a folder": "(folder / 'a folder').mkdir()",
}
_LEGAL = {
    "--divergence": (*parts.DIVERGENCES, "1.5"),
    "--orthogonality": ("soft", "exact", "0.5"),
    "--init": tuple(source.strip('"') for source in parts.STARTS),
    "--solver": tuple(source.strip('"') for source in parts.SOLVERS),
    "--restarts": ("2",),
    "--tol": ("0", "1e-3"),
    "--seed": ("3",),
    "--missing": ("ignore",),
    "--negative": ("clip",),
    "--checkpoint": ("@run.checkpoint",),
    "--set": ("step_tol=0", "warm_start=true"),
}
_ILLEGAL = {
    "--divergence": ("klx", "nan", ""),
    "--orthogonality": ("2", "hard", "-1"),
    "--init": ("nothing", ""),
    "--solver": ("newtonian",),
    "--restarts": ("0", "-1", "two"),
    "--max-iter": ("0", "-3", "1.5"),
    "--tol": ("-1", "small", "nan"),
    "--jobs": ("0", "many"),
    "--seed": ("-1", "1.5"),
    "--set": ("step_tol", "nothing=3", "max_iter=x", "=2"),
    "--variable": ("nothing",),
    "--ignore": ("nothing",),
    "--missing": ("drop",),
    "--mask": ("none.nii",),
    "--nothing": ("3",),
    "--model": ("nothing",),
    "--rank": ("0", "-2", "x", "3-1", "1.5", "", "9999", "1,,2"),
    "--out": ("none/of/these.nonneg",),
    "--components": ("parts.unknown",),
    "--report": ("page.txt",),
}


def case(t: Trial) -> None:
    from click.testing import CliRunner

    from nonneg.cli.app import app

    for offered, module in _MODULES.items():
        t.offer(offered, import_module(module))
    t.namespace |= {"CliRunner": CliRunner, "app": app}
    t.folder()
    t.do(f"run = {_RUN}")
    t.pick((_fit, _fit, _wrong_option, _wrong_file, _later, _others))(t)


def _written(t: Trial) -> str:
    """Write drawn data; the name of the file."""
    m, n = t.integer(2, 9), t.integer(2, 7)
    t.let("X", f"({data.entries(t, m, n, positive=True)}) * 1.0")
    name = t.pick(tuple(_WRITE))
    t.do(_WRITE[name])
    return name


def _run(t: Trial, *words: str, must_fail: bool = False) -> Any:
    """Run a command, and check how it ends."""
    source = ", ".join(f"folder / {word[1:]!r}" if word.startswith("@") else repr(word) for word in words)
    done = t.call(f"run({source})", "done")
    error = done.exception
    is_exit = error is None or isinstance(error, SystemExit)
    t.check("exit codes", is_exit, lambda: f"{type(error).__name__}: {error} ({' '.join(words)})", _subject(words, error))
    t.check("exit codes", done.exit_code in (0, 1, 2), f"exit code {done.exit_code}")
    t.check("exit codes", "Traceback" not in done.output, "prints a traceback")
    if must_fail:
        t.check("refuses", done.exit_code != 0, f"accepted what cannot be: {' '.join(words)}", " ".join(words[:1]) + words[-2])
    if done.exit_code:
        t.counts["refusals"] += 1
        last = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
        t.check("sentences", len(done.stderr.split()) >= 5, f"says no more than {done.stderr!r}", " ".join(words[:1]))
        t.check("sentences", "object at 0x" not in last and "numpy." not in last, f"says {last!r}", " ".join(words[:1]))
    if "--json" in words and done.exit_code != 2:
        try:
            found = json.loads(done.stdout)
        except ValueError:
            found = None
        t.check("outputs", isinstance(found, dict), f"--json prints {done.stdout!r}", "json")
    return done


def _subject(words: Any, error: Any) -> str:
    return f"{words[0]} {type(error).__name__}"


def _basic(t: Trial, name: str) -> list[str]:
    model = t.pick(parts.MODELS)
    words = ["fit", f"@{name}", "--model", model, "--rank", str(t.integer(1, 2)), "--out", "@out.nonneg"]
    words += ["--form", t.pick(("W H", "X W W.T", "W S H"))] if model == "form" else []
    return words + (["--max-iter", "15"] if model != "svd" else [])


def _fit(t: Trial) -> None:
    words = _basic(t, _written(t))
    for option, values in _LEGAL.items():
        if t.one_in(5):
            words += [option, t.pick(values)]
    outputs = {}
    for option, names in {"--components": ("p.csv", "p.npy"), "--loadings": ("l.csv", "l.npy"), "--labels": ("b.csv",)}.items():
        if t.one_in(3):
            outputs[option] = t.pick(names)
    if t.one_in(4):
        outputs["--report"] = "page.html"
    words += [word for option, name in outputs.items() for word in (option, f"@{name}")]
    words += [t.pick(("--json", "--quiet"))] if t.one_in(3) else []
    is_turned = t.one_in(6)
    words += ["--transpose"] if is_turned else []
    t.subject = f"fit {words[3]}"
    done = _run(t, *words)
    if done.exit_code:
        return
    m, n = t["X"].shape[::-1] if is_turned else t["X"].shape
    model = t.call("nonneg.load(folder / 'out.nonneg')", "model")
    for option, name in {"": "out.nonneg", **outputs}.items():
        t.check("outputs", (t["folder"] / name).stat().st_size > 0, f"{name} was not written")
        if option in ("--components", "--loadings"):
            table = t.call(f"nonneg.files.read(folder / {name!r})", "table")
            side = table.shape[1] if option == "--components" else table.shape[0]
            t.check("outputs", side == (n if option == "--components" else m), f"{name} is {table.shape}")
            t.check("finite", np.isfinite(np.asarray(table.values)).all(), f"{name} has entries that are not finite")
        if option == "--components":
            invariants.equal(t, "outputs", name, np.asarray(table.values), model.components_, invariants.SAME)


def _wrong_option(t: Trial) -> None:
    option = t.pick(tuple(_ILLEGAL))
    words = [*_basic(t, _written(t)), option, t.pick(_ILLEGAL[option])]
    model = words[3]
    known = {"svd": ("--model", "--rank", "--out", "--nothing", "--seed"), "onmf": (), "opnmf": ()}.get(model)
    if option == "--orthogonality" and model not in ("opnmf", "onmf"):
        t.note("an option that the model lacks")
    elif known and option not in known:
        return
    if option in ("--divergence", "--init", "--solver") and model in ("sparse", "svd"):
        return
    if (option == "--rank" and words[-1] == "9999") or (option == "--jobs" and "--restarts" not in words):
        _run(t, *words)
        return
    if option == "--variable" and words[1].endswith(("csv", "tsv", "npy", "parquet")):
        _run(t, *words)
        return
    t.subject = f"wrong {option}"
    done = _run(t, *words, must_fail=True)
    t.check("outputs", not (t["folder"] / "out.nonneg").exists() or not done.exit_code, "failed, and wrote a model")


def _wrong_file(t: Trial) -> None:
    name = t.pick(tuple(_BROKEN))
    t.do(_BROKEN[name])
    command = t.pick(("fit", "cocluster", "rank", "partition", "hmm", "lda", "transform", "report", "match"))
    wanted = {
        "fit": ["fit", f"@{name}", "--rank", "1", "--out", "@out.nonneg"],
        "cocluster": ["cocluster", f"@{name}", "--rank", "1", "--out", "@out.nonneg"],
        "rank": ["rank", f"@{name}", "--rank", "1-2"],
        "partition": ["partition", f"@{name}", "--parts", "1", "--out", "@out.nonneg"],
        "hmm": ["hmm", f"@{name}", "--states", "1", "--out", "@out.nonneg"],
        "lda": ["lda", f"@{name}", "--label", "y", "--out", "@out.nonneg"],
        "transform": ["transform", f"@{name}", f"@{name}", "--out", "@codes.csv"],
        "report": ["report", f"@{name}", "--out", "@page.html"],
        "match": ["match", f"@{name}", f"@{name}"],
    }[command]
    t.subject = f"{command} {name}"
    is_sequence = command in ("hmm", "partition", "match", "rank")  # text is a sequence, pairs of words are edges
    is_column = name == "flat.npy" and command in ("fit", "cocluster")  # read as one feature, as text of one column is
    _run(t, *wanted, must_fail=not is_sequence and not is_column and not (command == "lda" and "csv" in name))


def _later(t: Trial) -> None:
    """A model that is fitted, then used."""
    name = _written(t)
    words = _basic(t, name)
    t.subject = f"later {words[3]}"
    if _run(t, *words).exit_code:
        return
    out = t.pick(("codes.csv", "codes.npy", "codes.parquet"))
    done = _run(t, "transform", "@out.nonneg", f"@{name}", "--out", f"@{out}")
    if not done.exit_code:
        table = t.call(f"nonneg.files.read(folder / {out!r})", "table")
        t.check("outputs", table.shape[0] == len(t["X"]), f"codes are {table.shape}")
        codes = t.call("nonneg.load(folder / 'out.nonneg').transform(X)", "codes")
        invariants.equal(t, "outputs", out, np.asarray(table.values), codes, invariants.SAME)
    extra = ["--data", f"@{name}"] if t.one_in(2) else []
    done = _run(t, "report", "@out.nonneg", "--out", "@page.html", *extra)
    t.check("outputs", done.exit_code or (t["folder"] / "page.html").stat().st_size > 0, "no page was written")
    t.do("np.save(folder / 'other.npy', np.ones((2, X.shape[1] + 1)))")
    _run(t, "transform", "@out.nonneg", "@other.npy", "--out", "@codes.csv", must_fail=True)


def _others(t: Trial) -> None:
    """Commands beside fit."""
    command = t.pick(("cocluster", "rank", "model", "methods", "hmm", "partition", "match"))
    t.subject = command
    if command == "model":
        _run(t, "model", t.pick(("W H", "X W W.T", "W W.T X", "W S H", "W", "", "W +", "x.T.T")), *_json(t))
    elif command == "methods":
        _run(t, "methods", *t.pick(((), ("nmf",), ("zzz",), ("--status", "ready"))), *_json(t))
    elif command == "hmm":
        t.do(f"(folder / 'x.txt').write_text({t.pick(('banana', 'a b a b', '1 2 1', 'a', 'aaaa'))!r})")
        _run(t, "hmm", "@x.txt", "--states", str(t.integer(1, 3)), "--out", "@out.nonneg", "--set", "max_iter=10", *_json(t))
    elif command in ("partition", "match"):
        edges = t.pick(("a b", "a b\nb c\nc a", "0 1\n1 2\n2 3\n3 0", "a a"))
        t.do(f"(folder / 'g.txt').write_text({edges!r})")
        words = ["--parts", str(t.integer(1, 3)), "--out", "@out.nonneg"] if command == "partition" else ["@g.txt"]
        _run(t, command, "@g.txt", *words, *_json(t))
    else:
        name = _written(t)
        words = ["--out", "@out.nonneg", "--set", "max_iter=10"] if command == "cocluster" else ["--set", "max_iter=5"]
        rank = t.pick(("1", "2", "2,1")) if command == "cocluster" else t.pick(("1-2", "1,2", "1", "2-1", "1-9"))
        _run(t, command, f"@{name}", "--rank", rank, *words, *_json(t))


def _json(t: Trial) -> list[str]:
    return ["--json"] if t.one_in(3) else []
