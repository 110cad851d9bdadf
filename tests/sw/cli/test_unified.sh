#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One scratchpad in the place of three buffers: the same words on whichever way a network runs; plans; messages.
. "$SOURCE/tests/support/lib.sh"

run="run mixed -q -n 5 --seed 3"
# shellcheck disable=SC2086 # words
expect 0 $run -o nfu.npy
while read -r options; do
    # shellcheck disable=SC2086
    expect 0 $run -p unified $options -o words.npy --stats stats.json
    cmp words.npy nfu.npy || fail "other words with $options"
done <<END

--on-chip -s scratchpad.size=1MiB
--schedule auto
--schedule fused
--batch 2
--issue list
--tune
--objective traffic
-s scratchpad.pingpong=off
-s scratchpad.size=8KiB
-s scratchpad.width_words=8
END
# shellcheck disable=SC2086
for size in 8 256; do
    expect 0 $run -p unified -s scratchpad.size=${size}KiB -s pe_array.precision=int8 -o int8_$size.npy
done
cmp int8_8.npy int8_256.npy || fail "other words of 8 bits"

# A group that does not fit: with the size that the message says it does.
cat >group.yaml <<END
groups:
  - {layers: [C1, S2, C3, S4], tile_h: 5, tile_w: 5, halo: recompute}
END
refused 2 "a half of the input buffer lacks 8384 bytes; take smaller tiles, fewer layers or -s input_buffer.size=32768" \
    run lenet5 -q --timing-only --plan group.yaml -s input_buffer.size=2KiB
expect 0 run lenet5 -q --timing-only --plan group.yaml -s input_buffer.size=32768
refused 2 "fewer layers or -s scratchpad.size=131072" \
    run lenet5 -q --timing-only -p unified --plan group.yaml -s scratchpad.size=16KiB
expect 0 run lenet5 -q --timing-only -p unified --plan group.yaml -s scratchpad.size=131072

# Two of them.
cat >two.yaml <<END
platform: two
base: unified
units:
  instruction_b:
    {model: instruction, at: 0x10030000, irq: 2, clock: pe_array, queue_depth: 4096,
     connect: {array: pe_array_b, vector: vector_b, dma: dma_b, fetch: dram}}
  dma_b:
    model: dma
    clock: pe_array
    connect: {input: scratchpad_b.input, weight: scratchpad_b.weight, output: scratchpad_b.output, done: instruction_b.done, mem: dram}
  pe_array_b:
    {model: nfu, rows: 8, cols: 8, clock_mhz: 1000,
     connect: {input: scratchpad_b.input, weight: scratchpad_b.weight, output: scratchpad_b.output}}
  vector_b:
    {model: vector, clock: pe_array,
     connect: {input: scratchpad_b.input, weight: scratchpad_b.weight, output: scratchpad_b.output}}
  scratchpad_b: {model: scratchpad, at: 0x10040000, clock: pe_array, size: 256KiB, banks: 32, width_words: 192}
END
# shellcheck disable=SC2086
expect 0 $run -p two.yaml -o words.npy
cmp words.npy nfu.npy || fail "other words with two"
sed 's/scratchpad_b[.]weight, output: scratchpad_b.output, done/scratchpad_b.output, output: scratchpad_b.output, done/' two.yaml >bad.yaml
refused 2 "bad.yaml:10:50: dma_b.connect.weight: leads to scratchpad_b.output; networks need scratchpad_b.weight there" \
    run mixed -p bad.yaml --timing-only
refused 2 "use -s scratchpad.size=65536" run mixed -p unified -s scratchpad.size=32KiB --timing-only --on-chip
refused 2 "a half of scratchpad has 32 bytes" run mixed -p unified -s scratchpad.size=64 --timing-only

# Trials of groups, each of some of the layers, whose tables are shorter then.
expect 0 run vgg16_cifar -p unified --schedule auto --timing-only -q

# Where groups are worth less than what layers gain that divide the scratchpad for themselves, the plan is theirs.
for options in "-s scratchpad.size=8KiB" "-s cpu.clock_mhz=50 --objective energy"; do
    for schedule in layer auto; do
        # shellcheck disable=SC2086 # a list of words
        expect 0 run lenet5 -p unified --timing-only -q $options --schedule $schedule --stats $schedule.json
    done
    expect 0 diff layer.json auto.json
    says "no differences"
done

# Groups of one objective's plan are built again with their own tiles, not with those of the objective that was tried last.
tar -xJf "$SOURCE/tests/data/trained.tar.xz" mobile_int8.onnx
for schedule in layer auto; do
    expect 0 run mobile_int8.onnx -p unified --timing-only -q -s scratchpad.size=64KiB --objective energy \
        --schedule $schedule --stats $schedule.json
done
/usr/bin/python3 -c 'import json
layer, auto = (json.load(open(f"{schedule}.json"))["energy"]["total_pj"] for schedule in ("layer", "auto"))
assert auto <= layer, (layer, auto)' || fail "trials leave more energy than layers by themselves take"

# A plan goes round; its tiles have to fit.
expect 0 run lenet5 -p unified --timing-only -q --plan-out plan.yaml --stats made.json
expect 0 run lenet5 -p unified --timing-only -q --plan plan.yaml --stats taken.json
expect 0 diff made.json taken.json
says "no differences"
refused 2 'plan.yaml:3:9: layer "C1": its tile needs' run lenet5 -p unified --timing-only -s scratchpad.size=8KiB --plan plan.yaml
grep -q 'bytes of the scratchpad, one half of which holds 4096' err || fail "$(cat err)"

finish
