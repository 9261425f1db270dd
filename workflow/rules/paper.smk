"""Exhibits and sections to the PDF; the same commit and the same scores give the same bytes."""


rule paper:
    """Typeset the paper; an undefined reference is an error, and so is what does not fit its page or its column."""
    input:
        main=source(f"paper/{settings.document}.tex"),
        preamble=source("paper/preamble.tex"),
        bibliography=source("paper/references.bib"),
        sections=sorted(source(f"paper/sections/{file.name}") for file in (ROOT / "paper/sections").glob("*.tex")),
        macros=f"{GENERATED}/macros.tex",
        exhibits=exhibit_files("figure", "table"),
    output:
        report(PDF, category="Paper"),
    log:
        f"{LOGS}/paper.log",
    benchmark:
        f"{BENCHMARKS}/paper.tsv"
    params:
        # the commit's own time, so that the PDF does not say when it was built
        epoch=commit("%ct") or "0",
        document=f"{settings.document}.tex",
        sources=os.path.relpath(ROOT / "paper", GENERATED),
        figures=os.path.relpath(FIGURES, GENERATED),
        # a table taller than its page, a page that holds too much, a line or table wider than its column by ten points
        overfull=r"Float too large for page|Overfull .vbox \([1-9]|Overfull .hbox \([1-9][0-9]+\.",
    shell:
        # what an earlier run left half-written would stop TeX
        "name=$(basename {output} .pdf) && ( cd $(dirname {input.macros}) && rm -f $name.*"
        " && export TEXINPUTS=.:{params.sources}:{params.figures}: BIBINPUTS={params.sources}:"
        " SOURCE_DATE_EPOCH={params.epoch} FORCE_SOURCE_DATE=1 TEXMFVAR=$PWD/texmf"
        # references into tables that span pages take some passes to settle
        " && latexmk -e '$max_repeat=9' -pdf -Werror -interaction=nonstopmode -halt-on-error -file-line-error"
        " -jobname=$name {params.sources}/{params.document} && ! grep -E {params.overfull:q} $name.log )"
        " > {log} 2>&1 && mv $(dirname {input.macros})/$name.pdf {output}"
