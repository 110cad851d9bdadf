#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `cnnvp run --advise`: what would help first, and by how much.
. "$SOURCE/tests/support/lib.sh"
network=$SOURCE/scripts/networks/lenet5.onnx

# What would help: each line is what `run` says with that setting, beside what is set already, in the order of what this
# objective counts.
helps() { # network, its options, measure, what has to be among the lines
    # shellcheck disable=SC2086 # words
    expect 0 run "$1" --timing-only --advise --stats now.json $2
    cp out advice
    sed -n '/^  parameter /,$p' advice | sed -n 's/^[ *] \([-a-z_.]*\)  *\S* -> \(\S*\)  *\(\S*\) %  *\(\S*\) %  *\(\S*\) %\(  *\(\S*\) %\)\{0,1\}$/\1 \2 \3 \4 \5 \7/p' >helps
    [ "$(wc -l <helps)" -ge 3 ] || fail "no advice: $(cat advice)"
    grep -q "^$4" helps || fail "no advice of $4: $(cat advice)"
    [ "$(awk 'length > 100' advice | wc -l)" -eq 0 ] || fail "lines of more than 100 columns: $(awk 'length > 100' advice)"
    grep -q ideal helps && fail "advice to build what nobody can: $(grep ideal helps)"
    : >gains
    while read -r parameter value time energy area traffic; do
        case $parameter in
        --on-chip) change=--on-chip ;;
        --*) change="$parameter $value" ;;
        *) change="-s $parameter=$value" ;;
        esac
        # shellcheck disable=SC2086
        expect 0 run "$1" --timing-only -q $2 $change --stats then.json
        # shellcheck disable=SC2086 # the traffic is there if it is the measure
        /usr/bin/python3 - "$3" "$time" "$energy" "$area" $traffic <<'PYTHON' >>gains || fail "advice on $parameter"
import json, sys
now, then = json.load(open("now.json")), json.load(open("then.json"))
shown = ("total", "time_ps"), ("energy", "total_pj"), ("area", "total_um2"), ("memory", "burst_bytes")
assert len(sys.argv) == (6 if sys.argv[1] == "memory.burst_bytes" else 5), sys.argv
for said, (section, name) in zip(sys.argv[2:], shown):
    assert said == "%+.1f" % (100 * (then[section][name] / now[section][name] - 1)), (said, section)
section, name = sys.argv[1].split(".")
print(then[section][name] / now[section][name])
PYTHON
    done <helps
    sed '/^and the least/,$d' advice | grep -c ' -> ' >shown
    head -n "$(cat shown)" gains | sort -c -g || fail "$2: not in the order of $3: $(cat gains)"
}
helps "$network" "-n 8 -s pe_array.rows=4 -s dram.preset=ddr3-1600" total.time_ps --batch
expect 0 run "$network" --timing-only -n 8 --advise -s pe_array.rows=4 -s dram.preset=ddr3-1600
[ "$(grep -v 'host time\|^statistics' advice)" = "$(grep -v 'host time' out)" ] || fail "advice differs"
# All images go through a layer together if there are fewer than the next batch that is tried.
helps "$network" "-n 3 --objective energy -s dram.preset=lpddr5-6400" energy.total_pj "--batch 3"
helps "$network" "-n 12 --objective traffic" memory.burst_bytes "--batch 12"
helps "$SOURCE/scripts/networks/digits.onnx" "-n 4 -s cpu.clock_mhz=800" total.time_ps --objective
helps "$network" "-n 4 --objective traffic" memory.burst_bytes --batch
helps "$SOURCE/scripts/networks/mnist.onnx" "-p systolic --schedule fused" total.time_ps "--schedule auto"
# Accelerators that share images are alike: what helps changes in all of them.
helps "$network" "-n 2 -p $SOURCE/scripts/examples/accelerators/dual.yaml" total.time_ps accelerators.pe_array.rows
grep -q '_2\.' helps && fail "advice to make accelerators differ: $(grep _2 helps)"
# What trials without data cannot show is said.
expect 0 run "$network" --timing-only --advise -p systolic -s dram.preset=hbm3 -s output_buffer.size=4KiB
grep -q '^\* pe_array\.acc_bits  .*48 -> 24 ' out || fail "results are said to stay: $(tail out)"
[ "$(grep -c '^\* pe_array\.[a-z_]*  .* -> ' out)" = "$(grep -c '^\* .* -> ' out)" ] || fail "results are said to change: $(tail out)"
grep -q '^\* results may change' out || fail "nothing says what * is: $(tail out)"
# Twice as many lose, so half as many are tried.
helps "$network" "--objective energy -s pe_array.fifo_stride=8" energy.total_pj "pe_array.fifo_stride 4"
# A 0 of the memory's channels is the part's number, which can be another one.
helps "$network" "-s dram.preset=ddr3-1600" total.time_ps "dram.channels 2"
# The run waits for the core alone, and half of the energy is the memory's.
helps "$network" "-s cpu.clock_mhz=100 --objective energy" energy.total_pj "dram.preset lpddr5-6400"
# What has no effect is not tried: the DMA's two shares count only with this arbiter.
for arbiter in round-robin weighted; do
    expect 0 run "$network" --timing-only -n 4 --advise -s dma.arbiter=$arbiter
    sed -n 's/^\([0-9]*\) single changes tried.*/\1/p' out >tried.$arbiter
done
[ "$(cat tried.weighted)" -eq $(($(cat tried.round-robin) + 2)) ] || fail "$(cat tried.weighted) and $(cat tried.round-robin) changes tried"
# Nothing is tried that only simulates in another way, which may take as long as it is allowed to.
expect 0 run "$SOURCE/scripts/networks/vgg16_cifar.onnx" --timing-only --advise
grep -q 'do not end' out && fail "$(grep -A 5 'do not end' out)"
# A short run says which other way to run is best, without being asked: whoever follows it gains that, within a fifth. By
# --schedule auto it is left for it.
for options in "-n 16" "-n 16 --schedule auto" "-n 16 --objective energy" "-n 16 --objective traffic" "-n 16 -p systolic --batch 4"; do
    # shellcheck disable=SC2086
    expect 0 run "$network" --timing-only $options --stats now.json
    way=$(sed -n 's/^to try  *\(--[^:]*\): .*/\1/p' out)
    [ -n "$way" ] || fail "$options: nothing to try: $(cat out)"
    gain=$(sed -n 's/^to try  *--[^:]*: \(\S*\) % time, \(\S*\) % energy\(, \(\S*\) % traffic\)\{0,1\}$/\1 \2 \4/p' out)
    # shellcheck disable=SC2086
    expect 0 run "$network" --timing-only -q $options $way --stats then.json
    # shellcheck disable=SC2086
    /usr/bin/python3 - "$options" $gain <<'PYTHON' || fail "$options $way: not $gain"
import json, sys
now, then = json.load(open("now.json")), json.load(open("then.json"))
by_traffic = "traffic" in sys.argv[1]
assert len(sys.argv) == (5 if by_traffic else 4), sys.argv
counted = "memory" if by_traffic else "energy" if "energy" in sys.argv[1] else "total"
for said, (section, name) in zip(sys.argv[2:], (("total", "time_ps"), ("energy", "total_pj"), ("memory", "burst_bytes"))):
    got = 100 * (then[section][name] / now[section][name] - 1)
    assert abs(float(said) - got) <= abs(got) / 5, (said, got, section)
    assert got < -1 or section != counted, got
PYTHON
done
expect 0 run "$network" --timing-only -n 16 --on-chip
grep -q '^to try' out && fail "advice against what is best: $(grep '^to try' out)"
# Lines stay as wide as a terminal, however much they have to say.
for options in "--schedule fused -v" "--plan $SOURCE/scripts/examples/plans/lenet5.yaml" "-p trainer" \
    "-n 4 -p $SOURCE/scripts/examples/accelerators/dual.yaml"; do
    # shellcheck disable=SC2086 # a list of words
    expect 0 run "$network" --timing-only $options
    [ "$(awk 'length > 100' out | wc -l)" -eq 0 ] || fail "$options: lines of more than 100 columns: $(awk 'length > 100' out)"
    grep -Eq "^to go faster +twice as fast, [a-z_0-9]+ would bring about " out || fail "$options: nothing would help: $(grep bound out)"
done
# Maps of 10x10 on 8x8 PEs.
expect 0 run "$network" --timing-only
grep -q "^far from its bounds   C3 takes [0-9.]* times what its MACs or least bytes would: idle PEs [0-9.]* %, " out ||
    fail "nothing is far from its bounds: $(grep far out)"

# A plan that names the slower unit.
printf 'cuts:\n  C1: {unit: pe_array}\n  C3: {unit: vector}\n  S4: {unit: vector}\n' >units.yaml
expect 0 run "$network" --timing-only -p window --plan units.yaml --stats units.json
grep -q '^better by its price   C1 on vector, C3 on pe_array' out || fail "no better unit: $(grep better out)"
[ "$(grep -c '"better_unit": "vector"' units.json)" = 1 ] || fail "better units: $(grep better units.json)"
finish
