#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files in the wrong place, full disks, closed streams, signals: a message, the right status, nothing lost, nothing half-written.
. "$SOURCE/tests/support/lib.sh"
network=$SOURCE/scripts/networks/lenet5.onnx
input=$SOURCE/tests/data/lenet5_input.npy

# Full disks. A link, so that a mistake replaces the link and not the device.
ln -s /dev/full full
ln -s /dev/full full.vcd
for option in --output=full --stats=full --csv=full --trace=full.vcd; do
    refused 1 "No space left" run "$network" -q $option
done
printf 'nop\n' >nop.s
refused 1 "No space left" asm nop.s -o full
[ -L full ] && [ -L full.vcd ] || fail "a file took the place of a device"

# Links and pipes are written through.
: >real.npy
ln -s real.npy link.npy
expect 0 run "$network" -q -o link.npy
[ -L link.npy ] && [ -s real.npy ] || fail "the link was not written through"
mkfifo pipe
timeout 60 head -c 6 pipe >start &
expect 0 run "$network" -q -o pipe
wait
grep -q NUMPY start || fail "the pipe had no array"

# An output that is an input, or two outputs in one.
cp "$network" own.onnx
cp "$input" own.npy
ln own.npy other.npy
cp "$SOURCE/platform/presets/nfu.yaml" own.yaml
refused 2 "would be lost" run own.onnx -o own.onnx
refused 2 "would be lost" run own.onnx --stats own.onnx
refused 2 "would be lost" run own.onnx -i own.npy -o own.npy
refused 2 "would be lost" run own.onnx -i own.npy -o other.npy
refused 2 "would be lost" run own.onnx -p own.yaml --stats own.yaml
refused 2 "would be lost" run own.onnx -o new.npy --stats new.npy
refused 2 "would be lost" asm nop.s -o nop.s
refused 2 "would be lost" disasm nop.s -o ./nop.s
cmp -s "$network" own.onnx && cmp -s "$input" own.npy && [ "$(cat nop.s)" = nop ] || fail "an input was changed"
absent new.npy

# Labels that no class has.
/usr/bin/python3 -c 'import numpy
for name, label in ("many", 10), ("minus", -1), ("huge", 2**62): numpy.save(name, numpy.full(4, label))'
for name in many minus huge; do
    refused 2 "the network has classes 0 to 9" run "$network" -i "$input" -l $name.npy -q -o labelled.npy
done
absent labelled.npy

# No float pass for a network that cannot be planned: it would take 10^13 comparisons.
timeout 60 "$CNNVP" run "$SOURCE/tests/fuzz/corpus/onnx/huge.onnx" -s dram.size=4MiB >out 2>err
[ $? -eq 2 ] || fail "the plan was not checked first"
grep -q dram.size err || fail "no message about the plan"
timeout 60 "$CNNVP" run "$SOURCE/tests/fuzz/corpus/onnx/huge.onnx" >out 2>err
[ $? -eq 2 ] || fail "10^13 comparisons were begun"
grep -q '(MaxPool): windows of' err || fail "no message about the comparisons"

# Nor images: this file of some bytes has an input of 2^27 words.
cat >declared.py <<'END'
import resource, subprocess, sys
with open("declared.onnx", "wb") as file:
    file.write(bytes.fromhex(
        "08083a3c0a0c0a0178120179220452656c751201675a1e0a017812190a17080112130a0208010a030880040a030880040a03"
        "08800462090a017912040a02080142021011"))
run = subprocess.run([sys.argv[1], "run", "declared.onnx", "-q", "-s", "dram.size=512MiB"], stderr=subprocess.PIPE)
assert run.returncode == 2 and b"dram.size" in run.stderr, run
assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 300 << 10
END
/usr/bin/python3 declared.py "$CNNVP" || fail "images were made before their room was looked for"

# Names that are empty.
refused 2 "the name of a preset" check ''
refused 2 "the name of a preset" run "$network" -p ''

# Closed streams: messages must not go into files.
"$CNNVP" run "$network" -o closed.npy --stats closed.json <&- >&- 2>&-
[ $? -eq 1 ] || fail "a closed output was not noticed"
grep -q 'accelerator cycles' closed.npy closed.json && fail "the table is in a file"
"$CNNVP" models >/dev/full 2>err
[ $? -eq 1 ] || fail "a full output was not noticed"

# Signals.
for signal in INT TERM HUP; do
    "$CNNVP" run "$network" -n 3000 -q -o stopped.npy --dump stopped 2>err &
    process=$!
    sleep 0.7
    kill -s $signal $process
    wait $process
    status=$?
    [ $status -eq 1 ] || fail "status $status after SIG$signal"
    grep -q '^cnnvp: interrupted' err || fail "no message after SIG$signal: $(cat err)"
    absent stopped.npy stopped
    # What is written while the run goes on.
    "$CNNVP" run "$network" -n 100000 -q --timing-only --memory-trace stopped.txt 2>err &
    process=$!
    sleep 0.7
    kill -s $signal $process
    wait $process
    [ "$(echo stopped.txt*)" = stopped.txt ] || fail "SIG$signal left $(echo stopped.txt*)"
    rm -f stopped.txt
done
# While plans are tried: many of them, and a long run after them.
for signal in INT TERM; do
    "$CNNVP" run "$network" -p window -s dma.outstanding=1 --tune -n 3000 -q --stats tuned.json -o tuned.npy 2>err &
    process=$!
    sleep 0.3
    kill -s $signal $process
    wait $process
    status=$?
    [ $status -eq 1 ] || fail "status $status after SIG$signal among trials"
    grep -q '^cnnvp: interrupted' err || fail "no message after SIG$signal among trials: $(cat err)"
    grep -q '"command": "run"' tuned.json || fail "statistics after SIG$signal among trials"
    grep -q '"partial": true' tuned.json || fail "statistics after SIG$signal among trials are not marked"
    absent tuned.npy
    rm -f tuned.json
done
(trap '' HUP && exec "$CNNVP" run "$network" -n 500 -q -o ignored.npy) &
process=$!
sleep 0.2
kill -s HUP $process
wait $process || fail "a signal that is ignored ended the run"
# A file that may not grow.
(ulimit -f 2 && "$CNNVP" run "$network" -q --memory-trace limited.txt 2>err)
[ $? -eq 1 ] || fail "status of a file beyond its limit"
grep -q 'limited.txt.*File too large' err || fail "no word of a file beyond its limit: $(cat err)"
absent limited.txt
# At any time: before there is a handler nothing is written; afterwards the statistics are whole and say what they are.
for delay in 0.001 0.002 0.003 0.004 0.005 0.006 0.008 0.01 0.02 0.05 0.1 0.2; do
    rm -f early.json
    "$CNNVP" run "$network" -n 3000 -q --stats early.json --trace early.vcd -o early.npy 2>err &
    process=$!
    sleep "$delay"
    kill -s TERM $process
    wait $process
    status=$?
    case $status in
    143) absent early.json early.vcd early.npy ;;
    1)
        absent early.npy
        grep -q '"partial": true' early.json || fail "statistics after $delay s are not marked"
        grep -q '^cnnvp: interrupted' err || fail "no message after $delay s: $(cat err)"
        ;;
    *) fail "status $status when stopped after $delay s" ;;
    esac
done

# Nothing is left by a run that is killed, where files without a name can be had.
if python3 -c 'import os; os.open(".", os.O_TMPFILE | os.O_WRONLY)' 2>/dev/null; then
    for delay in 0.05 0.2 0.5; do
        "$CNNVP" run "$network" -n 3000 -q --stats k.json --trace k.vcd --memory-trace k.txt -o k.npy 2>err &
        process=$!
        sleep $delay
        kill -s KILL $process
        wait $process
        [ $? -eq 137 ] || fail "the run ended before it was killed"
        [ "$(echo k.*)" = "k.*" ] || fail "left behind after $delay s: $(echo k.*)"
    done
fi

# Two runs that write one file, and what a killed run has left: one whole file at the end.
"$CNNVP" run "$network" -q -o alone.npy || fail "the run alone"
echo left >shared.npy.tmp
"$CNNVP" run "$network" -q -o shared.npy &
first=$!
"$CNNVP" run "$network" -q -o shared.npy || fail "one of two runs"
wait $first || fail "the other of two runs"
cmp -s alone.npy shared.npy || fail "two runs made another file than one"
rm shared.npy.tmp
[ "$(echo shared.npy*)" = shared.npy ] || fail "left behind: $(echo shared.npy*)"

finish
