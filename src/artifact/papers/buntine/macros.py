"""Numbers of the corpora drawn from trained models, and the readings with rising perplexity, as LaTeX macros."""

from artifact.contrasts.contrast import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine.results import rises_by_reading
from artifact.papers.buntine.tables import READING_LABELS
from artifact.typesetting import latex
from artifact.typesetting.macros import Macros, experiment_settings
from heldout.corpora.names import SOURCES


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    realistic, selection = inputs.study.get("realistic", {}), experiment_settings(inputs, "model-selection")
    rising = [READING_LABELS[name] for name, (rises, total) in rises_by_reading(inputs).items() if 2 * rises > total]
    return {
        "RealisticSourceName": latex.corpus_name(str(realistic.get("source", ""))) or NOT_RUN,
        "RealisticSmallVocabulary": latex.integer(SOURCES["s10s"].vocabulary),
        "RealisticTestDocuments": latex.integer(realistic.get("test_documents", 0)),
        "RealisticSomeDocuments": latex.integer(selection.get("some_documents", 0)),
        "RealisticReadingDocuments": latex.integer(selection.get("reading_documents", 0)),
        "RealisticReferenceRuns": latex.integer(selection.get("reference_runs", 0)),
        "RealisticParticles": latex.integer(selection.get("reference_particles", 0)),
        "ReadingsRising": latex.listed([f"``{label}''" for label in rising]) or "none",
        "RealisticChains": latex.integer(selection.get("chains", 0)),
    }
