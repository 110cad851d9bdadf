#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_torchvision.py [NAME...]: makes tests/data/torchvision.tar.xz again (python3-torchvision, python3-onnx). It
contains torchvision's classifiers as torch.onnx exports them for the smallest image size that they accept. Their
weights refer to a missing file, since timing does not need them. Without NAMEs, it makes all networks of
tests/zoo/torchvision.txt; with NAMEs, it replaces these in the archive. It also has deep_900, a chain of 900
convolutions that rotate the channels: the output equals the input.
"""
import io
import lzma
import os
import sys
import tarfile
import tempfile
import warnings

import numpy
import onnx
import torch
import torchvision
from onnx import TensorProto, helper, numpy_helper

TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
ARCHIVE = os.path.join(TESTS, "data", "torchvision.tar.xz")
SIZES = (32, 64, 75, 96, 224)
OPSET = 13
# Smaller tensors keep their values: shapes and constants.
LEAST_BYTES = 64
DEEP = 900


def without_weights(network):
    for tensor in network.graph.initializer:
        size = 4 * int(numpy.prod(tensor.dims))
        if tensor.data_type != TensorProto.FLOAT or size < LEAST_BYTES:
            continue
        tensor.ClearField("raw_data")
        tensor.ClearField("external_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "weights"), ("length", str(size))):
            entry = tensor.external_data.add()
            entry.key, entry.value = key, value
    network.producer_name = network.producer_version = ""
    del network.graph.value_info[:]
    return network.SerializeToString()


def export(name):
    more = {"aux_logits": False, "init_weights": False} if name in ("googlenet", "inception_v3") else {}
    model = getattr(torchvision.models, name)(weights=None, **more).eval()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, name)  # torch writes weights of more than 2 GB in all to files beside it
        for size in SIZES:
            try:
                torch.onnx.export(model, torch.zeros(1, 3, size, size), file, opset_version=OPSET)
            except (AssertionError, RuntimeError):
                if size == SIZES[-1]:
                    raise
                continue
            return without_weights(onnx.load(file, load_external_data=False))
    return None


def deep():
    """The chain of convolutions. 16-bit words hold its values exactly, and the number of rotations restores each
    channel."""
    turn = numpy.roll(numpy.eye(4, dtype=numpy.float32), 1, axis=0).reshape(4, 4, 1, 1)
    tensors = ["x"] + [f"t{i}" for i in range(1, DEEP)] + ["y"]
    nodes = [helper.make_node("Conv", [tensors[i], "w"], [tensors[i + 1]]) for i in range(DEEP)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4, 4, 4]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "deep", ends[:1], ends[1:], [numpy_helper.from_array(turn, "w")])
    network = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    values = io.BytesIO()
    numpy.save(values, ((numpy.arange(64) * 37 % 64 - 32) / 32).astype(numpy.float32).reshape(1, 4, 4, 4))
    return {f"deep_{DEEP}.onnx": network.SerializeToString(), f"deep_{DEEP}.npy": values.getvalue()}


def listed():
    with open(os.path.join(TESTS, "zoo", "torchvision.txt"), encoding="ascii") as file:
        return [line.split()[0] for line in file if line.strip() and not line.startswith("#")]


def archived():
    if not os.path.exists(ARCHIVE):
        return {}
    with tarfile.open(ARCHIVE) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


def pack(files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(name)  # without owner and time
            member.size = len(files[name])
            archive.addfile(member, io.BytesIO(files[name]))
    words = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}
    with open(ARCHIVE, "wb") as file:
        file.write(lzma.compress(data.getvalue(), filters=[words]))


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    for name in dir(torch.nn.init):  # skips the initialisation, since weights are not kept
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, lambda tensor, *args, **more: tensor)
    files = archived() if len(sys.argv) > 1 else {}
    for name in sys.argv[1:] or listed():
        files[name + ".onnx"] = export(name)
    files.update(deep())
    pack(files)


if __name__ == "__main__":
    main()
