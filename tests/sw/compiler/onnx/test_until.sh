#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A network that ends at tensors of its file: their values, what is left out, and what a refusal says to type.
. "$SOURCE/tests/support/lib.sh"

/usr/bin/python3 - <<'PYTHON'
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
node = helper.make_node
def save(file, *nodes):
    graph = helper.make_graph(
        [node("Relu", ["x"], ["first"]), node("Add", ["first", "x"], ["boxes"]), node("Sigmoid", ["first"], ["scores"]), *nodes],
        "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(numpy.array([3]), "k")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), file)
save("head.onnx", node("NonMaxSuppression", ["boxes", "scores", "k"], ["y"]))
save("middle.onnx", node("NonMaxSuppression", ["boxes", "scores", "k"], ["n"]), node("Cast", ["n"], ["y"], to=1))
save("whole.onnx", node("Mul", ["boxes", "scores"], ["y"]))
numpy.save("x.npy", numpy.linspace(-2, 2, 8, dtype=numpy.float32).reshape(1, 2, 4))
PYTHON

unknown='(NonMaxSuppression): how many boxes it leaves depends on the data: '
refused 2 "$unknown" run head.onnx -i x.npy
refused 2 '; to run what comes before it: --until boxes --until scores' run head.onnx -i x.npy
grep -q -e --from err && fail "nothing comes after it: $(cat err)"
refused 2 '; to run what comes before it: --until boxes --until scores; what comes after it: --from n' run middle.onnx -i x.npy
refused 2 'head.onnx: --until nothing: no node makes a tensor of that name' run head.onnx --until nothing
refused 2 'output "k" is a constant' run head.onnx --until k
refused 2 'whole.onnx: --from boxes: no output needs this tensor; it must be on the way to one, such as "first"' \
    run whole.onnx --from boxes --until first --shape boxes=1x2x4
refused 2 '--from scores: no output needs this tensor' run whole.onnx --from first --from scores --until boxes -q
expect 0 run head.onnx -i x.npy -q --until boxes --until scores -o b.npy -o s.npy --stats s.json
expect 0 run whole.onnx -i x.npy -q --until boxes -o whole.npy
cmp -s b.npy whole.npy || fail "other words where more of the file is known"
/usr/bin/python3 - <<'PYTHON' || fail "values or layers of a network that ends early"
import json, numpy
x, b, s = (numpy.load(name) for name in ("x.npy", "b.npy", "s.npy"))
relu = numpy.maximum(x, 0)
assert b.shape == s.shape == x.shape and abs(b - relu - x).max() < 1e-3 and abs(s - 1 / (1 + numpy.exp(-relu))).max() < 1e-3
assert [layer["name"] for layer in json.load(open("s.json"))["layers"]] == ["first", "boxes", "scores"]
PYTHON
finish
