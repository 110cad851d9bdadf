#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_channels.py CNNVP: channel equalisation. First, four residual blocks (3x3 depthwise, ReLU, 1x1, Add, ReLU), and
the same function with channels whose values differ by up to 2^10, as in trained networks; the weights before and
after each channel compensate. Channels are equalised by half of their ratio, across all layers between, additions
included: at least 60 dB (29 dB if only adjacent layers are equalised), and 52 dB with a write-out that scales, where
only the values matter. Then ReLU6 between pointwise convolutions whose outputs' weights differ by 10^4, where
nothing can be equalised: 25 dB better with one weight step for each output, which a write-out that scales has for
all convolutions (0 dB if only depthwise ones have them)."""
import os
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CNNVP, = sys.argv[1:]
SCALE = ["-s", "pe_array.write_out=scale"]
CHANNELS, SIDE, BLOCKS = 16, 16, 4


class Network:
    """Nodes and weights. The rows of a convolution are multiplied by `makes`, its columns divided by `reads`."""

    def __init__(self, seed):
        self.random, self.nodes, self.weights = numpy.random.default_rng(seed), [], []

    def constant(self, name, values):
        self.weights.append(numpy_helper.from_array(numpy.asarray(values, numpy.float32), name))
        return name

    def conv(self, x, y, side, groups, makes, reads):
        depth = CHANNELS // groups
        weights = self.random.normal(size=(CHANNELS, depth, side, side)) / numpy.sqrt(depth * side * side)
        weights *= makes[:, None, None, None]
        weights /= reads[None, :, None, None] if groups == 1 else reads[:, None, None, None]
        names = [x, self.constant(y + ".w", weights), self.constant(y + ".b", self.random.normal(size=CHANNELS) / 4 * makes)]
        self.nodes.append(helper.make_node("Conv", names, [y], group=groups, pads=[side // 2] * 4))
        return y

    def node(self, kind, y, *x):
        self.nodes.append(helper.make_node(kind, x, [y]))
        return y

    def save(self, path):
        shape = [1, CHANNELS, SIDE, SIDE]
        ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)] for name in "xy"]
        graph = helper.make_graph(self.nodes, "channels", *ends, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def residual(path, spread):
    net, ones = Network(1), numpy.ones(CHANNELS)
    sizes = [2.0 ** (spread * numpy.random.default_rng(seed).uniform(size=CHANNELS)) for seed in range(BLOCKS + 1)]
    trunk = sizes[0]
    x = net.node("Relu", "r", net.conv("x", "c", 1, 1, trunk, ones))
    for block in range(BLOCKS):
        inner = net.node("Relu", f"r{block}", net.conv(x, f"d{block}", 3, CHANNELS, sizes[block + 1], trunk))
        added = net.node("Add", f"a{block}", net.conv(inner, f"p{block}", 1, 1, trunk, sizes[block + 1]), x)
        x = net.node("Relu", f"o{block}", added)
    net.conv(x, "y", 1, 1, ones, trunk)
    net.save(path)


def limited(path):
    net, ones = Network(2), numpy.ones(CHANNELS)
    net.constant("low", 0)
    net.constant("high", 6)
    sizes = 10.0 ** -net.random.uniform(0, 4, size=CHANNELS)
    x = net.node("Clip", "l0", net.conv("x", "c0", 1, 1, sizes, ones), "low", "high")
    x = net.node("Clip", "l1", net.conv(x, "c1", 1, 1, sizes, sizes), "low", "high")
    net.conv(x, "y", 1, 1, ones, sizes)
    net.save(path)


def quality(path, *options):
    text = subprocess.run([CNNVP, "run", path, *options], check=True, stdout=subprocess.PIPE, text=True).stdout
    return float(re.search(r"SQNR ([0-9.]+) dB", text).group(1))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    residual("alike.onnx", 0)
    residual("spread.onnx", 10)
    limited("limited.onnx")
    for least, arguments in ((60, []), (60, ["-p", "window"]), (52, SCALE)):
        alike, spread = quality("alike.onnx", *arguments), quality("spread.onnx", *arguments)
        print(f"{arguments}: alike {alike} dB, spread {spread} dB")
        assert alike >= 75 and spread >= least
    plain, scaled = quality("limited.onnx"), quality("limited.onnx", *SCALE)
    print(f"limited: {plain} dB, scaled {scaled} dB")
    assert scaled >= plain + 25
