#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Cells of the NFU's PE, made by yosys from the SystemVerilog beside this file, and what `pe_array` says that they are.

    cells.py CNNVP             compares the record, cells.txt, with the areas that CNNVP says, and says what the difference consists of
    cells.py CNNVP --record    makes the record anew, with yosys

Areas are of Nangate's 45 nm library (Open Cell Library, typical): cells alone, no timing, no wires. The model's are those of its
parts before it divides them by the share of the area that cells take."""
import json
import os
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.realpath(__file__))
RECORD = os.path.join(FOLDER, "cells.txt")
PLACED = 0.7  # `cnnvp models area`: share of logic's area that cells take
STRIDES = (1, 2, 4)
# The model's own of what it has smaller: a multiplier of 16 bits, a bit of register, the output stage.
MULTIPLIER, REGISTER, OUTPUT_STAGE = 959, 5.98, 712
# um2, function, inputs.
CELLS = {"INV": (0.532, "!A", "A"), "BUF": (0.798, "A", "A"), "NAND2": (0.798, "!(A&B)", "AB"), "NOR2": (0.798, "!(A|B)", "AB"),
         "NAND3": (1.064, "!(A&B&C)", "ABC"), "NOR3": (1.064, "!(A|B|C)", "ABC"), "AND2": (1.064, "(A&B)", "AB"),
         "OR2": (1.064, "(A|B)", "AB"), "XOR2": (1.596, "(A^B)", "AB"), "XNOR2": (1.596, "!(A^B)", "AB"),
         "AOI21": (1.064, "!(A|(B&C))", "ABC"), "OAI21": (1.064, "!(A&(B|C))", "ABC"), "AOI22": (1.33, "!((A&B)|(C&D))", "ABCD"),
         "OAI22": (1.33, "!((A|B)&(C|D))", "ABCD"), "MUX2": (1.862, "((A&!S)|(B&S))", "ABS")}
FLIP_FLOP = 4.522
# Pieces of the PE alone: name, module text.
PIECES = {"multiplier": "module top(input signed [15:0] a, k, output signed [31:0] y); assign y = a * k; endmodule",
          "adder": "module top(input [47:0] a, b, output [47:0] y); assign y = a + b; endmodule",
          "bias shifter": "module top(input signed [15:0] k, input [5:0] s, output [47:0] y); assign y = 48'(k) <<< s; endmodule"}


def library():
    text = "library(cells) { time_unit : \"1ns\"; capacitive_load_unit(1,pf);\n"
    for name, (area, function, inputs) in CELLS.items():
        pins = "".join(f"pin({pin}) {{ direction : input; capacitance : 0.001; }} " for pin in inputs)
        text += f"cell({name}) {{ area : {area}; {pins}pin(Z) {{ direction : output; function : \"{function}\"; }} }}\n"
    return text + (f"cell(DFF) {{ area : {FLIP_FLOP}; ff(IQ,IQN) {{ clocked_on : \"CK\"; next_state : \"D\"; }} "
                   "pin(D) { direction : input; capacitance : 0.001; } pin(CK) { direction : input; clock : true; capacitance : 0.001; } "
                   "pin(Q) { direction : output; function : \"IQ\"; } } }\n")


def synthesise(folder, top, files, parameters=()):
    cells, report = os.path.join(folder, "cells.lib"), os.path.join(folder, "report")
    with open(cells, "w", encoding="utf-8") as stream:
        stream.write(library())
    sets = "".join(f"chparam -set {name} {value} {top}; " for name, value in parameters)
    subprocess.run(["yosys", "-q", "-p", f"read_verilog -sv {' '.join(files)}; {sets}synth -flatten -top {top}; dfflibmap -liberty {cells}; "
                    f"abc -liberty {cells}; opt_clean; tee -o {report} stat -liberty {cells}"], cwd=FOLDER, check=True,
                   stdout=subprocess.DEVNULL)
    with open(report, encoding="utf-8") as stream:
        return float(next(line.split()[-1] for line in stream if "Chip area" in line))


def record():
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PIECES.items():
            piece = os.path.join(folder, "top.sv")
            with open(piece, "w", encoding="utf-8") as stream:
                stream.write(text + "\n")
            lines.append((name, synthesise(folder, "top", [piece])))
        for stride in STRIDES:
            pe = synthesise(folder, "nfu_pe", ["nfu_pe.sv", "nfu_fifo.sv"], [("FIFO_STRIDE", stride)])
            fifos = sum(synthesise(folder, "nfu_fifo", ["nfu_fifo.sv"], [("DEPTH", depth)]) for depth in (stride, stride * stride))
            lines += [(f"FIFOs {stride}", fifos), (f"PE {stride}", pe)]
        lines.append(("output stage", synthesise(folder, "nfu_output", ["nfu_output.sv"])))
    with open(RECORD, "w", encoding="utf-8") as stream:
        stream.write("".join(f"{name}: {area:.0f}\n" for name, area in lines))


def said(cnnvp, stride):
    """um2 of a PE with its output stage."""
    with tempfile.TemporaryDirectory() as folder:
        stats = os.path.join(folder, "s.json")
        subprocess.run([cnnvp, "run", "lenet5", "-q", "--timing-only", "--stats", stats, "-s", f"pe_array.fifo_stride={stride}"], check=True)
        with open(stats, encoding="utf-8") as stream:
            said_all = json.load(stream)
    pe_array = said_all["platform"]["units"]["pe_array"]
    return said_all["area"]["by_unit"]["pe_array"] * PLACED / (pe_array["rows"] * pe_array["cols"])


def main():
    if sys.argv[2:] == ["--record"]:
        record()
    with open(RECORD, encoding="utf-8") as stream:
        made = {name: float(area) for name, area in (line.split(": ") for line in stream)}
    wrong = 0
    for stride in STRIDES:
        whole = made[f"PE {stride}"] + made["output stage"]
        ours = said(sys.argv[1], stride)
        # What the model has no parts for, or smaller ones: yosys's multiplier is no good one, the truth lies between.
        bits = 16 * (stride + stride * stride)
        missing = {"multiplier": made["multiplier"] - MULTIPLIER, "bias shifter": made["bias shifter"],
                   "pointers and selection of FIFOs": made[f"FIFOs {stride}"] - REGISTER * bits,
                   "second rank of operands": 32 * FLIP_FLOP + 32 * CELLS["MUX2"][0], "output stage": made["output stage"] - OUTPUT_STAGE}
        explained = ours + sum(missing.values())
        print(f"FIFOs for stride {stride}: {whole:.0f} um2 of cells, {ours:.0f} of parts ({100 * (ours / whole - 1):+.0f} %), of which "
              + ", ".join(f"{name} {area:.0f}" for name, area in missing.items())
              + f": {100 * (explained / whole - 1):+.0f} % left")
        wrong += not 0.9 < explained / whole < 1 or not 0.6 < ours / whole < 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
