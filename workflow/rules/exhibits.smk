"""Scores to figures and tables: an exhibit is a function of scores, corpora and the study, and of nothing else."""

from dlvm.exhibits import EXHIBITS, exhibit_names
from dlvm.exhibits import path as exhibit_path

REFERENCE = Path("data/reference") / study["study"]
STUDY = f"data/studies/{study['study']}.json"

EXHIBIT = (
    "dlvm exhibit {wildcards.name} --study {input.study} --scores {input.scores} --corpora {input.corpora}"
    " {params.timings} --output {output} 2> {log}"
)


def exhibit_code(wildcards):
    """Return the source files that an exhibit runs."""
    return code("dlvm.exhibits", EXHIBITS[wildcards.name].module)


def reference_timings(wildcards=None):
    """Return the study's committed reference timings as an option, where there are any."""
    path = REFERENCE / "timings.csv"
    return f"--timings {path}" if path.exists() else ""


def exhibit_files(kind):
    """Return the files of every exhibit of one kind that the study gives rise to."""
    return [exhibit_path(name) for name in exhibit_names(study) if EXHIBITS[name].kind == kind]


localrules:
    write_study,


rule write_study:
    """Keep the settings that this run uses, defaults and overrides resolved, beside its results."""
    output:
        STUDY,
    params:
        study=json.dumps({key: value for key, value in study.items() if key != "mirror"}, sort_keys=True),
    log:
        "logs/write_study.log",
    shell:
        "printf '%s\\n' {params.study:q} > {output} 2> {log}"


rule figure:
    """Draw one figure."""
    input:
        study=STUDY,
        scores="data/scores/scores.csv",
        corpora="data/scores/corpora.csv",
        code=exhibit_code,
    output:
        "figures/{name}.pdf",
    params:
        timings="",
    log:
        "logs/figure/{name}.log",
    benchmark:
        "data/benchmarks/figure/{name}.tsv"
    shell:
        EXHIBIT


rule table:
    """Write one table as LaTeX."""
    input:
        study=STUDY,
        scores="data/scores/scores.csv",
        corpora="data/scores/corpora.csv",
        timings=branch(Path(REFERENCE / "timings.csv").exists(), then=str(REFERENCE / "timings.csv"), otherwise=[]),
        code=exhibit_code,
    output:
        "paper/generated/{name}.tex",
    params:
        timings=reference_timings,
    log:
        "logs/table/{name}.log",
    benchmark:
        "data/benchmarks/table/{name}.tsv"
    shell:
        EXHIBIT
