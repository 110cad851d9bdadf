# SPDX-License-Identifier: Apache-2.0
"""Networks whose whole input is one image, and tensors of more than four dimensions: cases of make_zoo.py. All input
dimensions are fixed, and operators treat the first one like the others."""
import numpy
import torch
from onnx import TensorProto, helper
from torch import nn
from torch.nn import functional as F

import zoo_networks


def t(array):
    return torch.from_numpy(numpy.asarray(array))


node = helper.make_node


def first_dimension(zoo):
    """Operators on the first dimension, which would not be possible on a batch."""

    def case(name, op, shape, function, weights=None, **attributes):
        zoo.single(name, [node(op, ["input", *(weights or {})], ["output"], **attributes)], shape, function, weights)

    for axis in (0, 1, 3):
        case(f"single_softmax{axis}", "Softmax", (3, 4, 5, 6), lambda x, axis=axis: F.softmax(x, axis), axis=axis)
    case("single_softmax_vector", "Softmax", (20,), lambda x: F.softmax(x, 0), axis=0)
    case("single_logsoftmax", "LogSoftmax", (5, 6), lambda x: F.log_softmax(x, 0), axis=0)
    w, matrix = zoo.normal(6, 5, scale=0.5), zoo.normal(4, 5)
    case(
        "single_gemm_turned",
        "Gemm",
        (6, 4),
        lambda x: 0.5 * x.T @ t(w) + 2 * t(matrix),
        {"w": w, "c": matrix},
        transA=1,
        alpha=0.5,
        beta=2.0,
    )
    row = zoo.normal(5)
    case(
        "single_gemm_both",
        "Gemm",
        (6, 4),
        lambda x: x.T @ t(w) + t(row),
        {"w": w.T.copy(), "c": row},
        transA=1,
        transB=1,
    )
    case("single_gemm_matrix", "Gemm", (4, 6), lambda x: x @ t(w) + t(matrix), {"w": w, "c": matrix})
    case("single_transpose", "Transpose", (3, 4, 5), lambda x: x.permute(2, 1, 0))
    case("single_transpose_maps", "Transpose", (3, 4, 5, 2), lambda x: x.permute(3, 0, 2, 1), perm=[3, 0, 2, 1])
    case(
        "single_concat",
        "Concat",
        (2, 5, 3),
        lambda x: torch.cat((x, t(more)), 0),
        {"k": (more := zoo.normal(4, 5, 3))},
        axis=0,
    )
    case("single_reduce_all", "ReduceMean", (3, 4, 5), lambda x: x.mean((0, 1, 2), keepdim=True))
    case("single_reduce_first", "ReduceMax", (3, 4, 5, 2), lambda x: x.amax((0, 2), keepdim=True), axes=[0, 2])
    case("single_flatten", "Flatten", (2, 3, 4, 5), lambda x: x.reshape(6, 20), axis=2)
    case("single_vector", "Tanh", (17,), torch.tanh)
    case("single_gather", "Gather", (5, 4, 3), lambda x: x[t(picked)], {"i": (picked := numpy.array([[4, 0], [1, 2]]))})
    case("single_add_words", "Add", (3, 4, 5), lambda x: x + t(words), {"k": (words := zoo.normal(3, 4, 5))})
    case("single_add_larger", "Add", (5,), lambda x: x + t(words), {"k": words})
    case("single_expand", "Expand", (3, 1), lambda x: x.expand(2, 3, 6), {"s": numpy.array([2, 1, 6])})
    zoo.single(
        "single_slice",
        [node("Slice", ["input", "s", "e", "a", "d"], ["output"])],
        (8, 6, 4),
        lambda x: torch.flip(x, (0,))[:6:2, :, 1:],
        {"s": numpy.array([-1, 1]), "e": numpy.array([1, 9]), "a": numpy.array([0, 2]), "d": numpy.array([-2, 1])},
    )
    zoo.single(
        "single_split",
        [node("Split", ["input"], ["a", "b"], axis=0), node("Mul", ["a", "b"], ["output"])],
        (4, 3, 5),
        lambda x: x[:2] * x[2:],
    )
    left = zoo.normal(7, 6, scale=0.4)
    zoo.single(
        "single_matmul_left", [node("MatMul", ["k", "input"], ["output"])], (6, 9), lambda x: t(left) @ x, {"k": left}
    )
    zoo.single(
        "single_ranks",
        [node("ReduceMax", ["input"], ["m"], axes=[0], keepdims=0), node("Sub", ["input", "m"], ["output"])],
        (3, 4, 5),
        lambda x: x - x.amax(0),
    )
    zoo.single(
        "single_copy",
        [node("Unsqueeze", ["input", "a"], ["output"])],
        (3, 4),
        lambda x: x[:, None, :, None],
        {"a": numpy.array([1, 3])},
    )


def with_maps(zoo):
    """Operators that process images one by one, mixed with operators that do not."""
    w, v = zoo.normal(4, 3, 3, 3, scale=0.3), zoo.normal(4, scale=0.5)
    scale, offset, mean = zoo.normal(4) + 2, zoo.normal(4), zoo.normal(4)
    weights = {
        "w": w,
        "b": v,
        "s": scale,
        "o": offset,
        "m": mean,
        "v": numpy.abs(mean) + 1,
        "k": zoo.normal(4, 1, 1) + 1,
    }
    nodes = [
        node("Conv", ["input", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["c", "s", "o", "m", "v"], ["n"]),
        node("Relu", ["n"], ["r"]),
        node("Mul", ["r", "k"], ["f"]),
        node("MaxPool", ["f"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
    ]

    def maps(x):
        x = F.relu(F.batch_norm(F.conv2d(x, t(w), t(v), padding=1), t(mean), t(weights["v"]), t(scale), t(offset)))
        return F.max_pool2d(x * t(weights["k"]), 2)

    zoo.single(
        "single_squeezed",
        [*nodes, node("Squeeze", ["p", "axes"], ["q"]), node("Transpose", ["q"], ["output"], perm=[1, 2, 0])],
        (1, 3, 8, 10),
        lambda x: maps(x)[0].permute(1, 2, 0),
        {**weights, "axes": numpy.array([0])},
    )
    zoo.single(
        "single_images",
        [*nodes, node("Softmax", ["p"], ["output"], axis=0)],
        (3, 3, 8, 10),
        lambda x: F.softmax(maps(x), 0),
        weights,
    )
    zoo.single(
        "single_vector_out",
        [
            *nodes,
            node("GlobalAveragePool", ["p"], ["g"]),
            node("Reshape", ["g", "all"], ["q"]),
            node("Sigmoid", ["q"], ["output"]),
        ],
        (1, 3, 8, 10),
        lambda x: torch.sigmoid(maps(x).mean((2, 3)).reshape(-1)),
        {**weights, "all": numpy.array([-1])},
    )


class Attention(nn.Module):
    """A pooled query against fixed keys, exported with a batch of 1 that is removed on the way."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.keys = nn.Parameter(torch.randn(5, 8) * 0.4)

    def forward(self, x):
        x = torch.relu(self.conv(x)).flatten(2)
        if self.training:
            return x
        x = x.squeeze(0)
        return torch.softmax(torch.matmul(self.keys, x), dim=0).t()


def many_dimensions(zoo):
    """A batch of images with more than three dimensions."""
    shape = (3, 2, 4, 5)
    zoo.graph(
        "deep_arithmetic",
        [
            node("Relu", ["input"], ["a"]),
            node("Mul", ["a", "k"], ["b"]),
            node("ReduceMax", ["b"], ["m"], axes=[2, 4]),
            node("Sub", ["b", "m"], ["output"]),
        ],
        shape,
        lambda x: (y := F.relu(x) * t(k)) - y.amax((2, 4), keepdim=True),
        {"k": (k := zoo.normal(3, 1, 1, 1))},
    )
    zoo.node("deep_add_words", "Add", shape, lambda x: x + t(words), {"k": (words := zoo.normal(2, 1, 5))})
    zoo.node("deep_softmax", "Softmax", shape, lambda x: F.softmax(x, 2), axis=2)
    zoo.node("deep_softmax_last", "Softmax", shape, lambda x: F.softmax(x, 4))
    zoo.node(
        "deep_clip",
        "Clip",
        (2, 2, 2, 2, 3),
        lambda x: x.clamp(-0.5, 1),
        {"a": numpy.float32(-0.5), "b": numpy.float32(1)},
    )
    zoo.graph(
        "deep_concat",
        [node("Split", ["input"], ["a", "b"], axis=2), node("Concat", ["b", "a", "b"], ["output"], axis=3)],
        shape,
        lambda x: torch.cat((x[:, :, 1:], x[:, :, :1], x[:, :, 1:]), 3),
    )
    zoo.graph(
        "deep_slice",
        [node("Slice", ["input", "s", "e", "a", "d"], ["output"])],
        shape,
        lambda x: torch.flip(x, (4,))[:, :, :, 1:3],
        {"s": numpy.array([1, -1]), "e": numpy.array([3, -9]), "a": numpy.array([3, 4]), "d": numpy.array([1, -1])},
    )
    zoo.graph(
        "expand_reader",
        [
            node("GlobalAveragePool", ["input"], ["g"]),
            node("Expand", ["g", "s"], ["e"]),
            node("Concat", ["input", "e"], ["output"], axis=1),
        ],
        (3, 4, 5),
        lambda x: torch.cat((x, x.mean((2, 3), keepdim=True).expand(-1, 3, 4, 5)), 1),
        {"s": numpy.array([1, 3, 4, 5])},
    )
    zoo.node(
        "slice_channels_steps",
        "Slice",
        (7, 3, 4),
        lambda x: x[:, 1:7:2],
        {"s": numpy.array([1]), "e": numpy.array([7]), "a": numpy.array([1]), "d": numpy.array([2])},
    )
    zoo.node(
        "gather_matrix",
        "Gather",
        (6, 3),
        lambda x: x[:, t(picked)],
        {"i": (picked := numpy.array([[5, 0], [1, 1]]))},
        axis=1,
    )


def small_axes(zoo):
    """Softmax over one element."""
    zoo.node("softmax_alone", "Softmax", (5, 1, 1), lambda x: F.softmax(x, 2), axis=2)
    zoo.node("softmax_alone_deep", "Softmax", (5, 1, 3, 2), lambda x: F.softmax(x, 2), axis=2)


def deep_windows(zoo):
    """Pools over depth, rows and columns, and products with several constant matrices."""
    shape = (2, 6, 7, 8)
    zoo.node(
        "deep_maxpool",
        "MaxPool",
        shape,
        lambda x: F.max_pool3d(x, (3, 2, 3), (2, 1, 2), (1, 0, 1)),
        kernel_shape=[3, 2, 3],
        strides=[2, 1, 2],
        pads=[1, 0, 1, 1, 0, 1],
    )
    zoo.node(
        "deep_averagepool",
        "AveragePool",
        shape,
        lambda x: F.avg_pool3d(x, (3, 3, 2), (2, 2, 2), (1, 1, 0), count_include_pad=False),
        kernel_shape=[3, 3, 2],
        strides=[2, 2, 2],
        pads=[1, 1, 0, 1, 1, 0],
    )
    zoo.node("deep_global_average", "GlobalAveragePool", shape, lambda x: x.mean((2, 3, 4), keepdim=True))
    matrices = zoo.normal(3, 5, 6, scale=0.4)
    zoo.node("matmul_matrices", "MatMul", (3, 4, 5), lambda x: x @ t(matrices), {"k": matrices})
    zoo.single(
        "single_matmul_matrices",
        [node("MatMul", ["input", "k"], ["output"])],
        (3, 4, 5),
        lambda x: x @ t(matrices),
        {"k": matrices},
    )


def quantised_inputs(zoo):
    """A network whose input is quantised, with the zero point given by its first reader; scales per channel."""
    w = zoo.random.randint(-127, 128, (4, 3, 3, 3)).astype(numpy.int8)
    given = {
        "xs": numpy.float32(0.02),
        "xz": numpy.uint8(120),
        "w": w,
        "ws": numpy.float32(0.004),
        "wz": numpy.int8(0),
        "ys": numpy.float32(0.05),
        "yz": numpy.uint8(100),
    }
    images = zoo.random.randint(0, 256, (2, 3, 8, 9)).astype(numpy.float32)

    def convolve(x):
        x = F.conv2d((x.double() - 120) * 0.02, t(w).double() * float(given["ws"]))
        return (torch.round(x / float(given["ys"])) + 100).clamp(0, 255)

    zoo.graph(
        "quantised_input",
        [node("QLinearConv", ["input", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["output"])],
        (3, 8, 9),
        convolve,
        given,
        10,
        images,
        kind=TensorProto.UINT8,
    )
    scales, zeros = numpy.array([0.5, 2, 0.25], numpy.float32), numpy.array([84, 24, 196], numpy.uint8)
    zoo.graph(
        "dequantise_channels",
        [node("DequantizeLinear", ["input", "s", "z"], ["output"], axis=1)],
        (3, 8, 9),
        lambda x: (x - t(zeros.reshape(3, 1, 1)).float()) * t(scales.reshape(3, 1, 1)),
        {"s": scales, "z": zeros},
        13,
        images,
        kind=TensorProto.UINT8,
    )


def matrices_of_images(zoo):
    """Products with a separate matrix for each part of the input, also along the first dimension."""
    matrices = zoo.normal(2, 3, 5, 6, scale=0.4)
    zoo.single(
        "single_matmul_each",
        [node("MatMul", ["input", "k"], ["output"])],
        (2, 3, 4, 5),
        lambda x: x @ t(matrices),
        {"k": matrices},
    )


def framed(zoo):
    """Padding rows around a single row, and around channels that are stored apart."""
    kernel = zoo.normal(4, 3, 1, 1)
    zoo.node(
        "conv_row_framed",
        "Conv",
        (3, 1, 32),
        lambda x: F.conv2d(F.pad(x, (0, 0, 1, 1)), t(kernel)),
        {"k": kernel},
        pads=[1, 0, 1, 0],
    )
    turned = zoo.normal(3, 2, 4, 1)
    zoo.node(
        "transposed_row_framed",
        "ConvTranspose",
        (3, 1, 31),
        lambda x: F.conv_transpose2d(x, t(turned), stride=(1, 2)),
        {"k": turned},
        strides=[1, 2],
    )
    apart, after = zoo.normal(8, 1, 3, 3, scale=0.4), zoo.normal(2, 8, 3, 3, scale=0.2)
    zoo.graph(
        "conv_apart_framed",
        [
            node("Abs", ["input"], ["a"]),
            node("Conv", ["a", "apart"], ["b"], group=4, pads=[1, 1, 1, 1]),
            node("Conv", ["b", "after"], ["output"], pads=[1, 1, 1, 1]),
        ],
        (4, 9, 9),
        lambda x: F.conv2d(F.conv2d(x.abs(), t(apart), padding=1, groups=4), t(after), padding=1),
        {"apart": apart, "after": after},
    )


def single(zoo):
    first_dimension(zoo)
    with_maps(zoo)
    torch.manual_seed(29)
    zoo_networks.export(zoo, "single_attention", Attention(), (3, 9, 8), fixed=True, count=1)
    many_dimensions(zoo)
    deep_windows(zoo)
    quantised_inputs(zoo)
    small_axes(zoo)
    matrices_of_images(zoo)
