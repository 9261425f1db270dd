"""The page docs/folded-in.md: its script, by Node and in a browser, beside the library; the numbers of its prose."""

import html
import itertools
import json
import math
import re
import shutil
import subprocess
import sys
from decimal import Decimal, localcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heldout.evaluators.excess import largest_excess
from heldout.evaluators.expected_excess import expected_excess

DOCS = Path(__file__).parents[1] / "docs"
SCRIPT = DOCS / "static" / "folded-in.js"
PAGE = (DOCS / "folded-in.md").read_text(encoding="utf-8")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
EXAMPLE = dict(re.findall(r'name="(\w+)"[^>]*value="(\w+)"', PAGE))
CONF = """\
extensions, myst_enable_extensions, myst_heading_anchors = ["myst_parser"], ["colon_fence", "deflist"], 3
html_theme, html_static_path, root_doc = "furo", ["static"], "folded-in"
"""
FRAME = """<!DOCTYPE html><iframe id="f" src="site/folded-in.html" width="{width}" onload="go()"></iframe><script>
function go() {{
  const d = document.getElementById("f").contentDocument, page = d.getElementById("folded-in")
  const seen = () => ({{
    line: page.querySelector(".line").textContent,
    note: page.querySelector(".note").offsetHeight > 0,
    table: page.querySelector("table").offsetHeight > 0,
    wrong: [...page.querySelectorAll("[aria-invalid]")].map(input => input.name),
    cells: [...page.querySelectorAll("tbody tr")].map(row => [...row.cells].slice(1).map(cell => cell.textContent)),
  }})
  const answers = [seen()]
  for (const values of {cases}) {{
    for (const [name, value] of Object.entries(values)) page.elements[name].value = value
    page.elements.alpha.dispatchEvent(new d.defaultView.Event("input", {{ bubbles: true }}))
    answers.push(seen())
  }}
  document.title = JSON.stringify([d.documentElement.scrollWidth, answers])
  console.log("the console is read")
}}</script>"""
BAD = [  # what is typed into which field, and the numbers or words that the line has
    ("perplexity", "", "from 1 to 1000000"),
    ("perplexity", "0.9", "not 0.9"),
    ("perplexity", "1,183", "not 1,183"),
    ("perplexity", "<b>x</b>", "not <b>x</b>"),
    ("tokens", "0", "from 1 to 100000"),
    ("tokens", "1e6", "not 1e6"),
    ("tokens", "-83", "not -83"),
    ("topics", "2.5", "whole"),
    ("topics", "Infinity", "not Infinity"),
    ("topics", "0x10", "not 0x10"),
    ("alpha", "0", "from 0.001 to 1000"),
    ("alpha", "NaN", "not NaN"),
]


def node(code: str) -> Any:
    """What an expression over the script's functions, `m`, is."""
    program = shutil.which("node") or shutil.which("nodejs")
    if program is None:
        pytest.skip("no Node here: the page's script is not run by it")
    line = f"const m = require({json.dumps(str(SCRIPT))}); console.log(JSON.stringify({code}))"
    return json.loads(subprocess.run([program, "-"], input=line, capture_output=True, text=True, check=True).stdout)


@cache
def at_mean(excess: Any, n: float, K: int, alpha: float) -> float:
    ends = np.array([math.floor(n), math.ceil(n)])
    return float(np.interp(n, ends, excess(ends, np.full(K, alpha))))


def four_digits(value: float) -> str:
    return f"{float(f'{value:.4g}'):,.15g}"


def assert_shown(text: str, value: float) -> None:
    """The text is the value, rounded to four digits."""
    digit = 10.0 ** (math.floor(math.log10(value)) - 3) if value > 1e-9 else 0.0  # nought is rounded in the library
    assert abs(float(text.replace(",", "")) - value) <= 0.5 * digit * (1.0 + 1e-6) + 1e-9, (text, value)


def slow_law(n: int, K: int, alpha: float) -> float:
    """The law with fifty digits, its terms as `expected_excess` states them."""
    with localcontext(prec=50):
        a, A = Decimal(alpha), K * Decimal(alpha)
        total = sum(((A + i).ln() for i in range(n)), Decimal(0))
        p = math.prod(((A - a + i) / (A + i) for i in range(n)), start=Decimal(1))
        rising = Decimal(0)
        for N in range(1, n + 1):
            p *= Decimal(n - N + 1) / N * (a + N - 1) / (A - a + n - N)
            rising += (a + N - 1).ln()
            total += K * p * (N * (Decimal(N) / n).ln() - rising)
        return float(total)


def test_the_script_gives_the_excesses_of_the_library() -> None:
    grid = [
        (n, K, alpha)
        for n in (1, 2, 17, 83, 400)
        for K in (1, 2, 20, 100, 2000)
        for alpha in (0.001, 0.1, 0.3, 1 / 3, 0.34, 0.4, 0.45, 0.4999, 0.5, 1.0, 3.0, 1000.0)
    ]
    grid += [(2000, 50, 0.4), (3000, 20, 0.1), (100000, 100, 1.0), (50, 100000, 1.0)]
    found = node(f"{json.dumps(grid)}.map(c => [m.largestExcess(...c), m.expectedExcess(...c)])")
    for (n, K, alpha), (largest, law) in zip(grid, found, strict=True):
        lengths, prior = np.array([n]), np.full(K, alpha)
        rounding = 3e-6 + 3e-14 * n**2  # of the library's sums of gammaln, the more the longer and the denser
        assert largest == pytest.approx(largest_excess(lengths, prior)[0], rel=1e-10, abs=rounding), (n, K, alpha)
        assert law == pytest.approx(expected_excess(lengths, prior)[0], rel=1e-10, abs=rounding), (n, K, alpha)


def test_the_script_rounds_hardly_at_all() -> None:
    grid = [(2, 2000, 1000.0), (83, 100, 1.0), (200, 2000, 0.001), (400, 20, 1000.0), (400, 2, 0.4)]
    found = node(f"{json.dumps(grid)}.map(c => m.expectedExcess(...c))")
    assert found == pytest.approx([slow_law(*cell) for cell in grid], rel=1e-11)
    flat = [(n, K, 1.0) for n in (1, 83, 5000) for K in (2, 100, 5000)]
    found = node(f"{json.dumps(flat)}.map(c => m.largestExcess(...c))")
    assert found == pytest.approx([math.log(math.comb(n + K - 1, n)) for n, K, _ in flat], rel=1e-12)


def test_the_script_knows_for_which_priors_the_largest_excess_is_concave() -> None:
    alphas = (0.001, 0.01, 0.02, 0.1, 0.2, 0.3, 1 / 3, 0.35, 0.4, 0.5, 1.0, 10.0)
    priors = list(itertools.product((2, 3, 20, 100), alphas))
    concave = node(f"{json.dumps(priors)}.map(prior => m.isConcave(...prior))")
    for (K, alpha), stated in zip(priors, concave, strict=True):
        bends = np.diff(largest_excess(np.arange(400), np.full(K, alpha)), 2)
        assert stated == (bends.max() < 1e-9), (K, alpha, bends.max())


@pytest.mark.parametrize("K", [2, 3, 5, 20, 100])
def test_the_law_is_concave_where_the_page_says_so(K: int) -> None:
    for alpha in (0.001, 0.1, 0.4, 1.0, 2.0, 3.0):
        assert np.diff(expected_excess(np.arange(400), np.full(K, alpha)), 2).max() < 1e-9
    assert np.diff(expected_excess(np.arange(400), np.full(K, 10.0)), 2).max() > 1e-6


def test_fields_read_numbers_and_nothing_else() -> None:
    good = [("perplexity", " 502.5 "), ("tokens", "83."), ("topics", "1e2"), ("alpha", ".5"), ("alpha", " ")]
    assert node(f"{json.dumps(good)}.map(c => m.read(...c))") == [502.5, 83, 100, 0.5, 1]
    typed = json.dumps([case[:2] for case in BAD])
    lines = node(f"{typed}.map(c => {{ try {{ return m.read(...c) }} catch (e) {{ return e.name + e.message }} }})")
    for line, (_, _, words) in zip(lines, BAD, strict=True):
        assert line.startswith("RangeError")
        assert words in line
        assert "\n" not in line


def test_every_number_of_the_prose_is_computed() -> None:
    P, n, K, alpha = (float(EXAMPLE[name]) for name in ("perplexity", "tokens", "topics", "alpha"))
    numbers = [four_digits(value) for value in (P, n, K)]
    for excess in (largest_excess, expected_excess):
        nats = at_mean(excess, n, int(K), alpha)
        numbers += [four_digits(value) for value in (nats, nats / n, P * math.exp(nats / n))]
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    values: dict[str, Any] = {}
    exec(code, values)
    assert (values["perplexity"], values["lengths"].mean(), len(values["alpha"])) == (P, n, K)
    at_mean_length = P * math.exp(at_mean(largest_excess, n, int(K), alpha) / n)
    assert values["perplexity"] < values["expected"] < values["at_most"] < at_mean_length
    numbers += [*map(str, values["lengths"]), four_digits(values["expected"])]
    prose = re.sub(r":::.*?:::|```.*?```", "", PAGE, flags=re.DOTALL)
    # theorem 1 and the binomial coefficient's 1; the alpha of 1/3, 1/2 and 3 that the tests above are about
    assert set(re.findall(r"\d(?:[\d,]*\d)?(?:\.\d+)?", prose)) == {*numbers, "1", "2", "3"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page and the one below it, as Sphinx builds them."""
    folder = tmp_path_factory.mktemp("docs")
    for name in ("folded-in.md", "law.md"):
        shutil.copy(DOCS / name, folder)
    shutil.copytree(DOCS / "static", folder / "static")
    (folder / "conf.py").write_text(CONF)
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", "-b", "html", ".", "site"]
    subprocess.run(command, cwd=folder, check=True)
    return folder


@pytest.mark.long
@pytest.mark.parametrize("width", [360, 1280])
def test_a_browser_shows_the_numbers_of_the_library(width: int, site: Path, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no Chromium here: the page is not looked at")
    perplexities, lengths = ("1", "502", "12345.678"), ("1", "83", "83.5", "2000")
    grid = list(itertools.product(perplexities, lengths, ("1", "20", "800"), ("", ".1", "0.4", "0.5", "5")))
    grid += [("1e6", "1", "800", ""), ("1", "99999.5", "100000", "1000"), ("502", "83", "3", "0.01")]
    names = ("perplexity", "tokens", "topics", "alpha")
    cases: list[dict[str, str]] = [dict(zip(names, values, strict=True)) for values in grid]
    cases += [EXAMPLE | {name: typed} for name, typed, _ in BAD]
    cases += [EXAMPLE | {"tokens": "2001", "alpha": "0.4"}, EXAMPLE]
    (site / "frame.html").write_text(FRAME.format(width=width, cases=json.dumps(cases)), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom"]
    options += ["--enable-logging=stderr", f"--user-data-dir={tmp_path}"]
    command = [browser, *options, (site / "frame.html").as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    console = re.findall(r"CONSOLE.*", run.stderr)
    assert len(console) == 1, console
    assert "the console is read" in console[0]
    titles = re.findall(r"<title>(.*?)</title>", run.stdout, re.DOTALL)
    assert titles, run.stdout
    wide, answers = json.loads(html.unescape(titles[0]))
    assert wide <= width
    first, *answers = answers
    assert first == answers[-1]  # the example, before anything is typed and after everything was
    for values, seen in zip([*grid, tuple(EXAMPLE.values())], [*answers[: len(grid)], first], strict=True):
        P, n, K, alpha = float(values[0]), float(values[1]), int(values[2]), float(values[3] or 1.0)
        assert seen["table"]
        assert not seen["wrong"]
        assert seen["note"] == (alpha in (0.4, 0.01) and K > 1)
        folded, *rows = seen["cells"]
        assert_shown(folded[0], P)
        for excess, (perplexity, document, token) in zip((expected_excess, largest_excess), rows, strict=True):
            nats = at_mean(excess, n, K, alpha)
            for text, value in ((perplexity, P * math.exp(nats / n)), (document, nats), (token, nats / n)):
                assert_shown(text, value)
        assert seen["line"].count(folded[0]) >= 1
        assert all(row[0] in seen["line"] for row in rows)
    bad = answers[len(grid) : -1]
    for (name, _, words), seen in zip([*BAD, ("tokens", "", "2000")], bad, strict=True):
        assert seen["wrong"] == [name]
        assert words in seen["line"]
        assert not seen["table"]
        assert not seen["note"]
