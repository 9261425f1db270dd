"""The papers' experiments: exact values, estimators' errors, bounds, normalisers, convergence; then the tables."""


rule experiment:
    """Run one experiment on one model; one that trains its own reads the corpus alone, one that draws documents nothing."""
    input:
        corpus=corpus_to_read,
        topics=topics_to_read,
    output:
        scores=f"{DATA}/scores/{{corpus}}/{{model}}/{{name}}/{{topics}}-{{seed}}.csv",
        measurements=f"{DATA}/measurements/{{corpus}}/{{model}}/{{name}}/{{topics}}-{{seed}}.csv",
        notes=f"{DATA}/notes/{{corpus}}/{{model}}/{{name}}/{{topics}}-{{seed}}.csv",
        arrays=f"{DATA}/arrays/{{corpus}}/{{model}}/{{name}}/{{topics}}-{{seed}}.npz",
    log:
        f"{LOGS}/experiment/{{corpus}}/{{model}}/{{name}}/{{topics}}-{{seed}}.log",
    benchmark:
        f"{BENCHMARKS}/experiment/{{corpus}}/{{model}}/{{name}}/{{topics}}-{{seed}}.tsv"
    wildcard_constraints:
        name="|".join(study["measures"]) or "nothing",
    params:
        code=code("measurements/{corpus}/{model}/{name}/{topics}-{seed}.csv"),
        test_documents=test_documents,
        settings=experiment_settings,
        trained=trained_settings,
        fold_in=fold_in_settings,
        corpus=corpus_code,
        drivers=drivers_code,
    shell:
        "{STEP} experiment {wildcards.name:q} {input.corpus:q} {input.topics:q} --model {wildcards.model:q}"
        " --number-of-topics {wildcards.topics:q} --seed {wildcards.seed:q}"
        " --test-documents {params.test_documents:q} --settings {params.settings:q} --fold-in-settings {params.fold_in:q}"
        " --scores {output.scores:q} --output {output.measurements:q} --notes {output.notes:q}"
        " --arrays {output.arrays:q} 2> {log:q}"


for part, asked in study["parts"].items():

    rule:
        name:
            f"part_{part}"
        input:
            files("scores", [run for kind in asked["experiments"] for run in settings.experiment_runs(kind)]),


rule collect_scores:
    """Merge all scores into one table."""
    input:
        all_scores(),
    output:
        f"{DATA}/scores.csv",
    log:
        f"{LOGS}/collect_scores.log",
    benchmark:
        f"{BENCHMARKS}/collect_scores.tsv"
    params:
        code=code("scores.csv"),
    shell:
        "{STEP} collect scores {input:q} --output {output:q} 2> {log:q}"


rule collect_groups:
    """Merge what groups of documents add to all scores into one table."""
    input:
        all_scores(),
    output:
        f"{DATA}/groups.csv",
    log:
        f"{LOGS}/collect_groups.log",
    benchmark:
        f"{BENCHMARKS}/collect_groups.tsv"
    params:
        code=code("groups.csv"),
    shell:
        "{STEP} collect groups {input:q} --output {output:q} 2> {log:q}"


rule collect_measurements:
    """Merge all measurements into one table."""
    input:
        files("measurements", settings.experiments()),
    output:
        f"{DATA}/measurements.csv",
    log:
        f"{LOGS}/collect_measurements.log",
    benchmark:
        f"{BENCHMARKS}/collect_measurements.tsv"
    params:
        code=code("measurements.csv"),
    shell:
        "{STEP} collect measurements {input:q} --output {output:q} 2> {log:q}"


rule collect_notes:
    """Merge all notes into one table."""
    input:
        files("notes", settings.experiments()),
    output:
        f"{DATA}/notes.csv",
    log:
        f"{LOGS}/collect_notes.log",
    benchmark:
        f"{BENCHMARKS}/collect_notes.tsv"
    params:
        code=code("notes.csv"),
    shell:
        "{STEP} collect notes {input:q} --output {output:q} 2> {log:q}"


rule collect_arrays:
    """Merge all arrays into one file."""
    input:
        files("arrays", settings.experiments(), "npz"),
    output:
        f"{DATA}/arrays.npz",
    log:
        f"{LOGS}/collect_arrays.log",
    benchmark:
        f"{BENCHMARKS}/collect_arrays.tsv"
    params:
        code=code("arrays.npz"),
    shell:
        "{STEP} collect arrays {input:q} --output {output:q} 2> {log:q}"


rule collect_timings:
    """Merge what every job took; after everything else, and read by no exhibit of the same run."""
    input:
        RESULTS,
    output:
        f"{DATA}/timings.csv",
    log:
        f"{LOGS}/collect_timings.log",
    params:
        code=code("timings.csv"),
        benchmarks=BENCHMARKS,
    shell:
        "{STEP} timings {params.benchmarks:q} --output {output:q} 2> {log:q}"
