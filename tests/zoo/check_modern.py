#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_modern.py CNNVP FOLDER: small versions of current networks with random weights, exported by PyTorch 2.11 with
its defaults or by transformers (Swin, Segformer). The outputs for an image must reach 30 dB against PyTorch's, and
both presets must give the same words."""
import glob
import os
import subprocess
import sys
import tempfile

import numpy

LEAST_DB = 30
CNNVP, FOLDER = sys.argv[1:]


def ratio(wanted, found):
    wanted, found = wanted.astype(float).ravel(), found.astype(float).ravel()
    return 10 * numpy.log10(numpy.sum(wanted ** 2) / max(1e-30, numpy.sum((wanted - found) ** 2)))


def run(network, image, folder, preset):
    output = os.path.join(folder, f"{preset}.npy")
    subprocess.run([CNNVP, "run", network, "-p", preset, "-q", "-i", image, "-o", output], check=True)
    return numpy.load(output)


networks = sorted(glob.glob(os.path.join(FOLDER, "*.onnx")))
for path in networks:
    with tempfile.TemporaryDirectory() as work, numpy.load(path[:-4] + "npz") as answer:
        picture = os.path.join(work, "x.npy")
        numpy.save(picture, answer["x"])
        nfu, window = (run(path, picture, work, preset) for preset in ("nfu", "window"))
        quality = ratio(answer["y"], nfu)
        print(f"{os.path.basename(path)}: {quality:.1f} dB")
        assert quality >= LEAST_DB and numpy.array_equal(nfu, window), path
assert len(networks) >= 6, "networks are missing"
