# The two commands of the README. Both set up .venv first; nothing is installed outside it.
PYTHON ?= python3
CONFIG ?= config/config.yaml
VENV := .venv
BIN := $(VENV)/bin

.PHONY: campaign test fuzz integrity cluster lint clean

campaign: $(VENV)/.ready
	$(BIN)/commcanary campaign run $(CONFIG)

test: $(VENV)/.ready
	$(BIN)/pytest -n auto --ignore=tests/cluster

# 100,000 damaged files and more, over every reader of others' formats.
fuzz: $(VENV)/.ready
	COMMCANARY_FUZZ_INPUTS=45000 $(BIN)/pytest -n auto tests/sources -k "mutated"

# 50 kills at seeded moments, full and read-only disks, every tamper test: about 20 minutes.
integrity: $(VENV)/.ready
	COMMCANARY_KILLS=50 COMMCANARY_TAMPER=all $(BIN)/pytest tests/workflow/test_resume.py tests/integrity

# A short campaign on a real two-node Slurm on this machine; needs root and Debian's Slurm packages, else it is skipped.
cluster: $(VENV)/.ready
	$(BIN)/pytest tests/cluster

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo 'Python 3.11 or newer is needed: apt-get install python3 python3-venv' >&2; exit 3; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo 'The venv module is needed: apt-get install python3-venv' >&2; exit 3; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

clean:
	rm -rf results/*/ .snakemake
