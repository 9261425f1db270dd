"""Topics to scores, one row per evaluation."""


rule score:
    """Fold in the test documents, on all their tokens and on half of them, and score them."""
    input:
        corpus="data/corpora/{corpus}.npz",
        topics=topics_to_score,
    output:
        "data/scores/{corpus}/{model}/{variant}/{topics}-{seed}.csv",
    log:
        "logs/score/{corpus}/{model}/{variant}/{topics}-{seed}.log",
    benchmark:
        f"{BENCHMARKS}/score/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.tsv"
    wildcard_constraints:
        model="|".join(MODELS),
    conda:
        "../../environment.yml"
    params:
        code=model_code,
        test_documents=test_documents,
        settings=fold_in_settings,
        trained=train_settings,
        corpus=corpus_code,
        smoothing=constants_to_add,
    shell:
        "heldout score {input.corpus} {input.topics} --model {wildcards.model} --variant {wildcards.variant}"
        " --seed {wildcards.seed} --test-documents {params.test_documents} --settings {params.settings}"
        " {params.smoothing} --output {output} 2> {log}"


rule sweep:
    """Train once per value of one setting and score each: the constant at every M step, the inverse temperature."""
    input:
        corpus="data/corpora/{corpus}.npz",
    output:
        "data/scores/{corpus}/{model}/{variant}/{topics}-{seed}.csv",
    log:
        "logs/sweep/{corpus}/{model}/{variant}/{topics}-{seed}.log",
    benchmark:
        f"{BENCHMARKS}/sweep/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.tsv"
    wildcard_constraints:
        model="|".join(MODELS),
        variant="smoothed-in-m-step|tempered",
    conda:
        "../../environment.yml"
    params:
        code=model_code,
        test_documents=test_documents,
        train=train_settings,
        fold_in=fold_in_settings,
        corpus=corpus_code,
        values=sweep_values,
        smoothing=constants_to_add,
    shell:
        "heldout sweep {input.corpus} --model {wildcards.model} --variant {wildcards.variant} --topics {wildcards.topics}"
        " --seed {wildcards.seed} --test-documents {params.test_documents} {params.values}"
        " --train-settings {params.train} --fold-in-settings {params.fold_in} {params.smoothing}"
        " --output {output} 2> {log}"


rule collect_scores:
    """Merge all scores into the one table that every exhibit is a function of."""
    input:
        scores=all_scores(),
    output:
        "data/scores/scores.csv",
    log:
        "logs/collect_scores.log",
    benchmark:
        f"{BENCHMARKS}/collect_scores.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code("heldout.scores"),
    shell:
        "heldout collect {input.scores} --output {output} 2> {log}"


rule collect_timings:
    """Merge what every job took; after everything else, and read by no exhibit of the same run."""
    input:
        "paper/paper.pdf",
    output:
        "data/scores/timings.csv",
    log:
        "logs/collect_timings.log",
    conda:
        "../../environment.yml"
    params:
        code=code("heldout.timings"),
        benchmarks=BENCHMARKS,
    shell:
        "heldout timings {params.benchmarks} --output {output} 2> {log}"
