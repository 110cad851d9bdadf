#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sums, differences, maxima and minima of large and small numbers: each operand keeps the format that it has alone,
# whichever comes first, also for what else reads it. The result is exact but for one rounding.
. "$SOURCE/tests/support/lib.sh"

/usr/bin/python3 - "$CNNVP" <<'PYTHON' || fail "operands of different sizes"
import subprocess, sys
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
node = helper.make_node
random = numpy.random.RandomState(1)
# Words of 4 fraction bits, up to 1000, and of 14, up to 1: with an eighth to spare both take all 15 bits.
large, small = random.randint(-16000, 16001, (1, 4, 8, 8)) / 16, random.randint(-16384, 16385, (1, 4, 8, 8)) / 16384
large[0, 0, 0, 0], small[0, 0, 0, 0] = 1000, 1
numpy.save("large.npy", large.astype(numpy.float32))
numpy.save("small.npy", small.astype(numpy.float32))
functions = {"Add": numpy.add, "Sub": numpy.subtract, "Max": numpy.maximum, "Min": numpy.minimum}
wrong = []
for operator, function in functions.items():
    for operands in ("ls", "sl"):
        for made in (False, True): # the small operand is an input, or a convolution's result
            first = [node("Conv", ["s0", "w"], ["s"])] if made else []
            graph = helper.make_graph(
                [*first, node(operator, list(operands), ["y"]), node("LeakyRelu", ["s"], ["z"], alpha=1.0)], "net",
                [helper.make_tensor_value_info(name, TensorProto.FLOAT, large.shape) for name in ("l", "s0" if made else "s")],
                [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "z")],
                [numpy_helper.from_array(numpy.eye(4, dtype=numpy.float32).reshape(4, 4, 1, 1), "w")] if made else [])
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), "m.onnx")
            for options in ([], ["--schedule", "fused"], ["-s", "pe_array.write_out=scale"], ["-p", "window"]):
                inputs = ["-i", "l=large.npy", "-i", f"{'s0' if made else 's'}=small.npy"]
                subprocess.run([sys.argv[1], "run", "m.onnx", *inputs, "-o", "y.npy", "-o", "z.npy", "-q", "--check-results",
                                *options], check=True)
                values = {"l": large, "s": small}
                result = numpy.round(function(values[operands[0]], values[operands[1]]) * 16) / 16 # ties to even
                if (numpy.load("y.npy") != result).any() or (numpy.load("z.npy") != small).any():
                    wrong.append(f"{operator} of {operands}, small one {'made' if made else 'given'}, {options}")
print(*wrong, sep="\n")
sys.exit(bool(wrong))
PYTHON
finish
