"""Raw archives to corpora: download, parse, preprocess; or draw from a known model."""


rule fetch:
    """Download one raw file, or take it from the mirror, and verify what it holds."""
    input:
        # an edited row must not cost a finished download: what is read is verified again by `prepare`
        table=ancient(CORPORA_TABLE),
    output:
        "data/raw/{file}",
    log:
        "logs/fetch/{file}.log",
    benchmark:
        f"{BENCHMARKS}/fetch/{{file}}.tsv"
    wildcard_constraints:
        file=r"[A-Za-z0-9._-]+",
    retries: 0
    shell:
        # the progress bar and the one line of an error belong on the terminal
        "{STEP} fetch {wildcards.file:q} --table {input.table:q} --output {output:q} > {log:q}"


rule prepare:
    """Parse and preprocess one corpus."""
    input:
        raw=raw_inputs,
        table=CORPORA_TABLE,
    output:
        f"{DATA}/corpora/{{corpus}}.npz",
    log:
        f"{LOGS}/prepare/{{corpus}}.log",
    benchmark:
        f"{BENCHMARKS}/prepare/{{corpus}}.tsv"
    wildcard_constraints:
        corpus="|".join(ARCHIVES),
    params:
        code=code("corpora/{corpus}.npz"),
    shell:
        "{STEP} prepare {wildcards.corpus:q} --raw data/raw --table {input.table:q} --output {output:q} 2> {log:q}"


rule synthesize:
    """Draw a corpus from a known LDA; the true topics are kept."""
    input:
        published=PUBLISHED,
    output:
        corpus=f"{DATA}/corpora/{{corpus}}-like.npz",
        topics=f"{DATA}/models/{{corpus}}-like/true-topics.npz",
    log:
        f"{LOGS}/synthesize/{{corpus}}.log",
    benchmark:
        f"{BENCHMARKS}/synthesize/{{corpus}}.tsv"
    wildcard_constraints:
        corpus="|".join(ARCHIVES),
    params:
        code=code("corpora/{corpus}-like.npz"),
        scale=study["synthetic"]["scale"],
        seed=study["synthetic"]["seed"],
    shell:
        "{STEP} synthesize {wildcards.corpus:q}-like --published {input.published:q} --scale {params.scale:q}"
        " --seed {params.seed:q} --output {output.corpus:q} --topics {output.topics:q} 2> {log:q}"


rule draw:
    """Draw a corpus from a model that was trained on real documents; its true topics are kept."""
    input:
        topics=true_topics,
        source=corpus_of(REALISTIC["source"]),
    output:
        corpus=f"{DATA}/corpora/{{corpus}}.npz",
        topics=f"{DATA}/models/{{corpus}}/true-topics.npz",
    log:
        f"{LOGS}/draw/{{corpus}}.log",
    benchmark:
        f"{BENCHMARKS}/draw/{{corpus}}.tsv"
    wildcard_constraints:
        corpus="|".join(REALISTIC["corpora"]) or "nothing",
    params:
        code=code("corpora/{corpus}.npz"),
        documents=REALISTIC["documents"],
        mean_length=REALISTIC["mean_length"],
        seed=REALISTIC["seed"],
        source=corpus_code_of(REALISTIC["source"]),
    shell:
        "{STEP} draw {wildcards.corpus:q} --model {input.topics:q} --lengths-of {input.source:q} --documents {params.documents:q}"
        " --mean-length {params.mean_length:q} --seed {params.seed:q} --output {output.corpus:q} --topics {output.topics:q} 2> {log:q}"


rule describe_corpora:
    """Table 1 as data: what each corpus holds beside what the paper printed."""
    input:
        corpora=all_corpora(),
        published=PUBLISHED,
    output:
        f"{DATA}/corpora.csv",
    log:
        f"{LOGS}/describe_corpora.log",
    benchmark:
        f"{BENCHMARKS}/describe_corpora.tsv"
    params:
        code=code("corpora.csv"),
        test_documents=json.dumps({corpus: settings.test_documents(corpus) for corpus in settings.described}),
    shell:
        "{STEP} describe {input.corpora:q} --test-documents {params.test_documents:q} --published {input.published:q}"
        " --output {output:q} 2> {log:q}"
