"""The numbers of the text from made-up scores."""

import math
import re
from dataclasses import replace

import pytest
from made_measurements import TOPICS as TRUE_TOPICS
from made_measurements import gap, is_a_probability, measured, optimism_inputs
from made_peers import LIBRARIES, TOPICS, peers_inputs, reported, truth
from small_study import inputs, small_study, without

from artifact.papers.likelihood.macros import macros
from artifact.papers.likelihood.tables import large
from artifact.typesetting import latex
from heldout.evaluators import FULL, LAPLACE


def test_macros_give_versions_settings_and_extremes() -> None:
    numbers = macros(peers_inputs())
    assert numbers["PeersVersions"] == "scikit-learn~1.9.1, gensim~4.4.0 and tomotopy~0.14.0"
    assert (numbers["PeersMaxIter"], numbers["PeersPasses"], numbers["PeersSweeps"]) == ("10", "11", "1{,}200")
    most = max(truth(library, k) - reported(library, k) for library in LIBRARIES for k in TOPICS)
    assert numbers["PeersReportedOverTrueMost"] == large(math.exp(most))
    assert numbers["PeersLoose"].endswith("0.25 nats per token for gensim")  # a sampler's report is no bound
    assert numbers["PeersTrueApartMost"] == f"{math.exp(0.2):.2f}"
    apart = max(reported("tomotopy", k) - reported("scikit-learn", k) for k in TOPICS)
    assert numbers["PeersReportedApartMost"] == large(math.exp(apart))
    below = sum(2.0 ** -reported("gensim", k) < math.exp(-truth("gensim", k)) for k in TOPICS)
    assert 0 < below < len(TOPICS)
    assert numbers["PeersLogBelow"] == f"{2 * below} of {2 * len(TOPICS)}"
    assert numbers["PeersTomotopyBest"] == "6 of 6"


def test_the_message_is_that_of_the_first_corpus_at_the_most_topics() -> None:
    numbers = macros(optimism_inputs())
    assert numbers["MessageCorpus"] == "Cranfield"
    for name, nats in (("Factor", gap(FULL, max(TRUE_TOPICS))), ("FactorFitted", gap(FULL, max(TRUE_TOPICS)) - 0.1)):
        assert float(numbers[f"Message{name}"]) == pytest.approx(math.exp(nats), abs=0.05)  # of one split
    assert numbers["MessageTopics"] == str(max(TRUE_TOPICS))
    assert numbers["MessageTruthPrefers"] == "20"


def test_the_test_of_a_probability_gives_its_runs_and_extremes() -> None:
    numbers = macros(measured(is_a_probability({("truth", LAPLACE): 31.6})))
    assert numbers["ProbabilityLaplaceMost"] == "32"
    study = small_study()
    study["measures"]["is-a-probability"]["settings"] = {"samples": 100}
    numbers = macros(inputs(study))
    assert numbers["ProbabilityRuns"] == "5"


@pytest.mark.parametrize("which", ["none", "one", "no measurements"])
def test_macros_have_the_same_names_for_every_study(which: str) -> None:
    given = {
        "none": inputs(without("peers", "optimism")),
        "one": peers_inputs(("gensim",)),
        "no measurements": replace(peers_inputs(), measurements=None, notes=None),
    }[which]
    numbers = macros(given)
    assert numbers.keys() == macros(peers_inputs()).keys()
    assert (numbers["PeersVersions"] == "not run") == (which != "one")
    for name, value in numbers.items():
        assert re.fullmatch(r"\\newcommand\{\\[A-Za-z]+\}(\[1\])?\{.*\}", latex.macro(name, value))
