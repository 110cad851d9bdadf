#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Limits of style over everything that git follows or might (where there is no git, or no repository: all but build
folders): style.py [BUILD-FOLDER]. Status 0: no finding.

- the licence stands in the first line, or in the second behind an interpreter's;
- a file that names its interpreter is executable;
- a file has at most 600 lines;
- a function of C and C++ has at most 50 lines between its braces (those of its own at the line's begin);
- a line has at most 120 columns; up to 132 are counted and told, but no finding;
- what a library of BUILD-FOLDER exports begins with cnnvp_ or with the name of its unit.

Exceptions stand in style.txt beside this, each with a reason: `KIND NAME LIMIT REASON`. One that is no longer needed is
told, but no finding.
"""
import os
import re
import subprocess
import sys

SOURCES = re.compile(r"(\.(c|h|cpp|hpp|inc|def|py|sh|cmake|S|s|ld|js)|CMakeLists\.txt)$")
NOT_OURS = re.compile(r"^tests/fuzz/corpus/|^sw/explore/web/uplot", re.IGNORECASE)
FUNCTIONS = re.compile(r"\.(c|h|cpp|hpp|inc)$")
LINES, BODY, COLUMNS, COLUMNS_MOST = 600, 50, 120, 132


def exceptions(name):
    """{(kind, name): limit}, and those that have not been used yet"""
    limits = {}
    with open(name, encoding="utf-8") as stream:
        for line in stream:
            if line.strip() and not line.startswith("#"):
                kind, what, limit, reason = line.split(None, 3)
                assert reason.strip(), line
                limits[kind, what] = int(limit)
    return limits


class Findings:
    def __init__(self, limits):
        self.limits, self.unused, self.count, self.long = limits, set(limits), 0, 0

    def say(self, text):
        print(text)
        self.count += 1

    def check(self, kind, name, place, value, limit, what):
        """`value` above `limit`, and above what the exception of `name` allows"""
        allowed = self.limits.get((kind, name), limit)
        if value > limit:
            self.unused.discard((kind, name))
        if value > allowed:
            self.say(f"{place}: {what}: {value}, {allowed} at most [{kind}]")


def functions(lines):
    """(name, line, lines between the braces) of each function"""
    begin = None
    for number, line in enumerate(lines):
        if line == "{":
            begin = number
        elif line.startswith("}") and begin is not None:
            # The signature may have several lines: its name stands before the first parenthesis.
            first = begin - 1
            while first > 0 and "(" not in lines[first]:
                first -= 1
            while first > 0 and lines[first].startswith(" "):
                first -= 1
            name = re.search(r"([\w~:]+)\s*\(", lines[first])
            yield (name.group(1) if name else "?"), begin, number - begin - 1
            begin = None


def check_file(findings, name):
    with open(name, encoding="utf-8") as stream:
        lines = stream.read().split("\n")
    if lines[-1] == "":
        lines.pop()
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]):
        findings.say(f"{name}:1: the first line does not name the licence [spdx]")
    if lines and lines[0].startswith("#!") and not os.access(name, os.X_OK):
        findings.say(f"{name}:1: a program that cannot be called: it is not executable [executable]")
    findings.check("lines", name, name, len(lines), LINES, "lines")
    long = [number + 1 for number, line in enumerate(lines) if len(line) > COLUMNS_MOST]
    findings.long += sum(len(line) > COLUMNS for line in lines)
    findings.check("columns", name, f"{name}:{long[0] if long else 1}", len(long), 0,
                   f"lines of more than {COLUMNS_MOST} columns")
    if FUNCTIONS.search(name):
        for function, line, body in functions(lines):
            findings.check("function", f"{name}:{function}", f"{name}:{line + 1}", body, BODY, f"lines of {function}")


def check_symbols(findings, folder):
    for root, _, files in os.walk(os.path.join(folder, "models")):
        for library in sorted(f for f in files if f.endswith(".a")):
            unit = os.path.basename(root)
            text = subprocess.run(["nm", "-g", "--defined-only", os.path.join(root, library)], capture_output=True,
                                  text=True, check=True).stdout
            for symbol in (line.split()[2] for line in text.split("\n") if len(line.split()) == 3):
                if not symbol.startswith(("cnnvp_", unit + "_")) and ("symbol", symbol.split("_")[0]) not in \
                        findings.limits:
                    findings.say(f"{library}: {symbol} begins neither with cnnvp_ nor with {unit}_ [symbol]")
                findings.unused.discard(("symbol", symbol.split("_")[0]))


def all_files():
    """Names from the tree's root on."""
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
    here = os.path.dirname(os.path.abspath(__file__))
    folder = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
    os.chdir(os.path.join(here, "..", ".."))
    findings = Findings(exceptions(os.path.join(here, "style.txt")))
    for name in all_files():
        if SOURCES.search(name) and not NOT_OURS.search(name) and os.path.exists(name):
            check_file(findings, name)
    if folder:
        check_symbols(findings, folder)
    for kind, name in sorted(findings.unused):
        if kind not in ("columns", "symbol"):
            print(f"scripts/lint/style.txt: {kind} {name} needs no exception any more")
    if not findings.count:
        print(f"no finding; {findings.long} lines have {COLUMNS + 1} to {COLUMNS_MOST} columns, which is allowed")
    return 1 if findings.count else 0


if __name__ == "__main__":
    sys.exit(main())
