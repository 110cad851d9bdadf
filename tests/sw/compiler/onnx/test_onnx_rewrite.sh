#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Operators that become others: their values, what they are not, and where the table says that operators run.
. "$SOURCE/tests/support/lib.sh"

/usr/bin/python3 "$SOURCE/tests/sw/compiler/onnx/rewrite.py" "$CNNVP" "$SLOWER" || fail "values of operators that become others"
/usr/bin/python3 - <<'PYTHON'
import onnx
from onnx import TensorProto, helper
def save(file, operator, count, **attributes):
    names = ["x", "x"][:count]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["r"]), helper.make_node(operator, ["r", "r"][:count], ["y"], **attributes)], "net",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 3])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), file)
save("diagonal.onnx", "Einsum", 1, equation="bii->bi")
save("implicit.onnx", "Einsum", 2, equation="bij,bjk")
save("letters.onnx", "Einsum", 1, equation="bi->bi")
save("heads.onnx", "Attention", 2)
save("top.onnx", "TopK", 1)
save("axis.onnx", "ArgMax", 1, axis=3)
save("slope.onnx", "LeakyRelu", 1, alpha=1)
save("place.onnx", "Softmax", 1, axis=1.0)
save("window.onnx", "ReduceSum", 1, keepdims=[0])
save("order.onnx", "Transpose", 1, perm="210")
save("formula.onnx", "Einsum", 1, equation=1)
import numpy
from onnx import numpy_helper
def constants(file, operator, inputs, given, opset=18, **attributes):
    graph = helper.make_graph([helper.make_node(operator, inputs, ["y"], **attributes)], "net",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 6])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(numpy.array(value), key) for key, value in given.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), file)
constants("beyond.onnx", "GatherND", ["x", "i"], {"i": [[0, 1, 5], [0, 2, 6]]})
constants("huge.onnx", "Col2Im", ["x", "i", "k"], {"i": [2 ** 62, 3], "k": [2, 2]})
constants("runs.onnx", "Gather", ["x", "i"], {"i": [0, 2] * 3000}, axis=1)
constants("added.onnx", "ScatterND", ["k", "i", "u"], {"k": [1., 2.], "i": [[0]], "u": [3.]}, reduction="mul")
constants("element.onnx", "GatherElements", ["x", "i"], {"i": [[[4]]]}, axis=1)
constants("dimensions.onnx", "ScatterElements", ["x", "i", "u"], {"i": [[0]], "u": [[1.]]})
constants("parts.onnx", "DFT", ["x"], {}, axis=2)
constants("cubic.onnx", "GridSample", ["x", "g"], {"g": [[[0.5]] * 3]}, mode="cubic", padding_mode="border")
graph = helper.make_graph([helper.make_node("ReduceProd", ["x"], ["y"], axes=[1, 2, 3, 4, 5, 6, 7])], "net",
                          [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", *[9] * 7])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "steps.onnx")
def resized(file, shape, sizes):
    nodes = [helper.make_node("Resize", ["k", "", "", "n"], ["r"], mode="linear"), helper.make_node("Mul", ["x", "r"], ["y"])]
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 2, 2])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(numpy.ones(shape, numpy.float32), "k"), numpy_helper.from_array(numpy.array(sizes), "n")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), file)
def vendors(file, nodes, given):
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4, 6])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(value, key) for key, value in given.items()])
    sets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=sets, ir_version=8), file)
node = helper.make_node
step = {"s": numpy.array(.1, numpy.float32), "z": numpy.array(3, numpy.int8)}
vendors("flat.onnx", [node("QuantizeLinear", ["x", "s", "z"], ["q"]),
                      node("QLinearSoftmax", ["q", "s", "z", "s", "z"], ["r"], axis=1, opset=12, domain="com.microsoft"),
                      node("DequantizeLinear", ["r", "s", "z"], ["y"])], step)
vendors("rotary.onnx", [node("Attention", ["x", "w"], ["y"], num_heads=2, do_rotary=1, domain="com.microsoft")],
        {"w": numpy.ones((6, 18), numpy.float32)})
vendors("deep.onnx", [node("Reshape", ["x", "d"], ["r"]), node("Conv", ["r", "w"], ["y"], pads=[0, 1, 0, 0, 1, 0])],
        {"d": numpy.array([0, 1, 24, 1, 1]), "w": numpy.ones((1, 1, 23, 1, 1), numpy.float32)})
resized("none.onnx", (1, 1, 0, 4), [1, 1, 2, 2])
resized("long.onnx", (1, 1, 1, 5000), [1, 1, 1, 1 << 20])
PYTHON
refused 2 'index 6 is outside of the 6 elements of axis 2' run beyond.onnx
refused 2 '4 x 6 columns are not those of a map of two dimensions' run huge.onnx
refused 2 'reduction is supported as none or add only' run added.onnx
refused 2 'its indices are 6000 runs of elements that follow each other; 4096 are possible' run runs.onnx
refused 2 'index 4 is outside of the 4 elements of axis 0' run element.onnx
refused 2 'indices of 2 dimensions for 3' run dimensions.onnx
refused 2 'cubic samples of what is around the map are zeros here: padding_mode zeros' run cubic.onnx
refused 2 'axis 2 of 3 dimensions with 6 parts each' run parts.onnx
refused 2 'it would become too many nodes' run steps.onnx
refused 2 'node "y" (Conv): a kernel with a depth of 23 becomes too many nodes; up to 22 are possible' run deep.onnx
refused 2 'without elements or of integers' run none.onnx
refused 2 'node "r" (QLinearSoftmax): before operator set 13 an axis that is not the last one is not supported' run flat.onnx
refused 2 'node "y" (Attention): do_rotary=1 is not supported; 0 is' run rotary.onnx
refused 2 '1048576 of 5000 elements of a constant with 5000 are too many' run long.onnx
refused 2 'its equation has "i" where a letter that its operand has not is supported' run diagonal.onnx
refused 2 'an equation with "->" and one or two operands is supported' run implicit.onnx
refused 2 'operand 0 has 3 dimensions, "bi" letters' run letters.onnx
refused 2 'node "y" (Attention): input 2 is missing' run heads.onnx
refused 2 "it sorts: this operator is no accelerator's business; to run what comes before it: --until r" run top.onnx
refused 2 'axis 3 of 3 dimensions' run axis.onnx
refused 2 'node "y" (LeakyRelu): attribute alpha is not a float' run slope.onnx
refused 2 'node "y" (Softmax): attribute axis is not an integer' run place.onnx
refused 2 'node "y" (ReduceSum): attribute keepdims is not an integer' run window.onnx
refused 2 'node "y" (Transpose): attribute perm is not a list of integers' run order.onnx
refused 2 'node "y" (Einsum): attribute equation is not a text' run formula.onnx

[ "$SLOWER" = 1 ] || { # the zoo's own tests are what a sanitizer sees it in
    finish
    exit
}
# Where layers of the zoo run: of each operator that is said to be of the array some, of the others fewer than elsewhere.
expect 0 models onnx
/usr/bin/python3 - "$CNNVP" "$ZOO" <<'PYTHON' || fail "operators run elsewhere than the table says"
import collections, glob, subprocess, sys
titles = ("ONNX operators with convolutions", "on the vector unit", "without a layer")
parts = open("out").read().split("\n\n")
lists = [set("".join(line for line in next(p for p in parts if p.startswith(title)).splitlines() if line.startswith("  "))
             .replace(",", " ").split()) for title in titles]
assert all(lists) and not lists[0] & lists[1], lists
array, others = collections.Counter(), collections.Counter()
for file in sorted(glob.glob(sys.argv[2] + "/*/*.onnx")):
    table = subprocess.run([sys.argv[1], "check", file], capture_output=True, text=True, check=False).stdout.split("\n\n")[0].splitlines()
    units = table[0].split()[2:] if table else []
    for words in (line.split() for line in table[1:]):
        for unit, layers in zip(units, words[2:]):
            (array if unit == "pe_array" else others)[words[0]] += int(layers) if layers.isdigit() else 0
wrong = [name for name in lists[0] & (array | others).keys() if not array[name] and name not in ("ReduceMin", "ReduceL1", "ReduceSumSquare")]
wrong += [name for name in lists[1] if array[name] > others[name]]
wrong += [name for name in lists[2] if array[name] + others[name]]
assert not wrong and len(array | others) > 40, wrong
PYTHON
finish
