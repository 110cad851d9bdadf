# SPDX-License-Identifier: Apache-2.0
# Sourced by tests of pages after lib.sh: what a real browser makes of them.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)

# skip_without_browser: what came before has been tested; status 77.
skip_without_browser() {
    [ -n "$browser" ] && return 0
    finish
    echo "skipped: no browser (chromium) for what the page does there; all else passed"
    exit 77
}

# browse WIDTH light|dark FILE.html: the page's elements once its script has run, into FILE.dom; its console must be silent.
browse() {
    width=$1 scheme=1 page=$3
    [ "$2" = dark ] && scheme=0
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 --user-data-dir="$work/browser" \
        --enable-logging=stderr --hide-scrollbars --blink-settings=preferredColorScheme=$scheme --window-size="$width",1000 \
        --dump-dom "file://$work/$page" >"${page%.html}.dom" 2>"${page%.html}.log"
    [ -s "${page%.html}.dom" ] || fail "the browser made nothing of $page: $(tail -3 "${page%.html}.log")"
    if grep -q 'CONSOLE' "${page%.html}.log"; then
        fail "$page: $(grep CONSOLE "${page%.html}.log" | head -3)"
    fi
}

# with_script PAGE.html SCRIPT.js NEW.html: the page with a script of the test's after its own.
with_script() {
    sed -e '/^<\/body><\/html>$/d' "$1" >"$3"
    {
        echo "<script>"
        cat "$HERE/$2"
        echo "</script></body></html>"
    } >>"$3"
}

# works FILE.dom NAME: the script has said data-NAME="works..." of the page.
works() {
    grep -q "data-$2=\"works" "$1" || fail "$1: $2 $(grep -o "data-$2=\"[^\"]*\"" "$1")"
}

# layouts light|dark PAGE.html...: every page in windows of 1400, 800 and 390 pixels (frames of one page: a browser's own window has no
# less than 500), checked by use_layout.js.
layouts() {
    scheme=$1 count=0
    shift
    {
        echo '<!DOCTYPE html><html><head><meta name="color-scheme" content="light dark"></head><body data-layouts=""><script>'
        echo 'addEventListener("message", event => { document.body.dataset.layouts += "[" + event.data + "]"; });</script>'
        for page in "$@"; do
            with_script "$page" use_layout.js "laid_$page"
            for width in 1400 800 390; do
                echo "<iframe src='laid_$page' style='width:${width}px;height:1000px;border:0;display:block'></iframe>"
                count=$((count + 1))
            done
        done
        echo '</body></html>'
    } >layouts.html
    browse 1440 "$scheme" layouts.html
    right=$(grep -o '<body[^>]*>' layouts.dom | grep -o ' works at [0-9]*' | wc -l)
    [ "$right" -eq $count ] || fail "$scheme: $right of $count layouts: $(grep -o '<body[^>]*>' layouts.dom | head -c 1500)"
}
