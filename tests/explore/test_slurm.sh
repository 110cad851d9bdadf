#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cnnvp sweep --executor slurm on a cluster of one node that the test starts; skipped where Slurm or the rights are missing.
. "$SOURCE/tests/cli/lib.sh"
for tool in munged slurmctld slurmd sbatch squeue; do
    PATH=$PATH:/usr/sbin command -v $tool >/dev/null || exit 77
done
[ "$(id -u)" -eq 0 ] || exit 77
PATH=$PATH:/usr/sbin
pids=
trap 'kill -9 $pids 2>/dev/null; rm -rf "$work"' EXIT

# ---- the cluster, with all that it owns in the test's folder ----
chmod 755 "$work"
mkdir -p munge state spool
chmod 700 munge
head -c 1024 /dev/urandom >munge/key
chmod 400 munge/key
munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
    --log-file="$work/munge/log" --seed-file="$work/munge/seed" >/dev/null 2>&1 &
pids="$pids $!"
host=$(hostname -s)
port=$((20000 + $$ % 20000))
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
SchedulerParameters=sched_min_interval=100000
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$work/slurm.conf"
start_controller() {
    slurmctld -D -f "$SLURM_CONF" >/dev/null 2>&1 &
    controller=$!
    pids="$pids $controller"
}
start_controller
slurmd -D -f "$SLURM_CONF" >/dev/null 2>&1 &
pids="$pids $!"
tries=0
until sinfo -h -o %T 2>/dev/null | grep -q idle; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] || {
        echo "no cluster: $(tail -3 ctld.log slurmd.log 2>/dev/null)" >&2
        exit 77
    }
    sleep 0.5
done

# ---- the sweep ----
cat >spec.yaml <<END
network: $SOURCE/scripts/networks/lenet5.onnx
options: {timing_only: true, max_time: [10us, 1s]}
parameters:
  pe_array.rows: {from: 1, to: 20, step: 1}
  dram.preset: [ddr3-1600, ddr4-2400]
objectives: [total.time_ps]
END
expect 0 sweep spec.yaml -o local.sqlite -j 2 -q --export local.csv
expect 0 sweep spec.yaml -o slurm.sqlite -j 2 --executor slurm --export slurm.csv
says "80 points: 40 ok, 40 failed"
cmp -s local.csv slurm.csv || fail "the cluster gives other results"
absent slurm.sqlite.work

# Nothing is left to run: no job is submitted.
expect 0 sweep spec.yaml -o slurm.sqlite -j 2 --executor slurm
says "80 were in slurm.sqlite already"

# Kill -9 of the controller, and of the driver: nothing that has finished is lost.
sed -e 's/timing_only: true, max_time: .*/timing_only: true, images: 200}/' spec.yaml >long.yaml
"$CNNVP" sweep long.yaml -o long.sqlite -j 2 --executor slurm -q >out 2>err &
driver=$!
sleep 2
kill -9 $controller
sleep 3
start_controller
kill -9 $driver 2>/dev/null
wait $driver 2>/dev/null
kept=$(sqlite3 long.sqlite "select count(*) from points" 2>/dev/null || echo 0)
expect 0 sweep long.yaml -o long.sqlite -j 2 --executor slurm
says "40 points: 40 ok, 0 failed"
found=$(sed -n 's/.*; \([0-9]*\) were in.*/\1/p' out)
[ "$found" -ge "$kept" ] || fail "$kept points were kept, $found found"
absent long.sqlite.work

# A task's file that is none, and a cluster that is none.
echo '{}' >bad.task
refused 2 "is no task of a sweep" sweep --task bad.task
export SLURM_CONF="$work/none.conf"
sed 's/to: 20/to: 21/' spec.yaml >more.yaml
refused 1 "sbatch does not take the sweep" sweep more.yaml -o slurm.sqlite --executor slurm
finish
