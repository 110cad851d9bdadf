#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Links of pages lead somewhere in the tree, and sources that comments name are there: check_links.py TREE."""
import pathlib
import re
import sys

FOLDERS = ("c_api", "models", "platform", "scripts", "sw", "tests")
LINK = re.compile(r"\]\(([^)#\s]+)")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
SOURCE = re.compile(r"(?<![\w/.*<\"-])[\w/]+\.(?:c|h|cpp|def|inc)\b(?!\w)")
# Made by the build, and of others.
ELSEWHERE = {"net.h", "cnnvp_isa.h", "fstapi.c"}


def names_in_comments(text):
    """The sources that comments name."""
    return [name for comment in COMMENT.findall(text) for name in SOURCE.findall(comment)]


def main():
    """Exit status 1 if there is a name of nothing."""
    assert names_in_comments("/* see no_file.c and *.h */ x.h") == ["no_file.c"]
    tree = pathlib.Path(sys.argv[1])
    files = [tree / "README.md"] + [file for folder in FOLDERS for file in sorted((tree / folder).rglob("*")) if file.is_file()]
    names = {file.name for file in files} | ELSEWHERE
    wrong = []
    for file in files:
        if file.suffix == ".md":
            links = LINK.findall(file.read_text())
            assert file.name != "README.md" or file.parent != tree or len(links) > 5
            wrong += [(file, link) for link in links if "://" not in link and not (file.parent / link).exists()]
        elif file.suffix in {".c", ".h", ".cpp", ".def", ".inc"}:
            wrong += [(file, name) for name in names_in_comments(file.read_text()) if pathlib.Path(name).name not in names]
    for file, name in wrong:
        print(f"{file.relative_to(tree)}: there is no {name}")
    sys.exit(1 if wrong else 0)


main()
