# The front door. Everything here is `snakemake` or a tool of .venv, and can be run by hand just as well.

PYTHON ?= python3
CORES ?= all
# a study of workflow/studies, such as STUDY=demo; the workflow's own default is the study "paper"
STUDY ?=
UPGRADE ?=

# Both stamps are named after the content they stand for: an edited lock, a moved checkout or an installation that was
# killed half-way leave no stamp of the right name, and the environment is made anew.
LOCKED := .venv/.locked-$(shell { cat requirements.lock; pwd; } | cksum | tr -s ' \t' '-')
READY := .venv/.ready-$(shell cksum < pyproject.toml | tr -s ' \t' '-')

RUN := PATH="$(CURDIR)/.venv/bin:$$PATH"
# bytecode is made when a module is first imported: most of what is installed never is
PIP := .venv/bin/python -m pip install --no-compile --quiet --disable-pip-version-check --no-input
SNAKEMAKE := $(RUN) snakemake
# stamps first: what is left of a removal that was killed must not pass for an environment
REMOVE_VENV := rm -f .venv/.locked-* .venv/.ready-* && rm -rf .venv
STUDY_FILE := $(if $(STUDY),--configfile workflow/studies/$(STUDY).yaml)

# One display-less backend for every figure, and no package from outside .venv.
export MPLBACKEND := Agg
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH PYTHONHOME

.PHONY: help setup system demo test tests lint reproduce audit report reference readme clean clean-all lock

help: ## Show this list
	@echo 'usage: make TARGET [CORES=n] [STUDY=name] [PYTHON=python3.12]'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s  %s\n", $$1, $$2 }' Makefile

demo: setup ## Run the whole workflow on small synthetic corpora, paper included (minutes, no network)
	@$(SNAKEMAKE) --cores 2 --configfile workflow/studies/demo.yaml

test: setup ## Check style, types and workflow, and run the tests
	@$(MAKE) --no-print-directory --jobs=2 lint tests

tests: setup
	@$(RUN) pytest -n 2

reproduce: setup ## Run the study "paper": from the raw corpora to paper/paper.pdf
	@$(SNAKEMAKE) --cores $(CORES) $(STUDY_FILE)

audit: setup ## Run the study and compare it with data/reference, exhibit by exhibit
	@$(SNAKEMAKE) --cores $(CORES) $(STUDY_FILE) audit

report: reproduce ## Write Snakemake's report of a run to report.html
	@$(SNAKEMAKE) --cores $(CORES) $(STUDY_FILE) --report report.html

setup: $(READY) ## Make .venv from requirements.lock, and get TeX where it is missing

lint: setup
	@$(RUN) ruff check --quiet .
	@$(RUN) ruff format --quiet --check .
	@$(RUN) snakefmt --check --compact-diff Snakefile workflow
	@$(SNAKEMAKE) --lint --quiet
	@$(RUN) mypy

reference: reproduce ## For maintainers: take this run's results as the reference, and renew the README from them
	@mkdir -p data/reference/paper
	@cp data/scores/scores.csv data/scores/corpora.csv data/scores/timings.csv data/reference/paper
	@gzip -9nc data/scores/measurements.csv > data/reference/paper/measurements.csv.gz
	@for figure in figure-4 figure-optimism figure-peers; do \
	    $(RUN) heldout exhibit $$figure --study data/studies/paper.json --scores data/scores/scores.csv \
	        --corpora data/scores/corpora.csv --measurements data/scores/measurements.csv \
	        --output data/reference/paper/$$figure.png || exit 1; \
	done
	@$(MAKE) --no-print-directory readme

readme: setup ## For maintainers: renew the README's generated parts from data/reference
	@$(SNAKEMAKE) --rulegraph mermaid-js --quiet all 2> /dev/null | $(RUN) heldout readme README.md \
	    --study workflow/studies/paper.yaml --reference data/reference/paper

clean: ## Remove what a run generates; downloads, imported corpora and .venv stay
	@rm -rf .snakemake logs report.html paper/generated paper/paper.*
	@for path in data/* figures/*; do case $$path in \
	    data/raw | data/corpora | data/corpora.csv | data/published | data/reference) ;; \
	    *) rm -rf "$$path" ;; \
	esac; done
	@awk -F, '{ print $$1 }' data/corpora.csv | while read -r name; do rm -f data/corpora/"$$name".npz data/corpora/"$$name"-*.npz; done

clean-all: clean ## Remove downloads, .venv and the tools' caches as well
	@$(REMOVE_VENV)
	@rm -rf data/raw data/corpora .venv-peers .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

lock: ## For maintainers: write requirements.lock and environment.yml anew (UPGRADE=1: newest versions)
	@$(PYTHON) workflow/scripts/environment.py lock $(if $(UPGRADE),--upgrade)

# Looked at before anything is made, so that what is missing shows in the first second.
system:
	@sh workflow/scripts/system.sh '$(PYTHON)' '$(LOCKED)'

$(LOCKED): | system
	@echo 'Making .venv from requirements.lock (about a minute)'
	@$(REMOVE_VENV)
	@$(PYTHON) -m venv .venv
	@$(PIP) --use-pep517 --require-hashes -r requirements.lock
	@touch $@

$(READY): $(LOCKED)
	@rm -f .venv/.ready-*
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@
