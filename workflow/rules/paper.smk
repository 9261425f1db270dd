"""Exhibits and sections to the PDF; the same commit and the same scores give the same bytes.

What was written about the studies `paper` and `gallery` names the findings that it stands on. From the committed reference
a finding that has moved is an error; after a rerun such sentences are marked, and `findings_stand` fails at the end.
"""

if settings.written:

    rule prose:
        """Look whether every finding that the text names still stands, and write the effects that it prints."""
        input:
            effects=EFFECTS,
            text=TEXT,
        output:
            text=f"{GENERATED}/prose.tex",
            moved=f"{DATA}/moved.txt",
        log:
            f"{LOGS}/prose.log",
        benchmark:
            f"{BENCHMARKS}/prose.tsv"
        params:
            code=code_of("artifact.typesetting.prose"),
            strict=["--strict"] if FROM_REFERENCE else [],
        shell:
            "{STEP} prose {input.text:q} --effects {input.effects:q} --output {output.text:q} --moved {output.moved:q}"
            " {params.strict:q} 2>&1 | tee {log:q}"

    rule findings_stand:
        """Fail, once the PDF is there, where this run has moved what a sentence says."""
        input:
            PDF,
            timings=f"{DATA}/timings.csv",
            moved=f"{DATA}/moved.txt",
        log:
            f"{LOGS}/findings_stand.log",
        shell:
            "test ! -s {input.moved:q} && touch {log:q} || {{ cat {input.moved:q} >&2; exit 1; }}"


rule paper:
    """Typeset the text, the paper with its supplement; what does not fit is an error."""
    input:
        text=TEXT,
        shared=[source(f"paper/{name}") for name in ("preamble.tex", "sources.tex", "references.bib")],
        script=source("workflow/scripts/typeset.sh"),
        macros=f"{GENERATED}/macros.tex",
        prose=f"{GENERATED}/prose.tex" if settings.written else [],
        exhibits=exhibit_files("figure", "table"),
    output:
        report(list(DOCUMENTS), category="Paper"),
    log:
        f"{LOGS}/paper.log",
    benchmark:
        f"{BENCHMARKS}/paper.tsv"
    params:
        # the commit's own time, so that the PDF does not say when it was built
        epoch=commit("%ct") or "0",
        folder=subpath(input.macros, parent=True),
        root=os.path.relpath(source("."), GENERATED),
        figures=os.path.relpath(FIGURES, GENERATED),
        jobs=[f"{Path(pdf).stem}={tex}" for pdf, tex in DOCUMENTS.items()],
        made=[f"{GENERATED}/{Path(pdf).name}" for pdf in DOCUMENTS],
        place=subpath(output[0], parent=True),
    shell:
        "( cd {params.folder:q} && export TEXINPUTS=.:{params.root:q}/paper:{params.figures:q}: BIBINPUTS={params.root:q}/paper:"
        " SOURCE_DATE_EPOCH={params.epoch:q} FORCE_SOURCE_DATE=1 TEXMFVAR=./texmf"
        " && {params.root:q}/workflow/scripts/typeset.sh {params.jobs:q} ) > {log:q} 2>&1"
        " && mv {params.made:q} {params.place:q}"
