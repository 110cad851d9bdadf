# SPDX-License-Identifier: Apache-2.0
"""Inputs with symbolic sizes, and the computations that exporters make with them: cases of make_zoo.py with their own
random numbers."""
import numpy
import torch
from onnx import TensorProto, helper, numpy_helper
from torch.nn import functional as F

SIZES = ("N", 3, "height", "width")
node = helper.make_node


def symbolic(zoo):
    """Reshape, Resize and Expand by the input's own shape."""
    random = numpy.random.RandomState(31)
    numbers = {f"number{i}": numpy.array(i) for i in range(4)}
    lists = {f"list{i}": numpy.array([i]) for i in (0, 1, 2, 4)}
    offset = random.standard_normal((1, 3, 1, 1)).astype(numpy.float32)
    weights = {**numbers, **lists, "minus": numpy.array(-1), "wanted": numpy.array([-1, 3, 1, 1]),
               "scale": numpy.array(1.5, numpy.float32), "offset": offset}

    def case(name, nodes, function):
        images = random.standard_normal((2, 3, 6, 8)).astype(numpy.float32)
        used = {key: array for key, array in weights.items() if any(key in n.input for n in nodes)}
        zoo.graph(name, nodes, (), function, used, images=images, batch=SIZES)

    size = [node("Gather", ["shape", f"number{i}"], [f"size{i}"], axis=0) for i in range(4)]
    shape = node("Shape", ["input"], ["shape"])
    case("symbolic_flat", [shape, *size, node("Mul", ["size1", "size2"], ["maps"]),
                           node("Mul", ["maps", "size3"], ["words"]),
                           node("Unsqueeze", ["size0", "list0"], ["rows"]),
                           node("Unsqueeze", ["words", "list0"], ["columns"]),
                           node("Concat", ["rows", "columns"], ["flat"], axis=0),
                           node("Reshape", ["input", "flat"], ["reshaped"]), node("Relu", ["reshaped"], ["output"])],
         lambda x: torch.relu(x.reshape(2, -1)))
    case("symbolic_resize", [node("MaxPool", ["input"], ["small"], kernel_shape=[2, 2], strides=[2, 2]), shape,
                             node("Slice", ["shape", "list2", "list4", "list0"], ["maps"]),
                             node("Shape", ["small"], ["smaller"]),
                             node("Slice", ["smaller", "list0", "list2", "list0"], ["front"]),
                             node("Concat", ["front", "maps"], ["sizes"], axis=0),
                             node("Resize", ["small", "", "", "sizes"], ["large"], mode="nearest"),
                             node("Sub", ["large", "input"], ["output"])],
         lambda x: F.interpolate(F.max_pool2d(x, 2), scale_factor=2) - x)
    case("symbolic_floor", [shape, node("Slice", ["shape", "list2", "list4", "list0"], ["maps"]),
                            node("Cast", ["maps"], ["floats"], to=TensorProto.FLOAT),
                            node("Mul", ["floats", "scale"], ["scaled"]), node("Floor", ["scaled"], ["floored"]),
                            node("Cast", ["floored"], ["whole"], to=TensorProto.INT64),
                            node("Slice", ["shape", "list0", "list2", "list0"], ["front"]),
                            node("Concat", ["front", "whole"], ["sizes"], axis=0),
                            node("Resize", ["input", "", "", "sizes"], ["output"], mode="nearest",
                                 coordinate_transformation_mode="asymmetric", nearest_mode="floor")],
         lambda x: F.interpolate(x, scale_factor=1.5))
    ones = numpy_helper.from_array(numpy.array([1]))
    case("symbolic_expand", [shape, node("ConstantOfShape", ["list4"], ["ones"], value=ones),
                             node("Mul", ["ones", "minus"], ["negative"]),
                             node("Equal", ["wanted", "negative"], ["unknown"]),
                             node("Where", ["unknown", "ones", "wanted"], ["known"]),
                             node("Expand", ["offset", "known"], ["offsets"]),
                             node("Add", ["input", "offsets"], ["output"])], lambda x: x + torch.from_numpy(offset))
    case("symbolic_range", [shape, size[3], node("Range", ["number0", "size3", "number1"], ["columns"]),
                            node("Cast", ["columns"], ["floats"], to=TensorProto.FLOAT),
                            node("Add", ["input", "floats"], ["output"])],
         lambda x: x + torch.arange(8, dtype=torch.float32))
