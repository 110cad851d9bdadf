#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no linter makes, over all files that git tracks or could track (without git or a repository: all but
build folders): style.py [BUILD-FOLDER]. Status 0: no finding.

- the licence is in the first line, or in the second one after an interpreter line;
- a file with an interpreter line is executable;
- what git tracks in the tree's root belongs to its layout;
- symbols that a library of BUILD-FOLDER's models exports begin with cnnvp_ or with the name of its unit.
"""
import os
import re
import subprocess
import sys

SOURCES = re.compile(r"(\.(c|h|cpp|hpp|inc|def|py|sh|cmake|S|s|ld|js)|CMakeLists\.txt)$")
LAYOUT = {"c_api", "models", "platform", "scripts", "sw", "tests", "CMakeLists.txt", "CMakePresets.json", "LICENSE",
          "README.md"}
NOT_OURS = re.compile(r"^tests/fuzz/corpus/")
PREFIXES = {"cpu": ("cpu_", "rv32_")}  # prefixes of the core's sources


def check_file(name):
    with open(name, encoding="utf-8") as stream:
        lines = [stream.readline(), stream.readline()]
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines):
        yield f"{name}:1: the first line does not name the licence"
    if lines[0].startswith("#!") and not os.access(name, os.X_OK):
        yield f"{name}:1: a program that cannot be called: it is not executable"


def check_root():
    try:
        tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        return
    for name in sorted({name.split("/")[0] for name in tracked if name}):
        if not name.startswith(".") and name not in LAYOUT:
            yield f"{name}: the tree's root has {', '.join(sorted(LAYOUT))} alone"


def check_symbols(folder):
    for root, _, files in os.walk(os.path.join(folder, "models")):
        for library in sorted(f for f in files if f.endswith(".a")):
            unit = library.removeprefix("libcnnvp_").removesuffix(".a")
            text = subprocess.run(["nm", "-g", "--defined-only", os.path.join(root, library)], capture_output=True,
                                  text=True, check=True).stdout
            allowed = ("cnnvp_", *PREFIXES.get(unit, (unit + "_",)))
            for symbol in (line.split()[2] for line in text.split("\n") if len(line.split()) == 3):
                if not symbol.startswith(allowed):
                    yield f"{library}: {symbol} begins with none of {', '.join(allowed)}"


def all_files():
    """The names of all files, relative to the root of the tree."""
    try:
        tracked = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True,
                                 text=True, check=True)
        return tracked.stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        pass
    names = []
    for folder, folders, files in os.walk("."):
        folders[:] = [name for name in folders if not name.startswith((".", "build", "__pycache__"))]
        names += [os.path.relpath(os.path.join(folder, name)) for name in files]
    return sorted(names)


def main():
    folder = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    names = [name for name in all_files() if SOURCES.search(name) and not NOT_OURS.search(name)]
    findings = [text for name in names if os.path.exists(name) for text in check_file(name)]
    findings += check_root()
    if folder:
        findings += check_symbols(folder)
    print("\n".join(findings) or "no finding")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
