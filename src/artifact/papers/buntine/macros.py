"""Numbers of samples and documents, and counts of effects and of readings, as LaTeX macros."""

import math

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine.contrasts import SAME_ORDER
from artifact.papers.buntine.results import errors_by_samples, many_samples, rises_by_reading
from artifact.papers.buntine.tables import READING_LABELS
from artifact.typesetting import latex
from artifact.typesetting.macros import Macros, experiment_settings
from heldout.corpora.names import SOURCES
from heldout.evaluators import PARTICLES


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    realistic, selection = inputs.study.get("realistic", {}), experiment_settings(inputs, "model-selection")
    pairs, precise = experiment_settings(inputs, "calibration"), experiment_settings(inputs, "precision")
    compared = [effect for name in ("mean", "spread") for effect in inputs.effects.get(f"table-1-{name}", ())]
    rising = [READING_LABELS[name] for name, (rises, total) in rises_by_reading(inputs).items() if 2 * rises > total]
    return {
        "TableOneCompared": latex.integer(len(compared)),
        "TableOneAgreeing": latex.integer(sum(effect.low <= 0.0 <= effect.high for effect in compared)),
        "MarginErrs": f"{math.exp(SAME_ORDER.value):.1f}",
        "CalibrationPairs": latex.integer(pairs.get("pairs", 0)),
        "CalibrationMorePairs": latex.integer(pairs.get("more_pairs", 0)),
        "SamplesFew": latex.integer(sorted(precise.get("samples", [0]))[:2][-1]),
        "SamplesUsual": latex.integer(selection.get("some_samples", {}).get(PARTICLES, 0)),
        "SamplesMany": latex.integer(many_samples(inputs)),
        "SamplesMost": latex.integer(max(errors_by_samples(inputs)["samples"], default=0)),
        "SamplesOfOneDocument": latex.integer(
            max(experiment_settings(inputs, "convergence-to-exact").get("samples", [0]))
        ),
        "RealisticSourceName": latex.corpus_name(str(realistic.get("source", ""))) or NOT_RUN,
        "RealisticSmallVocabulary": latex.integer(SOURCES["s10s"].vocabulary),
        "RealisticTestDocuments": latex.integer(realistic.get("test_documents", 0)),
        "RealisticSomeDocuments": latex.integer(selection.get("some_documents", 0)),
        "RealisticReferenceRuns": latex.integer(selection.get("reference_runs", 0)),
        "RealisticParticles": latex.integer(selection.get("reference_particles", 0)),
        "ReadingsRising": latex.listed([f"``{label}''" for label in rising]) or "none",
        "RealisticChains": latex.integer(selection.get("chains", 0)),
    }
