#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Operators that become others, beside numpy: test_rewrite.py CNNVP. Values on two arrays, and times without arithmetic."""
import itertools
import json
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CNNVP = sys.argv[1]
f32 = numpy.float32
node = helper.make_node
random = numpy.random.RandomState(3)
vendor = {"domain": "com.microsoft"}
wrong = []


def run(name, nodes, inputs, wanted, constants=None, types=None, opset=13, batch="N", limit=55.0, steps=None):
    """Values within `limit` dB; or, of quantised ones, at most one step off where a tie may go either way."""
    kinds = {key: (types or {}).get(key, TensorProto.FLOAT) for key in inputs}
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info(key, kinds[key], [batch, *array.shape[1:]]) for key, array in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(numpy.asarray(array), key) for key, array in (constants or {}).items()])
    sets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=sets, ir_version=8), "m.onnx")
    given = []
    for key, array in inputs.items():
        numpy.save(key + ".npy", array if kinds[key] == TensorProto.INT64 else array.astype(f32))
        given += ["-i", f"{key}={key}.npy"]
    times, results = [], []
    for options in (["-o", "y.npy"], ["--timing-only"], ["-o", "w.npy", "-p", "window"]):
        done = subprocess.run([CNNVP, "run", "m.onnx", *given, "-q", "--stats", "s.json", *options], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            wrong.append(f"{name} {options}: {done.stderr.strip()}")
            return
        with open("s.json", encoding="utf-8") as file:
            times.append(json.load(file)["total"])
    results = [numpy.load(file).astype(float) for file in ("y.npy", "w.npy")]
    off = results[0] - wanted
    sqnr = 10 * numpy.log10((wanted ** 2).sum() / max((off ** 2).sum(), 1e-30))
    good = sqnr >= limit if steps is None else abs(off).max() < 1.01 * steps and (abs(off) > steps / 2).mean() < 0.01
    if results[0].shape != wanted.shape or not good:
        wrong.append(f"{name}: {results[0].shape}, {sqnr:.1f} dB, {abs(off).max():g} off at most")
    if times[0] != times[1] or (results[0] != results[1]).any():
        wrong.append(f"{name}: other times without arithmetic, or other words on another array")


def normal(*shape):
    return random.standard_normal(shape).astype(f32)


def softmax(x, axis=-1):
    exponents = numpy.exp(x - x.max(axis, keepdims=True))
    return exponents / exponents.sum(axis, keepdims=True)


def attention():
    def attend(q, k, v, mask=0, scale=None, cap=0):
        scores = q.astype(float) @ k.swapaxes(-1, -2) * (scale or 1 / numpy.sqrt(q.shape[-1]))
        return softmax((cap * numpy.tanh(scores / cap) if cap else scores) + mask) @ v

    def flat(x):
        return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)
    q, k, v = normal(2, 4, 6, 8), normal(2, 4, 6, 8), normal(2, 4, 6, 5)
    few = k[:, :2], v[:, :2]
    repeated = [x.repeat(2, 1) for x in few]
    mask = numpy.where(random.rand(6, 6) > .4, 0, -numpy.inf)
    mask[:, 0] = 0
    causal = numpy.where(numpy.tril(numpy.ones((6, 6))) > 0, 0, -1e9)
    given = {"q": q, "k": k, "v": v}

    def case(name, wanted, inputs=None, constants=None, types=None, **attributes):
        names = ["q", "k", "v"] + (["m"] if constants or types else [])
        run("attention " + name, [node("Attention", names, ["y"], **attributes)], inputs or given, wanted, constants, types, 23)
    case("of heads", attend(q, k, v))
    case("scaled and bent", attend(q, k, v, scale=.3, cap=2.), scale=.3, softcap=2.)
    case("of what was", attend(q, k, v, causal), is_causal=1)
    case("masked", attend(q, k, v, mask), constants={"m": mask.astype(f32)})
    case("masked and causal", attend(q, k, v, mask + causal), constants={"m": mask.astype(f32)}, is_causal=1)
    case("where it is true", attend(q, k, v, mask), constants={"m": mask == 0})
    wide = numpy.broadcast_to(mask, (2, 1, 6, 6))
    case("where an input is true", attend(q, k, v, wide), {**given, "m": wide == 0}, types={"m": TensorProto.BOOL})
    case("of fewer keys", attend(q, *repeated), {"q": q, "k": few[0], "v": few[1]})
    case("side by side", flat(attend(q, k, v)), {key: flat(x) for key, x in given.items()}, q_num_heads=4, kv_num_heads=4)
    case("of fewer keys side by side", flat(attend(q, *repeated)), {"q": flat(q), "k": flat(few[0]), "v": flat(few[1])},
         q_num_heads=4, kv_num_heads=2)


def places():
    for rank in (1, 2, 3):
        table = normal(*(50, 3, 2)[:rank])
        indices = random.randint(-50, 50, (3, 4))
        run(f"rows of a table of {rank} dimensions", [node("Gather", ["t", "i"], ["y"])], {"i": indices}, table[indices],
            {"t": table}, {"i": TensorProto.INT64})
    x = normal(3, 2, 4, 5)
    for times in ([1, 2, 1, 1], [1, 1, 3, 2], [1, 3, 2, 4]):
        run(f"tile {times}", [node("Tile", ["x", "r"], ["y"])], {"x": x}, numpy.tile(x, times), {"r": numpy.array(times)})
    run("tile of images", [node("Tile", ["x", "r"], ["y"])], {"x": x}, numpy.tile(x, [2, 1, 3, 1]), {"r": numpy.array([2, 1, 3, 1])},
        batch=3)
    x = random.randint(-3, 4, (2, 3, 6, 5)).astype(f32)  # with ties
    for axis, keep, last, kind in itertools.product((1, 2, -1), (0, 1), (0, 1), ("Max", "Min")):
        find = numpy.argmax if kind == "Max" else numpy.argmin
        wanted = x.shape[axis] - 1 - find(numpy.flip(x, axis), axis) if last else find(x, axis)
        run(f"arg{kind} {axis} {keep} {last}", [node("Arg" + kind, ["x"], ["y"], axis=axis, keepdims=keep, select_last_index=last)],
            {"x": x}, (numpy.expand_dims(wanted, axis) if keep else wanted).astype(float), limit=200)


def sums():
    x = normal(2, 3, 5, 4)
    wide = x.astype(float)
    run("product of two axes", [node("ReduceProd", ["x"], ["y"], axes=[1, -1])], {"x": x}, wide.prod((1, 3), keepdims=True), limit=50)
    run("product of rows", [node("ReduceProd", ["x"], ["y"], axes=[2], keepdims=0)], {"x": x}, wide.prod(2))
    large = x + 300  # whose exponents have no end
    run("logarithm of sums", [node("ReduceLogSumExp", ["x"], ["y"], axes=[2, 3], keepdims=0)], {"x": large},
        numpy.log(numpy.exp(wide).sum((2, 3))) + 300)
    run("mean", [node("Mean", ["x", "z", "x"], ["y"])], {"x": x, "z": x * 3}, wide * 5 / 3)
    run("shrink", [node("Shrink", ["x"], ["y"], lambd=.5, bias=.25)], {"x": x},
        numpy.where(x < -.5, wide + .25, numpy.where(x > .5, wide - .25, 0)))
    sizes = dict(zip("nbchwoijdkltsp", (2, 2, 3, 4, 5, 6, 4, 5, 7, 3, 5, 4, 6, 2)))
    for equation in ("nchw->nhwc", "nchw->nc", "nchw,oc->nohw", "oc,nchw->nohw", "bhid,bhjd->bhij", "bhij,bhjd->bhid", "bld,dk->blk",
                     "bhid,hdk->bhik", "bd,dk->bk", "bi,bj->bij", "bhi,bhi->bh", "bhwc,hkc->bhwk", "nchw,nch->nw"):
        operands = equation.split("->", maxsplit=1)[0].split(",")
        arrays = [normal(*(sizes[letter] for letter in letters)) for letters in operands]
        named = list(zip("uv", operands, arrays))
        run(equation, [node("Einsum", list("uv")[:len(operands)], ["y"], equation=equation)],
            {key: array for key, letters, array in named if letters[0] in "nb"},
            numpy.einsum(equation, *(array.astype(float) for array in arrays)),
            {key: array for key, letters, array in named if letters[0] not in "nb"})


def quantised():
    def whole(x, scale, zero):
        return (numpy.rint(x.astype(float) / float(scale)) + zero).clip(0, 255)

    def numbers(x, scale, zero):
        return (x - float(zero)) * float(scale)
    x = (normal(2, 4, 6, 6) * 2).astype(f32)
    s, z = {"p": f32(.0311), "r": f32(.0507), "o": f32(.0413)}, {"p": 120, "r": 100, "o": 90}
    a, b = (numbers(whole(x, s[key], z[key]), s[key], z[key]) for key in "pr")
    constants = {**{key + "s": s[key] for key in s}, **{key + "z": numpy.uint8(z[key]) for key in z}}
    first = [node("QuantizeLinear", ["x", key + "s", key + "z"], [key]) for key in "pr"]
    last = node("DequantizeLinear", ["o", "os", "oz"], ["y"])

    def case(operator, inputs, values, **attributes):
        wanted = numbers(whole(values, s["o"], z["o"]), s["o"], z["o"])
        run(operator, [*first, node(operator, inputs, ["o"], **attributes, **vendor), last], {"x": x}, wanted, constants,
            steps=float(s["o"]))
    one, other, out = (["%s" % key, key + "s", key + "z"] for key in "pro")
    case("QLinearAveragePool", [*one, *out[1:]], a.reshape(2, 4, 3, 2, 3, 2).mean((3, 5)), kernel_shape=[2, 2], strides=[2, 2])
    case("QLinearMul", [*one, *other, *out[1:]], a * b)
    case("QLinearSigmoid", [*one, *out[1:]], 1 / (1 + numpy.exp(-a)))
    case("QLinearLeakyRelu", [*one, *out[1:]], numpy.where(a < 0, .1 * a, a), alpha=.1)
    case("QLinearSoftmax", [*one, *out[1:]], softmax(a, 1), axis=1, opset=13)
    case("QLinearConcat", [*out[1:], *one, *other, *one], numpy.concatenate((a, b, a), 1), axis=1)

    x = normal(1, 3, 7, 7)
    scale = max(x.max(), 0) / 255 - min(x.min(), 0) / 255
    zero = numpy.rint(-min(x.min(), 0) / scale).clip(0, 255)
    parts = (numpy.rint(x.astype(float) / scale) + zero).clip(0, 255) - zero
    w, wz = random.randint(0, 256, (3, 3)), 128
    dynamic = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
               node("ConvInteger", ["q", "w", "z", "wz"], ["c"]), node("Cast", ["c"], ["f"], to=1), node("Mul", ["f", "s"], ["y"])]
    kernel = (w - wz).astype(float)
    mixed = numpy.einsum("nchw,oc->nohw", parts, kernel) * scale
    run("dynamic convolution", dynamic, {"x": x}, mixed,
        {"w": w.astype(numpy.uint8).reshape(3, 3, 1, 1), "wz": numpy.uint8(wz)}, batch=1, limit=45)
    m, mz = random.randint(-128, 128, (7, 4)), 3
    dynamic[1] = node("MatMulInteger", ["q", "w", "z", "wz"], ["c"])
    run("dynamic product", dynamic, {"x": x}, parts @ (m - mz).astype(float) * scale,
        {"w": m.astype(numpy.int8), "wz": numpy.int8(mz)}, batch=1, limit=45)


attention()
places()
sums()
quantised()
print("\n".join(wrong))
sys.exit(bool(wrong))
