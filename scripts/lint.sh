#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Licences and prefixes (lint/style.py), clang-format, cppcheck and clang-tidy over all our C and C++, side by side on all processors:
# lint.sh [BUILD-FOLDER [PATTERN]]. BUILD-FOLDER (default build) has been built: its compile_commands.json and generated
# headers are used. PATTERN: only sources whose path in the tree it matches, as grep -E does (clang-tidy). Status 0: no finding.
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
cd "$source"
folder=${1:-build}
pattern=${2:-.}
jobs=$(nproc)

findings=0

# What is ours, without the options that only gcc has.
mkdir -p "$folder/lint"
/usr/bin/python3 - "$folder" <<'END'
import json, os, sys
folder = sys.argv[1]
with open(os.path.join(folder, "compile_commands.json")) as stream:
    commands = json.load(stream)
tree, built = (os.path.realpath(path) + "/" for path in (".", folder))
ours = [c for c in commands if os.path.realpath(c["file"]).startswith(tree) and not os.path.realpath(c["file"]).startswith(built)]
for command in ours:
    for option in (" -fno-gcse", " -fno-crossjumping", " -fno-gnu-unique"):
        command["command"] = command["command"].replace(option, "")
with open(os.path.join(folder, "lint", "sources"), "w") as stream: # each once, though a library and a test may be made of it
    stream.writelines(name + "\n" for name in sorted({os.path.realpath(c["file"])[len(tree):] for c in ours}))
# Two thirds of clang-tidy's time were SystemC's headers, read again for each file: here those of the platform are one.
systemc = [c for c in ours if c["file"].endswith(".cpp") and os.path.realpath(c["file"]).startswith(tree + "platform/")]
systemc = list({c["file"]: c for c in systemc}.values()) # the classes are in two libraries
whole = built + "lint/platform.cpp"
with open(whole, "w") as stream:
    stream.writelines(f'#include "{c["file"]}" // NOLINT(bugprone-suspicious-include)\n' for c in systemc)
ours.append({**systemc[0], "file": whole, "command": systemc[0]["command"].split(" -o ")[0] + " -c " + whole})
with open(os.path.join(folder, "lint", "compile_commands.json"), "w") as stream:
    json.dump(ours, stream, indent=1)
END

echo "style"
/usr/bin/python3 scripts/lint/style.py "$folder" || findings=1

# Of Debian 12 (14): others break lines elsewhere. To format: the same with -i.
echo "clang-format"
{ git ls-files --cached --others --exclude-standard -- '*.c' '*.h' '*.cpp' 2>/dev/null ||
    find . -name 'build*' -prune -o -name '*.[ch]' -print -o -name '*.cpp' -print; } |
    xargs clang-format --dry-run -Werror || findings=1

echo "cppcheck"
# readdir is called by one thread; readdir_r is no longer advised (glibc's manual).
cppcheck --project="$folder/lint/compile_commands.json" -i "$folder" -j "$jobs" --quiet --inline-suppr \
    --enable=warning,performance,portability --library=scripts/lint/jansson.cfg --error-exitcode=1 \
    --template='{file}:{line}: {severity}: {message} [{id}]' || findings=1

echo "clang-tidy"
# It goes on with its own checks where it does not understand the file.
if ! clang-tidy --list-checks 2>&1 | grep -q ' bugprone-' || clang-tidy --list-checks 2>&1 | grep -q -e error: -e clang-analyzer; then
    echo ".clang-tidy is not understood"
    exit 1
fi
if [ "$pattern" = . ]; then # the longest one first
    echo "$folder/lint/platform.cpp"
    sed '/^platform\/.*[.]cpp$/d' "$folder/lint/sources"
else
    grep -E -e "$pattern" "$folder/lint/sources"
fi |
    xargs -P "$jobs" -n 6 clang-tidy --quiet -p "$folder/lint" >"$folder/clang-tidy.log" 2>&1 || findings=1
grep -v -e ' warnings\{0,1\} .*generated' "$folder/clang-tidy.log"

[ "$findings" -eq 0 ] && echo "no finding"
exit "$findings"
