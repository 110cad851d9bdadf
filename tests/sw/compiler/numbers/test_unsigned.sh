#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Maps of 8-bit words that are never negative, between convolutions whose write-out scales: they hold 0 to 255, also in
# the frame that a convolution reads, and in pools.
. "$SOURCE/tests/support/lib.sh"

/usr/bin/python3 - "$CNNVP" <<'PYTHON' || fail "maps of 0 to 255"
import json, subprocess, sys
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
node = helper.make_node
random = numpy.random.RandomState(1)
x = random.randint(0, 128, (1, 8, 16, 16))
x[:, 2:] = random.randint(0, 2, (1, 6, 16, 16))
x[0, :2, 0, 0] = 127
numpy.save("x.npy", x.astype(numpy.float32))
# h0 = x0 + x1 + 1, up to 255; h1 = x0 + x1 + x2. The difference is exact only if both are.
first = numpy.zeros((8, 8, 1, 1), numpy.float32)
first[0, :2] = first[1, :3] = 1
first[2:, 3] = 1
bias = numpy.array([1] + [0] * 7, numpy.float32)
second = numpy.zeros((2, 8, 8, 3, 3), numpy.float32)
second[0, :, 0] = second[1, :, 0] = 1
second[0, :, 1] = -1
wrong = []
for pooled in (False, True):
    graph = helper.make_graph(
        [node("Conv", ["x", "v", "b"], ["c"]), node("Relu", ["c"], ["r"]),
         *([node("MaxPool", ["r"], ["h"], kernel_shape=[3, 3], pads=[1] * 4)] if pooled else []),
         *(node("Conv", ["h" if pooled else "r", name[0]], [name], pads=[1] * 4) for name in ("difference", "sum"))],
        "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("difference", "sum")],
        [numpy_helper.from_array(first, "v"), numpy_helper.from_array(bias, "b"), numpy_helper.from_array(second[0], "d"),
         numpy_helper.from_array(second[1], "s")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), "m.onnx")
    h = numpy.stack([x[0, 0] + x[0, 1] + 1, x[0, 0] + x[0, 1] + x[0, 2]])
    around = lambda of, fill: numpy.pad(of, ((0, 0), (1, 1), (1, 1)), constant_values=fill)
    nine = lambda of: [of[:, i:i + 16, j:j + 16] for i in range(3) for j in range(3)]
    h = numpy.max(nine(around(h, 0)), 0) if pooled else h
    sums = numpy.sum(nine(around(h, 0)), 0)
    for options in ([], ["--schedule", "fused"], ["--schedule", "auto"], ["--issue", "list"]):
        command = [sys.argv[1], "run", "m.onnx", "-p", "systolic", "--precision", "int8", "-q", "--stats", "s.json", *options]
        subprocess.run([*command, "-i", "x.npy", "-o", "d.npy", "-o", "s.npy", "--check-results"], check=True)
        with open("s.json") as stats:
            time = json.load(stats)["total"]["time_ps"]
        subprocess.run([*command, "--timing-only"], check=True)
        with open("s.json") as stats:
            same = time == json.load(stats)["total"]["time_ps"]
        difference, total = numpy.load("d.npy")[0, 0], numpy.load("s.npy")[0, 0]
        # A sum of up to 9 * 255 in 8 bits has steps of 16: 85 % of it fit 127 steps. Differences fit as they are.
        off = abs(total - numpy.minimum(sums[0], 127 * 16)).max(), abs(difference - (sums[0] - sums[1])).max()
        if not same or off[0] > 8 or off[1] > 0:
            wrong.append(f"pooled {pooled}, {options}: {off}, {same}")
print(*wrong, sep="\n")
sys.exit(bool(wrong))
PYTHON
finish
