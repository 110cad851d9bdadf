#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""networks.py CNNVP REPEATS NETWORK [OPTION...] [-- NETWORK [OPTION...]]...: processor time of whole runs with one
image, of each further image of five, and the memory; never a pass or a fail by time. The least time of each counts, for
a machine that is shared."""
import os
import sys

from measure import Cost

IMAGES = 5


def measure(program, words, repeats):
    costs = {images: [Cost([program, "run", *words, "-q", "--images", str(images)]) for _ in range(repeats)]
             for images in (1, IMAGES)}
    one, all_of_them = (min(cost.own for cost in costs[images]) for images in (1, IMAGES))
    name = " ".join([os.path.basename(words[0]), *words[1:]])
    print(f"{name:44} {1000 * one:9.1f} {1000 * (all_of_them - one) / (IMAGES - 1):9.1f} "
          f"{max(cost.mebibytes for cost in costs[IMAGES]):6.1f}")


program, repeats = os.path.realpath(sys.argv[1]), int(sys.argv[2])
print(f"{'run':44} {'ms':>9} {'further':>9} {'MiB':>6}")
words = []
for word in sys.argv[3:] + ["--"]:
    if word != "--":
        words.append(word)
    elif words:
        measure(program, words, repeats)
        words = []
