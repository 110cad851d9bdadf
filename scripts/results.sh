# SPDX-License-Identifier: Apache-2.0
# Sourced by test.sh: counts passed, failed and skipped tests. At the end it lists the failures, and the skipped tests
# with their reasons.
passed=0 failed=0 skipped=0
# One line per failed or skipped test, printed at the end of the log, where readers look first.
failures= skips=

fail() {
    failed=$((failed + 1))
    failures="$failures
failed: $1"
}

# count LOG OUTPUTS: adds the results of a ctest run from its log and from OUTPUTS, the LastTest.log with the output of
# all tests. A run without results counts as one failure. A skipped test (exit status 77) prints `skipped: REASON`.
count() {
    total=$(sed -n 's/.* tests failed out of \([0-9][0-9]*\)$/\1/p' "$1" | tail -n 1)
    bad=$(sed -n 's/.*, \([0-9][0-9]*\) tests failed out of [0-9][0-9]*$/\1/p' "$1" | tail -n 1)
    if [ -z "$total" ] || [ -z "$bad" ] || [ "$total" -eq 0 ]; then
        fail "no result in $1"
        return
    fi
    names=$(sed -n '/^The following tests did not run:/,/^$/s/^[[:space:]]*[0-9]* - \(.*\) (Skipped)$/\1/p' "$1")
    left=0
    for name in $names; do
        left=$((left + 1))
        reason=$(awk -v name="$name" '
            /^[0-9]+\/[0-9]+ Testing: / { inside = $NF == name }
            inside && sub(/^skipped: /, "") { print; exit }' "$2")
        if [ -z "$reason" ]; then
            fail "$name is skipped and does not say why"
        else
            skips="$skips
skipped: $name: $reason"
            skipped=$((skipped + 1))
        fi
    done
    passed=$((passed + total - left - bad))
    failed=$((failed + bad))
    [ "$bad" -eq 0 ] || failures="$failures
$(sed -n '/^The following tests FAILED:/,$s/^[[:space:]]*[0-9]* - /failed: /p' "$1")"
}

# check COMMAND [ARGUMENT...]: runs the command, and counts it as one test.
check() {
    if "$@"; then
        passed=$((passed + 1))
    else
        fail "$*"
    fi
}

# summary: prints skipped tests, failures and counts. Status 0: nothing failed.
summary() {
    echo "$skips$failures"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
