#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_spread.py CNNVP NETWORK: a depthwise convolution, ReLU and a 1x1 convolution, whose channels' weights differ by 10^4,
as those of trained networks do. At least 70 dB beside float on both presets (18 with one format a layer for the weights as
they are); --dump shows channels of the map between them as the file has them."""
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy

LEAST_DB = 70
CNNVP, NETWORK = sys.argv[1:]

for preset in ("nfu", "window"):
    with tempfile.TemporaryDirectory() as folder:
        command = [CNNVP, "run", NETWORK, "-p", preset, "--dump", folder]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        quality = float(re.search(r"SQNR ([0-9.]+) dB", text).group(1))
        print(f"{preset}: {quality} dB")
        assert quality >= LEAST_DB, text
        words, = glob.glob(os.path.join(folder, "001_*[!t].npy"))
        found, wanted = numpy.load(words), numpy.load(words[:-3] + "float.npy")
        noise = numpy.sum((found - wanted) ** 2)
        largest = abs(wanted).max(axis=(0, 2, 3))
        assert noise * 1e6 < numpy.sum(wanted ** 2), "the map between them"
        assert largest.max() > 1000 * largest.min() > 0, largest
