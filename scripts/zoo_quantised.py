# SPDX-License-Identifier: Apache-2.0
"""Quantised operators: cases of make_zoo.py."""
import numpy
import torch
from onnx import helper
from torch.nn import functional as F


def t(array):
    return torch.from_numpy(numpy.asarray(array))


def rounded(x, scale, zero, low, high):
    """x after quantisation and dequantisation: (q - zero) * scale."""
    scale = float(numpy.float32(scale))
    return ((x.double() / scale).round() + zero).clamp(low, high).sub(zero) * scale


def operators(zoo):
    """Forms of onnxruntime, PyTorch and TensorFlow. The expected outputs are those of the quantised model."""
    node = helper.make_node
    w8 = zoo.random.randint(-127, 128, (6, 3, 3, 3)).astype(numpy.int8)
    ws = (numpy.abs(zoo.normal(6)) * 0.004 + 0.002).astype(numpy.float32)
    wz = zoo.random.randint(-3, 4, 6).astype(numpy.int8)
    bias = zoo.random.randint(-2000, 2000, 6).astype(numpy.int32)
    xs, ys, zs = numpy.float32(6 / 255), numpy.float32(0.04), numpy.float32(0.03)
    given = {"xs": xs, "xz": numpy.uint8(120), "w": w8, "ws": ws, "wz": wz, "ys": ys, "yz": numpy.uint8(100), "b": bias}
    real = t((w8.astype(numpy.float64) - wz.reshape(-1, 1, 1, 1)) * ws.reshape(-1, 1, 1, 1))
    real_bias = t(bias * (ws.astype(numpy.float64) * float(xs)))

    def first(x, **attributes):
        return rounded(F.conv2d(rounded(x, xs, 120, 0, 255), real, real_bias, **attributes), ys, 100, 0, 255)
    quantise = node("QuantizeLinear", ["input", "xs", "xz"], ["q"])
    convolve = node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["c"], pads=[1, 1, 1, 1],
                    strides=[2, 2])
    zoo.graph("qlinear_conv", [quantise, convolve, node("DequantizeLinear", ["c", "ys", "yz"], ["output"])],
              (3, 12, 11),
              lambda x: first(x, padding=1, stride=2), given, opset=10)
    zoo.graph("qlinear_output", [quantise, node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz"],
                                                ["output"])],
              (3, 8, 9), lambda x: rounded(F.conv2d(rounded(x, xs, 120, 0, 255), real), ys, 100, 0,
                                           255) / float(ys) + 100,
              {k: v for k, v in given.items() if k != "b"})
    m8 = zoo.random.randint(-127, 128, (20, 7)).astype(numpy.int8)
    ms = (numpy.abs(zoo.normal(7)) * 0.004 + 0.002).astype(numpy.float32)
    mr = t(m8.astype(numpy.float64) * ms)
    zoo.graph("qlinear_matmul", [quantise, node("QLinearMatMul", ["q", "xs", "xz", "m", "ms", "mz", "ys", "yz"], ["p"]),
                                 node("DequantizeLinear", ["p", "ys", "yz"], ["output"])], (20,),
              lambda x: rounded(rounded(x, xs, 120, 0, 255) @ mr, ys, 100, 0, 255),
              {"xs": xs, "xz": numpy.uint8(120), "m": m8, "ms": ms, "mz": numpy.zeros(7, numpy.int8), "ys": ys,
               "yz": numpy.uint8(100)})
    v8 = zoo.random.randint(-127, 128, (6, 6, 3, 3)).astype(numpy.int8)
    vs = numpy.float32(0.002)
    vr = t(v8.astype(numpy.float64) * float(vs))
    f8 = zoo.random.randint(-127, 128, (5, 6)).astype(numpy.int8)
    fr = t(f8.astype(numpy.float64) * float(vs))
    signed = {"as": numpy.float32(0.05), "az": numpy.int8(-10)}

    def pair(name, scale="as", zero="az"):
        return [node("QuantizeLinear", [name, scale, zero], [name + "q"]),
                node("DequantizeLinear", [name + "q", scale, zero], [name + "d"])]

    def qdq(x):
        def keep(y):
            return rounded(y, 0.05, -10, -128, 127)
        x = F.max_pool2d(keep(F.relu(F.conv2d(keep(x), real, real_bias, padding=1))), 2)
        y = keep(F.conv2d(x, vr, padding=1))
        return keep(keep(F.relu(keep(x + y))).mean((2, 3))) @ fr.T
    zoo.graph("qdq_residual", [
        *pair("input"), node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0),
        node("DequantizeLinear", ["b", "bs"], ["bd"], axis=0),
        node("Conv", ["inputd", "wd", "bd"], ["c"], pads=[1, 1, 1, 1]), node("Relu", ["c"], ["r"]),
        node("QuantizeLinear", ["r", "as", "az"], ["rq"]), node("MaxPool", ["rq"], ["mq"], kernel_shape=[2, 2],
                                                                strides=[2, 2]),
        node("DequantizeLinear", ["mq", "as", "az"], ["m"]), node("DequantizeLinear", ["v", "vs"], ["vd"]),
        node("Conv", ["m", "vd"], ["e"], pads=[1, 1, 1, 1]), *pair("e"), node("Add", ["ed", "m"], ["s"]), *pair("s"),
        node("Relu", ["sd"], ["u"]), *pair("u"), node("GlobalAveragePool", ["ud"], ["g"]), *pair("g"),
        node("Flatten", ["gd"], ["h"]),
        node("DequantizeLinear", ["f", "vs"], ["fd"]), node("Gemm", ["h", "fd"], ["output"], transB=1)], (3, 12, 12),
        qdq,
        {"w": w8, "ws": ws, "wz": wz, "b": bias, "bs": (ws.astype(numpy.float64) * float(xs)).astype(numpy.float32),
         "v": v8,
         "vs": vs, "f": f8, **signed})
    fake = zoo.normal(4, 3, 3, 3, scale=0.3)
    fs = (numpy.abs(fake).max((1, 2, 3)) / 127).astype(numpy.float32)
    fake_real = t((numpy.rint(fake / fs.reshape(-1, 1, 1, 1)).clip(-128, 127) * fs.reshape(-1, 1, 1,
                                                                                           1)).astype(numpy.float64))
    zoo.graph("qdq_weights", [
        *pair("input"), node("QuantizeLinear", ["w", "ws", "wz"], ["wq"], axis=0),
        node("DequantizeLinear", ["wq", "ws", "wz"], ["wd"], axis=0), node("Conv", ["inputd", "wd"], ["c"]),
        node("Clip", ["c", "zero", "six"], ["r"]), *pair("r"), node("Identity", ["rd"], ["output"])], (3, 9, 9),
        lambda x: rounded(F.relu6(F.conv2d(rounded(x, 0.05, -10, -128, 127), fake_real)), 0.05, -10, -128, 127),
        {"w": fake, "ws": fs, "wz": numpy.zeros(4, numpy.int8), "zero": numpy.float32(0), "six": numpy.float32(6),
         **signed})

    def vendor(x):
        c = first(x, padding=1)
        g = rounded(rounded(c + c, zs, 90, 0, 255).mean((2, 3)), ys, 100, 0, 255)
        return rounded(g @ fr.T, zs, 90, 0, 255)
    own = {"domain": "com.microsoft"}
    zoo.graph("quantised_vendor", [
        quantise, node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["c"], pads=[1, 1, 1, 1]),
        node("QLinearAdd", ["c", "ys", "yz", "c", "ys", "yz", "zs", "zz"], ["s"], **own),
        node("QLinearGlobalAveragePool", ["s", "zs", "zz", "ys", "yz"], ["g"], **own), node("Flatten", ["g"], ["h"]),
        node("QGemm", ["h", "ys", "yz", "f", "vs", "fz", "", "zs", "zz"], ["o"], transB=1, **own),
        node("DequantizeLinear", ["o", "zs", "zz"], ["output"])], (3, 9, 8), vendor,
        {**given, "zs": zs, "zz": numpy.uint8(90), "f": f8, "vs": vs, "fz": numpy.int8(0)})
