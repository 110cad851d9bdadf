#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tracing.py CNNVP REPEATS NETWORK [OPTION...] [-- NETWORK [OPTION...]]...: what traces add to the processor time of whole
runs, as ratios to the same run without; never a pass or a fail by time. The commands take turns; the least time of each
counts, for a machine that is shared."""
import os
import sys
import tempfile

from measure import Cost

FORMATS = ("", "pftrace", "vcd", "fst")


def measure(program, words, repeats, folder):
    files = {kind: f"{folder}/trace.{kind}" for kind in FORMATS if kind}
    least = dict.fromkeys(FORMATS, float("inf"))
    for _ in range(repeats):
        for kind in FORMATS:
            trace = ["--trace", files[kind]] if kind else []
            least[kind] = min(least[kind], Cost([program, "run", *words, "-q", *trace]).own)
    name = " ".join([os.path.basename(words[0]), *words[1:]])
    sizes = {kind: os.path.getsize(file) / 2**20 for kind, file in files.items()}
    print(f"{name:44} {1000 * least['']:9.1f}" +
          "".join(f"{least[kind] / least['']:8.3f} {size:6.2f}" for kind, size in sizes.items()))


program, repeats = os.path.realpath(sys.argv[1]), int(sys.argv[2])
print(f"{'run':44} {'ms':>9}" + "".join(f"{kind:>8} {'MiB':>6}" for kind in FORMATS[1:]))
words = []
with tempfile.TemporaryDirectory() as folder:
    for word in sys.argv[3:] + ["--"]:
        if word != "--":
            words.append(word)
        elif words:
            measure(program, words, repeats, folder)
            words = []
