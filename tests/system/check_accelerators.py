#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Several accelerators that share a network's images: check_accelerators.py CNNVP NETWORKS DUAL.

They give what one gives, take half the time where calculation binds, and say why not where memory does; statistics add up
by accelerator; what cannot be shared is refused.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

CNNVP, NETWORKS, DUAL = map(os.path.abspath, sys.argv[1:4])
LENET, MIXED = (os.path.join(NETWORKS, name) for name in ("lenet5.onnx", "mixed.onnx"))
UNITS = ["instruction", "dma", "pe_array", "vector", "input_buffer", "weight_buffer", "output_buffer"]


def call(*arguments):
    return subprocess.run([CNNVP, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300)


def run(network, platform, images, *options):
    """(statistics without wall_seconds, bytes of the output)"""
    for name in ("s.json", "o.npy"):
        if os.path.exists(name):
            os.remove(name)
    output = [] if "--timing-only" in options else ["-o", "o.npy"]
    done = call("run", network, "-p", platform, "-n", images, "-q", "--stats", "s.json", *output, *options)
    assert done.returncode == 0, done.stderr
    with open("s.json", encoding="utf-8") as stream:
        stats = json.load(stream)
    del stats["wall_seconds"]
    data = b""
    if output:
        with open("o.npy", "rb") as stream:
            data = stream.read()
    return stats, data


def several(count, base="nfu", change=lambda text: text):
    """A platform file with `count` accelerators, from DUAL's second one."""
    with open(DUAL, encoding="utf-8") as stream:
        text = stream.read()
    units = text.split("units:\n")[1]
    more = []
    for i in range(2, count + 1):
        own = re.sub(r"_2\b", f"_{i}", units).replace("0x10030000", hex(0x10030000 + 0x10000 * i))
        more.append(own.replace("irq: 3", f"irq: {i + 1}"))
    with open("several.yaml", "w", encoding="utf-8") as stream:
        stream.write(change(f"platform: several\nbase: {base}\nunits:\n" + "".join(more)))
    return "several.yaml"


def check_sums(stats, count):
    """What accelerators have is what the layers and the whole have."""
    own, layers, total = stats["accelerators"], stats["layers"], stats["total"]
    assert [a["name"] for a in own] == ["instruction"] + [f"instruction_{i}" for i in range(2, count + 1)], own
    assert sum(a["cycles"] for a in own) == total["accel_cycles"]
    assert sum(a["idle_cycles"] for a in own) == total["idle_cycles"]
    assert sum(a["instructions"] for a in own) == total["accel_instructions"]
    assert sum(layer["cycles"] for layer in layers) + total["idle_cycles"] == total["accel_cycles"]
    assert sum(a["compute_cycles"] for a in own) == sum(layer["compute_cycles"] for layer in layers)
    for cause in layers[0]["stall_cycles"]:
        assert sum(a["stall_cycles"][cause] for a in own) == sum(layer["stall_cycles"][cause] for layer in layers), cause
    for words in ("input_words", "weight_words", "output_words"):
        assert sum(a[words] for a in own) == sum(layer[words] for layer in layers), words
    for kind in ("read", "write", "burst"):
        assert sum(a[f"dram_{kind}_bytes"] for a in own) == stats["memory"][f"{kind}_bytes"], kind
        assert sum(t[f"{kind}_bytes"] for t in stats["tensors"]) == stats["memory"][f"{kind}_bytes"], kind
    for i, a in enumerate(own):
        assert a["cycles"] == a["compute_cycles"] + sum(a["stall_cycles"].values()) + a["idle_cycles"]
        assert sorted(a["units"]) == sorted(name + (f"_{i + 1}" if i else "") for name in UNITS), a["units"]
    energy = stats["energy"]
    parts = sum(layer["energy_pj"] for layer in layers) + energy["no_layer_pj"]
    assert abs(parts - energy["total_pj"]) < 1e-6 * energy["total_pj"] and energy["no_layer_pj"] > 0, energy


def check_results():
    """Results are those of one accelerator, whatever their number, the schedule and the core."""
    for images in (1, 2, 5):
        one = run(LENET, "nfu", images)
        two = run(LENET, DUAL, images)
        assert two[1] == one[1], f"{images} images"
        assert "accelerators" not in one[0]
        check_sums(two[0], 2)
        assert sum(layer["macs"] for layer in two[0]["layers"]) == sum(layer["macs"] for layer in one[0]["layers"])
        free = run(LENET, DUAL, images, "-s", "cpu.timing=off")
        assert free[1] == one[1]
        check_sums(free[0], 2)
        for mine, its in zip(two[0]["accelerators"], free[0]["accelerators"]):
            for member in ("compute_cycles", "instructions", "dram_read_bytes", "dram_write_bytes"):
                assert mine[member] == its[member], member
        values = two[0].pop("values")
        assert run(LENET, DUAL, images, "--timing-only")[0] == two[0]
        two[0]["values"] = values
        assert run(LENET, DUAL, images, "--trace", "t.pftrace") == two
        quantum = run(LENET, DUAL, images, "-s", "cpu.quantum=7")
        for stats in (quantum[0], two[0]):
            del stats["platform"]
        assert quantum == two
    for options in (["--rounding", "stochastic"], ["--batch", 2], ["--on-chip"], ["--schedule", "fused"], ["--tune"],
                    ["--rounding", "stochastic", "--batch", 2]):
        # Numbers that are drawn are those of the same tiles, which two accelerators have by a core that is twice as fast.
        same = ["-s", "cpu.clock_mhz=2000"] if "stochastic" in options else []
        assert run(LENET, DUAL, 5, *options, *same)[1] == run(LENET, "nfu", 5, *options)[1], options
    three = run(MIXED, several(3), 7)
    assert three[1] == run(MIXED, "nfu", 7)[1]
    check_sums(three[0], 3)


def check_time():
    """Half of it where calculation binds. Where memory does, waiting for it grows instead."""
    def ratio(*settings):
        one, two = [run(LENET, platform, 8, "--timing-only", *[word for setting in settings for word in ("-s", setting)])[0]
                    for platform in ("nfu", DUAL)]
        return two["total"]["time_ps"] / one["total"]["time_ps"], one, two

    both, one, two = ratio("dram.preset=hbm2", "accelerators.pe_array.clock_mhz=100")
    assert one["summary"]["bound_by"] == "pe_array" and two["summary"]["bound_by"].startswith("pe_array"), two["summary"]
    assert 0.5 <= both <= 0.55, both
    both, one, two = ratio("dram.preset=ddr3-1600", "dram.width_bits=16")
    assert both > 0.75, both
    assert two["summary"]["bound_by"] == "dram" and two["summary"]["bandwidth_share"] > 0.8, two["summary"]
    assert two["summary"]["bound_shares"]["memory"] > one["summary"]["bound_shares"]["memory"]
    assert all(a["bound_by"] == "memory" for a in two["accelerators"])
    whole = run(LENET, DUAL, 1, "--timing-only")[0]
    alone = whole["accelerators"]
    assert alone[1]["compute_cycles"] == 0 and alone[1]["idle_cycles"] > 0.9 * alone[0]["cycles"], alone
    # Layers take the chip's static power for all of the one accelerator's cycles, of 1 ns each.
    states = sum(sum(unit.get("states_pj", {}).values()) for unit in whole["energy"]["by_unit"].values())
    share = sum(layer["cycles"] for layer in whole["layers"]) * 1000 / whole["total"]["time_ps"]
    standing = sum(layer["static_pj"] for layer in whole["layers"])
    assert abs(standing / ((whole["energy"]["static_pj"] - states) * share) - 1) < 0.01, (standing, states, share)


def refused(change, message, network=LENET, command="run"):
    platform = several(2, change=change)
    options = ["-n", 2, "-q", "-o", "wrong.npy"] if command == "run" else []
    done = call(command, *([network] if command == "run" else []), *(["-p", platform] if command == "run" else [platform]),
                *options)
    assert done.returncode == 2 and re.search(message, done.stderr), done.stderr
    assert not os.path.exists("wrong.npy")


def check_refusals():
    def put(old, new):
        def change(text):
            assert old in text, old
            return text.replace(old, new, 1)
        return change

    shared = r"several\.yaml:14:\d+: dma_2\.connect\.input: leads to input_buffer\.port; networks need input_buffer_2 there"
    for command in ("run", "check"):
        refused(put("{input: input_buffer_2, weight: weight_buffer_2, output: output_buffer_2, done",
                    "{input: input_buffer, weight: weight_buffer_2, output: output_buffer_2, done"), shared, command=command)
    refused(put("    rows: 8", "    rows: 16"),
            r"several\.yaml:17:\d+: pe_array_2\.rows is 16, and pe_array\.rows is 8: accelerators that share images are alike")
    refused(put("  vector_2:\n    model: vector", "  vector_2:\n    model: nfu"), r"several\.yaml:\d+:\d+: .*vector_2")
    refused(put("  output_buffer_2: {model: buffer, clock: pe_array_2, size: 64KiB}", ""), r"several\.yaml:\d+:\d+: .*output_buffer_2")
    refused(lambda text: text + "  clint: {connect: {software: null}}\n",
            r"several\.yaml:.*clint: port software is not connected; networks need `connect: {software: cpu\.irq\.0}`")
    refused(lambda text: text + "  pooling: {model: pooling, clock: pe_array, connect: {input: input_buffer, weight: "
            "weight_buffer, output: output_buffer}}\n  instruction: {connect: {pooling: pooling}}\n",
            r"several\.yaml:4:\d+: instruction_2: the platform has no pooling_2, but pooling: accelerators that share")
    refused(put("units:", "units:\n  input_buffer: {size: 32KiB}"), r"several\.yaml:26:\d+: input_buffer_2\.size is 64KiB, and input_buffer\.size is 32KiB")
    second = ("units:\n  instruction_2: {model: instruction, at: 0x10030000, irq: 3, connect: "
              "{array: pe_array, %s, dma: dma, fetch: dram}}\n")
    refused(lambda text: text.split("units:")[0] + second % "vector: vector",
            r"several\.yaml:4:\d+: instruction_2\.connect\.array: leads to pe_array\.\w+; networks need pe_array_2 there")
    refused(lambda text: (text.split("units:")[0] + second % "vector: multi_function").replace("base: nfu", "base: trainer"),
            r"several\.yaml:4:\d+: instruction_2: the software that runs networks does not use it")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_results()
    check_time()
    check_refusals()
