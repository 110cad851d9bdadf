#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_sums.py CNNVP NETWORKS: partial sums take the 16-bit words that acc_bits needs. One plan cuts the input channels of
LeNet-5's C3 and the inputs of F5: each slice but the last writes the sums of all results, each but the first reads them. The
sums of an average pool are read by the vector unit. Results are the same at every width in which the formats are, to the
widest."""
import json
import os
import subprocess
import sys
import tempfile

CNNVP, NETWORKS = (os.path.abspath(path) for path in sys.argv[1:])
PLAN = """groups: []
cuts:
  "C3": {group_out: 16, tile_h: 10, tile_w: 10, tile_in: 2, tile_out: 8}
  "F5": {group_out: 120, tile_h: 1, tile_w: 1, tile_in: 100, tile_out: 60}
  "F6": {group_out: 84, tile_h: 1, tile_w: 1, tile_in: 120, tile_out: 42}
on_chip: []
"""
KEPT = 2 * 16 * 10 * 10 + 3 * 120  # sums that are kept: 6 / 2 - 1 times C3's, 400 / 100 - 1 times F5's
BITS = (40, 47, 48, 49, 63, 64)


def run(folder, network, *words):
    stats, output = os.path.join(folder, "stats.json"), os.path.join(folder, "output.npy")
    done = subprocess.run([CNNVP, "run", os.path.join(NETWORKS, network), "-q", "--check-results", "--stats", stats, "-o", output,
                           *words], capture_output=True, text=True)
    assert done.returncode == 0, (network, words, done.stderr)
    with open(stats, encoding="utf-8") as stream, open(output, "rb") as results:
        return json.load(stream), results.read()


def main():
    with tempfile.TemporaryDirectory() as folder:
        plan = os.path.join(folder, "plan.yaml")
        with open(plan, "w", encoding="utf-8") as stream:
            stream.write(PLAN)
        for preset in "nfu", "systolic":
            words = ["-p", preset, "-s", "pe_array.precision=fx16", "--plan", plan]
            expected = None
            for bits in BITS:
                stats, output = run(folder, "lenet5.onnx", *words, "-s", f"pe_array.acc_bits={bits}")
                expected = expected or output
                assert output == expected, (preset, bits)
                buffer, slot = stats["units"]["output_buffer"], -(-bits // 16)
                assert buffer["partial_write_words"] == KEPT * slot, (preset, bits, buffer["partial_write_words"])
                assert buffer["partial_read_words"] == KEPT * slot, (preset, bits, buffer["partial_read_words"])
        # An average pool: the array keeps the sums of windows, the vector unit divides them.
        for preset, unit in ("nfu", "pe_array"), ("systolic", "pe_array"), ("window", "pooling"):
            averages = {run(folder, "mixed.onnx", "-p", preset, "-s", f"{unit}.acc_bits={bits}")[1] for bits in BITS}
            assert len(averages) == 1, preset


main()
