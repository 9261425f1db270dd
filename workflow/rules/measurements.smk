"""What is measured beside test-set scores: exact values, estimators' errors, bounds, normalisers, convergence."""


ruleorder: measure > sweep > score


rule measure:
    """Measure one thing of one model; what trains models of its own reads the corpus alone, what draws documents nothing."""
    input:
        corpus=corpus_to_measure,
        topics=topics_to_measure,
    output:
        scores="data/scores/{corpus}/{model}/{kind}/{topics}-{seed}.csv",
        measurements="data/measurements/{corpus}/{model}/{kind}/{topics}-{seed}.csv",
    log:
        "logs/measure/{corpus}/{model}/{kind}/{topics}-{seed}.log",
    benchmark:
        f"{BENCHMARKS}/measure/{{corpus}}/{{model}}/{{kind}}/{{topics}}-{{seed}}.tsv"
    wildcard_constraints:
        kind="|".join(MEASURES) or "nothing",
    conda:
        "../../environment.yml"
    params:
        code=measure_code,
        test_documents=test_documents,
        settings=measure_settings,
        trained=measure_trained,
        fold_in=measure_fold_in,
        corpus=corpus_code,
    shell:
        "heldout measure {wildcards.kind} {input.corpus} {input.topics} --model {wildcards.model}"
        " --number-of-topics {wildcards.topics} --seed {wildcards.seed}"
        " --test-documents {params.test_documents} --settings {params.settings} {params.fold_in}"
        " --scores {output.scores} --output {output.measurements} 2> {log}"


rule collect_measurements:
    """Merge all measurements into one table."""
    input:
        measurements=measured("measurements"),
    output:
        "data/scores/measurements.csv",
    log:
        "logs/collect_measurements.log",
    benchmark:
        f"{BENCHMARKS}/collect_measurements.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code("heldout.measurements"),
    shell:
        "heldout collect --measurements {input.measurements} --output {output} 2> {log}"
