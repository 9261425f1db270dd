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
        "{STEP} compare --scores {input.scores:q} --groups {input.groups:q} --corpora {input.corpora:q}"
        " --measurements {input.measurements:q} --notes {input.notes:q} --arrays {input.arrays:q} --reference {params.reference:q}"
        " --output {params.comparison:q} 2>&1 | tee {log:q}"


rule verify:
    """Hold the numbers on which the paper stands to the committed ones, in verification.md; fail where one differs."""
    input:
        effects=EFFECTS,
    log:
        f"{LOGS}/verify.log",
    params:
        reference=REFERENCE / "effects.csv",
    shell:
        "{STEP} verify {input.effects:q} --reference {params.reference:q} --output verification.md 2>&1 | tee {log:q}"


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
        "( {STEP} readme README.md RESULTS.md --commands {params.commands:q} {params.tables:q} --effects {input.effects:q} {params.options:q}"
        " && {STEP} exhibits figures {params.tables:q} --effects {input.effects:q} --only figure-message --suffix png"
        " --output {params.reference:q} ) 2> {log:q}"
