"""Models whose documents have priors of their own in tiny form: their rows, identities, contrasts and exhibits."""

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from estimated import means
from small_study import corpora_table
from tables_of import measurements_table, notes_table, scores_table
from tiny_priors import NAME, SETTINGS, TEST_DOCUMENTS, corpora

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.estimates import effects
from artifact.contrasts.inputs import Inputs
from artifact.papers import papers_of
from artifact.results.arrays import Arrays
from artifact.results.reading import select
from artifact.results.recorder import Results
from artifact.study.steps import run_experiment
from artifact.study.study import NOTHING
from gallery.documents import MURPHY
from gallery.priors import science as results_priors
from gallery.priors.exhibits import layout, prior_macros
from gallery.priors.experiments import correlation, covariates, tags
from gallery.priors.science import PRIORS
from gallery.priors.spec import CORRELATION, COVARIATES, EXHIBITS, TAGS
from heldout.errors import InputError
from heldout.evaluators import EXACT


def run(name: str, seed: int = 0, **changes: Any) -> Results:
    module, kind = MURPHY.experiment_module(name), MURPHY.experiments[name].settings
    given: dict[str, Any] = {"seed": seed, "test_documents": TEST_DOCUMENTS[NAME], "fold_in_settings": {}}
    settings = {**SETTINGS[name][1], **changes}
    return run_experiment(module, kind, corpora()[NAME], [], "none", settings=settings, **given)


@functools.cache
def made() -> Inputs:
    """Return the inputs of the tiny study."""
    measures = {name: {"corpora": [NAME], "seeds": [0, 1], "settings": s} for name, (_, s) in SETTINGS.items()}
    listed = {name: {"test_documents": n} for name, n in TEST_DOCUMENTS.items()}
    asked = {**NOTHING, "study": "gallery", "document": "gallery", "corpora": listed, "measures": measures}
    parts = [run(name, seed) for name in SETTINGS for seed in ((0,) if name == "topic-graph" else (0, 1))]
    return Inputs(
        scores_table(score for part in parts for score in part.scores),
        corpora_table(asked, synthetic=False),
        asked,
        measurements_table(row for part in parts for row in part.measurements),
        notes_table(note for part in parts for note in part.notes),
        Arrays.recorded({place: values for part in parts for place, values in part.arrays.items()}),
        versions={"heldout": "1.2.3"},
        papers=papers_of(asked),
    )


def test_folding_in_lies_above_and_the_bound_below() -> None:
    for experiment, above in ((COVARIATES, True), (CORRELATION, False)):
        rows = results_priors.rows(made(), experiment)
        assert {row.model for row in rows} >= {covariates.REGRESSION} if above else {correlation.JOINTLY}
        for row in rows:
            if row.gap is not None:
                assert row.gap >= -1e-9 if above else row.gap <= 0.0, row
            assert -5.0 < row.likelihood.value < -2.0  # the unigram of 60 words has at most log 60 = 4.1 nats
    labelled = [row for row in results_priors.rows(made(), COVARIATES) if row.model == covariates.LABELLED]
    assert all(row.measured[covariates.EXACT_SHARE] == 1.0 for row in labelled)
    assert all(row.measured[covariates.TOPICS_OF_ONE] == 2.0 for row in labelled)


def test_annealing_has_the_exact_values_where_there_are_both() -> None:
    """Twelve documents of 25 tokens at K = 2; 6 stated errors."""
    table = made().measurements
    assert table is not None
    own, keys = select(table, variant=CORRELATION), ["model", "seed"]
    exact, found = (select(own, quantity=name).set_index(keys) for name in (EXACT, correlation.ESTIMATED))
    assert len(exact) == len(found) >= 6
    assert ((found["value"] - exact["value"]).abs() < 6.0 * found["standard_error"] + 1e-9).all()


def test_one_tag_informs_no_other_but_under_dmr_and_categorical_pca() -> None:
    inputs = made()
    information = select(inputs.measurements, variant=TAGS, quantity=tags.INFORMATION)
    nothing = select(information, model=(tags.EXPERTS, tags.TWO_STEPS))
    assert len(nothing) == 4
    assert nothing["value"].abs().max() < 1e-9
    informed = [select(information, model=model) for model in (covariates.REGRESSION, tags.INPUTS, tags.QUADRATURE)]
    assert all(len(rows) and (rows["value"] > 0.0).all() for rows in informed)
    found = means("tag-information", inputs)
    assert list(found.values()) == pytest.approx([rows["value"].mean() for rows in informed])


def test_every_contrast_is_estimated_and_every_exhibit_made(tmp_path: Path) -> None:
    inputs = made()
    not_run = {contrast.name for contrast in PRIORS if not effects(contrast, inputs)}
    assert not_run <= {"ctm-tomotopy"}  # where tomotopy is not installed
    for name in EXHIBITS:
        shown = MURPHY.exhibits[name].make(inputs)
        if name.startswith("table"):
            assert shown.count(r"\\") > 4
        else:
            shown.savefig(tmp_path / "figure.pdf")
            assert len(shown.axes[0].texts) > 1
    assert NOT_RUN not in prior_macros(inputs).values()
    assert inputs.measurements is not None
    scores, measurements = inputs.scores.iloc[:0], inputs.measurements.iloc[:0]
    nothing = replace(inputs, scores=scores, measurements=measurements, notes=None, arrays=Arrays())
    assert set(prior_macros(nothing).values()) == {NOT_RUN}


def test_the_layout_keeps_topics_apart_and_draws_edges_together() -> None:
    places = layout(6, {(0, 1): 0.5, (2, 3): 0.4})
    distances = np.linalg.norm(places[:, None] - places[None], axis=-1)
    assert distances[np.triu_indices(6, 1)].min() > 0.1
    assert distances[0, 1] < np.median(distances[np.triu_indices(6, 1)])


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="no label of 1000 training documents"):
        run("covariates", least=1000)
    with pytest.raises(InputError, match="hold out fewer"):
        run("tags", test_documents=1000)
