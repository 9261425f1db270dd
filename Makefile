# The front door. Everything here is `snakemake` or a tool of .venv, and can be run by hand just as well.

PYTHON ?= python3
CORES ?= all
# a study of workflow/studies, such as STUDY=demo; the workflow's own default is the study "paper"
STUDY ?=
# a part of the study, of those that docs/reproduce.md lists
PART ?=
# the number of an exhibit in the PDFs
FIGURE ?=
TABLE ?=
UPGRADE ?=

# All stamps are named after the content they stand for: an edited lock or a moved checkout leave no stamp of the right
# name, and the environment is made anew. One that was stopped half-way goes on where it was.
LOCKED := .venv/.locked-$(shell { cat requirements.lock; pwd; } | cksum | tr -s ' \t' '-')
MAKING := $(LOCKED:.venv/.locked%=.venv/.making%)
READY := .venv/.ready-$(shell cksum < pyproject.toml | tr -s ' \t' '-')

# the folder's name may hold anything: the shell reads it, not this file, and modules are run, not scripts that name it
RUN := PATH="$$PWD/.venv/bin:$$PATH"
# bytecode is made when a module is first imported: most of what is installed never is
PIP := .venv/bin/python -m pip install --no-compile --quiet --disable-pip-version-check --no-input
SNAKEMAKE := $(RUN) python -m snakemake
# a display that moves on a terminal, a line each five minutes or more in a log; a failed job shows its command and log
SHOWN := $(SNAKEMAKE) --logger rich
# stamps first: what is left of a removal that was killed must not pass for an environment
REMOVE_VENV := rm -f .venv/.locked-* .venv/.ready-* .venv/.making-* && rm -rf .venv
# exit status, the shell's own times and its children's: print the last, and end with the first
TOOK = awk -F '[ms ]+' 'NR == 1 { status = $$1 } NR == 3 { printf "make $@: %.1f processor minutes\n", $$1 + $$3 + ($$2 + $$4) / 60 } END { exit status }'
STUDY_FILE := $(if $(STUDY),--configfile workflow/studies/$(STUDY).yaml)

# One display-less backend for every figure, and no package from outside .venv.
export MPLBACKEND := Agg
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH PYTHONHOME
# without bytecode a job starts in two seconds, not in half of one
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup system half-0 half-1 demo test tests test-long newcomer trials mutants floors docs lint paper exhibit gallery reproduce reproduce-all verify packages compare report reference readme archive clean clean-all lock

help: ## Show this list
	@echo 'usage: make TARGET [CORES=n] [STUDY=name] [PYTHON=python3.12]'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s  %s\n", $$1, $$2 }' Makefile

demo: setup ## Run the whole workflow on small synthetic corpora, to a report (2 minutes, no network)
	@$(SHOWN) --cores 2 --configfile workflow/studies/demo.yaml

test: $(LOCKED) ## Check style, types, structure and workflow, and run the tests (6 processor minutes at most)
	@{ { $(MAKE) --no-print-directory --jobs=2 lint tests >&9; echo $$?; times; } | $(TOOK); } 9>&1

tests: setup
	@$(RUN) python -m pytest -n 2

test-long: setup ## Run the oracles that take more than two seconds each (15 minutes at most)
	@$(RUN) python -m pytest -n 2 -m long

newcomer: ## Go a newcomer's way: wheel, README's Python and commands, notebook, browser (4 minutes)
	@$(PYTHON) workflow/newcomer/newcomer.py

trials: setup ## Kill, starve and damage what there is, for hours; goes on where it was, to a table of what was lost
	@$(RUN) python tests/trials/trials.py .trials

mutants: setup ## Change kernels and effects by one sign or number, and see that a test fails; for hours, goes on where it was
	@$(RUN) python tests/trials/mutants.py .trials

floors: ## Try the oldest versions that pyproject.toml allows, in a fresh environment (4 minutes)
	@$(PYTHON) workflow/newcomer/floors.py

docs: setup ## Make the site in docs/site: tutorials and pictures are run, a warning or a broken link fails (4 minutes)
	@$(RUN) python -m sphinx --fail-on-warning --keep-going --quiet -b html docs docs/site
	@echo docs/site/index.html

paper: setup ## Typeset paper/paper.pdf, or STUDY=gallery, from the committed reference results (a minute, no training)
	@$(SHOWN) --cores $(CORES) $(STUDY_FILE) --config results=reference -- paper/$(or $(STUDY),paper).pdf

exhibit: setup ## Make an exhibit by its number in the PDFs, FIGURE=5 or TABLE=S2, after `make paper`; print its file
	@files="$$($(RUN) python -m artifact numbered $(if $(FIGURE),figure '$(FIGURE)',table '$(TABLE)') --study $(or $(STUDY),paper))" && \
	    $(SHOWN) --cores $(CORES) $(STUDY_FILE) $(if $(wildcard data/$(or $(STUDY),paper)/scores.csv),,--config results=reference) -- $$files && \
	    echo "$$files"

reproduce: setup ## Run the study "paper", or PART=NAME of it alone: from the raw corpora to paper/paper.pdf
	@$(SHOWN) --cores $(CORES) $(STUDY_FILE) $(if $(PART),-- part_$(PART))

reproduce-all: packages reproduce gallery ## Run everything: the paper with the packages of R and Java, and the gallery

compare: setup ## Run the study and compare it with data/reference, by table and variant
	@$(SHOWN) --cores $(CORES) $(STUDY_FILE) -- compare

verify: setup ## Hold the numbers on which the paper stands, of the last run, to the committed ones: verification.md
	@$(RUN) python -m artifact verify data/paper/effects.csv --reference data/reference/paper/effects.csv --output verification.md

gallery: setup ## Run the study "gallery": Murphy's models of discrete data, to paper/gallery.pdf
	@$(SHOWN) --cores $(CORES) --configfile workflow/studies/gallery.yaml

report: reproduce ## Write Snakemake's report of a run to report.html
	@$(SNAKEMAKE) --cores $(CORES) $(STUDY_FILE) --report report.html

setup: $(READY) ## Make .venv from requirements.lock, and get TeX where it is missing

# Whose docstrings, comments, help texts and names are held to workflow/scripts/prose.py.
PLAIN := workflow/scripts/prose.py src/heldout src/gallery

PLAIN += $(wildcard src/artifact/*.py) $(wildcard $(addprefix src/artifact/papers/*/,experiments figures)) \
    $(wildcard src/artifact/papers/*.py src/artifact/papers/*/*.py) \
    $(wildcard $(addprefix src/artifact/,contrasts/*.py results/*.py study/*.py typesetting/*.py))

# the tools and what the code imports are enough: kernels are compiled meanwhile
lint: $(LOCKED)
	@$(RUN) ruff check --quiet .
	@$(RUN) ruff format --quiet --check .
	@$(RUN) python -m snakefmt --check --compact-diff Snakefile workflow
	@$(RUN) python workflow/scripts/prose.py $(PLAIN)
	@$(RUN) python -m mypy
	@for part in src/heldout:19500 src/artifact:16000 src/gallery:18500 tests:32000; do \
	    printf '%-13s %6d lines, budget %d\n' $${part%:*} $$(find $${part%:*} -name '*.py' -exec cat {} + | wc -l) $${part#*:}; done

reference: reproduce ## For maintainers: take this run's results as the reference, and renew README and RESULTS from them
	@mkdir -p data/reference/$(or $(STUDY),paper)
	@cd data/$(or $(STUDY),paper) && cp scores.csv corpora.csv arrays.npz timings.csv effects.csv ../reference/$(or $(STUDY),paper)
	@for table in measurements groups notes; do \
	    gzip -9nc data/$(or $(STUDY),paper)/$$table.csv > data/reference/$(or $(STUDY),paper)/$$table.csv.gz || exit; done
	@$(RUN) python -m artifact provenance workflow/studies/$(or $(STUDY),paper).yaml \
	    --timings data/$(or $(STUDY),paper)/timings.csv --output data/reference/PROVENANCE.json
ifeq ($(or $(STUDY),paper),paper)
	@$(MAKE) --no-print-directory readme
endif

packages: ## Make the environments of the part "packages" in .packages: R, wheels, Java (5 minutes)
	@sh workflow/packages/environment.sh .packages

readme: setup ## For maintainers: renew README's generated parts, its picture and RESULTS.md from data/reference
	@$(SHOWN) --cores $(CORES) --config results=reference -- readme
	@$(RUN) python docs/pictures.py README.md

archive: ## Write dist/heldout.zip of the last commit, and its digest, for a repository of record
	@mkdir -p dist
	@git archive --format=zip --prefix=heldout/ --output=dist/heldout.zip HEAD
	@sha256sum dist/heldout.zip

clean: ## Remove what runs generate; downloads, imported corpora and .venv stay
	@rm -rf .snakemake logs report.html paper/generated paper/*.pdf dist docs/made docs/site
	@for path in data/* figures/*; do case $$path in \
	    data/raw | data/corpora | data/claims.csv | data/corpora.csv | data/published | data/reference | figures/README.md) ;; \
	    *) rm -rf "$$path" ;; \
	esac; done

clean-all: clean ## Remove downloads, .venv and the tools' caches as well
	@$(REMOVE_VENV)
	@rm -rf data/raw data/corpora .packages .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

lock: ## For maintainers: write requirements.lock and environment.yml anew (UPGRADE=1: newest versions)
	@$(PYTHON) workflow/scripts/environment.py lock $(if $(UPGRADE),--upgrade)

# Looked at before anything is made, so that what is missing shows in the first second.
system:
	@sh workflow/scripts/system.sh '$(PYTHON)' '$(LOCKED)'

$(LOCKED): | system
	@echo 'Making .venv from requirements.lock (about a minute)'
	@[ -e $(MAKING) ] || { $(REMOVE_VENV) && $(PYTHON) -m venv .venv && touch $(MAKING); }
	@# a package whose list of files is missing was being unpacked
	@for info in .venv/lib/*/site-packages/*.dist-info; do [ -e "$$info/RECORD" ] || rm -rf "$$info"; done
	@$(MAKE) --no-print-directory --jobs=2 half-0 half-1
	@touch $@

# Every other package of the lock, each half by its own pip: most of the time goes into unpacking. The lock is complete,
# and pip need not look for what it depends on.
half-0 half-1:
	@awk '/^[^ ]/ { n++ } n % 2 == $(@:half-%=%)' requirements.lock > .venv/$@.lock
	@$(PIP) --use-pep517 --require-hashes --no-deps -r .venv/$@.lock

$(READY): $(LOCKED)
	@rm -f .venv/.ready-*
	@$(PIP) --no-deps --no-build-isolation --editable .
	@.venv/bin/python workflow/scripts/compile_kernels.py
	@touch $@
