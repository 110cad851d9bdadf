#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_vgg16.py FILE.onnx: VGG16 for 32x32 images (13 convolutions, 5 max pools, one fully connected layer) with seeded
random weights. Times and traffic do not depend on them, so the studies need no trained network."""
import os
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CONVOLUTIONS = (64, 64, "pool", 128, 128, "pool", 256, 256, 256, "pool", 512, 512, 512, "pool", 512, 512, 512, "pool")


def main():
    random = numpy.random.RandomState(1)
    nodes, weights, last, channels, number = [], [], "input", 3, 0

    def parameter(name, shape, deviation):
        weights.append(numpy_helper.from_array((random.standard_normal(shape) * deviation).astype(numpy.float32), name))
        return name

    def node(kind, name, inputs=(), **attributes):
        nonlocal last
        nodes.append(helper.make_node(kind, [last, *inputs], [name], name, **attributes))
        last = name

    for width in CONVOLUTIONS:
        if width == "pool":
            node("MaxPool", f"P{number}", kernel_shape=[2, 2], strides=[2, 2])
            continue
        number += 1
        deviation = (2 / (9 * channels)) ** 0.5
        node("Conv", f"C{number}", [parameter(f"w{number}", (width, channels, 3, 3), deviation),
                                    parameter(f"b{number}", (width,), 0.01)], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        node("Relu", f"R{number}")
        channels = width
    node("Flatten", "flat")
    node("Gemm", "F14", [parameter("w14", (10, 512), 0.06), parameter("b14", (10,), 0.01)], transB=1)
    shape = helper.make_tensor_value_info("input", TensorProto.FLOAT, ["n", 3, 32, 32])
    result = helper.make_tensor_value_info(last, TensorProto.FLOAT, ["n", 10])
    model = helper.make_model(helper.make_graph(nodes, "vgg16", [shape], [result], weights), ir_version=7,
                              opset_imports=[helper.make_opsetid("", 13)])
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[1] + ".tmp")
    os.replace(sys.argv[1] + ".tmp", sys.argv[1])


main()
