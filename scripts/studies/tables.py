#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tables.py PAGE FOLDER [--write]: checks that each table below `<!-- table: NAME -->` in a Markdown page equals the file of
that name in FOLDER (ending: md); exit status 1 if not. --write updates the page instead."""
import pathlib
import re
import sys

MARKED = re.compile(r"(<!-- table: (\w+) -->\n\n?)((?:\|.*\n)*)")


def main():
    page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = page.read_text()
    names = [match[2] for match in MARKED.finditer(text)]
    if not names:
        sys.exit(f"{page}: no table is marked")
    made = MARKED.sub(lambda match: match[1] + (folder / f"{match[2]}.md").read_text(), text)
    if "--write" in sys.argv[3:]:
        page.write_text(made)
    elif made != text:
        for match in MARKED.finditer(text):
            told, now = match[3].splitlines(), (folder / f"{match[2]}.md").read_text().splitlines()
            for line in sorted(set(now) ^ set(told)):
                print(f"{page}: {match[2]}: {'now' if line in now else 'told'}: {line}")
        sys.exit(1)


main()
