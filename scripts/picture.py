#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""picture.py CNNVP PICTURE.png [--check]: makes the README's picture, a screenshot of a run's page in chromium (VGG16
for 32x32 images on the nfu). The figures that it shows are stored in the PNG file. --check: exit status 1 if a run
gives other figures."""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

SIZE = 1200, 860
KEY = b"figures"


def run(command, **options):
    """Runs a command and returns its standard output. A failure ends the program."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout


def chunks(png):
    """Yields the chunks of a PNG file as (type, data)."""
    at = 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at:at + 4])
        yield png[at + 4:at + 8], png[at + 8:at + 8 + size]
        at += 12 + size


def with_text(png, text):
    """The picture with a text chunk added before its end."""
    data = KEY + b"\0" + text
    chunk = struct.pack(">I", len(data)) + b"tEXt" + data + struct.pack(">I", zlib.crc32(b"tEXt" + data))
    return png[:-12] + chunk + png[-12:]


def main():
    cnnvp, picture = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    source = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        run(["/usr/bin/python3", source / "studies/make_vgg16.py", "vgg16_32.onnx"], cwd=folder)
        run([cnnvp, "run", "vgg16_32.onnx", "--timing-only", "-q", "--report", "run"], cwd=folder)
        stats = json.load(open(f"{folder}/run/stats.json"))
        figures = {f"{part}.{name}": stats[part][name] for part, name in (
            ("total", "time_ps"), ("total", "accel_cycles"), ("total", "macs"), ("energy", "total_pj"), ("area", "total_um2"),
            ("summary", "bound_by"), ("summary", "peak_share"), ("summary", "bandwidth_share"))}
        text = json.dumps(figures).encode("latin-1")
        if "--check" in sys.argv[3:]:
            kept = dict(data.split(b"\0", 1) for kind, data in chunks(picture.read_bytes()) if kind == b"tEXt")
            if kept.get(KEY) != text:
                sys.exit(f"{picture} is old: it shows {kept.get(KEY, b'').decode()}; a run now has {text.decode()}")
            return
        run([cnnvp, "report", "run", "-o", "run.html"], cwd=folder)
        run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=20000",
             f"--user-data-dir={folder}/profile", f"--window-size={SIZE[0]},{SIZE[1]}", f"--screenshot={folder}/page.png",
             f"file://{folder}/run.html"], stderr=subprocess.DEVNULL)
        picture.write_bytes(with_text(pathlib.Path(f"{folder}/page.png").read_bytes(), text))


main()
