"""Graphs and relations in tiny form: what was measured, and its contrasts."""

import numpy as np
import pytest
from estimated import estimated, means
from test_gallery import made, run
from tiny_graphs import MONKS, corpora

from artifact.results.reading import select
from gallery.graphs import science as results
from gallery.graphs.experiments import concepts, links, partitions
from gallery.graphs.experiments.block_graphs import NINE, STRUCTURES
from gallery.graphs.experiments.partitions import agreement
from gallery.graphs.spec import CONCEPTS, LINKS, PARTITIONS
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError


def test_scores_stand_in_their_order_about_the_exact_likelihood() -> None:
    """Of 60 chains: 6 errors of annealing, and bounds below."""
    rows = results.block_rows(made())
    assert [row.K for row in rows] == [1, 2, 3, 4]
    assert rows[-1].exact is None
    for row in rows[:3]:
        assert row.exact is not None
        assert row.annealed is not None
        assert row.error is not None
        assert row.bound is not None
        assert row.joint is not None
        assert row.profile is not None
        assert abs(row.annealed - row.exact) < 6.0 * row.error + 1e-9
        assert max(row.bound, row.joint) < row.exact + 1e-9
        assert row.profile > row.exact


def test_drawn_groups_are_found() -> None:
    inputs = made()
    for name in (NINE, *STRUCTURES):
        found = results.structure(inputs, name)
        assert found.arcs.shape == (len(found.groups), len(found.groups))
        assert not found.arcs.diagonal().any()
        assert found.agree[0] >= len(found.groups) // 2
    assert results.structure(inputs, NINE).agree == [9]
    agree = results.rows(inputs, PARTITIONS, partitions.AGREE, topics=3)["value"].tolist()
    likes, clusters, names = results.monks(inputs)
    assert (likes.shape, len(clusters), len(names)) == ((MONKS, MONKS), MONKS, MONKS)
    assert agree == [agreement(clusters, tuple("aaabbbccc"))]


def test_agreement_names_clusters_as_fits_best() -> None:
    assert agreement(np.array([1, 1, 0, 2]), ("x", "x", "y", "z")) == 4
    assert agreement(np.array([0, 0, 0, 0]), ("x", "x", "y", "z")) == 2


def test_memberships_are_distributions() -> None:
    inputs = made()
    assert results.rhos(inputs) == [0.0, 0.3]
    for rho in results.rhos(inputs):
        (shares,) = results.memberships_by_seed(inputs, rho).values()
        assert shares.sum(axis=1) == pytest.approx(1.0, abs=1e-9)
    (shares,) = results.memberships_by_seed(inputs, 0.0).values()
    second = results.second_shares(shares)
    expected = {"waverers": second[7] - np.delete(second, 7).mean()}  # of nine nodes one is a waverer
    assert means("wavering-monks", inputs) == pytest.approx(expected)
    assert results.second_shares(np.array([[0.7, 0.1, 0.2], [0.0, 1.0, 0.0]])).tolist() == [0.2, 0.0]


def test_hidden_pairs_have_log_losses_of_all_predictions() -> None:
    inputs = made()
    for name in (links.ONE, links.AVERAGE, links.PLUGGED, links.DENSITY):
        found = results.rows(inputs, LINKS, f"{name}-{links.LOG_LOSS}")
        assert set(zip(found["model"], found["topics"], strict=True)) == {("sbm", 2), ("irm", 0)}
        assert (found["value"] > 0.0).all()
    loss = {
        name: results.rows(inputs, LINKS, f"{name}-{links.LOG_LOSS}", model="irm")["value"].item()
        for name in (links.ONE, links.AVERAGE)
    }
    (effect,) = estimated("average-partition", inputs).values()
    assert effect.estimate == pytest.approx(loss[links.ONE] - loss[links.AVERAGE])
    areas = results.rows(inputs, LINKS, f"{links.AVERAGE}-{links.AUC}")["value"]
    assert areas.between(0.0, 1.0).all()


def test_numbers_of_clusters_are_counted_and_features_have_their_exact_likelihood() -> None:
    """Six countries, 30 chains: annealing within 6 errors."""
    inputs = made()
    eta = results.chosen_eta(inputs, "nations")
    assert eta in (1.0, 0.5)
    for kind in results.PUBLISHED["nations"]:
        shares = results.shares_of_numbers(inputs, "nations", kind, eta)
        assert sum(shares.values()) == pytest.approx(1.0)
    state = results.best_state(inputs, "nations")
    assert state is not None
    means = results.block_means(inputs, "nations", "has", state)
    assert means.shape == tuple(state.clusters[kind].max() + 1 for kind in ("countries", "features"))
    assert ((means > 0.0) & (means < 1.0)).all()
    cells = results.cells(inputs, "nations", "interacts")
    assert cells.shape == (6, 6, 4)
    assert np.isnan(cells[np.arange(6), np.arange(6)]).all()
    assert set(np.unique(cells[~np.isnan(cells)])) == {0.0, 1.0}
    exact = results.rows(inputs, CONCEPTS, concepts.FEATURES_EXACT, smoothing=eta)["value"]
    annealed = results.rows(inputs, CONCEPTS, concepts.FEATURES_ANNEALED, smoothing=eta)
    assert abs(annealed["value"].iloc[0] - exact.iloc[0]) < 6.0 * annealed["standard_error"].iloc[0]
    of_partitions = select(inputs.measurements, variant=CONCEPTS, quantity=concepts.FEATURES_SHARE, smoothing=eta)
    assert of_partitions["value"].sum() == pytest.approx(1.0)


def test_bad_settings_and_other_data_are_refused() -> None:
    with pytest.raises(InputError, match="documents or records, not relations"):
        run("partitions", Corpus.from_documents("tiny", [("a", ["wing"])]))
    with pytest.raises(InputError, match="at hidden: "):
        run("links", corpora()["kinship"], hidden=1.0)
    with pytest.raises(InputError, match="expected a graph without self-loops"):
        run("memberships", corpora()["kinship"])
