"""Topics to scores, one row per evaluation."""


def topics_to_score(wildcards):
    """Return the topics that one score file evaluates: all chains, all constants, or the one model."""
    stem = f"data/models/{wildcards.corpus}/{wildcards.model}/{wildcards.variant}/{wildcards.topics}-{wildcards.seed}"
    if "chains" in MODELS[wildcards.model]["train"]:
        return [f"{stem}-chain-{chain}.npz" for chain in range(MODELS[wildcards.model]["train"]["chains"])]
    if wildcards.variant == "smoothed-in-m-step":
        return [f"{stem}-constant-{constant}.npz" for constant in SMOOTHING]
    return [f"{stem}.npz"]


def constants_to_add(wildcards):
    """Return the constants that are added after training, as an option."""
    smoothed_here = MODELS[wildcards.model].get("smoothed", False) and wildcards.variant != "smoothed-in-m-step"
    return "--smoothing " + " ".join(SMOOTHING) if smoothed_here else ""


rule score:
    """Fold in the test documents, on all their tokens and on half of them, and score them."""
    input:
        corpus="data/corpora/{corpus}.npz",
        topics=topics_to_score,
        code=model_code,
    output:
        "data/scores/{corpus}/{model}/{variant}/{topics}-{seed}.csv",
    params:
        test_documents=test_documents,
        settings=fold_in_settings,
        smoothing=constants_to_add,
    log:
        "logs/score/{corpus}/{model}/{variant}/{topics}-{seed}.log",
    benchmark:
        "data/benchmarks/score/{corpus}/{model}/{variant}/{topics}-{seed}.tsv"
    shell:
        "dlvm score {input.corpus} {input.topics} --model {wildcards.model} --variant {wildcards.variant}"
        " --seed {wildcards.seed} --test-documents {params.test_documents} --settings {params.settings}"
        " {params.smoothing} --output {output} 2> {log}"


rule collect_scores:
    """Merge all scores into the one table that every exhibit is a function of."""
    input:
        scores=all_scores(),
        code=code("dlvm.scores"),
    output:
        "data/scores/scores.csv",
    log:
        "logs/collect_scores.log",
    benchmark:
        "data/benchmarks/collect_scores.tsv"
    shell:
        "dlvm collect {input.scores} --output {output} 2> {log}"


rule collect_timings:
    """Merge what every job took; after everything else, and read by no exhibit of the same run."""
    input:
        "paper/paper.pdf",
        code=code("dlvm.timings"),
    output:
        "data/scores/timings.csv",
    params:
        benchmarks="data/benchmarks",
    log:
        "logs/collect_timings.log",
    shell:
        "dlvm timings {params.benchmarks} --output {output} 2> {log}"
