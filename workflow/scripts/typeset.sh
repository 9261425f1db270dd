#!/bin/sh
# typeset.sh JOB=FILE.tex ...: typeset documents side by side in the current folder, as JOB.pdf; each may cite the numbers of
# the others, from JOB-labels.aux. An undefined reference is an error, and so is what does not fit its page or its column.
set -eu
# a table taller than its page, a page that holds too much, a line or table wider than its column by ten points
overfull='Float too large for page|Overfull .vbox \([1-9]|Overfull .hbox \([1-9][0-9]+\.'

typeset() {
    # references into tables that span pages take some passes to settle
    latexmk -e '$max_repeat=9' -pdf -Werror -interaction=nonstopmode -halt-on-error -file-line-error -jobname="$1" "$2" &&
        ! grep -E "$overfull" "$1.log"
}

for document; do  # what an earlier run left half-written would stop TeX
    rm -f "${document%%=*}".* "${document%%=*}"-labels.aux
done
if [ $# -gt 1 ]; then  # numbers are right after one pass, pages are not cited
    for document; do
        pdflatex -draftmode -interaction=batchmode -jobname="${document%%=*}" "${document#*=}" &
    done
    wait
    for document; do
        cp "${document%%=*}.aux" "${document%%=*}-labels.aux"
    done
fi
running=
for document; do
    typeset "${document%%=*}" "${document#*=}" &
    running="$running $!"
done
for process in $running; do
    wait "$process"
done
