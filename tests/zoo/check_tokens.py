#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_tokens.py CNNVP: products of tokens with a constant matrix and with a computed matrix. The numbers of tokens
include some that map well to rows and columns, and primes. PEs must reach 60 % of the multiplications that the
number of tokens permits, and the words must equal those of a single PE. A softmax of many lines must be one
instruction of the vector unit, not one per line."""
import json
import os
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

CNNVP = sys.argv[1]
PES = 64
LEAST = 0.6


def network(path, tokens, depth):
    random = numpy.random.RandomState(tokens)
    weights = {"w": random.standard_normal((depth, 32)).astype(numpy.float32) / 5, "parts": numpy.array([16, 16])}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Split", ["m", "parts"], ["q", "k"], axis=2),
             helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]), helper.make_node("MatMul", ["q", "kt"], ["y"])]
    graph = helper.make_graph(nodes, "tokens", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", tokens, depth])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(value, key) for key, value in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path)


def run(folder, *options):
    words, stats = (os.path.join(folder, name) for name in ("y.npy", "stats.json"))
    subprocess.run([CNNVP, "run", os.path.join(folder, "net.onnx"), "-q", "-o", words, "--stats", stats, *options], check=True)
    with open(stats, encoding="utf-8") as file:
        return numpy.load(words), json.load(file)


# With 768 numbers per token, only a part of them is on chip at a time.
for count, size in (*((number, 24) for number in (16, 49, 64, 128, 157, 196, 197, 257)), (197, 768)):
    with tempfile.TemporaryDirectory() as work:
        network(os.path.join(work, "net.onnx"), count, size)
        output, done = run(work, "--check-costs", "--check-results")
        single, _ = run(work, "-s", "pe_array.rows=1", "-s", "pe_array.cols=1")
        assert numpy.array_equal(output, single), count
        products = [layer for layer in done["layers"] if layer["op"] in ("conv", "matmul")]
        assert len(products) == 2, count
        for layer in products:
            share = layer["macs"] / layer["compute_cycles"] / PES
            possible = count / (-(-count // PES) * PES)
            print(f"{count} tokens, {layer['op']}: {share:.2f} of {possible:.2f}")
            assert share >= LEAST * possible, count

with tempfile.TemporaryDirectory() as work:
    graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["y"], axis=-1)], "lines",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 40, 16])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), os.path.join(work, "net.onnx"))
    output, done = run(work, "--check-costs", "--check-results")
    assert abs(output.sum(-1) - 1).max() < 0.01 and done["total"]["accel_instructions"] < 40, done["total"]
