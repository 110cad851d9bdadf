#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""compare_systolic.py BENCH CNNVP [--every N] [--list]: layers on the systolic array in SystemVerilog (BENCH, systolic_bench.cpp)
and on the model (the command CNNVP), in one command each. Clocks and words must be equal; --list prints them all."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import compare

ROWS, COLUMNS = 8, 6  # of the SystemVerilog's PEs
FOLDS = ("single", "double", "pipelined")
SUM_BYTES, SUM_WORDS = 6, 3  # an accumulator's 48 bits
DEEP = 4096

# As in compare.py: kind, input maps, output maps, rows, columns, kernel (2), strides (2), padding on each side, bias.
LAYERS = [
    ("conv", 3, 8, 12, 12, 3, 3, 1, 1, 1, 1),
    ("conv", 1, 6, 20, 20, 5, 5, 1, 1, 0, 1),
    ("conv", 6, 16, 14, 14, 5, 5, 1, 1, 0, 1),
    ("conv", 2, 3, 19, 13, 3, 3, 1, 1, 0, 0),
    ("conv", 8, 6, 9, 7, 1, 1, 1, 1, 0, 1),
    ("conv", 16, 24, 7, 7, 1, 1, 1, 1, 0, 1),
    ("conv", 19, 13, 5, 6, 1, 1, 1, 1, 0, 0),
    ("conv", 4, 4, 9, 35, 1, 1, 1, 1, 0, 1),
    ("conv", 32, 8, 3, 3, 1, 1, 1, 1, 0, 0),
    ("conv", 9, 7, 1, 1, 1, 1, 1, 1, 0, 1),
    ("conv", 2, 2, 11, 9, 7, 7, 1, 1, 3, 1),
    ("conv", 3, 2, 12, 21, 3, 5, 1, 1, 0, 0),
    ("conv", 3, 4, 20, 20, 3, 3, 2, 2, 0, 1),
    ("conv", 3, 8, 23, 23, 7, 7, 2, 2, 3, 1),
    ("conv", 16, 16, 14, 14, 1, 1, 2, 2, 0, 1),
    ("conv", 2, 3, 26, 26, 3, 3, 1, 2, 1, 1),
    ("depthwise", 7, 7, 10, 10, 3, 3, 1, 1, 1, 1),
    ("depthwise", 12, 12, 9, 9, 3, 3, 2, 2, 1, 1),
    ("depthwise", 3, 3, 11, 12, 5, 5, 1, 1, 2, 0),
    ("depthwise", 6, 6, 4, 3, 2, 2, 1, 1, 0, 1),
    ("fc", 120, 84, 1, 1, 1, 1, 1, 1, 0, 1),
    ("fc", 33, 10, 1, 1, 1, 1, 1, 1, 0, 1),
    ("fc", 8, 6, 1, 1, 1, 1, 1, 1, 0, 0),
]
# Each layer with accumulators for all sums, and for so many of a column.
CASES = [(layer, dataflow, folds, depth) for layer in LAYERS for dataflow, depths in (("ws", (DEEP, 5)), ("os", (DEEP,)), ("is", (DEEP, 5)))
         for folds in range(3) for depth in depths]

# Worked out by hand, formula of SCALE-Sim and two stages: layer, dataflow, folds, depth, clocks.
SMALL = ("conv", 8, 6, 4, 4, 1, 1, 1, 1, 0, 0)
WORKED_OUT = [((SMALL, "ws", 0, DEEP), 16 + 16 + 6 - 2 + 2), ((SMALL, "os", 0, DEEP), 2 * (16 + 6 + 8 - 2) + 2),
              ((SMALL, "is", 0, DEEP), 3 * (16 + 6 + 6 - 2) + 2), ((SMALL, "os", 2, DEEP), 2 * 8 + 8 + 12 + 2),
              ((SMALL, "is", 2, DEEP), 8 + 8 + 8 + 6 + 12 + 2)]


def hardware(bench, cases):
    lines = []
    for (kind, inputs, outputs, rows, columns, ky, kx, sy, sx, pad, bias), dataflow, folds, depth in cases:
        lines.append(" ".join(str(x) for x in (kind, inputs, outputs, rows + 2 * pad, columns + 2 * pad, ky, kx, sy, sx, bias,
                                               dataflow, folds, depth)))
    ran = subprocess.run([bench], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    results = [{name: int(value) for name, value in (pair.split("=") for pair in line.split())} for line in ran.stdout.splitlines()]
    for case, counted in zip(cases, results):
        if counted["mismatches"] or not counted["done"]:
            sys.exit(f"{said_of(case)}: wrong in SystemVerilog: {counted}")
        counted["kept"] *= SUM_WORDS
    if len(results) != len(cases) or ran.returncode:
        sys.exit(f"{bench} ended with {ran.returncode} after {len(results)} of {len(cases)} layers: {ran.stdout[-200:]}{ran.stderr}")
    return results


def said_of(case):
    return f"{compare.words_of(case[0])}, {case[1]}, {FOLDS[case[2]]}, accumulators of {case[3]}"


def model(cnnvp, network, case, folder):
    """All of the layer in one command of the array, also where the vector unit would be faster."""
    (kind, inputs, outputs, rows, columns, ky, kx, sy, sx, pad, _), dataflow, folds, depth = case
    stats, plan = os.path.join(folder, "stats.json"), os.path.join(folder, "plan.yaml")
    high, wide = (1, 1) if kind == "fc" else ((rows + 2 * pad - ky) // sy + 1, (columns + 2 * pad - kx) // sx + 1)
    with open(plan, "w", encoding="utf-8") as file:
        unit = "" if kind == "fc" else ", unit: pe_array"
        file.write(f"cuts:\n  {compare.LAYER}: {{group_out: {outputs}, tile_h: {high}, tile_w: {wide}, tile_in: {inputs}, tile_out: {outputs}{unit}}}\n")
    settings = [f"pe_array.{name}" for name in ("precision=fx16", "write_out=clip", f"rows={ROWS}", f"cols={COLUMNS}", f"dataflow={dataflow}", f"folds={FOLDS[folds]}")]
    if dataflow != "os":
        settings.append(f"pe_array.accumulator_size={depth * COLUMNS * SUM_BYTES}")
    command = [cnnvp, "run", network, "-p", "systolic", "--timing-only", "--plan", plan, "--stats", stats, "-s", "vector.lanes=1"]
    ran = subprocess.run(command + [word for setting in settings for word in ("-s", setting)], capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{said_of(case)}: {ran.stderr}")
    with open(stats, encoding="utf-8") as file:
        array = json.load(file)["units"]["pe_array"]
    if array["commands"] != 1:
        sys.exit(f"{said_of(case)}: {array['commands']} commands")
    return {"clocks": array["compute_cycles"] + array["fill_cycles"] + array["accumulator_cycles"], "input": array["input_words"],
            "weights": array["weight_words"] - array["bias_words"], "output": array["output_words"], "kept": array["accumulator_words"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench")
    parser.add_argument("cnnvp")
    parser.add_argument("--every", type=int, default=1, help="one in so many cases")
    parser.add_argument("--list", action="store_true", help="print what was counted")
    arguments = parser.parse_args()
    compare.skip_without(arguments.bench)
    for (case, clocks), counted in zip(WORKED_OUT, hardware(arguments.bench, [case for case, _ in WORKED_OUT])):
        if counted["clocks"] != clocks:
            sys.exit(f"{said_of(case)}: {counted['clocks']} clocks in SystemVerilog, {clocks} worked out")
    cases = CASES[::arguments.every]
    differences = 0
    with tempfile.TemporaryDirectory() as folder:
        networks = {layer: os.path.join(folder, f"layer{i}.onnx") for i, layer in enumerate(LAYERS)}
        for layer, path in networks.items():
            compare.network(path, layer)
        for case, rtl in zip(cases, hardware(arguments.bench, cases)):
            ours = model(arguments.cnnvp, networks[case[0]], case, folder)
            wrong = [f"{name} {rtl[name]} in SystemVerilog, {ours[name]} in the model" for name in ours if rtl[name] != ours[name]]
            differences += bool(wrong)
            if wrong:
                print(f"{said_of(case)}: {'; '.join(wrong)}")
            elif arguments.list:
                print(f"{said_of(case)}: {', '.join(f'{name} {rtl[name]}' for name in ours)}")
    print(f"{len(cases)} layers on arrays: {differences} differences")
    sys.exit(differences != 0)


if __name__ == "__main__":
    main()
