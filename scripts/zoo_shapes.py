# SPDX-License-Identifier: Apache-2.0
"""Transpositions, more than four dimensions, and reductions over any of them: cases of make_zoo.py."""
import numpy
import torch
from onnx import helper
from torch import nn
from torch.nn import functional as F

import zoo_networks


def t(array):
    return torch.from_numpy(array)


class Shuffle(nn.Module):
    """ShuffleNetV2's unit: half of the channels pass unchanged, then the channels of both halves are interleaved."""

    def __init__(self, channels):
        super().__init__()
        half = channels // 2
        self.branch = nn.Sequential(
            nn.Conv2d(half, half, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU(),
            nn.Conv2d(half, half, 3, padding=1, groups=half, bias=False), nn.BatchNorm2d(half),
            nn.Conv2d(half, half, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU())

    def forward(self, x):
        first, second = x.chunk(2, dim=1)
        x = torch.cat((first, self.branch(second)), dim=1)
        n, c, h, w = x.size()
        return x.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, c, h, w)


class SpatialAttention(nn.Module):
    """CBAM's spatial attention: the mean and maximum over all channels give the weight of each position."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x):
        both = torch.cat((x.mean(1, keepdim=True), x.amax(1, keepdim=True)), dim=1)
        return x * torch.sigmoid(self.conv(both))


def deep_shapes(zoo):
    """Transpositions of five to seven dimensions between two Reshapes."""
    orders = [((3, 2, 5, 7), (0, 2, 1, 3, 4)), ((2, 3, 4, 5), (0, 4, 2, 3, 1)), ((2, 3, 2, 3, 4), (0, 5, 2, 4, 1, 3)),
              ((2, 3, 2, 3, 2, 2), (0, 6, 4, 2, 5, 3, 1))]
    for number, (dims, perm) in enumerate(orders):
        nodes = [helper.make_node("Reshape", ["input", "s"], ["a"]),
                 helper.make_node("Transpose", ["a"], ["b"], perm=perm),
                 helper.make_node("Flatten", ["b"], ["c"]), helper.make_node("Tanh", ["c"], ["output"])]
        zoo.graph(f"transpose_deep{number}", nodes, (int(numpy.prod(dims)),),
                  lambda x, dims=dims, perm=perm: torch.tanh(x.view(-1, *dims).permute(*perm).flatten(1)),
                  {"s": numpy.array((0, *dims))})
    zoo.node("depth_to_space", "DepthToSpace", (12, 4, 5),
             lambda x: x.view(-1, 2, 2, 3, 4, 5).permute(0, 3, 4, 1, 5, 2).reshape(-1, 3, 8, 10), blocksize=2)
    zoo.node("depth_to_space_channels", "DepthToSpace", (18, 4, 5), lambda x: F.pixel_shuffle(x, 3), blocksize=3,
             mode="CRD")
    zoo.node("space_to_depth", "SpaceToDepth", (3, 6, 9),
             lambda x: x.view(-1, 3, 2, 3, 3, 3).permute(0, 3, 5, 1, 2, 4).reshape(-1, 27, 2, 3), blocksize=3)


def reductions(zoo):
    shape = (6, 5, 7)
    zoo.node("reduce_mean_channels", "ReduceMean", shape, lambda x: x.mean(1, keepdim=True), axes=[1])
    zoo.node("reduce_max_channels", "ReduceMax", shape, lambda x: x.amax(1), axes=[-3], keepdims=0)
    zoo.node("reduce_mean_all", "ReduceMean", shape, lambda x: x.mean((1, 2, 3), keepdim=True), axes=[1, 2, 3])
    zoo.node("reduce_max_apart", "ReduceMax", shape, lambda x: x.amax((1, 3), keepdim=True), axes=[1, 3])
    zoo.node("reduce_sum", "ReduceSum", shape, lambda x: x.sum((2, 3)), {"axes": numpy.array([2, 3])}, keepdims=0)
    zoo.node("reduce_sum_channels", "ReduceSum", shape, lambda x: x.sum((1, 2)), opset=11, axes=[1, 2], keepdims=0)


class Excite(nn.Module):
    """Squeeze-and-excite in its usual form: the factors are expanded before the multiplication."""

    def __init__(self, channels):
        super().__init__()
        self.factors = nn.Sequential(nn.Linear(channels, 4), nn.ReLU(), nn.Linear(4, channels), nn.Sigmoid())

    def forward(self, x):
        n, c, _, _ = x.size()
        return x * self.factors(F.adaptive_avg_pool2d(x, 1).view(n, c)).view(n, c, 1, 1).expand_as(x)


class Shortcut(nn.Module):
    """The shortcut of ResNet for CIFAR-10, which has no weights: every second row and column, and channels of zeros."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(6, 12, 3, 2, 1)

    def forward(self, x):
        return F.relu(self.conv(x) + F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 3, 3)))


class Planes(nn.Module):
    """torchvision's transform_input: each plane has its own scale and offset."""

    def forward(self, x):
        return torch.cat([torch.unsqueeze(x[:, i], 1) * (0.4 + 0.1 * i) - 0.1 * i for i in range(3)], 1)


def parts(zoo):
    """Slices, paddings and sums in the forms of other exporters."""
    node, shape = helper.make_node, (4, 5, 6)
    pads = {"p": numpy.array([0, 2, 1, 0, 0, 5, 0, 3]), "v": numpy.float32(-1.5)}
    zoo.node("pad_channels", "Pad", shape, lambda x: F.pad(x, (0, 3, 1, 0, 2, 5), value=-1.5), pads)
    zoo.node("pad_features", "Pad", (9,), lambda x: F.pad(x, (2, 20)), {"p": numpy.array([0, 2, 0, 20])})
    zoo.node("pad_axes", "Pad", shape, lambda x: F.pad(x, (1, 2, 3, 0)), opset=18,
             weights={"p": numpy.array([1, 3, 2, 0]), "v": numpy.float32(0), "axes": numpy.array([-1, 2])})
    zoo.node("gather_channels", "Gather", shape, lambda x: x[:, [2, 3, 0, 2]], {"i": numpy.array([2, 3, 0, -2])},
             axis=1)
    zoo.graph("gather_row", [node("Gather", ["input", "i"], ["r"], axis=2), node("Tanh", ["r"], ["output"])], shape,
              lambda x: torch.tanh(x[:, :, 3]), {"i": numpy.array(3)})
    zoo.graph("split_uneven", [node("Split", ["input"], ["a", "b"], axis=2, num_outputs=2),
                               node("ReduceMax", ["b", "axes"], ["c"]), node("Add", ["a", "c"], ["output"])], shape,
              lambda x: x[:, :, :3] + x[:, :, 3:].amax(2, True), {"axes": numpy.array([2])}, opset=18)
    branches = [node("Neg", ["input"], ["n"]), node("Tanh", ["input"], ["t"])]
    zoo.graph("sum_three", [*branches, node("Sum", ["input", "n", "t"], ["output"])], shape,
              lambda x: x - x + torch.tanh(x))
    zoo.graph("max_three", [*branches, node("Max", ["t", "input", "n"], ["output"])], shape, torch.abs)
    slopes = zoo.normal(*shape, scale=0.3)
    zoo.node("prelu_words", "PRelu", shape, lambda x: torch.where(x < 0, x * t(slopes), x), {"slope": slopes})
    zoo.node("prelu_rows_steep", "PRelu", shape, lambda x: torch.where(x < 0, x * t(5 * slopes[:1, :, :1]), x),
             {"slope": 5 * slopes[:1, :, :1]})
    zoo.node("leaky_relu_steep", "LeakyRelu", shape, lambda x: F.leaky_relu(x, 1.75), alpha=1.75)
    m = zoo.normal(1, 6, 3, scale=0.5)
    zoo.node("matmul_one_matrix", "MatMul", (5, 6), lambda x: x @ t(m), {"m": m})


def logarithms(zoo):
    """LogSoftmax of nearly equal classes, of a thousand classes, and over other axes."""
    zoo.node("log_softmax_two", "LogSoftmax", (2,), lambda x: x.log_softmax(1), images=zoo.normal(2, 2, scale=0.01))
    zoo.node("log_softmax_classes", "LogSoftmax", (1000,), lambda x: x.log_softmax(1), opset=9)
    zoo.node("log_softmax_channels", "LogSoftmax", (7, 4, 5), lambda x: x.log_softmax(1), axis=1)
    zoo.node("log_softmax_rows", "LogSoftmax", (3, 6, 5), lambda x: x.log_softmax(2), axis=-2)
    zoo.node("log_softmax_columns", "LogSoftmax", (5, 6), lambda x: x.log_softmax(2), opset=11, axis=-1)
    zoo_networks.export(zoo, "net_mnist", nn.Sequential(
        nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(),
        nn.Linear(288, 16), nn.ReLU(), nn.Linear(16, 10), nn.LogSoftmax(dim=1)), (1, 16, 16), opset=17)


def shapes(zoo):
    deep_shapes(zoo)
    reductions(zoo)
    zoo_networks.export(zoo, "net_shufflenet", nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), Shuffle(8), Shuffle(8),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)), (3, 20, 20))
    zoo_networks.export(zoo, "net_attention", nn.Sequential(
        nn.Conv2d(3, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU(), SpatialAttention(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 10)), (3, 16, 16))
    parts(zoo)
    logarithms(zoo)
    zoo_networks.export(zoo, "net_planes", nn.Sequential(
        Planes(), nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), Excite(6), Shortcut(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(12, 10)), (3, 14, 14))


def numbers(zoo):
    """One number per image without a dimension for it, as in regressions."""
    node, axes = helper.make_node, {"one": numpy.array([1])}
    w, b = zoo.normal(5, 1), zoo.normal(1)
    zoo.graph("number_squeeze", [node("Gemm", ["input", "w", "b"], ["a"]), node("Squeeze", ["a", "one"], ["c"]),
                                 node("Sigmoid", ["c"], ["output"])], (5,),
              lambda x: torch.sigmoid((x @ t(w) + t(b)).squeeze(1)), {"w": w, "b": b, **axes})
    zoo.graph("number_mean", [node("ReduceMean", ["input"], ["a"], axes=[1, 2, 3], keepdims=0),
                              node("Mul", ["a", "w"], ["output"])], (4, 6, 5), lambda x: x.mean((1, 2, 3)) * 1.5,
              {"w": numpy.float32(1.5)})
    zoo.graph("number_again", [node("ReduceMax", ["input"], ["a"], axes=[1], keepdims=0),
                               node("Unsqueeze", ["a", "one"], ["c"]),
                               node("Concat", ["c", "input"], ["output"], axis=1)], (7,),
              lambda x: torch.cat([x.amax(1, keepdim=True), x], 1), axes)
