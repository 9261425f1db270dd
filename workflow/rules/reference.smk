"""The reference results: a run against them, and what is made of them for the front page."""


rule compare:
    """Compare a run with data/reference, exhibit by exhibit; fail with a table where they differ."""
    input:
        **{name: f"{DATA}/{name}.csv" for name in ("scores", "groups", "corpora", "measurements", "notes")},
        study=STUDY,
    log:
        f"{LOGS}/compare.log",
    params:
        reference=REFERENCE,
        comparison=f"{DATA}/compare.csv",
    shell:
        "{STEP} compare --study {input.study} --scores {input.scores} --groups {input.groups} --corpora {input.corpora}"
        " --measurements {input.measurements} --notes {input.notes} --reference {params.reference}"
        " --output {params.comparison} 2>&1 | tee {log}"


rule readme:
    """Renew the generated parts of README.md, its picture, and RESULTS.md."""
    input:
        **TABLES,
        **TIMINGS,
        study=STUDY,
        effects=EFFECTS,
    log:
        f"{LOGS}/readme.log",
    params:
        tables=options({"study": STUDY, **TABLES}),
        options=options(TIMINGS),
        commands=COMMANDS,
        reference=REFERENCE,
    shell:
        "( {STEP} readme README.md RESULTS.md --history data/claims.csv --commands {params.commands} {params.tables} --effects {input.effects} {params.options}"
        " && {STEP} exhibits figures {params.tables} --effects {input.effects} --only figure-message --suffix png"
        " --output {params.reference} ) 2> {log}"
