"""The numbers of the text from made-up scores."""

import math
import re
from dataclasses import replace

import pytest
from made_measurements import TOPICS as TRUE_TOPICS
from made_measurements import gap, optimism_inputs
from made_peers import LIBRARIES, TOPICS, peers_inputs, reported
from small_study import inputs, without

from heldout.evaluators import FULL
from heldout.papers.likelihood.macros import macros
from heldout.typesetting import latex


def test_macros_give_versions_settings_and_extremes() -> None:
    numbers = macros(peers_inputs())
    assert numbers["IfPeers"] == "#1"
    assert numbers["PeersVersions"] == "scikit-learn~1.9.1, gensim~4.4.0 and tomotopy~0.14.0"
    assert (numbers["PeersMaxIter"], numbers["PeersPasses"], numbers["PeersSweeps"]) == ("10", "11", "1{,}200")
    assert numbers["PeersScikitLearnRatioLeast"] == f"{math.exp(0.4):.2f}"
    assert (numbers["PeersScikitLearnRatioMost"], numbers["PeersScikitLearnRatioMostTopics"]) == ("33.1", "160")
    assert (numbers["PeersGensimTermLeast"], numbers["PeersGensimTermMost"]) == ("0.10", "3.20")
    assert (numbers["PeersGensimLooseLeast"], numbers["PeersGensimLooseMost"]) == ("0.25", "0.25")
    assert (numbers["PeersTomotopyBest"], numbers["PeersGensimBest"]) == ("6 of 6", "0 of 6")
    assert numbers["PeersTruthApartMost"] == f"{math.exp(0.2):.2f}"
    widest = max(reported(a, k) - reported(b, k) for a in LIBRARIES for b in LIBRARIES for k in TOPICS)
    assert numbers["PeersReportedApartMost"] == f"{math.exp(widest):.1f}"


def test_the_message_is_that_of_the_first_corpus_at_the_most_topics() -> None:
    numbers = macros(optimism_inputs())
    assert numbers["MessageCorpus"] == "Cranfield"
    assert numbers["MessageFactor"] == f"{math.exp(gap(FULL, max(TRUE_TOPICS))):.1f}"
    assert numbers["MessageFewestFactor"] == f"{math.exp(gap(FULL, min(TRUE_TOPICS))):.2f}"
    assert numbers["MessageTopics"] == str(max(TRUE_TOPICS))


@pytest.mark.parametrize("which", ["none", "one", "no measurements"])
def test_macros_have_the_same_names_for_every_study(which: str) -> None:
    given = {
        "none": inputs(without("peers", "optimism")),
        "one": peers_inputs(("gensim",)),
        "no measurements": replace(peers_inputs(), measurements=None),
    }[which]
    numbers = macros(given)
    assert numbers.keys() == macros(peers_inputs()).keys()
    assert numbers["IfPeers"] == ("" if which == "none" else "#1")
    assert (numbers["PeersVersions"] == "not run") == (which != "one")
    for name, value in numbers.items():
        assert re.fullmatch(r"\\newcommand\{\\[A-Za-z]+\}(\[1\])?\{.*\}", latex.macro(name, value))
