"""Exhibits and sections to the PDF; the same commit and the same scores give the same bytes."""


ruleorder: macros > table


rule macros:
    """Every number that the prose uses, as LaTeX macros, and the commit that the paper was built from."""
    input:
        study=STUDY,
        scores="data/scores/scores.csv",
        corpora="data/scores/corpora.csv",
        measurements="data/scores/measurements.csv",
        timings=branch(Path(REFERENCE / "timings.csv").exists(), then=str(REFERENCE / "timings.csv"), otherwise=[]),
    output:
        "paper/generated/macros.tex",
    log:
        "logs/macros.log",
    benchmark:
        f"{BENCHMARKS}/macros.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code("heldout.exhibits", EXHIBITS["macros"].module),
        timings=reference_timings,
        commit=checked_out(),
        date=commit("%cs"),
    shell:
        "heldout exhibit macros --study {input.study} --scores {input.scores} --corpora {input.corpora} --measurements {input.measurements}"
        " {params.timings} --commit '{params.commit}' --date '{params.date}' --output {output} 2> {log}"


rule paper:
    """Typeset the paper; an undefined reference is an error."""
    input:
        main="paper/main.tex",
        bibliography="paper/references.bib",
        sections=sorted(str(path) for path in Path("paper/sections").glob("*.tex")),
        figures=exhibit_files("figure"),
        tables=exhibit_files("table"),
        macros="paper/generated/macros.tex",
    output:
        report("paper/paper.pdf", category="Paper"),
    log:
        "logs/paper.log",
    benchmark:
        f"{BENCHMARKS}/paper.tsv"
    conda:
        "../../environment.yml"
    params:
        # the commit's own time, so that the PDF does not say when it was built
        epoch=commit("%ct") or "0",
    shell:
        # what an earlier run left half-written would stop TeX
        "cd paper && rm -f paper.aux paper.bbl paper.fdb_latexmk paper.fls paper.log paper.out"
        " && SOURCE_DATE_EPOCH={params.epoch} FORCE_SOURCE_DATE=1 TEXMFVAR=$PWD/generated/texmf"
        # references into tables that span pages take some passes to settle
        " latexmk -e '$max_repeat=9' -pdf -Werror -interaction=nonstopmode -halt-on-error -file-line-error -jobname=paper main.tex"
        " > ../{log} 2>&1"
