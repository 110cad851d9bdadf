#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_spread.py CNNVP NETWORK: a depthwise convolution, ReLU and a 1x1 convolution whose channels' weights differ by
10^4, as in trained networks. Both presets must reach 70 dB against float (18 dB with one weight format for a layer
and no equalisation), and --dump must show the map between them in the file's scale. ReLU6 does not commute with
scaling, so its channels cannot be equalised: --dump must say that a write-out that scales would help, and it must
help."""
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import helper, numpy_helper

LEAST_DB = 70
SCALE = ["-s", "pe_array.write_out=scale"]
CNNVP, NETWORK = sys.argv[1:]



def run(folder, network, *options):
    """Returns the command's output and the SQNR in dB."""
    text = subprocess.run([CNNVP, "run", network, *options, "--dump", folder], check=True, stdout=subprocess.PIPE, text=True).stdout
    return text, float(re.search(r"SQNR ([0-9.]+) dB", text).group(1))


for preset in ("nfu", "window"):
    with tempfile.TemporaryDirectory() as folder:
        text, quality = run(folder, NETWORK, "-p", preset)
        print(f"{preset}: {quality} dB")
        assert quality >= LEAST_DB, text
        words, = glob.glob(os.path.join(folder, "001_*[!t].npy"))
        found, wanted = numpy.load(words), numpy.load(words[:-3] + "float.npy")
        noise = numpy.sum((found - wanted) ** 2)
        largest = abs(wanted).max(axis=(0, 2, 3))
        assert noise * 1e6 < numpy.sum(wanted ** 2), "the map between them"
        assert largest.max() > 1000 * largest.min() > 0, largest

with tempfile.TemporaryDirectory() as folder:
    clipped = os.path.join(folder, "clipped.onnx")
    model = onnx.load(NETWORK)
    for node in model.graph.node:
        if node.op_type == "Relu":
            node.CopyFrom(helper.make_node("Clip", [*node.input, "low", "high"], node.output))
    model.graph.initializer.extend(numpy_helper.from_array(numpy.float32(v), k) for k, v in (("low", 0), ("high", 6)))
    onnx.save(model, clipped)
    _, scaled = run(folder, clipped, "--check-results", *SCALE)
    with open(os.path.join(folder, "sqnr.txt"), encoding="utf-8") as file:
        assert "would help" not in file.read()
    _, plain = run(folder, clipped, "--check-results")
    with open(os.path.join(folder, "sqnr.txt"), encoding="utf-8") as file:
        lost = re.findall("^(?:loses most:|then) (.*): ([0-9.]+) dB; .* would help: (.*)$", file.read(), re.MULTILINE)
    print(f"ReLU6: {plain} dB, scaled {scaled} dB; {lost}")
    assert scaled >= plain + 20 and [(layer, option) for layer, _, option in lost] == [("r", " ".join(SCALE))], lost

    # A twin of the network beside it: the layer that loses as much must be named, too.
    for node in list(model.graph.node):
        twin = model.graph.node.add()
        twin.CopyFrom(node)
        produced = {name for other in model.graph.node for name in other.output if not name.endswith("_twin")}
        twin.input[:] = [name + "_twin" if name in produced else name for name in node.input]
        twin.output[:] = [name + "_twin" for name in node.output]
    output = model.graph.output.add()
    output.CopyFrom(model.graph.output[0])
    output.name += "_twin"
    onnx.save(model, clipped)
    run(folder, clipped)
    with open(os.path.join(folder, "sqnr.txt"), encoding="utf-8") as file:
        lost = re.findall("^(?:loses most:|then) (.*): ([0-9.]+) dB", file.read(), re.MULTILINE)
    assert [name for name, _ in lost[:2]] == ["y", "y_twin"] and lost[0][1] == lost[1][1], lost
