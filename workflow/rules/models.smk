"""Corpora to topics."""

TRAIN = (
    "dlvm train {input.corpus} --model {wildcards.model} --topics {wildcards.topics} --seed {wildcards.seed}"
    " --test-documents {params.test_documents} --settings {params.settings} --output {output} 2> {log}"
)


ruleorder: train_chains > train


rule train:
    """Train a deterministic model once; its log-likelihood per iteration goes into the topics' provenance."""
    input:
        corpus="data/corpora/{corpus}.npz",
    output:
        "data/models/{corpus}/{model}/{variant}/{topics}-{seed}.npz",
    log:
        "logs/train/{corpus}/{model}/{variant}/{topics}-{seed}.log",
    benchmark:
        f"{BENCHMARKS}/train/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.tsv"
    conda:
        "../../environment.yml"
    params:
        code=model_code,
        test_documents=test_documents,
        settings=train_settings,
        corpus=corpus_code,
    shell:
        TRAIN


rule train_chains:
    """Train independent Markov chains of one model."""
    input:
        corpus="data/corpora/{corpus}.npz",
    output:
        expand(
            "data/models/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}-chain-{chain}.npz",
            chain=range(MODELS["lda"]["train"]["chains"]),
        ),
    log:
        "logs/train/{corpus}/{model}/{variant}/{topics}-{seed}.log",
    benchmark:
        f"{BENCHMARKS}/train_chains/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.tsv"
    wildcard_constraints:
        model="lda",
    conda:
        "../../environment.yml"
    params:
        code=model_code,
        test_documents=test_documents,
        settings=train_settings,
        corpus=corpus_code,
    shell:
        TRAIN
