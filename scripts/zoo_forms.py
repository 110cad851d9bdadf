# SPDX-License-Identifier: Apache-2.0
"""Operators in the forms of older exporters, and padding by name: cases of make_zoo.py."""
import torch
from onnx import helper
from torch.nn import functional as F


def t(array):
    return torch.from_numpy(array)


def same(x, kernel, strides, lower, value=0.0):
    """Pads x as auto_pad SAME_LOWER or SAME_UPPER requires."""
    pads = []
    for size, taps, stride in zip(reversed(x.shape[2:]), reversed(kernel), reversed(strides)):
        total = max(0, (-(-size // stride) - 1) * stride + taps - size)
        pads += [total - total // 2, total // 2] if lower else [total // 2, total - total // 2]
    return F.pad(x, pads, value=value)


def old_forms(zoo):
    """Forms before operator set 7: second operands that begin at an axis, slopes of one dimension. And an unused
    Dropout mask."""
    shape = (3, 4, 5)
    offsets, slopes = zoo.normal(3), zoo.normal(3, scale=0.3)
    rows = zoo.normal(4)
    zoo.node("old_axis_channels", "Add", shape, lambda x: x + t(offsets.reshape(3, 1, 1)), {"offset": offsets}, opset=6,
             broadcast=1, axis=1)
    zoo.node("old_axis_rows", "Mul", shape, lambda x: x * t(rows.reshape(4, 1)), {"factor": rows}, opset=6, broadcast=1,
             axis=-2)
    zoo.node("old_slopes", "PRelu", shape, lambda x: F.prelu(x, t(slopes)), {"slope": slopes}, opset=6)
    nodes = [helper.make_node("Dropout", ["input"], ["kept", "mask"], ratio=0.5),
             helper.make_node("Relu", ["kept"], ["output"])]
    zoo.graph("dropout_mask", nodes, shape, F.relu, opset=9)


def padding_by_name(zoo):
    shape, kernel, strides = (3, 9, 10), (3, 4), (2, 3)
    w = zoo.normal(4, 3, *kernel, scale=0.3)
    window = {"kernel_shape": kernel, "strides": strides}
    for name in ("lower", "upper"):
        pad = f"SAME_{name.upper()}"
        zoo.node(f"conv_named_{name}", "Conv", shape,
                 lambda x, low=name == "lower": F.conv2d(same(x, kernel, strides, low), t(w), stride=strides), {"w": w},
                 auto_pad=pad, **window)
        zoo.node(f"maxpool_named_{name}", "MaxPool", shape,
                 lambda x, low=name == "lower": F.max_pool2d(same(x, kernel, strides, low, -1e9), kernel, strides),
                 auto_pad=pad, **window)
        zoo.node(f"averagepool_named_{name}", "AveragePool", shape,
                 lambda x, low=name == "lower": F.avg_pool2d(same(x, kernel, strides, low), kernel, strides),
                 auto_pad=pad, count_include_pad=1, **window)
    zoo.node("conv_valid", "Conv", shape, lambda x: F.conv2d(x, t(w), stride=strides), {"w": w}, auto_pad="VALID",
             **window)


def softmax_axes(zoo):
    """Softmax with negative axes, for each rank."""
    for rank, shape in ((2, (7,)), (3, (5, 6)), (4, (4, 5, 6))):
        zoo.node(f"softmax_rank{rank}_last", "Softmax", shape, lambda x: x.softmax(-1), axis=-1)
    zoo.node("softmax_rank3_channels", "Softmax", (5, 6), lambda x: x.softmax(-2), axis=-2)


def forms(zoo):
    old_forms(zoo)
    padding_by_name(zoo)
    softmax_axes(zoo)
