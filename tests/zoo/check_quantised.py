#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_quantised.py CNNVP RECORD: random quantised networks, with QLinearConv and QLinearMatMul or with float
operators between DequantizeLinear and QuantizeLinear. An array whose write-out scales computes each layer in one
pass, and every word must equal onnxruntime's, with words of 16 and of 8 bits.

The vector unit computes sums, differences and products of two such maps, in one pass if its write-out scales.

RECORD has a line for each network: its number and the SHA-256 of the output of onnxruntime 1.30, as binary32. It is
from the WebAssembly build, which rounds sums as the operator is specified; the x86 and ARM builds use other constants.
`check_quantised.py --write FOLDER` writes the networks (N.onnx) and inputs (N.npy) for onnxruntime."""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

NETWORKS = 24
RESIDUAL = range(100, 124)
ONE = numpy.float32(1)


def tensor(key, value):
    """As onnxruntime's quantiser stores tensors: floats as a list, other types as raw bytes."""
    value = numpy.asarray(value)
    return helper.make_tensor(key, TensorProto.FLOAT, value.shape, value.ravel().tolist()) if value.dtype == numpy.float32 else \
        numpy_helper.from_array(value, key)


class Network:
    """A network drawn from a seed, with its output by onnxruntime's rule: the 32-bit sum is rounded to binary32,
    multiplied by the binary32 (input step * weight step) / output step, rounded to nearest even, offset by the zero
    point, and clamped to the type."""

    def __init__(self, seed, symmetric=False, zero=None, weight_zero=0):
        self.weight_zero, self.zero_of_all = weight_zero, 0 if symmetric else zero
        self.weights = (-weight_zero, 256 - weight_zero) if weight_zero else (-127, 128)
        self.random = numpy.random.RandomState(seed)
        self.nodes, self.given, self.layers, self.scaled = [], {}, 0, 0
        self.apart = seed % 2 == 1
        self.type = numpy.uint8 if zero is not None else numpy.int8 if self.random.randint(2) or symmetric else numpy.uint8
        self.low, self.high = numpy.iinfo(self.type).min, numpy.iinfo(self.type).max
        side = 2 ** self.random.randint(3, 5) if seed % 4 < 2 else self.random.randint(7, 19)
        self.words = self.random.randint(self.low, self.high + 1, (3, side, side))
        self.step = numpy.float32(1 / 64)
        self.zero = zero if zero is not None else int(self.random.randint(self.low, self.high + 1)) * (not symmetric)
        self.input = ((self.words - self.zero) * self.step).astype(numpy.float32)[None]
        self.name, self.steps = "q", self.known("x", self.step, self.zero)
        self.nodes.append(helper.make_node("QuantizeLinear", ["input", *self.steps], ["q"]))

    def known(self, name, step, zero):
        self.given.update({name + "s": numpy.float32(step), name + "z": self.type(zero)})
        return [name + "s", name + "z"]

    def node(self, operator, inputs, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [f"t{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def finish(self, product, weights, operators, attributes, axis, same_step=False):
        """Turns sums into words: with a single operator, or with float operators between DequantizeLinear and
        QuantizeLinear."""
        random, name = self.random, f"l{self.layers}"
        self.layers += 1
        self.scaled += product.size
        outputs = product.shape[0]
        each = random.randint(2)
        steps = (numpy.abs(random.normal(size=outputs if each else 1)) * 0.004 + 0.0005).astype(numpy.float32)
        bias = random.randint(-40000, 40000, outputs).astype(numpy.int32) * random.randint(2)
        shape = (outputs,) + (1,) * (product.ndim - 1)
        sums = product + bias.reshape(shape)
        reach = float((numpy.abs(sums).reshape(outputs, -1).max(1) * (self.step * steps.astype(float))).max()) + 1e-6
        relu = random.randint(2)
        step = self.step if same_step else numpy.float32(reach / random.uniform(60, 300))
        zero = self.low if relu else int(random.randint(self.low + 60, self.high - 60))
        zero = zero if self.zero_of_all is None else self.zero_of_all
        multiplier = (self.step * steps / step).astype(numpy.float32)
        multiplier = multiplier.reshape(shape) if each else multiplier
        words = numpy.rint(sums.astype(numpy.float32) * multiplier).astype(int) + zero
        of_result = self.known(name, step, zero)
        stored = numpy.uint8 if self.weight_zero else numpy.int8
        self.given.update({name + "w": (weights + self.weight_zero).astype(stored), name + "b": bias,
                           name + "ws": steps if each else steps[0],
                           name + "wz": numpy.full(outputs, self.weight_zero, stored) if each else stored(self.weight_zero)})
        of_weights = [name + "w", name + "ws", name + "wz"]
        if self.apart:
            self.given[name + "bs"] = self.step * steps if each else self.step * steps[0]
            result = self.node(operators[1], [
                self.node("DequantizeLinear", [self.name, *self.steps]),
                self.node("DequantizeLinear", of_weights, axis=axis),
                self.node("DequantizeLinear", [name + "b", name + "bs"], axis=0)], **attributes)
            result = self.node("Relu", [result]) if relu else result
            self.name = self.node("QuantizeLinear", [result, *of_result])
        else:
            inputs = [self.name, *self.steps, *of_weights, *of_result]
            self.name = self.node(operators[0], inputs + [name + "b"], **attributes)
        self.words, self.step, self.zero, self.steps = numpy.clip(words, zero if relu else self.low, self.high), step, zero, of_result

    def between(self, operator, words, **attributes):
        """A float operator between DequantizeLinear and QuantizeLinear with the same step and zero point."""
        made = self.node(operator, [self.node("DequantizeLinear", [self.name, *self.steps])], **attributes)
        self.name, self.words = self.node("QuantizeLinear", [made, *self.steps]), words

    def join(self):
        """Concatenates the map with itself; with float operators the result gets its own step."""
        if self.apart:
            parts = [self.node("DequantizeLinear", [self.name, *self.steps]) for _ in range(2)]
            numbers = (self.words - self.zero).astype(numpy.float32) * self.step
            self.step = numpy.float32(1.3 * self.step)
            self.steps = self.known("j", self.step, self.zero)
            self.name = self.node("QuantizeLinear", [self.node("Concat", parts, axis=1), *self.steps])
            self.words = numpy.clip(numpy.rint(numbers / self.step) + self.zero, self.low, self.high).astype(int)
        else:
            self.name = self.node("Concat", [self.name, self.name], axis=1)
        self.words = numpy.concatenate((self.words, self.words))

    def combine(self, other, operator):
        """Combines the map with an earlier one. Quantised operators, and equivalent ones on unsigned bytes, add the
        zero point before rounding; float operators add it afterwards. Steps that are multiples of each other produce
        ties."""
        random, name = self.random, f"l{self.layers}"
        self.layers += 1
        words, step, zero, steps, value = other
        operands = ((words - zero).astype(numpy.float32) * step, (self.words - self.zero).astype(numpy.float32) * self.step)
        number = {"Add": numpy.add, "Sub": numpy.subtract, "Mul": numpy.multiply}[operator](*operands)
        inputs = [[value, *steps], [self.name, *self.steps]]
        ties = step == self.step and operator != "Mul"
        self.step = numpy.float32(2 * step if ties else (numpy.abs(number).max() + 1e-6) / random.uniform(60, 300))
        self.zero = int(random.randint(self.low + 60, self.high - 60))
        relu = self.apart and random.randint(3) == 0
        self.zero = self.low if relu and random.randint(2) else self.zero
        self.steps = self.known(name, self.step, self.zero)
        one = not self.apart and operator != "Sub"
        if one:
            result = self.node("QLinear" + operator, inputs[0] + inputs[1] + self.steps, domain="com.microsoft")
        else:
            result = self.node(operator, [self.node("DequantizeLinear", of) for of in inputs])
            result = self.node("Relu", [result]) if relu else result
            result = self.node("QuantizeLinear", [result, *self.steps])
        self.name = result
        with_zero = one or (operator != "Sub" and self.type == numpy.uint8 and not relu)
        centre = self.zero if with_zero else 0
        quotient = (numpy.maximum(number, 0) if relu else number) / self.step + numpy.float32(centre)
        self.words = numpy.clip(numpy.rint(quotient).astype(int) - centre + self.zero, self.low, self.high)

    def average(self):
        """Averages whole maps, from 32-bit sums like those of products."""
        sums, area = (self.words - self.zero).reshape(len(self.words), -1).sum(1), self.words[0].size
        before, steps = self.step, self.steps
        self.step = numpy.float32((numpy.abs(sums).max() / area * before + 1e-6) / self.random.uniform(60, 300))
        self.zero = int(self.random.randint(self.low + 60, self.high - 60))
        self.steps = self.known("average", self.step, self.zero)
        if self.apart:
            result = self.node("GlobalAveragePool", [self.node("DequantizeLinear", [self.name, *steps])])
            self.name = self.node("QuantizeLinear", [result, *self.steps])
        else:
            self.name = self.node("QLinearGlobalAveragePool", [self.name, *steps, *self.steps], domain="com.microsoft", channels_last=0)
        words = numpy.rint(sums.astype(numpy.float32) * (before / (self.step * numpy.float32(area)))).astype(int) + self.zero
        self.words = numpy.clip(words, self.low, self.high).reshape(-1, 1, 1)

    def convolve(self, groups=None, alike=False, same_step=False):
        random, channels = self.random, self.words.shape[0]
        own = groups is None and self.layers > 0 and random.randint(3) == 0
        parts = groups or (channels if own else 1)
        side, stride = [1, 3, 5][random.randint(3)], 1 + int(random.randint(3) == 0 and not alike)
        around = side // 2
        outputs = channels if own or alike else 2 * groups if groups else random.randint(2, 12)
        weights = random.randint(*self.weights, (outputs, channels // parts, side, side))
        padded = numpy.pad(self.words - self.zero, ((0, 0), (around, around), (around, around)))
        rows, columns = (-(-size // stride) for size in self.words.shape[1:])
        product = numpy.zeros((outputs, rows, columns), int)
        for y in range(side):
            for x in range(side):
                part = padded[:, y:y + stride * rows:stride, x:x + stride * columns:stride].reshape(parts, -1, rows * columns)
                product += (weights[:, :, y, x].reshape(parts, -1, channels // parts) @ part).reshape(product.shape)
        self.finish(product, weights, ("QLinearConv", "Conv"),
                    {"pads": [around] * 4, "strides": [stride] * 2, "group": parts}, 0, same_step)

    def multiply(self):
        """A fully connected layer; QLinearMatMul has no bias."""
        self.name = self.node("Flatten", [self.name])
        flat = (self.words - self.zero).reshape(-1)
        weights = self.random.randint(*self.weights, (self.random.randint(2, 12), flat.size))
        self.finish(weights @ flat, weights, (None, "Gemm"), {"transB": 1}, 0)

    def write(self, path):
        self.given["one"] = ONE
        self.nodes.append(helper.make_node("DequantizeLinear", [self.name, "one", self.steps[1]], ["output"]))
        self.output = (self.words - self.zero).astype(numpy.float32)[None]
        graph = helper.make_graph(
            self.nodes, "quantised", [helper.make_tensor_value_info("input", TensorProto.FLOAT, self.input.shape)],
            [helper.make_tensor_value_info("output", TensorProto.FLOAT, self.output.shape)],
            [tensor(key, value) for key, value in self.given.items()])
        opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=7), path + ".onnx")
        numpy.save(path + ".npy", self.input)


def make(seed, path):
    network = Network(seed)
    for _ in range(network.random.randint(2, 5)):
        network.convolve()
    if network.apart and network.random.randint(2):
        network.multiply()
    network.write(path)
    return network


def with_sums(seed, path):
    """Maps that bypass one or two convolutions and are then added, subtracted or multiplied, and averages: words of the
    array and of the vector unit."""
    network = Network(seed)
    network.convolve()
    for _ in range(3):
        before = network.words, network.step, network.zero, network.steps, network.name
        for _ in range(network.random.randint(1, 3)):
            network.convolve(alike=True, same_step=seed % 3 == 0)
        network.combine(before, ("Add", "Add", "Sub", "Mul")[network.random.randint(4)])
    if seed % 3 == 1 and not (network.apart and network.type == numpy.int8):  # onnxruntime would average them as floats
        network.average()
    network.write(path)
    return network


def defaults(zero, weight_zero, path):
    """Unsigned words, the default of quantisers, with one zero point for all maps; it is mostly 0 after a ReLU. Max
    pools and padding are between the convolutions."""
    network = Network(2 * zero + 1, zero=zero, weight_zero=weight_zero)
    for _ in range(2):
        network.convolve()
        rows, columns = (size // 2 for size in network.words.shape[1:])
        network.between("MaxPool", network.words[:, :2 * rows, :2 * columns].reshape(-1, rows, 2, columns, 2).max((2, 4)),
                        kernel_shape=[2, 2], strides=[2, 2])
    network.convolve()
    network.multiply()
    network.write(path)
    return network


def grouped(seed, path):
    """Groups with one input channel, groups with several on a reshaped view, and groups on a concatenation."""
    network = Network(seed)
    network.convolve(3)
    network.words = network.words.reshape(6, 1, -1)
    network.given["shape"] = numpy.array([0, *network.words.shape])
    network.name = network.node("Reshape", [network.name, "shape"])
    network.convolve(2)
    network.join()
    network.convolve(2)
    network.write(path)
    return network


def codes(path, kind):
    """The quantised input, passed on by a product with 1: floats near ties and out of range, or bytes."""
    random, node = numpy.random.RandomState(9), helper.make_node
    step, zero = numpy.float32(0.0123), 77
    values = ((random.randint(-100, 200, (1, 1, 64, 64)) + 0.5) * step).astype(numpy.float32)
    values[:, :, ::2] += random.normal(size=values[:, :, ::2].shape).astype(numpy.float32)
    floats = kind == TensorProto.FLOAT
    values = values if floats else random.randint(0, 256, values.shape).astype(numpy.uint8)
    given = {"s": step, "z": numpy.uint8(zero), "w": numpy.ones((1, 1, 1, 1), numpy.int8), "one": ONE, "none": numpy.int8(0)}
    nodes = [node("QuantizeLinear", ["input", "s", "z"], ["q"])] * floats
    nodes += [node("QLinearConv", ["q" if floats else "input", "s", "z", "w", "one", "none", "s", "z"], ["c"]),
              node("DequantizeLinear", ["c", "one", "z"], ["output"])]
    graph = helper.make_graph(nodes, "codes", [helper.make_tensor_value_info("input", kind, values.shape)],
                              [helper.make_tensor_value_info("output", TensorProto.FLOAT, values.shape)],
                              [tensor(key, value) for key, value in given.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path + ".onnx")
    numpy.save(path + ".npy", values)
    return numpy.clip(numpy.rint(values / step) if floats else values - float(zero), -zero, 255 - zero)


def residual(path):
    """Maps with any zero points that the vector unit adds, averages and multiplies by constants."""
    random, node = numpy.random.RandomState(8), helper.make_node
    given = {"one": ONE}
    nodes = []

    def steps(name, step, zero, kind=numpy.uint8):
        given.update({name + "s": numpy.float32(step), name + "z": kind(zero)})
        return [name + "s", name + "z"]

    def quantise(value, step, zero):
        name = f"n{len(nodes)}"
        of = steps(name, step, zero)
        nodes.extend([node("QuantizeLinear", [value, *of], [name + "q"]), node("DequantizeLinear", [name + "q", *of], [name])])
        return name

    def convolve(value, step, zero):
        name = f"c{len(nodes)}"
        given[name + "w"] = random.randint(-127, 128, (8, 8, 3, 3)).astype(numpy.int8)
        of = steps(name, 0.0008, 0, numpy.int8)
        nodes.extend([node("DequantizeLinear", [name + "w", *of], [name + "d"]),
                      node("Conv", [value, name + "d"], [name], pads=[1] * 4)])
        return quantise(name, step, zero)

    first = convolve(quantise("input", 0.02, 117), 0.03, 140)
    second = convolve(first, 0.05, 99)
    nodes.extend([node("Add", [first, second], ["sum"]), node("Relu", ["sum"], ["positive"])])
    third = convolve(quantise("positive", 0.025, 0), 0.05, 128)
    nodes.append(node("Mul", [third, first], ["product"]))
    nodes.append(node("GlobalAveragePool", [quantise("product", 0.1, 130)], ["mean"]))
    of = steps("y", 0.001, 100)
    nodes.extend([node("QuantizeLinear", ["mean", *of], ["y"]), node("DequantizeLinear", ["y", "one", of[1]], ["output"])])
    graph = helper.make_graph(nodes, "residual", [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 8, 16, 16])],
                              [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 8, 1, 1])],
                              [tensor(key, value) for key, value in given.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path + ".onnx")
    numpy.save(path + ".npy", random.normal(size=(1, 8, 16, 16)).astype(numpy.float32))


def exported(seed, path):
    """Symmetric quantisation, with each operator between DequantizeLinear and QuantizeLinear: all layers use 8-bit
    words."""
    network = Network(2 * seed + 1, symmetric=True)
    for _ in range(2):
        network.convolve()
        network.between("Relu", numpy.maximum(network.words, 0))
        rows, columns = (size // 2 for size in network.words.shape[1:])
        network.between("MaxPool", network.words[:, :2 * rows, :2 * columns].reshape(-1, rows, 2, columns, 2).max((2, 4)),
                        kernel_shape=[2, 2], strides=[2, 2])
    network.between("Flatten", network.words)
    network.multiply()
    network.write(path)
    return network


def run(path, *options):
    """Returns the words (None with --timing-only) and the statistics."""
    words, stats = path + ".out.npy", path + ".json"
    computed = [] if "--timing-only" in options else ["-i", path + ".npy", "-o", words]
    subprocess.run([sys.argv[1], "run", path + ".onnx", "-q", "--stats", stats, *computed, *options], check=True)
    with open(stats, encoding="utf-8") as file:
        return numpy.load(words) if computed else None, json.load(file)


def other(path, kind):
    """A convolution between quantised tensors with a variation (`kind`) of function, bias, step or weights. Returns its
    words."""
    random, node = numpy.random.RandomState(5), helper.make_node
    given = {"xs": numpy.float32(0.05), "xz": numpy.uint8(120), "ys": numpy.float32(0.1), "yz": numpy.uint8(128),
             "w": random.randint(-127, 128, (6, 3, 3, 3)).astype(numpy.int16 if kind == "weights" else numpy.int8),
             "ws": numpy.float32(0.004), "b": random.randint(-2000, 2000, 6).astype(numpy.int32),
             "bs": numpy.float32(0.05 * 0.004 * (1.01 if kind == "step" else 1)), "one": ONE,
             "f": random.normal(size=6).astype(numpy.float32), "v": numpy.full(6, 2, numpy.float32)}
    bias = "f" if kind == "floats" else "bd"
    nodes = [node("QuantizeLinear", ["input", "xs", "xz"], ["q"]), node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
             node("DequantizeLinear", ["w", "ws"], ["wd"]), node("DequantizeLinear", ["b", "bs"], ["bd"]),
             node("Conv", ["d", "wd", bias], ["c"]), *{
                 "norm": [node("BatchNormalization", ["c", "v", "f", "f", "v"], ["r"])],
                 "sigmoid": [node("Sigmoid", ["c"], ["r"])]}.get(kind, [node("Relu", ["c"], ["r"])]),
             node("QuantizeLinear", ["r", "ys", "yz"], ["y"]), node("DequantizeLinear", ["y", "one", "yz"], ["output"])]
    graph = helper.make_graph(nodes, kind, [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, 8, 8])],
                              [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 6, 6, 6])],
                              [numpy_helper.from_array(numpy.asarray(value), key) for key, value in given.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=9), path + ".onnx")
    image = random.normal(size=(1, 3, 8, 8)).astype(numpy.float32)
    numpy.save(path + ".npy", image)
    numbers = (numpy.rint(image / given["xs"]) + 120).clip(0, 255).astype(float) - 120
    windows = numpy.lib.stride_tricks.sliding_window_view(numbers, (3, 3), (2, 3))
    sums = numpy.einsum("nchwij,ocij->nohw", windows, given["w"].astype(float)) * 0.05 * 0.004
    result = sums + (given["f"] if bias == "f" else given["b"] * float(given["bs"]))[:, None, None]
    if kind == "norm":
        result = (result - given["f"][:, None, None]) / numpy.sqrt(2 + 1e-5) * 2 + given["f"][:, None, None]
    result = 1 / (1 + numpy.exp(-result)) if kind == "sigmoid" else result if kind == "norm" else numpy.maximum(result, 0)
    return (numpy.rint(result / 0.1) + 128).clip(0, 255) - 128


def order(path):
    """A convolution whose sums are its biases. They are chosen so that words depend on the order in which scales are
    multiplied."""
    random, node = numpy.random.RandomState(6), helper.make_node
    step, result = numpy.float32(0.0173), numpy.float32(0.0911)
    steps, biases = [], []
    while len(steps) < 12:
        weight = numpy.float32(random.uniform(4e-4, 6e-4))
        one, two = step * weight / result, step * (weight / result)
        sums = numpy.rint((numpy.arange(-100, 100) + 0.5) / one).astype(numpy.int32)
        differ = numpy.rint(sums.astype(numpy.float32) * one) != numpy.rint(sums.astype(numpy.float32) * two)
        if differ.any():
            steps.append(weight)
            biases.append(sums[differ][0])
    given = {"xs": step, "xz": numpy.int8(3), "w": numpy.zeros((12, 3, 1, 1), numpy.int8), "ws": numpy.array(steps),
             "wz": numpy.zeros(12, numpy.int8), "ys": result, "yz": numpy.int8(0), "b": numpy.array(biases), "one": ONE}
    nodes = [node("QuantizeLinear", ["input", "xs", "xz"], ["q"]),
             node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["c"]),
             node("DequantizeLinear", ["c", "one", "yz"], ["output"])]
    graph = helper.make_graph(nodes, "order", [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, 2, 2])],
                              [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 12, 2, 2])],
                              [numpy_helper.from_array(numpy.asarray(value), key) for key, value in given.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path + ".onnx")
    numpy.save(path + ".npy", numpy.zeros((1, 3, 2, 2), numpy.float32))
    multipliers = (step * numpy.array(steps) / result).astype(numpy.float32)
    return numpy.rint(numpy.array(biases).astype(numpy.float32) * multipliers)


def scaled(stats):
    return sum(unit.get("scaled_words", 0) for unit in stats["units"].values() if isinstance(unit, dict))


SCALE = ["-s", "pe_array.write_out=scale", "-s", "vector.write_out=scale"]
BYTES = [*SCALE, "-s", "pe_array.precision=both", "--precision", "int8"]
PLATFORMS = [["-p", "nfu", *SCALE], ["-p", "nfu", *SCALE, "-s", "pe_array.detail=cycle"],
             ["-p", "systolic", "-s", "pe_array.precision=fx16"], ["-p", "nfu", *SCALE, "--schedule", "fused"],
             ["-p", "nfu", *SCALE, "-s", "weight_buffer.size=512", "-s", "input_buffer.size=1KiB"],
             ["-p", "window", *SCALE, "-s", "fully_connected.write_out=scale"], ["-p", "nfu", *SCALE, "--issue", "list"],
             ["-p", "nfu", *BYTES], ["-p", "systolic", *BYTES], ["-p", "nfu", *BYTES, "-s", "pe_array.detail=cycle"]]
# Only 8-bit words: on chip, fused, in slices, and on the window engine.
ALONE = ["-p", "systolic"]
LARGE = [word for name in ("input", "weight", "output") for word in ("-s", f"{name}_buffer.size=1MiB")]
EIGHT = [ALONE, [*ALONE, *LARGE, "--on-chip"], [*ALONE, "--schedule", "fused"], ["-p", "nfu", *BYTES, "--schedule", "fused"],
         [*ALONE, "-s", "weight_buffer.size=512", "-s", "input_buffer.size=1KiB"],
         ["-p", "window", *BYTES, *(word for name in ("fully_connected", "pooling") for word in ("-s", f"{name}.precision=both")),
          "-s", "fully_connected.write_out=scale"], [*ALONE, "--issue", "list"]]
# Sums of convolutions and maps that bypass them, by the array's write-out.
ADDS = [[*ALONE, "-s", "pe_array.write_out=add", "--schedule", "auto"],
        ["-p", "nfu", *BYTES, "-s", "pe_array.write_out=add", "-s", "pe_array.detail=cycle", "--schedule", "auto"]]


def check_eight(path, wanted, platform, words):
    """The array computes all products, of `words` words, from and to 8-bit words. A fused group may leave out words
    that nothing reads."""
    output, statistics = run(path, *platform, "--check-results", "--check-costs")
    wrong = int((output.reshape(-1) != wanted.reshape(-1)).sum())
    assert wrong == 0, f"{path}, {' '.join(platform)}: {wrong} of {output.size} words"
    as_many = scaled(statistics) > 0 if "fused" in platform else scaled(statistics) == words
    assert as_many, f"{path}, {' '.join(platform)}: {scaled(statistics)} of {words} words are scaled"
    _, timing = run(path, *platform, "--timing-only")
    assert timing["total"]["accel_cycles"] == statistics["total"]["accel_cycles"], path


if sys.argv[1] == "--write":
    for number in range(NETWORKS):
        make(number, os.path.join(sys.argv[2], str(number)))
    for number in RESIDUAL:
        with_sums(number, os.path.join(sys.argv[2], str(number)))
    sys.exit(0)
with open(sys.argv[2], encoding="utf-8") as record:
    answers = dict(line.split() for line in record)
differ = words_of_all = 0
for number in range(NETWORKS):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "net")
        net = make(number, path)
        answer = hashlib.sha256(net.output.tobytes()).hexdigest()
        assert answers[str(number)] == answer, f"network {number} is not the one that onnxruntime had"
        for platform in (PLATFORMS[number % len(PLATFORMS)], PLATFORMS[0]):
            output, statistics = run(path, *platform, "--check-results", "--check-costs")
            wrong = int((output.reshape(-1) != net.output.reshape(-1)).sum())
            assert wrong == 0, f"network {number}, {' '.join(platform)}: {wrong} of {output.size} words are not onnxruntime's"
            assert scaled(statistics) > 0, f"network {number}, {' '.join(platform)}: nothing was scaled"
        _, timing = run(path, *PLATFORMS[0], "--timing-only")
        assert timing["total"]["accel_cycles"] == statistics["total"]["accel_cycles"], number
        check_eight(path, net.output, EIGHT[number % len(EIGHT)], scaled(statistics))
        output, statistics = run(path)
        differ += int((output.reshape(-1) != net.output.reshape(-1)).sum())
        words_of_all += output.size
        assert scaled(statistics) == 0, number
print(f"{words_of_all} words, {differ} of them differ where the write-out does not scale")
assert 0 < differ < words_of_all / 20
added = [0] * len(ADDS)
for number in RESIDUAL:
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "net")
        net = with_sums(number, path)
        assert answers[str(number)] == hashlib.sha256(net.output.tobytes()).hexdigest(), f"{number} is not onnxruntime's"
        for platform in (EIGHT[number % len(EIGHT)], [*ALONE, "--schedule", "fused"]):
            check_eight(path, net.output, platform, net.scaled)
        for platform in (PLATFORMS[number % len(PLATFORMS)], ADDS[number % len(ADDS)]):
            output, statistics = run(path, *platform, "--check-results", "--check-costs")
            wrong = int((output != net.output).sum())
            assert wrong == 0, f"network {number}, {' '.join(platform)}: {wrong} of {output.size} words"
        added[number % len(ADDS)] += statistics["units"]["pe_array"]["added_words"]
        layers = [layer["op"] for layer in run(path, *ALONE)[1]["layers"]]
        assert layers.count("add") == 3 and layers.count("norm") == 1, layers  # at the output
        assert layers.count("pool") == (net.words[0].size == 1), layers
assert all(added), f"words that the write-outs add: {added}"
for what in ("relu", "norm", "sigmoid", "floats", "step", "weights"):
    with tempfile.TemporaryDirectory() as work:
        wanted = other(os.path.join(work, what), what)
        output, statistics = run(os.path.join(work, what), *PLATFORMS[0])
        plain, _ = run(os.path.join(work, what))
        exact = what in ("relu", "norm", "sigmoid", "floats")
        assert (scaled(statistics) > 0) == exact, what
        assert (output.reshape(-1) != wanted.reshape(-1)).sum() <= 1 if exact else numpy.array_equal(output, plain), what
with tempfile.TemporaryDirectory() as work:
    words = order(os.path.join(work, "order"))
    output, _ = run(os.path.join(work, "order"), *PLATFORMS[0])
    assert numpy.array_equal(output.reshape(12, 4), numpy.repeat(words, 4).reshape(12, 4)), "the order of scales"
for number in range(6):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "net")
        net = exported(number, path)
        for platform in (ALONE, PLATFORMS[7]):
            output, statistics = run(path, *platform)
            wrong = int((output.reshape(-1) != net.output.reshape(-1)).sum())
            assert wrong == 0, f"exported network {number}, {' '.join(platform)}: {wrong} of {output.size} words"
            layers = [layer["name"] for layer in statistics["layers"]]
            assert len(layers) <= 7, layers  # two convolutions, two max pools, a product, and the conversions at input and output
            _, timing = run(path, *platform, "--timing-only")
            assert timing["total"]["accel_cycles"] == statistics["total"]["accel_cycles"], number
for kind in (TensorProto.FLOAT, TensorProto.UINT8):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "codes")
        words = codes(path, kind)
        for platform in ([], PLATFORMS[0], ALONE):
            output, statistics = run(path, *platform)
            assert numpy.array_equal(output, words), f"{platform}: {(output != words).sum()} codes"
            assert [layer["op"] for layer in statistics["layers"]] == ["conv", "norm"], statistics["layers"]
            assert scaled(statistics) == (words.size if platform else 0), platform
for zero, weight_zero, platforms in ((0, 0, EIGHT), (3, 0, EIGHT), (255, 0, EIGHT), (128, 128, EIGHT), (0, 128, EIGHT),
                                     (3, 100, PLATFORMS[7:])):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, f"zero{zero}")
        net = defaults(zero, weight_zero, path)
        output, statistics = run(path, *PLATFORMS[0])
        assert numpy.array_equal(output.reshape(-1), net.output.reshape(-1)), path
        for platform in platforms:
            check_eight(path, net.output, platform, scaled(statistics))
for number in range(2, 6):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "net")
        net = grouped(number, path)
        for platform in (PLATFORMS[0], EIGHT[number % len(EIGHT)]):
            check_eight(path, net.output, platform, net.scaled)
        assert [layer["op"] for layer in run(path, *ALONE)[1]["layers"]].count("norm") == 1 + 2 * net.apart, number
with tempfile.TemporaryDirectory() as work:
    path = os.path.join(work, "net")
    residual(path)
    output, statistics = run(path, *PLATFORMS[0])
    assert len(numpy.unique(output)) > 4, output
    for platform in EIGHT:
        check_eight(path, output, platform, scaled(statistics))
    blocks, statistics = run(path, *PLATFORMS[0], "--schedule", "depth-first")
    assert not numpy.array_equal(blocks, output)
    for platform in (ALONE, PLATFORMS[7]):
        check_eight(path, blocks, [*platform, "--schedule", "depth-first"], scaled(statistics))
with tempfile.TemporaryDirectory() as work:
    path = os.path.join(work, "net")
    bytes_alone = [sys.argv[1], "run", path + ".onnx", *ALONE, "-q"]
    exported(0, path)
    refused = [subprocess.run([*bytes_alone, "-s", "pe_array.write_out=round"], capture_output=True, text=True, check=False)]
    far = Network(1, weight_zero=100)
    far.multiply()
    far.write(path)
    refused.append(subprocess.run(bytes_alone, capture_output=True, text=True, check=False))
    defaults(0, 0, path)
    done = subprocess.run([*bytes_alone[:-1], "--plan-out", path + ".yaml"], capture_output=True, text=True, check=True)
    assert re.search(r"\nwords of 8 bits +100 % of the MACs\n", done.stdout), done.stdout
    for platform, widened in (ALONE, False), (["-p", "nfu"], True):
        done = subprocess.run([sys.argv[1], "run", path + ".onnx", *platform], capture_output=True, text=True, check=True)
        assert bool(re.search(r"\nwords +have 16 bits, the file's numbers 8", done.stdout)) == widened, done.stdout
    with open(path + ".yaml", encoding="utf-8") as file:
        plan = file.read()
    with open(path + ".yaml", "w", encoding="utf-8") as file:
        file.write(plan.replace("unit: pe_array", "unit: vector", 1))
    refused.append(subprocess.run([*bytes_alone, "--plan", path + ".yaml"], capture_output=True, text=True, check=False))
    for done, wanted in zip(refused, ("need an array that scales its results: use -s pe_array.write_out=scale",
                                      "less their zero point", "its input has a zero point, which an array takes that scales")):
        assert done.returncode == 2 and wanted in done.stderr, done
