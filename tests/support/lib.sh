# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of the command line. CTest sets CNNVP, SOURCE and RISCV_GCC. Each test runs in its own folder.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
# A runaway test must not fill the disk: at most 512 MiB for each file (in units of 512 bytes).
ulimit -f 1048576

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# expect STATUS ARGUMENT...: runs cnnvp for at most $limit seconds; its output is in files `out` and `err`.
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

# refused STATUS TEXT ARGUMENT...: runs cnnvp, which must fail with a message that contains TEXT.
refused() {
    wanted=$1 text=$2
    shift 2
    expect "$wanted" "$@"
    grep -q '^cnnvp: ' err || fail "no message: cnnvp $*"
    grep -qF -- "$text" err || fail "message without \"$text\": cnnvp $* ($(head -c 400 err))"
}

# says TEXT: the output of the last run must contain TEXT.
says() {
    grep -qF -- "$1" out || fail "output without \"$1\": $(head -c 400 out)"
}

# absent FILE...: none of these files exists, nor a partly written FILE.* beside it.
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
