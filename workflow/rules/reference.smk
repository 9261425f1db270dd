"""The reference results: a run against them, and what is made of them for the front page."""


rule compare:
    """Compare a run with data/reference, by table and variant; fail with a table where they differ."""
    input:
        **{name: f"{DATA}/{name}.csv" for name in ("scores", "groups", "corpora", "measurements", "notes")},
        arrays=f"{DATA}/arrays.npz",
    log:
        f"{LOGS}/compare.log",
    params:
        reference=REFERENCE,
        comparison=f"{DATA}/compare.csv",
    shell:
        "{STEP} compare --scores {input.scores} --groups {input.groups} --corpora {input.corpora}"
        " --measurements {input.measurements} --notes {input.notes} --arrays {input.arrays} --reference {params.reference}"
        " --output {params.comparison} 2>&1 | tee {log}"


rule readme:
    """Renew the generated parts of README.md and docs/reproduce.md, the README's picture, RESULTS.md and docs/questions.md."""
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
        "( {STEP} readme README.md RESULTS.md --commands {params.commands} {params.tables} --effects {input.effects} {params.options}"
        " && {STEP} exhibits figures {params.tables} --effects {input.effects} --only figure-message --suffix png"
        " --output {params.reference} ) 2> {log}"
