"""Scores to figures and tables: an exhibit is a function of scores, corpora and the study, and of nothing else."""

EXHIBIT = (
    "heldout exhibit {wildcards.name} --study {input.study} --scores {input.scores} --corpora {input.corpora} --measurements {input.measurements}"
    " {params.timings} --output {output} 2> {log}"
)


localrules:
    write_study,


rule write_study:
    """Keep the settings that this run uses, defaults and overrides resolved, beside its results."""
    output:
        STUDY,
    log:
        "logs/write_study.log",
    conda:
        "../../environment.yml"
    params:
        study=json.dumps({key: value for key, value in study.items() if key != "mirror"}, sort_keys=True),
    shell:
        "printf '%s\\n' {params.study:q} > {output} 2> {log}"


rule figure:
    """Draw one figure."""
    input:
        study=STUDY,
        scores="data/scores/scores.csv",
        corpora="data/scores/corpora.csv",
        measurements="data/scores/measurements.csv",
    output:
        report("figures/{name}.pdf", category="Figures", labels={"exhibit": "{name}"}),
    log:
        "logs/figure/{name}.log",
    benchmark:
        f"{BENCHMARKS}/figure/{{name}}.tsv"
    conda:
        "../../environment.yml"
    params:
        code=exhibit_code,
        timings="",
    shell:
        EXHIBIT


rule table:
    """Write one table as LaTeX."""
    input:
        study=STUDY,
        scores="data/scores/scores.csv",
        corpora="data/scores/corpora.csv",
        measurements="data/scores/measurements.csv",
        timings=branch(Path(REFERENCE / "timings.csv").exists(), then=str(REFERENCE / "timings.csv"), otherwise=[]),
        benchmarks=branch(ESTIMATOR_TIMINGS.exists(), then=str(ESTIMATOR_TIMINGS), otherwise=[]),
    output:
        "paper/generated/{name}.tex",
    log:
        "logs/table/{name}.log",
    benchmark:
        f"{BENCHMARKS}/table/{{name}}.tsv"
    conda:
        "../../environment.yml"
    params:
        code=exhibit_code,
        timings=reference_timings,
    shell:
        EXHIBIT
