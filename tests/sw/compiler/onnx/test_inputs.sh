#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks with several inputs, of their file or since they begin at tensors of it: values, times, whose images they are,
# and what is refused.
. "$SOURCE/tests/support/lib.sh"

/usr/bin/python3 - <<'PYTHON'
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
node = helper.make_node
random = numpy.random.RandomState(1)
def save(file, nodes, inputs, known=()):
    info = lambda pairs: [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in pairs]
    graph = helper.make_graph(nodes, "net", info(inputs), info([("y", None)]), [numpy_helper.from_array(weights, "w")],
                              value_info=info(known))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), file)
weights = random.standard_normal((4, 2, 3, 3)).astype(numpy.float32)
nodes = [node("Conv", ["a", "w"], ["c"], pads=[1] * 4), node("Conv", ["b", "w"], ["d"], pads=[1] * 4),
         node("Relu", ["c"], ["e"]), node("Add", ["e", "d"], ["y"])]
maps = [(name, ["N", 2, 6, 6]) for name in "ab"]
save("two.onnx", nodes, [("unread", ["N", 5])] + maps, [("c", ["N", 4, 6, 6])])
save("open.onnx", nodes, maps)
save("product.onnx", [node("MatMul", ["a", "b"], ["y"])], [("a", [5, 6]), ("b", [6, 7])])
save("batches.onnx", [node("Add", ["a", "b"], ["y"])], [("a", ["N", 6]), ("b", [2, 6])])
save("none.onnx", [node("Transpose", ["a"], ["y"])], [("a", [0, 5])])
numpy.save("none.npy", numpy.zeros((0, 5), numpy.float32))
# Of other sizes by 2^10, so that a format of both would show.
a, b = random.standard_normal((3, 2, 6, 6)), 1000 * random.standard_normal((3, 2, 6, 6))
def convolve(x):
    padded = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return sum(numpy.einsum("nchw,oc->nohw", padded[:, :, i:i + 6, j:j + 6], weights[:, :, i, j]) for i in range(3) for j in range(3))
for name, array in (("a", a), ("b", b), ("few", b[:2]), ("c", convolve(a)), ("zeros", 0 * b), ("y", numpy.maximum(convolve(a), 0) + convolve(b)),
                    ("y0", numpy.maximum(convolve(a), 0)), ("m", a[0, 0, :5]), ("n", b[0, 0, :, :5] / 1000), ("p", a[0, 0, :5] @ (b[0, 0, :, :5] / 1000))):
    numpy.save(name + ".npy", array.astype(numpy.float32))
onnx_file = onnx.load("product.onnx")
onnx_file.graph.input[1].type.tensor_type.shape.dim[1].dim_value = 5
onnx.save(onnx_file, "product.onnx")
PYTHON

close() { /usr/bin/python3 -c 'import sys, numpy
got, want = (numpy.load(name) for name in sys.argv[1:])
assert got.shape == want.shape and abs(got - want).max() < 1e-3 * abs(want).max(), (got.shape, abs(got - want).max())' "$1" "$2" ||
    fail "$3"; }

# As many images of each, in any order of the options, whatever runs them.
expect 0 run two.onnx -i b=b.npy -i a=a.npy -o y.out.npy -q --stats all.json
close y.out.npy y.npy "values of two inputs"
expect 0 run two.onnx -i a.npy -i b=zeros.npy -o zeros.out.npy -q
close zeros.out.npy y0.npy "each input has a format of its own"
# For a core of one's own, each with its place and format.
expect 0 compile two.onnx -i a.npy -i b=b.npy -o two.bin
for what in INPUT_ADDRESS INPUT_FRAC INPUT_2_ADDRESS INPUT_2_FRAC OUTPUT_ADDRESS; do
    sed -n "s/^#define TWO_${what} \\([^ ]*\\).*/\\1/p" two.h
done >said
[ "$(sort -u said | wc -l)" -eq 5 ] || fail "what the header says of two inputs: $(cat two.h)"
grep -q ' input a$' two.map && grep -q ' input b$' two.map || fail "the map: $(cat two.map)"
for way in "-p window" "--batch 3" "--schedule fused" "--on-chip" "--issue list" "-p $SOURCE/scripts/examples/accelerators/dual.yaml"; do
    expect 0 run two.onnx -i a.npy -i b=b.npy -o other.npy -q $way
    cmp -s y.out.npy other.npy || fail "other words with $way"
done
expect 0 run two.onnx -i a.npy -i b=b.npy -q --timing-only --stats timing.json
expect 0 run two.onnx -n 3 -q --timing-only --stats random.json
expect 0 run two.onnx -i a.npy -i b=b.npy -q --dump dump
[ -f dump/000_a.npy ] && [ -f dump/000_b.npy ] || fail "inputs in a dump: $(ls dump | head -3)"
expect 0 run product.onnx -i a=m.npy -i b=n.npy -o p.out.npy -q
close p.out.npy p.npy "a product of two inputs"

# Where the file says the shape, and where --shape does.
expect 0 run two.onnx --from c -i c=c.npy -i b=b.npy -o from.npy -q --stats from.json
close from.npy y.npy "values from a tensor of the file on"
expect 0 run open.onnx --from c --shape c=1x4x6x6 -i c.npy -i b=b.npy -o from.open.npy -q
cmp -s from.npy from.open.npy || fail "another network where --shape says the shape"
expect 0 run open.onnx --from c --shape c=1x4x6x6 --until e -q -i c=c.npy -o e.npy
close e.npy y0.npy "from one tensor until another"

refused 2 'none.onnx: ' run none.onnx -i none.npy
refused 2 'two.onnx: input "b" has no images: -i b=FILE.npy gives them' run two.onnx -i a=a.npy
refused 2 '--input q=b.npy: the network has no input of that name; its first input is' run two.onnx -i a.npy -i q=b.npy
refused 2 'two.onnx: --input unread=a.npy: nothing needs that input' run two.onnx -i a.npy -i b=b.npy -i unread=a.npy
refused 2 'input "a" has images already; b.npy is a second file' run two.onnx -i a.npy -i a=b.npy
refused 2 'two.onnx: input "b" has 2 images, those before it 3' run two.onnx -i a.npy -i b=few.npy
refused 2 'which calibrate it themselves: there can be no a.npy' run two.onnx -i a.npy -i b=b.npy -c a.npy
expect 0 run batches.onnx --timing-only -q
refused 2 'open.onnx: --from nothing: no node makes a tensor of that name' run open.onnx --from nothing
refused 2 'open.onnx: input "c" has no shape: give it, such as --shape c=' run open.onnx --from c
refused 2 '--shape q=1x2: the network has no input of that name; its first input is' run two.onnx --shape q=1x2
refused 2 'the training engine takes one and gives one' run two.onnx -p trainer --timing-only
# Integers, whatever numpy calls them; without images they are 0 and 1, which are rows of any table.
/usr/bin/python3 - <<'PYTHON'
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
table = numpy.arange(1, 13, dtype=numpy.float32).reshape(6, 2)
nodes = [helper.make_node("Gather", ["table", "x"], ["g"]), helper.make_node("Cast", ["m"], ["f"], to=TensorProto.FLOAT), helper.make_node("Mul", ["g", "f"], ["y"])]
graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.INT64, ["N", 4]), helper.make_tensor_value_info("m", TensorProto.BOOL, ["N", 4, 1])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [numpy_helper.from_array(table, "table")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), "rows.onnx")
for name in ("int64", "int32", "int16", "uint8", "float32"):
    numpy.save(name + ".npy", numpy.array([[5, 0, 3, 1]], name))
for name in ("bool", "uint8", "int32"):
    numpy.save(name + "_m.npy", numpy.array([[[1], [1], [0], [1]]], name))
numpy.save("rows.npy", (table[[5, 0, 3, 1]] * [[1], [1], [0], [1]]).astype(numpy.float32)[None])
PYTHON
for kind in int64 int32 int16 uint8 float32; do
    expect 0 run rows.onnx -i x=$kind.npy -i m=bool_m.npy -o rows.out.npy -q
    close rows.out.npy rows.npy "integers as $kind"
done
for kind in uint8 int32; do
    expect 0 run rows.onnx -i x=int64.npy -i m=${kind}_m.npy -o rows.out.npy -q
    close rows.out.npy rows.npy "booleans as $kind"
done
expect 0 run rows.onnx -n 9 -o rows.out.npy -q
/usr/bin/python3 -c 'import numpy
rows = numpy.unique(numpy.load("rows.out.npy").reshape(-1, 2).round(2), axis=0).tolist()
assert rows == [[0, 0], [1, 2], [3, 4]], rows' || fail "integers without images"
/usr/bin/python3 - <<'PYTHON' || fail "statistics of networks with several inputs"
import json
full, timing, random, begun = (json.load(open(name + ".json")) for name in ("all", "timing", "random", "from"))
for other in (timing, random):
    assert other["total"] == full["total"] and other["memory"] == full["memory"] and other["tensors"] == full["tensors"]
assert [t["name"] for t in full["tensors"] if t["kind"] == "input"] == ["a", "b"]
assert all(t["least_read_bytes"] == 3 * 2 * 36 * 2 for t in full["tensors"] if t["kind"] == "input")
assert [layer["name"] for layer in begun["layers"]] == ["d", "y"] or [layer["op"] for layer in begun["layers"]].count("conv") == 1
PYTHON
finish
