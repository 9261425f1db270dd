"""Raw archives to corpora: download, parse, preprocess; or draw from a known model."""


ruleorder: synthesize > prepare


rule fetch:
    """Download one raw file, or take it from the mirror, and verify what it holds."""
    input:
        table="data/corpora.csv",
    output:
        "data/raw/{file}",
    log:
        "logs/fetch/{file}.log",
    benchmark:
        "data/benchmarks/fetch/{file}.tsv"
    wildcard_constraints:
        file=r"[A-Za-z0-9._-]+",
    retries: 0
    conda:
        "../../environment.yml"
    params:
        code=code("dlvm.corpora.download"),
        mirror=MIRROR,
    shell:
        "dlvm fetch {wildcards.file} --table {input.table} {params.mirror} --output {output} 2> {log}"


rule prepare:
    """Parse and preprocess one corpus."""
    input:
        raw=raw_inputs,
        table="data/corpora.csv",
    output:
        "data/corpora/{corpus}.npz",
    log:
        "logs/prepare/{corpus}.log",
    benchmark:
        "data/benchmarks/prepare/{corpus}.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code("dlvm.corpora.prepare"),
    shell:
        "dlvm prepare {wildcards.corpus} --raw data/raw --table {input.table} --output {output} 2> {log}"


rule synthesize:
    """Draw a corpus from a known LDA; the true topics are kept."""
    input:
        published="data/published/welling-2008-table-1.csv",
    output:
        corpus="data/corpora/{corpus}-like.npz",
        topics="data/models/{corpus}-like/true-topics.npz",
    log:
        "logs/synthesize/{corpus}.log",
    benchmark:
        "data/benchmarks/synthesize/{corpus}.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code("dlvm.corpora.synthetic"),
        scale=study["synthetic"]["scale"],
        seed=study["synthetic"]["seed"],
    shell:
        "dlvm synthesize {wildcards.corpus}-like --published {input.published} --scale {params.scale}"
        " --seed {params.seed} --output {output.corpus} --topics {output.topics} 2> {log}"


rule describe_corpora:
    """Table 1 as data: what each corpus holds beside what the paper printed."""
    input:
        corpora=expand("data/corpora/{corpus}.npz", corpus=DESCRIBED),
        published="data/published/welling-2008-table-1.csv",
    output:
        "data/scores/corpora.csv",
    log:
        "logs/describe_corpora.log",
    benchmark:
        "data/benchmarks/describe_corpora.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code("dlvm.corpora.table"),
        test_documents=[
            f"{corpus}={study['corpora'][corpus if corpus in study['corpora'] else base(corpus)]['test_documents']}"
            for corpus in DESCRIBED
        ],
    shell:
        "dlvm describe {input.corpora} --test-documents {params.test_documents} --published {input.published}"
        " --output {output} 2> {log}"
