#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `cnnvp train`: files, messages, what changes nothing.
. "$SOURCE/tests/support/lib.sh"
. "$SOURCE/tests/sw/cli/lib_train.sh"

# ---- a whole run, and what it leaves ----

# shellcheck disable=SC2086 # a list of words
expect 0 train "$network" $set --eval idx:test_images,test_labels --epochs 2 --batch 16 --lr 0.05 --seed 3 -o a.onnx \
    --log a.csv --stats a.json --trace a.pftrace --report a.run --checkpoint a.check
for file in a.onnx a.csv a.json a.pftrace a.check; do
    [ -s $file ] || fail "no $file"
done
says "eval accuracy"
says "gradient"
grep -q 'step 10/10  loss .*  accuracy .*  simulated .*  ETA 0:00' err || fail "no line of progress: $(cat err)"
cp out table
/usr/bin/python3 - <<'PYTHON' || fail "log, table and statistics disagree"
import csv, json
rows = list(csv.DictReader(open("a.csv")))
assert [int(row["step"]) for row in rows] == list(range(1, 11)) and set(rows[0]) == {"step", "loss", "accuracy"}
assert sum(float(row["loss"]) for row in rows[5:]) < 0.7 * sum(float(row["loss"]) for row in rows[:5]), rows
stats = json.load(open("a.json"))
training = stats["values"]["training"]
sizes = [16, 16, 16, 16, 6]
loss = sum(float(row["loss"]) * size for row, size in zip(rows[5:], sizes)) / 70
accuracy = sum(float(row["accuracy"]) * size for row, size in zip(rows[5:], sizes)) / 70
assert training["steps"] == 10 and abs(training["loss"] - loss) < 1e-6 and abs(training["accuracy"] - accuracy) < 1e-6
assert training["nonfinite"] == 0
words = open("table").read().splitlines()[2].split()
assert words[:2] == ["2", "10"] and abs(float(words[2]) - loss) < 1e-4 and words[3] == "%.2f%%" % (100 * accuracy)
assert words[5] == "%.2f%%" % (100 * training["eval_accuracy"]), words
layers = stats["layers"]
assert {layer["phase"] for layer in layers} == {"forward", "backward", "gradient"}
for layer in layers:
    assert layer["cycles"] == layer["compute_cycles"] + sum(layer["stall_cycles"].values()), layer
total = stats["total"]
assert total["accel_cycles"] == sum(layer["cycles"] for layer in layers) + total["idle_cycles"]
assert total["macs"] == sum(layer["macs"] for layer in layers)
for key in ("read_bytes", "write_bytes"):
    assert stats["memory"][key] == sum(layer["dram_" + key] for layer in layers), key
# The track of layers has each step: the last gradient and the next step's forward are of the same layer, but not one span.
series = json.load(open("a.run/run.series"))
[tags] = [stream["tag"] for stream in series["streams"] if (stream["kind"], stream["name"]) == ("whole", "layers")]
for tag, layer in enumerate(layers, 1):
    assert tags.count(tag) >= 10, (layer["name"], layer["phase"], tags)
PYTHON

# An epoch that --steps cuts off is not evaluated, but has its row and its loss.
# shellcheck disable=SC2086
expect 0 train "$network" $set --eval idx:test_images,test_labels --epochs 2 --steps 7 --batch 16 --lr 0.05 --seed 3 \
    --log cut.csv --stats cut.json --checkpoint cut.check
cp out table
/usr/bin/python3 - <<'PYTHON' || fail "an epoch that is cut off: $(cat table)"
import csv, json
rows = list(csv.DictReader(open("cut.csv")))
training = json.load(open("cut.json"))["values"]["training"]
loss = sum(float(row["loss"]) for row in rows[5:]) / 2
assert training["steps"] == 7 and abs(training["loss"] - loss) < 1e-6, training
words = open("table").read().splitlines()[2].split()
assert words[:2] == ["2", "7"] and abs(float(words[2]) - loss) < 1e-4 and words[4:6] == ["-", "-"], words
PYTHON
# Epochs after the last step need no memory, and change nothing.
# shellcheck disable=SC2086
expect 0 train "$network" $set --eval idx:test_images,test_labels --epochs 40000000 --steps 7 --batch 16 --lr 0.05 --seed 3 -q \
    --log more.csv
cmp cut.csv more.csv || fail "epochs after the last step change the training"
# Where nothing is left to do there is no loss.
# shellcheck disable=SC2086
expect 0 train "$network" $set --eval idx:test_images,test_labels --epochs 2 --steps 7 --batch 16 --lr 0.05 --seed 3 -q \
    --resume cut.check --stats rest.json
[ "$(sqlite3 :memory: "select json_extract(readfile('rest.json'), '\$.values.training')")" = \
    '{"steps":7,"nonfinite":0,"loss":null,"accuracy":null}' ] || fail "a training that was at its end: $(grep -A9 training rest.json)"

# Timing needs no weights: a network without values takes what it takes with them.
for platform in nfu trainer; do
    expect 0 run a.onnx -p $platform --timing-only -q --stats with.json
    expect 0 run "$network" -p $platform --timing-only -q --stats without.json
    /usr/bin/python3 - <<'PYTHON' || fail "$platform: another time without values"
import json
with_values, without = (json.load(open(f"{name}.json")) for name in ("with", "without"))
assert with_values["total"]["accel_cycles"] > 0
for part in ("total", "layers", "tensors", "memory"):
    assert with_values[part] == without[part], part
assert json.load(open("a.json"))["network"]["xxh3"] == without["network"]["xxh3"], "training's network is another file"
PYTHON
done
refused 2 "digits.onnx: weight \"conv1.weight\" has no values: \`cnnvp train\` gives them to the network's weights, --timing-only needs none" \
    run "$network"
refused 2 "digits.onnx: weight \"conv1.weight\" has no values" run "$network" -p trainer
for other in mnist vgg16_cifar; do
    expect 0 run "$SOURCE/scripts/networks/$other.onnx" --timing-only -q
done

# The first epoch's convolutions cost what the closed forms say: 18 passes of four images (16, 16, 16, 16, 6: one is
# short).
expect 0 train "$network" $set --batch 16 --timing-only --stats forms.json -q
/usr/bin/python3 - <<'PYTHON' || fail "closed forms"
import json
cycles = {(layer["name"], layer["phase"]): layer["compute_cycles"] for layer in json.load(open("forms.json"))["layers"]}
passes, images = 4 * 4 + 2, 70
assert cycles["conv1", "forward"] == passes * 1 * 1 * 64 * 3
assert cycles["conv2", "forward"] == passes * 16 * 1 * 16 * 3
assert cycles["conv2", "backward"] == passes * 32 * 1 * 16 * 3
assert cycles["conv1", "gradient"] == images * 1 * 1 * 3 * 64
assert cycles["conv2", "gradient"] == images * 4 * 1 * 3 * 16
assert cycles["fc", "forward"] == passes * 128
assert cycles["fc", "backward"] == passes * 10 * 4
assert cycles["fc", "gradient"] == images * 32
PYTHON

# ---- the same again, on the other core, without arithmetic ----

same_stats() {
    /usr/bin/python3 - "$@" <<'PYTHON' || fail "statistics of $1 and $2 differ"
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:3])
for stats in (a, b):
    for key in ["wall_seconds"] + sys.argv[3:]:
        stats.pop(key, None)
assert a == b, [key for key in a if a[key] != b.get(key)]
PYTHON
}
again -o b.onnx --log b.csv --stats b.json --checkpoint b.check
for end in onnx csv check; do
    cmp -s a.$end b.$end || fail "a.$end and b.$end differ"
done
same_stats a.json b.json
again -s cpu.timing=off -o b.onnx --log b.csv
cmp -s a.onnx b.onnx || fail "software that takes no time learns something else"
again --timing-only -o t.onnx --stats t.json
grep -qx "cnnvp: --output: nothing is learned with --timing-only, and t.onnx is not written" err || fail "silent: $(cat err)"
absent t.onnx
same_stats a.json t.json values
again --dataset idx:images.gz,labels -o b.onnx
cmp -s a.onnx b.onnx || fail "gzip files teach something else"
again --rounding nearest -o b.onnx
cmp -s a.onnx b.onnx && fail "--rounding changes nothing"
again --seed 4 -o b.onnx
cmp -s a.onnx b.onnx && fail "--seed changes nothing"

# ---- what was learned is of use ----

for platform in nfu trainer; do
    expect 0 run a.onnx -p $platform -i images.npy --labels labels.npy --images 20
    says "top-1"
done

# A network exported for training: its batch norms take the statistics of the images. What is learned is the same, and the
# file runs with the statistics that were learned. The engine's inference has no others.
/usr/bin/python3 - <<'PYTHON'
import onnx
for opset in 13, 15:
    model = onnx.load("a.onnx")
    model.opset_import[0].version = opset
    for number, node in enumerate(model.graph.node):
        if node.op_type == "BatchNormalization" and opset >= 14:
            node.attribute.append(onnx.helper.make_attribute("training_mode", 1))
        if node.op_type == "BatchNormalization":
            node.output.extend(f"statistics.{number}.{i}" for i in range(2 if opset >= 14 else 4))
    onnx.save(model, f"norms{opset}.onnx")
PYTHON
# shellcheck disable=SC2086
expect 0 train a.onnx $set --batch 16 -q -o stored.onnx
for opset in 13 15; do
    # shellcheck disable=SC2086
    expect 0 train norms$opset.onnx $set --batch 16 -q -o learned.onnx
    /usr/bin/python3 - $opset <<'PYTHON' || fail "operator set $opset: a trained network's batch norms take statistics"
import onnx, sys
learned, stored = (onnx.load(name) for name in ("learned.onnx", "stored.onnx"))
stored.opset_import[0].version = int(sys.argv[1])
assert learned == stored
PYTHON
    limit=60
    refused 2 "(BatchNormalization): it takes the statistics of the images" run norms$opset.onnx -p trainer -i images.npy -q
    limit=300
done

# ---- bad input ----

# ---- S001's order of spilling, and where positions are staged ----

for way in "--spill early" "--spill late" "-s encode.positions=staged"; do
    # shellcheck disable=SC2086
    expect 0 train "$network" $set --batch 16 --seed 3 -q --stats spill.json -o spill.onnx $way
    mv spill.json "${way##*[ =]}.json"
    mv spill.onnx "${way##*[ =]}.onnx"
done
cmp early.onnx late.onnx || fail "parking changes what is learned"
cmp early.onnx staged.onnx || fail "staging changes what is learned"
/usr/bin/python3 - <<'PYTHON' || fail "spilling does not cost what it moves"
import json
early, late, staged = (json.load(open(name + ".json")) for name in ("early", "late", "staged"))
parked = 70 * 4 * (16 * 8 * 8 + 32 * 4 * 4)
assert late["memory"]["write_bytes"] - early["memory"]["write_bytes"] == parked, (late["memory"], early["memory"])
assert late["total"]["accel_cycles"] > early["total"]["accel_cycles"]
relu, ids = ([run["units"][name + "_buffer"]["written_bytes"] for run in (early, staged)] for name in ("relu", "id"))
assert relu[1] - relu[0] == ids[0] == ids[1] > 0
PYTHON
# shellcheck disable=SC2086
refused 2 "use -s intermediate_buffer.pingpong=on" train "$network" $set --spill late -s intermediate_buffer.pingpong=off

# ---- order of the images ----

# Images that lie the other way round are those of an order that says so; orders of one epoch and of all are the same.
/usr/bin/python3 - <<'PYTHON'
import random
for name, size in (("images", 64), ("labels", 1)):
    data = open(name, "rb").read()
    head, items = data[:len(data) - 70 * size], data[len(data) - 70 * size:]
    with open("turned_" + name, "wb") as file:
        file.write(head + b"".join(items[i * size:i * size + size] for i in reversed(range(70))))
down = list(reversed(range(70)))
mixed = random.Random(1).sample(down, 70)
repeated = [i - 4 if i % 4 == 0 and i else i for i in range(70)]  # images of one step, and of two
with open("images", "rb") as images, open("labels", "rb") as labels:
    for file, size in ((images, 64), (labels, 1)):
        data = file.read()
        head, items = data[:len(data) - 70 * size], data[len(data) - 70 * size:]
        with open("repeated_" + file.name, "wb") as out:
            out.write(head + b"".join(items[i * size:i * size + size] for i in repeated))
for name, numbers in (("down", down), ("repeated", repeated), ("both", down + down), ("mixed", down + mixed), ("few", down[1:]), ("high", [3, 70]),
                      ("word", ["1", "two"])):
    with open(name, "w", encoding="ascii") as file:
        file.write("\n".join(map(str, numbers)) + "\n")
PYTHON
# learned NAME WORD...: two epochs with these words.
learned() {
    name=$1
    shift
    expect 0 train "$network" --epochs 2 --batch 16 --seed 3 -q -o "$name.onnx" --checkpoint "$name.check" "$@"
}
# shellcheck disable=SC2086
{
    learned by_chance $set
    learned chance $set --shuffle on
    learned off $set --shuffle off
    learned turned --dataset idx:turned_images,turned_labels --shuffle off
    learned repeats --dataset idx:repeated_images,repeated_labels --shuffle off
    for order in down both mixed repeated; do
        learned $order $set --shuffle $order
    done
    cmp by_chance.onnx chance.onnx || fail "--shuffle on is not the default"
    cmp turned.onnx down.onnx || fail "an order is not that of images that lie so"
    cmp repeats.onnx repeated.onnx || fail "an order with images that repeat is not that of images that lie so"
    cmp down.onnx both.onnx || fail "the order of an epoch is not that of each"
    for other in chance off mixed; do
        ! cmp -s down.onnx $other.onnx || fail "the order of images changes nothing: $other"
    done
    refused 2 "order of images and seed must be the same" train "$network" $set --epochs 2 --batch 16 --seed 3 -q --shuffle off --resume chance.check
    refused 2 "few: it needs the numbers of 70 images for each epoch, or 140 for all; there are 69" \
        train "$network" $set --epochs 2 --shuffle few
    refused 2 "there are more than 70" train "$network" $set --shuffle both
    refused 2 'high:2: "70" is no number of an image' train "$network" $set --shuffle high
    refused 2 'word:2: "two' train "$network" $set --shuffle word
    refused 2 "absent: cannot be read: No such file" train "$network" $set --shuffle absent
}

refused 2 "--dataset is missing" train "$network"
refused 2 "NETWORK is missing" train
expect 0 train "$network" $set --timing-only -q --steps 1 --batch 4 --lr 0.01 --errors carried --stats learnt.json
/usr/bin/python3 -c '
import json
options = json.load(open("learnt.json"))["options"]
assert options == {"batch": "4", "errors": "carried", "lr": "0.01", "steps": "1"}, options' || fail "options in the statistics"
refused 2 'did you mean "digits"?' train digit --dataset idx:images,labels
refused 2 "absent: No such file" train "$network" --dataset idx:absent,labels
refused 2 "cut off in image 69 of 70" train "$network" --dataset idx:cut,labels -o x.onnx --log x.csv \
    --checkpoint x.check
absent x.onnx x.csv x.check
refused 2 "label 11 of image 5 is out of range; the network has 10 classes" train "$network" --dataset idx:images,wrong
refused 2 "wide: its images have 1 channels of 9 x 8; the network takes 1 of 8 x 8" \
    train "$network" --dataset idx:wide,labels
refused 2 "idx:IMAGES,LABELS or cifar10:FILE" train "$network" --dataset mnist
refused 2 "cut off in image 69" train "$network" $set --eval idx:cut,labels
refused 2 "absent.onnx" train absent.onnx $set
refused 2 "trainer" train "$network" $set -p nfu
refused 2 "\"1.5\" is not a number from 0 and below 1" train "$network" $set --momentum 1.5
refused 2 "\"nan\" is not a number above 0" train "$network" $set --lr nan
refused 2 "is not one of range|standard" train "$network" $set --bn layer
refused 2 "is out of range: 1 to 65535" train "$network" $set --batch 0
refused 2 "is out of range: 1 to" train "$network" $set --epochs 0
refused 2 "--checkpoint-every needs --checkpoint" train "$network" $set --checkpoint-every 2
refused 2 "--log needs the values" train "$network" $set --timing-only --log x.csv
refused 2 "cannot be written" train "$network" $set -o absent/x.onnx
refused 2 "cannot be written" train "$network" $set --checkpoint absent/x.check
cp "$network" own.onnx
refused 2 "own.onnx" train own.onnx $set -o own.onnx
cmp -s "$network" own.onnx || fail "the network was overwritten"
# A single value for all classes has no place for what each of them learns.
/usr/bin/python3 - <<'PYTHON'
import numpy, onnx
from onnx import helper, numpy_helper
weights, bias = numpy.zeros((10, 64), numpy.float32), numpy.ones(1, numpy.float32)
graph = helper.make_graph(
    [helper.make_node("Flatten", ["x"], ["f"]), helper.make_node("Gemm", ["f", "w", "b"], ["y"], name="fc", transB=1)], "one",
    [helper.make_tensor_value_info("x", 1, [None, 1, 8, 8])], [helper.make_tensor_value_info("y", 1, [None, 10])],
    [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), "one.onnx")
graph.node.append(helper.make_node("LogSoftmax", ["y"], ["z"], name="log", axis=1))
graph.output[0].name = "z"
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), "log.onnx")
del graph.node[2]
graph.output[0].name = "y"
# Nothing drops at random.
graph.node.insert(1, helper.make_node("Dropout", ["f", "ratio", "training"], ["d"], name="drop"))
graph.node[2].input[0], graph.node[2].input[2] = "d", ""
for name, ratio, training in ("drops", 0.5, True), ("half", 0.5, False), ("none", 0.0, True):
    del graph.initializer[:]
    graph.initializer.extend(numpy_helper.from_array(array, array_name) for array, array_name in (
        (weights, "w"), (numpy.array(ratio, numpy.float32), "ratio"), (numpy.array(training), "training")))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), f"{name}.onnx")
PYTHON
# A matrix that a node turns is replaced by a learned one: neither the old one nor that node is left beside it. What others
# read is.
/usr/bin/python3 - <<'PYTHON'
import numpy, onnx
from onnx import helper, numpy_helper
rng = numpy.random.default_rng(4)
nodes = [helper.make_node(*node) for node in (
    ("Flatten", ["x"], ["f"]), ("Identity", ["w"], ["v"]), ("Transpose", ["v"], ["t"]), ("MatMul", ["f", "t"], ["p"]),
    ("Reshape", ["p", "shape"], ["y"]))]
graph = helper.make_graph(
    nodes, "turned", [helper.make_tensor_value_info("x", 1, [None, 1, 8, 8])], [helper.make_tensor_value_info("y", 1, [None, 10])],
    [numpy_helper.from_array(0.1 * rng.standard_normal((10, 64)).astype(numpy.float32), "w"),
     numpy_helper.from_array(numpy.array([-1, 10]), "shape")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), "turned.onnx")
PYTHON
# shellcheck disable=SC2086
expect 0 train turned.onnx $set -q --limit 8 -o learned.onnx
/usr/bin/python3 - <<'PYTHON' || fail "what was not learned is in the trained file"
import numpy, onnx
from onnx import numpy_helper
graph = onnx.load("learned.onnx").graph
values = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
product, = (node for node in graph.node if node.op_type == "MatMul")
assert [node.op_type for node in graph.node] == ["Flatten", "MatMul", "Reshape"], graph.node
assert set(values) == {product.input[1], "shape"} and values[product.input[1]].shape == (64, 10), values.keys()
PYTHON
expect 0 run learned.onnx -p trainer -i images.npy -q
refused 2 'drops.onnx: node "drop" (Dropout): training_mode drops at random' train drops.onnx $set
expect 0 train half.onnx $set -q --limit 8
expect 0 train none.onnx $set -q --limit 8
refused 2 'one.onnx: node "fc" (Gemm): its bias is one value for all channels; to learn it needs 10' train one.onnx $set
expect 0 run one.onnx -p trainer -i images.npy -q
refused 2 "leave out what follows it (of a LogSoftmax, all)" train log.onnx $set
# Where a half holds two rows of errors, which give two rows of the layer's input, the ninth row, which no window covers, is
# not a tile of its own.
/usr/bin/python3 - <<'PYTHON'
import numpy, onnx
from onnx import helper, numpy_helper
shapes = {"a": (4, 1, 1, 1), "b": (4, 4, 2, 1), "c": (10, 4 * 4 * 60)}
rng = numpy.random.default_rng(2)
graph = helper.make_graph(
    [helper.make_node("Conv", ["x", "a"], ["p"]), helper.make_node("Relu", ["p"], ["q"]),
     helper.make_node("Conv", ["q", "b"], ["r"], strides=[2, 1]), helper.make_node("Relu", ["r"], ["s"]),
     helper.make_node("Flatten", ["s"], ["f"]), helper.make_node("Gemm", ["f", "c"], ["y"], transB=1)], "rows",
    [helper.make_tensor_value_info("x", 1, [None, 1, 9, 60])], [helper.make_tensor_value_info("y", 1, [None, 10])],
    [numpy_helper.from_array((0.3 * rng.standard_normal(shape)).astype(numpy.float32), name) for name, shape in shapes.items()])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), "rows.onnx")
PYTHON
expect 0 train rows.onnx $set --limit 8 --batch 4 -q -o many.onnx
expect 0 train rows.onnx $set --limit 8 --batch 4 -q -o few.onnx -s input_buffer.size=256 -s pe_array.arrays=1
cmp many.onnx few.onnx || fail "rows that no window covers are learned from otherwise in a small buffer"

# 90000 rows of a kernel's channels are more than a map may have. What is learned lies on its side like the images do.
/usr/bin/python3 - <<'PYTHON'
import numpy, onnx
from onnx import helper, numpy_helper
rng = numpy.random.default_rng(3)
images, labels = rng.integers(0, 256, (4, 3, 1), numpy.uint8), rng.integers(0, 2, 4).astype(numpy.uint8)
first = rng.standard_normal((30000, 1, 1, 1)).astype(numpy.float32)
second = (0.01 * rng.standard_normal((2, 30000, 3, 1))).astype(numpy.float32)
for name, turn in (("tall", False), ("flat", True)):
    lie = (lambda array: numpy.ascontiguousarray(array.swapaxes(-1, -2))) if turn else (lambda array: array)
    for kind, array in (("images", lie(images)), ("labels", labels)):
        head = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
        with open(f"{name}_{kind}", "wb") as file:
            file.write(head + array.tobytes())
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "a"], ["p"]), helper.make_node("Relu", ["p"], ["q"]),
         helper.make_node("Conv", ["q", "b"], ["r"]), helper.make_node("Flatten", ["r"], ["y"])], name,
        [helper.make_tensor_value_info("x", 1, [None, 1, *lie(images).shape[1:]])],
        [helper.make_tensor_value_info("y", 1, [None, 2])],
        [numpy_helper.from_array(first, "a"), numpy_helper.from_array(lie(second), "b")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), f"{name}.onnx")
PYTHON
for way in tall flat; do
    expect 0 train $way.onnx --dataset idx:${way}_images,${way}_labels --epochs 3 --batch 4 --lr 0.001 --rounding nearest -q \
        --errors plain --log $way.csv
done
cmp tall.csv flat.csv || fail "many channels learn otherwise than on their side"

# No output takes the place of a file of a data set, nor one of two, nor of another output that is named in another way.
cp test_images own_images
cp test_labels own_labels
for way in "--stats own_images" "-o ./own_labels" "--eval idx:own_images,own_labels --log own_labels" \
    "-o new.onnx --stats ./new.onnx"; do
    # shellcheck disable=SC2086 # a list of words
    refused 2 "which would be lost" train "$network" --dataset idx:own_images,own_labels --steps 1 -q $way
done
# shellcheck disable=SC2086 # a list of words
refused 2 "one file is taken; b.onnx is a second" train "$network" $set --steps 1 -q -o a.onnx -o b.onnx
cmp -s test_images own_images && cmp -s test_labels own_labels || fail "a data set has been overwritten"

# Where the program does not fit into the core's own memory, it is read off chip, and the same is learnt.
for size in 256KiB 8KiB; do
    expect 0 train "$network" $set --batch 16 --steps 2 -o tcm_$size.onnx --stats tcm_$size.json -s cpu.tcm_size=$size
done
grep -q 'tightly coupled memory, it has 8 KiB' err || fail "no word of the memory: $(cat err)"
cmp -s tcm_256KiB.onnx tcm_8KiB.onnx || fail "another memory of the core learns something else"

# What no file may have ends training with a word of it; what else is not finite is told.
refused 1 "are not finite: no network can be written" \
    train "$network" $set --batch 16 --epochs 5 --lr 1000 -o x.onnx --log x.csv
absent x.onnx
[ "$(wc -l <x.csv)" -eq 26 ] || fail "the log of a training that went astray: $(cat x.csv)"
rm -f x.csv
expect 0 train "$network" $set --batch 16 --epochs 5 --lr 1000 --stats x.json
says "not finite "
grep -A 3 '"nonfinite": {' x.json | grep -q ': [1-9]' || fail "no layer has values that are not finite"

# A sweep over training, by the loss it ends with; accuracy may be an objective too.
cat >sweep.yaml <<YAML
command: train
network: $network
platform: trainer
options: {dataset: "idx:images,labels", batch: 16, limit: 32, lr: [0.01, 0.05]}
parameters: {pe_array.cols: [16, 32]}
objectives: [values.training.loss, -values.training.accuracy, total.accel_cycles]
YAML
expect 0 sweep sweep.yaml -o sweep.sqlite -j 2 --export sweep.csv
/usr/bin/python3 - <<'PYTHON' || fail "sweep: $(head -c 600 sweep.csv)"
import csv
rows = list(csv.DictReader(open("sweep.csv")))
assert len(rows) == 4 and all(row["status"] == "ok" for row in rows), rows
assert len({row["values.training.loss"] for row in rows}) == 2 and len({row["total.accel_cycles"] for row in rows}) == 2
PYTHON

# The memory that a message asks for is enough, and one that has no addresses is not asked for.
# shellcheck disable=SC2086
{
    refused 2 "a smaller batch, fewer images (--limit), fewer epochs or -s dram.size=" train "$network" $set -s dram.size=1MiB
    expect 0 train "$network" $set --steps 1 -q -s "$(grep -o 'dram.size=[0-9]*MiB' err)"
    refused 2 "fewer images (--limit), fewer epochs" train "$network" $set --epochs 10000000
    grep -q 'dram.size' err && fail "memory without addresses: $(cat err)"
}

# A batch larger than the data set is one short step; a time limit fails the run.
expect 0 train "$network" $set --batch 1000 --log x.csv -q
[ "$(wc -l <x.csv)" -eq 2 ] || fail "$(cat x.csv)"
# Three layers are called conv2: the one that is far from its bounds has its phase.
expect 0 train "$network" $set --limit 8 --batch 4 --timing-only -s multi_function.speedup=2 --stats far.json
/usr/bin/python3 - <<'PYTHON' || fail "the layer far from its bounds: $(grep 'far from' out)"
import json
layers = [layer for layer in json.load(open("far.json"))["layers"] if layer["least_cycles"]]
far = max(layers, key=lambda layer: layer["cycles"] - layer["least_cycles"])
assert far["phase"] != "forward" and f"{far['name']} {far['phase']} takes " in open("out").read(), far
PYTHON
refused 1 "--max-time was reached at 100 us of simulated time: " train "$network" $set --max-time 100us -o x.onnx
absent x.onnx
finish
