#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/zoo again (python3-torch, python3-onnx), or with --folder only its loose files: small ONNX networks
with two images each and the outputs that PyTorch computes in float. Files of a case: NAME.onnx, NAME.in.npy,
NAME.out.npy, and NAME.out1.npy, ... if it has several outputs. To add a case to the archives, see zoo_archive.py.

Single operators with various attributes are written node by node, for the operator set that the case names. The
expected output comes from torch's function of the same meaning. Small networks are exported by torch.onnx.
"""
import argparse
import os
import tempfile

import numpy
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch.nn import functional as F

import onnx_export
import zoo_archive
import zoo_attention
import zoo_empty
import zoo_forms
import zoo_functions
import zoo_larger
import zoo_networks
import zoo_quantised
import zoo_shapes
import zoo_single
import zoo_symbolic

SEED = 23
IMAGES = 2


class Zoo:
    """Makes the cases and writes their files."""

    def __init__(self, folder):
        self.folder = folder
        self.random = numpy.random.RandomState(SEED)
        self.count = 0

    def normal(self, *shape, scale=1.0):
        return (self.random.standard_normal(shape) * scale).astype(numpy.float32)

    def save(self, name, network, images, *outputs):
        onnx_export.save_network(os.path.join(self.folder, name + ".onnx"), network)
        onnx_export.save_array(os.path.join(self.folder, name + ".in.npy"), images)
        for i, output in enumerate(outputs):
            onnx_export.save_array(os.path.join(self.folder, f"{name}.out{i or ''}.npy"), output)
        self.count += 1

    def graph(self, name, nodes, shape, function, weights=None, opset=13, images=None, batch=("N",),
              kind=TensorProto.FLOAT):
        """Makes a case of nodes from `input` to `output`; `weights` are by name; function(x) is the expected output."""
        weights = weights or {}
        if images is None:
            images = self.normal(IMAGES, *shape)
        with torch.no_grad():
            output = function(torch.from_numpy(images)).numpy().astype(numpy.float32)
        initializers = [numpy_helper.from_array(numpy.asarray(array), key) for key, array in weights.items()]
        vendor = [helper.make_opsetid("com.microsoft", 1)] if any(node.domain for node in nodes) else []
        graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("input", kind, [*batch, *shape])],
                                  [helper.make_tensor_value_info("output", TensorProto.FLOAT, None)], initializers)
        network = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)] + vendor,
                                    producer_name="make_zoo.py")
        network.ir_version = 4 if opset < 10 else 7
        self.save(name, network, images, output)

    def single(self, name, nodes, shape, function, weights=None, opset=13):
        """The same for a network whose whole input is one image."""
        self.graph(name, nodes, shape, function, weights, opset, self.normal(*shape), ())

    def move_out(self, name):
        """Moves a case's weights into a file beside the network."""
        path = os.path.join(self.folder, name + ".onnx")
        network = onnx.load(path)
        data = b"".join(tensor.raw_data for tensor in network.graph.initializer)
        offset = 0
        for tensor in network.graph.initializer:
            size = len(tensor.raw_data)
            onnx.external_data_helper.set_external_data(tensor, name + ".bin", offset, size)
            tensor.ClearField("raw_data")
            offset += size
        with open(os.path.join(self.folder, name + ".bin"), "wb") as file:
            file.write(data)
        onnx_export.save_network(path, network)

    def replace(self, name, tensor):
        """Replaces the initializer with the same name."""
        path = os.path.join(self.folder, name + ".onnx")
        network = onnx.load(path)
        for initializer in network.graph.initializer:
            if initializer.name == tensor.name:
                initializer.CopyFrom(tensor)
        onnx_export.save_network(path, network)

    def declare_weights(self, name):
        """Converts to IR version 3: initializers are also inputs of the graph, and come first."""
        path = os.path.join(self.folder, name + ".onnx")
        network = onnx.load(path)
        network.ir_version = 3
        weights = [helper.make_tensor_value_info(w.name, w.data_type, w.dims) for w in network.graph.initializer]
        inputs = list(network.graph.input)
        del network.graph.input[:]
        network.graph.input.extend([*weights, *inputs])
        onnx_export.save_network(path, network)

    def node(self, name, op, shape, function, weights=None, opset=13, images=None, **attributes):
        """Makes a case of one node."""
        inputs = ["input", *(weights or {})]
        self.graph(name, [helper.make_node(op, inputs, ["output"], **attributes)], shape, function, weights, opset,
                   images)


def t(array):
    return torch.from_numpy(numpy.asarray(array))


def convolutions(zoo):
    def case(name, shape, w, bias=True, **attributes):
        weights = {"w": zoo.normal(*w, scale=0.3)}
        if bias:
            weights["b"] = zoo.normal(w[0])
        pads = attributes.get("pads", [0] * (2 * (len(w) - 2)))
        half = len(pads) // 2
        torch_pads = [p for d in range(half - 1, -1, -1) for p in (pads[d], pads[d + half])]
        convolve = F.conv2d if len(w) == 4 else F.conv1d

        def expected(x):
            x = F.pad(x, torch_pads)
            return convolve(x, t(weights["w"]), t(weights["b"]) if bias else None,
                            stride=attributes.get("strides", 1), dilation=attributes.get("dilations", 1),
                            groups=attributes.get("group", 1))
        zoo.node(name, "Conv", shape, expected, weights, **attributes)

    case("conv_1x1", (6, 9, 7), (5, 6, 1, 1))
    case("conv_3x3_same", (3, 12, 10), (8, 3, 3, 3), pads=[1, 1, 1, 1])
    case("conv_stride2", (4, 13, 13), (6, 4, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1], bias=False)
    case("conv_5x5_dilated", (2, 16, 16), (4, 2, 5, 5), dilations=[2, 2], pads=[4, 4, 4, 4])
    case("conv_uneven", (3, 11, 14), (5, 3, 2, 5), strides=[1, 3], pads=[0, 2, 1, 1])
    case("conv_groups", (6, 10, 10), (9, 2, 3, 3), group=3)
    case("conv_depthwise", (8, 12, 12), (8, 1, 3, 3), group=8, pads=[1, 1, 1, 1])
    case("conv_depthwise_stride2", (8, 13, 13), (8, 1, 3, 3), group=8, pads=[1, 1, 1, 1], strides=[2, 2])
    case("conv_depthwise_multiplier", (4, 9, 9), (8, 1, 3, 3), group=4, pads=[1, 1, 1, 1])
    case("conv_1d", (4, 30), (6, 4, 5), pads=[2, 2], strides=[2])
    w = zoo.normal(4, 3, 3, 3, scale=0.3)
    zoo.node("conv_same_upper", "Conv", (3, 10, 11),
             lambda x: F.conv2d(F.pad(x, (0, 1, 0, 1)) if x.shape[3] % 2 == 0 else F.pad(x, (1, 1, 0, 1)), t(w),
                                stride=2),
             {"w": w}, auto_pad="SAME_UPPER", strides=[2, 2])
    half = zoo.normal(4, 3, 3, 3, scale=0.3).astype(numpy.float16)
    zoo.node("conv_float16_weights", "Conv", (3, 8, 8), lambda x: F.conv2d(x, t(half.astype(numpy.float32))),
             {"w": half})


def pools(zoo):
    zoo.node("maxpool_2x2", "MaxPool", (5, 12, 12), lambda x: F.max_pool2d(x, 2), kernel_shape=[2, 2], strides=[2, 2])
    negative = zoo.normal(IMAGES, 4, 11, 13) - 9
    zoo.node("maxpool_negative_padded", "MaxPool", (4, 11, 13), lambda x: F.max_pool2d(x, 3, 2, 1), images=negative,
             kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    zoo.node("maxpool_ceil", "MaxPool", (3, 12, 11), lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True),
             kernel_shape=[3, 3],
             strides=[2, 2], ceil_mode=1)
    zoo.node("maxpool_dilated", "MaxPool", (3, 13, 12), lambda x: F.max_pool2d(x, 3, 1, 1, 2), kernel_shape=[3, 3],
             dilations=[2, 2], pads=[1, 1, 1, 1])
    zoo.node("maxpool_1d", "MaxPool", (3, 25), lambda x: F.max_pool1d(x, 4, 3), kernel_shape=[4], strides=[3], opset=8)
    zoo.node("averagepool_3x3", "AveragePool", (4, 11, 11), lambda x: F.avg_pool2d(x, 3, 2), kernel_shape=[3, 3],
             strides=[2, 2], opset=7)
    zoo.node("averagepool_include", "AveragePool", (4, 10, 12),
             lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=True), kernel_shape=[3, 3], strides=[2, 2],
             pads=[1, 1, 1, 1], count_include_pad=1)
    zoo.node("averagepool_exclude", "AveragePool", (4, 10, 12),
             lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False), kernel_shape=[3, 3], pads=[1, 1, 1, 1],
             opset=6)
    zoo.node("averagepool_ceil", "AveragePool", (3, 12, 14),
             lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True, count_include_pad=False), kernel_shape=[3, 3],
             strides=[2, 2],
             ceil_mode=1)
    zoo.node("averagepool_ceil_include", "AveragePool", (3, 12, 14),
             lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=True), kernel_shape=[3, 3],
             strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1, count_include_pad=1)
    zoo.node("global_average", "GlobalAveragePool", (9, 13, 7), lambda x: x.mean((2, 3), keepdim=True))
    zoo.node("global_maximum", "GlobalMaxPool", (9, 13, 7), lambda x: x.amax((2, 3), keepdim=True))
    zoo.node("reduce_mean_maps", "ReduceMean", (6, 8, 9), lambda x: x.mean((2, 3)), axes=[2, 3], keepdims=0)
    zoo.node("reduce_mean_rows", "ReduceMean", (6, 8, 9), lambda x: x.mean(2, keepdim=True), axes=[-2])
    zoo.node("reduce_max_columns", "ReduceMax", (6, 8, 9), lambda x: x.amax(3), axes=[3], keepdims=0)


def activations(zoo):
    shape = (4, 9, 10)
    wide = zoo.normal(IMAGES, *shape, scale=4)
    zoo.node("relu", "Relu", shape, torch.relu)
    zoo.node("leaky_relu", "LeakyRelu", shape, lambda x: F.leaky_relu(x, 0.2), alpha=0.2)
    slopes = numpy.array([0.1, -0.5, 0.9, 0.25], numpy.float32).reshape(4, 1, 1)
    zoo.node("prelu_channels", "PRelu", shape, lambda x: F.prelu(x, t(slopes.reshape(-1))), {"slope": slopes})
    steep = numpy.array([0.1, -0.5, 1.5, 2.25], numpy.float32).reshape(4, 1, 1)
    zoo.node("prelu_steep", "PRelu", shape, lambda x: F.prelu(x, t(steep.reshape(-1))), {"slope": steep})
    zoo.node("prelu_one", "PRelu", shape, lambda x: F.leaky_relu(x, 0.3), {"slope": numpy.array([0.3], numpy.float32)})
    zoo.node("clip_attributes", "Clip", shape, lambda x: x.clamp(-0.5, 1.0), opset=6, min=-0.5, max=1.0)
    zoo.node("clip_inputs", "Clip", shape, F.relu6, {"low": numpy.float32(0), "high": numpy.float32(6)}, opset=11,
             images=wide)
    zoo.node("elu", "Elu", shape, lambda x: F.elu(x, 0.8), alpha=0.8, images=wide)
    zoo.node("selu", "Selu", shape, F.selu, images=wide)
    zoo.node("softplus", "Softplus", shape, F.softplus, images=wide)
    zoo.node("softsign", "Softsign", shape, F.softsign, images=wide)
    zoo.node("sigmoid", "Sigmoid", shape, torch.sigmoid, images=wide)
    zoo.node("tanh", "Tanh", shape, torch.tanh, images=wide)
    zoo.node("hard_sigmoid", "HardSigmoid", shape, lambda x: (0.2 * x + 0.5).clamp(0, 1), images=wide)
    zoo.node("hard_swish", "HardSwish", shape, F.hardswish, opset=14, images=wide)
    zoo.node("softmax_vector", "Softmax", (17,), lambda x: x.softmax(1))
    zoo.node("softmax_columns", "Softmax", shape, lambda x: x.softmax(3))
    zoo.node("softmax_rows", "Softmax", shape, lambda x: x.softmax(2), axis=2)
    zoo.node("softmax_channels", "Softmax", shape, lambda x: x.softmax(1), axis=1)
    zoo.node("softmax_old", "Softmax", shape, lambda x: x.flatten(2).softmax(2).view(x.shape), axis=2, opset=11)
    zoo.node("softmax_old_all", "Softmax", (3, 3, 4), lambda x: x.flatten(1).softmax(1).view(x.shape), opset=9)


def norms(zoo):
    gamma, beta = zoo.normal(5) + 2, zoo.normal(5)
    mean, variance = zoo.normal(5), zoo.normal(5) ** 2 + 0.5
    weights = {"gamma": gamma, "beta": beta, "mean": mean, "variance": variance}

    def normalise(x):
        return F.batch_norm(x, t(mean), t(variance), t(gamma), t(beta))
    zoo.node("batch_norm", "BatchNormalization", (5, 8, 9), normalise, weights)
    zoo.node("batch_norm_vector", "BatchNormalization", (5,), normalise, weights, opset=9)
    images = zoo.normal(IMAGES, 5, 12, 10) * numpy.array([1, 0.1, 3, 0.5, 2], numpy.float32).reshape(5, 1, 1) + 0.7
    zoo.node("instance_norm", "InstanceNormalization", (5, 12, 10),
             lambda x: F.instance_norm(x, weight=t(gamma), bias=t(beta)), {"gamma": gamma, "beta": beta},
             images=images.astype(numpy.float32))
    w = zoo.normal(5, 5, 3, 3, scale=0.3)
    zoo.graph("instance_norm_between", [
        helper.make_node("Conv", ["input", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("InstanceNormalization", ["c", "gamma", "beta"], ["n"], epsilon=1e-3),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("Conv", ["r", "w"], ["output"], pads=[1, 1, 1, 1])], (5, 14, 11),
        lambda x: F.conv2d(F.relu(F.instance_norm(F.conv2d(x, t(w), padding=1), weight=t(gamma), bias=t(beta),
                                                  eps=1e-3)),
                           t(w), padding=1), {"w": w, "gamma": gamma, "beta": beta})
    zoo.graph("norm_before_conv", [
        helper.make_node("BatchNormalization", ["input", "gamma", "beta", "mean", "variance"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("Conv", ["r", "w"], ["output"], pads=[1, 1, 1, 1])], (5, 9, 9),
        lambda x: F.conv2d(F.relu(normalise(x)), t(w), padding=1), {**weights, "w": w})


def dense(zoo):
    w, b = zoo.normal(20, 7, scale=0.3), zoo.normal(7)
    zoo.node("gemm", "Gemm", (20,), lambda x: x @ t(w) + t(b), {"w": w, "b": b}, opset=9)
    zoo.node("gemm_transposed", "Gemm", (20,), lambda x: 0.5 * (x @ t(w)) + 2 * t(b), {"w": w.T.copy(), "b": b},
             transB=1,
             alpha=0.5, beta=2.0)
    zoo.node("gemm_scalar_bias", "Gemm", (20,), lambda x: x @ t(w) + 1.5,
             {"w": w, "b": numpy.array([1.5], numpy.float32)})
    zoo.node("gemm_no_bias", "Gemm", (20,), lambda x: x @ t(w), {"w": w})
    zoo.node("matmul", "MatMul", (20,), lambda x: x @ t(w), {"w": w})
    zoo.graph("matmul_transposed_weights", [
        helper.make_node("Transpose", ["w"], ["wt"], perm=[1, 0]), helper.make_node("MatMul", ["input", "wt"], ["m"]),
        helper.make_node("Add", ["b", "m"], ["output"])], (20,), lambda x: x @ t(w) + t(b), {"w": w.T.copy(), "b": b})


def arithmetic(zoo):
    shape = (4, 7, 9)
    w = zoo.normal(4, 4, 1, 1, scale=0.5)
    functions = {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Max": torch.maximum, "Min": torch.minimum}
    for op, function in functions.items():
        zoo.graph(op.lower() + "_tensors", [helper.make_node("Conv", ["input", "w"], ["c"]),
                                            helper.make_node(op, ["input", "c"], ["output"])], shape,
                  lambda x, function=function: function(x, F.conv2d(x, t(w))), {"w": w})
        constant = zoo.normal(4, 1, 1)
        if op in ("Max", "Min"):
            constant = numpy.float32(0.3)
        zoo.graph(op.lower() + "_constant", [helper.make_node(op, ["k", "input"], ["output"])], shape,
                  lambda x, function=function, constant=constant: function(t(constant), x), {"k": constant})
    zoo.graph("div_tensors", [helper.make_node("Sigmoid", ["input"], ["s"]),
                              helper.make_node("Add", ["s", "one"], ["d"]),
                              helper.make_node("Div", ["input", "d"], ["output"])], shape,
              lambda x: x / (torch.sigmoid(x) + 1), {"one": numpy.float32(1)})
    zoo.graph("mul_channels", [helper.make_node("GlobalAveragePool", ["input"], ["g"]),
                               helper.make_node("Sigmoid", ["g"], ["s"]),
                               helper.make_node("Mul", ["input", "s"], ["output"])],
              shape, lambda x: x * torch.sigmoid(x.mean((2, 3), keepdim=True)))
    zoo.graph("sub_rows", [helper.make_node("ReduceMean", ["input"], ["m"], axes=[2]),
                           helper.make_node("Sub", ["m", "input"], ["output"])],
              shape, lambda x: x.mean(2, keepdim=True) - x)
    zoo.graph("add_columns", [helper.make_node("ReduceMax", ["input"], ["m"], axes=[3]),
                              helper.make_node("Add", ["input", "m"], ["output"])],
              shape, lambda x: x + x.amax(3, keepdim=True))
    one = zoo.normal(1, 4, 1, 1, scale=0.5)
    zoo.graph("mul_one_channel", [helper.make_node("Conv", ["input", "w"], ["c"]),
                                  helper.make_node("Mul", ["c", "input"], ["output"])],
              shape, lambda x: F.conv2d(x, t(one)) * x, {"w": one})
    zoo.node("neg", "Neg", shape, torch.neg)
    zoo.graph("square", [helper.make_node("Mul", ["input", "input"], ["output"])], shape, lambda x: x * x)
    zoo.node("div_constant", "Div", shape, lambda x: x / 3, {"k": numpy.float32(3)})


def places(zoo):
    shape = (4, 8, 9)
    w = zoo.normal(5, 4, 3, 3, scale=0.3)
    v = zoo.normal(3, 4, 1, 1, scale=0.5)
    u = zoo.normal(6, 8, 3, 3, scale=0.3)

    def two(x):
        return F.conv2d(x, t(w), padding=1), torch.tanh(F.conv2d(x, t(v)))
    branches = [helper.make_node("Conv", ["input", "w"], ["a"], pads=[1, 1, 1, 1]),
                helper.make_node("Conv", ["input", "v"], ["b0"]),
                helper.make_node("Tanh", ["b0"], ["b"])]
    zoo.graph("concat", [*branches, helper.make_node("Concat", ["a", "b"], ["output"], axis=1)], shape,
              lambda x: torch.cat(two(x), 1), {"w": w, "v": v})
    zoo.graph("concat_before_conv", [*branches, helper.make_node("Concat", ["a", "b"], ["c"], axis=1),
                                     helper.make_node("Relu", ["c"], ["r"]),
                                     helper.make_node("Conv", ["r", "u"], ["output"], pads=[1, 1, 1, 1])], shape,
              lambda x: F.conv2d(F.relu(torch.cat(two(x), 1)), t(u), padding=1), {"w": w, "v": v, "u": u})
    zoo.graph("concat_input", [helper.make_node("Relu", ["input"], ["r"]),
                               helper.make_node("Concat", ["input", "r", "input"], ["output"], axis=1)], shape,
              lambda x: torch.cat((x, F.relu(x), x), 1))
    zoo.graph("concat_rows", [helper.make_node("Relu", ["input"], ["r"]),
                              helper.make_node("Concat", ["r", "input"], ["output"], axis=2)], shape,
              lambda x: torch.cat((F.relu(x), x), 2))
    zoo.graph("concat_columns", [helper.make_node("Relu", ["input"], ["r"]),
                                 helper.make_node("Concat", ["r", "input"], ["output"], axis=-1)], shape,
              lambda x: torch.cat((F.relu(x), x), 3))
    zoo.graph("concat_vectors", [helper.make_node("Softmax", ["input"], ["s"], axis=1),
                                 helper.make_node("Concat", ["s", "input"], ["output"], axis=1)], (11,),
              lambda x: torch.cat((x.softmax(1), x), 1))
    zoo.graph("concat_dense", [helper.make_node("Conv", ["input", "v"], ["a"]),
                               helper.make_node("Concat", ["input", "a"], ["b"], axis=1),
                               helper.make_node("Conv", ["b", "k"], ["c"], pads=[1, 1, 1, 1]),
                               helper.make_node("Concat", ["b", "c"], ["d"], axis=1),
                               helper.make_node("MaxPool", ["d"], ["output"], kernel_shape=[2, 2], strides=[2, 2])],
                               shape,
              lambda x: (lambda b: F.max_pool2d(torch.cat((b, F.conv2d(b, t(k), padding=1)), 1), 2))(
                  torch.cat((x, F.conv2d(x, t(v))), 1)), {"v": v, "k": (k := zoo.normal(2, 7, 3, 3, scale=0.3))})
    zoo.graph("pad_conv", [helper.make_node("Pad", ["input", "p"], ["q"]),
                           helper.make_node("Conv", ["q", "w"], ["output"])],
              shape, lambda x: F.conv2d(F.pad(x, (1, 2, 0, 1)), t(w)),
              {"p": numpy.array([0, 0, 0, 1, 0, 0, 1, 2], numpy.int64), "w": w})
    zoo.node("pad_attributes", "Pad", shape, lambda x: F.pad(x, (3, 1, 2, 0)), opset=10, pads=[0, 0, 2, 3, 0, 0, 0, 1])
    zoo.graph("pad_maxpool", [helper.make_node("Pad", ["input"], ["q"], pads=[0, 0, 1, 1, 0, 0, 1, 1], mode="constant"),
                              helper.make_node("MaxPool", ["q"], ["output"], kernel_shape=[3, 3], strides=[2, 2])],
                              shape,
              lambda x: F.max_pool2d(F.pad(x, (1, 1, 1, 1)), 3, 2), opset=9, images=zoo.normal(IMAGES, *shape) - 2)
    zoo.graph("pad_averagepool", [helper.make_node("Pad", ["input", "p"], ["q"]),
                                  helper.make_node("AveragePool", ["q"], ["output"], kernel_shape=[3, 3],
                                                   strides=[2, 2])],
              shape, lambda x: F.avg_pool2d(F.pad(x, (1, 1, 1, 1)), 3, 2),
              {"p": numpy.array([0, 0, 1, 1, 0, 0, 1, 1], numpy.int64)})
    zoo.graph("split", [helper.make_node("Split", ["input"], ["a", "b"], axis=1, split=[1, 3]),
                        helper.make_node("Mul", ["b", "a"], ["output"])], shape, lambda x: x[:, 1:] * x[:, :1],
                        opset=11)
    zoo.graph("slice", [helper.make_node("Slice", ["input", "s", "e", "x"], ["a"]),
                        helper.make_node("Relu", ["a"], ["output"])],
              shape, lambda x: F.relu(x[:, 1:3]), {"s": numpy.array([1]), "e": numpy.array([-1]),
                                                   "x": numpy.array([1])})
    zoo.node("transpose_nhwc", "Transpose", shape, lambda x: x.permute(0, 2, 3, 1), perm=[0, 2, 3, 1])
    zoo.node("transpose_planes", "Transpose", shape, lambda x: x.permute(0, 1, 3, 2), perm=[0, 1, 3, 2])
    zoo.graph("transpose_then_conv", [helper.make_node("Transpose", ["input"], ["c"], perm=[0, 3, 1, 2]),
                                      helper.make_node("Conv", ["c", "w"], ["output"], pads=[1, 1, 1, 1])], (8, 9, 4),
              lambda x: F.conv2d(x.permute(0, 3, 1, 2), t(w), padding=1), {"w": w})
    m = zoo.normal(4, 6, scale=0.5)
    zoo.graph("shape_arithmetic", [
        helper.make_node("GlobalAveragePool", ["input"], ["g"]), helper.make_node("Shape", ["g"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"], axis=0), helper.make_node("Unsqueeze", ["n", "axis"], ["n1"]),
        helper.make_node("Concat", ["n1", "rest"], ["to"], axis=0), helper.make_node("Reshape", ["g", "to"], ["f"]),
        helper.make_node("MatMul", ["f", "m"], ["output"])], shape, lambda x: x.mean((2, 3)) @ t(m),
        {"zero": numpy.int64(0), "axis": numpy.array([0]), "rest": numpy.array([-1]), "m": m})
    zoo.graph("squeeze_unsqueeze", [
        helper.make_node("GlobalMaxPool", ["input"], ["g"]), helper.make_node("Squeeze", ["g"], ["f"], axes=[2, 3]),
        helper.make_node("MatMul", ["f", "m"], ["h"]), helper.make_node("Unsqueeze", ["h"], ["output"], axes=[2, 3])],
        shape, lambda x: (x.amax((2, 3)) @ t(m)).unsqueeze(2).unsqueeze(3), {"m": m}, opset=11)
    zoo.graph("reshape_maps", [helper.make_node("Reshape", ["input", "s"], ["f"]),
                               helper.make_node("Tanh", ["f"], ["output"])], shape,
              lambda x: torch.tanh(x.reshape(-1, 2, 12, 12)), {"s": numpy.array([0, 2, 12, -1])})


def later(zoo):
    """Cases that come after the networks, so that the networks' random numbers do not change."""
    stored = zoo.normal(4, 3, 3, 3, scale=0.3)
    zoo.node("conv_external_weights", "Conv", (3, 8, 8), lambda x: F.conv2d(x, t(stored)), {"w": stored})
    zoo.move_out("conv_external_weights")
    # input maps larger than one half of a small input buffer
    zoo.node("global_average_large", "GlobalAveragePool", (3, 41, 37), lambda x: x.mean((2, 3), keepdim=True))
    zoo.node("global_maximum_large", "GlobalMaxPool", (3, 41, 37), lambda x: x.amax((2, 3), keepdim=True))
    zoo.node("averagepool_large", "AveragePool", (2, 37, 41),
             lambda x: F.avg_pool2d(x, (32, 35), 4, (3, 2), count_include_pad=False), kernel_shape=[32, 35],
             strides=[4, 4], pads=[3, 2, 3, 2])
    zoo.node("maxpool_large", "MaxPool", (2, 37, 41), lambda x: F.max_pool2d(x, (33, 35), 4, (3, 2)),
             images=zoo.normal(IMAGES, 2, 37, 41) - 7, kernel_shape=[33, 35], strides=[4, 4], pads=[3, 2, 3, 2])
    w = zoo.random.randint(-127, 128, (5, 3, 3, 3)).astype(numpy.int8)
    scales = (numpy.abs(zoo.normal(5)) * 0.01 + 0.002).astype(numpy.float32)
    images = zoo.normal(IMAGES, 3, 10, 10)

    def quantised(x):
        x = zoo_quantised.rounded(x, 8 / 255, 128, 0, 255)
        x = F.conv2d(x, t(w.astype(numpy.float32) * scales.reshape(-1, 1, 1, 1)).double())
        return zoo_quantised.rounded(F.relu(x), 0.02, -128, -128, 127)
    zoo.graph("quantised", [
        helper.make_node("QuantizeLinear", ["input", "xs", "xz"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0),
        helper.make_node("Conv", ["d", "wd"], ["c"]),
        helper.make_node("Relu", ["c"], ["r"]), helper.make_node("QuantizeLinear", ["r", "ys", "yz"], ["p"]),
        helper.make_node("DequantizeLinear", ["p", "ys", "yz"], ["output"])], (3, 10, 10), quantised,
        {"w": w, "ws": scales, "wz": numpy.zeros(5, numpy.int8), "xs": numpy.float32(8 / 255), "xz": numpy.uint8(128),
         "ys": numpy.float32(0.02), "yz": numpy.int8(-128)}, images=images)


def more_operators(zoo):
    node = helper.make_node
    shape = (4, 7, 9)
    positive = numpy.abs(zoo.normal(IMAGES, *shape)) + 0.5
    one = zoo.normal(4, 1, 1) + 2
    zoo.graph("div_by_tensor", [node("Div", ["k", "input"], ["output"])], shape, lambda x: t(one) / x, {"k": one},
              images=positive.astype(numpy.float32))
    full = zoo.normal(1, *shape)
    zoo.graph("add_full", [node("Add", ["input", "k"], ["output"])], shape, lambda x: x + t(full), {"k": full})
    row = zoo.normal(7, 1)
    zoo.graph("mul_row_constants", [node("Conv", ["input", "w"], ["c"], pads=[1, 1, 1, 1]),
                                    node("Mul", ["c", "k"], ["m"]),
                                    node("Conv", ["m", "w"], ["output"], pads=[1, 1, 1, 1])], shape,
              lambda x: F.conv2d(F.conv2d(x, t(k3), padding=1) * t(row), t(k3), padding=1),
              {"w": (k3 := zoo.normal(4, 4, 3, 3, scale=0.3)), "k": row})
    column = zoo.normal(9)
    zoo.graph("sub_column_constants", [node("Sub", ["k", "input"], ["output"])], shape, lambda x: t(column) - x,
              {"k": column})
    zoo.graph("max_channel_constants", [node("Max", ["input", "k"], ["output"])], shape,
              lambda x: torch.maximum(x, t(one - 2)), {"k": one - 2})
    wide = numpy.abs(zoo.normal(4, 1, 9)) + 1
    zoo.graph("div_full_constants", [node("Div", ["input", "k"], ["output"])], shape, lambda x: x / t(wide),
              {"k": wide})

    def pads(*numbers):
        return {"p": numpy.array([0, 0, *numbers[:2], 0, 0, *numbers[2:]], numpy.int64)}
    zoo.graph("pad_value", [node("Pad", ["input", "p", "v"], ["output"])], shape,
              lambda x: F.pad(x, (2, 3, 1, 0), value=-1.5),
              {**pads(1, 2, 0, 3), "v": numpy.float32(-1.5)})
    zoo.graph("pad_reflect", [node("Pad", ["input", "p"], ["output"], mode="reflect")], shape,
              lambda x: F.pad(x, (2, 3, 1, 2), mode="reflect"), pads(1, 2, 2, 3))
    zoo.graph("pad_reflect_conv", [node("Pad", ["input", "p"], ["q"], mode="reflect"),
                                   node("Conv", ["q", "w"], ["output"])], shape,
              lambda x: F.conv2d(F.pad(x, (1, 1, 1, 1), mode="reflect"), t(k3)), {**pads(1, 1, 1, 1), "w": k3})
    zoo.graph("pad_edge", [node("Pad", ["input"], ["output"], mode="edge", pads=[0, 0, 2, 0, 0, 0, 1, 3])], shape,
              lambda x: F.pad(x, (0, 3, 2, 1), mode="replicate"), opset=10)
    zoo.graph("pad_lowest_maxpool", [node("Pad", ["input", "p", "v"], ["q"]),
                                     node("MaxPool", ["q"], ["output"], kernel_shape=[3, 3], strides=[2, 2])], shape,
              lambda x: F.max_pool2d(x, 3, 2, 1), {**pads(1, 1, 1, 1), "v": numpy.float32(-numpy.inf)},
              images=zoo.normal(IMAGES, *shape) - 5)
    zoo.graph("pad_negative", [node("Pad", ["input", "p"], ["output"])], shape, lambda x: F.pad(x, (-1, 2, 0, -3)),
              pads(0, -1, -3, 2))
    zoo.graph("slice_rows", [node("Slice", ["input", "s", "e", "a"], ["r"]),
                             node("Conv", ["r", "w"], ["output"], pads=[1, 1, 1, 1])],
              shape, lambda x: F.conv2d(x[:, :, 2:6, 1:], t(k3), padding=1),
              {"s": numpy.array([2, 1]), "e": numpy.array([-1, 2**63 - 1]), "a": numpy.array([2, 3]), "w": k3})
    zoo.graph("slice_steps", [
        node("Slice", ["input", "s0", "e", "a", "t"], ["a0"]), node("Slice", ["input", "s1", "e", "a", "t"], ["a1"]),
        node("Concat", ["a0", "a1"], ["output"], axis=1)], (3, 8, 10),
        lambda x: torch.cat((x[:, :, ::2, ::2], x[:, :, 1::2, 1::2]), 1),
        {"s0": numpy.array([0, 0]), "s1": numpy.array([1, 1]), "e": numpy.array([2**63 - 1] * 2),
         "a": numpy.array([2, 3]),
         "t": numpy.array([2, 2])})
    zoo.graph("slice_old", [node("Slice", ["input"], ["output"], starts=[0, 1, 0, 2], ends=[2**31 - 1, 3, 7, -2])],
              shape,
              lambda x: x[:, 1:3, :, 2:-2], opset=9)
    zoo.graph("split_rows", [node("Split", ["input", "n"], ["a", "b"], axis=2),
                             node("ReduceMean", ["b"], ["m"], axes=[2]),
                             node("Add", ["a", "m"], ["output"])], shape,
              lambda x: x[:, :, :3] + x[:, :, 3:].mean(2, keepdim=True), {"n": numpy.array([3, 4])})
    zoo.graph("split_columns", [node("Split", ["input"], ["a", "b", "c"], axis=-1), node("Mul", ["a", "c"], ["m"]),
                                node("Sub", ["m", "b"], ["output"])], shape,
                                lambda x: x[..., :3] * x[..., 6:] - x[..., 3:6], opset=12)
    m = zoo.normal(9, 5, scale=0.4)
    zoo.graph("matmul_maps", [node("MatMul", ["input", "m"], ["p"]), node("Add", ["p", "b"], ["q"]),
                              node("Relu", ["q"], ["output"])],
              shape, lambda x: F.relu(x @ t(m) + t(mb)), {"m": m, "b": (mb := zoo.normal(5))})
    zoo.node("matmul_rows", "MatMul", (11, 9), lambda x: x @ t(m), {"m": m})
    deep, shift = zoo.normal(12, 1, 3, 3, scale=0.3), zoo.normal(12)
    zoo.graph("conv_depthwise_multiplier3", [
        node("Conv", ["input", "w", "b"], ["c"], group=4, pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", ["c"], ["r"]),
        node("Conv", ["r", "v"], ["output"], pads=[1, 1, 1, 1])], (4, 13, 11),
        lambda x: F.conv2d(F.relu(F.conv2d(x, t(deep), t(shift), 2, 1, 1, 4)), t(last), padding=1),
        {"w": deep, "b": shift, "v": (last := zoo.normal(3, 12, 3, 3, scale=0.2))})


def forms(zoo):
    """The same small network in different forms: operator sets, types of weights, IR version 3."""
    w, b, m = zoo.normal(4, 3, 3, 3, scale=0.3), zoo.normal(4), zoo.normal(4, 5)

    def network(x):
        return F.relu(F.conv2d(x, t(w), t(b))).mean((2, 3)) @ t(m)

    def nodes(opset):
        return [helper.make_node("Conv", ["input", "w", "b"], ["c"]), helper.make_node("Relu", ["c"], ["r"]),
                helper.make_node("GlobalAveragePool", ["r"], ["g"]), helper.make_node("Flatten", ["g"], ["f"]),
                helper.make_node("Dropout", ["f"], ["d"], **({"ratio": 0.5} if opset < 12 else {})),
                helper.make_node("MatMul", ["d", "m"], ["output"])]
    images = zoo.normal(IMAGES, 3, 8, 8)
    for opset in range(6, 18):
        zoo.graph(f"opset_{opset:02}", nodes(opset), (3, 8, 8), network, {"w": w, "b": b, "m": m}, opset, images)
    typed = {"typed_float": (TensorProto.FLOAT, w), "typed_double": (TensorProto.DOUBLE, w.astype(numpy.float64)),
             "typed_float16": (TensorProto.FLOAT16, w.astype(numpy.float16))}
    for name, (kind, array) in typed.items():
        zoo.graph(name, nodes(13), (3, 8, 8), network, {"w": w, "b": b, "m": m}, 13, images)
        zoo.replace(name, helper.make_tensor("w", kind, array.shape, array.reshape(-1).tolist()))
    zoo.graph("ir3_inputs", nodes(8), (3, 8, 8), network, {"w": w, "b": b, "m": m}, 8, images)
    zoo.declare_weights("ir3_inputs")


def parts(zoo):
    """Windows that are computed in parts if the input buffer is small."""
    # parts of one output position start where wider parts of the next position start
    zoo.node("averagepool_parts", "AveragePool", (9, 8, 16),
             lambda x: F.avg_pool2d(x, (3, 10), (1, 3), (0, 3), count_include_pad=False), kernel_shape=[3, 10],
             strides=[1, 3], pads=[0, 3, 0, 3])


def magnitudes(zoo):
    """Values far smaller than 1, as in untrained networks, also next to large ones; and large values."""
    node = helper.make_node
    tiny = [zoo.normal(6, 6, 3, 3, scale=1e-3) for _ in range(3)]
    deep, last = zoo.normal(6, 1, 3, 3, scale=1e-3), zoo.normal(10, 6)
    w = dict(zip("abcdl", [*tiny, deep, last]))

    def shrinking(x):
        x = F.relu6(F.conv2d(x, t(tiny[0]), padding=1))
        x = F.leaky_relu(F.conv2d(x, t(deep), padding=1, groups=6), 0.25)
        y = F.conv2d(F.max_pool2d(x, 2), t(tiny[1]), padding=1)
        y = y + F.relu(F.conv2d(y, t(tiny[2]), padding=1))
        return y.mean((2, 3)) @ t(last).T

    three = {"pads": [1, 1, 1, 1]}
    limits = {"low": numpy.float32(0), "high": numpy.float32(6)}
    zoo.graph("small_network", [
        node("Conv", ["input", "a"], ["a1"], **three), node("Clip", ["a1", "low", "high"], ["a2"]),
        node("Conv", ["a2", "d"], ["d1"], group=6, **three), node("LeakyRelu", ["d1"], ["d2"], alpha=0.25),
        node("MaxPool", ["d2"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p", "b"], ["b1"], **three), node("Conv", ["b1", "c"], ["c1"], **three),
        node("Relu", ["c1"], ["c2"]), node("Add", ["b1", "c2"], ["s"]), node("GlobalAveragePool", ["s"], ["g"]),
        node("Flatten", ["g"], ["f"]), node("Gemm", ["f", "l"], ["output"], transB=1)], (6, 12, 12), shrinking,
        {**w, **limits})
    scale = numpy.full((6, 1, 1, 1), 1e-18, numpy.float32)
    large = zoo.normal(IMAGES, 6, 5, 5, scale=1e6)
    for name, order in (("small_first", 1), ("small_second", -1)):
        zoo.graph(name, [node("Conv", ["input", "w"], ["y"], group=6),
                         node("Add", ["y", "input"][::order], ["output"])],
                  (6, 5, 5), lambda x: x * 1e-18 + x, {"w": scale}, images=large)
    small = zoo.normal(IMAGES, 6, 8, 8, scale=1e-4)
    zoo.node("small_instance_norm", "InstanceNormalization", (6, 8, 8),
             lambda x: F.instance_norm(x, weight=torch.ones(6), bias=torch.zeros(6), eps=1e-5),
             {"s": numpy.ones(6, numpy.float32), "b": numpy.zeros(6, numpy.float32)}, images=small, epsilon=1e-5)
    smaller = zoo.normal(IMAGES, 10, scale=1e-11)
    zoo.node("small_softmax", "Softmax", (10,), lambda x: torch.softmax(x, 1), images=smaller, axis=1)
    large = zoo.normal(IMAGES, 10, scale=5e5)
    large[0, :2] = large[0].max() + numpy.float32(64)
    zoo.node("large_softmax", "Softmax", (10,), lambda x: torch.softmax(x, 1), images=large, axis=1)
    zoo.node("small_sigmoid", "Sigmoid", (10,), torch.sigmoid, images=smaller)
    zoo.node("small_leaky_relu", "LeakyRelu", (10,), lambda x: F.leaky_relu(x, 0.1), images=smaller, alpha=0.1)


def more_activations(zoo):
    shape, wide = (4, 9, 11), zoo.normal(IMAGES, 4, 9, 11, scale=4.0)
    near = wide / 6  # range where GELU is neither 0 nor x, so that an error as large as GELU itself exceeds the tolerance
    zoo.node("abs", "Abs", shape, torch.abs, images=wide)
    zoo.node("erf", "Erf", shape, torch.erf, images=wide)
    zoo.node("gelu_wide", "Gelu", shape, F.gelu, opset=20, images=wide)
    zoo.node("gelu", "Gelu", shape, F.gelu, opset=20, images=near)
    zoo.node("gelu_tanh", "Gelu", shape, lambda x: F.gelu(x, approximate="tanh"), opset=20, images=near,
             approximate="tanh")
    zoo_networks.export(zoo, "net_gelu", zoo_networks.Smooth(), (3, 10, 8))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", help="write loose files there, and no archives")
    folder = parser.parse_args().folder
    if folder:
        os.makedirs(folder, exist_ok=True)
        make(folder)
        return
    with tempfile.TemporaryDirectory() as loose:
        make(loose)
        zoo_archive.pack(loose)


def make(folder):
    onnx_export.deterministic(SEED)
    zoo = Zoo(folder)
    for part in (convolutions, pools, activations, norms, dense, arithmetic, places, zoo_networks.networks, later,
                 zoo_quantised.operators, more_operators, forms, zoo_forms.forms,
                 zoo_shapes.shapes, zoo_single.single, zoo_shapes.numbers, parts, magnitudes,
                 zoo_networks.several_outputs, zoo_larger.cases, more_activations, zoo_empty.empty,
                 zoo_symbolic.symbolic, zoo_attention.make, zoo_functions.make, zoo_single.framed):
        part(zoo)
    size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
    print(f"{zoo.count} cases, {size} bytes")


if __name__ == "__main__":
    main()
