#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_links.py STATS.json TRACE.vcd: each link's bandwidth adds up to its bytes and stays below the memory's peak."""
import json
import sys

stats = json.load(open(sys.argv[1]))
names, values, totals, peaks, now = {}, {}, {}, {}, 0
for line in open(sys.argv[2]):
    words = line.split()
    if words[0] == "$var" and "_to_" in words[4]:
        names[words[3]] = words[4]
    elif line[0] == "#":
        now = int(line[1:])
    elif line[0] == "b" and words[1] in names:
        name, value = names[words[1]], int(words[0][1:], 2)
        since, before = values.get(name, (0, 0))
        totals[name] = totals.get(name, 0) + before * (now - since)
        values[name] = now, value
        peaks[name] = max(peaks.get(name, 0), value)
moved, peak = 0, stats["units"]["dram"]["bus_bytes_per_s"] + 10**6  # windows of 1 us count whole bytes
for link in stats["links"]:
    name = link["from"] + "_to_" + link["to"]
    moved += link["read_bytes"] + link["write_bytes"]
    assert totals.get(name, 0) == (link["read_bytes"] + link["write_bytes"]) * 10**12, name
    if link["to"] == "dram":
        assert peaks.get(name, 0) <= peak, name
assert moved > 0
assert 0 < stats["memory"]["peak_bytes_per_s"] <= peak
