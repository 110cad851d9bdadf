#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py BENCH CNNVP [--every N] [--list]:
layers on the NFU in SystemVerilog (BENCH, nfu_bench.cpp) and on the model (the command CNNVP), at both depths of the array. Clocks and words must be equal; --list prints them all."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
LAYER = "layer"  # the node's name
PRESET = (16, 8, 64)
# Banks, words of a line, words that cross the port in a clock.
SETTINGS = [PRESET, (8, 8, 64), (4, 8, 64), (2, 8, 64), (1, 8, 64), (16, 8, 48), (16, 8, 32), (16, 8, 16), (16, 8, 8)]

# What S002's array takes, worked out by hand from the rule of tests/rtl/README.md: layer, setting, clocks of taps and waits.
CONV = ("conv", 3, 2, 32, 32, 3, 3, 1, 1, 1, 1)
WORKED_OUT = [(CONV, (16, 8, 64), 864), (CONV, (8, 8, 64), 864), (CONV, (4, 8, 64), 1536), (CONV, (2, 8, 64), 2880),
              (CONV, (1, 8, 64), 5568), (CONV, (16, 8, 32), 960), (CONV, (16, 8, 16), 1152),
              (("conv", 2, 2, 24, 24, 5, 5, 1, 1, 2, 1), (1, 8, 64), 6192),
              (("max", 4, 4, 16, 16, 2, 2, 2, 2, 0, 0), PRESET, 32),
              (("conv", 1, 1, 21, 21, 7, 7, 2, 2, 0, 0), PRESET, 63)]

# Kind, input maps, output maps, rows, columns, kernel (2), strides (2), padding on each side, bias.
LAYERS = [
    CONV,
    ("conv", 1, 6, 20, 20, 5, 5, 1, 1, 0, 1),
    ("conv", 2, 3, 19, 13, 3, 3, 1, 1, 0, 0),
    ("conv", 4, 4, 24, 24, 5, 5, 1, 1, 2, 1),
    ("conv", 4, 4, 9, 35, 1, 1, 1, 1, 0, 1),
    ("conv", 2, 2, 17, 15, 7, 7, 1, 1, 3, 1),
    ("conv", 3, 2, 12, 21, 3, 5, 1, 1, 0, 0),
    ("conv", 3, 2, 21, 12, 2, 4, 1, 1, 0, 1),
    ("conv", 2, 3, 22, 22, 6, 6, 1, 1, 0, 1),
    ("depthwise", 5, 5, 18, 18, 3, 3, 1, 1, 1, 1),
    ("fc", 120, 84, 1, 1, 1, 1, 1, 1, 0, 1),
    ("fc", 33, 10, 1, 1, 1, 1, 1, 1, 0, 1),
    ("max", 3, 3, 17, 17, 2, 2, 1, 1, 0, 0),
    ("max", 4, 4, 16, 16, 2, 2, 2, 2, 0, 0),
    ("max", 6, 6, 28, 28, 2, 2, 2, 2, 0, 0),
    ("max", 2, 2, 27, 21, 3, 3, 3, 3, 0, 0),
    ("max", 3, 3, 25, 25, 3, 3, 2, 2, 0, 0),
    ("average", 4, 4, 16, 16, 2, 2, 2, 2, 0, 0),
    ("average", 2, 2, 24, 18, 3, 3, 3, 3, 0, 0),
    ("average", 3, 3, 14, 14, 3, 3, 1, 1, 0, 0),
    ("conv", 3, 4, 20, 20, 3, 3, 2, 2, 0, 1),
    ("conv", 3, 3, 35, 35, 7, 7, 2, 2, 3, 1),
    ("conv", 16, 16, 28, 28, 1, 1, 2, 2, 0, 1),
    ("conv", 2, 4, 30, 23, 3, 3, 3, 3, 0, 1),
    ("conv", 2, 3, 31, 31, 5, 5, 3, 3, 1, 0),
    ("conv", 2, 3, 26, 26, 3, 3, 1, 2, 1, 1),
    ("conv", 2, 3, 26, 26, 3, 3, 2, 1, 1, 1),
    ("conv", 1, 2, 40, 40, 2, 2, 3, 3, 0, 1),
    ("depthwise", 4, 4, 25, 25, 3, 3, 2, 2, 1, 1),
    ("depthwise", 3, 3, 21, 37, 5, 5, 1, 1, 2, 0),
]
# Sums of an average pool leave the array whole, for the division outside: three words each, of 48 bits.
SUM_WORDS = 3
# Where the plan cuts a layer's input maps, sums of all commands but the last leave the array, and come back.
SAME = ("taps and waits", "bias", "input", "weights", "output")
# From the first command to the last result, in one command. Sums leave in three clocks, during which the array waits; here in
# one.
ALL = "clocks"
FILL = 4  # clocks that a command takes besides


def words_of(layer):
    return f"{layer[0]} {layer[1]}->{layer[2]} {layer[3]}x{layer[4]} kernel {layer[5]}x{layer[6]} stride {layer[7]}x{layer[8]} padding {layer[9]}"


def hardware(bench, cases):
    """What the hardware counts for each (layer, setting)."""
    lines = []
    for (kind, inputs, outputs, rows, columns, ky, kx, sy, sx, pad, bias), setting in cases:
        lines.append(" ".join(str(x) for x in (kind, inputs, outputs, rows + 2 * pad, columns + 2 * pad, ky, kx, sy, sx, bias, *setting)))
    ran = subprocess.run([bench], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    results = []
    for case, line in zip(cases, ran.stdout.splitlines()):
        counted = {name: int(value) for name, value in (pair.split("=") for pair in line.split())}
        if case[0][0] == "average":
            counted["output"] *= SUM_WORDS
        if counted["mismatches"] or counted["faults"] or not counted["done"]:
            sys.exit(f"{words_of(case[0])}, setting {case[1]}: wrong in SystemVerilog: {line}")
        counted["taps and waits"] = counted["taps"] + counted["waits"]
        results.append(counted)
    if len(results) != len(cases) or ran.returncode:
        sys.exit(f"{bench} ended with {ran.returncode} after {len(results)} of {len(cases)} layers: {ran.stdout[-200:]}{ran.stderr}")
    return results


def network(path, layer):
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    kind, inputs, outputs, rows, columns, ky, kx, sy, sx, pad, bias = layer
    random = numpy.random.RandomState(1)

    def tensor(name, shape):
        return numpy_helper.from_array((random.rand(*shape) - 0.5).astype(numpy.float32), name)

    weights = []
    window = {"kernel_shape": [ky, kx], "strides": [sy, sx], "pads": [pad] * 4}
    if kind == "fc":
        shape, out = [1, inputs], [1, outputs]
        weights = [tensor("w", (inputs, outputs)), tensor("b", (outputs,))]
        node = helper.make_node("Gemm", ["input", "w", "b"], ["output"], LAYER)
    else:
        shape = [1, inputs, rows, columns]
        out = [1, outputs, (rows + 2 * pad - ky) // sy + 1, (columns + 2 * pad - kx) // sx + 1]
        if kind in ("max", "average"):
            node = helper.make_node({"max": "MaxPool", "average": "AveragePool"}[kind], ["input"], ["output"], **window)
        else:
            group = inputs if kind == "depthwise" else 1
            weights = [tensor("w", (outputs, inputs // group, ky, kx))] + ([tensor("b", (outputs,))] if bias else [])
            node = helper.make_node("Conv", ["input", "w"] + (["b"] if bias else []), ["output"], LAYER, group=group, **window)
    nodes = [node]
    if bias:  # a ReLU with an upper limit, which the write-out has
        node.output[0] = "unlimited"
        weights += [numpy_helper.from_array(numpy.float32(limit), name) for name, limit in (("low", 0), ("high", 1))]
        nodes.append(helper.make_node("Clip", ["unlimited", "low", "high"], ["output"]))
    graph = helper.make_graph(nodes, "layer", [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("output", TensorProto.FLOAT, out)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, path)


def model(cnnvp, path, setting, detail, more):
    banks, line, width = setting
    stats = path + ".json"
    command = [cnnvp, "run", path, "--timing-only", "--stats", stats, "-s", f"pe_array.detail={detail}"] + more
    if setting != PRESET:
        command += ["-s", f"input_buffer.banks={banks}", "-s", f"input_buffer.width_words={width}"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{' '.join(command)}: {ran.stderr}")
    with open(stats, encoding="utf-8") as file:
        said = json.load(file)
    layers = [layer for layer in said["layers"] if layer["compute_cycles"]]
    stalls = {name: sum(layer["stall_cycles"].get(name, 0) for layer in layers) for name in ("input_port", "bias", "fill", "writeout", "vector")}
    total = {name: sum(layer[name] for layer in layers) for name in ("compute_cycles", "input_words", "weight_words", "output_words")}
    return {"taps and waits": total["compute_cycles"] + stalls["input_port"], "bias": stalls["bias"], "input": total["input_words"],
            "weights": total["weight_words"], "output": total["output_words"], "clocks": total["compute_cycles"] + sum(stalls.values()) - FILL * (said["units"]["pe_array"]["commands"] - 1)}


def skip_without(bench):
    if not os.path.exists(bench):
        print("skipped: Verilator is not installed. On Debian or Ubuntu: apt-get install verilator")
        sys.exit(SKIPPED)
    try:
        import onnx  # noqa: F401
    except ImportError:
        print("skipped: python3-onnx is not installed")
        sys.exit(SKIPPED)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench")
    parser.add_argument("cnnvp")
    parser.add_argument("--every", type=int, default=1, help="one in so many layers and settings")
    parser.add_argument("--list", action="store_true", help="print what was counted")
    parser.add_argument("-s", action="append", default=[], metavar="INSTANCE.PARAM=VALUE", help="for the command")
    arguments = parser.parse_args()
    skip_without(arguments.bench)
    for (layer, setting, clocks), counted in zip(WORKED_OUT, hardware(arguments.bench, [case[:2] for case in WORKED_OUT])):
        if counted["taps and waits"] != clocks:
            sys.exit(f"{words_of(layer)}, setting {setting}: {counted['taps and waits']} clocks in SystemVerilog, {clocks} worked out")
    cases = [(layer, setting) for layer in LAYERS for setting in SETTINGS][::arguments.every]
    counts = hardware(arguments.bench, cases)
    differences = 0
    more = [word for s in arguments.s for word in ("-s", s)]
    with tempfile.TemporaryDirectory() as folder:
        for number, ((layer, setting), rtl) in enumerate(zip(cases, counts)):
            path = os.path.join(folder, f"layer{number}.onnx")
            network(path, layer)
            for detail in ("fast", "cycle"):
                ours = model(arguments.cnnvp, path, setting, detail, more)
                same = SAME + (ALL,) * (layer[0] != "average")
                sums = ours["output"] - rtl["output"]
                if sums > 0 and sums % (SUM_WORDS * rtl["output"]) == 0:  # the plan takes the input maps in several commands
                    same = tuple(name for name in SAME if name != "output")
                wrong = [f"{name} {rtl[name]} in SystemVerilog, {ours[name]} in the model" for name in same if rtl[name] != ours[name]]
                differences += bool(wrong)
                if wrong:
                    print(f"{words_of(layer)}, banks, line, width {setting}, {detail}: {'; '.join(wrong)}")
                elif arguments.list:
                    print(f"{words_of(layer)}, {setting}, {detail}: {', '.join(f'{name} {rtl[name]}' for name in SAME)}; "
                          f"all clocks {rtl['clocks']}, in the model {ours['clocks']}")
    print(f"{len(cases)} layers and settings at two depths: {differences} differences")
    sys.exit(differences != 0)


if __name__ == "__main__":
    main()
