#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One stream at the DMA's defaults uses what a part's buses carry: one_stream.py CNNVP.

Instructions alone: 64 reads of 256 KiB by turns to the halves of a buffer, each requested while the one before it comes. Of HBM's
time refresh takes 9 %, of the others' 2 to 8 %.
"""
import json
import os
import subprocess
import sys
import tempfile

CNNVP, READS, BYTES = os.path.abspath(sys.argv[1]), 64, 256 * 1024
WIDE = ["weight_buffer.size=1MiB", "weight_buffer.width_words=1024"]
PARTS = {"ddr3-1600": 0.9, "ddr4-2400": 0.9, "ddr4-3200": 0.9, "ddr5-4800": 0.9, "lpddr4-3200": 0.9, "lpddr5-6400": 0.9,
         "hbm2": 0.89, "hbm3": 0.885}


def program():
    """Registers of a transfer: address, address in the buffer, bytes of a row, rows, strides of both, planes."""
    lines = ["set r1, 0", f"set r2, {BYTES}", "set r3, 1", "set r6, 1"]
    for i in range(READS + 1):
        if i < READS:
            lines += [f"set r0, {0x81000000 + i * BYTES}", f"request.buffer=1 r0, w{i % 2}"]
        if i > 0:
            lines.append(f"receive.buffer=1 r0, w{(i - 1) % 2}")
    return "\n".join(lines + ["halt"]) + "\n"


def share(*settings):
    words = [word for setting in WIDE + list(settings) for word in ("-s", setting)]
    subprocess.run([CNNVP, "exec", "stream.bin", "-q", "--stats", "s.json", *words], check=True)
    with open("s.json", encoding="utf-8") as stream:
        units = json.load(stream)["units"]
    assert units["dma"]["receives"] == READS and units["dma"]["read_bytes"] == READS * BYTES
    return units["dma"]["read_bytes"] / (units["dma"]["read_busy_cycles"] * 1e-9) / units["dram"]["bus_bytes_per_s"]


def main():
    wrong = 0
    with open("stream.s", "w", encoding="utf-8") as stream:
        stream.write(program())
    subprocess.run([CNNVP, "asm", "stream.s", "-o", "stream.bin"], check=True)
    for part, least in PARTS.items():
        got = share("dram.preset=" + part)
        print(f"{part:12} {100 * got:5.1f} % of its peak")
        wrong += got < least
    wrong += share("dram.preset=ddr4-2400", "dma.outstanding=1") > 0.5
    return 1 if wrong else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
