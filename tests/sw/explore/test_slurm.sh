#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cnnvp sweep --executor slurm on a cluster of one node that the test starts; skipped where Slurm or the rights are missing.
. "$SOURCE/tests/support/lib.sh"
for tool in munged slurmctld slurmd sbatch squeue setpriv sqlite3; do
    PATH=$PATH:/usr/sbin command -v $tool >/dev/null || {
        echo "skipped: $tool is missing (slurmd, slurmctld, slurm-client, munge, util-linux, sqlite3)"
        exit 77
    }
done
[ "$(id -u)" -eq 0 ] || {
    echo "skipped: the daemons need root"
    exit 77
}
PATH=$PATH:/usr/sbin
pids=
daemons=
end_cluster() {
    # shellcheck disable=SC2086 # a list of numbers
    kill -9 $daemons 2>/dev/null
    # slurmstepd and what it started have left the process group; they carry the cluster's configuration.
    for process in $(grep -lsz "^SLURM_CONF=$work/" /proc/[0-9]*/environ); do
        process=${process#/proc/}
        kill -9 "${process%/environ}" 2>/dev/null
    done
    rm -rf "$work"
}
trap end_cluster EXIT
trap 'exit 1' HUP INT TERM
limit=90

# start PROGRAM [ARGUMENT...]: a daemon in the foreground, which dies with this test however that ends.
start() {
    setpriv --pdeathsig KILL "$@" >/dev/null 2>&1 &
    daemons="$daemons $!"
}

# within SECONDS COMMAND [ARGUMENT...]: waits until the command succeeds.
within() {
    tries=$(($1 * 5))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.2
    done
}

# ---- the cluster, with all that it owns in the test's folder ----
chmod 755 "$work"
mkdir -p munge state spool
chmod 700 munge
head -c 1024 /dev/urandom >munge/key
chmod 400 munge/key
start munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
    --log-file="$work/munge/log" --seed-file="$work/munge/seed"
host=$(hostname -s)
# Below the range from which the kernel takes ports of its own.
port=$((20000 + $$ % 6000 * 2))
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/ctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/ctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
InactiveLimit=5
SchedulerParameters=sched_min_interval=100000,sched_interval=2,bf_interval=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$work/slurm.conf"
start_controller() {
    start slurmctld -D -f "$SLURM_CONF"
    controller=$!
}
start_controller
start_node() {
    start slurmd -D -f "$SLURM_CONF"
    node=$!
}
start_node
node_is_idle() {
    sinfo -h -o %T 2>/dev/null | grep -q idle
}
within 30 node_is_idle || {
    echo "skipped: no cluster: $(tail -q -n 3 ctld.log slurmd.log 2>/dev/null | tr '\n' ' ')"
    exit 77
}

# ---- the sweep ----
cat >spec.yaml <<END
network: $SOURCE/scripts/networks/lenet5.onnx
options: {timing_only: true, max_time: [10us, 1s]}
parameters:
  pe_array.rows: {from: 1, to: 20, step: 1}
  dram.preset: [ddr3-1600, ddr4-2400]
objectives: [total.time_ps]
END
expect 1 sweep spec.yaml -o local.sqlite -j 2 -q --export local.csv
expect 1 sweep spec.yaml -o slurm.sqlite -j 2 --executor slurm --export slurm.csv
says "80 points: 40 ok, 40 failed"
cmp -s local.csv slurm.csv || fail "the cluster gives other results"
absent slurm.sqlite.work

# Nothing is left to run: no job is submitted.
expect 1 sweep spec.yaml -o slurm.sqlite -j 2 --executor slurm
says "80 were in slurm.sqlite already"

# Kill -9 of the controller before it has saved the jobs, so that it gives out their numbers again; then of the driver:
# nothing that has finished is lost, and the node, which still knows those numbers, is not drained.
sed -e 's/timing_only: true, max_time: .*/timing_only: true, images: 100}/' spec.yaml >long.yaml
"$CNNVP" sweep long.yaml -o long.sqlite -j 2 --executor slurm -q >out 2>err &
driver=$!
count_points() {
    sqlite3 long.sqlite "select count(*) from points" 2>/dev/null || echo 0
}
has_points() {
    [ "$(count_points)" -gt 0 ]
}
within 30 has_points || fail "no point in 30 s: $(tail -n 3 err ctld.log slurmd.log)"
kill -9 $controller
sleep 2
start_controller
sleep 1
kill -9 $driver 2>/dev/null
wait $driver 2>/dev/null
# The jobs that end with it are cancelled by numbers, which the controller may have given out again.
has_no_srun() {
    for process in $(grep -lsz "^SLURM_CONF=$work/" /proc/[0-9]*/environ); do
        ! grep -qsx srun "${process%/environ}/comm" || return 1
    done
}
within 30 has_no_srun || fail "workers go on without their driver"
kept=$(count_points)
expect 0 sweep long.yaml -o long.sqlite -j 2 --executor slurm
says "40 points: 40 ok, 0 failed"
found=$(sed -n 's/.*; \([0-9]*\) were in.*/\1/p' out)
[ "${found:-0}" -ge "$kept" ] || fail "$kept points were kept, ${found:-none} found"
absent long.sqlite.work

# Kill -9 of slurmd: its tasks go on without it. Then of slurmd, its slurmstepds and all that they started: what they had
# in hand runs again: the controller does not notice, as slurmd is back at once, but the driver does.
kill_steps() {
    for process in $(grep -lsz "^SLURM_CONF=$work/" /proc/[0-9]*/environ); do
        process=${process%/environ}
        if grep -qsz '^SLURM_JOB_ID=' "$process/environ" || grep -qsx slurmstepd "$process/comm"; then
            kill -9 "${process#/proc/}" 2>/dev/null
        fi
    done
}
finished() {
    sqlite3 node.sqlite "select key || ' ' || seconds from points order by key" 2>/dev/null
}
more_than() {
    [ "$(finished | wc -l)" -gt "$1" ]
}
sed -e 's/images: 100/images: 110/' long.yaml >node.yaml
timeout 180 "$CNNVP" sweep node.yaml -o node.sqlite -j 2 --executor slurm >out 2>err &
driver=$!
within 30 more_than 0 || fail "no point in 30 s: $(tail -n 3 err ctld.log slurmd.log)"
kill -9 $node
within 30 more_than "$(finished | wc -l)" || fail "no point without slurmd: $(tail -n 3 err ctld.log slurmd.log)"
start_node
sleep 1
kill -9 $node
kill_steps
finished >kept
[ "$(wc -l <kept)" -lt 40 ] || fail "all points had finished before slurmd was killed"
start_node
wait $driver || fail "the driver of a cluster whose node was killed: status $?, $(cat err)"
says "40 points: 40 ok, 0 failed"
finished >now
[ -z "$(comm -23 kept now)" ] || fail "a finished point was lost, or ran again"
absent node.sqlite.work
if [ $failures -gt 0 ]; then
    sinfo -h -o '%T %E'
    squeue
    tail -n 20 ctld.log slurmd.log
fi >&2
finish
