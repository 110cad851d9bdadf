#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a unit does wrong is said, with its name and callback: calls that the platform refuses, and crashes.
. "$SOURCE/tests/support/lib.sh"
lenet=$SOURCE/scripts/networks/lenet5.onnx
cat >faults.yaml <<END
base: nfu
units: {own: {model: "$FAULTS:faults", connect: {mem: dram}}}
END

# warned FAULT TEXT: the run goes on; the same fault comes twice and is said once. With --strict it ends the run.
warned() {
    expect 0 run "$lenet" -p faults.yaml -s "own.fault=$1" --timing-only
    [ "$(grep -cF "own: $2" err)" = 1 ] || fail "$1: not said once: $(cat err)"
    refused 1 "$2" run "$lenet" -p faults.yaml -s "own.fault=$1" --timing-only --strict
}
warned request_address "request, called in event, is refused (no such address): 0x100 to 0x13f is not within 0x80000000 to"
warned request_outstanding "request, called in event, is refused (malformed): outstanding is 0; at least 1 burst"
warned count "count, called in event, is refused (malformed): there is no statistic 7; the unit has 0"
warned span "span, called in event, is refused (malformed): work ends at"
warned notify "notify, called in event, is refused (malformed): there is no event 5; the unit has 1"
warned complete "complete, called in event, is refused (not possible now): the request is none that the unit has accepted"
warned wait "wait, called in event, is refused (not possible now): only the unit's process may wait"

# 139: by SIGSEGV. A sanitizer says it in its own way.
for fault in $CRASHES; do
    status=0
    "$CNNVP" run "$lenet" -p faults.yaml -s own.fault=$fault --timing-only -q >out 2>err || status=$?
    [ $status = 139 ] || fail "$fault: status $status"
    callback=$([ $fault = crash ] && echo event || echo init)
    grep -qx "cnnvp: own: its unit crashes in $callback" err || fail "$fault: $(cat err)"
done

# Advice survives what a unit does when it is tried: each crash is reported as one, and the others are tried.
if [ -n "$CRASHES" ]; then
    expect 0 run "$lenet" -p faults.yaml -s own.fault=count --timing-only -q --advise
    grep -qx "2 of them crash" out || fail "advice with crashes: $(tail -n 12 out)"
    grep -qx "  own.fault=crash  own: its unit crashes in event; signal 11 (Segmentation fault)" out || fail "advice: $(cat out)"
    grep -qx "  own.fault=crash_asked  own: its unit crashes in init; signal 11 (Segmentation fault)" out || fail "advice: $(cat out)"
    cp out with
    expect 0 run "$lenet" --timing-only -q --advise
    grep -q crash out && fail "crashes without a reason: $(cat out)"
    [ "$(grep -c ' %$' with)" -ge "$(grep -c ' %$' out)" ] || fail "less advice after crashes: $(cat with)"
fi
finish
