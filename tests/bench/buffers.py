#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""buffers.py CNNVP NETWORK.onnx... : sweeps each buffer, and all together, on both inference presets and both orders of
issue, timing only, and names what invariant 6 of the contract forbids: pairs of platforms of which the one whose buffers are
all at least as large takes longer. For the worst pair of each sweep it says which layers differ. Exit status 1 if there is a
pair. Minutes for a network of VGG16's size."""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

KIB = [4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024, 3000]
DEFAULTS = {"nfu": (64, 128, 64), "window": (64, 128, 256)}
ORDERS = ("overlap", "strict")
BUFFERS = ("input_buffer", "weight_buffer", "output_buffer")


def sizes_of(preset):
    """Sizes in KiB: each buffer alone with the others at their defaults, then all together by powers of two."""
    default = DEFAULTS[preset]
    points = {default[:i] + (kib,) + default[i + 1:] for i in range(3) for kib in KIB}
    points |= {tuple(max(1, size * 2 ** power // 8) for size in default) for power in range(7)}
    return sorted(points)


def run(program, network, preset, order, sizes):
    """Statistics of one platform, None where the network does not fit."""
    handle, stats = tempfile.mkstemp(suffix=".json")
    os.close(handle)
    try:
        command = [program, "run", network, "-p", preset, "--timing-only", "-q", "--stats", stats,
                   "-s", "instruction.order=" + order]
        for buffer, kib in zip(BUFFERS, sizes):
            command += ["-s", "%s.size=%dKiB" % (buffer, kib)]
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
    print(", the worst by %.3f %%: %s to %s KiB" % (100 * part, small, large))
    for a, b in zip(results[small]["layers"], results[large]["layers"]):
        if a["cycles"] != b["cycles"]:
            print("    %-28s %10d -> %10d cycles, read %10d -> %10d bytes" %
                  (a["name"], a["cycles"], b["cycles"], a["dram_read_bytes"], b["dram_read_bytes"]))
    return len(pairs)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, networks = sys.argv[1], sys.argv[2:]
    slower = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for network in networks:
            for preset in DEFAULTS:
                for order in ORDERS:
                    points = sizes_of(preset)
                    stats = pool.map(lambda sizes: run(program, network, preset, order, sizes), points)
                    results = {sizes: found for sizes, found in zip(points, stats) if found}
                    slower += report("%s, %s, %s" % (os.path.basename(network), preset, order), results)
                    sys.stdout.flush()
    sys.exit(1 if slower else 0)


if __name__ == "__main__":
    main()
