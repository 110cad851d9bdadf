#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Functions that exporters write as several operators: composite.py CNNVP. They are part of the product before them, also where
that has its channels last, with the words and the time of the function as one operator; other products stay what they are."""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CNNVP = sys.argv[1]
node = helper.make_node
random = numpy.random.RandomState(7)
ROOT, SLOPE = math.sqrt(.5), math.sqrt(2 / math.pi)
NUMBERS = {"root": ROOT, "two": math.sqrt(2), "one": 1., "half": .5, "slope": SLOPE, "part": .044715, "cube": 3., "quick": 1.702, "three": 3., "six": 6., "zero": 0.}


def chain(*words):
    """Nodes of lines such as "Mul a b -> c"."""
    made = []
    for word in words:
        (op, *inputs), output = word.split("->")[0].split(), word.split("->")[1].strip()
        made.append(node(op, inputs, [output]))
    return made


ERF, TANH = "Gelu", "Gelu by tanh"
FORMS = [
    (ERF, chain("Div a two -> b", "Erf b -> c", "Add c one -> d", "Mul a d -> e", "Mul e half -> f")),
    (ERF, chain("Mul a half -> b", "Mul a root -> c", "Erf c -> d", "Add one d -> e", "Mul b e -> f")),
    (ERF, chain("Div a two -> b", "Erf b -> c", "Add c one -> d", "Mul d half -> e", "Mul a e -> f")),
    (TANH, chain("Pow a cube -> b", "Mul b part -> c", "Add a c -> d", "Mul d slope -> e", "Tanh e -> g", "Add g one -> h", "Mul a half -> i", "Mul i h -> f")),
    (TANH, chain("Mul a a -> b", "Mul a b -> c", "Mul part c -> d", "Add a d -> e", "Mul e slope -> g", "Tanh g -> h", "Add h one -> i", "Mul i a -> j",
                 "Mul j half -> f")),
    ("Swish", chain("Sigmoid a -> b", "Mul b a -> f")),
    ("Swish", chain("Neg a -> b", "Exp b -> c", "Add c one -> d", "Div a d -> f")),
    ("Swish of 1.702", chain("Mul a quick -> b", "Sigmoid b -> c", "Mul a c -> f")),
    ("Mish", chain("Softplus a -> b", "Tanh b -> c", "Mul a c -> f")),
    ("Mish", chain("Exp a -> b", "Add b one -> c", "Log c -> d", "Tanh d -> e", "Mul a e -> f")),
    ("HardSwish", chain("Add a three -> b", "Clip b zero six -> c", "Mul a c -> d", "Div d six -> f")),
    ("Sigmoid", chain("Neg a -> b", "Exp b -> c", "Add c one -> d", "Div one d -> f")),
]
WHOLE = {ERF: node("Gelu", ["a"], ["f"]), TANH: node("Gelu", ["a"], ["f"], approximate="tanh"), "Swish": node("Swish", ["a"], ["f"]),
         "Swish of 1.702": node("Swish", ["a"], ["f"], alpha=1.702), "Mish": node("Mish", ["a"], ["f"]), "HardSwish": node("HardSwish", ["a"], ["f"]),
         "Sigmoid": node("Sigmoid", ["a"], ["f"])}
OTHERS = [chain("Mul a half -> f"), chain("Sigmoid a -> b", "Mul b b -> f"), chain("Div a two -> b", "Erf b -> c", "Add c one -> d", "Mul a d -> f")]
first, second = random.randn(12, 24) * .6, random.randn(24, 8)
x = random.randn(2, 5, 4, 12)


def run(nodes, functions=()):
    """Outputs, layers and total of x * first, the nodes and * second."""
    constants = {"first": first, "second": second, **NUMBERS}
    graph = helper.make_graph([node("MatMul", ["x", "first"], ["a"]), *nodes, node("MatMul", ["f", "second"], ["y"])], "net",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", *x.shape[1:]])], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(numpy.float32(array), name) for name, array in constants.items()])
    sets = [helper.make_opsetid("", 24), helper.make_opsetid("own", 1)]
    onnx.save(helper.make_model(graph, functions=functions, opset_imports=sets, ir_version=8), "m.onnx")
    subprocess.run([CNNVP, "run", "m.onnx", "-i", "x.npy", "-o", "y.npy", "-q", "--stats", "s.json"], check=True)
    with open("s.json", encoding="utf-8") as file:
        stats = json.load(file)
    return numpy.load("y.npy"), [layer["op"] for layer in stats["layers"]], stats["total"]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    numpy.save("x.npy", x.astype(numpy.float32))
    for name, form in FORMS:
        result, layers, total = run(form)
        whole = run([WHOLE[name]])
        assert (result == whole[0]).all() and layers == whole[1] and total == whole[2], (name, form, layers, whole[1])
        assert "conv conv" in " ".join(layers), (name, layers)
    # Nearly a function: twice a GELU, the square of a sigmoid, half.
    sigmoid = 1 / (1 + numpy.exp(-(x @ first)))
    wanted = x @ first / 2, sigmoid ** 2, x @ first * (1 + numpy.vectorize(math.erf)(x @ first * ROOT))
    for form, values in zip(OTHERS, wanted):
        off = run(form)[0] - values @ second
        assert 10 * numpy.log10(((values @ second) ** 2).sum() / (off ** 2).sum()) > 55, form
    # A product that others read too stays where it is.
    result, layers, _ = run([node("Relu", ["a"], ["r"]), *FORMS[0][1][:-1], node("Mul", ["e", "half"], ["g"]), node("Add", ["g", "r"], ["f"])])
    assert layers.count("conv") == 2, layers
    # Windows are made of an image as a whole, whose tensors then have a dimension more than those of nodes that take images one by one.
    shapes = {"deep": [1, 12, 16], "windows": [4, 4, 12], "back": [1, 16, 12]}
    before = [node("Reshape", ["x", "deep"], ["l"]), node("Transpose", ["l"], ["t"], perm=[0, 2, 1]), node("Reshape", ["t", "windows"], ["w"]),
              node("Reshape", ["w", "back"], ["r"]), node("Add", ["r", "t"], ["n"]), node("MatMul", ["n", "first"], ["m"]), node("Add", ["bias", "m"], ["a"])]
    numbers = [numpy_helper.from_array(numpy.float32(array), name) for name, array in
               {"first": first, "second": second, "bias": random.randn(24), **NUMBERS}.items()]
    numbers += [numpy_helper.from_array(numpy.int64(shape), name) for name, shape in shapes.items()]
    graph = helper.make_graph([*before, *FORMS[0][1], node("MatMul", ["f", "second"], ["y"])], "net",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 12, 4, 4])], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], numbers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "m.onnx")
    subprocess.run([CNNVP, "run", "m.onnx", "--timing-only", "-q", "--stats", "s.json"], check=True)
    with open("s.json", encoding="utf-8") as file:
        layers = [layer["op"] for layer in json.load(file)["layers"]]
    assert "conv conv" in " ".join(layers), layers
    # In a function of the file, which has the numbers as constants of its own.
    for name, form in FORMS:
        used = {value for step in form for value in step.input} & set(NUMBERS)
        body = [node("Constant", [], [number], value=numpy_helper.from_array(numpy.float32(NUMBERS[number]))) for number in sorted(used)]
        own = helper.make_function("own", "F", ["a"], ["f"], [*body, *form], [helper.make_opsetid("", 24)])
        result, layers, total = run([node("F", ["a"], ["f"], domain="own")], functions=[own])
        whole = run([WHOLE[name]])
        assert (result == whole[0]).all() and layers == whole[1] and total == whole[2], (name, form, layers, whole[1])
