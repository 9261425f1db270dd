"""`workflow/scripts/prose.py`: lines that it lets pass, and lines that it reports."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "workflow" / "scripts" / "prose.py"
PASSES = [
    '"""Topics of a model, and `what` they are for."""\n',
    'def f(topics):\n    """Return the log-likelihood of every document."""\n',
    'class A:\n    @property\n    def n(self):\n        """Number of topics, K."""\n',
    'class A:\n    """A model."""\n\n    def of(self, settings):\n        """Return a model with these settings."""\n',
    "LARGEST = 5  # largest number of EM iterations\n",
    "LARGEST = 5  # `K`, at most\n",
    'parser.add_argument("--seed", help="number that draws follow from (default: 0)")\n',
    'x: int = setting("number of Markov chains", least=1)\n',
    'x: int = Field(description="number of Markov chains")\n',
    "def f():\n    found = [given for given in topics]\n",
]
FAILS = [
    '"""A model, and what it gives."""\n',
    'def f(topics):\n    """Return those of every document."""\n',
    'def f(topics):\n    """The log-likelihood of every document."""\n',
    'def f(topics):\n    """Return the topics, of which some are empty.\n\n    More.\n    """\n',
    'class A:\n    """Whose documents are read."""\n',
    "LARGEST = 5  # of EM iterations\n",
    "LARGEST = (\n    5,\n)  # in nats\n",
    'parser.add_argument("--seed", help="what draws follow from (default: 0)")\n',
    'x: str = option(None, f"name such as {name}", str)\n',
    'x: int = setting("of EM, at most", least=1)\n',
    'x: int = Field(description="between two estimates")\n',
    "def told():\n    pass\n",
    "def f(beside):\n    pass\n",
    "def f():\n    of_topics = 1\n",
    "def f():\n    for at in range(3):\n        pass\n",
    "OWN = 1\n",
]


def run(path: Path) -> tuple[int, str]:
    result = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True, check=False)
    assert not result.stderr
    return result.returncode, result.stdout


def test_reports_nothing_of_plain_lines(tmp_path: Path) -> None:
    for number, source in enumerate(PASSES):
        (tmp_path / f"{number}.py").write_text(source)
    assert run(tmp_path) == (0, "")


@pytest.mark.parametrize("source", FAILS)
def test_reports_file_and_line(tmp_path: Path, source: str) -> None:
    (tmp_path / "a.py").write_text(source)
    status, report = run(tmp_path)
    assert status == 1
    assert report.startswith(f"{tmp_path / 'a.py'}:")
    assert report.count("\n") == 1
