#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A layer function in place of ours, built against an installed copy alone: the same bits, other cycles and traffic, told
# by `cnnvp diff`. And a schedule.
# usage: own_layer.sh BUILD-FOLDER SOURCE
set -eu
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "own_layer.sh: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/usr" >/dev/null
cnnvp=$work/usr/bin/cnnvp share=$work/usr/share/cnnvp
cp -r "$share/examples/own_layer" "$work/mine"
cd "$work/mine"
make CNNVP="$cnnvp" CFLAGS='-O2 -g -Wall -Wextra -Werror' compare >made 2>&1 || fail "make compare: $(cat made)"
grep -q 'memory.read_bytes .*+' made || fail "diff shows no more traffic: $(cat made)"
/usr/bin/python3 - <<'PY' || fail "statistics"
import json
ours, mine = json.load(open("ours.json")), json.load(open("mine.json"))
assert ours["total"]["accel_cycles"] < mine["total"]["accel_cycles"], "not slower"
assert ours["memory"]["read_bytes"] < mine["memory"]["read_bytes"], "no more traffic"
for a, b in zip(ours["layers"], mine["layers"]):
    assert a["compute_cycles"] == b["compute_cycles"] and a["weight_words"] == b["weight_words"], (a["name"], a, b)
    more = a["dram_read_bytes"] < b["dram_read_bytes"]
    assert a["dram_read_bytes"] == b["dram_read_bytes"] or more and a["op"] == "conv", (a["name"], a, b)
PY

# run NETWORK OUTPUT OPTION...
run() {
    network=$1 output=$2
    shift 2
    "$cnnvp" run -q "$share/networks/$network.onnx" -n 3 --batch 2 -s input_buffer.size=4KiB -o "$output" "$@" ||
        fail "$network: status $?"
}
for network in lenet5 mixed; do
    run $network ours.npy
    run $network mine.npy --guest own_layer.elf
    cmp ours.npy mine.npy || fail "$network: other results"
done
"$cnnvp" run "$share/networks/lenet5.onnx" --guest own_layer.elf --tune --timing-only --profile mine.callgrind >shown ||
    fail "--tune: status $?"
grep -q '^fl=.*/mine/convolution.c$' mine.callgrind || fail "the profile has not its source"

# A schedule that does nothing.
cat >schedule.c <<'C'
#include "schedule.h"
void cnnvp_schedule_layers(struct cnnvp_guest *guest)
{
    cnnvp_element_layer(&guest->element, 1);
}
C
make CNNVP="$cnnvp" PROGRAM=nothing SOURCES=schedule.c >made 2>&1 || fail "another schedule: $(cat made)"
"$cnnvp" run -q "$share/networks/lenet5.onnx" --guest nothing.elf --stats nothing.json || fail "another schedule: status $?"
/usr/bin/python3 -c 'import json; assert json.load(open("nothing.json"))["total"]["macs"] >= 0
assert json.load(open("nothing.json"))["units"]["pe_array"]["commands"] == 0' || fail "our schedule has run"

# The page's table, by the commands of the page.
cp -r "$share/examples/own_layer" "$work/page"
cd "$work/page"
/usr/bin/python3 "$source/scripts/studies/make_vgg16.py" vgg16_32.onnx
make CNNVP="$cnnvp" compare NETWORK=vgg16_32.onnx OPTIONS='-p window -s input_buffer.size=16KiB --timing-only' >made 2>&1 ||
    fail "the page's command: $(cat made)"
/usr/bin/python3 "$source/tests/system/own_layer_table.py" ours.json mine.json >study.md
/usr/bin/python3 "$source/scripts/studies/tables.py" "$share/examples/own_layer/README.md" . ||
    fail "the page tells an old table; scripts/studies/tables.py writes it"
