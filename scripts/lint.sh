#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint.sh [BUILD-FOLDER [PATTERN]]: checks licences and prefixes (lint/style.py), and runs clang-format, cppcheck and
# clang-tidy over all our C and C++ sources on all processors. BUILD-FOLDER (default build) must be built, since its
# compile_commands.json and generated headers are used. PATTERN limits clang-tidy to sources whose path matches it, as
# in grep -E. Status 0: no finding.
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
cd "$source"
folder=${1:-build}
pattern=${2:-.}
jobs=$(nproc)

findings=0

# Selects our own sources, and removes options that only gcc has.
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
with open(os.path.join(folder, "lint", "sources"), "w") as stream: # each once, although several targets may compile it
    stream.writelines(name + "\n" for name in sorted({os.path.realpath(c["file"])[len(tree):] for c in ours}))
# Two thirds of clang-tidy's time go into SystemC's headers, parsed again for each file. So the platform's sources are
# one file here.
systemc = [c for c in ours if c["file"].endswith(".cpp") and os.path.realpath(c["file"]).startswith(tree + "platform/")]
systemc = list({c["file"]: c for c in systemc}.values()) # two libraries contain the classes
whole = built + "lint/platform.cpp"
with open(whole, "w") as stream:
    stream.writelines(f'#include "{c["file"]}" // NOLINT(bugprone-suspicious-include)\n' for c in systemc)
ours.append({**systemc[0], "file": whole, "command": systemc[0]["command"].split(" -o ")[0] + " -c " + whole})
with open(os.path.join(folder, "lint", "compile_commands.json"), "w") as stream:
    json.dump(ours, stream, indent=1)
END

echo "style"
/usr/bin/python3 scripts/lint/style.py "$folder" || findings=1

# clang-format 14 of Debian 12: other versions break lines differently. To format the sources, run it with -i.
echo "clang-format"
{ git ls-files --cached --others --exclude-standard -- '*.c' '*.h' '*.cpp' 2>/dev/null ||
    find . -name 'build*' -prune -o -name '*.[ch]' -print -o -name '*.cpp' -print; } |
    xargs clang-format --dry-run -Werror || findings=1

echo "cppcheck"
# One thread alone calls readdir. glibc's manual advises against readdir_r, which cppcheck would suggest.
cppcheck --project="$folder/lint/compile_commands.json" -i "$folder" -j "$jobs" --quiet --inline-suppr \
    --enable=warning,performance,portability --library=scripts/lint/jansson.cfg --error-exitcode=1 \
    --template='{file}:{line}: {severity}: {message} [{id}]' || findings=1

echo "clang-tidy"
# If clang-tidy does not understand .clang-tidy, it continues with its default checks.
if ! clang-tidy --list-checks 2>&1 | grep -q ' bugprone-' || clang-tidy --list-checks 2>&1 | grep -q -e error: -e clang-analyzer; then
    echo ".clang-tidy is not understood"
    exit 1
fi
if [ "$pattern" = . ]; then # the largest file first
    echo "$folder/lint/platform.cpp"
    sed '/^platform\/.*[.]cpp$/d' "$folder/lint/sources"
else
    grep -E -e "$pattern" "$folder/lint/sources"
fi |
    xargs -P "$jobs" -n 6 clang-tidy --quiet -p "$folder/lint" >"$folder/clang-tidy.log" 2>&1 || findings=1
grep -v -e ' warnings\{0,1\} .*generated' "$folder/clang-tidy.log"

[ "$findings" -eq 0 ] && echo "no finding"
exit "$findings"
