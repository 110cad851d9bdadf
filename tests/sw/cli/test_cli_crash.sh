#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a unit does wrong is said, with its name and callback: calls that the platform refuses, and crashes.
. "$SOURCE/tests/support/lib.sh"
lenet=$SOURCE/scripts/networks/lenet5.onnx
cat >faults.yaml <<END
base: nfu
units: {own: {model: "$FAULTS:faults", connect: {mem: dram}, idle: true}}
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

# A unit that owes a completion is named, and which command.
cat >owes.yaml <<END
base: faults.yaml
units: {own: {fault: owe}, instruction: {connect: {vector: own.command}}}
END
printf 'vadd r16\nhalt\n' >owe.s
expect 0 asm owe.s -o owe.bin
refused 1 "--max-time was reached" exec owe.bin -p owes.yaml --max-time 1ms
grep -q "own owes the completion of opcode 0x[0-9a-f]*, given at [0-9.]* us" err || fail "who owes: $(cat err)"

# A run that is interrupted says who runs and what is under way, and leaves nothing but its statistics. A unit that does
# not return is named when the signal has had no effect; a second one ends the program.
"$CNNVP" run "$lenet" -n 200000 --timing-only -o never.npy --stats part.json -q >out 2>err &
sleep 5
kill -INT $!
wait $!
[ $? = 1 ] || fail "interrupted: $(cat err)"
grep -Eq "^cnnvp: interrupted at .* of simulated time: [a-z_]+ runs(; .*(waits|sleeps|works on opcode)|$)" err || fail "$(cat err)"
absent never.npy
grep -q '"partial": true' part.json || fail "no partial statistics"
"$CNNVP" run "$lenet" -p faults.yaml -s own.fault=stay --timing-only -q --stats none.json --trace none.vcd >out 2>err &
sleep 5
kill -INT $!
sleep 5
grep -qx "cnnvp: own: its unit does not return from event; a second signal ends the program at once" err || fail "$(cat err)"
kill -INT $!
wait $!
[ $? = 130 ] || fail "a second signal: $?"
absent none.json none.vcd

# 139: by SIGSEGV. A sanitizer says it in its own way.
for fault in $CRASHES; do
    status=0
    "$CNNVP" run "$lenet" -p faults.yaml -s own.fault=$fault --timing-only -q >out 2>err || status=$?
    [ $status = 139 ] || fail "$fault: status $status"
    callback=$([ $fault = crash ] && echo event || echo init)
    grep -qx "cnnvp: own: its unit crashes in $callback" err || fail "$fault: $(cat err)"
done

# Advice survives what a unit does when it is tried: each crash, and what does not end, is reported, and the
# others are tried.
if [ -n "$CRASHES" ]; then
    expect 0 run "$lenet" -p faults.yaml -s own.fault=count --timing-only -q --advise
    grep -qx "3 of them crash or do not end" out || fail "advice with crashes: $(tail -n 12 out)"
    grep -qx "  own.fault=crash  own: its unit crashes in event; signal 11 (Segmentation fault)" out || fail "advice: $(cat out)"
    grep -qx "  own.fault=crash_asked  own: its unit crashes in init; signal 11 (Segmentation fault)" out || fail "advice: $(cat out)"
    grep -qx "  own.fault=stay  no end after 1[0-9] s" out || fail "advice, no end: $(cat out)"
    sed -n 's/^  \(own.fault=[a-z_]*\)  .*/\1/p' out | LC_ALL=C sort -c || fail "advice tells crashes in the order in which they came: $(cat out)"
    cp out with
    # A trial does not outlive the command: one is waited for that works for a second, as that which never ends.
    "$CNNVP" run "$lenet" -p faults.yaml -s own.fault=count --timing-only -q --advise >out 2>err &
    trial='' trials=''
    while [ -z "$trial" ]; do
        before=$trials
        sleep 1
        trials=$(cat "/proc/$!/task/$!/children") || break
        for one in $trials; do
            case " $before" in *" $one "*) trial=$one ;; esac
        done
    done
    kill -KILL $!
    sleep 1
    [ -n "$trial" ] || fail "no trial was under way"
    grep -qs '^State:.[RSDT]' "/proc/$trial/status" && fail "a trial goes on alone" && kill -KILL "$trial"
    expect 0 run "$lenet" --timing-only -q --advise
    grep -q "crash or" out && fail "crashes without a reason: $(cat out)"
    [ "$(grep -c ' %$' with)" -ge "$(grep -c ' %$' out)" ] || fail "less advice after crashes: $(cat with)"
fi
finish
