"""Exhibits: one file per figure or table family; scores go in, a figure or LaTeX comes out.

To add an exhibit, add its file and its line in `EXHIBITS`. A function takes `Inputs` (and a corpus's name, for an
exhibit of one corpus) and returns a matplotlib figure or LaTeX; `make` writes it.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dlvm.errors import InputError
from dlvm.exhibits.inputs import EPCA, LDA, PLSA, TEM, VEM, Inputs, Run, Settings
from dlvm.files import replacing

__all__ = ["EXHIBITS", "Exhibit", "Inputs", "Run", "corpora_of", "exhibit_names", "make", "path", "stands_on"]

# the parts of a study's runs: a model's main variant over the grid (by the model's name), and these
SECOND = "second reading"
BEYOND = "beyond the vocabulary"
ALTERNATIVES = "alternatives"
# kinds of measurements (`dlvm.measures`)
BOUNDS, DISCRETE, NORMALISERS = "bounds", "discrete-latents", "normalisers"
LIMITS, POINTS, CONVERGENCE = "normaliser-limits", "point-posteriors", "convergence"
CALIBRATION, TO_EXACT, BIDIRECTIONAL = "calibration", "convergence-to-exact", "bidirectional"
OPTIMISM, COMPONENTS, SELECTION = "optimism", "epca-marginal", "model-selection"
SEMANTIC, TEMPERING, PRECISION, PEERS = "latent-semantic-analysis", "tempering", "precision", "peers"
MEASURED = (
    *(BOUNDS, DISCRETE, NORMALISERS, LIMITS, POINTS, CONVERGENCE),
    *(CALIBRATION, TO_EXACT, BIDIRECTIONAL, OPTIMISM, COMPONENTS, SELECTION),
    *(SEMANTIC, TEMPERING, PRECISION, PEERS),
)
OPTIONAL = {SEMANTIC, TEMPERING, PEERS}  # a study without them lacks their exhibits
SCORED = (PLSA, VEM, TEM, EPCA, LDA, SECOND, BEYOND, ALTERNATIVES)


@dataclass(frozen=True)
class Exhibit:
    """One figure, table or set of macros.

    Attributes:
        kind: "figure" (PDF), or "table" and "macros" (LaTeX).
        title: what it shows, in a few words.
        module, function: what makes it.
        parts: the parts of a study's runs that it stands on.
        corpus: the position in the study of the one corpus that it is about; None for all corpora.
        original: its counterpart in Welling et al. (2008), as "Figure 4"; empty where there is none.
        drawn: the corpora drawn from trained models of which it shows at least one; empty where it shows others.
    """

    kind: Literal["figure", "table", "macros"]
    title: str
    module: str
    function: str
    parts: tuple[str, ...] = ()
    corpus: int | None = None
    original: str = ""
    drawn: tuple[str, ...] = ()


CORPORA_WITH_FIGURES = 3

_SMOOTHING = ("PLSA under every constant, added after training", "dlvm.exhibits.smoothing_curves", "first_reading")
_SECOND = ("PLSA under every constant, added at every M step", "dlvm.exhibits.smoothing_curves", "second_reading")
_VERSIONS = ("three versions of PLSA", "dlvm.exhibits.plsa_versions", "draw")
_COMPARISON = ("LDA beside the best curves of PLSA and EPCA", "dlvm.exhibits.comparison_curves", "draw")

EXHIBITS: dict[str, Exhibit] = {
    "table-1": Exhibit("table", "the corpora", "dlvm.exhibits.corpora_table", "render", original="Table 1"),
    "figure-1": Exhibit("figure", *_VERSIONS, (PLSA, VEM, TEM), 0, "Figure 1"),
    "figure-2": Exhibit("figure", *_VERSIONS, (PLSA, VEM, TEM), 1, "Figure 2"),
    "figure-3": Exhibit("figure", *_VERSIONS, (PLSA, VEM, TEM), 2, "Figure 3"),
    "figure-4": Exhibit("figure", *_SMOOTHING, (PLSA,), 0, "Figure 4"),
    "figure-5": Exhibit("figure", *_SMOOTHING, (PLSA,), 1, "Figure 5"),
    "figure-6": Exhibit("figure", *_SMOOTHING, (PLSA,), 2, "Figure 6"),
    "figure-4b": Exhibit("figure", *_SECOND, (SECOND,), 0, "Figure 4"),
    "figure-5b": Exhibit("figure", *_SECOND, (SECOND,), 1, "Figure 5"),
    "figure-6b": Exhibit("figure", *_SECOND, (SECOND,), 2, "Figure 6"),
    "figure-7": Exhibit("figure", *_COMPARISON, (PLSA, EPCA, LDA), 0, "Figure 7"),
    "figure-8": Exhibit("figure", *_COMPARISON, (PLSA, EPCA, LDA), 1, "Figure 8"),
    "figure-9": Exhibit("figure", *_COMPARISON, (PLSA, EPCA, LDA), 2, "Figure 9"),
    "figure-beyond": Exhibit(
        "figure", "PLSA beyond the size of the vocabulary", "dlvm.exhibits.beyond_vocabulary", "draw", (BEYOND,)
    ),
    "figure-point-posteriors": Exhibit(
        "figure", "point posteriors: bounds and collapses", "dlvm.exhibits.point_posteriors", "draw", (POINTS,)
    ),
    "figure-bounds": Exhibit(
        "figure",
        "optimism and pessimism of single documents",
        "dlvm.exhibits.bounds",
        "draw",
        (BOUNDS, DISCRETE),
    ),
    "figure-normaliser": Exhibit(
        "figure", "the normaliser that folding in ignores", "dlvm.exhibits.normaliser_curves", "draw", (NORMALISERS,)
    ),
    "figure-normalised": Exhibit(
        "figure",
        "what the normalised model says of many topics",
        "dlvm.exhibits.normalised_curves",
        "draw",
        (PLSA, LIMITS),
    ),
    "figure-convergence": Exhibit(
        "figure", "convergence of the Gibbs sampler", "dlvm.exhibits.convergence", "draw", (CONVERGENCE,)
    ),
    "table-calibration": Exhibit(
        "table",
        "estimators held to exact values, beside the published errors",
        "dlvm.exhibits.calibration_table",
        "render",
        (CALIBRATION,),
    ),
    "table-calibration-others": Exhibit(
        "table",
        "every estimator held to exact values",
        "dlvm.exhibits.calibration_table",
        "render_others",
        (CALIBRATION,),
    ),
    "table-estimator-timings": Exhibit(
        "table", "what an estimate costs", "dlvm.exhibits.calibration_table", "render_timings"
    ),
    "figure-convergence-to-exact": Exhibit(
        "figure", "estimates and their samples", "dlvm.exhibits.convergence_to_exact", "draw", (TO_EXACT,)
    ),
    "figure-bidirectional": Exhibit(
        "figure", "the likelihood between two bounds", "dlvm.exhibits.bidirectional", "draw", (BIDIRECTIONAL,)
    ),
    "figure-realistic-10": Exhibit(
        "figure",
        "estimators on models of ten true topics",
        "dlvm.exhibits.realistic_curves",
        "figure_3",
        (SELECTION,),
        drawn=("s10", "s10s"),
    ),
    "figure-realistic-40": Exhibit(
        "figure",
        "estimators on models of forty true topics",
        "dlvm.exhibits.realistic_curves",
        "figure_4",
        (SELECTION,),
        drawn=("s40",),
    ),
    "figure-realistic-selection": Exhibit(
        "figure",
        "the true number of topics by every estimator",
        "dlvm.exhibits.realistic_curves",
        "figure_5",
        (SELECTION,),
        drawn=("s10s",),
    ),
    "figure-model-selection": Exhibit(
        "figure",
        "which evaluator finds the true number of topics",
        "dlvm.exhibits.model_selection",
        "draw",
        (SELECTION,),
        drawn=("s10", "s10s", "s40"),
    ),
    "figure-optimism": Exhibit(
        "figure", "folding-in beside the likelihood", "dlvm.exhibits.optimism", "draw", (OPTIMISM,)
    ),
    "figure-optimism-by": Exhibit(
        "figure",
        "optimism by length and by constant",
        "dlvm.exhibits.optimism",
        "draw_by_length_and_constant",
        (OPTIMISM,),
    ),
    "table-optimism": Exhibit(
        "table", "folding-in beside the likelihood", "dlvm.exhibits.optimism", "render", (OPTIMISM,)
    ),
    "figure-repair": Exhibit("figure", "folding-in repaired", "dlvm.exhibits.repair", "draw", (OPTIMISM,)),
    "table-repair": Exhibit("table", "folding-in repaired", "dlvm.exhibits.repair", "render", (OPTIMISM,)),
    "figure-epca-marginal": Exhibit(
        "figure", "EPCA's likelihood and its folding-in", "dlvm.exhibits.epca_marginal", "draw", (COMPONENTS,)
    ),
    "figure-hofmann": Exhibit(
        "figure",
        "PLSA beside latent semantic analysis, as Hofmann scored them and as documents are",
        "dlvm.exhibits.hofmann",
        "figure_5a",
        (TEMPERING, SEMANTIC),
    ),
    "figure-hofmann-path": Exhibit(
        "figure", "inverse annealing, iteration by iteration", "dlvm.exhibits.hofmann", "figure_path", (TEMPERING,)
    ),
    "table-hofmann": Exhibit(
        "table", "PLSA beside latent semantic analysis", "dlvm.exhibits.hofmann", "render", (TEMPERING, SEMANTIC)
    ),
    "figure-precision": Exhibit(
        "figure", "which estimator reaches an error first", "dlvm.exhibits.precision", "draw", (PRECISION,)
    ),
    "figure-peers": Exhibit("figure", "what libraries report", "dlvm.exhibits.peers", "draw", (PEERS,)),
    "table-peers": Exhibit("table", "what libraries report", "dlvm.exhibits.peers", "render", (PEERS,)),
    "table-models": Exhibit("table", "the family of models", "dlvm.exhibits.models_table", "render"),
    "table-side-by-side": Exhibit(
        "table",
        "the original's figures beside ours",
        "dlvm.exhibits.side_by_side",
        "render",
        (PLSA, VEM, TEM, EPCA, LDA),
    ),
    "table-claims": Exhibit(
        "table", "the original's claims, tested", "dlvm.exhibits.claims_table", "render", (*SCORED, *MEASURED)
    ),
    "table-interpretations": Exhibit(
        "table",
        "the readings that the sources leave open",
        "dlvm.exhibits.interpretations",
        "render",
        (*SCORED, CALIBRATION, TO_EXACT, OPTIMISM, COMPONENTS, SELECTION, SEMANTIC, TEMPERING),
    ),
    "table-provenance": Exhibit(
        "table", "the command, time and memory of every exhibit", "dlvm.exhibits.provenance", "render"
    ),
    "macros": Exhibit("macros", "every number in the text", "dlvm.exhibits.macros", "render", (*SCORED, *MEASURED)),
}


def exhibit_names(study: Mapping[str, Any]) -> list[str]:
    """Return the names of the exhibits that a study has: no figures of corpora that it lacks."""
    settings = Settings(study)
    return [
        name
        for name, exhibit in EXHIBITS.items()
        if (exhibit.corpus is None or exhibit.corpus < len(settings.corpora))
        and (exhibit.parts != (BEYOND,) or settings.beyond_corpus)
        and (exhibit.parts != (SECOND,) or settings.second_reading_seeds)
        and (
            not exhibit.parts
            or not OPTIONAL.issuperset(exhibit.parts)
            or any(map(settings.measured_runs, exhibit.parts))
        )
        and (not exhibit.drawn or any(run.corpus in exhibit.drawn for run in settings.measured_runs(SELECTION)))
    ]


def path(name: str) -> str:
    """Return where an exhibit belongs: figures/NAME.pdf or paper/generated/NAME.tex.

    Raises:
        InputError: for an unknown exhibit.
    """
    return f"figures/{name}.pdf" if _known(name).kind == "figure" else f"paper/generated/{name}.tex"


def corpora_of(name: str, study: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the corpora that an exhibit stands on."""
    exhibit, settings = _known(name), Settings(study)
    if exhibit.corpus is not None:
        return (settings.corpora[exhibit.corpus],)
    return (settings.beyond_corpus,) if exhibit.parts == (BEYOND,) else settings.described


def stands_on(name: str, study: Mapping[str, Any]) -> tuple[Run, ...]:
    """Return the training and scoring runs that an exhibit stands on, sorted."""
    exhibit, settings = _known(name), Settings(study)
    corpora = [c for c in corpora_of(name, study) if c in settings.corpora]
    runs: set[Run] = set()
    for part in exhibit.parts:
        if part == BEYOND:
            runs.update(settings.beyond_runs() if settings.beyond_corpus else ())
        elif part == ALTERNATIVES:
            runs.update(settings.alternative_runs())
        elif part in MEASURED:
            runs.update(settings.measured_runs(part))
        elif part == SECOND:
            runs.update(run for corpus in corpora for run in settings.second_reading_runs(corpus))
        elif part in settings.models:
            runs.update(run for corpus in corpora for run in settings.main_runs(corpus, part))
    return tuple(sorted(runs))


def make(name: str, inputs: Inputs, destination: Path) -> None:
    """Make one exhibit and write it, whole or not at all.

    Args:
        name: a name in `EXHIBITS`.
        inputs: what it is a function of.
        destination: the file to write, a PDF or LaTeX.

    Raises:
        InputError: for an unknown exhibit, or one that the study does not have.
    """
    exhibit, settings = _known(name), inputs.settings
    if name not in exhibit_names(inputs.study):
        raise InputError(f"exhibit {name}: the study {settings.name} does not have it; it has {_listed(inputs)}")
    function = getattr(importlib.import_module(exhibit.module), exhibit.function)
    arguments = () if exhibit.corpus is None else (settings.corpora[exhibit.corpus],)
    if exhibit.kind != "figure":
        text = function(inputs, *arguments)
        with replacing(destination) as temporary:
            temporary.write_text(text, encoding="utf-8")
        return
    from dlvm.exhibits import style  # matplotlib

    with style.applied():
        figure = function(inputs, *arguments)
        with replacing(destination) as temporary:
            style.save(figure, temporary)


def _listed(inputs: Inputs) -> str:
    return ", ".join(exhibit_names(inputs.study))


def _known(name: str) -> Exhibit:
    if name not in EXHIBITS:
        raise InputError(f"exhibit {name}: unknown; there are {', '.join(EXHIBITS)}")
    return EXHIBITS[name]
