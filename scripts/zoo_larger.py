# SPDX-License-Identifier: Apache-2.0
"""Operators that enlarge maps: cases of make_zoo.py."""
import numpy
import torch
from onnx import helper
from torch import nn
from torch.nn import functional as F

import zoo_networks


def t(array):
    return torch.from_numpy(numpy.asarray(array))


def transposed(zoo):
    def case(name, shape, w, bias=True, group=1, pads=None, extra=None, strides=None, dilations=None, **attributes):
        weights = {"w": zoo.normal(*w, scale=0.3)}
        if bias:
            weights["b"] = zoo.normal(w[1] * group)
        sides = len(w) - 2
        pads, extra, strides = pads or [0] * sides, extra or [0] * sides, strides or [1] * sides
        dilations = dilations or [1] * sides
        convolve = F.conv_transpose2d if sides == 2 else F.conv_transpose1d

        def expected(x):
            return convolve(x, t(weights["w"]), t(weights["b"]) if bias else None, stride=strides, padding=pads,
                            output_padding=extra, groups=group, dilation=dilations)
        zoo.node(name, "ConvTranspose", shape, expected, weights, group=group, pads=pads + pads, output_padding=extra,
                 strides=strides, dilations=dilations, **attributes)

    case("transposed_2x2", (5, 6, 7), (5, 4, 2, 2), strides=[2, 2])
    case("transposed_4x4", (3, 7, 5), (3, 6, 4, 4), strides=[2, 2], pads=[1, 1])
    case("transposed_3x3_odd", (4, 5, 6), (4, 5, 3, 3), strides=[2, 2], pads=[1, 1], extra=[1, 1], bias=False)
    case("transposed_gaps", (3, 4, 5), (3, 4, 2, 1), strides=[3, 2], extra=[0, 1])
    case("transposed_groups", (6, 5, 4), (6, 2, 3, 4), group=3, strides=[1, 2], pads=[1, 0])
    case("transposed_depthwise", (5, 6, 6), (5, 1, 4, 4), group=5, strides=[2, 2], pads=[1, 1])
    case("transposed_dilated", (2, 6, 5), (2, 3, 3, 2), strides=[2, 3], dilations=[2, 2], pads=[2, 1], bias=False)
    case("transposed_cut", (3, 5, 5), (3, 4, 2, 3), strides=[2, 2], pads=[3, 2])
    case("transposed_1d", (4, 9), (4, 6, 5), strides=[3], pads=[1])
    w = zoo.normal(3, 4, 3, 3, scale=0.3)
    zoo.node("transposed_same_upper", "ConvTranspose", (3, 5, 4),
             lambda x: F.conv_transpose2d(x, t(w), stride=2)[:, :, :10, :8], {"w": w}, auto_pad="SAME_UPPER",
             strides=[2, 2])
    zoo.node("transposed_shape", "ConvTranspose", (3, 4, 4),
             lambda x: F.conv_transpose2d(x, t(w), stride=2, output_padding=1), {"w": w}, output_shape=[10, 10],
             strides=[2, 2])


def between(x, axis, size, place):
    """Linear interpolation along an axis; place(i) is the source position of element i of the result."""
    last = x.shape[axis] - 1
    parts = []
    for i in range(size):
        at = place(i)
        before = numpy.floor(at)
        low, high = (x.narrow(axis, int(min(max(n, 0), last)), 1) for n in (before, before + 1))
        parts.append(low * float(1 - (at - before)) + high * float(at - before))
    return torch.cat(parts, axis)


def resized(zoo):
    def case(name, shape, function, scales=None, sizes=None, opset=13, op="Resize", **attributes):
        nodes = [helper.make_node(op, ["input", "", "scales"] if scales else ["input", "", "", "sizes"], ["output"],
                                  **attributes)]
        weights = {"scales": numpy.float32(scales)} if scales else {"sizes": numpy.int64(sizes)}
        zoo.graph(name, nodes, shape, function, weights, opset)

    def torch_case(name, shape, how, align=None, **attributes):
        factor = dict(scale_factor=tuple(attributes["scales"][2:])) if "scales" in attributes else \
            dict(size=tuple(attributes["sizes"][2:]))
        case(name, shape, lambda x: F.interpolate(x, mode=how, align_corners=align, **factor), **attributes)

    nearest = dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    half = dict(coordinate_transformation_mode="pytorch_half_pixel")
    corners = dict(coordinate_transformation_mode="align_corners")
    torch_case("resize_nearest", (3, 5, 6), "nearest", scales=[1, 1, 2, 3], **nearest)
    torch_case("resize_nearest_sizes", (3, 5, 6), "nearest", sizes=[2, 3, 8, 4], **nearest)
    torch_case("resize_linear", (3, 5, 6), "bilinear", False, scales=[1, 1, 2, 4], mode="linear", **half)
    torch_case("resize_linear_sizes", (3, 5, 6), "bilinear", False, sizes=[2, 3, 7, 4], mode="linear", **half)
    torch_case("resize_corners", (4, 4, 5), "bilinear", True, sizes=[2, 4, 8, 10], mode="linear", **corners)
    torch_case("resize_cubic", (2, 6, 5), "bicubic", False, scales=[1, 1, 2, 2], mode="cubic", **half)
    torch_case("resize_one", (4, 1, 1), "bilinear", False, sizes=[2, 4, 6, 5], mode="linear", **half)
    # Source positions -1/6, 1/2, 7/6, 11/6, 5/2, 19/6, rounded up.
    case("resize_rounded_up", (2, 4, 4), lambda x: x[:, :, :, [0, 1, 2, 2, 3, 3]], scales=[1, 1, 1, 1.5],
         mode="nearest", nearest_mode="ceil", opset=11)
    zoo.graph("upsample_attribute", [helper.make_node("Upsample", ["input"], ["output"], mode="nearest",
                                                      scales=[1.0, 1.0, 2.0, 2.0])],
              (3, 4, 5), lambda x: F.interpolate(x, scale_factor=2), opset=7)
    zoo.graph("upsample_linear", [helper.make_node("Upsample", ["input", "scales"], ["output"], mode="linear")],
              (3, 4, 5),
              lambda x: between(between(x, 2, 8, lambda i: i / 2), 3, 15, lambda i: i / 3),
              {"scales": numpy.float32([1, 1, 2, 3])}, opset=9)
    zoo.graph("resize_operator_set_10", [helper.make_node("Resize", ["input", "scales"], ["output"], mode="linear")],
              (2, 6, 4), lambda x: between(x, 3, 6, lambda i: i / 1.5), {"scales": numpy.float32([1, 1, 1, 1.5])},
              opset=10)
    zoo.graph("resize_axes", [helper.make_node("Resize", ["input", "", "scales"], ["output"], mode="nearest",
                                               axes=[3])],
              (2, 4, 3), lambda x: F.interpolate(x, scale_factor=(1, 2)), {"scales": numpy.float32([2])}, opset=18)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()

        def twice(inputs, outputs):
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(),
                                 nn.Conv2d(outputs, outputs, 3, padding=1), nn.ReLU())
        self.down = nn.ModuleList([twice(3, 6), twice(6, 8)])
        self.deep = twice(8, 12)
        self.larger = nn.ModuleList([nn.ConvTranspose2d(12, 8, 2, 2), nn.Upsample(scale_factor=2, mode="bilinear")])
        self.up = nn.ModuleList([twice(16, 8), twice(14, 6)])
        self.head = nn.Conv2d(6, 2, 1)

    def forward(self, x):
        kept = []
        for down in self.down:
            kept.append(down(x))
            x = F.max_pool2d(kept[-1], 2)
        x = self.deep(x)
        for larger, up in zip(self.larger, self.up):
            x = up(torch.cat((kept.pop(), larger(x)), 1))
        return self.head(x)


def networks(zoo):
    zoo_networks.export(zoo, "net_unet", UNet(), (3, 16, 20))
    zoo_networks.export(zoo, "net_generator", nn.Sequential(
        nn.ConvTranspose2d(8, 12, 4, bias=False), nn.BatchNorm2d(12), nn.ReLU(),
        nn.ConvTranspose2d(12, 6, 4, 2, 1, bias=False), nn.BatchNorm2d(6), nn.ReLU(),
        nn.ConvTranspose2d(6, 3, 4, 2, 1), nn.Tanh()), (8, 1, 1))


def cases(zoo):
    transposed(zoo)
    resized(zoo)
    networks(zoo)
