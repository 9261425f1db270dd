"""The sizes of the corpora drawn from trained models, beside the original's."""

from heldout.corpora.realistic import SOURCES, TEST_DOCUMENTS, TRAINING_DOCUMENTS
from heldout.inputs import Inputs
from heldout.typesetting import latex
from heldout.typesetting.exhibits import exhibits
from heldout.typesetting.interpretations import asked
from heldout.typesetting.macros import Macros
from heldout.verdicts import NOT_RUN

FIGURES = {"Ten": "figure-realistic-10", "Forty": "figure-realistic-40", "Selection": "figure-realistic-selection"}


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    realistic, selection = inputs.study.get("realistic", {}), asked(inputs, "model-selection")
    names, sizes = exhibits(inputs.papers, inputs.study), selection.get("training_documents", ())
    return (
        {"IfRealistic": "#1" if "figure-model-selection" in names else ""}
        | {f"IfRealistic{name}": "#1" if figure in names else "" for name, figure in FIGURES.items()}
        | {
            "RealisticSourceName": latex.corpus_name(str(realistic.get("source", ""))) or NOT_RUN,
            "IfReuters": "#1" if realistic.get("source") == "reuters" else "",
            "IfNotReuters": "" if realistic.get("source") == "reuters" else "#1",
            "RealisticDocuments": latex.integer(realistic.get("documents", 0)),
            "RealisticMeanLength": latex.integer(realistic.get("mean_length", 0)),
            "RealisticSmallVocabulary": latex.integer(SOURCES["s10s"].vocabulary),
            "RealisticTestDocuments": latex.integer(realistic.get("test_documents", 0)),
            "RealisticSomeDocuments": latex.integer(selection.get("some_documents", 0)),
            "RealisticReadingDocuments": latex.integer(selection.get("reading_documents", 0)),
            "RealisticReferenceRuns": latex.integer(selection.get("reference_runs", 0)),
            "RealisticParticles": latex.integer(selection.get("reference_particles", 0)),
            "RealisticTraining": latex.listed([latex.integer(size) for size in sizes]) or NOT_RUN,
            "RealisticChains": latex.integer(selection.get("chains", 0)),
            "RealisticPublishedTraining": latex.listed([latex.integer(size) for size in TRAINING_DOCUMENTS]),
            "RealisticPublishedTestDocuments": latex.integer(TEST_DOCUMENTS),
        }
    )
