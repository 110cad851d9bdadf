#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Helps of tables (*.def) are whole phrases, since the command prints many of them alone: none leans on the line above
("the same with ...", "the weight buffer's"): check_help.py TREE."""
import pathlib
import re
import sys

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
ENTRIES = re.compile(rf"{LITERAL}(?:\s+{LITERAL})*")
# What a text begins or ends with that leans on another.
BEGINS = re.compile(r"(the same\b|likewise|ditto|and |also |as (above|before)\b)", re.I)
ENDS = re.compile(r"(\w(?:'s|s')|\blikewise|\bthe same(?: for| of| with)?)$")


def half_phrases(text):
    """The texts in `text` that lean on others, each with its position."""
    for match in ENTRIES.finditer(text):
        whole = "".join(part[1:-1] for part in re.findall(LITERAL, match[0]))
        if " " in whole and (BEGINS.match(whole) or ENDS.search(whole)):
            yield match.start(), whole


def self_test():
    """Each kind is found, and a whole phrase is not."""
    bad = ["the weight buffer's", "the same with the highest", "share of stores, likewise", "and of weights", "those of the parts'"]
    good = ["the weight buffer's port is narrow", "cycles of waiting", "transfers at the same address"]
    for text in bad:
        assert list(half_phrases(f'X(a, "{text}")')), text
    for text in good:
        assert not list(half_phrases(f'X(a, "{text}")')), text
    assert list(half_phrases('X(a, "waiting for "\n  "the memory\'s")'))


def main():
    """Exit status 1 if a table has one."""
    self_test()
    tree = pathlib.Path(sys.argv[1])
    files = [file for folder in ("models", "platform", "sw") for file in sorted((tree / folder).rglob("*.def"))]
    assert len(files) > 30, files
    failed = 0
    for file in files:
        text = file.read_text()
        for start, phrase in half_phrases(text):
            print(f"{file.relative_to(tree)}:{text.count(chr(10), 0, start) + 1}: half a phrase: {phrase}")
            failed = 1
    sys.exit(failed)


main()
