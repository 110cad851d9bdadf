#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every option of `cnnvp run` with every other one: check_pairs.py CNNVP NETWORK PLAN STEP, of which it takes one pair in STEP.

An option that changes a run, its files or what it prints does so beside any other option too, or both are refused with a
message that names one of them. What stands in HIDES is an exception, with its reason. Nothing crashes.
"""
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

CNNVP, NETWORK, PLAN = sys.argv[1:4]
STEP = int(sys.argv[4])
ELF = os.path.join(os.path.dirname(CNNVP), "../share/cnnvp/cnnvp_guest.elf")

# Of each option, what stands behind it. Those of VALUES change something in a run of timing only.
VALUES = {
    "batch": ["2"], "block": None, "check-costs": [], "csv": ["t.csv"], "images": ["3"],
    "issue": ["list"], "max-time": ["6us"], "memory-trace": ["m.txt"], "objective": ["energy"], "on-chip": [],
    "output": ["o.npy"], "plan": [PLAN], "plan-out": ["p.yaml"], "platform": ["window"], "profile": ["c.out"], "quiet": [],
    "report": ["folder"], "schedule": ["fused"], "seed": ["7"], "set": ["pe_array.rows=4"], "shape": ["1x1x32x32"],
    "stats": ["s.json"], "strict": [], "timing-only": [], "trace": ["t.vcd"], "tune": [], "verbose": [], "dump": ["d"],
    "calibration": ["x.npy"], "check-results": [], "color": ["always"], "guest": [ELF], "input": ["x.npy"],
    "labels": ["l.npy"], "precision": ["int8", "--set", "pe_array.precision=both"], "rounding": ["truncate"], "until": ["F6"],
}
SCHEDULED = {"block": "4"}
# What changes nothing beside another one, and why.
HIDES = {
    **{("max-time", option): "a run that ends early prints and writes no more than its statistics"
       for option in ("color", "labels", "plan-out", "quiet")},
    ("images", "input"): "as many images, whose values timing only does not read",
    ("quiet", "color"): "nothing is printed",
}
# Run by other tests: a debugger that it waits for, hundreds of runs, and another input, whose images and shape are others.
OTHERS = {"gdb", "advise", "from", "help", "version"}


def words_of(option):
    return ["--" + option] + (VALUES[option] if VALUES[option] is not None else [SCHEDULED[option]])


def run(*options):
    """What a run leaves, beside what differs from run to run: (status, message, all of it)."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("x.npy", "l.npy"):
            os.symlink(os.path.abspath(name), os.path.join(folder, name))
        words = [word for option in options for word in words_of(option)]
        if "stats" not in options:
            words += ["--stats", "s.json"]
        if "timing-only" not in options:
            words.append("--timing-only")
        done = subprocess.run([CNNVP, "run", NETWORK, *words], capture_output=True, text=True, cwd=folder, check=False)
        left = []
        for path, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                file = os.path.join(path, name)
                if name in ("x.npy", "l.npy"):
                    continue
                with open(file, "rb") as stream:
                    content = stream.read()
                if name in ("s.json", "stats.json"):
                    content = json.loads(content)
                    del content["wall_seconds"]
                    content = repr(content).encode()
                left.append((name, hashlib.md5(content).hexdigest()))
        said = re.sub(r"host time .*", "", done.stdout)
        return done.returncode, done.stderr, (said, done.stderr, done.returncode, left)


def main():
    os.chdir(tempfile.mkdtemp())
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }"
    for name, kind, shape, data in (("x.npy", "|u1", "(4, 1, 32, 32)", bytes(4096)), ("l.npy", "|u1", "(4,)", bytes(4))):
        text = head % (kind, shape)
        text = text.ljust(117) + "\n"
        with open(name, "wb") as stream:
            stream.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + data)
    names = set(re.findall(r"^ +(?:-\w, +)?--([a-z][a-z-]*)", subprocess.run(
        [CNNVP, "run", "--help"], capture_output=True, text=True, check=True).stdout, re.M)) - OTHERS
    assert names == set(VALUES), names ^ set(VALUES)
    with ThreadPoolExecutor(2) as pool:
        base = run()
        alone = dict(zip(sorted(names), pool.map(run, sorted(names))))
        pairs = list(itertools.combinations(sorted(names), 2))[::STEP]
        both = dict(zip(pairs, pool.map(lambda pair: run(*pair), pairs)))
    wrong = []
    for (one, other), (status, message, left) in both.items():
        if status not in (0, 1, 2) or "Segmentation" in message:
            wrong.append(f"--{one} --{other}: status {status}, {message}")
        elif status == 2:
            if not re.search(f"--({one}|{other})\\b", message):
                wrong.append(f"--{one} --{other} are refused: {message}")
        else:
            for mine, its in ((one, other), (other, one)):
                hidden = alone[mine][2] != base[2] and left == alone[its][2]
                if hidden != ((its, mine) in HIDES):
                    wrong.append(f"--{mine} changes {'nothing' if hidden else 'something'} beside --{its}")
    print("\n".join(wrong))
    sys.exit(bool(wrong))


main()
