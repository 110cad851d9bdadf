#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checkpoints of `cnnvp train`: what is continued is as if it had never stopped; signals; files that are none.
. "$SOURCE/tests/support/lib.sh"
. "$SOURCE/tests/sw/cli/lib_train.sh"

again -o a.onnx --checkpoint a.check
# shellcheck disable=SC2086
expect 0 train "$network" $set --eval idx:test_images,test_labels --epochs 1 --batch 16 --lr 0.05 --seed 3 -q \
    --checkpoint half.check
again --resume half.check -o b.onnx --checkpoint b.check
cmp -s a.onnx b.onnx || fail "a resumed run learns something else"
cmp -s a.check b.check || fail "a resumed run's checkpoint differs"
# In the midst of an epoch.
again --steps 3 --checkpoint half.check
again --resume half.check --checkpoint half.check -o b.onnx --log rest.csv
cmp -s a.onnx b.onnx || fail "a run resumed within an epoch learns something else"
[ "$(sed -n 2p rest.csv | cut -d, -f1)" = 4 ] || fail "a resumed log begins at $(sed -n 2p rest.csv)"

# A log that is there is continued from the checkpoint's step on; what a killed run had written beyond it is replaced.
again --log whole.csv
again --steps 3 --checkpoint half.check --log log.csv
again --resume half.check --log log.csv
cmp -s whole.csv log.csv || fail "a continued log: $(cat log.csv)"
again --resume half.check --log log.csv
cmp -s whole.csv log.csv || fail "a log that is continued twice: $(cat log.csv)"
again --log log.csv --steps 3
[ "$(wc -l <log.csv)" = 4 ] || fail "without --resume a log is begun anew: $(cat log.csv)"
# What ends before its first step stands at the checkpoint's.
# shellcheck disable=SC2086
refused 1 "--max-time was reached" train "$network" $set --eval idx:test_images,test_labels --epochs 2 --batch 16 --lr 0.05 \
    --seed 3 -q --resume half.check --max-time 1us --stats early.json
[ "$(sqlite3 :memory: "select json_extract(readfile('early.json'), '\$.values.training.steps')")" = 3 ] ||
    fail "steps of a run that ended before its first: $(grep -A9 training early.json)"

cp "$SOURCE/README.md" other.csv
# shellcheck disable=SC2086
refused 2 "--log: other.csv is no log of a training" train "$network" $set --eval idx:test_images,test_labels --epochs 2 \
    --batch 16 --lr 0.05 --seed 3 --resume half.check --log other.csv
cmp -s "$SOURCE/README.md" other.csv || fail "a file that is no log is written to"

# A signal: the step is brought to its end, nothing but the checkpoint and what is marked as partial stays behind.
# interrupt FILE [OPTION...]: once there is something in FILE.
interrupt() {
    sign=$1
    shift
    rm -f "$sign"
    # shellcheck disable=SC2086
    "$CNNVP" train "$network" $set --epochs 100000 --batch 16 --lr 0.05 --seed 3 "$@" >out 2>err &
    pid=$!
    for _ in $(seq 300); do
        sleep 0.2
        [ ! -s "$sign" ] || break
    done
    kill -s "$signal" $pid
    wait $pid
    status=$?
}
for signal in INT TERM; do
    interrupt live.check -q -o never.onnx --stats part.json --checkpoint live.check --checkpoint-every 3
    [ $status -eq 1 ] || fail "status $status after SIG$signal"
    grep -q 'cnnvp: interrupted after step [0-9]*; --resume live.check continues from there' err || fail "$(cat err)"
    absent never.onnx
    grep -q '"partial": true' part.json || fail "statistics are not marked as partial"
done
steps=$(sed -n 's/.*after step \([0-9]*\);.*/\1/p' err)
expect 0 train "$network" $set --epochs 100000 --steps $((steps + 2)) --batch 16 --lr 0.05 --seed 3 -q \
    --resume live.check -o b.onnx
expect 0 train "$network" $set --epochs 100000 --steps $((steps + 2)) --batch 16 --lr 0.05 --seed 3 -q -o c.onnx
cmp -s b.onnx c.onnx || fail "an interrupted run learns something else"
interrupt out -o never.onnx
[ $status -eq 1 ] || fail "status $status after SIG$signal without a checkpoint"
absent never.onnx

# What cannot be caught: the log's rows up to the checkpoint's step are there.
signal=KILL
interrupt killed.check -q --checkpoint killed.check --checkpoint-every 1 --log killed.csv
[ $status -gt 128 ] || fail "status $status after SIGKILL"
rows=$(wc -l <killed.csv)
expect 0 train "$network" $set --epochs 100000 --steps $((rows + 1)) --batch 16 --lr 0.05 --seed 3 -q \
    --resume killed.check --log killed.csv
[ "$(sed 1d killed.csv | cut -d, -f1 | tr '\n' ' ')" = "$(seq -s ' ' $((rows + 1))) " ] || fail "rows are missing: $(cat killed.csv)"

for wrong in "head -c 100 a.check" "cat a.onnx" "head -c 1000 /dev/zero" "true"; do
    $wrong >bad.check
    refused 2 "bad.check: " train "$network" $set --batch 16 --seed 3 --resume bad.check
done
cp a.check bad.check
printf 'x' | dd of=bad.check bs=1 seek=3000 conv=notrunc 2>/dev/null
refused 2 "the checkpoint is damaged" train "$network" $set --epochs 2 --batch 16 --seed 3 --resume bad.check
refused 2 "a.check: " train "$network" $set --epochs 2 --batch 16 --seed 4 --resume a.check
refused 2 "a.check: " train "$network" $set --epochs 2 --batch 8 --seed 3 --resume a.check
refused 2 "a.check: " train "$network" --dataset idx:test_images,test_labels --epochs 2 --batch 16 --seed 3 \
    --resume a.check
finish
