# SPDX-License-Identifier: Apache-2.0
"""Empty tensors: cases of make_zoo.py with their own random numbers."""
import numpy
import torch
from onnx import helper

SHAPE = (3, 4, 5)
node = helper.make_node


def empty(zoo):
    """An empty tensor adds nothing to a Concat, and functions of it are empty."""
    random = numpy.random.RandomState(29)
    none = numpy.zeros((1, 0, 4, 5), numpy.float32)
    numbers = {"zero": numpy.array([0]), "far": numpy.array([numpy.iinfo(numpy.int64).max]),
               "axis": numpy.array([2]), "parts": numpy.array([3, 0])}

    def case(name, nodes, function, batch=("N",), **weights):
        images = random.standard_normal((2, *SHAPE)).astype(numpy.float32)
        used = {key: array for key, array in numbers.items() if any(key in n.input for n in nodes)}
        zoo.graph(name, nodes, SHAPE, function, {**used, **weights}, images=images, batch=batch)

    case("empty_concat", [node("Concat", ["input", "e"], ["output"], axis=1)], lambda x: x, (1,), e=none)
    case("empty_roll", [node("Slice", ["input", "zero", "far", "axis"], ["end"]),
                        node("Slice", ["input", "zero", "zero", "axis"], ["front"]),
                        node("Concat", ["end", "front"], ["rolled"], axis=2), node("Relu", ["rolled"], ["output"])],
         lambda x: torch.relu(torch.roll(x, 0, 2)))
    case("empty_split", [node("Split", ["input", "parts"], ["a", "b"], axis=1),
                         node("Concat", ["b", "a"], ["c"], axis=1), node("Neg", ["c"], ["output"])], lambda x: -x)
    case("empty_functions", [node("Slice", ["input", "zero", "zero", "axis"], ["a"]),
                             node("Tanh", ["a"], ["b"]), node("Add", ["b", "b"], ["c"]),
                             node("Concat", ["c", "input", "c"], ["output"], axis=2)], lambda x: x)
