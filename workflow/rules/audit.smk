"""A run against the reference results of its study."""


rule audit:
    """Compare scores and corpora with data/reference, exhibit by exhibit; fail with a table where they differ."""
    input:
        study=STUDY,
        scores="data/scores/scores.csv",
        corpora="data/scores/corpora.csv",
        measurements="data/scores/measurements.csv",
    log:
        "logs/audit.log",
    conda:
        "../../environment.yml"
    params:
        reference=REFERENCE,
        comparison="data/scores/audit.csv",
    shell:
        "heldout compare --study {input.study} --scores {input.scores} --corpora {input.corpora} --measurements {input.measurements}"
        " --reference {params.reference} --output {params.comparison} 2>&1 | tee {log}"
