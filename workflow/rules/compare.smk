"""A run against the reference results of its study."""


rule compare:
    """Compare scores, corpora and measurements with data/reference, exhibit by exhibit; fail with a table where they differ."""
    input:
        **{name: f"{DATA}/{name}.csv" for name in ("scores", "corpora", "measurements")},
        study=STUDY,
    log:
        f"{LOGS}/compare.log",
    params:
        reference=REFERENCE,
        comparison=f"{DATA}/compare.csv",
    shell:
        "heldout compare --study {input.study} --scores {input.scores} --corpora {input.corpora} --measurements {input.measurements}"
        " --reference {params.reference} --output {params.comparison} 2>&1 | tee {log}"
