#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_wiring.py CNNVP NETWORK PRESET STEP: `cnnvp check` finds what a run would refuse. Every STEP-th way to lead one
port of the preset to another target, or nowhere: either check refuses it with the place in the file, and the run too, or the
run gives what it gives on the preset itself."""
import os
import re
import subprocess
import sys
import tempfile

cnnvp, network, preset, step = sys.argv[1:]


def call(*arguments):
    done = subprocess.run([cnnvp, *arguments], capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


def units():
    """{instance: (model, {port: target})} of the preset"""
    found, name = {}, None
    for line in call("check", preset)[1].split("\nunits:\n")[1].split("\n\n")[0].splitlines():
        depth, (word, value) = len(line) - len(line.lstrip()), line.strip().split(":", 1)
        if depth == 2:
            name = word
            found[name] = [None, {}]
        elif word == "model":
            found[name][0] = value.strip()
        elif depth == 6:
            found[name][1][word] = value.strip()
    return found


def ports(model):
    """[(port, kind)]"""
    lines = call("models", model)[1].split("\nports\n")
    rows = lines[1].split("\n\n")[0].splitlines()[1:] if len(lines) > 1 else []
    return [re.split(r"\s{2,}", row.strip())[:2] for row in rows if re.match("  [^ ]", row)]


def image(file):
    with open(file, "rb") as stream:
        return stream.read()


os.chdir(tempfile.mkdtemp())
assert call("run", network, "-p", preset, "-q", "-o", "right.npy")[0] == 0
known = {name: (connect, ports(model)) for name, (model, connect) in units().items() if model != "bus"}
targets = ["bus", "null"] + [f"{name}.{port}" for name, (_, own) in known.items() for port, kind in own if "target" in kind]
count = refused = accepted = 0
for name, (connect, own) in known.items():
    for port in [port for port, kind in own if "initiator" in kind]:
        for target in targets:
            count += 1
            if count % int(step) or target == connect.get(port) or target == "null" and port not in connect:
                continue
            with open("w.yaml", "w", encoding="utf-8") as stream:
                stream.write(f"platform: w\nbase: {preset}\nunits:\n  {name}: {{connect: {{{port}: {target}}}}}\n")
            checked, printed, message = call("check", "w.yaml")
            ran, _, why = call("run", network, "-p", "w.yaml", "-q", "-o", "o.npy")
            place = f"{name}.{port} to {target}: "
            if checked == 0 and ran == 2:  # a unit that only other programs could use
                assert why == "cnnvp: " + printed.rpartition("# networks cannot run on it: ")[2], place + why
                continue
            assert checked in (0, 2) and ran == checked, place + f"check {checked}, run {ran} {message} {why}"
            if checked:
                refused += 1
                assert re.match(r"cnnvp: w\.yaml:4:\d+: \w+", message), place + message
                assert message == why, place + message + why
            else:
                accepted += 1
                assert image("o.npy") == image("right.npy"), place + "another result"
            if os.path.exists("o.npy"):
                os.remove("o.npy")
assert refused * int(step) > 250, (count, refused)
print(f"{preset}: {refused} connections are refused, all with their place, {accepted} are as good as the preset's")
