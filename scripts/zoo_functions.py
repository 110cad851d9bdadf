# SPDX-License-Identifier: Apache-2.0
"""Functions of one number, comparisons and conditions, and normalisations made of them: cases of make_zoo.py."""
import numpy
import torch
from onnx import TensorProto, helper
from torch.nn import functional as F

SHAPE = (4, 5, 7)


def t(array):
    return torch.from_numpy(numpy.asarray(array))


def number(value):
    return {"b": numpy.float32(value)}


def functions(zoo):
    wide = zoo.normal(3, *SHAPE, scale=3)
    positive = numpy.abs(wide) + numpy.float32(0.05)
    part = numpy.tanh(wide) * numpy.float32(0.9)
    ties = numpy.round(wide * 4) / 4
    for name, function, images in (
            ("Mish", F.mish, wide), ("Exp", torch.exp, wide), ("Log", torch.log, positive), ("Sqrt", torch.sqrt, positive),
            ("Sin", torch.sin, wide), ("Cos", torch.cos, wide), ("Tan", torch.tan, part), ("Atan", torch.atan, wide),
            ("Asin", torch.asin, part), ("Acos", torch.acos, part), ("Sinh", torch.sinh, part * 3),
            ("Cosh", torch.cosh, part * 3), ("Asinh", torch.asinh, wide),
            ("Atanh", torch.atanh, part), ("Sign", torch.sign, ties), ("Floor", torch.floor, ties),
            ("Ceil", torch.ceil, ties), ("Round", torch.round, ties), ("Reciprocal", torch.reciprocal, positive + 1)):
        zoo.node("function_" + name.lower(), name, SHAPE, function, images=images)
    zoo.node("function_selu_other", "Selu", SHAPE, lambda x: 3 * F.elu(x, 2.0), images=wide, alpha=2.0, gamma=3.0)
    zoo.node("function_celu", "Celu", SHAPE, lambda x: F.celu(x, 0.7), images=wide, alpha=0.7)
    zoo.node("function_swish", "Swish", SHAPE, lambda x: x * torch.sigmoid(1.5 * x), images=wide, opset=24, alpha=1.5)
    zoo.node("function_thresholded", "ThresholdedRelu", SHAPE, lambda x: F.threshold(x, 0.75, 0), images=ties, alpha=0.75)
    for name, exponent, images in (("half", 0.5, positive), ("minus", -1.5, positive + 1), ("five", 5, part * 2),
                                   ("six", 6, part * 2), ("nothing", 0, wide)):
        zoo.node("function_pow_" + name, "Pow", SHAPE, lambda x, e=exponent: x ** e, number(exponent), images=images)
    zoo.graph("function_after_conv", [
        helper.make_node("Conv", ["input", "w"], ["c"]), helper.make_node("Exp", ["c"], ["output"])], SHAPE,
        lambda x: torch.exp(F.conv2d(x, KERNEL)), {"w": KERNEL.numpy()})


KERNEL = torch.linspace(-0.5, 0.5, 24).reshape(6, 4, 1, 1)


def conditions(zoo):
    ties = numpy.round(zoo.normal(3, *SHAPE) * 4) / 4
    for name, function in (("Greater", torch.gt), ("GreaterOrEqual", torch.ge), ("Less", torch.lt), ("LessOrEqual", torch.le),
                           ("Equal", torch.eq)):
        zoo.node("compare_" + name.lower(), name, SHAPE, lambda x, f=function: f(x, 0.25), number(0.25), images=ties)
    zoo.graph("compare_turned", [helper.make_node("Less", ["b", "input"], ["output"])], SHAPE, lambda x: x > 0.25,
              number(0.25), images=ties)
    zoo.graph("compare_integers", [
        helper.make_node("Max", ["input", "one"], ["m"]), helper.make_node("Equal", ["m", "two"], ["output"])], SHAPE,
        lambda x: x.clamp(min=1) == 2, {"one": numpy.int32(1), "two": numpy.int32([[2]])},
        images=numpy.round(ties), kind=TensorProto.INT32)
    other = numpy.round(zoo.normal(*SHAPE) * 4) / 4
    zoo.node("compare_constants", "Greater", SHAPE, lambda x: x > t(other), {"b": other}, images=ties)
    zoo.graph("compare_two", [
        helper.make_node("Transpose", ["input"], ["turned"], perm=[0, 1, 3, 2]),
        helper.make_node("LessOrEqual", ["input", "turned"], ["output"])], (4, 6, 6), lambda x: x <= x.transpose(2, 3),
        images=numpy.round(zoo.normal(3, 4, 6, 6) * 4) / 4)
    mask = zoo.normal(*SHAPE) > 0
    zoo.graph("compare_logic", [
        helper.make_node("Greater", ["input", "b"], ["p"]), helper.make_node("Less", ["input", "zero"], ["q"]),
        helper.make_node("Or", ["p", "q"], ["either"]), helper.make_node("Not", ["q"], ["n"]),
        helper.make_node("And", ["n", "mask"], ["both"]), helper.make_node("Xor", ["either", "both"], ["output"])], SHAPE,
        lambda x: ((x > 0.25) | (x < 0)) ^ (~(x < 0) & t(mask)),
        {**number(0.25), "zero": numpy.float32(0), "mask": mask}, opset=16, images=ties)
    zoo.graph("where_two", [
        helper.make_node("Greater", ["input", "b"], ["c"]), helper.make_node("Mul", ["input", "input"], ["square"]),
        helper.make_node("Where", ["c", "input", "square"], ["output"])], SHAPE,
        lambda x: torch.where(x > 0.25, x, x * x), number(0.25), opset=16)
    zoo.graph("where_mask", [helper.make_node("Where", ["mask", "input", "b"], ["output"])], SHAPE,
              lambda x: torch.where(t(mask), x, t(numpy.float32(-2))), {"mask": mask, **number(-2)}, opset=16)


def normalisations(zoo):
    tokens = (6, 16)
    eps = numpy.float32(1e-3)

    def apart(name, difference, square, end):
        zoo.graph(name, [
            helper.make_node("ReduceMean", ["input"], ["mean"], axes=[-1]),
            helper.make_node("Sub", ["input", "mean"], ["d"]), *difference, *square,
            helper.make_node("ReduceMean", ["s"], ["v"], axes=[2]), helper.make_node("Add", ["v", "eps"], ["ve"]),
            helper.make_node("Sqrt", ["ve"], ["r"]), *end, helper.make_node("Mul", ["n", "g"], ["ng"]),
            helper.make_node("Add", ["ng", "o"], ["output"])], tokens,
            lambda x: F.layer_norm(x, (16,), t(scale), t(offset), 1e-3),
            {"eps": eps, "two": numpy.float32(2), "g": scale, "o": offset})
    scale, offset = zoo.normal(16) + 1, zoo.normal(16)
    power = [helper.make_node("Pow", ["d", "two"], ["s"])]
    apart("layer_norm_apart", [], power, [helper.make_node("Div", ["d", "r"], ["n"])])
    apart("layer_norm_apart_twice", [helper.make_node("Sub", ["input", "mean"], ["e"])],
          [helper.make_node("Mul", ["e", "e"], ["s"])],
          [helper.make_node("Reciprocal", ["r"], ["i"]), helper.make_node("Mul", ["d", "i"], ["n"])])
    zoo.node("rms_norm", "RMSNormalization", tokens,
             lambda x: x / (x.square().mean(-1, keepdim=True) + 1e-3).sqrt() * t(scale), {"scale": scale}, opset=23,
             epsilon=1e-3)
    zoo.graph("l2_normalise", [
        helper.make_node("ReduceL2", ["input"], ["l"], axes=[-1]), helper.make_node("Clip", ["l", "least"], ["c"]),
        helper.make_node("Div", ["input", "c"], ["output"])], tokens, lambda x: F.normalize(x, dim=-1),
        {"least": numpy.float32(1e-12)})
    positive = numpy.abs(zoo.normal(3, *SHAPE)) + numpy.float32(0.1)
    zoo.node("reduce_log_sum", "ReduceLogSum", SHAPE, lambda x: x.sum(1, keepdim=True).log(), images=positive, axes=[1])

    def local(x, size):
        before = (size - 1) // 2
        around = F.pad(x.square(), (0, 0, 0, 0, before, size - 1 - before))
        return x / (1.5 + 0.02 / size * sum(around[:, i:i + x.shape[1]] for i in range(size))) ** 0.6
    for size in (3, 4):
        zoo.node(f"lrn_{size}", "LRN", (9, 5, 6), lambda x, s=size: local(x, s), size=size, alpha=0.02, beta=0.6, bias=1.5)


def make(zoo):
    functions(zoo)
    conditions(zoo)
    normalisations(zoo)
