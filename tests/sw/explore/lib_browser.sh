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

# frames FRAME...: what frames.py says.
frames() {
    /usr/bin/python3 "$HERE/frames.py" "$browser" "$@" || fail "pages in the browser"
}
