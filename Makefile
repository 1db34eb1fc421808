# The front door. `make run` and `make test` do all their set-up themselves: see .ci/setup.
#
#   make run      the tour: four programs on real data, what was proven about them, what ran and how fast
#   make test     every test                      make fuzz    the same random tests, many more cases (FUZZ=20000)
#   make lint     ruff and mypy                   make golden  accept what the golden tests see now
#   make bench    the benchmarks, beside others   make clean   remove what was built, .venv included
#   make mutate   plant faults in copies, one at a time: which do the tests notice? (MUTATE=words of their names)
#   make docs     the site, into build/site          (its pages are docs/*.md, and read well as they are)
#   make replay   BASE=commit: every schedule, C and CUDA text there and here; a refactoring changes none

PY := .venv/bin/python
# Two workers: more only help on a machine with more cores. PYTEST adds arguments: make test PYTEST="-k bounds -x"
WORKERS ?= 2
FUZZ ?= 20000
PYTEST ?=
MUTATE ?=
# Which texts, by words of their names, or --all for every change in full: make replay BASE=main REPLAY="gemm/gpu"
BASE ?= HEAD
REPLAY ?=

.PHONY: run test lint golden bench docs fuzz mutate replay clean

run:
	@.ci/setup examples cc
	@$(PY) examples/tour.py

test:
	@.ci/setup dev cc
	@# also where PYTHONDONTWRITEBYTECODE is set: tests start hundreds of processes
	@$(PY) -m compileall -q -j $(WORKERS) src benchmarks examples
	@$(PY) -m pytest -n $(WORKERS) --dist worksteal $(PYTEST)

lint:
	@.ci/setup dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

golden:
	@.ci/setup dev cc
	@$(PY) -m pytest --update-golden $(PYTEST)

bench:
	@.ci/setup bench cc
	@$(PY) -m benchmarks

docs:
	@.ci/setup docs
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet
	@echo "build/site/index.html"

fuzz:
	@.ci/setup dev cc
	@cd tests && ../$(PY) -m meaning.fuzz --programs $(FUZZ) --workers $(WORKERS) --memory
	@LOOPWRIGHT_FUZZ=$$(($(FUZZ) / 10)) $(PY) -m pytest -n $(WORKERS) --dist worksteal tests/meaning -k "more or random" $(PYTEST)
	@LOOPWRIGHT_FUZZ=1 $(PY) -m pytest -n $(WORKERS) --dist worksteal tests/polybench/test_verdicts.py $(PYTEST)

mutate:
	@.ci/setup dev cc
	@PYTHONPATH=tests nice $(PY) -m mutation.run $(MUTATE)

replay:
	@.ci/setup dev
	@PYTHONPATH=tests nice $(PY) -m replay.run $(BASE) $(REPLAY)

clean:
	rm -rf .venv build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
