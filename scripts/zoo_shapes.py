# SPDX-License-Identifier: Apache-2.0
"""Dimensions that change places, more than four of them, and what is reduced over any of them: the last cases of
make_zoo.py."""
import numpy
import torch
from onnx import helper
from torch import nn
from torch.nn import functional as F

import zoo_networks


def t(array):
    return torch.from_numpy(array)


class Shuffle(nn.Module):
    """ShuffleNetV2's unit: half of the channels pass, then both halves are dealt out in turn."""

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
    """CBAM's: the mean and the largest of all channels say how much a position counts."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x):
        both = torch.cat((x.mean(1, keepdim=True), x.amax(1, keepdim=True)), dim=1)
        return x * torch.sigmoid(self.conv(both))


def deep_shapes(zoo):
    """Five to seven dimensions between two Reshapes."""
    for number, (dims, perm) in enumerate((((3, 2, 5, 7), (0, 2, 1, 3, 4)), ((2, 3, 4, 5), (0, 4, 2, 3, 1)),
                                           ((2, 3, 2, 3, 4), (0, 5, 2, 4, 1, 3)), ((2, 3, 2, 3, 2, 2), (0, 6, 4, 2, 5, 3, 1)))):
        nodes = [helper.make_node("Reshape", ["input", "s"], ["a"]), helper.make_node("Transpose", ["a"], ["b"], perm=perm),
                 helper.make_node("Flatten", ["b"], ["c"]), helper.make_node("Tanh", ["c"], ["output"])]
        zoo.graph(f"transpose_deep{number}", nodes, (int(numpy.prod(dims)),),
                  lambda x, dims=dims, perm=perm: torch.tanh(x.view(-1, *dims).permute(*perm).flatten(1)),
                  {"s": numpy.array((0, *dims))})
    zoo.node("depth_to_space", "DepthToSpace", (12, 4, 5),
             lambda x: x.view(-1, 2, 2, 3, 4, 5).permute(0, 3, 4, 1, 5, 2).reshape(-1, 3, 8, 10), blocksize=2)
    zoo.node("depth_to_space_channels", "DepthToSpace", (18, 4, 5), lambda x: F.pixel_shuffle(x, 3), blocksize=3, mode="CRD")
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


def shapes(zoo):
    deep_shapes(zoo)
    reductions(zoo)
    zoo_networks.export(zoo, "net_shufflenet", nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), Shuffle(8), Shuffle(8), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(8, 10)), (3, 20, 20))
    zoo_networks.export(zoo, "net_attention", nn.Sequential(
        nn.Conv2d(3, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU(), SpatialAttention(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(6, 10)), (3, 16, 16))
