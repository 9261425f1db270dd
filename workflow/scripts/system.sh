#!/bin/sh
# usage: system.sh PYTHON [FILE]
#
# Checks what the system itself has to provide, before any work: Python 3.11 or newer with venv, and TeX with the styles
# of the paper. Root on Debian or Ubuntu gets what is missing from apt; anyone else gets the one line that mends it, and
# exit status 2. Where FILE exists, .venv is complete and the system's Python is no longer looked at.
set -eu

python=$1
venv_is_complete=${2:-}
tex_programs='latexmk pdflatex kpsewhich'
tex_styles='amsmath amssymb array booktabs geometry graphicx hyperref lmodern longtable microtype natbib subcaption xr-hyper'
tex_packages='latexmk texlive-latex-base texlive-latex-recommended lmodern'

stop() {
    echo "heldout: $1" >&2
    exit 2
}

find_missing() {
    missing=''
    packages=''
    if [ ! -e "$venv_is_complete" ]; then
        name=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
        "$python" -c 'import ensurepip, venv' 2>/dev/null || {
            missing=' venv'
            packages=" $name-venv"
        }
        # One pin, immutables, has no wheel for Python 3.14 and later: it is compiled.
        "$python" -c 'import os, shutil, sys, sysconfig
header = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(sys.version_info >= (3, 14) and not (shutil.which("cc") and os.path.exists(header)))' || {
            missing="$missing cc Python.h"
            packages="$packages gcc libc6-dev $name-dev"
        }
    fi
    tex_missing=''
    for program in $tex_programs; do
        command -v "$program" >/dev/null || tex_missing="$tex_missing $program"
    done
    if command -v kpsewhich >/dev/null; then
        for style in $tex_styles; do
            kpsewhich "$style.sty" >/dev/null || tex_missing="$tex_missing $style.sty"
        done
    fi
    [ -z "$tex_missing" ] || packages="$packages $tex_packages"
    missing="$missing$tex_missing"
}

if [ ! -e "$venv_is_complete" ]; then
    command -v "$python" >/dev/null ||
        stop "there is no '$python' here: install Python 3.11 or newer, or name it: make PYTHON=python3.12"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        stop "'$python' is $("$python" -V 2>&1), and 3.11 or newer is needed: name it, as in make PYTHON=python3.12"
fi

find_missing
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    stop "missing:$missing: install them (TeX Live has the TeX part) and run make again"
fi
if [ "$(id -u)" -ne 0 ]; then
    stop "missing:$missing: run 'sudo apt-get update && sudo apt-get install -y --no-install-recommends$packages'"
fi

echo "Installing$packages (about a minute)"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A third-party source that is out of reach must not stop what Debian's own can give: the installation decides.
# shellcheck disable=SC2086  # a list of package names
{
    apt-get -q update || true
    apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $packages
} >"$log" 2>&1 || {
    cat "$log" >&2
    stop "apt-get could not install$packages: its own words stand above"
}

find_missing
[ -z "$missing" ] || stop "still missing after apt-get install$packages:$missing"
