"""Scores to effects, figures and tables: functions of the study and its tables, and of nothing else."""


localrules:
    write_study,


rule write_study:
    """Keep the settings that this run uses, defaults and overrides resolved, beside its results."""
    output:
        STUDY,
    log:
        f"{LOGS}/write_study.log",
    params:
        study=json.dumps(
            {key: value for key, value in study.items() if key not in ("mirror", "results")}, sort_keys=True
        ),
    shell:
        "printf '%s\\n' {params.study:q} > {output:q} 2> {log:q}"


rule effects:
    """Estimate the papers' contrasts: every effect with its interval."""
    input:
        **TABLES,
        **TIMINGS,
        study=STUDY,
    output:
        EFFECTS,
    log:
        f"{LOGS}/effects.log",
    benchmark:
        f"{BENCHMARKS}/effects.tsv"
    params:
        code=code_from(contrast_modules, study),
        options=options(TIMINGS),
    shell:
        f"{STEP} effects {GIVEN} {{params.options:q}} --output {{output:q}} 2> {{log:q}}"


EXHIBIT = f"{GIVEN} --effects {{input.effects:q}} {{params.options:q}} --output {{params.folder:q}} 2> {{log:q}}"


rule figures:
    """Draw all figures, by as many processes as there are cores, two at most."""
    input:
        **TABLES,
        study=STUDY,
        effects=EFFECTS,
    output:
        report(exhibit_files("figure"), category="Figures"),
    log:
        f"{LOGS}/figures.log",
    benchmark:
        f"{BENCHMARKS}/figures.tsv"
    threads: 2
    params:
        code=code_from(exhibit_modules, study, "figure"),
        options=[],
        folder=subpath(output[0], parent=True),
    shell:
        f"{STEP} exhibits figures --processes {{threads}} {EXHIBIT}"


rule tables:
    """Write all tables and every number of the prose as LaTeX, with the commit that the paper is built from."""
    input:
        **TABLES,
        **TIMINGS,
        **TOOK,
        study=STUDY,
        effects=EFFECTS,
    output:
        exhibit_files("table", "macros"),
    log:
        f"{LOGS}/tables.log",
    benchmark:
        f"{BENCHMARKS}/tables.tsv"
    threads: 2
    params:
        code=code_from(exhibit_modules, study, "table", "macros"),
        options=options(TIMINGS | TOOK | {"commit": checked_out(), "date": commit("%cs")}),
        folder=subpath(output[0], parent=True),
    shell:
        f"{STEP} exhibits tables --processes {{threads}} {EXHIBIT}"
