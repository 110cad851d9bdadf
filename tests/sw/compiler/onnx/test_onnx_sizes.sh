#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sizes of a network's input that its file leaves open: what settles them, and what is said without.
. "$SOURCE/tests/support/lib.sh"
zoo=$ZOO/forms
flat=$zoo/symbolic_flat

/usr/bin/python3 - "$SOURCE" <<'PYTHON'
import os
import numpy, onnx, sys
from onnx import TensorProto, helper
source = sys.argv[1]

def open_sizes(network, names):
    """The network's file, whose input has these symbols, 0 for a size that stays."""
    for dimension, name in zip(network.graph.input[0].type.tensor_type.shape.dim, names):
        if name:
            dimension.dim_param = name
    return network

onnx.save(open_sizes(onnx.load(source + "/scripts/networks/digits.onnx"), [0, 0, "height", "width"]), "digits.onnx")
def small(file, *sizes):
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "small",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes[0] if sizes else None)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    onnx.save(model, file)
small("square.onnx", ("batch", 2, "size", "size"))
small("one.onnx", (1, 2, "height", "width"))
small("unnamed.onnx", (1, 2, -1, 0))
small("vector.onnx", ("batch", "features"))
small("shapeless.onnx")
images = numpy.load(os.environ["ZOO"] + "/forms/symbolic_flat.in.npy")
numpy.save("first.npy", images[0])
numpy.save("channels.npy", images[:, :2])
PYTHON

# The images' own shape, also that of one image alone; --shape; both.
expect 0 run $flat.onnx -i $flat.in.npy -o images.npy -q
expect 0 run $flat.onnx -i $flat.in.npy --shape input=2x3x6x8 -o both.npy -q
cmp images.npy both.npy || fail "--shape and the images' shape differ"
expect 0 run $flat.onnx -i first.npy -o first_out.npy -q
expect 0 run $flat.onnx --shape 1x3x6x8 --seed 3 --stats given.json -q
expect 0 run $flat.onnx --shape input=1x3x6x8 --seed 3 --stats named.json -q
sed '/wall_seconds/d' given.json >given
sed '/wall_seconds/d' named.json >named
cmp given named || fail "the name changes the statistics"
expect 0 run $flat.onnx --shape 1x3x4x4 --timing-only -q
expect 0 run shapeless.onnx --shape 1x2x4x4 -q
expect 0 run unnamed.onnx --shape x=1x2x4x5 -q

# The input may be named.
expect 0 run $flat.onnx -i input=$flat.in.npy -o by_name.npy -q
cmp images.npy by_name.npy || fail "the name changes the output"
refused 2 "--input x=first.npy: the network has no input of that name; its input is \"input\"" run $flat.onnx -i x=first.npy
cp first.npy x=first.npy
expect 0 run $flat.onnx -i x=first.npy -q

# Without: what to type, known numbers filled in.
refused 2 "symbolic size \"height\" in input \"input\" [N,3,height,width]: give it with --shape input=1x3xHxW," \
    run $flat.onnx
says_wanted() { refused 2 "$1" run "$2"; }
says_wanted "symbolic size \"size\" in input \"x\" [batch,2,size,size]: give it with --shape x=1x2xHxW," square.onnx
says_wanted "symbolic size \"?\" in input \"x\" [1,2,?,?]: give it with --shape x=1x2xHxW," unnamed.onnx
says_wanted "symbolic size \"features\" in input \"x\" [batch,features]: give it with --shape x=1xF," vector.onnx
says_wanted "input \"x\" has no shape: give it, such as --shape x=1xCxHxW with numbers for the letters" shapeless.onnx

# A batch that is a symbol, where nodes count it: all images given, or one.
/usr/bin/python3 - <<'PYTHON'
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
x = numpy.random.RandomState(1).standard_normal((3, 4, 5)).astype(numpy.float32)
w = numpy.random.RandomState(2).standard_normal((5, 6)).astype(numpy.float32)
nodes = [helper.make_node("Reshape", ["x", "rows"], ["r"]), helper.make_node("MatMul", ["r", "w"], ["m"]), helper.make_node("Reshape", ["m", "back"], ["b"]),
         helper.make_node("ReduceMax", ["b"], ["top"]), helper.make_node("Mul", ["top", "s"], ["t"]), helper.make_node("Sub", ["b", "t"], ["y"])]
info = helper.make_tensor_value_info
graph = helper.make_graph(nodes, "net", [info("x", TensorProto.FLOAT, ["N", 4, 5]), info("s", TensorProto.FLOAT, [])], [info("y", TensorProto.FLOAT, None)],
                          [numpy_helper.from_array(w, "w"), numpy_helper.from_array(numpy.array([-1, 5]), "rows"), numpy_helper.from_array(numpy.array([-1, 4, 6]), "back")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), "counted.onnx")
numpy.save("counted.npy", x)
numpy.save("scalar.npy", numpy.array(0.5, numpy.float32))
numpy.save("counted_y.npy", x @ w - 0.5 * (x @ w).max())
numpy.save("one.npy", x[:1])
numpy.save("each_top.npy", (x @ w).max((1, 2)).reshape(3, 1, 1, 1))
numpy.save("one_y.npy", x[:1] @ w - 0.5 * (x[:1] @ w).max())
PYTHON
close() { /usr/bin/python3 -c 'import sys, numpy
got, want = (numpy.load(name) for name in sys.argv[1:])
assert got.shape == want.shape and abs(got - want).max() < 1e-3 * abs(want).max(), (got.shape, abs(got - want).max())' "$1" "$2" || fail "$3"; }
expect 0 run counted.onnx -i x=counted.npy -i s=scalar.npy -o counted_out.npy -q
close counted_out.npy counted_y.npy "a batch that nodes count is not all images"
expect 0 run counted.onnx -i x=one.npy -i s=scalar.npy -o one_out.npy -q
close one_out.npy one_y.npy "one image of a batch that nodes count"
expect 0 run counted.onnx --until top --shape x=1x4x5 -i counted.npy -c one.npy -o each.npy -q
close each.npy each_top.npy "several images of one"
expect 0 run counted.onnx --timing-only -q
expect 0 check counted.onnx
# A second input's batch is the same symbol, so it is the same number.
/usr/bin/python3 - <<'PYTHON'
import onnx
from onnx import TensorProto, helper
info = helper.make_tensor_value_info
nodes = [helper.make_node("Add", ["x", "z"], ["s"]), helper.make_node("ReduceSum", ["s"], ["r"]), helper.make_node("Mul", ["s", "r"], ["y"])]
graph = helper.make_graph(nodes, "net", [info(name, TensorProto.FLOAT, ["N", 400]) for name in "xz"], [info("y", TensorProto.FLOAT, None)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), "both.onnx")
PYTHON
expect 0 run both.onnx --shape x=3x400 --timing-only -q --stats first.json
expect 0 run both.onnx --shape x=3x400 --shape z=3x400 --timing-only -q --stats given.json
/usr/bin/python3 -c 'import json; first, given = (json.load(open(name))["total"] for name in ("first.json", "given.json"))
assert first == given, (first, given)' || fail "a second input with another batch"

# What does not fit, in one line each.
shape_refused() { refused 2 "$1" run $flat.onnx --shape "$2"; }
shape_refused "--shape y=1x3x6x8: the network has no input of that name; its input is \"input\"" y=1x3x6x8
shape_refused "--shape 1x3x6: input \"input\" [N,3,height,width] has 4 sizes, not 3" 1x3x6
shape_refused "--shape 1x4x6x8: size 2 of input \"input\" [N,3,height,width] is 3, not 4" 1x4x6x8
shape_refused "--shape: 1x3x0x8: \"0\" is not a size; sizes are numbers from 1 to 1048576 with x in between" 1x3x0x8
shape_refused "--shape: 1x3xHxW: \"H\" is not a size" 1x3xHxW
shape_refused "--shape: 1,3,6,8: \"1,3,6,8\" is not a size" 1,3,6,8
shape_refused "--shape: 1x3x6x: \"\" is not a size" 1x3x6x
shape_refused "\"1048577\" is not a size" 1x3x6x1048577
shape_refused "more than 8 sizes" 1x1x1x1x1x1x1x1x1
refused 2 "--shape 1x3x6x9: input \"input\" has a shape already, of --shape 1x3x6x8" \
    run $flat.onnx --shape 1x3x6x8 --shape 1x3x6x9
refused 2 "symbol \"size\" in input \"x\" would be 6 and 8" run square.onnx --shape 1x2x6x8
refused 2 "symbol \"size\" in input \"x\" would be 6 and 8" run square.onnx -i channels.npy
refused 2 "--shape 4x2x6x8: size 1 of input \"x\" [1,2,height,width] is 1, not 4" run one.onnx --shape 4x2x6x8
refused 2 "channels.npy has shape (2, 2, 6, 8); network $flat.onnx takes (N, 3, 6, 8), or fewer" run $flat.onnx -i channels.npy
refused 2 "$flat.in.npy has shape (2, 3, 6, 8); network $flat.onnx takes (N, 3, 4, 4)" \
    run $flat.onnx -i $flat.in.npy --shape 1x3x4x4

# Training: the data set's images settle the sizes.
/usr/bin/python3 - <<'PYTHON'
import numpy, struct
images = numpy.random.RandomState(1).randint(0, 255, (20, 8, 8)).astype(numpy.uint8)
idx = lambda array: bytes([0, 0, 8, array.ndim]) + struct.pack(">%dI" % array.ndim, *array.shape) + array.tobytes()
open("images", "wb").write(idx(images))
open("smaller", "wb").write(idx(images[:, :6, :6]))
open("labels", "wb").write(idx((numpy.arange(20) % 10).astype(numpy.uint8)))
open("larger", "wb").write(idx(numpy.zeros((20, 9, 8), numpy.uint8)))
smaller = images[:, None, :6, :5]
numpy.save("smaller.npy", smaller)
numpy.save("padded.npy", numpy.pad(smaller, ((0, 0), (0, 0), (13, 13), (13, 14))))
numpy.save("larger.npy", numpy.zeros((20, 1, 33, 8), numpy.uint8))
PYTHON
digits=$SOURCE/scripts/networks/digits.onnx
set="--dataset idx:images,labels --batch 10 -q"
for file in "$digits" digits.onnx; do
    # shellcheck disable=SC2086 # a list of words
    expect 0 train "$file" $set --log "$(basename "$file" .onnx)_$([ "$file" = digits.onnx ] && echo open).csv"
done
cmp digits_.csv digits_open.csv || fail "a network learns otherwise where its sizes are symbols"
# shellcheck disable=SC2086 # a list of words
expect 0 train digits.onnx $set --shape 1x1x8x8
# shellcheck disable=SC2086 # a list of words
refused 2 "size 2 of input" train digits.onnx $set --shape 1x2x8x8

# Smaller images are centred among zeros, and that is said; larger ones are refused: `train` and `run` alike.
lenet=$SOURCE/scripts/networks/lenet5.onnx
expect 0 train "$digits" --dataset idx:smaller,labels --eval idx:images,labels
says "images                6 x 6, centred among zeros in the network's 8 x 8"
[ "$(grep -c centred out)" -eq 1 ] || fail "images of the network's size are called centred: $(grep centred out)"
expect 0 run "$lenet" -i smaller.npy -o small_out.npy
says "images                6 x 5, centred among zeros in the network's 32 x 32"
expect 0 run "$lenet" -i padded.npy -o padded_out.npy
grep -q centred out && fail "images of the network's size are called centred"
cmp small_out.npy padded_out.npy || fail "smaller images are not centred as numpy pads them"
refused 2 "larger: its images have 1 channels of 9 x 8; the network takes 1 of 8 x 8 or smaller ones" \
    train "$digits" --dataset idx:larger,labels
refused 2 "larger.npy has shape (20, 1, 33, 8); network $lenet takes (N, 1, 32, 32), or fewer rows and columns, with N" \
    run "$lenet" -i larger.npy
refused 2 "channels.npy has shape (2, 2, 6, 8); network $lenet takes (N, 1, 32, 32)" run "$lenet" -i channels.npy

# A sweep: one value or an axis.
cat >sweep.yaml <<YAML
command: run
network: $flat.onnx
platform: nfu
options: {timing_only: true, shape: [1x3x6x8, input=1x3x12x8]}
parameters: {pe_array.rows: [4, 8]}
YAML
expect 0 sweep sweep.yaml -o sweep.sqlite --export sweep.csv
[ "$(grep -c ',ok,' sweep.csv)" -eq 4 ] || fail "sweep over shapes: $(cat sweep.csv)"
sed 's/shape: .*]/shape: 1x3x0x8/' sweep.yaml >bad.yaml
refused 2 "bad.yaml:4:37: shape: 1x3x0x8: \"0\" is not a size" sweep bad.yaml -o bad.sqlite
finish
