"""The front door: what is missing shows before any work, a half-made .venv is mended, `clean` keeps what is tracked.

Everything runs in a folder of its own with a PATH of its own, where Python, TeX and apt-get are scripts that write
down how they were called. The targets themselves are run by `.ci/run`.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from limits import HOUR

ROOT = Path(__file__).parents[1]
TEX = ("latexmk", "pdflatex", "kpsewhich")
FILES = ("cat", "chmod", "cksum", "cp", "find", "mkdir", "mktemp", "rm", "touch", "tr")
SYSTEM = ("awk", "echo", "make", "sh", "sleep", *FILES)

PYTHON = """#!/bin/sh
echo "python $*" >> {log}
case "$1 $2" in
    "-c import ensurepip"*) [ ! -e {folder}/no-venv ] ;;
    "-c "*) exec {python} "$@" ;;
    "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    "-m pip")
        [ ! -e {folder}/no-index ] || {{ echo "no such package" >&2; exit 1; }}
        [ ! -e {folder}/slow-index ] || {{ touch {folder}/installing; exec sleep 3600; }} ;;
esac
"""
APT_GET = """#!/bin/sh
echo "apt-get $*" >> {log}
case "$*" in
    *install*)
        rm -f {folder}/no-venv
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
        self.environment = {"PATH": str(self.programs), "HOME": str(folder)}
        for file in ("Makefile", "requirements.lock", "pyproject.toml", "workflow/scripts/system.sh"):
            (self.checkout / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.checkout / file)
        for name in SYSTEM:
            path = shutil.which(name)
            assert path is not None, f"{name} is not on this machine"
            (self.programs / name).symlink_to(path)
        self.script("python3", PYTHON)
        self.user(1000)

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

    def installations(self) -> int:
        return sum("-m venv" in call for call in self.calls())

    def make(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["make", *arguments],
            cwd=self.checkout,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=HOUR,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_without_tex_and_root_the_command_is_given_before_any_work(machine: Machine) -> None:
    machine.script("apt-get", APT_GET)
    (machine.folder / "no-venv").touch()
    result = machine.make("demo")
    assert result.returncode == 2
    packages = f"python{sys.version_info.major}.{sys.version_info.minor}-venv latexmk texlive-latex-base"
    assert f"apt-get install -y --no-install-recommends {packages}" in result.stderr.splitlines()[0]
    assert not (machine.checkout / ".venv").exists()
    assert not any(call.startswith("apt-get") for call in machine.calls())


def test_root_gets_what_is_missing_from_apt_and_a_second_set_up_does_nothing(machine: Machine) -> None:
    machine.user(0)
    machine.script("apt-get", APT_GET)
    (machine.folder / "no-venv").touch()
    result = machine.make("setup")
    assert result.returncode == 0, result.stderr
    assert machine.installations() == 1
    before = machine.calls()
    assert machine.make("setup").returncode == 0
    assert machine.calls() == before


@pytest.mark.parametrize("old", ["", '#!/bin/sh\n[ "$1" = -V ] && echo Python 2.7.18\n'])
def test_a_python_that_will_not_do_is_named(machine: Machine, old: str) -> None:
    machine.tex()
    if old:
        machine.script("python2", old)
    result = machine.make("setup", "PYTHON=python2")
    assert result.returncode == 2
    assert "python2" in result.stderr
    assert not (machine.checkout / ".venv").exists()


def test_set_up_is_incremental(machine: Machine) -> None:
    machine.tex()
    lock, pyproject = machine.checkout / "requirements.lock", machine.checkout / "pyproject.toml"
    assert machine.make("setup").returncode == 0
    marker = machine.checkout / ".venv" / "marker"
    marker.touch()

    # the same content with another date is the same environment
    os.utime(lock, (time.time() + 10, time.time() + 10))
    assert machine.make("setup").returncode == 0
    assert machine.installations() == 1

    # an edited pyproject.toml installs the package again and nothing else
    pyproject.write_text(pyproject.read_text() + "\n# edited\n")
    assert machine.make("setup").returncode == 0
    assert machine.installations() == 1
    assert sum("--editable" in call for call in machine.calls()) == 2
    assert marker.exists()

    # an edited lock makes .venv anew
    lock.write_text(lock.read_text().replace("yte==", "yte ==", 1))
    assert machine.make("setup").returncode == 0
    assert machine.installations() == 2
    assert not marker.exists()


def fail(machine: Machine) -> None:
    (machine.folder / "no-index").touch()
    assert machine.make("setup").returncode == 2
    (machine.folder / "no-index").unlink()


def kill(machine: Machine) -> None:
    (machine.folder / "slow-index").touch()
    with subprocess.Popen(
        ["make", "setup"],
        cwd=machine.checkout,
        env=machine.environment,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        while not (machine.folder / "installing").exists():
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    (machine.folder / "slow-index").unlink()


@pytest.mark.parametrize("interrupt", [fail, kill])
def test_a_half_made_environment_goes_on_where_it_was(machine: Machine, interrupt: Callable[[Machine], None]) -> None:
    machine.tex()
    interrupt(machine)
    packages = machine.checkout / ".venv/lib/python3/site-packages"
    for name, files in (("whole-1.dist-info", ("METADATA", "RECORD")), ("half-1.dist-info", ("METADATA",))):
        (packages / name).mkdir(parents=True)
        for file in files:
            (packages / name / file).touch()
    assert machine.make("setup").returncode == 0
    assert machine.installations() == 1
    assert [path.name for path in packages.iterdir()] == ["whole-1.dist-info"]


def test_clean_keeps_what_is_tracked_the_downloads_and_the_imports(machine: Machine) -> None:
    tracked = ["data/claims.csv", "data/reference/paper/scores.csv", "data/published/x.csv", "figures/README.md"]
    generated = ["data/paper/scores.csv", "figures/paper/figure-4.pdf", "logs/paper/paper.log", "report.html"]
    generated += ["paper/paper.pdf", "paper/generated/paper/macros.tex", ".snakemake/x"]
    downloads = ["data/raw/archive.tar.gz", "data/corpora/imported.npz", ".venv/x"]
    for name in (*tracked, *generated, *downloads):
        (machine.checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (machine.checkout / name).touch()

    def left(names: list[str]) -> list[str]:
        return [name for name in names if (machine.checkout / name).exists()]

    assert machine.make("clean").returncode == 0
    assert (left(tracked), left(generated), left(downloads)) == (tracked, [], downloads)
    assert machine.make("clean-all").returncode == 0
    assert (left(tracked), left(downloads)) == (tracked, [])
