#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""own_layer_table.py OURS.json MINE.json: the table of scripts/examples/own_layer/README.md."""
import json
import sys

ours, mine = (json.load(open(name)) for name in sys.argv[1:])
number = lambda value: f"{value:,}".replace(",", " ")


def row(name, values, unit):
    """What changes from ours to mine."""
    cells = [f"{number(a)} -> {number(b)}" for a, b in values[:2]]
    a, b = values[2]
    scale, digits = {"kB": (1e3, 0), "MB": (1e6, 2)}[unit]
    cells.append(f"{number(round(a / scale, digits) if digits else round(a / scale))} -> "
                 f"{number(round(b / scale, digits) if digits else round(b / scale))} {unit}")
    print("| " + " | ".join([name, *cells]) + " |")


print("| layer | cycles | waiting for weights | DRAM read |\n|---|---|---|---|")
pairs = list(zip(ours["layers"], mine["layers"]))
weights = lambda layers: sum(layer["stall_cycles"]["weight"] for layer in layers)
for name in ("C5", "C8", "C10"):
    a, b = next(pair for pair in pairs if pair[0]["name"] == name)
    row(name, [(a["cycles"], b["cycles"]), (weights([a]), weights([b])), (a["dram_read_bytes"], b["dram_read_bytes"])], "kB")
row("all", [(ours["total"]["accel_cycles"], mine["total"]["accel_cycles"]), (weights(ours["layers"]), weights(mine["layers"])),
            (ours["memory"]["read_bytes"], mine["memory"]["read_bytes"])], "MB")
