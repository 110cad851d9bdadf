#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How test.sh counts: tests that pass, fail, are skipped with a reason and without one. test_results.sh SCRIPTS
set -eu
scripts=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
wrong() {
    echo "FAILED: $*: $(cat said)" >&2
    exit 1
}

# project NAME...: runs those of the tests below that are named, and lets results.sh say what became of them.
project() {
    rm -rf tree
    mkdir tree
    for name in "$@"; do
        case $name in
        good*) echo "add_test($name \"true\")" ;;
        bad*) echo "add_test($name sh -c \"echo skipped: not me; false\")" ;;
        skipped*) echo "add_test($name sh -c \"echo all else passed; echo skipped: no $name here; exit 77\")" ;;
        silent*) echo "add_test($name sh -c \"exit 77\")" ;;
        esac
        echo "set_tests_properties($name PROPERTIES SKIP_RETURN_CODE 77)"
    done >tree/CTestTestfile.cmake
    ctest --test-dir tree >tree/log 2>&1 || :
    status=0
    sh -euc '. "$1/results.sh"; count tree/log tree/Testing/Temporary/LastTest.log; check true; summary' \
        sh "$scripts" >said || status=$?
}

project good1 good2 skipped1 good3 skipped2
[ "$status" -eq 0 ] && [ "$(tail -n 1 said)" = "4 passed, 0 failed, 2 skipped" ] || wrong "skips are no passes"
grep -qx 'skipped: skipped1: no skipped1 here' said && grep -qx 'skipped: skipped2: no skipped2 here' said ||
    wrong "the reasons are not said"
project good1 bad1 skipped1
[ "$status" -eq 1 ] && [ "$(tail -n 1 said)" = "2 passed, 1 failed, 1 skipped" ] || wrong "a failure"
grep -q '^failed: bad1' said || wrong "the failure is not named"
project good1 silent1
[ "$status" -eq 1 ] && [ "$(tail -n 1 said)" = "2 passed, 1 failed, 0 skipped" ] || wrong "a skip without a reason"
grep -q '^failed: silent1 is skipped' said || wrong "the skip without a reason is not named"
project good1
[ "$status" -eq 0 ] && [ "$(tail -n 1 said)" = "2 passed, 0 failed, 0 skipped" ] || wrong "one that passes"
project
[ "$status" -eq 1 ] || wrong "a run without tests"
echo "all passed"
