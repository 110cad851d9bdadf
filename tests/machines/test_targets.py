#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""test_targets.py BUILD: what a folder's tests run is there as soon as the folder's executable (tests/folder_tests.cmake) has
been built: it depends on every file of the build that a command or an environment of theirs names. So does a test that is an
executable of its own. Not for tests that are labelled `install`: they want the whole build."""
import collections
import functools
import json
import os
import re
import subprocess
import sys
import tempfile

build = os.path.realpath(sys.argv[1])
if not os.path.exists(os.path.join(build, "build.ninja")):
    print("the build's generator is not Ninja")
    sys.exit(77)


def relative(path):
    return os.path.relpath(os.path.join(build, path), build)


# ninja -t inputs leaves out what only has to be there before.
inputs = {}  # of each product
with open(os.path.join(build, "build.ninja")) as stream:
    for outputs, sources in re.findall(r"^build (.*?): \S+(.*)$", stream.read(), re.M):
        sources = {relative(path) for path in sources.split() if path not in ("|", "||")}
        inputs.update({relative(path): sources for path in outputs.split() if path != "|"})


@functools.lru_cache(None)
def needs(product):
    found, waiting = set(), [product]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += inputs.get(path, ())
    return found


def named(words):
    paths = (relative(word) for word in words if word.startswith(build + "/"))
    return [path for path in paths if path in inputs]


@functools.lru_cache(None)
def compiled_in(executable):
    """What an executable's own texts name."""
    with open(os.path.join(build, executable), "rb") as stream:
        return named({text.decode() for text in re.findall(re.escape(build.encode()) + rb"/[\w./-]+", stream.read())})


tests = {}  # name: products that it names, its executable first
folders = collections.defaultdict(collections.Counter)  # of CTest: the executables of their tests
with tempfile.TemporaryDirectory() as beside: # in the build it would put an empty log in the place of the run's
    with open(os.path.join(beside, "CTestTestfile.cmake"), "w") as stream:
        stream.write(f'subdirs("{build}")\n')
    listed = subprocess.check_output(["ctest", "--test-dir", beside, "--show-only=json-v1"])
for test in json.loads(listed)["tests"]:
    properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
    if "install" in properties.get("LABELS", []):
        continue
    environment = [text.partition("=")[2] for text in properties.get("ENVIRONMENT", [])]
    executable = named(test["command"][:1])
    tests[test["name"]] = executable, named(test["command"] + environment)
    if executable and re.fullmatch(r"bin/\w+_tests", executable[0]):
        folders[os.path.dirname(test["name"])][executable[0]] += 1


def target(name, executable):
    """What is built for the test: its folder's executable, or that of the next folder above; otherwise its own."""
    folder = os.path.dirname(name)
    if executable and executable[0] in folders[folder]:
        return executable[0]
    while folder and not folders[folder]:
        folder = os.path.dirname(folder)
    if folder:
        return folders[folder].most_common(1)[0][0]
    return executable[0] if executable and executable[0] != "bin/cnnvp" else None


checked, missing = 0, set()
for name, (executable, paths) in tests.items():
    built = target(name, executable)
    if built:
        checked += 1
        missing |= {f"{built} does not depend on {path} ({name})" for path in paths if path not in needs(built)}
        missing |= {f"{built} does not depend on {path}" for path in compiled_in(built) if path not in needs(built)}
        if "bin/cnnvp" in needs(built) and "share/cnnvp/cnnvp_guest.elf" not in needs(built):
            missing.add(f"{built} has the command without the guest's program")
for line in sorted(missing):
    print(line)
if checked < 200:
    sys.exit(f"only {checked} tests have a target")
if missing:
    sys.exit(1)
print(f"all passed: {checked} tests")
