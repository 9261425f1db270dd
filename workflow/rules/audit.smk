"""A run against the reference results of its study."""


rule audit:
    """Compare scores and corpora with data/reference, exhibit by exhibit; fail with a table where they differ."""
    input:
        study=STUDY,
        scores="data/scores/scores.csv",
        corpora="data/scores/corpora.csv",
        reference=[str(REFERENCE / "scores.csv"), str(REFERENCE / "corpora.csv")],
    output:
        "data/scores/audit.csv",
    log:
        "logs/audit.log",
    conda:
        "../../environment.yml"
    params:
        code=code("dlvm.audit"),
        reference=REFERENCE,
    shell:
        "dlvm audit --study {input.study} --scores {input.scores} --corpora {input.corpora}"
        " --reference {params.reference} --output {output} 2>&1 | tee {log}"
