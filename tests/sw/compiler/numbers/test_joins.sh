#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Detectors join numbers of different sizes, such as boxes in pixels with scores: what boxes are computed from keeps its
# precision.
. "$SOURCE/tests/support/lib.sh"

/usr/bin/python3 - "$CNNVP" <<'PYTHON' || fail "boxes beside scores"
import subprocess, sys
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
node = helper.make_node
x = numpy.random.RandomState(1).uniform(-3, 3, (1, 6, 8, 8)).astype(numpy.float32)
s = 1 / (1 + numpy.exp(-x.astype(float)))
wanted = numpy.concatenate([s[:, :2] ** 2 * 1500, s[:, 2:]], 1)
graph = helper.make_graph(
    [node("Sigmoid", ["x"], ["s"]), node("Split", ["s", "parts"], ["size", "score"], axis=1),
     node("Mul", ["size", "size"], ["square"]), node("Mul", ["square", "pixels"], ["box"]),
     node("Concat", ["box", "score"], ["y"], axis=1)], "net",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    [numpy_helper.from_array(numpy.array([2, 4]), "parts"),
     numpy_helper.from_array(numpy.array(1500, numpy.float32), "pixels")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), "m.onnx")
numpy.save("x.npy", x)
low = []
for options in ([], ["--schedule", "fused"], ["-p", "window"], ["-s", "vector.write_out=scale"]):
    subprocess.run([sys.argv[1], "run", "m.onnx", "-i", "x.npy", "-o", "y.npy", "-q", "--check-results", *options], check=True)
    error = abs(numpy.load("y.npy") - wanted)
    # Half a step of 2^-4 for scores; boxes are within 0.1 %, as the table of the sigmoid and the words allow.
    if error[:, :2].max() > 1.5 or error[:, 2:].max() > 0.04:
        low.append(f"{options}: boxes {error[:, :2].max():.3f}, scores {error[:, 2:].max():.3f}")
print(*low, sep="\n")
sys.exit(bool(low))
PYTHON
finish
