#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own test cases of single operators (from python3-onnx, with expected values) with `cnnvp run`:
run_node_cases.py [PATTERN]. One input of a case is the network's input, and the others become constants. For operators
of two tensors, each of the two is the input in turn. A result is right if it differs by at most 1 % of the largest
magnitude. Prints the number of right cases, and each other case with its message. Status 0: none is wrong.
"""
import argparse
import collections
import itertools
import os
import re
import subprocess
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

for _name, _type in (("float", float), ("int", int), ("bool", bool), ("object", object)):
    if _name not in vars(numpy):  # python3-onnx 1.12 uses names that numpy 1.24 has removed
        setattr(numpy, _name, _type)

OPERATORS = set("""
Conv MaxPool AveragePool GlobalAveragePool GlobalMaxPool BatchNormalization Relu LeakyRelu PRelu Clip Sigmoid HardSigmoid
HardSwish Tanh Elu Softmax Gemm MatMul Add Sub Mul Div Concat Pad Flatten Reshape Squeeze Unsqueeze Transpose Identity
Dropout Constant ReduceMean QuantizeLinear DequantizeLinear QLinearConv QLinearMatMul InstanceNormalization LogSoftmax Selu
Softplus Softsign Max Min Sum Neg Expand Split Slice Gather DepthToSpace SpaceToDepth Cast ReduceMax ReduceSum Shape
ConstantOfShape ConvTranspose Resize Upsample Abs Erf Pow ReduceMin ReduceL1 ReduceSumSquare ReduceL2 ReduceLogSum
Mish Exp Log Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Atanh Sign Not Sqrt Reciprocal Celu
ThresholdedRelu Greater GreaterOrEqual Less LessOrEqual Equal And Or Xor Where Round Ceil Floor LayerNormalization
LRN ReduceProd ReduceLogSumExp ArgMax ArgMin Tile Einsum Shrink Mean DynamicQuantizeLinear MatMulInteger ConvInteger
Trilu LpNormalization CumSum Hardmax NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss MeanVarianceNormalization GridSample DFT
GatherND GatherElements ScatterND ScatterElements Scatter""".split())
EITHER = {"Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Concat", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}
LIMIT = 0.01
# Left out: PyTorch, onnxruntime and cnnvp map the last output element exactly to the last input element, even if the
# output size was rounded. ONNX's reference, which made these cases, does not (onnx/onnx issue 2462).
OTHERWISE = {"test_resize_downsample_scales_linear_align_corners", "test_resize_downsample_scales_cubic_align_corners"}
PROGRAM = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "bin", "cnnvp")


def empty_cases(pattern):
    """Yields cases with empty tensors, of which ONNX has few, in the form of `cases`."""
    array = numpy.random.RandomState(7).standard_normal((2, 3, 4, 5)).astype(numpy.float32)
    one = array[:, :1]
    none = numpy.zeros((2, 0, 4, 5), numpy.float32)
    numbers = {"zero": numpy.array([0]), "far": numpy.array([99]), "axis": numpy.array([2]),
               "parts": numpy.array([0, 3]), "nowhere": numpy.zeros(0, numpy.int64)}
    node = helper.make_node

    def case(name, nodes, given, expected, **weights):
        weights = {**{k: v for k, v in numbers.items() if any(k in n.input for n in nodes)}, **weights}
        graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, given.shape)],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                                  [numpy_helper.from_array(v, k) for k, v in weights.items()])
        return name, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), given, expected

    made = [
        case("empty_concat_first", [node("Concat", ["e", "x"], ["y"], axis=1)], array, array, e=none),
        case("empty_concat_many", [node("Concat", ["x", "e", "x", "e"], ["y"], axis=1)], array,
             numpy.concatenate((array, array), 1), e=none),
        case("empty_slice_of_roll", [node("Slice", ["x", "zero", "far", "axis"], ["a"]),
                                     node("Slice", ["x", "zero", "zero", "axis"], ["b"]),
                                     node("Concat", ["a", "b"], ["y"], axis=2)], array, array),
        case("empty_split", [node("Split", ["x", "parts"], ["a", "b"], axis=1),
                             node("Concat", ["b", "a"], ["y"], axis=1)], array, array),
        case("empty_gather", [node("Gather", ["x", "nowhere"], ["a"], axis=1),
                              node("Concat", ["a", "x"], ["y"], axis=1)], array, array),
        *(case(f"empty_{op.lower()}", [node(op, ["x", "e"], ["a"]), node("Relu", ["a"], ["b"]),
                                       node("Concat", ["b", "x"], ["y"], axis=1)], one, one, e=none)
          for op in ("Add", "Mul", "Sub", "Div", "Max")),
    ]
    yield from (one for one in made if re.search(pattern, one[0]))


def cases(pattern):
    """Yields (name, network, its input, expected output). The input is None if a case has values that are no numpy
    tensors."""
    import onnx.backend.test.case.node as node
    seen = set()
    numpy.random.seed(5)
    for case in node.collect_testcases(None):
        graph = case.model.graph
        operators = {n.op_type for n in graph.node}
        if case.name in seen | OTHERWISE or not operators <= OPERATORS or not re.search(pattern, case.name):
            continue
        seen.add(case.name)
        inputs, outputs = case.data_sets[0]
        for which in range(min(2, len(inputs)) if operators <= EITHER else 1):
            for result in range(len(outputs)):
                name = f"{case.name}.{which}{result}"
                plain = all(isinstance(x, (numpy.ndarray, numpy.generic)) for x in (*inputs, outputs[result]))
                if not plain or "BFLOAT16" in case.name:  # numpy has no bfloat16
                    yield name, None, None, None
                    continue
                network = onnx.ModelProto.FromString(case.model.SerializeToString())
                network.graph.initializer.extend(numpy_helper.from_array(numpy.asarray(x), graph.input[i].name)
                                                 for i, x in enumerate(inputs) if i != which)
                del network.graph.input[:]
                del network.graph.output[:]
                network.graph.input.extend([graph.input[i] for i in range(len(inputs)) if i == which])
                network.graph.output.extend([graph.output[result]])
                yield name, network, inputs[which] if inputs else None, numpy.asarray(outputs[result])


def run(folder, network, array, expected):
    """Runs a case; returns `right`, `wrong` or `refused`, and a message."""
    files = [os.path.join(folder, name) for name in ("case.onnx", "in.npy", "out.npy")]
    onnx.save(network, files[0])
    numpy.save(files[1], numpy.asarray(array).astype(numpy.float32) if array.dtype.kind in "fiub" else array)
    done = subprocess.run([PROGRAM, "run", files[0], "-i", files[1], "-o", files[2], "-q"],
                          capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        return "refused", f"({done.returncode}) " + done.stderr.strip().replace(folder + "/", "").replace("cnnvp: ", "")
    output = numpy.load(files[2]).astype(numpy.float64)
    if output.size != expected.size:
        return "wrong", f"shape {output.shape}, expected {expected.shape}"
    worst = numpy.abs(output.reshape(-1) - expected.reshape(-1).astype(numpy.float64)).max(initial=0.0)
    largest = numpy.abs(expected.astype(numpy.float64)).max(initial=0.0)
    return "right" if worst <= LIMIT * largest else "wrong", f"worst difference {worst:g}, largest value {largest:g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default="")
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        pattern = parser.parse_args().pattern
        for name, network, array, expected in itertools.chain(cases(pattern), empty_cases(pattern)):
            kind, text = ("no tensor", "") if array is None else run(folder, network, array, expected)
            counts[kind] += 1
            if kind != "right":
                print(f"{name}: {kind}: {text[:400]}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
