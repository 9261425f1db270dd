"""Pages of audits and rankings: their numbers, figures and escaped names; and the arithmetic of the figures."""

import base64
import itertools
import math
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_audit import HOSTILE, made_audit, made_ranking, with_likelihood, with_reported

from heldout.auditing import formats
from heldout.auditing.audit import figures, wording
from heldout.auditing.audit.result import ProbabilityTest
from heldout.auditing.rank import figures as ranking_figures
from heldout.auditing.rank import wording as ranking_wording
from heldout.evaluators.is_probability import Excess

TESTED = {"full-folding-in": Excess(475.0), "likelihood": Excess(-20.0, 5.0), "reported": Excess(-57000.0)}
AUDIT = made_audit(60, probability=ProbabilityTest(32, 2317, False, TESTED))
RANKING = made_ranking()


class Page(HTMLParser):
    """A page's tags and attributes, and its text; tags that do not close are refused."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self.open += [tag] if tag not in ("meta", "img") else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def figures(self) -> list[str]:
        start = "data:image/svg+xml;base64,"
        sources = [attributes["src"] for tag, attributes in self.tags if tag == "img"]
        return [base64.b64decode(source.removeprefix(start), validate=True).decode() for source in sources]


@cache
def page_of(name: str) -> Page:
    return Page(AUDIT.to_html() if name == "audit" else RANKING.to_html())


@pytest.mark.parametrize(("name", "number"), [("audit", 2), ("ranking", 1)])
def test_a_page_needs_nothing_but_itself_and_has_its_figures(name: str, number: int) -> None:
    page = page_of(name)
    layout = {"html", "head", "meta", "title", "style", "body", "h1", "p", "pre", "span", "div"}
    assert {tag for tag, _ in page.tags} == layout | {"figure", "img", "figcaption"}
    assert not {key for _, attributes in page.tags for key in attributes if key.startswith("on") or key == "href"}
    assert len(page.figures()) == number
    assert all(figure.rstrip().endswith("</svg>") for figure in page.figures())
    assert all(len(attributes["alt"]) > 40 for tag, attributes in page.tags if tag == "img")


def test_pages_have_the_numbers_names_and_settings() -> None:
    tables = {"audit": wording.tables(AUDIT), "ranking": [ranking_wording.models(RANKING)]}
    for name, made in tables.items():
        for table in made:
            numbers = [at for at, column in enumerate(table.columns) if column.number]
            assert all(row[at] in page_of(name).text for row in table.rows for at in numbers)
            assert table.caption in page_of(name).text
    for name in HOSTILE:
        assert formats.shorten(formats.clean(name), 40)[:15] in page_of("audit").text
    assert "fold_in.tolerance: 1e-06" in page_of("audit").text
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", page_of("audit").text + page_of("ranking").text)


TEXTS = st.text(st.characters(exclude_categories=()), max_size=60) | st.sampled_from(HOSTILE)


@settings(max_examples=30)
@given(texts=st.lists(TEXTS, min_size=6, max_size=6))
def test_no_text_from_a_file_becomes_markup(texts: list[str]) -> None:
    name, word, model, corpus, setting, function = texts
    document = replace(AUDIT.most_different[0], name=name, words=(word, word))
    audit = replace(AUDIT, model=model, corpus=corpus, settings={setting: word}, most_different=(document,))
    ranking = made_ranking((name, word, model), corpus, function)
    with pytest.MonkeyPatch.context() as patch:  # drawing takes longest
        for module, figure in ((figures, "numbers"), (figures, "by_length"), (ranking_figures, "by_topics")):
            patch.setattr(module, figure, lambda _: "")
        for text in (audit.to_html(), ranking.to_html()):
            page = Page(text.encode().decode())
            assert {tag for tag, _ in page.tags} <= {tag for tag, _ in page_of("audit").tags}


def test_the_same_result_gives_the_same_bytes_and_only_a_page_costs_matplotlib(tmp_path: Path) -> None:
    program = """
import sys
from made_audit import made_audit, made_ranking
before = {"matplotlib", "pandas"} & sys.modules.keys()
open(sys.argv[1], "w").write(made_audit(60).to_html() + made_ranking().to_html() + str(before))
"""
    folders = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": folders}
    subprocess.run([sys.executable, "-c", program, tmp_path / "page"], env=environment, check=True)
    assert (tmp_path / "page").read_text() == made_audit(60).to_html() + RANKING.to_html() + "set()"


@pytest.mark.parametrize(
    "audit",
    [
        pytest.param(with_reported(AUDIT, perplexity=math.inf, nats_per_token=-800.0), id="beyond-float"),
        pytest.param(with_likelihood(AUDIT, log_likelihood=-math.inf, standard_error=math.nan), id="impossible"),
        pytest.param(with_likelihood(made_audit(3), tokens=0), id="nothing-scored"),
        pytest.param(made_audit(3), id="one-document"),
    ],
)
def test_odd_audits_make_whole_pages(audit: Any) -> None:
    text = Page(audit.to_html()).text
    assert wording.headline(audit) in text
    assert not re.search(r"\b(nan|inf)\b", text)


def test_ten_thousand_documents_stay_below_a_megabyte() -> None:
    large = made_audit(10_000).to_html()
    assert len(large.encode()) < 1_000_000
    points = re.findall(r"<use xlink:href", Page(large).figures()[1])
    assert figures.MOST_POINTS <= len(points) <= figures.MOST_POINTS + 200  # and the medians, ticks and letters


@pytest.mark.parametrize("most", [1, 2, 3, 12, 400])
def test_thinning_keeps_the_order_the_ends_and_no_document_twice(most: int) -> None:
    lengths = np.random.default_rng(5).integers(1, 300, 400)
    kept = figures.thinned(lengths, most)
    assert len(set(kept.tolist())) == len(kept) == most
    assert (np.diff(lengths[kept]) >= 0).all()
    assert lengths[kept[0]] == lengths.min()
    assert most == 1 or lengths[kept[-1]] == lengths.max()


def test_differences_and_medians_are_of_scored_documents() -> None:
    lengths = np.array([10, 0, 20, 5, 8])
    likelihood = np.array([-80.0, 0.0, -100.0, -math.inf, math.nan])
    nats = {"likelihood": likelihood, "full-folding-in": np.array([-60.0, 0.0, -90.0, -1.0, -2.0])}
    kept, gaps = figures.differences(replace(AUDIT, lengths=lengths, nats=nats), "full-folding-in")
    assert (kept.tolist(), gaps.tolist()) == ([10, 20], pytest.approx([2.0, 0.5]))
    lengths = np.arange(1, 97)[::-1]
    x, y = figures.medians(lengths, np.multiply(2.0, lengths, dtype=np.float64))
    assert x == [float(np.median(range(1 + 8 * g, 9 + 8 * g))) for g in range(figures.GROUPS)]
    assert y == pytest.approx([2.0 * value for value in x])


def test_labels_of_numbers_of_topics_do_not_touch() -> None:
    assert ranking_figures.spread_out([20, 10, 20]) == [10, 20]
    kept = ranking_figures.spread_out([*range(10, 101, 10)])
    assert min(math.log(b / a) for a, b in itertools.pairwise(kept)) >= 0.12 * math.log(10.0)


def test_a_browser_shows_a_page_no_wider_than_its_window(tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium here: the page is not looked at")
    (tmp_path / "page.html").write_text(AUDIT.to_html(), encoding="utf-8")
    loaded = "[...d.images].every(i => i.naturalWidth > 0)"
    script = f"const d = f.contentDocument; document.title = [d.documentElement.scrollWidth, d.title, {loaded}].join()"
    frame = f'<!DOCTYPE html><iframe id="f" src="page.html" width="360" onload="{script}"></iframe>'
    (tmp_path / "frame.html").write_text(frame, encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom")
    command = [browser, *options, f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "frame.html").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    seen = re.search(r"<title>(\d+),(.*),true</title>", shown)
    assert seen is not None, shown
    assert int(seen[1]) <= 360
    assert seen[2] == f"Audit: {wording.model_line(AUDIT)}"
