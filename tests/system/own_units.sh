#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Units of one's own in place of the vector unit, the DMA, a buffer, a block of the multi-function module and the off-chip
# memory: results stay the same, each command takes what the planner was told, and plans follow what the units cost.
# usage: own_units.sh PROGRAM LIBRARY NETWORK DIGITS
set -eu
cnnvp=$1 library=$2 network=$3 digits=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "own_units.sh: $*" >&2; exit 1; }

buffers='input: input_buffer, weight: weight_buffer, output: output_buffer'
cat >vector.yaml <<END
base: nfu
units:
  vector: {model: "$library:late_commands", connect: {to: own}}
  own: {model: vector, clock: pe_array, connect: {$buffers}}
END
cat >process.yaml <<END
base: nfu
units:
  vector: {model: "$library:process_commands", connect: {to: own, done: instruction.done}}
  own: {model: vector, clock: pe_array, connect: {$buffers}}
END
cat >dma.yaml <<END
base: nfu
units:
  dma: {model: "$library:late_commands", connect: {to: own}}
  own: {model: dma, clock: pe_array, connect: {$buffers, done: instruction.done, mem: dram}}
END
cat >input_buffer.yaml <<END
base: nfu
units:
  input_buffer: {model: "$library:late_words", connect: {to: own}}
  own: {model: buffer, clock: pe_array}
END
cat >relu.yaml <<END
base: trainer
units:
  relu: {model: "$library:slow_relu", connect: {buffer: relu_buffer, next: quantise}}
END
cat >dram.yaml <<END
base: nfu
units:
  dram: {model: "$library:flat_memory", at: 0x80000000}
END

# run FILE SETTING...; sets `cycles`, and `work`: how often the units of whose costs the plan knows are used
run() {
    file=$1
    shift
    "$cnnvp" run "$network" -p "$file" "$@" --check-costs -q --stats stats.json -o own.npy || fail "$file $*"
    if [ -e nfu.npy ]; then
        cmp -s own.npy nfu.npy || fail "$file $*: the output differs from the NFU's"
    fi
    # shellcheck disable=SC2046
    set -- $(/usr/bin/python3 - stats.json <<'PYTHON'
import json, sys
stats = json.load(open(sys.argv[1]))
units = stats["units"]
dma = units["own"] if "requests" in units.get("own", {}) else units["dma"]
print(stats["total"]["accel_cycles"], units.get("own", {}).get("commands", 0), dma["requests"],
      sum(units[name]["commands"] for name in ("pe_array", "vector", "own") if "commands" in units.get(name, {})))
PYTHON
)
    cycles=$1 vector_commands=$2 requests=$3 commands=$4
}

# fewer WHAT BEFORE NOW
fewer() { [ "$3" -lt "$2" ] || fail "$1: $3, before $2"; }

run nfu
mv own.npy nfu.npy
plain=$cycles
run process.yaml
[ "$cycles" = "$plain" ] || fail "commands in a process: $cycles cycles, not $plain"
for unit in vector dma input_buffer; do
    # what the write-out does is no work of the vector unit
    write_out=clip
    [ $unit != vector ] || write_out=round
    run nfu -s pe_array.write_out=$write_out
    plain=$cycles
    run $unit.yaml -s pe_array.write_out=$write_out -s $unit.lag=0
    [ "$cycles" = "$plain" ] || fail "$unit, no later: $cycles cycles, not $plain"
    before="$vector_commands $requests $commands"
    run $unit.yaml -s pe_array.write_out=$write_out -s $unit.lag=20000
    # shellcheck disable=SC2086
    set -- $before
    case $unit in
    vector) fewer "commands of a slow vector unit" "$1" "$vector_commands" ;;
    dma) fewer "requests of a slow DMA" "$2" "$requests" ;;
    *) fewer "commands that use a slow buffer" "$3" "$commands" ;;
    esac
done
# What waits for memory alone begins with less of it.
run dram.yaml -s dram.rate=1
slow=$requests
run dram.yaml -s dram.rate=64
fewer "requests to a fast memory" "$slow" "$requests"

# A block of the multi-function module: inference, and a training step, whose ReLU leaves the signs that backward takes.
"$cnnvp" run "$network" -p trainer -q --stats stats.json -o trainer.npy
/usr/bin/python3 - <<'PYTHON'
import random, struct
random.seed(1)
open("images", "wb").write(bytes([0, 0, 8, 3]) + struct.pack(">3I", 8, 8, 8) + random.randbytes(512))
open("labels", "wb").write(bytes([0, 0, 8, 1]) + struct.pack(">I", 8) + bytes(range(8)))
PYTHON
train() {
    "$cnnvp" train "$digits" --dataset idx:images,labels --batch 8 --check-costs -q --stats "$1.json" -o "$1.onnx" \
        -p "$2" || fail "train $2"
    busy=$(/usr/bin/python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["units"]["multi_function"]["busy_cycles"])' "$1.json")
}
train built_in trainer
plain=$busy
train own relu.yaml
cmp -s own.onnx built_in.onnx || fail "another ReLU: what is learned differs"
[ "$busy" = "$plain" ] || fail "another ReLU, as fast: $busy cycles, not $plain"
# Training plans follow what its units cost: where each transfer takes 20 us more, there are fewer.
cat >train_dma.yaml <<END
base: trainer
units:
  dma: {model: "$library:late_commands", connect: {to: own}}
  own:
    model: dma
    clock: pe_array
    word_bytes: 1
    port_bytes: 128
    connect: {input: input_buffer, weight: weight_buffer, output: intermediate_buffer, done: instruction.done, mem: dram}
END
requests_of() {
    /usr/bin/python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["units"]["own"]["requests"])' "$1"
}
for lag in 0 20000; do
    "$cnnvp" train "$(dirname "$digits")/lenet5.onnx" --dataset idx:images,labels --batch 8 --timing-only -q \
        --stats $lag.json -p train_dma.yaml -s dma.lag=$lag || fail "train_dma.yaml, lag $lag"
done
fewer "requests of a slow DMA in training" "$(requests_of 0.json)" "$(requests_of 20000.json)"
for interval in 1 20; do
    "$cnnvp" run "$network" -p relu.yaml -s relu.interval=$interval --check-costs -q -o own.npy || fail "relu.yaml"
    cmp -s own.npy trainer.npy || fail "another ReLU: the output differs"
done
