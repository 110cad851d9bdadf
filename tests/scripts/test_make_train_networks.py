#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""test_make_train_networks.py SCRIPTS FOLDER: runs make_train_networks.py into FOLDER and compares with the committed networks.
Exit status 77 where python3-onnx is missing."""
import os
import subprocess
import sys

try:
    import onnx
except ImportError:
    print("skipped: python3-onnx is missing")
    sys.exit(77)


def main():
    scripts, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    subprocess.run([sys.executable, os.path.join(scripts, "make_train_networks.py"), folder], check=True)
    for name in ("digits", "mnist", "vgg16_cifar"):
        made = onnx.load(os.path.join(folder, name + ".onnx"))
        assert made == onnx.load(os.path.join(scripts, "networks", name + ".onnx")), name
        assert not made.graph.initializer, name
    vgg16 = onnx.load(os.path.join(folder, "vgg16_cifar.onnx")).graph
    counts = {kind: sum(node.op_type == kind for node in vgg16.node) for kind in ("Conv", "MaxPool", "Gemm")}
    assert counts == {"Conv": 13, "MaxPool": 5, "Gemm": 1}, counts


if __name__ == "__main__":
    main()
