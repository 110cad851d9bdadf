#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the driver of cnnvp sweep --executor slurm does when Slurm fails it: sbatch, squeue and scancel are scripts that
# answer as Slurm does, and fail as each case wants. test_slurm.sh has the real ones.
. "$SOURCE/tests/support/lib.sh"
limit=120
mkdir bin fake
export FAKE="$work/fake" PATH="$work/bin:$PATH"

# Each array takes one word of the file `modes`: run, lose (the controller forgets it), requeue (a task is put back),
# half (the first task runs, then the controller forgets it).
cat >bin/sbatch <<'END'
#!/bin/sh
echo "sbatch: a warning on its own line" >&2
cat >"$FAKE/script"
[ ! -e "$FAKE/refuse" ] || { echo "sbatch: error: Batch job submission failed" >&2; exit 1; }
job=$(($(cat "$FAKE/next" 2>/dev/null || echo 0) + 1))
echo $job >"$FAKE/next"
echo $job
case "$*" in *--hold*) echo "hold $job" >>"$FAKE/log"; exit 0 ;; esac
last=$(echo "$*" | sed 's/.*--array=0-\([0-9]*\).*/\1/')
mode=$(head -n 1 "$FAKE/modes") && sed -i 1d "$FAKE/modes"
echo "array $job ${mode:-run}" >>"$FAKE/log"
case ${mode:-run} in lose) echo 0 >"$FAKE/next"; exit 0 ;; esac # its numbers are given out again
cp "$FAKE/script" "$FAKE/script.$job"
echo "$job|PENDING|BeginTime" >"$FAKE/state.$job"
case $mode in requeue) exit 0 ;; half) last=0 ;; esac
(
    echo "$job|RUNNING|None" >"$FAKE/state.$job"
    task=0
    while [ $task -le "$last" ]; do
        SLURM_ARRAY_TASK_ID=$task sh "$FAKE/script.$job"
        task=$((task + 1))
    done
    rm -f "$FAKE/state.$job"
) >/dev/null 2>&1 &
END
cat >bin/squeue <<'END'
#!/bin/sh
job=$(echo "$*" | sed 's/.*--jobs=\([0-9]*\).*/\1/')
cat "$FAKE/state.$job" 2>/dev/null || { echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1; }
END
cat >bin/scancel <<'END'
#!/bin/sh
echo "cancel $1" >>"$FAKE/log"
rm -f "$FAKE/state.$1"
END
chmod +x bin/*

cat >spec.yaml <<END
network: $SOURCE/scripts/networks/lenet5.onnx
options: {timing_only: true}
parameters:
  pe_array.rows: {from: 1, to: 6, step: 1}
END
# brings WORD...: with arrays of these modes all points arrive; `fake/log` says how.
brings() {
    rm -rf fake/* result.sqlite*
    for mode in "$@"; do
        echo "$mode"
    done >fake/modes
    expect 0 sweep spec.yaml -o result.sqlite -j 2 --executor slurm
    says "6 points: 6 ok, 0 failed"
    absent result.sqlite.work
}
logged() {
    grep -qx "$1" fake/log || fail "no \"$1\" in: $(cat fake/log)"
}

brings run
logged "array 1 run"
# A forgotten array of four tasks had the numbers 1 to 4: they are not given to another one.
brings lose run
logged "hold 4"
logged "array 5 run"
# Points that an array did not bring run in the next; one that brings something is no failure.
brings half half half half
# What Slurm has put back is not waited for.
brings requeue run
logged "cancel 1"
grep -q "waits for Slurm: BeginTime" err || fail "nothing is said of the wait: $(cat err)"

# Three arrays in succession without a result: their points fail.
rm -rf fake/* result.sqlite*
printf 'lose\nlose\nlose\n' >fake/modes
refused 1 "all 6 points failed" sweep spec.yaml -o result.sqlite -j 2 --executor slurm
sqlite3 result.sqlite "select distinct error from points" 2>/dev/null >errors || echo "its tasks ended three times" >errors
grep -q "its tasks ended three times" errors || fail "error: $(cat errors)"

# A later driver cancels the array of one that was killed, and its tasks end.
rm -rf fake/* result.sqlite*
echo requeue >fake/modes
"$CNNVP" sweep spec.yaml -o result.sqlite -j 2 --executor slurm -q >out 2>err &
driver=$!
tries=0
until [ -s result.sqlite.work/slurm.task ] || [ $tries -gt 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
kill -9 $driver
wait $driver 2>/dev/null
expect 0 sweep spec.yaml -o result.sqlite -j 2 --executor slurm
logged "cancel 1"
absent result.sqlite.work
SLURM_ARRAY_TASK_ID=0 sh fake/script.1 2>err && fail "a task runs whose driver has gone"
grep -q "cannot be read" err || fail "message of such a task: $(cat err)"

# A task's file that is none, and a cluster that is none.
echo '{}' >bad.task
refused 2 "is no task of a sweep" sweep --task bad.task
touch fake/refuse
refused 1 "sbatch does not take the sweep: sbatch: " sweep spec.yaml -o other.sqlite --executor slurm
finish
