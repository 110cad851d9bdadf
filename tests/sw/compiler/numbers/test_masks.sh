#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Masks before a softmax, of any size and in any form that exporters give them: what is not masked keeps its precision.
. "$SOURCE/tests/support/lib.sh"

/usr/bin/python3 - "$CNNVP" <<'PYTHON' || fail "scores beside masks"
import json, subprocess, sys
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
node, f32 = helper.make_node, numpy.float32
random = numpy.random.RandomState(1)
low = []

def softmax(x):
    exponents = numpy.exp(x - numpy.maximum(x.max(-1, keepdims=True), -3e38))
    return exponents / numpy.maximum(exponents.sum(-1, keepdims=True), 1e-30)

def run(name, nodes, x, scores, after=(), chosen=None, **constants):
    """Shares of the scores "a", or what the nodes `after` make of them; `chosen` is a second input."""
    inputs = {"x": x} if chosen is None else {"x": x, "c": chosen}
    types = {"x": TensorProto.FLOAT, "c": TensorProto.BOOL}
    graph = helper.make_graph([*nodes, node("Softmax", ["a"], ["p" if after else "y"]), *after], "net",
                              [helper.make_tensor_value_info(key, types[key], array.shape) for key, array in inputs.items()],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(array, key) for key, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), "m.onnx")
    given, times = [], []
    for key, array in inputs.items():
        numpy.save(f"{key}.npy", array)
        given += ["-i", f"{key}={key}.npy"]
    for options in (["-o", "y.npy"], ["--timing-only"]):
        subprocess.run([sys.argv[1], "run", "m.onnx", *given, "-q", "--stats", "s.json", *options], check=True)
        with open("s.json") as stats:
            times.append(json.load(stats)["total"])
    y, wanted = numpy.load("y.npy"), softmax(scores)
    sqnr = 10 * numpy.log10((wanted ** 2).sum() / ((y - wanted) ** 2).sum())
    if sqnr < 60 or times[0] != times[1] or y[wanted == 0].any():
        low.append(f"{name}: {sqnr:.1f} dB")

x = (3 * random.standard_normal((1, 2, 12, 12))).astype(f32)
triangle = numpy.tril(numpy.ones((12, 12))) > 0
for big in map(f32, (-1e4, -1e9, -3.4e38, -numpy.inf)):
    mask = numpy.where(triangle, f32(0), big)
    masked = numpy.where(triangle, x, big)
    run(f"a matrix of {big}", [node("Add", ["x", "m"], ["a"])], x, masked, m=mask)
    run(f"scaled scores and {big}", [node("Mul", ["x", "s"], ["q"]), node("Add", ["m", "q"], ["a"])], x,
        numpy.where(triangle, x * f32(0.144), big), m=mask, s=f32(0.144).reshape(()))
    run(f"a row of {big}", [node("Add", ["x", "m"], ["a"])], x, numpy.where(triangle[6], x, big), m=mask[6])
    run(f"{big} where it is masked", [node("Where", ["c", "m", "x"], ["a"])], x, masked, c=~triangle, m=big.reshape(()))
    run(f"{big} where it is not chosen", [node("Where", ["c", "x", "m"], ["a"])], x, masked, c=triangle, m=big.reshape(()))
    # Numbers of all rows' largest are far below 0: what saturates lies below them, too.
    run(f"scores below 0 and {big}", [node("Add", ["x", "m"], ["a"])], -abs(x) - 20, numpy.where(triangle, -abs(x) - 20, big), m=mask)
# Lines of masks alone: exporters make 0 of their shares, which are 0 / 0 in float. They ask for NaN, for infinite scores
# or for the largest of a mask.
infinity, zero = f32(-numpy.inf).reshape(()), f32(0).reshape(())
nan = [node("IsNaN", ["p"], ["h"]), node("Where", ["h", "o", "p"], ["y"])]
equal = [node("Equal", ["a", "i"], ["e"]), node("Not", ["e"], ["n"]), node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
         node("ReduceMax", ["f"], ["s"], axes=[-1]), node("Cast", ["s"], ["b"], to=TensorProto.BOOL), node("Not", ["b"], ["h"]), nan[1]]
largest = [node("ReduceMax", ["m"], ["s"], axes=[-1]), node("Equal", ["s", "i"], ["h"]), nan[1]]
for hidden in ([], [0, 5]):
    seen = triangle.copy()
    seen[hidden] = False
    mask = numpy.where(seen, f32(0), infinity)
    chosen = [node("Where", ["c", "o", "i"], ["m"]), node("Add", ["x", "m"], ["a"])]
    for name, after in (("NaN", nan), ("infinity", equal), ("the largest mask", largest)):
        run(f"{name} asked for, {hidden} hidden", [node("Add", ["x", "m"], ["a"])], x, x + mask, after, m=mask, i=infinity, o=zero)
        run(f"{name} asked for, {hidden} hidden by an input", chosen, x, x + mask, after, seen[None, None], i=infinity, o=zero)
    run(f"two masks, {hidden} hidden", [chosen[0], node("Add", ["m", "t"], ["w"]), node("Add", ["w", "x"], ["a"])], x,
        x + mask + numpy.where(triangle.T, f32(0), infinity), [node("ReduceMax", ["w"], ["s"], axes=[-1]), *largest[1:]],
        seen[None, None], t=numpy.where(triangle.T, f32(0), infinity), i=infinity, o=zero)
# Numbers before a sum with a constant mask, whose largest is asked for.
run("a mask added to scores", [node("Add", ["x", "m"], ["w"]), node("Mul", ["x", "x"], ["q"]), node("Add", ["q", "w"], ["a"])], x,
    x * x + x + mask, [node("ReduceMax", ["w"], ["s"], axes=[-1]), *largest[1:]], m=mask, i=infinity, o=zero)
# Scores that are far apart without a mask.
run("spread scores", [node("Mul", ["x", "s"], ["a"])], x, x * f32(40), s=f32(40).reshape(()))
print(*low, sep="\n")
sys.exit(bool(low))
PYTHON
finish
