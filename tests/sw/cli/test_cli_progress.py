#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A line of progress: on a terminal, from two seconds on, gone at the end, not with -q, nowhere else; and a run that is watched is
the same run."""
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import time

cnnvp, source = os.environ["CNNVP"], os.environ["SOURCE"]
network = source + "/scripts/networks/lenet5.onnx"


def on_terminal(arguments):
    """What the command writes to standard error, which is a terminal; seconds that it took."""
    here, there = pty.openpty()
    begin = time.monotonic()
    process = subprocess.Popen([cnnvp, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=there)
    os.close(there)
    text = b""
    while True:
        try:
            part = os.read(here, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(here)
    assert process.wait() == 0, text
    return text.decode(), time.monotonic() - begin


def statistics(file):
    with open(file, encoding="utf-8") as stream:
        return {name: value for name, value in json.load(stream).items() if name != "wall_seconds"}


def check_line(text):
    shown = [int(share) for share in re.findall(r"\[[#.]{30}\] +(\d+) %", text)]
    assert shown and all(a <= b for a, b in zip(shown, shown[1:])) and shown[-1] <= 100, text
    assert "ETA" in text, text
    assert text.endswith("\r\033[K"), "the line is still there: " + text[-80:]


def check_run():
    """Gives the number of images that take some four seconds here."""
    images = 2000
    while True:
        arguments = ["run", network, "--timing-only", "-n", str(images), "--stats"]
        text, seconds = on_terminal([*arguments, "watched.json"])
        if seconds > 3:
            break
        assert "ETA" not in text or seconds > 2, "a line for what is over at once"
        images = int(images * max(1.5, 4 / seconds))
    check_line(text)
    assert "simulated" in text, text
    silent, _ = on_terminal([*arguments, "silent.json", "-q"])
    assert silent == "", silent
    elsewhere = subprocess.run([cnnvp, *arguments, "alone.json"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    assert elsewhere.stderr == b"", elsewhere.stderr
    assert statistics("watched.json") == statistics("alone.json"), "watching changes the run"
    return images


def write_zeros(file, images):
    """Images of bytes, an .npy file that takes no room."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({images}, 1, 32, 32), }}"
    with open(file, "wb") as stream:
        stream.write(b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + header.ljust(117).encode() + b"\n")
        stream.truncate(128 + images * 1024)


def check_float():
    """The float model of many images, for one that is run."""
    images = 60000
    while True:
        write_zeros("zeros.npy", images)
        arguments = ["run", network, "--calibration", "zeros.npy", "--stats", "float.json"]
        text, seconds = on_terminal(arguments)
        if seconds > 3:
            break
        images = int(images * max(1.5, 4 / seconds))
    check_line(text.split("\r\033[K")[0] + "\r\033[K")
    assert "of the images computed in float" in text, text


def check_sweep(images):
    with open("spec.yaml", "w", encoding="utf-8") as stream:
        stream.write(f"network: {network}\noptions: {{timing_only: true, images: {images}}}\nparameters: {{pe_array.rows: {{from: 4, to: 8, step: 1}}, dram.preset: [ddr3-1600, ddr4-2400]}}\n")
    text, _ = on_terminal(["sweep", "spec.yaml", "-o", "r.sqlite", "-j", "1"])
    check_line(text)
    assert "points/s" in text, text


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_sweep(check_run() // 8)
    check_float()
print("all passed")
sys.exit(0)
