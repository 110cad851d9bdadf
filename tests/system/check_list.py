#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions that stay in memory: check_list.py CNNVP NETWORKS DUAL.yaml.

What they calculate is what the layer functions do when they run for every image: the same outputs, work and transfers, whatever
the schedule, batches, places of maps, roundings and number of accelerators. They are those of the first images, with addresses and
seeds that follow the image. From the fourth batch on the core has next to nothing to do. Without it the layer functions run for every
image, and have a bound too.
"""
import json
import os
import subprocess
import sys
import tempfile

CNNVP, NETWORKS, DUAL = sys.argv[1:4]
LENET = os.path.join(NETWORKS, "lenet5.onnx")


def fail(text):
    sys.exit("check_list.py: " + text)


def run(*words):
    """(output, statistics)"""
    with tempfile.TemporaryDirectory() as folder:
        output, stats = os.path.join(folder, "o.npy"), os.path.join(folder, "s.json")
        timing_only = "--timing-only" in words
        done = subprocess.run([CNNVP, "run", *words, "-q", "--stats", stats, *([] if timing_only else ["-o", output])],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0 or (done.stderr != "" and "depth-first" not in words):
            fail(f"{words}: {done.returncode} {done.stderr}")
        with open(os.devnull if timing_only else output, "rb") as file:
            return file.read(), json.load(open(stats, encoding="utf-8"))


def words_read(stats):
    return sum(unit.get("fetched_words", 0) for unit in stats["units"].values())


def moved(stats):
    """Bytes of the links of DMAs. The list itself goes to the instruction element."""
    return {(link["from"], link["to"]): (link["read_bytes"], link["write_bytes"]) for link in stats["links"]
            if link["from"].startswith("dma")}


def compare(words, images):
    by_guest, by_list = run(LENET, "-n", images, *words), run(LENET, "-n", images, "--issue", "list", *words)
    if by_guest[0] != by_list[0]:
        fail(f"{words}, {images} images: other outputs")
    for name in ("macs", "images"):
        if by_guest[1]["total"][name] != by_list[1]["total"][name]:
            fail(f"{words}, {images} images: other {name}")
    if "fused" not in words and moved(by_guest[1]) != moved(by_list[1]):  # a group's weights come for each batch
        fail(f"{words}, {images} images: other transfers, {moved(by_list[1])}")
    return by_guest[1], by_list[1]


for options in ([], ["--on-chip"], ["--schedule", "fused"], ["--rounding", "stochastic"], ["-p", "window"],
                ["-s", "instruction.queue_depth=64"], ["--batch", "2"], ["--batch", "2", "--rounding", "stochastic"],
                ["-p", DUAL], ["-p", DUAL, "--batch", "2", "--schedule", "layer"]):
    both = compare(options, "17")
    if words_read(both[0]) != 0 or words_read(both[1]) == 0:
        fail(f"{options}: {words_read(both[1])} words are read")
# Three batches, and one that is not whole: nothing would be read again.
for options, images in ([], "3"), (["--batch", "8"], "31"):
    both = compare(options, images)
    if words_read(both[1]) != 0:
        fail(f"{options}, {images} images: words are read")

# The functions run twice. Each further image: some 20 words change.
few, many = (run(LENET, "-n", images, "--issue", "list")[1]["total"] for images in ("20", "40"))
core = (many["guest_instructions"] - few["guest_instructions"]) / (many["accel_instructions"] - few["accel_instructions"])
if not 0 < core <= 2:
    fail(f"{core} instructions of the core for one of the accelerator")

# Each image by the layer functions: what a further one takes of the core for one of the accelerator. Loads take the most, and
# the plan decides how many there are.
BLOCKS = ["--schedule", "depth-first", "--block", "2"]
for network, preset, most, words in (("lenet5", "nfu", 25, []), ("lenet5", "window", 25, []), ("lenet5", "systolic", 25, []),
                                     ("vgg16_cifar", "nfu", 33, []), ("mixed", "nfu", 65, BLOCKS)):
    two, three = (run(os.path.join(NETWORKS, network + ".onnx"), "-p", preset, "-n", images, "--timing-only", *words)[1]["total"]
                  for images in "23")
    core = (three["guest_instructions"] - two["guest_instructions"]) / (three["accel_instructions"] - two["accel_instructions"])
    if not 0 < core <= most:
        fail(f"{network} on {preset}: {core} instructions of the core for one of the accelerator")

# A core of 1 GHz is not what LeNet-5 waits for on 256 PEs: within 10 % of one that takes no time.
ARRAY = ["-s", "pe_array.rows=16", "-s", "pe_array.cols=16"]
listed = run(LENET, "-n", "16", "--issue", "list", *ARRAY)[1]["total"]["time_ps"]
free = run(LENET, "-n", "16", "-s", "cpu.timing=off", *ARRAY)[1]["total"]["time_ps"]
if listed > 1.1 * free:
    fail(f"{listed} ps, and {free} with a core that takes no time")

# What is refused, and memory that is too small for the list.
for options, status, text in ((["--schedule", "depth-first"], 2, "--issue list"),
                              (["--schedule", "layer", "-s", "dram.size=1202176"], 1, "use a larger dram.size")):
    done = subprocess.run([CNNVP, "run", LENET, "-n", "4", "--issue", "list", *options], capture_output=True, text=True, check=False)
    if done.returncode != status or text not in done.stdout + done.stderr:
        fail(f"{options}: {done.returncode} {done.stderr}")
