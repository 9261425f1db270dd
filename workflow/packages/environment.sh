#!/bin/sh
# Makes FOLDER/bin, the drivers of packages that the studies `packages` and `neural` run beside requirements.lock, each
# under its name: environment.sh FOLDER [PYTHON]. What cannot be had is named and left out. Nothing here is a part of the
# project: R and R's packages come from Debian (GPL), topicmodels (GPL-2) from its repository at one commit or from the
# archive in $HELDOUT_PACKAGES_MIRROR, wheels by hash: bigartm (BSD-3-Clause), bitermplus and
# embedded-topic-model (MIT; on torch, BSD-3-Clause, in its build for CPUs), pyspark (Apache-2.0).
set -u
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/bin" && folder=$(cd "$1" && pwd) || exit
python=${2:-python3.11}
debian='r-base-core r-base-dev libgsl-dev r-cran-slam r-cran-tm r-cran-modeltools r-cran-nlp'
repository=https://github.com/cran/topicmodels commit=8bc833e80c0f55c6eaf2911ccde90c13784df495
archive=topicmodels_0.2-16.tar.gz digest=4c0fc3e6c0634b402806a21e623c446fda692ffe479b182ef2774b9c326219c9

left_out() { echo "packages: $1 left out: $2" >&2; }

# driver NAME COMMAND ...: writes the driver of a name, each word of its command quoted
driver() {
    file=$folder/bin/$1 && shift
    {
        printf '#!/bin/sh\nexport OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1\nexec'
        for word; do printf " '%s'" "$(printf %s "$word" | sed "s/'/'\\\\''/g")"; done
        printf ' "$@"\n'
    } >"$file"
    chmod +x "$file"
}

# debian_has PACKAGES: installs what is missing, as root
debian_has() {
    # shellcheck disable=SC2086
    dpkg-query -W $1 >/dev/null 2>&1 && return
    [ "$(id -u)" = 0 ] && apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $1 >&2
}

topicmodels() {
    [ -d "$folder/R/topicmodels" ] && return
    debian_has "$debian" || { left_out topicmodels "apt-get install $debian"; return 1; }
    source=$folder/topicmodels && rm -rf "$source" && mkdir -p "$source" "$folder/R"
    if [ -f "${HELDOUT_PACKAGES_MIRROR:-}/$archive" ]; then
        echo "$digest  $HELDOUT_PACKAGES_MIRROR/$archive" | sha256sum --check --quiet && tar xzf "$HELDOUT_PACKAGES_MIRROR/$archive" -C "$source"
    else # a commit's name is the digest of what is in it
        git -C "$source" init -q && git -C "$source" fetch -q --depth 1 "$repository" "$commit" && git -C "$source" checkout -q FETCH_HEAD
    fi || { left_out topicmodels "neither $repository at $commit nor $archive in \$HELDOUT_PACKAGES_MIRROR"; return 1; }
    R CMD INSTALL --no-docs --no-test-load --library="$folder/R" "$source" >"$folder/topicmodels.log" 2>&1 ||
        { left_out topicmodels "see $folder/topicmodels.log"; return 1; }
}

# wheels NAME: makes the environment NAME from the lock NAME.lock
wheels() {
    [ -e "$folder/$1/.ready" ] && cmp -s "$here/$1.lock" "$folder/$1/.ready" && return
    rm -rf "${folder:?}/$1" && "$python" -m venv "$folder/$1" &&
        "$folder/$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes --no-deps -r "$here/$1.lock" >"$folder/$1.log" 2>&1 &&
        cp "$here/$1.lock" "$folder/$1/.ready" || { left_out "$1" "see $folder/$1.log ($python makes it; it takes Python 3.11)"; return 1; }
}

rm -f "$folder"/bin/*
if topicmodels; then
    for method in Gibbs VEM; do
        driver "topicmodels-$(echo $method | tr A-Z a-z)" env "R_LIBS=$folder/R" Rscript --vanilla "$here/topicmodels.R" $method
    done
fi
for name in bigartm bitermplus etm spark; do
    [ $name != spark ] || debian_has default-jre-headless || { left_out spark 'apt-get install default-jre-headless'; continue; }
    # a file of the package's own name would be imported in its place
    if wheels $name; then driver $name "$folder/$name/bin/python" "$here/${name%plus}.py"; fi
done
echo "packages: $(ls -x "$folder/bin")" >&2
