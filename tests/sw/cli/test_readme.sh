#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The README and all folders' pages, done as written: each command block, in order, on what the text before it leaves. A C
# or YAML block whose first line names a file is that file. Left out: the two commands at the top, which run this, and
# what follows <!-- not run: REASON -->.
. "$SOURCE/tests/support/lib.sh"
HOME=$work/home
export HOME
mkdir "$HOME"
build=$(dirname "$(dirname "$CNNVP")")

# blocks PAGE: files 01.sh, 02.c, ... in `blocks`, one for each block of the page.
blocks() {
    rm -rf "$work/blocks"
    mkdir "$work/blocks"
    awk -v folder="$work/blocks" '
        /^```(sh|c|yaml)$/ && !skip { inside = 1; file = sprintf("%s/%02d.%s", folder, ++count, substr($0, 4)); next }
        /^```$/ { inside = 0 }
        inside { print >file }
        { skip = /^<!-- not run: .* -->$/ }' "$1"
}

# follow PAGE: in the current folder.
follow() {
    blocks "$1"
    for block in "$work"/blocks/*; do
        [ -e "$block" ] || continue # a page without any
        case $block in
        *.sh)
            grep -q '^scripts/quickstart.sh' "$block" && continue
            done_blocks=$((done_blocks + 1))
            timeout -k 10 300 sh -e "$block" >"$work/block.log" 2>&1 </dev/null ||
                fail "$1: $(cat "$block"): status $?: $(tail -c 600 "$work/block.log")"
            ;;
        *)
            name=$(head -n 1 "$block" | sed -E 's|^(/\*\|#) ([A-Za-z0-9_.]+).*|\2|')
            case $name in
            *.c | *.yaml) cp "$block" "$name" ;;
            *) fail "$1: a block whose first line names no file: $(head -n 1 "$block")" ;;
            esac
            ;;
        esac
    done
}

done_blocks=0
mkdir checkout
cd checkout || exit 1
for part in c_api scripts sw; do
    ln -s "$SOURCE/$part" $part
done
ln -s "$build" build
[ -e build/digits/test_labels.npy ] || /usr/bin/python3 scripts/make_digits.py build/digits
follow "$SOURCE/README.md"
[ $done_blocks -ge 7 ] || fail "only $done_blocks blocks of the README have commands"
words=$(awk '/^```/ { inside = !inside; next } !inside' "$SOURCE/README.md" | wc -w)
[ "$words" -le 900 ] || fail "the README has $words words outside of code, 900 are enough"
[ -s run.html ] && [ -s sweep.html ] || fail "the pages are not there"
# The fronts of its sweep are those that it tells: how many points, the fastest, the knee.
"$CNNVP" sweep spec.yaml -o results.sqlite -q --pareto >fronts.txt || fail "the README's sweep"
/usr/bin/python3 - "$SOURCE/README.md" fronts.txt <<'PYTHON' || fail "the README's fronts: $(cat fronts.txt)"
import re, sys
text = re.search(r"Of 84 points.*?\n\n", open(sys.argv[1]).read(), re.S)[0].replace("\n", " ")
told = [float(number) for number in re.findall(r"[\d.]*\d", text)]
rows = [re.split(" {2,}", line.strip()) for line in open(sys.argv[2])][2:]
fronts = [[row for row in rows if row[0] == name] for name in ("lenet5", "vgg16.onnx")]
knees = ["systolic", "int8", "16", "16", "lpddr4-3200"], ["systolic", "int8", "16", "8", "lpddr4-3200"]
for front, knee, saying in zip(fronts, knees, ("Of 84 points %d are on the front of LeNet-5.", "VGG16 has %d on its front")):
    assert saying % len(front) in text, (saying, len(front))
    for row in [front[0]] + [row for row in front if row[1:6] == knee]:
        for value in [float(cell.split()[0]) for cell in row[6:]][row != front[0] and front == fronts[1]:]:
            assert any(abs(number - value) <= .005 * value for number in told), (row, value, told)
PYTHON

# Folders' pages go on from there: they too begin at the tree's root.
(cd "$SOURCE" && find c_api models platform scripts sw tests -path scripts/examples -prune -o -name README.md -print) |
    sort >pages
[ "$(wc -l <pages)" -ge 10 ] || fail "where are the folders' pages? $(cat pages)"
while read -r page; do
    follow "$SOURCE/$page"
done <pages
# In a clone none of it is listed as new.
if command -v git >/dev/null; then
    cp "$SOURCE/.gitignore" .
    git init -q . && git add .gitignore c_api scripts sw build
    # `fronts.txt`, `pages` and `new` are this test's.
    git status --porcelain --untracked-files=normal | grep -Ev '^A|^[?][?] (fronts[.]txt|pages|new)$' >new
    [ ! -s new ] || fail "the pages' commands leave what .gitignore does not know: $(paste -s new)"
fi

# The examples, with the copy that the README has installed.
PATH=$HOME/opt/cnnvp/bin:$PATH
PKG_CONFIG_PATH=$(dirname "$(find "$HOME/opt/cnnvp" -name cnnvp-model.pc)")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PATH PKG_CONFIG_PATH
CNNVP_PRESETS=$(pkg-config --variable=presets cnnvp) CNNVP_GUEST=$(pkg-config --variable=guest cnnvp)
CNNVP_NETWORKS=$(pkg-config --variable=networks cnnvp)
export CNNVP_PRESETS CNNVP_NETWORKS CNNVP_GUEST
for example in own_unit own_instruction own_guest own_array own_memory own_core own_peripheral c; do
    mkdir "$work/$example"
    cd "$work/$example" || exit 1
    cp "$SOURCE/scripts/examples/$example"/* .
    follow "$SOURCE/scripts/examples/$example/README.md"
done
finish
