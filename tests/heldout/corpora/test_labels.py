"""Labels of documents: read, carried through splits, and as indicators."""

import numpy as np
import pytest
from tiny_archives import Mirror

from heldout.corpora.corpus import Corpus
from heldout.corpora.labels import frequent_labels, indicators, labels_of, topics_of_stories
from heldout.corpora.prepare import prepare
from heldout.corpora.split import train_test_split
from heldout.errors import InputError

STORY = '<REUTERS NEWID="{}">\n<TOPICS>{}</TOPICS><PLACES><D>usa</D></PLACES><BODY>{}</BODY></REUTERS>\n'


def stories(*rows: tuple[int, str, str]) -> bytes:
    return "".join(
        STORY.format(n, "".join(f"<D>{topic}</D>" for topic in topics.split()), body) for n, topics, body in rows
    ).encode()


def test_reuters_topics_are_the_labels_and_stories_without_one_are_left_out(tmp_path: object) -> None:
    mirror = Mirror(tmp_path)  # type: ignore[arg-type]
    body = "Wheat rose."
    rows = [(n, "wheat grain wheat" if n % 2 else "", body) for n in range(1, 13)]
    mirror.add("reuters21578.tar.gz", {"reut2-000.sgm": stories(*rows), "reut2-001.sgm": stories((13, "oat", "Wheat"))})
    corpus = prepare("reuters-topics", mirror.folder, mirror.table)
    assert corpus.documents == ("1", "3", "5", "7", "9", "11", "13")
    assert labels_of(corpus) == [("grain", "wheat")] * 6 + [("oat",)]
    assert frequent_labels(corpus, 2) == ("grain", "wheat")
    training, test = train_test_split(corpus, 3, seed=0)
    both = {name: own for half in (training, test) for name, own in zip(half.documents, labels_of(half), strict=True)}
    assert both == dict(zip(corpus.documents, labels_of(corpus), strict=True))


def test_nips_volumes_are_labels_of_all_papers(tmp_path: object) -> None:
    mirror = Mirror(tmp_path)  # type: ignore[arg-type]
    papers = {f"nipstxt/nips{p // 100:02d}/{p % 100:04d}.txt": b"neural" for p in range(210)}
    mirror.add("nips12raw_str602.tgz", papers)
    corpus = prepare("nips-volumes", mirror.folder, mirror.table)
    assert corpus.n_documents == 210
    assert frequent_labels(corpus, 11) == ("nips00", "nips01")
    assert np.array_equal(indicators(corpus, ["nips00", "nips02"]).sum(axis=0), [100.0, 10.0])


def test_what_has_no_labels_is_refused() -> None:
    with pytest.raises(InputError, match=r"story 1: .*NEWID"):
        topics_of_stories({"f": b'<REUTERS NEWID="1"><BODY>x</BODY></REUTERS>'})
    with pytest.raises(InputError, match=r"document a .*labels"):
        labels_of(Corpus.from_documents("c", [("a", ["x"])]))
