#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_fst.py A.vcd B.vcd: two waveforms have the same signals and, at each time, the same changes."""
import sys


def changes(name):
    scope, names, now, found = [], {}, 0, []
    for line in open(name):
        words = line.split()
        if not words:
            continue
        if words[0] == "$scope":
            scope.append(words[2])
        elif words[0] == "$upscope":
            scope.pop()
        elif words[0] == "$var":
            names[words[3]] = ".".join(scope + [words[4]])
        elif line[0] == "#":
            now = int(line[1:])
        elif line[0] == "b":
            found.append((now, names[words[1]], int(words[0][1:], 2)))
        elif line[0] in "01":
            found.append((now, names[words[0][1:]], int(line[0])))
    return sorted(names.values()), sorted(found), now


ours, theirs = changes(sys.argv[1]), changes(sys.argv[2])
assert len(ours[1]) > 100
assert ours == theirs
