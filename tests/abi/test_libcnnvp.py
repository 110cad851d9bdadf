#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The C API is that of its version, in libcnnvp.abi; each change of a header, and each symbol too many, is found.

test_libcnnvp.py HEADERS CLANG LIBRARY SYSTEMC-LIBRARY VERSION RECORD
"""
import pathlib
import re
import shutil
import sys
import tempfile

import libcnnvp

headers, clang, library, systemc, version, record = sys.argv[1:]
record = pathlib.Path(record)
ours = libcnnvp.classes(systemc, version)
lines = libcnnvp.api(clang, headers) + ours
wrong = libcnnvp.check(lines, library, version, record)
if wrong:
    sys.exit(wrong)
major, minor = map(int, version.split("."))
LOST, ADDED = f"{major + 1}.0", f"{major}.{minor + 1}"

# What a change of a header needs.
CHANGES = [
    ("cnnvp.h", r"const char \*cnnvp_build\(void\);", "int cnnvp_build(void);", LOST),
    ("cnnvp.h", r"const char \*cnnvp_build\(void\);", "", LOST),
    ("cnnvp.h", r"const char \*cnnvp_build\(void\);", r"\g<0> int cnnvp_added(int number);", ADDED),
    ("cnnvp.h", r"CNNVP_END_FATAL = 3", "CNNVP_END_FATAL = 5", LOST),
    ("cnnvp.h", r"CNNVP_END_INTERRUPTED = 4", "CNNVP_END_INTERRUPTED = 4, CNNVP_END_ADDED = 5", ADDED),
    ("cnnvp.h", r"    int timing_only;", r"    int added;\g<0>", LOST),
    ("cnnvp.h", r"(    int strict;\n.*?)};", r"\1 int added; };", ADDED),
    ("cnnvp.h", r"    int exit_code; ", "    long exit_code; ", LOST),
    ("cnnvp.h", r"(    uint64_t time_ps; /\* simulated \*/\n)};", r"\1 int added; };", LOST),
    ("cnnvp_network.h", r"    CNNVP_OBJECTIVE_TRAFFIC = 3", "    CNNVP_OBJECTIVE_TRAFFIC = 4", LOST),
    ("cnnvp_explore.h", r"uint32_t jobs; ", "uint64_t jobs; ", LOST),
]
for file, old, new, number in CHANGES:
    with tempfile.TemporaryDirectory() as folder:
        copies = shutil.copytree(headers, pathlib.Path(folder, "c_api"))
        text = (copies / file).read_text()
        changed = re.sub(old, new, text, count=1, flags=re.DOTALL)
        assert changed != text, old
        (copies / file).write_text(changed)
        others = libcnnvp.api(clang, str(copies)) + ours
        needs, what = libcnnvp.needed(lines, others, version)
        assert needs == number and what, (file, new, needs, what)
        assert libcnnvp.check(others, library, version, record), (file, new)
        assert libcnnvp.check(others, library, LOST, record), (file, new)
assert libcnnvp.check(lines, library, ADDED, record), "a version that nothing has changed in"

# A struct that a function returns is as large as its program's header has it, which the library does not know.
returned = {re.search(r": struct (\w+) \(", line) for line in lines if line.startswith("function ")} - {None}
assert not returned, f"returned by value: {sorted(found[1] for found in returned)}"

# What a change of the classes needs.
assert libcnnvp.needed(lines, lines[:-1], version)[0] == LOST
assert libcnnvp.needed(lines, [*lines, "symbol _ZN5cnnvp8platform5addedEv"], version)[0] == ADDED
