#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_networks.py NETWORK FILE.onnx: mobilenetv2, resnet18 or resnet50 for 224x224 images, batch norms folded, with seeded
random weights. Times and traffic do not depend on them, so studies of schedules need no trained network."""
import os
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


class Network:
    """Nodes one after the other; each method returns the name of its result."""

    def __init__(self):
        self.random = numpy.random.RandomState(1)
        self.nodes, self.weights = [], []

    def node(self, kind, inputs, **attributes):
        name = f"{kind}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def parameter(self, shape, deviation):
        name = f"p{len(self.weights)}"
        values = (self.random.standard_normal(shape) * deviation).astype(numpy.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def conv(self, last, channels, outputs, kernel, stride=1, group=1, relu=None):
        inputs = channels // group
        deviation = (2 / (kernel * kernel * inputs)) ** 0.5
        parameters = [self.parameter((outputs, inputs, kernel, kernel), deviation), self.parameter((outputs,), 0.01)]
        last = self.node("Conv", [last, *parameters], kernel_shape=[kernel, kernel], strides=[stride, stride],
                         pads=[kernel // 2] * 4, group=group)
        return self.relu(last, relu) if relu else last

    def relu(self, last, limit):
        if limit == "Relu":
            return self.node("Relu", [last])
        limits = [self.constant(0.0), self.constant(6.0)]
        return self.node("Clip", [last, *limits])

    def constant(self, value):
        name = f"c{value:g}"
        if all(weight.name != name for weight in self.weights):
            self.weights.append(numpy_helper.from_array(numpy.float32(value), name))
        return name

    def classify(self, last, channels):
        last = self.node("Flatten", [self.node("GlobalAveragePool", [last])])
        return self.node("Gemm", [last, self.parameter((1000, channels), channels ** -0.5),
                                  self.parameter((1000,), 0.01)], transB=1)

    def save(self, name, last, path):
        shape = helper.make_tensor_value_info("input", TensorProto.FLOAT, ["n", 3, 224, 224])
        result = helper.make_tensor_value_info(last, TensorProto.FLOAT, ["n", 1000])
        model = helper.make_model(helper.make_graph(self.nodes, name, [shape], [result], self.weights), ir_version=7,
                                  opset_imports=[helper.make_opsetid("", 13)])
        onnx.checker.check_model(model)
        onnx.save(model, path + ".tmp")
        os.replace(path + ".tmp", path)


def mobilenetv2(network):
    last = network.conv("input", 3, 32, 3, 2, relu="Clip")
    channels = 32
    for expansion, outputs, repeats, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                               (6, 160, 3, 2), (6, 320, 1, 1)):
        for repeat in range(repeats):
            stride, before = first if repeat == 0 else 1, last
            wide = channels * expansion
            if expansion > 1:
                last = network.conv(last, channels, wide, 1, relu="Clip")
            last = network.conv(last, wide, wide, 3, stride, wide, relu="Clip")
            last = network.conv(last, wide, outputs, 1)
            if stride == 1 and channels == outputs:
                last = network.node("Add", [before, last])
            channels = outputs
    return network.classify(network.conv(last, channels, 1280, 1, relu="Clip"), 1280)


def resnet(network, blocks, bottleneck):
    last = network.conv("input", 3, 64, 7, 2, relu="Relu")
    last = network.node("MaxPool", [last], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        outputs = width * (4 if bottleneck else 1)
        for block in range(count):
            stride, before = 2 if stage > 0 and block == 0 else 1, last
            if bottleneck:
                last = network.conv(last, channels, width, 1, relu="Relu")
                last = network.conv(last, width, width, 3, stride, relu="Relu")
                last = network.conv(last, width, outputs, 1)
            else:
                last = network.conv(last, channels, width, 3, stride, relu="Relu")
                last = network.conv(last, width, outputs, 3)
            if stride > 1 or channels != outputs:
                before = network.conv(before, channels, outputs, 1, stride)
            last = network.relu(network.node("Add", [last, before]), "Relu")
            channels = outputs
    return network.classify(last, channels)


MAKERS = {
    "mobilenetv2": mobilenetv2,
    "resnet18": lambda network: resnet(network, (2, 2, 2, 2), False),
    "resnet50": lambda network: resnet(network, (3, 4, 6, 3), True),
}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in MAKERS:
        sys.exit(__doc__)
    network = Network()
    network.save(sys.argv[1], MAKERS[sys.argv[1]](network), sys.argv[2])


main()
