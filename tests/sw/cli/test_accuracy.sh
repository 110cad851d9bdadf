#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `cnnvp run` says of its outputs' accuracy.
. "$SOURCE/tests/support/lib.sh"
network=$SOURCE/scripts/networks/lenet5.onnx
input=$SOURCE/tests/data/lenet5_input.npy

# How far an output is from the float model: what numpy says of the dumped values; a warning below 20 dB, with -q too.
/usr/bin/python3 - <<'PYTHON'
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper

def save(file, *nodes, **weights):
    graph = helper.make_graph(nodes, file, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 8, 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    onnx.save(model, file)

random = numpy.random.RandomState(1)
matrix = random.standard_normal((2, 2, 1, 1)).astype("float32")
one, zero = numpy.ones(2, "float32"), numpy.zeros(2, "float32")
normal = helper.make_node("InstanceNormalization", ["c", "one", "zero"], ["y"], epsilon=1e-5)
save("normal.onnx", helper.make_node("Conv", ["x", "matrix"], ["c"]), normal, matrix=matrix, one=one, zero=zero)
apart, after = (random.standard_normal(shape).astype("float32") for shape in ((4, 1, 3, 3), (2, 4, 1, 1)))
save("apart.onnx", helper.make_node("Conv", ["x", "apart"], ["c"], group=2, pads=[1] * 4),
     helper.make_node("Conv", ["c", "after"], ["y"]), apart=apart, after=after)
small, large = apart[:, :, :1, :1].repeat(2, 1), after.copy()
small[1] *= 2e-4
large[:, 1] *= 1e3
save("joined.onnx", helper.make_node("Conv", ["x", "small"], ["c"]), helper.make_node("Concat", ["c", "c"], ["r"], axis=2),
     helper.make_node("Conv", ["r", "large"], ["y"]), small=small, large=large)
save("relu.onnx", helper.make_node("Relu", ["x"], ["y"]))
flat = numpy.full((1, 2, 8, 8), 33.37, "float32")
numpy.save("flat_maps.npy", flat)
flat[0, 1] += random.standard_normal((8, 8)) * 1e-3
numpy.save("near_flat.npy", flat)
numpy.save("negative.npy", -numpy.ones((1, 2, 8, 8), "float32"))
PYTHON
expect 0 run "$network" -i "$input" -n 1 --dump one
/usr/bin/python3 - <<'PYTHON' || fail "from the float model: $(grep '^off' out)"
import glob, numpy, re
exact = numpy.load(sorted(glob.glob("one/*.float.npy"))[-1]).astype(float)
noise = numpy.load(sorted(glob.glob("one/*.float.npy"))[-1].replace(".float.npy", ".npy")) - exact
said = re.search(r"^from the float model +SQNR ([0-9.]+) dB, at most ([0-9.]+) % of the maximum; "
                 "same top-1 in 1 of 1 images$", open("out").read(), re.M)
assert abs(float(said[1]) - 10 * numpy.log10((exact ** 2).sum() / (noise ** 2).sum())) <= 0.051
assert abs(float(said[2]) - 100 * abs(noise).max() / abs(exact).max()) <= 0.00051
PYTHON
[ ! -s err ] || fail "a warning of a good output: $(cat err)"
for quiet in "" -q; do
    # shellcheck disable=SC2086 # nothing or one word
    expect 0 run normal.onnx -i near_flat.npy $quiet
    grep -q '^cnnvp: warning: output "y": SQNR -*[0-9.]* dB against the float model, below 20 dB; --dump FOLDER' err ||
        fail "no warning of an output that is noise: $(cat err)"
    # shellcheck disable=SC2086 # nothing or one word
    expect 0 run normal.onnx -i flat_maps.npy $quiet
    grep -q "^cnnvp: warning: output \"y\": the float model's values are all 0, these are up to [0-9.e-]*; --dump" err ||
        fail "no warning of noise where nothing is: $(cat err)"
done
expect 0 run normal.onnx -i flat_maps.npy --dump flat_dump
says "from the float model  its values are all 0, these are up to "
# Two outputs of each channel are layers of their own, whose channels lie apart.
expect 0 run apart.onnx -i near_flat.npy --dump apart
awk 'NR > 2 && $5 < 60' apart/sqnr.txt | grep -q . && fail "channels that lie apart: $(cat apart/sqnr.txt)"
# Several layers copy their part to one tensor, of whose channels one is equalised.
expect 0 run joined.onnx -i near_flat.npy --dump joined
[ "$(grep -c '^r ' joined/sqnr.txt)" = 1 ] || fail "a tensor of several layers: $(cat joined/sqnr.txt)"
awk 'NR > 2 && $5 < 70 && !/loses|then/' joined/sqnr.txt | grep -q . &&
    fail "equalised channels that are copied: $(cat joined/sqnr.txt)"
expect 0 run relu.onnx -i negative.npy
says "from the float model  not at all, SQNR without limit"
grep -qi 'nan\|inf' out flat_dump/sqnr.txt && fail "no number: $(cat out flat_dump/sqnr.txt)"
[ ! -s err ] || fail "a warning of an exact output: $(cat err)"
finish
