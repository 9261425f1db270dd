"""The sizes of the corpora drawn from trained models, beside the original's."""

from heldout.corpora.names import SOURCES
from heldout.evaluators import SEQUENTIAL
from heldout.inputs import Inputs
from heldout.papers.buntine.results import rises_by_reading, scored
from heldout.papers.buntine.tables import READING_LABELS
from heldout.points import select
from heldout.typesetting import latex
from heldout.typesetting.exhibits import exhibits
from heldout.typesetting.interpretations import experiment_settings
from heldout.typesetting.macros import Macros
from heldout.verdicts import NOT_RUN

FIGURES = {"Ten": "figure-realistic-10", "Forty": "figure-realistic-40", "Selection": "figure-realistic-selection"}


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    realistic, selection = inputs.study.get("realistic", {}), experiment_settings(inputs, "model-selection")
    names = exhibits(inputs.papers, inputs.study)
    forty = select(scored(inputs), corpus="s40", evaluator=SEQUENTIAL)
    truth, trained = forty[forty["size"] == 0], select(forty, size=forty["size"].max())
    rising = [READING_LABELS[name] for name, (rises, total) in rises_by_reading(inputs).items() if 2 * rises > total]
    return (
        {"IfRealistic": "#1" if "figure-model-selection" in names else ""}
        | {"IfMeanRatio": "#1" if "table-mean-ratio" in names else ""}
        | {f"IfRealistic{name}": "#1" if figure in names else "" for name, figure in FIGURES.items()}
        | {
            "RealisticSourceName": latex.corpus_name(str(realistic.get("source", ""))) or NOT_RUN,
            "IfReuters": "#1" if realistic.get("source") == "reuters" else "",
            "IfNotReuters": "" if realistic.get("source") == "reuters" else "#1",
            "RealisticSmallVocabulary": latex.integer(SOURCES["s10s"].vocabulary),
            "RealisticTestDocuments": latex.integer(realistic.get("test_documents", 0)),
            "RealisticSomeDocuments": latex.integer(selection.get("some_documents", 0)),
            "RealisticReadingDocuments": latex.integer(selection.get("reading_documents", 0)),
            "RealisticReferenceRuns": latex.integer(selection.get("reference_runs", 0)),
            "RealisticParticles": latex.integer(selection.get("reference_particles", 0)),
            "ReadingsRising": latex.listed([f"``{label}''" for label in rising]) or "none",
            "FortyAboveBest": latex.decimal(truth["value"].mean() - trained["value"].max(), 3),
            "RealisticChains": latex.integer(selection.get("chains", 0)),
        }
    )
