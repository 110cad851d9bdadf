#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What Python says of the library's structs and functions is what the headers do.

test_structs.py HEADERS CLANG PYTHON-PACKAGE ABI-FOLDER
"""
import ctypes
import importlib.util
import pathlib
import re
import sys

headers, clang, package, abi = sys.argv[1:]
sys.path.insert(0, abi)
import libcnnvp

lines = libcnnvp.api(clang, headers)
spec = importlib.util.spec_from_file_location("cnnvp_structs", pathlib.Path(package, "_structs.py"))
structs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(structs)
KINDS = {ctypes.c_int: ("int", "enum"), ctypes.c_uint32: ("uint32_t",), ctypes.c_uint64: ("uint64_t",), ctypes.c_double: ("double",),
         ctypes.c_float: ("float",), ctypes.c_size_t: ("size_t", "uint64_t"), ctypes.c_char_p: ("const char *",)}
for name, struct in structs.STRUCTS.items():
    members = sorted((int(line.split()[2]), *line.split(maxsplit=3)[3].split(": ", 1)) for line in lines
                     if line.startswith(f"struct {name} "))
    assert [member[1] for member in members][:len(struct._fields_)] == [field[0] for field in struct._fields_], name
    by_value = any(said[0] is struct for said in structs.OTHERS.values())
    assert len(members) == len(struct._fields_) or (members[0][1] == "struct_size" and not by_value), name
    for (_, member, said), (_, kind) in zip(members, struct._fields_):
        if kind in KINDS:
            assert any(said == one or (one == "enum" and said.startswith("enum")) for one in KINDS[kind]), (name, member, said, kind)
        elif issubclass(kind, ctypes.Array):
            assert said.endswith(f"[{kind._length_}]"), (name, member, said, kind)
        else:
            assert "*" in said, (name, member, said, kind)
FUNCTIONS = {line.split()[1].rstrip(":"): line.split(": ", 1)[1] for line in lines if line.startswith("function ")}
for name, arguments in {**structs.RESULTS, **{name: said[1:] for name, said in structs.OTHERS.items()}}.items():
    given = re.sub(r"\([^()]*\)\([^()]*\)", "", FUNCTIONS[name].partition("(")[2])
    count = 0 if given.strip(") ") in ("", "void") else given.count(",") + 1
    assert len(arguments) == count, (name, arguments, FUNCTIONS[name])
    assert (name in structs.RESULTS) == FUNCTIONS[name].startswith("cnnvp_result"), name
