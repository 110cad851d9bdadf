#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The C API: what the headers say is what libcnnvp.so exports, and what libcnnvp.abi records of this version.

libcnnvp.py HEADERS CLANG LIBRARY SYSTEMC-LIBRARY VERSION RECORD [--record]

A change needs a version (CNNVP_LIBRARY_VERSION): its first number goes up where something is lost or changed, the second
where something is added. A struct that begins with its size may get members at its end. --record writes the record.
"""
import json
import pathlib
import re
import subprocess
import sys

# Functions that headers no longer have, for programs that were built with headers that had them.
KEPT = {f"cnnvp_{what}_options_of" for what in ("network", "platform", "trainer")}
HEADERS = ("cnnvp", "cnnvp_asm", "cnnvp_costs", "cnnvp_data", "cnnvp_explore", "cnnvp_memory", "cnnvp_network", "cnnvp_train")


def declarations(clang, folder, headers):
    """Of headers in a folder: lines of functions, enums' constants and structs' members."""
    source = "".join(f'#include "{header}.h"\n' for header in headers)
    tree = json.loads(subprocess.run([clang, "-std=c11", "-I", folder, "-x", "c", "-fsyntax-only", "-Xclang", "-ast-dump=json", "-"],
                                     input=source, capture_output=True, text=True, check=True).stdout)
    lines = []

    def enumerators(node, name):
        value = -1
        for constant in node.get("inner", ()):
            if constant["kind"] == "EnumConstantDecl":
                said = constant.get("inner")
                while said and "value" not in said[0]: # casts around it
                    said = said[0].get("inner")
                value = int(said[0]["value"]) if said else value + 1
                lines.append(f"enum {name} {constant['name']} = {value}")

    for node in tree["inner"]:
        name, inner = node.get("name", ""), node.get("inner", ())
        if node["kind"] == "FunctionDecl" and name.startswith("cnnvp_") and node.get("storageClass") != "static":
            lines.append(f"function {name}: {node['type']['qualType']}")
        elif node["kind"] == "EnumDecl":
            enumerators(node, name)
        elif node["kind"] == "RecordDecl" and node.get("completeDefinition") and name.startswith("cnnvp_"):
            for part in inner:
                if part["kind"] == "EnumDecl":
                    enumerators(part, name)
            members = [part for part in inner if part["kind"] == "FieldDecl"]
            for place, member in enumerate(members):
                lines.append(f"struct {name} {place:02} {member['name']}: "
                             + re.sub(r"enum cnnvp_\w+::\(.*|enum \(.*", "enum", member["type"]["qualType"]))
    return lines


def api(clang, folder):
    """The C API's, without what units are made of, whose ABI has a version of its own."""
    of_units = set(declarations(clang, folder, ("cnnvp_model", "cnnvp_command")))
    return sorted(set(declarations(clang, folder, HEADERS)) - of_units)


def functions(lines):
    return {line.split()[1].rstrip(":") for line in lines if line.startswith("function ")}


def exported(library):
    """Names that the library gives to others, with the version of each; without what is for libcnnvp_systemc.so alone."""
    text = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = {name.partition("@@")[::2] for _, kind, name in (line.split() for line in text.splitlines()) if kind != "A"}
    return {one for one in names if not one[1].startswith("CNNVP_PRIVATE_")}


def classes(library, version):
    """What libcnnvp_systemc.so exports: of the classes of cnnvp_systemc.h, and of no others."""
    names = exported(library)
    known = re.compile(r"_Z(T[VIS]|N|NK)5?N?5cnnvp(8platform|11accelerator|12platform_new)")
    wrong = [name for name, node in names if not known.match(name) or node != "CNNVP_" + version.split(".")[0]]
    if wrong or not names:
        sys.exit(f"{library} exports what cnnvp_systemc.h does not have: {wrong}")
    return sorted(f"symbol {name}" for name, _ in names)


def needed(old, new, version):
    """The version that a change from one list to another needs, and what it is about."""
    lost, gained = sorted(line for line in set(old) - set(new) if not functions([line]) & KEPT), sorted(set(new) - set(old))
    sized = {line.split()[1] for line in old if re.match(r"struct \w+ 00 struct_size:", line)}
    known = {line.split()[1] for line in old if line.startswith("struct ")}
    lost += [line for line in gained if line.startswith("struct ") and line.split()[1] in known - sized]
    major, minor = map(int, version.split("."))
    if lost:
        return f"{major + 1}.0", lost
    return (f"{major}.{minor + 1}", gained) if gained else (version, [])


def check(lines, library, version, record, recording=False):
    """None, or what is wrong."""
    ours = {(name, "CNNVP_" + version.split(".")[0]) for name in functions(lines) | KEPT | {"sc_main", "_Z7sc_mainiPPc"}}
    shown = exported(library)
    if not shown <= ours or not {name for name in ours if "sc_main" not in name[0]} <= shown:
        return (f"{library} exports what no header has: {sorted(shown - ours)}; "
                f"headers have what it does not export: {sorted(name for name in ours - shown if 'sc_main' not in name[0])}")
    old_version, *old = record.read_text().splitlines() if record.exists() else [version, *lines]
    right, what = needed(old, lines, old_version)
    if tuple(map(int, version.split("."))) < tuple(map(int, right.split("."))):
        return f"the C API has changed: CNNVP_LIBRARY_VERSION {right} is needed where there is {version}:\n" + "\n".join(what)
    if recording:
        record.write_text("\n".join([version, *lines]) + "\n")
    elif (old_version, old) != (version, lines):
        return f"{record} is not that of version {version}: run libcnnvp.py with --record"
    return None


def main():
    headers, clang, library, systemc, version, record, *rest = sys.argv[1:]
    wrong = check(api(clang, headers) + classes(systemc, version), library, version, pathlib.Path(record), rest == ["--record"])
    if wrong:
        sys.exit(wrong)


if __name__ == "__main__":
    main()
