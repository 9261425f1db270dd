#!/bin/sh
# usage: one_node.sh
#
# Runs jobs of the studies `demo` and `exhaustive` through Slurm with profiles/slurm, runs them again without, and compares
# every byte of what both made: corpora, topics, scores and measurements. Those of `exhaustive` read Cranfield: from the
# folder HELDOUT_MIRROR, or its public address. Slurm is made for it on this machine: one node, from
# Debian's packages, as root, in a temporary folder, with ports and a munge key of its own and without accounting. Both
# runs are of clones of the last commit: the checkout itself stays as it is. At the end, or when it is
# interrupted, the daemons stop and the folder goes; Debian's packages stay. By hand, about five minutes. Exit status: 0
# where all bytes agree, 1 where they do not or a run failed, 2 where it cannot run here.
set -eu

packages='slurmctld slurmd slurm-client munge'
scores=data/demo/scores/cranfield-like
demo="$scores/plsa-hof/smoothed-after-training/2-0.csv $scores/plsa-hof/smoothed-after-training/5-0.csv
    $scores/plsa-hof/smoothed-after-training/5-1.csv $scores/plsa-hof/smoothed-in-m-step/5-0.csv
    $scores/epca/penalised/5-0.csv $scores/lda/collapsed-gibbs/5-0.csv
    data/demo/measurements/cranfield-like/plsa-hof/bounds/2-0.csv data/demo/corpora.csv"
# seeds that the study `paper` does not have, and what draws its own documents
scores=data/exhaustive/scores/cranfield
exhaustive="$scores/plsa-hof/smoothed-after-training/5-9.csv $scores/epca/penalised/5-9.csv
    $scores/plsa-hof/bounds/2-9.csv data/exhaustive/measurements/none/none/convergence-to-exact/0-0.csv"

stop() {
    echo "one_node.sh: $1" >&2
    exit "${2:-2}"
}

stop_daemons() {
    for daemon in slurmd slurmctld munged; do # slurmd first: it reports to slurmctld
        if [ -s "$folder/$daemon.pid" ]; then
            kill "$(cat "$folder/$daemon.pid")" 2>/dev/null || true
        fi
    done
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        running=''
        for daemon in slurmd slurmctld munged; do
            if [ -s "$folder/$daemon.pid" ] && kill -0 "$(cat "$folder/$daemon.pid" 2>/dev/null)" 2>/dev/null; then
                running=yes
            fi
        done
        [ -n "$running" ] || return 0
        sleep 1
    done
}

finish() {
    status=$?
    trap - EXIT INT TERM
    if [ -e "$folder/slurm.conf" ]; then
        # jobs of an interrupted run
        scancel --quiet --user root >/dev/null 2>&1 || true
        stop_daemons
    fi
    rm -rf "$folder"
    exit "$status"
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'
}

[ "$(id -u)" -eq 0 ] || stop 'needs root: Slurm starts its jobs as their users'
command -v apt-get >/dev/null || stop 'needs apt-get: Slurm comes from the packages of Debian'
for program in git python3; do
    command -v $program >/dev/null || stop "needs $program"
done
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    stop "python3 is $(python3 -V), and 3.11 or newer is needed"
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
git -C "$root" rev-parse --verify --quiet HEAD >/dev/null || stop "$root is no git checkout with a commit"

# resolved, for Slurm compares paths
folder=$(cd "$(mktemp -d)" && pwd -P)
# munged refuses a socket in a folder that others may not reach
chmod 755 "$folder"
trap finish EXIT
trap 'exit 130' INT TERM
log=$folder/log

missing=''
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing="$missing $package"
done
if [ -n "$missing" ]; then
    echo "Installing$missing from Debian (they stay)"
    # shellcheck disable=SC2086  # a list of package names
    { apt-get -q update || true; DEBIAN_FRONTEND=noninteractive \
        apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $missing; } >"$log" 2>&1 || {
        cat "$log" >&2
        stop "apt-get could not install$missing: its own words stand above"
    }
fi

echo 'Cloning the last commit twice, and making an environment with the extra "cluster" (about a minute)'
git clone --quiet "$root" "$folder/through-slurm"
git clone --quiet "$root" "$folder/local"
cd "$folder/through-slurm"
python3 -m venv "$folder/venv"
PATH="$folder/venv/bin:$PATH"
{
    pip install --disable-pip-version-check --use-pep517 --require-hashes -r requirements.lock &&
        pip freeze >"$folder/locked" &&
        # the pins stay as they are: what the extra needs otherwise is a conflict, not an upgrade
        pip install --disable-pip-version-check --no-build-isolation --constraint "$folder/locked" \
            --editable '.[cluster]' &&
        python3 -c 'import snakemake_executor_plugin_slurm'
} >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    stop 'the environment could not be made: the words above say why'
}

echo "Starting Slurm: $(slurmctld -V)"
host=$(hostname -s)
head -c 128 /dev/urandom >"$folder/munge.key"
chmod 400 "$folder/munge.key"
mkdir "$folder/state" "$folder/spool" "$folder/bin"
# A container has no systemd and no control groups to give: processes are followed by their parents.
cat >"$folder/slurm.conf" <<CONF
ClusterName=one-node
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$folder/munge.socket
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$folder/jobs
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
ReturnToService=2
# without accounting, squeue has to know a job's end until Snakemake has asked for it
MinJobAge=3600
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(awk '/^MemTotal/ { print int(0.9 * $2 / 1024) }' /proc/meminfo)
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
echo 'CgroupPlugin=cgroup/v1' >"$folder/cgroup.conf"
export SLURM_CONF="$folder/slurm.conf"
# In a job Snakemake drops SLURM_CONF before it calls srun, which would look for the file in /etc.
printf '#!/bin/sh\nSLURM_CONF=%s exec %s "$@"\n' "$SLURM_CONF" "$(command -v srun)" >"$folder/bin/srun"
chmod 755 "$folder/bin/srun"
{
    munged --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
        --log-file="$folder/munged.log" --seed-file="$folder/munge.seed" && slurmctld && slurmd
} >"$log" 2>&1 || {
    cat "$log" >&2
    stop 'a daemon did not start: its own words stand above'
}
waited=0
until [ "$(sinfo --noheader --format %T 2>/dev/null)" = idle ]; do
    waited=$((waited + 1))
    [ "$waited" -le 3600 ] || {
        tail -n 20 "$folder/slurmctld.log" "$folder/slurmd.log" >&2
        stop 'the node was not idle after an hour: the daemons'\'' words stand above'
    }
    sleep 1
done

export PATH="$folder/bin:$folder/venv/bin:$PATH" MPLBACKEND=Agg PYTHONNOUSERSITE=1
unset PYTHONPATH PYTHONHOME

echo "Running through Slurm: $(snakemake --version) with $(pip list 2>/dev/null | awk '/^snakemake-executor-plugin-slurm / { print $1, $2 }')"
announced=0
jobs=0
run() {
    # in the foreground, so that an interruption reaches it
    # shellcheck disable=SC2086  # a list of targets
    timeout --foreground 3600 snakemake --profile profiles/slurm --configfile "workflow/studies/$1.yaml" \
        --slurm-status-command squeue --slurm-init-seconds-before-status-checks 2 --seconds-between-status-checks 2 \
        --latency-wait 5 $2 >"$log" 2>&1 || {
        tail -n 40 "$log" >&2
        stop "the run of $1 through Slurm failed: its own words stand above" 1
    }
    announced=$((announced + $(grep -c 'has been submitted with SLURM jobid' "$log" || true)))
    jobs=$((jobs + $(awk '$1 == "total" { print $2; exit }' "$log")))
}
run demo "$demo"
run exhaustive "$exhaustive"
submitted=$(grep -c '^JobId=.* JobState=COMPLETED ' "$folder/jobs" || true)
if [ "$submitted" -eq 0 ] || [ "$submitted" -ne "$announced" ]; then
    stop "Snakemake announced $announced submissions, and Slurm completed $submitted" 1
fi
echo "$jobs jobs in $submitted submissions; what Slurm was asked for:"
sed -E 's/.* TimeLimit=([0-9]+) .* Tres=cpu=([0-9]+),mem=([0-9]+)M.*/\1 min, \2 cpu, \3 MB/' "$folder/jobs" |
    sort | uniq -c

echo 'Running the same jobs without Slurm'
cd "$folder/local"
for study in demo exhaustive; do
    targets=$demo
    [ $study = demo ] || targets=$exhaustive
    # shellcheck disable=SC2086  # a list of targets
    snakemake --configfile workflow/studies/$study.yaml --cores 1 $targets >"$log" 2>&1 || {
        tail -n 40 "$log" >&2
        stop "the local run of $study failed: its own words stand above" 1
    }
done

# what jobs took is never the same
for study in demo exhaustive; do
    diff --recursive --brief --exclude=benchmarks "$folder/through-slurm/data/$study" "$folder/local/data/$study" ||
        stop "the two runs of $study differ: listed above" 1
done
echo "PASS: $(find data/demo data/exhaustive -type f ! -path '*/benchmarks/*' | wc -l) files, the same through Slurm as without"
