#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the driver of cnnvp sweep --executor slurm does when Slurm fails it: srun is a script that runs the worker here,
# or fails as each case wants. test_slurm.sh has the real one.
. "$SOURCE/tests/support/lib.sh"
limit=120
mkdir bin fake
export FAKE="$work/fake" PATH="$work/bin:$PATH"

# Each call takes one word of the file `modes`: run, refuse (no worker begins), queue (it waits until it is cancelled),
# lose (the worker begins, and is gone before it takes its point), stay (it does not notice that its worker has ended).
cat >bin/srun <<'END'
#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift; done
mode=$( (flock 9; head -n 1 "$FAKE/modes"; sed -i 1d "$FAKE/modes") 9>"$FAKE/lock")
echo "${mode:-run}" >>"$FAKE/log"
case ${mode:-run} in
    refuse) echo "srun: error: no such partition" >&2; exit 1 ;;
    queue) trap 'echo cancelled >>"$FAKE/log"; exit 0' TERM; while :; do sleep 0.1; done ;;
    lose) "$@" </dev/null; exit 1 ;;
    stay) trap 'echo ended >>"$FAKE/log"; exit 0' TERM; "$@"; while :; do sleep 0.1; done ;;
esac
exec "$@"
END
chmod +x bin/srun

cat >spec.yaml <<END
network: $SOURCE/scripts/networks/lenet5.onnx
options: {timing_only: true}
parameters:
  pe_array.rows: {from: 1, to: 6, step: 1}
END
# modes WORD...: for the calls of srun to come; no results are left.
modes() {
    rm -rf fake/* result.sqlite*
    for mode in "$@"; do
        echo "$mode"
    done >fake/modes
}
# brings WORD...: with calls of these modes all points arrive; `fake/log` says how.
brings() {
    modes "$@"
    expect 0 sweep spec.yaml -o result.sqlite -j 2 --executor slurm
    says "6 points: 6 ok, 0 failed"
    absent result.sqlite.work
}
logged() {
    [ "$(grep -cx "$1" fake/log)" -eq "$2" ] || fail "not $2 times \"$1\" in: $(cat fake/log)"
}

# Two workers take all points.
brings run run
logged run 2
# The point of a worker that is lost runs again in another one; so does that of one that Slurm did not start.
brings lose run
brings refuse refuse run
logged refuse 2
# The sweep ends although an srun does not.
brings stay run
logged ended 1
# A point does not wait in the queue when a worker is free, and the queue is told of while nothing runs.
brings run queue
logged cancelled 1
grep -q "waits for Slurm" err && fail "a wait is told of although a worker runs: $(cat err)"
modes queue queue
"$CNNVP" sweep spec.yaml -o result.sqlite -j 2 --executor slurm >out 2>err &
driver=$!
tries=0
until grep -q "waits for Slurm: 2 worker(s) are queued" err || [ $tries -gt 200 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
[ $tries -le 200 ] || fail "nothing is said of the wait: $(cat err)"
# A driver that is killed takes its workers along, and a later one goes on.
kill -9 $driver
wait $driver 2>/dev/null
sleep 1
logged cancelled 2
expect 0 sweep spec.yaml -o result.sqlite -j 2 --executor slurm
says "6 points: 6 ok, 0 failed"
absent result.sqlite.work

# Slurm starts no worker: the sweep ends, no point is to blame.
modes refuse refuse refuse refuse refuse refuse
refused 1 "Slurm gives no worker: srun has ended 3 times before one began" sweep spec.yaml -o result.sqlite -j 2 --executor slurm
grep -q "no such partition" err || fail "srun's own reason is missing: $(cat err)"
# A point whose worker is lost each time fails.
sed -e 's/to: 6/to: 1/' spec.yaml >one.yaml
modes lose lose lose
refused 1 "ended with status 1, 3 time(s)" sweep one.yaml -o result.sqlite -j 1 --executor slurm

# A worker without its driver ends; a task's file that is none is refused.
echo '{}' >bad.task
refused 2 "is no task of a sweep" sweep --task bad.task
cat >good.task <<END
{"spec": "$work/spec.yaml", "folder": "$work", "program": "$CNNVP"}
END
mkfifo line
"$CNNVP" sweep --task good.task <line >answers &
worker=$!
exec 3>line
tries=0
until [ -s answers ] || [ $tries -gt 100 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
rm good.task
wait $worker || fail "a worker without its driver: status $?"
exec 3>&-
finish
