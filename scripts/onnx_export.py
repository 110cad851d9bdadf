# SPDX-License-Identifier: Apache-2.0
"""Shared by the scripts that make networks: export by torch with readable names, and writing of files."""
import io
import os

import numpy
import onnx
import torch

OPSET = 13
MAX_IR_VERSION = 8


def deterministic(seed):
    """Makes torch give the same numbers each time. Another version may differ, so the committed files are the
    reference."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


def export(model, example, names, producer, batch_axis=None):
    """Exports a model as ONNX. `names` has one name per node in order; a node's output gets the node's name, except
    that the last output is `output`. `batch_axis`: name of the symbolic first dimension; None: fixed."""
    data = io.BytesIO()
    model.eval()
    # With EVAL the exporter would fold batch normalisations into convolutions.
    torch.onnx.export(model, example, data, opset_version=OPSET, input_names=["input"], output_names=["output"],
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                      dynamic_axes={"input": {0: batch_axis}, "output": {0: batch_axis}} if batch_axis else None)
    network = onnx.load_from_string(data.getvalue())
    graph = network.graph
    if len(graph.node) != len(names):
        raise RuntimeError("nodes: " + ", ".join(node.op_type for node in graph.node))
    renamed = {}
    for node, name in zip(graph.node, names):
        node.name = name
        for i, tensor in enumerate(node.input):
            node.input[i] = renamed.get(tensor, tensor)
        if node.output[0] != "output":
            renamed[node.output[0]] = name
            node.output[0] = name
    del graph.value_info[:]
    network.producer_name = producer
    network.producer_version = ""
    onnx.checker.check_model(network, full_check=True)
    if network.ir_version > MAX_IR_VERSION:
        raise RuntimeError(f"IR version {network.ir_version}")
    return network


def save_network(path, network):
    with open(path + ".tmp", "wb") as file:
        file.write(network.SerializeToString())
    os.replace(path + ".tmp", path)


def save_array(path, array):
    with open(path + ".tmp", "wb") as file:
        numpy.save(file, numpy.ascontiguousarray(array), allow_pickle=False)
    os.replace(path + ".tmp", path)
