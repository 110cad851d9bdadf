#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds a profile of own_guest against the run's statistics and the table on the terminal.

usage: check_profile.py FILE.callgrind STATS.json SHOWN
"""
import json
import re
import sys
from collections import defaultdict

EVENTS = ["cycles", "instructions", "stall_cycles", "wfi_cycles"]


class Profile:
    """A reader of the format, written after its specification."""

    def __init__(self, path):
        self.names = {"f": {}, "fn": {}}
        self.own = defaultdict(lambda: [0] * 4)  # by function
        self.lines = defaultdict(lambda: [0] * 4)  # by file and line
        self.arcs = {}  # by call site and function: calls, costs
        self.sites = {}
        self.summary = None
        function = file = called = calls = None
        for text in open(path):
            text = text.rstrip("\n")
            if match := re.match(r"(fl|fi|fe|cfi|cfl|fn|cfn)=\((\d+)\)(?: (.*))?$", text):
                key, number, name = match.groups()
                table = self.names["fn" if key.endswith("fn") else "f"]
                name = table.setdefault(number, name)
                if key == "fn":
                    function = name
                elif key == "cfn":
                    called = name
                elif key in ("fl", "fi", "fe"):
                    file = name
            elif text.startswith("calls="):
                calls = int(text[6:].split()[0])
            elif match := re.match(r"(0x[0-9a-f]+) (\d+) (.*)$", text):
                address, line, costs = int(match[1], 16), int(match[2]), [int(word) for word in match[3].split()]
                assert len(costs) == 4, text
                if calls is not None:
                    assert (address, called) not in self.arcs, text
                    self.arcs[address, called] = function, calls, costs
                    calls = None
                    continue
                assert address not in self.sites, text
                self.sites[address] = function
                for sums in (self.own[function], self.lines[file, line]):
                    for i, cost in enumerate(costs):
                        sums[i] += cost
            elif text.startswith("summary:"):
                self.summary = [int(word) for word in text.split()[1:]]


def sums(rows):
    return [sum(column) for column in zip(*rows)]


def main():
    profile = Profile(sys.argv[1])
    core = json.load(open(sys.argv[2]))["units"]["cpu"]
    shown = open(sys.argv[3]).read()
    whole = [core[event] for event in EVENTS]
    assert profile.summary == whole, (profile.summary, whole)
    assert sums(profile.own.values()) == whole and sums(profile.lines.values()) == whole

    calls, inside = defaultdict(int), {name: list(costs) for name, costs in profile.own.items()}
    for (_, called), (caller, count, costs) in profile.arcs.items():
        calls[caller, called] += count
        inside[caller] = sums([inside[caller], costs])
    assert calls["_cstart", "main"] == 1 and calls["main", "push_layers"] == 1, calls
    assert calls["push_layers", "cnnvp_element_tile"] == 9
    assert len([1 for (_, called), (caller, _, _) in profile.arcs.items() if (caller, called) == ("push_layers",
               "cnnvp_element_tile")]) == 9, "each call in the source is its own"
    assert {"vfprintf", "_exit"} <= set(profile.own), sorted(profile.own)
    for (_, called), (caller, _, costs) in profile.arcs.items():
        if sum(1 for _, other in profile.arcs if other == called) == 1 and called != caller:
            # What a function jumps to, as picolibc's do, is not its own.
            assert costs == inside[called] or called not in ("main", "push_layers"), (called, costs, inside[called])
            assert all(a >= b for a, b in zip(costs, inside[called])), (called, costs, inside[called])

    source = open("mine/main.c").read().split("\n")
    hot = 1 + next(i for i, line in enumerate(source) if "sum += image" in line)
    own = [costs for (file, line), costs in profile.lines.items() if line == hot and file.endswith("main.c")]
    assert len(own) == 1 and own[0][0] > 10000, (hot, own)  # 4608 products

    rows = [line for line in shown.split("\n") if re.match(r"\S.* +[\d,]+ +[\d.]+% +[\d,]+ +[\d,]+ +[\d,]+ +[\d,]+$", line)]
    table = {row.split("  ")[0].strip(): [int(word.replace(",", "")) for word in re.findall(r"[\d,]+(?![\d.%,])", row[24:])]
             for row in rows}
    assert 3 <= len(rows) <= 14 and max(map(len, rows)) <= 100, rows
    assert table["all"][0] == whole[0] and table["all"][-4:-1] == whole[1:], (table["all"], whole)
    assert table["main"][0] == profile.own["main"][0], (table["main"], profile.own["main"])
    assert sum(cells[0] for name, cells in table.items() if name != "all") == whole[0], table
    assert sum(cells[-1] for name, cells in table.items() if name != "all") == table["all"][-1], table


main()
