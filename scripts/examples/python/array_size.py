#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""array_size.py [PICTURE.png]: runs LeNet-5 on PE arrays of four sizes, and prints and plots time and energy per
image."""
import sys

import matplotlib.pyplot as plt

import cnnvp

sizes = [4, 8, 16, 32]
times, energies = [], []
for size in sizes:
    result = cnnvp.run("lenet5", platform="nfu", set={"pe_array.rows": size, "pe_array.cols": size}, timing_only=True)
    times.append(result.stats["total"]["time_ps"] / 1e6)
    energies.append(result.stats["energy"]["total_pj"] / 1e6)
    slowest = max(result.layers, key=lambda layer: layer["cycles"])
    print(f"{size:2} x {size:2}  {times[-1]:6.2f} us  {energies[-1]:6.2f} uJ  most cycles: {slowest['name']}")

figure, axis = plt.subplots()
axis.plot(times, energies, "o-")
for size, time, energy in zip(sizes, times, energies):
    axis.annotate(f" {size} x {size}", (time, energy))
axis.set_xlabel("time of an image, us")
axis.set_ylabel("energy of an image, uJ")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "array_size.png")
