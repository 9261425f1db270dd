"""The front door: what is missing shows before any work, a half-made .venv is mended, `clean` keeps what is tracked.

Everything runs in a folder of its own with a PATH of its own, where Python, TeX and apt-get are scripts that write
down how they were called.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEX = ("latexmk", "pdflatex", "kpsewhich")
FILES = ("cat", "chmod", "cksum", "cp", "find", "mkdir", "mktemp", "rm", "touch", "tr")
SYSTEM = ("awk", "echo", "make", "sh", "sleep", *FILES)

PYTHON = """#!/bin/sh
echo "python $*" >> {log}
case "$1 $2" in
    "-c import ensurepip"*) [ ! -e {folder}/no-venv ] ;;
    "-c import os"*) [ ! -e {folder}/no-compiler ] ;;
    "-c "*) exec {python} "$@" ;;
    "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    "-m pip")
        [ ! -e {folder}/no-index ] || {{ echo "no such package" >&2; exit 1; }}
        [ ! -e {folder}/slow-index ] || {{ touch {folder}/installing; exec sleep 60; }} ;;
esac
"""
APT_GET = """#!/bin/sh
echo "apt-get $*" >> {log}
case "$*" in
    *install*)
        [ ! -e {folder}/no-packages ] || {{ echo "E: Unable to locate package" >&2; exit 100; }}
        rm -f {folder}/no-venv {folder}/no-compiler
        for program in latexmk pdflatex kpsewhich; do
            echo '#!/bin/sh' > {programs}/$program
            chmod +x {programs}/$program
        done ;;
esac
"""


class Machine:
    """A checkout and a PATH, both made for one test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkout = folder / "checkout"
        self.programs = folder / "programs"
        self.programs.mkdir()
        for file in ("Makefile", "requirements.lock", "pyproject.toml", "workflow/scripts/system.sh"):
            (self.checkout / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.checkout / file)
        for name in SYSTEM:
            path = shutil.which(name)
            assert path is not None, f"{name} is not on this machine"
            (self.programs / name).symlink_to(path)
        self.script("python3", PYTHON)

    def script(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(
            text.format(log=self.folder / "log", folder=self.folder, programs=self.programs, python=sys.executable)
        )
        path.chmod(0o755)

    def tex(self) -> None:
        for name in TEX:
            self.script(name, "#!/bin/sh\n")

    def user(self, number: int) -> None:
        self.script("id", f"#!/bin/sh\necho {number}\n")

    def calls(self) -> list[str]:
        log = self.folder / "log"
        return log.read_text().splitlines() if log.exists() else []

    def make(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        environment = {"PATH": str(self.programs), "HOME": str(self.folder)}
        return subprocess.run(
            ["make", *arguments],
            cwd=self.checkout,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.user(1000)
    return machine


def installations(machine: Machine) -> int:
    return sum("-m venv" in call for call in machine.calls())


@pytest.mark.parametrize("target", ["demo", "test", "paper", "reproduce", "compare", "report", "setup"])
def test_without_tex_and_root_the_command_is_given_before_any_work(machine: Machine, target: str) -> None:
    machine.script("apt-get", APT_GET)
    result = machine.make(target)
    assert result.returncode == 2
    line = result.stderr.splitlines()[0]
    assert line == (
        "heldout: missing: latexmk pdflatex kpsewhich: run 'sudo apt-get update && sudo apt-get install -y "
        "--no-install-recommends latexmk texlive-latex-base texlive-latex-recommended lmodern'"
    )
    assert not (machine.checkout / ".venv").exists()
    assert not any(call.startswith("apt-get") for call in machine.calls())


def test_a_missing_style_is_named(machine: Machine) -> None:
    machine.tex()
    machine.script("kpsewhich", '#!/bin/sh\n[ "$1" != microtype.sty ]\n')
    result = machine.make("setup")
    assert result.returncode == 2
    assert "missing: microtype.sty: " in result.stderr
    assert not (machine.checkout / ".venv").exists()


@pytest.mark.parametrize(
    ("lacking", "packages"), [("no-venv", "{name}-venv"), ("no-compiler", "gcc libc6-dev {name}-dev")]
)
def test_what_python_lacks_is_asked_for_together_with_tex(machine: Machine, lacking: str, packages: str) -> None:
    machine.script("apt-get", APT_GET)
    (machine.folder / lacking).touch()
    result = machine.make("demo")
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    assert result.returncode == 2
    assert f"--no-install-recommends {packages.format(name=name)} latexmk " in result.stderr
    assert not (machine.checkout / ".venv").exists()


def test_root_gets_what_is_missing_from_apt(machine: Machine) -> None:
    machine.user(0)
    machine.script("apt-get", APT_GET)
    (machine.folder / "no-venv").touch()
    (machine.folder / "no-compiler").touch()
    result = machine.make("setup")
    assert result.returncode == 0, result.stderr
    assert next(call.split()[1:] for call in machine.calls() if call.startswith("apt-get")) == ["-q", "update"]
    assert installations(machine) == 1
    before = machine.calls()
    assert machine.make("setup").returncode == 0
    assert machine.calls() == before, "a second set-up did something"


def test_what_apt_says_is_shown_when_it_fails(machine: Machine) -> None:
    machine.user(0)
    machine.script("apt-get", APT_GET)
    (machine.folder / "no-packages").touch()
    result = machine.make("setup")
    assert result.returncode == 2
    assert "E: Unable to locate package" in result.stderr
    assert not (machine.checkout / ".venv").exists()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("python3.14", None, "there is no 'python3.14' here: install Python 3.11 or newer"),
        (
            "python2",
            '#!/bin/sh\n[ "$1" = -V ] && echo Python 2.7.18\n',
            "'python2' is Python 2.7.18, and 3.11 or newer",
        ),
    ],
)
def test_a_python_that_will_not_do(machine: Machine, name: str, text: str | None, expected: str) -> None:
    machine.tex()
    if text:
        machine.script(name, text)
    result = machine.make("setup", f"PYTHON={name}")
    assert result.returncode == 2
    assert result.stderr.startswith(f"heldout: {expected}")
    assert not (machine.checkout / ".venv").exists()


def test_every_package_of_the_lock_is_installed_once(machine: Machine) -> None:
    machine.tex()
    assert machine.make("setup").returncode == 0
    halves = sorted((machine.checkout / ".venv").glob("*.lock"))
    assert len(halves) == 2
    for half in halves:
        (call,) = (call for call in machine.calls() if half.name in call)
        assert "--require-hashes" in call
    entries = [entry for half in halves for entry in half.read_text().replace("\\\n", "").splitlines()]
    lock = (machine.checkout / "requirements.lock").read_text().replace("\\\n", "")
    assert sorted(entries) == sorted(lock.splitlines())


def test_set_up_is_incremental(machine: Machine) -> None:
    machine.tex()
    lock, pyproject = machine.checkout / "requirements.lock", machine.checkout / "pyproject.toml"
    assert machine.make("setup").returncode == 0
    marker = machine.checkout / ".venv" / "marker"
    marker.touch()

    # the same content with another date is the same environment
    os.utime(lock, (time.time() + 10, time.time() + 10))
    assert machine.make("setup").returncode == 0
    assert installations(machine) == 1

    # an edited pyproject.toml installs the package again and nothing else
    pyproject.write_text(pyproject.read_text() + "\n# edited\n")
    assert machine.make("setup").returncode == 0
    assert installations(machine) == 1
    assert sum("--editable" in call for call in machine.calls()) == 2
    assert marker.exists()

    # an edited lock makes .venv anew
    lock.write_text(lock.read_text().replace("yte==", "yte ==", 1))
    assert machine.make("setup").returncode == 0
    assert installations(machine) == 2
    assert not marker.exists()


def fail(machine: Machine) -> None:
    (machine.folder / "no-index").touch()
    result = machine.make("setup")
    assert result.returncode == 2
    assert "no such package" in result.stderr
    (machine.folder / "no-index").unlink()


def kill(machine: Machine) -> None:
    (machine.folder / "slow-index").touch()
    environment = {"PATH": str(machine.programs), "HOME": str(machine.folder)}
    with subprocess.Popen(
        ["make", "setup"], cwd=machine.checkout, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 30
        while not (machine.folder / "installing").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    (machine.folder / "slow-index").unlink()


@pytest.mark.parametrize("interrupt", [fail, kill])
def test_a_half_made_environment_is_made_anew(machine: Machine, interrupt: Callable[[Machine], None]) -> None:
    machine.tex()
    interrupt(machine)
    leftover = machine.checkout / ".venv" / "leftover"
    leftover.touch()
    assert machine.make("setup").returncode == 0
    assert installations(machine) == 2
    assert not leftover.exists()


def test_a_moved_checkout_gets_its_own_environment(machine: Machine) -> None:
    machine.tex()
    assert machine.make("setup").returncode == 0
    moved = machine.folder / "moved"
    machine.checkout.rename(moved)
    machine.checkout = moved
    assert machine.make("setup").returncode == 0
    assert installations(machine) == 2


def test_a_complete_environment_does_not_ask_for_the_systems_python(machine: Machine) -> None:
    machine.tex()
    assert machine.make("setup").returncode == 0
    (machine.programs / "python3").unlink()
    assert machine.make("setup").returncode == 0


def test_help_is_the_default_and_lists_the_targets(machine: Machine) -> None:
    result = machine.make()
    assert result.returncode == 0
    assert machine.make("help").stdout == result.stdout
    listed = re.findall(r"^  ([a-z-]+) ", result.stdout, flags=re.MULTILINE)
    assert {"help", "setup", "demo", "test", "paper", "reproduce", "compare", "report", "clean", "lock"} <= set(listed)
    assert max(map(len, result.stdout.splitlines())) <= 120


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["demo"], "snakemake --logger rich --cores 2 --configfile workflow/studies/demo.yaml"),
        (["test"], "pytest -n 2"),
        (["reproduce"], "snakemake --logger rich --cores all"),
        (["reproduce", "CORES=3", "STUDY=x"], "snakemake --logger rich --cores 3 --configfile workflow/studies/x.yaml"),
        (["paper"], "snakemake --logger rich --cores all --config results=reference -- paper/paper.pdf"),
        (
            ["paper", "STUDY=gallery"],
            "snakemake --logger rich --cores all --configfile workflow/studies/gallery.yaml"
            " --config results=reference -- paper/gallery.pdf",
        ),
        (["gallery"], "snakemake --logger rich --cores all --configfile workflow/studies/gallery.yaml"),
        (["compare"], "snakemake --logger rich --cores all -- compare"),
        (["compare", "STUDY=x"], "snakemake --logger rich --cores all --configfile workflow/studies/x.yaml -- compare"),
        (["readme"], "python docs/pictures.py README.md"),
        (["report"], "snakemake --cores all --report report.html"),
    ],
)
def test_a_target_ends_with_the_command_that_it_stands_for(
    machine: Machine, arguments: list[str], command: str
) -> None:
    result = machine.make("--dry-run", *arguments)
    assert result.returncode == 0
    last = result.stdout.splitlines()[-1]
    assert " ".join(last.partition(" ")[2].split()) == command
    assert last.startswith(f'PATH="{machine.checkout}/.venv/bin:$PATH" ')


def tracked() -> list[Path]:
    """Return the tracked files, relative to the root; skip where there is no git to ask."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: which files are tracked is unknown")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_clean_keeps_what_is_tracked_the_downloads_and_the_imports(machine: Machine) -> None:
    files = tracked()
    for file in files:
        (machine.checkout / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, machine.checkout / file)
    generated = [
        "data/paper/corpora/nips.npz",
        "data/paper/scores.csv",
        "data/mine/models/mine/lda/truth/5-0.npz",
        "figures/paper/figure-4.pdf",
        "logs/paper/paper.log",
        "report.html",
    ]
    generated += ["paper/paper.pdf", "paper/generated/paper/macros.tex", ".snakemake/x"]
    kept = ["data/raw/archive.tar.gz", "data/corpora/imported.npz", ".venv/x"]
    for name in (*generated, *kept):
        (machine.checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (machine.checkout / name).touch()

    assert machine.make("clean").returncode == 0
    assert not [name for name in generated if (machine.checkout / name).exists()]
    assert not [name for name in [*kept, *map(str, files)] if not (machine.checkout / name).exists()]

    assert machine.make("clean-all").returncode == 0
    assert not [name for name in kept if (machine.checkout / name).exists()]
    assert not [file for file in files if not (machine.checkout / file).exists()]
