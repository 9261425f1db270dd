"""Corpora to topics and their scores, one row per evaluation."""

RUN_OPTIONS = (
    "--model {wildcards.model:q} --variant {wildcards.variant:q} --topics {wildcards.topics:q} --seed {wildcards.seed:q}"
    " --test-documents {params.test_documents:q} --train-settings {params.train:q} --fold-in-settings {params.fold_in:q}"
    " --smoothing {params.smoothing:q}"
)
FIT = (
    f"{STEP} fit {{input.corpus:q}} {RUN_OPTIONS} --scores {{output.scores:q}}"
    f" --training-benchmark {BENCHMARKS}/training/{{wildcards.corpus:q}}/{{wildcards.model:q}}/{{wildcards.variant:q}}/"
    "{wildcards.topics:q}-{wildcards.seed:q}.tsv"
)
TRAIN = (
    f"{STEP} fit {{input.corpus:q}} --topics {{wildcards.topics:q}} --seed {{wildcards.seed:q}}"
    " --train-settings {params.train:q} --fold-in-settings '{{}}' --output {output:q}"
)


rule fit:
    """Train a deterministic model once, and score its test documents folded in on all their tokens and on half of them."""
    input:
        corpus=corpus_file,
    output:
        topics=f"{DATA}/models/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.npz",
        scores=f"{DATA}/scores/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.csv",
    log:
        f"{LOGS}/fit/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.log",
    benchmark:
        f"{BENCHMARKS}/fit/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.tsv"
    wildcard_constraints:
        model="|".join(fitted_once()) or "nothing",
        variant="|".join(map(settings.variant, fitted_once())) or "nothing",
    params:
        code=code("scores/{corpus}/{model}/{variant}/{topics}-{seed}.csv"),
        test_documents=test_documents,
        train=train_settings,
        fold_in=fold_in_settings,
        smoothing=constants_to_add,
        corpus=corpus_code,
    shell:
        f"{FIT} --output {{output.topics:q}} 2> {{log:q}}"


rule fit_chains:
    """Train independent Markov chains of one model, and score them one by one and averaged."""
    input:
        corpus=corpus_file,
    output:
        topics=expand(
            f"{DATA}/models/{{{{corpus}}}}/{{{{model}}}}/{{{{variant}}}}/{{{{topics}}}}-{{{{seed}}}}-chain-{{chain}}.npz",
            chain=range(settings.chains(LDA)),
        ),
        scores=f"{DATA}/scores/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.csv",
    log:
        f"{LOGS}/fit/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.log",
    benchmark:
        f"{BENCHMARKS}/fit_chains/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.tsv"
    wildcard_constraints:
        model=LDA,
        variant=settings.variant(LDA),
    params:
        code=code("scores/{corpus}/{model}/{variant}/{topics}-{seed}.csv"),
        test_documents=test_documents,
        train=train_settings,
        fold_in=fold_in_settings,
        smoothing=[],
        corpus=corpus_code,
    shell:
        f"{FIT} --output {{output.topics:q}} 2> {{log:q}}"


rule fit_unread:
    """Train and score a further variant or an alternative of a model: no experiment reads its topics."""
    input:
        corpus=corpus_file,
    output:
        scores=f"{DATA}/scores/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.csv",
    log:
        f"{LOGS}/fit_unread/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.log",
    benchmark:
        f"{BENCHMARKS}/fit_unread/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.tsv"
    wildcard_constraints:
        model="|".join(settings.models),
        variant="|".join([*further_variants(), "alternative-.+"]),
    params:
        code=code("scores/{corpus}/{model}/{variant}/{topics}-{seed}.csv"),
        test_documents=test_documents,
        train=train_settings,
        fold_in=fold_in_settings,
        smoothing=constants_to_add,
        corpus=corpus_code,
    shell:
        f"{FIT} 2> {{log:q}}"


rule fit_unscored:
    """Train what only experiments read, at a number of topics that the figures lack; of several chains the first alone."""
    input:
        corpus=corpus_file,
    output:
        f"{DATA}/models/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}-unscored.npz",
    log:
        f"{LOGS}/fit_unscored/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.log",
    benchmark:
        f"{BENCHMARKS}/fit_unscored/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.tsv"
    params:
        code=code("models/{corpus}/{model}/{variant}/{topics}-{seed}-unscored.npz"),
        test_documents=test_documents,
        train=train_one_settings,
        corpus=corpus_code,
    shell:
        f"{TRAIN} --model {{wildcards.model:q}} --test-documents {{params.test_documents:q}} 2> {{log:q}}"


rule fit_truth:
    """Train the LDA that realistic corpora are drawn from, on all documents of the corpus that stands behind them."""
    input:
        corpus=corpus_file,
    output:
        f"{DATA}/models/{{corpus}}/{LDA}/truth/{{topics}}-{{seed}}.npz",
    log:
        f"{LOGS}/fit_truth/{{corpus}}/{{topics}}-{{seed}}.log",
    benchmark:
        f"{BENCHMARKS}/fit_truth/{{corpus}}/{LDA}/truth/{{topics}}-{{seed}}.tsv"
    params:
        code=code(f"models/{{corpus}}/{LDA}/truth/{{topics}}-{{seed}}.npz"),
        model=LDA,
        train=as_json(REALISTIC["train"]),
        corpus=corpus_code,
    shell:
        f"{TRAIN} --model {{params.model:q}} --test-documents 0 2> {{log:q}}"


rule grow:
    """Train LDA on growing parts of a drawn corpus, each from the chains of the part before."""
    input:
        corpus=corpus_file,
    output:
        list(grown_models("{corpus}").values()) or f"{DATA}/models/{{corpus}}/{LDA}/grown/{{topics}}-{{seed}}.npz",
    log:
        f"{LOGS}/grow/{{corpus}}/{{topics}}-{{seed}}.log",
    benchmark:
        f"{BENCHMARKS}/grow/{{corpus}}/{LDA}/grown/{{topics}}-{{seed}}.tsv"
    wildcard_constraints:
        corpus="|".join(REALISTIC["corpora"]) or "nothing",
    params:
        code=code(f"models/{{corpus}}/{LDA}/grown/{{topics}}-{{seed}}.npz"),
        settings=grow_settings(),
        corpus=corpus_code,
    shell:
        "{STEP} grow {input.corpus:q} --topics {wildcards.topics:q} --seed {wildcards.seed:q} --settings {params.settings:q}"
        " --output {output:q} 2> {log:q}"


rule sweep:
    """Train once per value of one setting and score each: the constant at every M step, the inverse temperature."""
    input:
        corpus=corpus_file,
    output:
        f"{DATA}/scores/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.csv",
    log:
        f"{LOGS}/sweep/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.log",
    benchmark:
        f"{BENCHMARKS}/sweep/{{corpus}}/{{model}}/{{variant}}/{{topics}}-{{seed}}.tsv"
    wildcard_constraints:
        model="|".join(settings.models) or "nothing",
        variant="smoothed-in-m-step|tempered",
    params:
        code=code("scores/{corpus}/{model}/{variant}/{topics}-{seed}.csv"),
        test_documents=test_documents,
        train=train_settings,
        fold_in=fold_in_settings,
        smoothing=constants_to_add,
        corpus=corpus_code,
        setting=swept_setting,
        values=swept_values,
    shell:
        f"{STEP} sweep {{input.corpus:q}} {RUN_OPTIONS} --setting {{params.setting:q}} --values {{params.values:q}}"
        " --output {output:q} 2> {log:q}"
