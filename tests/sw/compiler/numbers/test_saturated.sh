#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Arguments of a sigmoid beyond 12 are cut off, and masked scores: --dump counts neither as a loss.
. "$SOURCE/tests/support/lib.sh"

/usr/bin/python3 - "$CNNVP" <<'PYTHON' || fail "losses of what is cut off"
import csv, subprocess, sys
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
node, f32 = helper.make_node, numpy.float32
random = numpy.random.RandomState(1)
x = random.uniform(-1, 1, (1, 4, 12, 12)).astype(f32)
mask = numpy.where(numpy.tril(numpy.ones((12, 12))) > 0, f32(0), f32(-1e9))
graph = helper.make_graph(
    [node("Conv", ["x", "w"], ["large"]), node("Conv", ["x", "v"], ["small"]),
     node("Concat", ["large", "small"], ["argument"], axis=1), node("Sigmoid", ["argument"], ["y"]),
     node("Conv", ["x", "v"], ["score"]), node("Add", ["score", "mask"], ["masked"]), node("Softmax", ["masked"], ["z"])],
    "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
    [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "yz"],
    [numpy_helper.from_array(random.standard_normal((4, 4, 1, 1)).astype(f32) * size, name)
     for name, size in (("w", f32(20)), ("v", f32(2)))] + [numpy_helper.from_array(mask, "mask")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), "m.onnx")
numpy.save("x.npy", x)
subprocess.run([sys.argv[1], "run", "m.onnx", "-i", "x.npy", "-q", "--dump", "dump"], check=True)
with open("dump/sqnr.csv") as table:
    low = [row for row in csv.DictReader(table) if float(row["sqnr_db"]) < 60]
with open("dump/sqnr.txt") as table:
    text = table.read()
print(text, *low, sep="\n")
sys.exit(bool(low) or "masked" in text.split("loses most")[-1])
PYTHON
finish
