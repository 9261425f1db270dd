import hashlib
import html
import itertools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import HOUR
from made_audit import HOSTILE, made_audit, made_ranking, with_likelihood, with_reported

from artifact.typesetting import style
from heldout.auditing import formats, svg
from heldout.auditing.audit import figures, wording
from heldout.auditing.audit.page import page
from heldout.auditing.audit.report import Audit
from heldout.auditing.audit.result import ProbabilityTest
from heldout.auditing.rank import figures as ranking_figures
from heldout.auditing.rank import wording as ranking_wording
from heldout.auditing.rank.page import page as ranking_page
from heldout.evaluators.is_probability import Excess

TESTED = {"full-folding-in": Excess(475.0), "likelihood": Excess(-20.0, 5.0), "reported": Excess(-57000.0)}
AUDIT = made_audit(60, probability=ProbabilityTest(32, 2317, False, TESTED))
RANKING = made_ranking()
VOID = {"meta", "br", "img", "link", "input", "hr", "base"}


class Page(HTMLParser):
    """A page taken apart; it refuses tags that do not close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text.replace("<wbr>", ""))  # where a long name may be broken: nothing to see
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    def of(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]


def shown(text: str) -> str:
    """Return a page's text as a reader sees it."""
    return " ".join(" ".join(Page(text).texts).replace("\xa0", " ").split())


@pytest.fixture(scope="module")
def text() -> str:
    return page(AUDIT)


@pytest.fixture(scope="module")
def ranked() -> str:
    return ranking_page(RANKING)


@pytest.mark.parametrize("which", ["text", "ranked"])
def test_a_page_needs_nothing_but_itself(which: str, request: pytest.FixtureRequest) -> None:
    text = request.getfixturevalue(which)
    parsed = Page(text)
    assert not {"script", "img", "link", "iframe", "object", "embed", "base", "form"} & {tag for tag, _ in parsed.tags}
    for _, attributes in parsed.tags:
        assert not [name for name in attributes if name.startswith("on")]
        assert all(attributes[name].startswith("#") for name in ("href", "xlink:href", "src") if name in attributes)
    assert not re.search(r"@import|url\((?!#)", text)
    policy = next(meta for meta in parsed.of("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"].startswith("default-src 'none'")


def test_the_page_can_be_read_by_a_program_that_reads_pages_aloud(text: str) -> None:
    parsed = Page(text)
    assert parsed.of("html") == [{"lang": "en"}]
    assert len(parsed.of("h1")) == len(parsed.of("main")) == len(parsed.of("title")) == 1
    assert all(th.get("scope") in {"col", "row"} for th in parsed.of("th"))
    assert len(parsed.of("caption")) >= 3
    images = [attributes for _, attributes in parsed.tags if attributes.get("role") == "img"]
    assert len(images) == len(parsed.of("svg")) == 2
    assert all(len(image["aria-label"]) > 40 for image in images)
    names = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(set(names)) == len(names)
    asked = re.findall(r'(?:href="#|url\(#)([^")]+)', text)
    assert asked
    assert set(asked) <= set(names)


def test_the_page_says_what_the_terminal_says(text: str) -> None:
    said = shown(text)
    for sentence in (
        wording.headline(AUDIT),
        *wording.reasons(AUDIT),
        wording.model_line(AUDIT),
        wording.note(AUDIT),
    ):
        assert sentence in said
    for table in wording.tables(AUDIT):
        for cell in (table.title, *(cell for row in table.rows for cell in row)):
            assert re.fullmatch(r"\S*e-?\d+", cell) or " ".join(cell.split()) in said
    for line in AUDIT.lines:
        assert wording.explanation(AUDIT, line) in said
    for term in AUDIT.reported.terms:
        assert term.name in said
    assert wording.command(AUDIT) in said
    assert "fold_in.tolerance" in said


def test_names_and_words_are_text(text: str) -> None:
    said = shown(text)
    for name in HOSTILE:
        cleaned = " ".join(formats.shorten(formats.clean(name), 80).split())
        assert cleaned in said
    text.encode()
    assert "\x1b" not in text


def test_the_page_of_a_ranking_says_what_the_terminal_says(ranked: str) -> None:
    said = shown(ranked)
    for sentence in (
        *(ranking_wording.headline(RANKING), ranking_wording.facts(RANKING)),
        *ranking_wording.reasons(RANKING),
        *map(ranking_wording.label, RANKING.ties),
    ):
        assert " ".join(sentence.split()) in said
    for row in ranking_wording.models(RANKING).rows:
        assert all(" ".join(cell.split()) in said for cell in row)
    assert len(Page(ranked).of("svg")) == 1
    assert "\x1b" not in ranked
    ranked.encode()


def outline(text: str) -> list[tuple[str, list[str]]]:
    """Return a page's tags and the names of their attributes."""
    return [(tag, sorted(attributes)) for tag, attributes in Page(text).tags]


TEXTS = st.text(st.characters(exclude_categories=()), max_size=60) | st.sampled_from(HOSTILE)


@settings(max_examples=40)
@given(texts=st.lists(TEXTS, min_size=7, max_size=7))
def test_no_text_from_a_file_becomes_markup(texts: list[str]) -> None:
    name, word, model, corpus, reason, setting, note = texts
    document = replace(AUDIT.most_different[0], name=name, words=(word, word))
    audit = replace(
        AUDIT, model=model, corpus=corpus, reason=f"r{reason}", settings={setting: note}, most_different=(document,)
    )
    with pytest.MonkeyPatch.context() as patch:  # the figures hold no text from files and take longest
        for figure in ("numbers", "by_length"):
            patch.setattr(figures, figure, lambda _: "")
        plain = replace(AUDIT, most_different=(replace(document, name="a", words=("b",)),), settings={"s": 0})
        assert outline(page(audit)) == outline(page(plain))


@settings(max_examples=40)
@given(texts=st.lists(TEXTS, min_size=7, max_size=7))
def test_no_text_of_a_ranking_becomes_markup(texts: list[str]) -> None:
    *names, corpus, function, setting, note = texts
    made = replace(made_ranking(tuple(names), corpus, function), note=f"n{note}", settings={f"s{setting}": note})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking_figures, "by_topics", lambda _: "<svg></svg>")
        plain = replace(made_ranking(("a", "b", "c")), note="note", settings={"s": 0})
        assert outline(ranking_page(made)) == outline(ranking_page(plain))


def test_an_interrupted_audit_says_so_first() -> None:
    body = page(made_audit(60, complete=False)).partition("<body>")[2].partition("</body>")[0]
    assert shown(body).startswith("INCOMPLETE: interrupted after ")
    assert "INCOMPLETE" not in page(AUDIT)


def test_the_same_audit_gives_the_same_bytes_and_only_a_page_costs_jinja_and_matplotlib(text: str) -> None:
    program = """
import hashlib, sys
import heldout.auditing.session
before = bool({"jinja2", "matplotlib", "pandas"} & sys.modules.keys())
import heldout.auditing.audit.page
from test_page import AUDIT
print(hashlib.sha256(heldout.auditing.audit.page.page(AUDIT).encode()).hexdigest(), before)
"""
    folders = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    other = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": folders},
        capture_output=True,
        text=True,
        check=True,
        timeout=HOUR,
    )
    assert other.stdout.split() == [hashlib.sha256(text.encode()).hexdigest(), "False"]


def test_ten_thousand_documents_stay_below_a_megabyte() -> None:
    large = page(made_audit(10_000))
    assert len(large.encode()) < 1_000_000
    points = re.findall(r'<use href="#lengths-[^"]*" x="[^"]*" y="[^"]*"', large)
    assert figures.MOST_POINTS <= len(points) <= figures.MOST_POINTS + 100  # and the medians, ticks and letters


@pytest.mark.parametrize("least", [1, 2, 3, 12, 400])
def test_thinning_keeps_the_order_the_ends_and_no_document_twice(least: int) -> None:
    lengths = np.random.default_rng(5).integers(1, 300, 400)
    for most in {least, max(least, 2)}:
        kept = figures.thinned(lengths, most)
        assert len(set(kept.tolist())) == len(kept) == min(most, 400)
        assert (np.diff(lengths[kept]) >= 0).all()
        if most > 1:
            assert (lengths[kept[0]], lengths[kept[-1]]) == (lengths.min(), lengths.max())


def test_differences_are_those_of_scored_documents() -> None:
    lengths = np.array([10, 0, 20, 5, 8])
    nats = {
        "likelihood": np.array([-80.0, 0.0, -100.0, -math.inf, math.nan]),
        "full-folding-in": np.array([-60.0, 0, -90, -1, -2]),
    }
    audit = replace(AUDIT, lengths=lengths, nats=nats)
    kept, gaps = figures.differences(audit, "full-folding-in")
    assert kept.tolist() == [10, 20]
    assert gaps.tolist() == pytest.approx([2.0, 0.5])
    assert len(figures.differences(audit, "mean-field-bound")[0]) == 0


def test_medians_are_those_of_groups_by_length() -> None:
    lengths = np.arange(1, 97)[::-1]
    x, y = figures.medians(lengths, np.multiply(2.0, lengths, dtype=np.float64))
    assert len(x) == figures.GROUPS
    assert x == [float(np.median(range(1 + 8 * g, 9 + 8 * g))) for g in range(12)]
    assert y == pytest.approx([2.0 * value for value in x])


@pytest.mark.parametrize(
    "audit",
    [
        pytest.param(with_reported(AUDIT, perplexity=math.inf, nats_per_token=-800.0), id="beyond-float"),
        pytest.param(with_likelihood(AUDIT, log_likelihood=-math.inf, standard_error=math.nan), id="impossible"),
        pytest.param(
            replace(
                AUDIT,
                documents=0,
                tokens=0,
                lines=tuple(replace(line, tokens=0, log_likelihood=0.0) for line in AUDIT.lines),
                lengths=np.zeros(0, np.int64),
                nats={name: np.zeros(0) for name in AUDIT.nats},
                errors={name: np.zeros(0) for name in AUDIT.errors},
                bias=np.zeros(0),
                most_different=(),
                complete=False,
            ),
            id="nothing-scored",
        ),
        pytest.param(made_audit(3), id="one-document"),
    ],
)
def test_odd_audits_make_whole_pages(audit: Audit) -> None:
    text = page(audit)
    assert wording.headline(audit) in shown(text)
    assert "nan" not in re.sub(r"<[^>]*>", "", text).lower().split()
    assert not re.search(r'[ "](nan|inf)[ ";]', text)


def schemes(text: str) -> dict[str, dict[str, str]]:
    """Return the colours of every scheme by name."""
    rules = {
        "light": text,
        "dark": text[text.index("prefers-color-scheme: dark") :],
        "print": text[text.index("@media print") :],
    }
    return {
        name: dict(re.findall(r"--(\w+): (#\w{6})", rule[rule.index(":root {") :].partition("}")[0]))
        for name, rule in rules.items()
    }


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_text_has_contrast_in_every_scheme(scheme: str, text: str) -> None:
    colours = schemes(text)[scheme]
    for name, least in (("ink", 7.0), ("soft", 4.5), ("alarm", 4.5)):
        for ground in ("page", "panel"):
            low, high = sorted((luminance(colours[name]), luminance(colours[ground])))
            assert (high + 0.05) / (low + 0.05) >= least, (name, ground)


def test_series_stand_out_from_a_dark_page(text: str) -> None:
    """By 3 to 1, as WCAG 2.2 asks of graphics; the figures name no colour that has no lighter one."""
    dark = luminance(schemes(text)["dark"]["page"]) + 0.05
    lighter = dict(svg.lighter_colours())
    assert all((luminance(colour) + 0.05) / dark >= 3.0 for colour in lighter.values())
    for colour in {*style.EVALUATOR_COLOURS.values(), svg.colour_of("reported")}:
        name = svg.in_page(colour).removeprefix("var(").partition(",")[0]
        assert name in lighter or colour == style.EVALUATOR_COLOURS["truth"]
        assert name not in lighter or f"{name}: {lighter[name]};" in text


def test_labels_of_numbers_of_topics_do_not_touch() -> None:
    assert ranking_figures._spread_out([20, 10, 20]) == [10, 20]
    assert ranking_figures._spread_out([7]) == [7]
    kept = ranking_figures._spread_out([*range(10, 101, 10)])
    assert kept[0] == 10
    assert min(math.log(b / a) for a, b in itertools.pairwise(kept)) >= 0.12 * math.log(10.0)


WIDTHS = (320, 390, 768, 1280)
_LOOK = """
addEventListener("load", () => {
  const sizes = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, root = page.documentElement;
    const all = (name) => [...page.querySelectorAll(name)];
    const seen = (element) => frame.contentWindow.getComputedStyle(element).display !== "none";
    const cut = (element) => element.scrollWidth > element.clientWidth + 1;
    sizes[frame.width] = {
      overflow: root.scrollWidth - root.clientWidth, title: page.title, scripts: all("script").length,
      images: all("img").length, handlers: all("[onerror]").length, headings: all("h2").length,
      cut: all(".number").filter((cell) => seen(cell) && cut(cell)).length,
      wide: all(".wide").filter(seen).length, rows: all("table tbody tr").length,
      edges: all("table").map((table) => table.getBoundingClientRect().right - root.clientWidth),
      figures: all("svg").map((svg) => [svg.getBoundingClientRect().width, svg.getBoundingClientRect().height]),
    };
  }
  document.body.textContent = "FOUND" + encodeURIComponent(JSON.stringify(sizes)) + "FOUND";
});
"""


@pytest.fixture(scope="module")
def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    pytest.skip("no Chromium here: the page is not looked at (on Debian: apt install chromium)")


def browse(chromium: str, folder: Path, address: Path, *options: str) -> str:
    """Run a headless Chromium on a file, alone with a profile of its own; return what it prints."""
    command = [
        *(chromium, "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions"),
        *(f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=3000", *options),
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        address.as_uri(),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder, start_new_session=True, text=True
    ) as process:
        try:
            printed, _ = process.communicate(timeout=HOUR)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its helpers too
            raise
    assert process.returncode == 0
    return printed


@pytest.mark.parametrize("which", ["text", "ranked"])
def test_a_browser_shows_all_of_it_at_every_width(
    chromium: str, tmp_path: Path, which: str, request: pytest.FixtureRequest
) -> None:
    text = request.getfixturevalue(which)
    frames = "".join(f'<iframe width="{width}" height="800" srcdoc="{html.escape(text)}"></iframe>' for width in WIDTHS)
    wrapper = tmp_path / "wrapper.html"
    wrapper.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body>{frames}<script>{_LOOK}</script>', encoding="utf-8")
    printed = browse(chromium, tmp_path, wrapper, "--dump-dom")

    sizes: dict[str, dict[str, Any]] = json.loads(unquote(printed.split("FOUND")[-2]))
    assert sorted(sizes, key=int) == [str(width) for width in WIDTHS]
    title, headings, tables = {
        "text": (f"Audit: {wording.model_line(AUDIT)}", 9, 6),
        "ranked": ("Ranking: 8 models on test", 2, 2),
    }[which]
    for width, seen in sizes.items():
        assert seen["overflow"] <= 0, width
        assert seen["cut"] == 0, width
        assert seen["title"] == title
        assert (seen["scripts"], seen["images"], seen["handlers"]) == (0, 0, 0)
        assert seen["headings"] == headings
        assert seen["rows"] == len(Page(text).of("tr")) - tables  # the rows of heads
        assert max(seen["edges"]) <= 0, width
        assert (seen["wide"] > 0) is (int(width) > 640)
        for across, down in seen["figures"]:
            assert 250 < across <= int(width)
            assert 120 < down < 1.3 * across


def test_a_browser_paints_it_in_either_scheme(chromium: str, tmp_path: Path, text: str) -> None:
    from matplotlib.image import imread

    sizes = {"light": 1280, "dark": 390}
    frames = "".join(
        f'<iframe style="border: 0; color-scheme: {scheme}" width="{width}" height="900" srcdoc="{html.escape(text)}">'
        "</iframe>"
        for scheme, width in sizes.items()
    )
    (tmp_path / "both.html").write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><body style="margin: 0; display: flex">{frames}', encoding="utf-8"
    )
    browse(
        *(chromium, tmp_path, tmp_path / "both.html", f"--window-size={sum(sizes.values())},900"),
        *(f"--screenshot={tmp_path / 'seen.png'}", "--blink-settings=preferredColorScheme=1"),
    )
    assert (tmp_path / "seen.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    seen = (imread(tmp_path / "seen.png")[:, :, :3] * 255.0).round().astype(int)
    assert seen.shape == (900, sum(sizes.values()), 3)
    for scheme, part in zip(sizes, np.split(seen, [sizes["light"]], axis=1), strict=True):
        colour = schemes(text)[scheme]["page"]
        ground = tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))
        assert tuple(part[2, 2]) == ground, scheme
        painted = (np.abs(part - np.array(ground)).max(axis=2) > 40).mean()
        assert 0.01 < painted < 0.5  # text and figures, neither an empty page nor a filled one
        assert len(np.unique(part.reshape(-1, 3), axis=0)) > 50
