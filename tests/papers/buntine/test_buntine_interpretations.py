"""What Buntine leaves open: choices that are the study's, and effects measured on made-up rows."""

from collections.abc import Mapping

import made_measurements as made
from small_study import interpretations, small_study

from heldout.corpora.realistic import TEST_DOCUMENTS, TRAINING_DOCUMENTS
from heldout.evaluators import MEAN_FIELD_FIRST, PARTICLES, SEQUENTIAL
from heldout.papers.buntine.results import PUBLISHED


def row(lines: Mapping[str, str], part: str) -> str:
    """Return the line of the one question that has a part."""
    (line,) = (line for question, line in lines.items() if part in question)
    return line


def test_choices_are_those_of_the_study() -> None:
    measures = small_study()["measures"]
    measures["calibration"]["settings"] = {"alpha": 0.3, "tokens": made.TOKENS_OF_PAIR}
    measures["convergence-to-exact"]["settings"] = {"numbers_of_topics": [4, 5], "tokens": [14, 16]}
    measures["model-selection"]["settings"] |= {
        "training_documents": [30, 60],
        "some_samples": {SEQUENTIAL: 20},
    }
    measures["model-selection"]["train"] = {"chains": 4, "sweeps": 90, "alpha_sum": 20.0, "beta": 0.2}
    lines = interpretations(measures=measures)
    assert r"every \(\alpha_k\) is 0.3" in row(lines, "the prior \\(\\alpha")
    assert r"both: \(K\) of 4 and 5, with \(n\) of 14 and 16" in row(lines, "Figures 1 and 2")
    sizes = row(lines, "numbers of documents")
    assert "30 and 60 training documents, the last 10 held out, samples: 20 (LRS), not set (LR)" in sizes
    assert "what the study has time for" in sizes
    assert "90 sweeps" in row(lines, "vanilla")
    assert "fitted every not set sweeps, from a sum of 20 and from 0.2; 4 chains of" in row(lines, "vanilla")
    assert "28251 words" in row(lines, "news collection")
    assert "2{,}000 documents" in row(lines, "lengths")
    assert "a mean of 60" in row(lines, "lengths")
    # the published figure is put in, the harmonic mean's at the smallest gamma
    mean = float(PUBLISHED[0.2][0][0])
    unit = rf"ours \ensuremath{{-{-mean:.4f}}} bits per token, \ensuremath{{-{-mean * made.BITS:.2f}}}"
    assert unit in row(lines, "unit")


def test_the_sources_own_sizes_are_not_called_cut() -> None:
    study = small_study()
    study["measures"]["model-selection"]["settings"] |= {
        "training_documents": list(TRAINING_DOCUMENTS),
        "samples": {MEAN_FIELD_FIRST: 200},
        "some_samples": {SEQUENTIAL: 100, PARTICLES: 100},
    }
    realistic = {**study["realistic"], "test_documents": TEST_DOCUMENTS}
    lines = interpretations(measures=study["measures"], realistic=realistic)
    assert "as in the source" in row(lines, "numbers of documents")


def test_effects_are_those_of_the_measurements() -> None:
    measures = small_study()["measures"]
    measures["model-selection"]["settings"] |= {"some_samples": {SEQUENTIAL: 20}}
    lines = interpretations(measures=measures)
    means = r"\ensuremath{+0.0007}, \ensuremath{0.0000}, \ensuremath{+0.0046}, \ensuremath{+0.0051} bits per"
    assert means in row(lines, "LRS, 3.6")
    for name in ("LR, mean error", "no resampling, mean error"):
        assert name in row(lines, "LR, 3.5: sweeps")
    # the second run is off twice as far as the first, which is off by 0.4 nats over the root of the samples
    error = 0.4 / made.SAMPLES[-1] ** 0.5 * 2.5**0.5 / made.BITS
    last = f"LRS is {error:.4f} bits per token (r.m.s.) off after 10{{,}}000 samples"
    assert last in row(lines, "Figures 1 and 2")
    more = r"LRS, 200 samples: \ensuremath{+0.00020}; LRS, 20: \ensuremath{0.00000}; LR: "
    assert more in row(lines, "numbers of documents")
