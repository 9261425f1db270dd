"""Raw archives to corpora: download, parse, preprocess; or draw from a known model."""


rule fetch:
    """Download one raw file, or take it from the mirror, and verify what it holds."""
    input:
        # an edited row must not cost a finished download: what is read is verified again by `prepare`
        table=ancient("data/corpora.csv"),
    output:
        "data/raw/{file}",
    log:
        "logs/fetch/{file}.log",
    benchmark:
        f"{BENCHMARKS}/fetch/{{file}}.tsv"
    wildcard_constraints:
        file=r"[A-Za-z0-9._-]+",
    retries: 0
    conda:
        "../../environment.yml"
    shell:
        # the progress bar and the one line of an error belong on the terminal
        "heldout fetch {wildcards.file} --table {input.table} --output {output} > {log}"


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
        f"{BENCHMARKS}/prepare/{{corpus}}.tsv"
    wildcard_constraints:
        corpus="|".join(RECIPES),
    conda:
        "../../environment.yml"
    params:
        code=code("heldout.corpora.prepare"),
    shell:
        "heldout prepare {wildcards.corpus} --raw data/raw --table {input.table} --output {output} 2> {log}"


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
        f"{BENCHMARKS}/synthesize/{{corpus}}.tsv"
    wildcard_constraints:
        corpus="|".join(RECIPES),
    conda:
        "../../environment.yml"
    params:
        code=code("heldout.corpora.synthetic", "heldout.corpora.table"),
        scale=study["synthetic"]["scale"],
        seed=study["synthetic"]["seed"],
    shell:
        "heldout synthesize {wildcards.corpus}-like --published {input.published} --scale {params.scale}"
        " --seed {params.seed} --output {output.corpus} --topics {output.topics} 2> {log}"


rule draw:
    """Draw a corpus from a model that was trained on real documents; its true topics are kept."""
    input:
        topics=true_topics,
        source=f"data/corpora/{REALISTIC['source']}.npz",
    output:
        corpus="data/corpora/{corpus}.npz",
        topics="data/models/{corpus}/true-topics.npz",
    log:
        "logs/draw/{corpus}.log",
    benchmark:
        f"{BENCHMARKS}/draw/{{corpus}}.tsv"
    wildcard_constraints:
        corpus="|".join(DRAWN) or "nothing",
    conda:
        "../../environment.yml"
    params:
        code=code("heldout.corpora.realistic"),
        documents=REALISTIC["documents"],
        mean_length=REALISTIC["mean_length"],
        seed=REALISTIC["seed"],
        source=corpus_code_of(REALISTIC["source"]),
    shell:
        "heldout draw {wildcards.corpus} --from {input.topics} --lengths-of {input.source} --documents {params.documents}"
        " --mean-length {params.mean_length} --seed {params.seed} --output {output.corpus} --topics {output.topics} 2> {log}"


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
        f"{BENCHMARKS}/describe_corpora.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code("heldout.corpora.table"),
        test_documents=[
            f"{corpus}={study['corpora'][corpus if corpus in study['corpora'] else base(corpus)]['test_documents']}"
            for corpus in DESCRIBED
        ],
    shell:
        "heldout describe {input.corpora} --test-documents {params.test_documents} --published {input.published}"
        " --output {output} 2> {log}"
