"""The figure of the chains' convergence shows the measurements that it should."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from small_study import corpora_table, small_study

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.figures import convergence
from artifact.results.measurements import COLUMNS
from artifact.typesetting import style
from heldout.errors import InputError

SWEEPS = np.arange(0, 101, 10)


def trace(topics: int, chain: int) -> list[float]:
    rise = -1000.0 * topics * np.exp(-SWEEPS / 20.0)
    return [float(value) for value in rise - 50_000.0 + 100.0 * chain + 10.0 * (SWEEPS % 20)]


def inputs(
    *,
    corpora: tuple[str, ...] = ("cranfield", "nips"),
    model: str = "lda",
    synthetic: bool = False,
    seeds: tuple[int, int] = (0, 1),
) -> Inputs:
    rows = []
    for corpus in corpora:
        for k in (2, 5, 10):
            for seed in seeds:
                key = (corpus, model, "convergence", k, 0.0)
                for chain in (0, 1, 2):
                    for at, value in zip(SWEEPS, trace(k, chain), strict=True):
                        rows.append((*key, str(chain), seed, "log-joint", "sweep", int(at), value - 7.0 * seed, 0.0))
                rows.append((*key, "all", seed, "r-hat", "chains", 3, 1.0 + k / 10 + seed, 0.0))
    study = small_study()
    measurements = pd.DataFrame(rows, columns=list(COLUMNS))
    return Inputs(
        pd.DataFrame(), corpora=corpora_table(study, synthetic=synthetic), study=study, measurements=measurements
    )


def drawn(given: Inputs) -> Figure:
    with style.applied():
        figure = convergence.traces_and_r_hats(given)
        figure.draw_without_rendering()
    return figure


@pytest.mark.parametrize("seeds", [(0, 1), (3, 4)])  # an experiment may have other seeds than the study
def test_traces_are_those_of_the_first_seed_at_the_fewest_and_the_most_topics(seeds: tuple[int, int]) -> None:
    axis = drawn(inputs(seeds=seeds)).axes[0]
    assert axis.get_title() == "Cranfield"
    assert len(axis.lines) == 6  # 3 chains at 2 numbers of topics
    expected = np.array([trace(k, chain) for k in (2, 10) for chain in (0, 1, 2)]).reshape(2, 3, -1)
    expected -= expected[:, :, SWEEPS >= 50].mean(axis=(1, 2), keepdims=True)
    shown = np.array([line.get_ydata() for line in axis.lines])
    np.testing.assert_allclose(shown, expected.reshape(6, -1) / 1000.0, atol=1e-9)
    np.testing.assert_array_equal(axis.lines[0].get_xdata(), SWEEPS)
    legend = axis.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["2 topics", "10 topics"]
    assert len({line.get_color() for line in axis.lines}) == 2
    # what comes after the first tenth of the sweeps lies inside the panel, the rise before it need not
    low, high = axis.get_ylim()
    assert low < shown[:, 1:].min() < shown.max() < high
    assert shown.min() < low


def test_r_hat_of_every_seed_and_its_mean() -> None:
    figure = drawn(inputs())
    assert len(figure.axes) == 4
    axis = figure.axes[2]
    agreement, mean, seeds = axis.lines
    np.testing.assert_array_equal(agreement.get_ydata(), [convergence.AGREEMENT] * 2)
    np.testing.assert_array_equal(mean.get_xdata(), [2, 5, 10])
    np.testing.assert_allclose(np.asarray(mean.get_ydata()), [1.7, 2.0, 2.5])
    np.testing.assert_allclose(np.sort(np.asarray(seeds.get_ydata())), [1.2, 1.5, 2.0, 2.2, 2.5, 3.0])
    assert axis.get_ylim() == figure.axes[3].get_ylim()
    assert axis.get_ylim()[0] < 1.0 < 3.0 < axis.get_ylim()[1]


def test_without_measured_chains_there_is_no_figure() -> None:
    for given in (inputs(corpora=()), inputs(model="plsa-hof")):
        with pytest.raises(InputError, match="measure convergence"):
            convergence.traces_and_r_hats(given)
