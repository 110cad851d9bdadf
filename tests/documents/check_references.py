#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every reference in the tree to a source document (S001 C9, S004 [0054]), to an open point (Part B 2-5), to an
invariant and to a page (NAME.md) has its entry in models/documents.md or its file: check_references.py TREE. The
checker first tries itself on references that are wrong."""
import os
import re
import sys

PAGE = "models/documents.md"
TEXT = (".c", ".h", ".cpp", ".def", ".md", ".py", ".sh", ".yaml", ".txt", ".cmake", ".in", ".s", ".S", ".js", ".html",
        ".css")
POINT = r"[0-9X]-\d{1,2}"
JOIN = r"(?:,? and |,? to |[,;] ?| )"
POINTS = rf"{POINT}(?:{JOIN}{POINT})*(?![\w-]|\.\d)"
PLACE = (r"(?:A\d(?: L\d+(?:[-/]\d+)*(?:, L\d+)*)?|[Cc]\d{1,2}(?:-[Cc]?\d{1,2})?"
         r"|claims? \d{1,2}(?:(?: and | to |, )\d{1,2})*|D-[a-z]+(?: [a-z]+-\d(?: to [a-z]+-\d)?)?"
         r"|\[\d{4}\]|Fig\. ?\d|abstract)")
# Pages that a command makes, named by studies and tests.
MADE = {"array_shape.md", "buffers.md", "mantissa.md", "study.md"}
LAYOUT = ("c_api", "models", "platform", "scripts", "sw", "tests")
# After a variable, $SOURCE, and folders of tests.
MADE_IN = ("/", "SOURCE/", "example/", "reference/", "share/")


class Page:
    """What models/documents.md has entries for."""

    def __init__(self, text):
        self.places = {}
        self.lines = {}
        self.points = set()
        section = None
        for line in text.splitlines():
            if line.startswith("## "):
                section = line[3:]
                self.places.setdefault(section, set())
            point = re.match(rf"- \*\*({POINT})\*\* ", line)
            if point:
                self.points.add(point[1])
            cells = line.split("|")
            if section is None or len(cells) < 3 or cells[1].strip() == "place" or "---" in cells[1]:
                continue
            for place in cells[1].split(","):
                place = place.strip()
                counted = re.fullmatch(r"(\d+) lines", place)
                if counted:
                    self.lines[last] = int(counted[1])
                else:
                    last = place
                    self.places[section].add(place)
        rules = text.split("**Invariants.**")[-1].split("**")[0]
        self.invariants = set(re.findall(r"\b(\d): ", rules))
        self.documents = {name for name in self.places if re.fullmatch(r"S\d{3}", name)}


def span(first, last):
    """`1-4` to `1-7`, `claim 5` to 8: all of them."""
    head, low = re.fullmatch(r"(.*?)(\d+)", first).groups()
    high = re.fullmatch(r".*?(\d+)", last)[1]
    return [f"{head}{n:0{len(low)}}" if low.startswith("0") else f"{head}{n}" for n in range(int(low), int(high) + 1)]


def places_of(text):
    """The single places that a list such as `claims 5 to 8, [0005] to [0009]` names."""
    found = []
    text = re.sub(r"claims (\d+)((?:(?: and | to |, )\d+)+)",
                  lambda m: "claim " + m[1] + re.sub(r"(\d+)", r"claim \1", m[2]), text)
    text = re.sub(r"([Cc])(\d+)-[Cc]?(\d+)", r"\1\2 to \1\3", text)
    single = r"(A\d)((?: L|, L|-|/|\d)*)|claim \d+|[Cc]\d+|D-[a-z]+|[a-z]+-\d|\[\d{4}\]|Fig\. ?\d|abstract"
    for item in re.finditer(single, text):
        name = item[0]
        if item[1]:
            found.append(item[1])
            found += [(item[1], int(n)) for n in re.findall(r"\d+", item[2])]
        elif found and text[:item.start()].endswith(" to "):
            names = span(found[-1].strip("[]"), name.strip("[]"))
            found += [f"[{n}]" for n in names] if "[" in name else names
        else:
            found.append(re.sub(r"Fig\. ?", "Fig. ", name))
    return found


def wrong_place(page, document, place):
    if isinstance(place, tuple):
        return place[1] > page.lines.get(place[0], 0)
    known = page.places[document]
    return not {place, place.replace("claim ", "c"), place.replace("claim ", "C")} & known


def joined(text):
    """Comments with their lines put together; positions stay those of the file."""
    return re.sub(r"\n[ \t]*(?:\*(?!/)|#|//|;)?[ \t]*", lambda m: " " + "\1" * (len(m[0]) - 1), text)


def references(text):
    """(position, kind, document or None, what was named) of each reference."""
    flat, where = [], []
    for position, char in enumerate(joined(text)):
        if char != "\1":
            flat.append(char)
            where.append(position)
    flat = "".join(flat)
    document = None
    for found in re.finditer(rf"\b(?P<doc>S00\d)(?!\d)(?:'s)?(?P<places>(?:[ ,;(]+(?:and |to )?{PLACE})*)"
                             rf"|\bPart B\b(?P<points>(?: {POINTS})?)"
                             rf"|(?<=[(,;] )(?P<later>{POINTS})(?=[);])|\((?P<bare>{POINTS})(?=[ ,;:)])"
                             rf"|[(\s](?P<alone>\[00\d\d\]|A\d L\d+(?:[-/]\d+)*|D-(?:emb|sum|fig|fx)(?: [a-z]+-\d)?"
                             rf"|claims? \d+(?:(?: and | to |, )\d+)*|\(?c\d{{1,2}}(?:, c\d{{1,2}})*(?=\)))"
                             r"|\b[Ii]nvariant (?P<invariant>\d+)|(?P<file>[\w./-]*\w\.md)\b", flat):
        at = where[found.start()]
        if found["doc"]:
            document = found["doc"]
            yield at, "document", document, document
            for place in places_of(found["places"]):
                yield at, "place", document, place
        elif found["points"] is not None:
            if not found["points"]:
                yield at, "point", None, "Part B without a number"
            yield from ((at, "point", None, p) for p in points_of(found["points"]))
        elif found["later"] or found["bare"]:
            yield from ((at, "point", None, p) for p in points_of(found["later"] or found["bare"]))
        elif found["alone"]:
            owner = {"A": "S000", "D": "S001", "[": "S004"}.get(found["alone"][0], document)
            for place in places_of(found["alone"]) if owner else []:
                yield at, "place", owner, place
        elif found["invariant"]:
            yield at, "invariant", None, found["invariant"]
        else:
            yield at, "file", None, found["file"]


def points_of(text):
    found = []
    for item in re.finditer(rf"( to )?({POINT})", text):
        found += span(found[-1], item[2]) if item[1] and found else [item[2]]
    return found


def wrong(page, folder, files, text):
    """(line, message) of each reference in `text` that leads nowhere."""
    for at, kind, document, named in references(text):
        line = text.count("\n", 0, at) + 1
        if kind == "document" and named not in page.documents:
            yield line, f"{named}: there is no such document"
        elif kind == "place" and document in page.documents and wrong_place(page, document, named):
            named = f"{named[0]} L{named[1]}" if isinstance(named, tuple) else named
            yield line, f"{document} {named}: there is no such place"
        elif kind == "point" and named not in page.points:
            yield line, f"{named}: there is no such open point"
        elif kind == "invariant" and named not in page.invariants:
            yield line, f"invariant {named}: there is none"
        elif kind == "file" and not there(named, folder, files):
            yield line, f"{named}: there is no such file"


def there(named, folder, files):
    """Whether a page of that name is in the tree, or made: from its root or `folder`, or anywhere without a folder."""
    if os.path.basename(named) in MADE or named.startswith(MADE_IN):
        return True
    if {os.path.normpath(named), os.path.normpath(os.path.join(folder, named))} & files:
        return True
    return "/" not in named and any(f.endswith("/" + named) for f in files)


def tree_of(root):
    files = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f != "corpus" and (folder != root or f in LAYOUT)]  # no builds
        for name in names:
            if name.endswith(TEXT) and not name.endswith(".min.js"):
                path = os.path.join(folder, name)
                files[os.path.relpath(path, root)] = path
    return files


def try_itself(page):
    """Each of these is wrong; without any the checker would find nothing."""
    for text in ("S005", "/* S001\n * C11 */", "(S000 A1 L24)", "S003 c11", "S004 claim 12", "S003 claims 5 to 11",
                 "S004 [0005] to [0099]", "x (Part B 2-5, 2-11)", "Part B 4-1 to 4-16", "Part\n * B 0-14", "// (5-1)",
                 "/* of sums (1-29).", "Part B 2-1 to 2-11. Then", "(A1 L14, 0-8; 3-9)", "invariant 9",
                 "see requirements.md", "by Part B alone",
                 "S001 D-emb grad-8", "(D-emb grad-8)", "S001 Fig. 7", "# of [0099]", "S004: (claims 7 and 11)"):
        if not list(wrong(page, "", {PAGE}, text)):
            sys.exit(f"check_references.py: finds nothing wrong in {text!r}")
    for text in ("S001 C9 and Fig. 4, Part B 1-11 to 1-15", "(S004, claims 7 and 8)", "S003 (c1, c2, c8)", "x[1-5]",
                 "(A1 L14, 0-9)",
                 "S004 [0005] to [0009]", "S001 D-emb grad-1 to grad-7", "S000 A1 L11-12, A2 L7-8", PAGE):
        for line, message in wrong(page, "", {PAGE}, text):
            sys.exit(f"check_references.py: {text!r}: {message}")


def main():
    root = sys.argv[1]
    files = tree_of(root)
    with open(files[PAGE], encoding="utf-8") as page_file:
        page = Page(page_file.read())
    try_itself(page)
    total, failures = 0, 0
    for name, path in sorted(files.items()):
        if name.endswith("check_references.py") or name == PAGE:
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        total += sum(1 for _ in references(text))
        for line, message in wrong(page, os.path.dirname(name), set(files), text):
            print(f"{name}:{line}: {message}; see {PAGE}")
            failures += 1
    print(f"{total} references, {failures} lead nowhere")
    # Comments refer to the documents throughout: few references mean that the search does not work.
    return 1 if failures or total < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
