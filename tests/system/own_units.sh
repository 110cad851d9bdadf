#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Units of one's own in place of the vector unit, the DMA, a buffer and the off-chip memory: results stay the same, each
# command takes what the planner was told, and plans follow what the units cost.
# usage: own_units.sh PROGRAM LIBRARY NETWORK
set -eu
cnnvp=$1 library=$2 network=$3
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
for unit in vector dma input_buffer; do
    run $unit.yaml -s $unit.lag=0
    [ "$cycles" = "$plain" ] || fail "$unit, no later: $cycles cycles, not $plain"
    before="$vector_commands $requests $commands"
    run $unit.yaml -s $unit.lag=20000
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
