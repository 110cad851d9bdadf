#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The pooling ID cache, explored for what it is: check_id_buffer.py CNNVP NETWORK.

A training step on a fast core and memory. What its size, width, banks and latency cost, forwards (max_pool writes
positions, encode reads them) and backwards (encode writes them, max_pool_back reads them).
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

CNNVP, NETWORK = sys.argv[1], sys.argv[2]
IMAGES = 12
FAST = ["cpu.clock_mhz=100000", "dram.preset=hbm2", "multi_function.lanes=64"]


def train(folder, *settings):
    stats = os.path.join(folder, "s.json")
    call = [CNNVP, "train", NETWORK, "--dataset", f"idx:{folder}/images,{folder}/labels", "--batch", str(IMAGES), "-q",
            "--timing-only", "--stats", stats]
    done = subprocess.run(call + [word for setting in FAST + list(settings) for word in ("-s", "id_buffer." + setting
                          if "." not in setting else setting)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr
    with open(stats, encoding="utf-8") as stream:
        return json.load(stream)


def busy(run, unit):
    return run["units"][unit]["busy_cycles"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        rng = random.Random(1)
        with open(os.path.join(folder, "images"), "wb") as stream:
            stream.write(struct.pack(">4I", 0x803, IMAGES, 8, 8) + bytes(rng.randrange(256) for _ in range(IMAGES * 64)))
        with open(os.path.join(folder, "labels"), "wb") as stream:
            stream.write(struct.pack(">2I", 0x801, IMAGES) + bytes(rng.randrange(10) for _ in range(IMAGES)))
        base = train(folder)
        # Two bits a position, each plane filled to words: 16 maps of 4x4 and 32 of 2x2 an image. Forwards once; backwards
        # in the sweep of batch norm's sums and in that of the errors.
        positions = IMAGES * (16 * 4 + 32 * 2)
        ids = base["units"]["id_buffer"]
        assert ids["written_bytes"] == ids["read_bytes"] == 3 * positions, ids
        assert ids["port_conflict_cycles"] == 0, ids
        narrow, two, one_bank = train(folder, "width_words=1"), train(folder, "width_words=2"), \
            train(folder, "width_words=2", "banks=1", "line_words=1")
        late = train(folder, "latency=300")
        small = train(folder, "size=64")
        for unit in ("max_pool", "max_pool_back"):  # forwards, backwards
            assert busy(narrow, unit) > busy(base, unit), unit
            assert busy(one_bank, unit) > busy(two, unit), unit
        # Each read of a tile begins with the latency: as many tiles as pools have forwards, and backwards.
        tiles = {unit: base["units"][unit]["tiles"] for unit in ("max_pool", "max_pool_back")}
        for name, unit in (("forward", "max_pool"), ("backward", "max_pool_back")):
            cycles = [sum(layer["cycles"] for layer in run["layers"] if layer["phase"] == name) for run in (base, late)]
            assert cycles[1] > cycles[0] + 300, (name, cycles, tiles)
        assert busy(late, "max_pool_back") > busy(base, "max_pool_back") + 300
        # A small one cuts maps into more tiles, whose words are the same.
        for unit in ("max_pool", "max_pool_back"):
            assert small["units"][unit]["tiles"] > tiles[unit], unit
        assert small["units"]["id_buffer"]["written_bytes"] == ids["written_bytes"]
        assert small["total"]["accel_instructions"] > base["total"]["accel_instructions"]
        assert small["memory"]["burst_bytes"] >= base["memory"]["burst_bytes"]


main()
