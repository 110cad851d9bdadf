#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One stream at the DMA's defaults uses 90 % of what a part's buses carry: one_stream.py CNNVP.

A fully connected layer of 16 MiB of weights on an array that waits for nothing else.
"""
import json
import os
import subprocess
import sys
import tempfile

from onnx import TensorProto, helper

CNNVP, ROWS, COLUMNS = sys.argv[1], 2048, 4096
FAST = ["pe_array.rows=32", "pe_array.cols=32", "weight_buffer.size=1MiB", "weight_buffer.width_words=1024",
        "input_buffer.width_words=256", "pe_array.fc_mapping=single-neuron"]
PARTS = ["ddr3-1600", "ddr4-2400", "ddr4-3200", "ddr5-4800", "lpddr4-3200", "lpddr5-6400", "hbm2", "hbm3"]


def make(file):
    weights = helper.make_tensor("w", TensorProto.FLOAT, [ROWS, COLUMNS], bytes(4 * ROWS * COLUMNS), raw=True)
    graph = helper.make_graph([helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)], "fc",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, COLUMNS])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, ROWS])], [weights])
    with open(file, "wb") as stream:
        stream.write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)],
                                       ir_version=8).SerializeToString())


def share(folder, settings):
    stats = os.path.join(folder, "s.json")
    call = [CNNVP, "run", os.path.join(folder, "fc.onnx"), "--timing-only", "-q", "--stats", stats]
    subprocess.run(call + [word for setting in FAST + settings for word in ("-s", setting)], check=True)
    with open(stats, encoding="utf-8") as stream:
        return json.load(stream)["summary"]["bandwidth_share"]


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        make(os.path.join(folder, "fc.onnx"))
        for part in PARTS:
            got = share(folder, ["dram.preset=" + part])
            print(f"{part:12} {100 * got:5.1f} % of its peak")
            wrong += got < 0.9
        wrong += share(folder, ["dram.preset=ddr4-2400", "dma.outstanding=1"]) > 0.5
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
