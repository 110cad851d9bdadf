#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Detectors join numbers of different sizes, such as boxes in pixels with scores: both keep their precision, and so does
# what boxes are computed from. Joined for the host alone, as channels or columns, each has a format of its own.
. "$SOURCE/tests/support/lib.sh"

/usr/bin/python3 - "$CNNVP" <<'PYTHON' || fail "boxes beside scores"
import subprocess, sys
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
node = helper.make_node
x = numpy.random.RandomState(1).uniform(-3, 3, (1, 6, 8, 8)).astype(numpy.float32)
s = 1 / (1 + numpy.exp(-x.astype(float)))
wanted = numpy.concatenate([s[:, :2] ** 2 * 1500, s[:, 2:]], 1)
numpy.save("x.npy", x)
low = []
# As they are; with an output that shows the boxes alone, too; turned, so that they are columns of the result; and read
# by a layer, too, so that all have one format.
for name, end, outputs, turn, most in (("joined", [], ["y"], None, 0.0005),
                                       ("and boxes", [node("Identity", ["box"], ["z"])], ["y", "z"], None, 0.0005),
                                       ("turned", [node("Transpose", ["y"], ["t"], perm=[0, 2, 3, 1])], ["t"], (0, 2, 3, 1), 0.0005),
                                       ("read", [node("Relu", ["y"], ["t"])], ["t"], None, 0.04)):
    graph = helper.make_graph(
        [node("Sigmoid", ["x"], ["s"]), node("Split", ["s", "parts"], ["size", "score"], axis=1),
         node("Mul", ["size", "size"], ["square"]), node("Mul", ["square", "pixels"], ["box"]),
         node("Concat", ["box", "score"], ["y"], axis=1), *end], "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None) for output in outputs],
        [numpy_helper.from_array(numpy.array([2, 4]), "parts"),
         numpy_helper.from_array(numpy.array(1500, numpy.float32), "pixels")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), f"{name}.onnx")
    for options in ([], ["--schedule", "fused"], ["-p", "window"], ["-s", "vector.write_out=scale"]):
        writes = [word for output in outputs for word in ("-o", f"{output}.npy")]
        subprocess.run([sys.argv[1], "run", f"{name}.onnx", "-i", "x.npy", *writes, "-q", "--check-results", *options], check=True)
        made = numpy.load(f"{outputs[0]}.npy")
        error = abs((made.transpose(0, 3, 1, 2) if turn else made) - wanted)
        # Half a step of 2^-4 for scores that have the boxes' format; boxes are within 0.1 %, as the table of the sigmoid
        # and the words allow.
        if error[:, :2].max() > 1.5 or error[:, 2:].max() > most:
            low.append(f"{name} {options}: boxes {error[:, :2].max():.3f}, scores {error[:, 2:].max():.4f}")
print(*low, sep="\n")
sys.exit(bool(low))
PYTHON

# The header of a compiled network says so: 1500 with an eighth to spare leaves 4 of 15 bits, scores up to 1 have 14.
"$CNNVP" compile turned.onnx -i x.npy -o turned.bin >/dev/null || fail "compile"
grep -q "TURNED_OUTPUT_COLUMN_FRACS {4, 4, 14, 14, 14, 14} " turned.h || fail "$(grep FRAC turned.h)"
! grep -q "TURNED_OUTPUT_FRAC " turned.h || fail "one format for all words"
finish
