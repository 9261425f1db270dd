"""Corpora to topics."""

TRAIN = (
    "heldout train {input.corpus} --model {wildcards.model} --topics {wildcards.topics} --seed {wildcards.seed}"
    " --test-documents {params.test_documents} --settings {params.settings} --output {output} 2> {log}"
)


ruleorder: train_truth > train_chains > train


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


rule train_truth:
    """Train the LDA that realistic corpora are drawn from, on all documents of the corpus that stands behind them."""
    input:
        corpus="data/corpora/{corpus}.npz",
    output:
        "data/models/{corpus}/lda/truth/{topics}-{seed}.npz",
    log:
        "logs/train/{corpus}/lda/truth/{topics}-{seed}.log",
    benchmark:
        f"{BENCHMARKS}/train_truth/{{corpus}}/lda/truth/{{topics}}-{{seed}}.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code("heldout.runs", MODULES["lda"]),
        settings=shlex.quote(json.dumps(REALISTIC["train"], sort_keys=True)),
        corpus=corpus_code,
    shell:
        "heldout train {input.corpus} --model lda --topics {wildcards.topics} --seed {wildcards.seed} --test-documents 0"
        " --settings {params.settings} --output {output} 2> {log}"


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
