#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Accuracy and loss as objectives: of runs with labels and of trainings. What decides results is an option of sweeps.
. "$SOURCE/tests/support/lib.sh"
lenet=$SOURCE/scripts/networks/lenet5.onnx
images=$SOURCE/tests/data/lenet5_input.npy

# stats_of DATABASE PATTERN: the statistics of the points whose params are like that, without what differs each time.
stats_of() {
    sqlite3 "$1" "select json_remove(stats, '\$.wall_seconds') from points where params like '$2'"
}

# file_stats FILE [, PATH]: the same of a file of --stats, without more members.
file_stats() {
    sqlite3 :memory: "select json_remove(readfile('$1'), '\$.wall_seconds'${2:-})"
}
/usr/bin/python3 - "$SOURCE" <<'PYTHON'
import struct, sys, numpy
right = numpy.load(sys.argv[1] + "/tests/data/lenet5_output.npy")
right = right.reshape(len(right), -1).argmax(1)
right[0] = (right[0] + 1) % 10
numpy.save("labels.npy", right)
generator = numpy.random.default_rng(1)
labels = (numpy.arange(40) * 7 % 10).astype(numpy.uint8)
images = generator.integers(0, 60, (40, 8, 8)).astype(numpy.uint8)
for image, label in zip(images, labels):
    image[label % 5 + 1] += 150
    image[:, label // 5 * 4 + 1] += 40
for name, array in ("images", images), ("labels", labels):
    with open(name, "wb") as file:
        file.write(bytes([0, 0, 8, array.ndim]) + struct.pack(">%dI" % array.ndim, *array.shape) + array.tobytes())
PYTHON

# ---- runs with labels ----
cat >run.yaml <<END
network: $lenet
options: {input: input=$images, labels: labels.npy, rounding: [nearest, truncate]}
parameters: {pe_array.rows: [4, 8]}
objectives: [-values.accuracy.top1, total.time_ps]
END
expect 0 sweep run.yaml -o run.sqlite -j 2 --pareto --export run.csv
says " top1 "
[ "$(sqlite3 run.sqlite "select distinct json_extract(stats, '\$.values.accuracy') from points")" = \
    '{"images":4,"correct":3,"top1":0.75,"reference_correct":3,"reference_top1":0.75}' ] ||
    fail "accuracy: $(sqlite3 run.sqlite "select json_extract(stats, '\$.values.accuracy') from points")"
grep -q '^key,status,.*,values.accuracy.top1,' run.csv || fail "columns: $(head -n 1 run.csv)"

# A point is what `cnnvp run` says of it, values too; and labels change nothing else.
expect 0 run "$lenet" -i "$images" --labels labels.npy --rounding truncate -s pe_array.rows=4 -q --stats one.json
expect 0 run "$lenet" -i "$images" --rounding truncate -s pe_array.rows=4 -q --stats plain.json
own=$(stats_of run.sqlite '%truncate%"pe_array.rows":4}')
[ -n "$own" ] && [ "$own" = "$(file_stats one.json)" ] || fail "statistics with labels differ from those of run"
[ "$(file_stats one.json ", '\$.values.accuracy'")" = "$(file_stats plain.json)" ] || fail "labels change statistics"

# An input's name is part of a point: the same file under a wrong name is another one.
sed -e 's/input=/wrong=/' -e 's/rounding: .*}/rounding: nearest}/' -e 's/\[4, 8\]/4/' run.yaml >named.yaml
expect 1 sweep named.yaml -o named.sqlite -q
sed 's/wrong=/input=/' named.yaml >right.yaml
expect 0 sweep right.yaml -o named.sqlite
says "1 points: 1 ok, 0 failed; 0 were in named.sqlite already"

# What comes into being with the first request is an objective like any other.
sed "s/^objectives.*/objectives: [units.dram.requesters.dma.bursts]/" run.yaml >share.yaml
expect 0 sweep share.yaml -o share.sqlite -j 2 --pareto
says "units.dram.requesters.dma"
sed "s/^objectives.*/objectives: [layers.C1.energy_by_unit.pe_array, layers.C1.critical_path.uart]/" run.yaml >part.yaml
expect 0 sweep part.yaml -o part.sqlite -j 2 --pareto
says "layers.C1.energy_by_unit "
says "  0 ps"

# The same for an order of blocks.
cat >order.yaml <<END
network: $SOURCE/scripts/networks/mixed.onnx
options: {timing_only: true, schedule: depth-first, block: 4,
          plan: [$SOURCE/tests/data/plans/morton.yaml, $SOURCE/tests/data/plans/table.yaml]}
END
expect 0 sweep order.yaml -o order.sqlite -q
for order in morton table; do
    expect 0 run "$SOURCE/scripts/networks/mixed.onnx" --timing-only --schedule depth-first --block 4 \
        --plan "$SOURCE/tests/data/plans/$order.yaml" -q --stats one.json
    own=$(stats_of order.sqlite "%$order%")
    [ -n "$own" ] && [ "$own" = "$(file_stats one.json)" ] || fail "statistics of the order $order differ"
done

# One in a file beside the plan is a part of the point's key.
printf 'groups: [{halo: padding, order: blocks.yaml}]\n' >named.yaml
printf 'network: %s\noptions: {timing_only: true, schedule: depth-first, block: 4, plan: [named.yaml]}\n' \
    "$SOURCE/scripts/networks/mixed.onnx" >file.yaml
printf 'blocks: [[0, 0], [1, 0], [1, 1], [0, 1]]\n' >blocks.yaml
expect 0 sweep file.yaml -o file.sqlite
expect 0 sweep file.yaml -o file.sqlite
says "1 were in file.sqlite already"
printf 'blocks: [[0, 0], [0, 1], [1, 1], [1, 0]]\n' >blocks.yaml
expect 0 sweep file.yaml -o file.sqlite
says "0 were in file.sqlite already"

# ---- trainings ----
cat >train.yaml <<END
command: train
network: $SOURCE/scripts/networks/digits.onnx
platform: trainer
options:
  {dataset: "idx:images,labels", eval: "idx:images,labels", epochs: 1, batch: 20,
   rounding: [nearest, stochastic]}
objectives:
  [-values.training.eval_accuracy, values.training.loss, memory.read_bytes, layers.conv1.cycles, links.dma-dram.read_bytes,
   tensors.0.read_bytes]
END
expect 0 sweep train.yaml -o train.sqlite -j 2 --pareto --export train.csv
says "values.training "
losses=$(sqlite3 train.sqlite \
    "select count(*) from points where json_extract(stats, '\$.values.training.eval_loss') > 0")
[ "$losses" = 2 ] ||
    fail "trainings: $(sqlite3 train.sqlite "select error from points")"
expect 0 report train.sqlite -o train.html

# ---- objectives that there will not be ----
wrong() {
    sed -e '/^objectives/,$d' "$1" >wrong.yaml
    echo "objectives: [$2]" >>wrong.yaml
    refused 2 "$3" sweep wrong.yaml -o wrong.sqlite
}
wrong run.yaml -values.accuracy.top 'did you mean "values.accuracy.top1"'
wrong run.yaml units.dram.requesters.dam.bursts 'the statistics have no number "units.dram.requesters.dam.bursts"'
wrong run.yaml units.dram.requesters.dma.burst 'the statistics have no number "units.dram.requesters.dma.burst"'
wrong run.yaml layers.C1.energy_by_unit.pe_aray 'the statistics have no number "layers.C1.energy_by_unit.pe_aray"'
wrong run.yaml layers.C9.critical_path.dram 'the statistics have no number "layers.C9.critical_path.dram"'
wrong run.yaml values.training.loss "wrong.yaml:4:14: command: run has no values.training.loss"
wrong train.yaml -values.accuracy.top1 "command: train has no values.accuracy.top1"
wrong train.yaml values.training.eval_los 'did you mean "values.training.eval_loss"'
wrong train.yaml total.time_pq 'did you mean "total.time_ps"'
# Those of a network under training too, by the program itself.
wrong train.yaml layers.conv1.cycels 'did you mean "layers.conv1.cycles"'
wrong train.yaml links.dma-darm.read_bytes 'did you mean "links.dma-dram.read_bytes"'
wrong train.yaml network.mac 'did you mean "network.macs"'
# Also where the first point cannot be planned.
sed 's/^objectives/parameters: {intermediate_buffer.size: [8KiB, 1MiB]}\n&/' train.yaml >small.yaml
wrong small.yaml layers.conv1.cycels 'did you mean "layers.conv1.cycles"'
wrong train.yaml tensors.conv1.read_bytes 'the statistics have no number "tensors.conv1.read_bytes"'
sed -i 's/, labels: labels.npy//' run.yaml
wrong run.yaml -values.accuracy.top1 "needs the option labels"
sed -i 's/eval: [^ ]*, //' train.yaml
wrong train.yaml values.training.eval_loss "needs the option eval"
sed -i 's/epochs: 1/timing_only: true/' train.yaml
wrong train.yaml values.training.loss "there are no values with timing_only"
absent wrong.sqlite

# ---- every option of the commands decides a result, and is one of sweeps, or is known to decide none ----
for command in run train exec; do
    work_of="network: lenet5"
    [ $command = exec ] && work_of="program: run.yaml"
    "$CNNVP" $command --help | grep -oE -- '--[a-z][a-z-]*' | sort -u | cut -c3- >options
    while read -r option; do
        known=decides
        case " output dump report csv stats trace memory-trace profile gdb color quiet verbose help version platform set log checkpoint \
checkpoint-every resume plan-out check-costs check-results strict advise " in *" $option "*) known=not ;; esac
        printf 'command: %s\n%s\noptions: {%s: [[]]}\n' $command "$work_of" "$option" >option.yaml
        "$CNNVP" sweep option.yaml -o option.sqlite >out 2>err && echo "$command --$option is taken"
        said=decides
        grep -q "is no option of $command that a sweep can take" err && said=not
        [ $said = $known ] || echo "$command --$option: $(cat err)"
    done <options
done >unknown
[ -s unknown ] && fail "no options of sweeps: $(cat unknown)"
"$CNNVP" models values | grep -q "values.training.eval_accuracy" || fail "models values"
finish
