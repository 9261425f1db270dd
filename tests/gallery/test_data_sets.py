"""The gallery's table of data sets: its sources are those that data/corpora.csv names; means over seeds beside it."""

import csv
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from artifact.contrasts.effect import NOT_RUN
from artifact.results.data_sets import DATA_SETS
from artifact.typesetting import over_seeds
from gallery.gaps import gaps
from heldout.corpora.names import ARCHIVES

ROOT = Path(__file__).parents[2]
SOURCED = {name for name, of in DATA_SETS.items() if of.source}
BIBLIOGRAPHY = (ROOT / "paper/references.bib").read_text()


def entry(key: str) -> str:
    return BIBLIOGRAPHY.partition(f"{{{key},")[2].partition("\n}")[0]


def test_every_corpus_of_the_gallery_is_described() -> None:
    study = yaml.safe_load((ROOT / "workflow/studies/gallery.yaml").read_text())
    assert set(study["corpora"]) == SOURCED
    assert DATA_SETS.keys() == ARCHIVES.keys()


# of UMLS, kinship and nations the register has Kemp et al., whose copies they are, of votes the archive alone
@pytest.mark.parametrize("name", sorted(SOURCED - {"votes"}))
def test_a_source_is_the_one_of_the_register(name: str) -> None:
    rows = list(csv.DictReader((ROOT / "data/corpora.csv").read_text().splitlines()))
    citations = " ".join(row["citation"] for row in rows if row["file"] == ARCHIVES[name][0])
    of = DATA_SETS[name]
    author = re.search(r"author\s*= \{(\S+?),", entry("kemp2006" if of.copy == "b" else of.source))
    assert author is not None
    found = author[1] in citations
    # newsgroups: the register names who divided the postings, the table who collected them
    assert found or (of.copy == "a" and "R package lda" in citations), (author[1], citations)


def test_a_mean_over_seeds_has_its_standard_error() -> None:
    assert over_seeds.signed([], 3) == over_seeds.decimal([], 3) == over_seeds.perplexity([]) == NOT_RUN
    assert over_seeds.signed([0.25], 3) == r"\ensuremath{+0.250}"
    assert over_seeds.signed([-0.1, -0.3], 2) == r"\ensuremath{-0.20}~\ensuremath{\pm}~0.10"
    assert over_seeds.decimal([1.0, 1.0], 1) == "1.0"
    assert over_seeds.decimal([1.0, 1.0004], 2) == r"1.0002~\ensuremath{\pm}~0.0002"  # decimals that show the error
    assert over_seeds.perplexity([-7.0, -7.02]) == r"1{,}108~\ensuremath{\pm}~11"


def test_gaps_are_of_the_seeds_that_have_both_scores() -> None:
    rows = [("usual", 0, -10.0), ("likelihood", 0, -12.0), ("usual", 1, -9.0), ("likelihood", 1, -10.0)]
    rows.append(("usual", 2, 1.0))
    scores = pd.DataFrame(rows, columns=["evaluator", "seed", "log_likelihood"]).assign(tokens=2, standard_error=0.0)
    assert gaps(scores, "usual") == [1.0, 0.5]
