# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of the command. CNNVP, SOURCE and RISCV_GCC come from CTest. Each test works in a folder of its own.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
# A run that goes wild must not fill the disk: 512 MiB a file (units of 512 bytes).
ulimit -f 1048576

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# expect STATUS ARGUMENT...: runs cnnvp, for $limit seconds at most, keeps `out` and `err`.
limit=300
expect() {
    wanted=$1
    shift
    timeout -k 10 "$limit" "$CNNVP" "$@" >out 2>err </dev/null
    status=$?
    [ $status -eq "$wanted" ] || fail "status $status, not $wanted: cnnvp $* ($(head -c 400 err))"
    if [ "$wanted" -eq 0 ] && grep -q 'Sanitizer\|runtime error' err; then
        fail "sanitizer: cnnvp $* ($(head -c 400 err))"
    fi
}

# refused STATUS TEXT ARGUMENT...: runs cnnvp, which fails with one message that contains TEXT.
refused() {
    wanted=$1 text=$2
    shift 2
    expect "$wanted" "$@"
    grep -q '^cnnvp: ' err || fail "no message: cnnvp $*"
    grep -qF -- "$text" err || fail "message without \"$text\": cnnvp $* ($(head -c 400 err))"
}

# says TEXT: the last output contains it.
says() {
    grep -qF -- "$1" out || fail "output without \"$1\": $(head -c 400 out)"
}

# absent FILE...: none of them is there, nor anything half-written beside them.
absent() {
    for file in "$@"; do
        for found in "$file" "$file".*; do
            [ ! -e "$found" ] || fail "$found was left behind"
        done
    done
}

finish() {
    [ $failures -eq 0 ] || exit 1
    echo "all passed"
}
