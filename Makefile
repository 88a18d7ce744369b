# make demo    parts of drawn faces from the command line, with a page to look at
# make test    linters, types, and tests, but for what carries the mark wide (tests/README.md)
# make test-all    all of the tests
# make test-gpu    fits, memory and kernels on a card, by the Python that has PyTorch with CUDA: GPU_PYTHON (python3)
# make docs-test    the site in Chromium: links, console, other hosts, widths, axe
# make test-floors  the tests with the lowest versions that pyproject.toml allows
# make dist    wheel and sdist, checked, and the wheel tried in an empty environment
# make bench   speed beside peers (installed for it), growth and memory: a table and bench/results.json; GROUPS="tall text" for some
# make studies the other figures that the docs report
# make fuzz    calls that no test makes, against invariants, for FUZZ_SECONDS (120); SEED=1 for others
# make docs    the site, into docs/_build/html; warnings are errors
# make reproduce   the papers' figures and tables, with their data, into reproduction/
PYTHON ?= python3
VENV   ?= .venv
# A CPU build of PyTorch is enough, and this version is one that is at hand on our machines; `make test TORCH=` does without.
TORCH  ?= torch==2.13.0
FUZZ_SECONDS ?= 120
SEED   ?= 0
GPU_PYTHON ?= python3

BIN := $(VENV)/bin

SITE := docs/_build/html

.PHONY: demo test test-all test-gpu lint unit docs docs-test test-floors dist fuzz bench studies reproduce clean

demo: $(VENV)/.demo
	$(BIN)/nonneg datasets faces --out demo-faces.npz
	$(BIN)/nonneg fit demo-faces.npz --model opnmf --rank 12 --out demo.nonneg --report demo.html
	@echo "Open $(CURDIR)/demo.html in a browser."

test: $(VENV)/.test lint unit

test-all: ARGS += --wide
test-all: test

test-gpu:
	PYTHONPATH=src TRITON_INTERPRET=0 $(GPU_PYTHON) -m pytest -q -W default -p no:cacheprovider --wide \
	  tests/backends/test_card.py tests/backends/test_table.py tests/backends/test_streaming.py tests/backends/test_array_api.py $(ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

unit: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 $(ARGS)

docs: $(VENV)/.docs
	rm -rf $(SITE)
	MPLBACKEND=Agg $(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/doctrees docs $(SITE) $(ARGS)
	@echo "Open $(CURDIR)/$(SITE)/index.html in a browser."

docs-test: $(VENV)/.docs
	$(BIN)/python -m pip install --quiet --group browser pytest
	$(BIN)/python -m pytest -q -c /dev/null docs/check_site.py $(ARGS)

test-floors:
	$(PYTHON) -m venv $(VENV)-floors
	$(VENV)-floors/bin/python -m pip install --quiet uv
	$(VENV)-floors/bin/uv pip install --quiet --python $(VENV)-floors/bin/python --resolution lowest-direct \
	  --editable '.[all]' --editable ./papers --group test
	OMP_NUM_THREADS=1 SCIPY_ARRAY_API=1 $(VENV)-floors/bin/python -m pytest -n 2 -W default $(ARGS)

dist: | $(BIN)/python
	rm -rf dist
	$(BIN)/python -m pip install --quiet --group dist
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*
	$(PYTHON) -m venv --clear dist/empty
	dist/empty/bin/python -m pip install --quiet dist/*.whl
	cd dist && empty/bin/python -c "import numpy, nonneg; print(nonneg.__version__, nonneg.NMF(2).fit(numpy.eye(9) + 1).status_)"
	rm -rf dist/empty

fuzz: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python fuzz --seconds $(FUZZ_SECONDS) --seed $(SEED) $(ARGS)

bench: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --editable '.[plot]' --editable ./papers
	$(BIN)/python -m pip install --quiet --requirement benchmarks/peers.txt
	$(BIN)/python benchmarks $(GROUPS) $(ARGS)

studies: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --editable '.[plot]' --editable ./papers
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/observations.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/estimators.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/degrees.py

reproduce: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --editable '.[plot]' --editable ./papers
	OMP_NUM_THREADS=1 $(BIN)/python -m nonneg_papers $(PAGES)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[cli,plot]'
	touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group docs
	touch $@

$(VENV)/.test: pyproject.toml papers/pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[all]' --editable ./papers --group dev
	-test -z "$(TORCH)" || $(BIN)/python -m pip install --quiet $(TORCH)
	touch $@

clean:
	rm -rf $(VENV)-floors docs/_build docs/gallery docs/reference/generated demo.png demo.html demo.nonneg demo-faces.npz $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
