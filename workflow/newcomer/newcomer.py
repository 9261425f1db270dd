"""Go the way of a newcomer: `make newcomer`, as `.ci/run` does.

usage: newcomer.py [FOLDER]   (default: a temporary folder, which is removed)

Of what `git archive HEAD` holds, a wheel is built, checked for the index, and installed with its extras in a fresh
environment, outside the checkout. There the Python of docs/api.md runs as a script, in pieces at a prompt, and is
checked by `mypy --strict`; the metric of docs/libraries.md scores a model; the commands of README and docs/command.md
run as they stand; a notebook is executed by nbclient; and the pages are opened in Chromium at two widths, which is
skipped with a notice where it is not. Only the standard library is used here.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COMMANDS = [  # of README and of the command's page
    line
    for page in ("README.md", "docs/command.md")
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines()
    if re.match(r"heldout (audit|rank|choose) ", line)
]
PYTHON = re.findall(r"```python\n(.*?)```", (ROOT / "docs/api.md").read_text(encoding="utf-8"), re.DOTALL)
METRIC = re.compile(r"### OCTIS\n.*?```python\n(.*?)\nmetric = ", re.DOTALL)  # the recipe's class
SCORED = """
from types import SimpleNamespace

trained = HeldOutLikelihood(SimpleNamespace(trained_model=lda_of_gensim), lists)
assert trained.score({}) == heldout.log_likelihood(lda_of_gensim, lists)
"""
STAND_IN = """
import sys
from types import ModuleType

for name in ("octis", "octis.evaluation_metrics", "octis.evaluation_metrics.metrics"):
    sys.modules[name] = ModuleType(name)
sys.modules[name].AbstractMetric = object
"""
WIDTHS = (1280, 360)  # of a page, pixels: a desktop's and a telephone's
HOUR = 3600  # seconds that a command may take
RESULT = "the likelihood gives these"
FIRST = 8  # seconds from the first command to its first result, asked for
CHOSEN = 120  # seconds on two cores from 100 texts to their number of topics, asked for, most of it fits
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
TOOLS = ("pandas", "nbclient", "ipykernel", "mypy")  # what a newcomer has
NOTEBOOK = [  # cells, and what their output has to hold
    ("from models import *\nimport heldout", ""),
    ("audit = heldout.audit(model, counts)", "likelihood: reference"),
    ("audit", "perplexity"),
    ("audit.to_frame('topics')", "exclusivity"),
    ("audit.plot()", "image/png"),
    ("ranking = heldout.rank([lda10, lda20, lda50], counts, n_jobs=2)\nranking", "perplexity"),
    ("choice = heldout.choose(pipeline, texts, topics=[5, 10], folds=3)\nchoice", "perplexity"),
    ("choice.plot()", "image/png"),
]
REPL = """
import heldout
from models import *
audit = heldout.audit(model, counts)
audit
heldout.rank([lda10, lda20], counts, n_jobs=2)
"""
FRAME = """<!doctype html><iframe src="{page}" style="border:0;width:{width}px;height:20000px"></iframe><script>
onload = () => {{
  const page = document.querySelector("iframe").contentDocument
  const text = [...page.querySelectorAll("h1, pre")].filter(element => element.offsetHeight).length
  document.title = `${{page.documentElement.scrollWidth}} wide, ${{text}} shown, ${{page.images.length}} images`
}}</script>"""


class StumbleError(Exception):
    """What a newcomer would have stumbled over."""


class Newcomer:
    """A folder with a fresh environment, and what is done in it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.began = folder, time.monotonic()
        self.programs = folder / "venv" / "bin"
        kept = ("PATH", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "LANG")
        pip = {
            name: value for name, value in os.environ.items() if name.startswith(("PIP_", "http", "https", "no_pro"))
        }
        self.environment = {name: os.environ[name] for name in kept if name in os.environ} | pip
        self.environment |= {"MPLBACKEND": "Agg", "XDG_CACHE_HOME": str(folder / "cache"), "PIP_NO_INPUT": "1"}
        # home is a fresh one; pip's cache of downloads alone is this machine's
        cache = os.environ.get("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip"))
        self.environment["PATH"] = f"{self.programs}{os.pathsep}{self.environment['PATH']}"
        self.environment |= {"HOME": str(folder), "PIP_CACHE_DIR": cache, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def run(self, *command: str | Path, text: str | None = None, shell: bool = False, kernel: bool = False) -> str:
        """Run a command of the environment; return its output and errors; raise a `StumbleError` where it fails."""
        environment = self.environment.copy()
        if kernel:  # `matplotlib` draws into a notebook
            del environment["MPLBACKEND"]
        result = subprocess.run(
            command[0] if shell else command,
            cwd=self.folder,
            env=environment,
            input=text,
            shell=shell,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=HOUR,
        )
        if result.returncode or "Traceback" in result.stdout:
            raise StumbleError(f"{' '.join(map(str, command))}: exit code {result.returncode}\n{result.stdout[-4000:]}")
        return result.stdout

    def until(self, line: str, words: str) -> float:
        """Run a line of the shell until its output has these words; return the seconds that took."""
        how: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "shell": True}
        start, seen = time.monotonic(), ""
        with subprocess.Popen(f"exec {line}", cwd=self.folder, env=self.environment, **how) as process:
            for output in process.stdout or ():
                seen += output
                if words in output:
                    process.kill()
                    return time.monotonic() - start
        raise StumbleError(f"{line}\n{seen}: nowhere {words!r}")

    def pip(self, *what: str) -> None:
        """Install packages into the environment."""
        self.run("python", "-m", "pip", "install", "--quiet", "--no-compile", *what)

    def say(self, what: str) -> None:
        """Print a step that is done, and the seconds since the start."""
        print(f"newcomer: {time.monotonic() - self.began:4.0f} s  {what}", flush=True)

    def install(self) -> Path:
        """Build the wheel of what is committed, in an environment made for it, and check it; return its file."""
        checkout = self.folder / "checkout"
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
        checkout.mkdir(parents=True)
        subprocess.run(["tar", "x"], cwd=checkout, input=archive, check=True)
        venv.create(self.folder / "venv", with_pip=True)
        self.run("python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", self.folder / "dist", checkout)
        (wheel,) = (self.folder / "dist").glob("*.whl")
        self.say(f"{wheel.name}, {wheel.stat().st_size / 1e3:.0f} kB, of what `git archive` holds")
        venv.create(self.folder / "twine", with_pip=True)  # in an environment of its own: it brings much along
        checker = self.folder / "twine" / "bin" / "python"
        self.run(checker, "-m", "pip", "install", "--quiet", "--no-compile", "twine")
        self.run(checker, "-m", "twine", "check", "--strict", wheel)
        self.pip(f"{wheel}[peers,html]", *TOOLS)
        self.say(
            f"checked by twine, installed with the extras peers and html: {self.run('heldout', '--version').strip()}"
        )
        return wheel

    def commands(self) -> None:
        """Run the commands of README and docs as they stand, the first of them with nothing compiled."""
        if len(COMMANDS) < 5:
            raise StumbleError("README.md, docs/command.md: the commands of an audit are gone")
        self.run("python", "models.py")
        self.say("models of scikit-learn, gensim and tomotopy, fitted and saved")
        self.say(f"the first result stands after {self.until(COMMANDS[0], RESULT):.1f} s; {FIRST} are asked for")
        for line in COMMANDS:
            start = time.monotonic()
            output = self.run(line, shell=True)
            if "likelihood" not in output:
                raise StumbleError(f"{line}\n{output}: not a word of the likelihood")
            asked = f"; {CHOSEN} are asked for" if line.startswith("heldout choose") else ""
            self.say(f"{line.partition('  #')[0]}: {time.monotonic() - start:.1f} s{asked}")

    def python(self) -> None:
        """Run the Python of docs/api.md as a script, at a prompt, and in a notebook, and check its types."""
        if not PYTHON:
            raise StumbleError("docs/api.md: the examples in Python are gone")
        preamble = (self.folder / "models.py").read_text(encoding="utf-8").partition("\nif __name__")[0]
        (self.folder / "api.py").write_text("\n\n".join([preamble, *PYTHON]), encoding="utf-8")
        self.run("python", "api.py")
        self.say("the Python of docs/api.md runs as a script")
        self.run("python", "-m", "mypy", "--strict", "--ignore-missing-imports", "--no-incremental", "api.py")
        self.say("it passes mypy --strict")
        output = self.run("python", "-i", "-q", text=REPL)
        if "<Audit of" not in output or "<Ranking" not in output:
            raise StumbleError(f"at a prompt an audit or a ranking does not show:\n{output}")
        self.say("the same at a prompt, with two processes")
        self.metric(preamble)
        self.notebook()

    def metric(self, preamble: str) -> None:
        """Score a model by the metric for OCTIS of docs/libraries.md; without OCTIS its base class is a stand-in."""
        recipe = METRIC.search((ROOT / "docs/libraries.md").read_text(encoding="utf-8"))
        if recipe is None:
            raise StumbleError("docs/libraries.md: the metric for OCTIS is gone")
        looked = self.run("python", "-c", "import importlib.util as u; print(u.find_spec('octis') is None)")
        base, where = (STAND_IN, ", on a stand-in for its base class") if "True" in looked else ("", "")
        script = "\n\n".join([preamble, "import heldout", base, recipe[1], SCORED])
        (self.folder / "metric.py").write_text(script, encoding="utf-8")
        self.run("python", "metric.py")
        self.say(f"the metric for OCTIS gives a model's likelihood{where}")

    def notebook(self) -> None:
        """Execute a notebook by nbclient, and look for what its cells have to show."""
        empty: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        cells = [empty | {"id": f"c{at}", "source": code} for at, (code, _) in enumerate(NOTEBOOK)]
        path = self.folder / "notebook.ipynb"
        path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        self.run("jupyter", "execute", "--inplace", "--kernel_name=python3", path, kernel=True)
        for cell, (code, expected) in zip(json.loads(path.read_text())["cells"], NOTEBOOK, strict=True):
            if expected not in json.dumps(cell["outputs"]):
                raise StumbleError(f"notebook: {code}\ngives no {expected}: {json.dumps(cell['outputs'])[:2000]}")
        self.say("a notebook is executed by nbclient")

    def pages(self) -> None:
        """Open the pages that the commands wrote in Chromium: no wider than the window, with their tables."""
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if browser is None:
            self.say(f"SKIPPED: the pages in a browser, as there is no {BROWSERS[0]} here (Debian: apt-get install it)")
            return
        pages = sorted(self.folder.glob("*.html"))
        if not pages:
            raise StumbleError("the commands wrote no page")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
        for page in pages:
            for width in WIDTHS:
                frame = self.folder / "frame.htm"
                frame.write_text(FRAME.format(page=page.name, width=width), encoding="utf-8")
                dom = self.run(browser, *options, "--virtual-time-budget=10000", "--dump-dom", frame.as_uri())
                found = re.search(r"<title>(\d+) wide, (\d+) shown", dom)
                if found is None or int(found[1]) > width or int(found[2]) < 2:
                    raise StumbleError(f"{page.name} at {width} pixels: {found[0] if found else dom[-2000:]}")
            self.say(f"{page.name} in {Path(browser).name}, {' and '.join(map(str, WIDTHS))} pixels wide")


def go(folder: Path) -> int:
    """Go the whole way; return the exit status."""
    newcomer = Newcomer(folder)
    try:
        newcomer.install()
        shutil.copy(ROOT / "workflow" / "newcomer" / "models.py", folder)
        for step in (newcomer.commands, newcomer.python, newcomer.pages):
            step()
    except (StumbleError, subprocess.TimeoutExpired) as stumble:
        print(f"newcomer: {stumble}", file=sys.stderr)
        return 1
    print("newcomer: all is well")
    return 0


def main() -> int:
    """Run the command line; return the exit status."""
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1]).resolve()
        folder.mkdir(parents=True)
        return go(folder)
    with tempfile.TemporaryDirectory(prefix="newcomer-") as directory:
        return go(Path(directory))


if __name__ == "__main__":
    sys.exit(main())
