"""From raw corpora to the paper: `snakemake --cores N` runs the study `paper`, `--configfile` another one."""

import gc

from snakemake.utils import min_version

min_version("9.12")
# what was imported stays: collections while rules are read and jobs listed need not look at it, and are rarer
gc.freeze()
gc.set_threshold(50_000)

if "study" not in config:

    configfile: f"{workflow.basedir}/workflow/studies/paper.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/corpora.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/exhibits.smk"
include: "workflow/rules/paper.smk"
include: "workflow/rules/reference.smk"


rule all:
    default_target: True
    input:
        RESULTS,
        f"{DATA}/timings.csv",
        rules.findings_stand.log if settings.written else [],
        rules.verify.log if settings.written and settings.document == MAIN else [],
        # what a failed job left missing, or somebody deleted, is made again, however new its descendants are
        all_corpora(),
        all_scores(),
        [*TABLES.values(), EFFECTS, *exhibit_files("figure", "table", "macros")] if settings.documented else [],
