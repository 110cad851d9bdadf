#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_classifiers.py NAME FILE.onnx [SIZE]: writes a well-known classifier for SIZE x SIZE images (default 224) with
folded batch norms and seeded random weights: mobilenet_v1, mobilenet_v2, resnet18 or resnet50. Or the convolutions of
fsrcnn or mc_cnn, without padding, for the images of DeFiNES's studies. Times and traffic do not depend on weights, so
the studies need no trained network."""
import os
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


class Network:
    def __init__(self):
        self.random = numpy.random.RandomState(1)
        self.nodes, self.weights = [], []

    def parameter(self, name, shape, deviation):
        values = (self.random.standard_normal(shape) * deviation).astype(numpy.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def node(self, kind, name, inputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def conv(self, name, x, channels, width, kernel, stride=1, groups=1, relu="Relu", padded=True):
        inputs = channels // groups
        gain = 2 if relu else 1
        y = self.node("Conv", name, [x, self.parameter(name + ".w", (width, inputs, kernel, kernel),
                                                       (gain / (inputs * kernel * kernel)) ** 0.5),
                                     self.parameter(name + ".b", (width,), 0.01)],
                      kernel_shape=[kernel, kernel], strides=[stride, stride], pads=[kernel // 2 if padded else 0] * 4,
                      group=groups)
        if relu == "Clip":
            return self.node("Clip", name + ".relu6", [y, "zero", "six"])
        return self.node(relu, name + ".relu", [y]) if relu else y

    def classify(self, x, channels):
        x = self.node("GlobalAveragePool", "pool", [x])
        x = self.node("Flatten", "flat", [x])
        return self.node("Gemm", "fc", [x, self.parameter("fc.w", (1000, channels), channels ** -0.5),
                                        self.parameter("fc.b", (1000,), 0.01)], transB=1)


def plain(net, *layers):
    x, channels = "input", 1
    for i, (width, kernel) in enumerate(layers):
        x, channels = net.conv(f"conv{i}", x, channels, width, kernel, padded=False), width
    return x


def mobilenet_v1(net):
    x, channels = net.conv("conv0", "input", 3, 32, 3, 2), 32
    for i, (width, stride) in enumerate(((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5,
                                         (1024, 2), (1024, 1)), 1):
        x = net.conv(f"b{i}.depthwise", x, channels, channels, 3, stride, channels)
        x, channels = net.conv(f"b{i}.pointwise", x, channels, width, 1), width
    return net.classify(x, channels)


def mobilenet_v2(net):
    for name, value in (("zero", 0), ("six", 6)):
        net.weights.append(numpy_helper.from_array(numpy.float32(value), name))
    x, channels, block = net.conv("conv0", "input", 3, 32, 3, 2, relu="Clip"), 32, 0
    for expansion, width, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                            (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            block += 1
            before, hidden = x, channels * expansion
            if expansion != 1:
                x = net.conv(f"b{block}.expand", x, channels, hidden, 1, relu="Clip")
            x = net.conv(f"b{block}.depthwise", x, hidden, hidden, 3, stride if i == 0 else 1, hidden, relu="Clip")
            x = net.conv(f"b{block}.project", x, hidden, width, 1, relu=None)
            if i != 0:
                x = net.node("Add", f"b{block}.add", [before, x])
            channels = width
    return net.classify(net.conv("conv1", x, channels, 1280, 1, relu="Clip"), 1280)


def resnet(net, counts, bottleneck):
    x = net.conv("conv0", "input", 3, 64, 7, 2)
    x = net.node("MaxPool", "pool0", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels, block = 64, 0
    for stage, count in enumerate(counts):
        inner = 64 << stage
        width = inner * 4 if bottleneck else inner
        for i in range(count):
            block += 1
            before, stride = x, 2 if stage != 0 and i == 0 else 1
            if bottleneck:
                x = net.conv(f"b{block}.conv1", x, channels, inner, 1)
                x = net.conv(f"b{block}.conv2", x, inner, inner, 3, stride)
                x = net.conv(f"b{block}.conv3", x, inner, width, 1, relu=None)
            else:
                x = net.conv(f"b{block}.conv1", x, channels, inner, 3, stride)
                x = net.conv(f"b{block}.conv2", x, inner, width, 3, relu=None)
            if stride != 1 or channels != width:
                before = net.conv(f"b{block}.shortcut", before, channels, width, 1, stride, relu=None)
            x = net.node("Relu", f"b{block}.relu", [net.node("Add", f"b{block}.add", [x, before])])
            channels = width
    return net.classify(x, channels)


SQUARE = (3, 224, 224)
NETWORKS = {
    "fsrcnn": (lambda net: plain(net, (56, 5), (12, 1), *((12, 3),) * 4, (56, 1), (16, 3)), (1, 554, 974)),
    "mc_cnn": (lambda net: plain(net, *((64, 3),) * 4), (1, 1250, 384)),
    "mobilenet_v1": (mobilenet_v1, SQUARE),
    "mobilenet_v2": (mobilenet_v2, SQUARE),
    "resnet18": (lambda net: resnet(net, (2, 2, 2, 2), False), SQUARE),
    "resnet50": (lambda net: resnet(net, (3, 4, 6, 3), True), SQUARE),
}


def main():
    name, path = sys.argv[1:3]
    net = Network()
    build, shape = NETWORKS[name]
    if len(sys.argv) > 3:
        shape = (shape[0], int(sys.argv[3]), int(sys.argv[3]))
    last = build(net)
    given = helper.make_tensor_value_info("input", TensorProto.FLOAT, ["n", *shape])
    result = helper.make_tensor_value_info(last, TensorProto.FLOAT, None)
    model = helper.make_model(helper.make_graph(net.nodes, name, [given], [result], net.weights), ir_version=7,
                              opset_imports=[helper.make_opsetid("", 13)])
    model = onnx.shape_inference.infer_shapes(model)
    onnx.checker.check_model(model)
    onnx.save(model, path + ".tmp")
    os.replace(path + ".tmp", path)


main()
