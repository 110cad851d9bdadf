# SPDX-License-Identifier: Apache-2.0
"""Layers of transformers: products of two tensors, layer and group normalisation, operators on the last dimension."""
import numpy
import torch
from onnx import helper
from torch.nn import functional as F


def t(array):
    return torch.from_numpy(numpy.asarray(array))


def products(zoo):
    zoo.graph("matmul_two", [
        helper.make_node("Transpose", ["input"], ["turned"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["input", "turned"], ["output"])], (9, 5), lambda x: x @ x.transpose(1, 2))
    zoo.graph("matmul_two_turned", [
        helper.make_node("Transpose", ["input"], ["turned"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["turned", "input"], ["product"]),
        helper.make_node("Relu", ["product"], ["output"])], (6, 17), lambda x: F.relu(x.transpose(1, 2) @ x))
    zoo.graph("matmul_two_heads", [
        helper.make_node("Split", ["input", "parts"], ["a", "b"], axis=3),
        helper.make_node("Transpose", ["b"], ["turned"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["a", "turned"], ["s"]),
        helper.make_node("Tanh", ["s"], ["output"])], (3, 11, 8),
        lambda x: torch.tanh(x[..., :4] @ x[..., 4:].transpose(2, 3)), {"parts": numpy.array([4, 4], numpy.int64)})
    zoo.graph("matmul_two_read", [
        helper.make_node("Conv", ["input", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("MatMul", ["input", "c"], ["m"]),
        helper.make_node("Add", ["m", "c"], ["output"])], (3, 6, 6),
        lambda x: x @ F.conv2d(x, KERNEL, padding=1) + F.conv2d(x, KERNEL, padding=1), {"w": KERNEL.numpy()})


KERNEL = torch.linspace(-0.5, 0.5, 3 * 3 * 9).reshape(3, 3, 3, 3)


def norms(zoo):
    def layer_norm(name, shape, axis, weights=("scale", "offset"), opset=17):
        values = {key: zoo.normal(*shape[axis:]) + (key == "scale") for key in weights}
        zoo.node(name, "LayerNormalization", shape,
                 lambda x: F.layer_norm(x, shape[axis:], *(t(v) for v in values.values()), eps=1e-3), values, opset=opset,
                 axis=axis, epsilon=1e-3)
    layer_norm("layer_norm_tokens", (7, 12), -1)
    layer_norm("layer_norm_maps", (4, 5, 6), -1)
    layer_norm("layer_norm_two", (4, 5, 6), -2, ("scale",))
    layer_norm("layer_norm_features", (24,), -1)
    queries = zoo.normal(1, 7, 12)
    scale, offset = zoo.normal(12) + 1, zoo.normal(12)
    zoo.graph("layer_norm_constant", [
        helper.make_node("LayerNormalization", ["queries", "scale", "offset"], ["n"]),
        helper.make_node("Mul", ["n", "input"], ["output"])], (7, 12),
        lambda x: F.layer_norm(t(queries), (12,), t(scale), t(offset)) * x,
        {"queries": queries, "scale": scale, "offset": offset}, opset=17)
    for opset, count in ((18, 3), (21, 6)):
        scale, offset = zoo.normal(count) + 2, zoo.normal(count)
        repeat = 6 // count
        zoo.node(f"group_norm_{opset}", "GroupNormalization", (6, 5, 7),
                 lambda x, s=numpy.repeat(scale, repeat), o=numpy.repeat(offset, repeat): F.group_norm(x, 3, t(s), t(o)),
                 {"scale": scale, "offset": offset}, opset=opset, num_groups=3)


def last(zoo):
    numbers = zoo.normal(9)
    zoo.node("add_last", "Add", (5, 9), lambda x: x + t(numbers), {"b": numbers})
    zoo.node("mul_last_maps", "Mul", (5, 4, 9), lambda x: x * t(numbers), {"b": numbers.reshape(1, 1, 9)})
    zoo.graph("transpose_undone", [
        helper.make_node("Transpose", ["input"], ["turned"], perm=[0, 2, 3, 1]),
        helper.make_node("Reshape", ["turned", "shape"], ["tokens"]),
        helper.make_node("MatMul", ["tokens", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["biased"]),
        helper.make_node("Transpose", ["biased"], ["output"], perm=[0, 2, 1])], (5, 4, 6),
        lambda x: (x.flatten(2).transpose(1, 2) @ t(MATRIX) + t(numbers[:7])).transpose(1, 2),
        {"shape": numpy.array([0, 24, 5], numpy.int64), "w": MATRIX, "b": numbers[:7]})
    big = zoo.normal(12, 40, 40)
    zoo.node("add_large", "Add", (12, 40, 40), lambda x: x + t(big), {"b": big})


MATRIX = numpy.linspace(-1, 1, 35, dtype=numpy.float32).reshape(5, 7)


def attention(zoo):
    """A layer of a vision transformer: tokens of 4x4 patches, two heads."""
    width, heads, tokens = 16, 2, 16
    weights = {"patch": zoo.normal(width, 3, 4, 4, scale=0.2), "qkv": zoo.normal(width, 3 * width, scale=0.3),
               "qkv_b": zoo.normal(3 * width, scale=0.3), "proj": zoo.normal(width, width, scale=0.3),
               "g": zoo.normal(width) + 1, "b": zoo.normal(width), "up": zoo.normal(width, 2 * width, scale=0.3),
               "down": zoo.normal(2 * width, width, scale=0.3)}
    each = width // heads
    shapes = {"to_tokens": [0, width, tokens], "to_heads": [0, tokens, 3, heads, each], "from_heads": [0, tokens, width]}
    nodes = [
        helper.make_node("Conv", ["input", "patch"], ["p"], strides=[4, 4]),
        helper.make_node("Reshape", ["p", "to_tokens"], ["pt"]),
        helper.make_node("Transpose", ["pt"], ["x"], perm=[0, 2, 1]),
        helper.make_node("LayerNormalization", ["x", "g", "b"], ["n"]),
        helper.make_node("MatMul", ["n", "qkv"], ["m"]),
        helper.make_node("Add", ["m", "qkv_b"], ["mb"]),
        helper.make_node("Reshape", ["mb", "to_heads"], ["h"]),
        helper.make_node("Transpose", ["h"], ["ht"], perm=[2, 0, 3, 1, 4])]
    for i, name in enumerate("qkv"):
        nodes += [helper.make_node("Slice", ["h", f"s{i}", f"e{i}", "axis"], [f"{name}5"]),
                  helper.make_node("Squeeze", [f"{name}5", "axis"], [f"{name}4"]),
                  helper.make_node("Transpose", [f"{name}4"], [f"{name}h"], perm=[0, 2, 1, 3])]
        shapes[f"s{i}"], shapes[f"e{i}"] = [i], [i + 1]
    shapes["axis"] = [2]
    del nodes[7]
    nodes += [
        helper.make_node("Transpose", ["kh"], ["kt"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["qh", "kt"], ["s"]),
        helper.make_node("Mul", ["s", "factor"], ["sf"]),
        helper.make_node("Softmax", ["sf"], ["a"], axis=-1),
        helper.make_node("MatMul", ["a", "vh"], ["o"]),
        helper.make_node("Transpose", ["o"], ["ot"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["ot", "from_heads"], ["of"]),
        helper.make_node("MatMul", ["of", "proj"], ["op"]),
        helper.make_node("Add", ["op", "x"], ["y"]),
        helper.make_node("MatMul", ["y", "up"], ["u"]),
        helper.make_node("Relu", ["u"], ["r"]),
        helper.make_node("MatMul", ["r", "down"], ["d"]),
        helper.make_node("Add", ["d", "y"], ["output"])]

    def expected(x):
        w = {key: t(value) for key, value in weights.items()}
        x = F.conv2d(x, w["patch"], stride=4).flatten(2).transpose(1, 2)
        n = F.layer_norm(x, (width,), w["g"], w["b"]) @ w["qkv"] + w["qkv_b"]
        q, k, v = n.reshape(-1, tokens, 3, heads, each).permute(2, 0, 3, 1, 4)
        o = (q @ k.transpose(2, 3) * each ** -0.5).softmax(-1) @ v
        y = o.transpose(1, 2).flatten(2) @ w["proj"] + x
        return F.relu(y @ w["up"]) @ w["down"] + y
    arrays = {key: numpy.array(value, numpy.int64) for key, value in shapes.items()}
    zoo.graph("net_attention", nodes, (3, 16, 16), expected,
              {**weights, **arrays, "factor": numpy.float32(each ** -0.5)}, opset=17)


def make(zoo):
    products(zoo)
    norms(zoo)
    last(zoo)
    attention(zoo)
