#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the networks of networks/ that have no weights: `cnnvp train` initialises them.

digits.onnx       1 x 8 x 8: two convolutions with batch norm and max pool, one fully connected layer
mnist.onnx        1 x 28 x 28: three such convolutions, one fully connected layer
vgg16_cifar.onnx  3 x 32 x 32: VGG16's 13 convolutions with batch norm and 5 max pools, one fully connected layer

A parameter is a graph input with a shape and no values. The first input is the image.
"""
import argparse
import os

import onnx
from onnx import TensorProto, helper

OPSET = 13
IR_VERSION = 7
CLASSES = 10
VGG16 = (64, 64, "pool", 128, 128, "pool", 256, 256, 256, "pool", 512, 512, 512, "pool", 512, 512, 512, "pool")


class Network:
    """A chain of layers."""

    def __init__(self, channels, side):
        self.nodes = []
        self.inputs = [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["N", channels, side, side])]
        self.channels = channels
        self.side = side
        self.last = "input"
        self.convolutions = 0

    def parameter(self, name, *shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def node(self, op_type, name, parameters=(), **attributes):
        self.nodes.append(helper.make_node(op_type, [self.last, *parameters], [name], name, **attributes))
        self.last = name

    def convolution(self, outputs):
        """Adds a 3x3 convolution with padding 1, batch norm and ReLU."""
        self.convolutions += 1
        number = self.convolutions
        name = f"conv{number}"
        self.node("Conv", name, [self.parameter(name + ".weight", outputs, self.channels, 3, 3)], kernel_shape=[3, 3],
                  pads=[1, 1, 1, 1])
        name = f"norm{number}"
        self.node("BatchNormalization", name,
                  [self.parameter(f"{name}.{part}", outputs) for part in ("gamma", "beta", "mean", "variance")],
                  epsilon=1e-5)
        self.node("Relu", f"relu{number}")
        self.channels = outputs

    def pool(self):
        self.node("MaxPool", f"pool{self.convolutions}", kernel_shape=[2, 2], strides=[2, 2])
        self.side //= 2

    def finish(self, name):
        self.node("Flatten", "flatten")
        self.node("Gemm", "output", [self.parameter("fc.weight", CLASSES, self.channels * self.side * self.side)],
                  transB=1)
        self.nodes[-1].name = "fc"
        output = helper.make_tensor_value_info("output", TensorProto.FLOAT, ["N", CLASSES])
        graph = helper.make_graph(self.nodes, name, self.inputs, [output])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="cnnvp")
        model.ir_version = IR_VERSION
        onnx.checker.check_model(model, full_check=True)
        return model


def chain(name, channels, side, layers):
    network = Network(channels, side)
    for layer in layers:
        if layer == "pool":
            network.pool()
        else:
            network.convolution(layer)
    return network.finish(name)


def save(path, model):
    with open(path + ".tmp", "wb") as file:
        file.write(model.SerializeToString())
    os.replace(path + ".tmp", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="output folder")
    folder = parser.parse_args().folder
    save(os.path.join(folder, "digits.onnx"), chain("digits", 1, 8, (16, "pool", 32, "pool")))
    save(os.path.join(folder, "mnist.onnx"), chain("mnist", 1, 28, (8, "pool", 16, "pool", 32, "pool")))
    save(os.path.join(folder, "vgg16_cifar.onnx"), chain("vgg16_cifar", 3, 32, VGG16))


if __name__ == "__main__":
    main()
