#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Sweeps each buffer, and all together, on each preset and in both orders of issue, timing only, and names what invariant 6
of the contract forbids: pairs of platforms of which the one whose buffers are all at least as large takes longer. For the
worst pair of each sweep it says which layers differ. Exit status 1 if there is a pair. Minutes for a network of VGG16's
size."""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

KIB = [4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024, 3000]
# Of the training engine's buffers, whose sizes are S001's: parts of the presets', in eighths.
EIGHTHS = [1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 64, 128]
INFERENCE = ("input_buffer", "weight_buffer", "output_buffer")
TRAINING = ("input_buffer", "weight_buffer", "intermediate_buffer")
DEFAULTS = {"nfu": (64 << 10, 128 << 10, 64 << 10), "window": (64 << 10, 128 << 10, 256 << 10),
            "trainer": (8448, 98304, 1 << 20)}
ORDERS = ("overlap", "strict")


def sizes_of(preset):
    """Sizes in bytes: each buffer alone with the others at their defaults, then all together by powers of two."""
    default = DEFAULTS[preset]
    points = {tuple(max(1, size * 2 ** power // 8) for size in default) for power in range(7)}
    for i in range(3):
        alone = [eighths * default[i] // 8 for eighths in EIGHTHS] if preset == "trainer" else [kib << 10 for kib in KIB]
        points |= {default[:i] + (size,) + default[i + 1:] for size in alone}
    return sorted(points)


def run(options, network, preset, order, sizes):
    """Statistics of one platform, None where the network does not fit."""
    handle, stats = tempfile.mkstemp(suffix=".json")
    os.close(handle)
    try:
        command = [options.cnnvp, "train" if options.train else "run", network, "-p", preset, "--timing-only", "-q", "--stats",
                   stats, "-s", "instruction.order=" + order]
        if options.train:
            command += ["--dataset", options.train, "--batch", str(options.images), "--steps", "1"]
        else:
            command += ["--images", str(options.images)] + ["--tune"] * options.tune
        for buffer, size in zip(TRAINING if preset == "trainer" else INFERENCE, sizes):
            command += ["-s", "%s.size=%d" % (buffer, size)]
        if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode:
            return None
        with open(stats, encoding="utf-8") as file:
            return json.load(file)
    finally:
        os.unlink(stats)


def slower_pairs(results):
    """(part by which it is slower, smaller, larger) of all pairs, the worst first."""
    pairs = []
    for small, a in results.items():
        for large, b in results.items():
            if small != large and all(x <= y for x, y in zip(small, large)):
                before, now = a["total"]["accel_cycles"], b["total"]["accel_cycles"]
                if now > before:
                    pairs.append((now / before - 1, small, large))
    return sorted(pairs, reverse=True)


def report(title, results):
    """Prints a sweep; the number of its slower pairs."""
    pairs = slower_pairs(results)
    print("%s: %d platforms, %d pairs slower" % (title, len(results), len(pairs)), end="")
    if not pairs:
        print()
        return 0
    part, small, large = pairs[0]
    print(", the worst by %.3f %%: %s to %s bytes" % (100 * part, small, large))
    for a, b in zip(results[small]["layers"], results[large]["layers"]):
        if a["cycles"] != b["cycles"]:
            print("    %-28s %10d -> %10d cycles, read %10d -> %10d bytes" %
                  (a["name"], a["cycles"], b["cycles"], a["dram_read_bytes"], b["dram_read_bytes"]))
    return len(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=1, help="of a run, or of a training step's batch (default: 1)")
    parser.add_argument("--preset", action="append", choices=sorted(DEFAULTS), help="only this one; may be given again")
    parser.add_argument("--train", metavar="DATASET", help="training steps on the training engine, with these images")
    parser.add_argument("--tune", action="store_true", help="with plans by trial: then no pair may be slower")
    parser.add_argument("cnnvp")
    parser.add_argument("networks", nargs="+", metavar="NETWORK.onnx")
    options = parser.parse_args()
    slower = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for network in options.networks:
            for preset in ["trainer"] if options.train else options.preset or sorted(DEFAULTS):
                for order in ORDERS:
                    points = sizes_of(preset)
                    stats = pool.map(lambda sizes: run(options, network, preset, order, sizes), points)
                    results = {sizes: found for sizes, found in zip(points, stats) if found}
                    slower += report("%s, %s, %s" % (os.path.basename(network), preset, order), results)
                    sys.stdout.flush()
    sys.exit(1 if slower else 0)


if __name__ == "__main__":
    main()
