#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What bash completes of a command line: names that the program has, from its help.
. "$SOURCE/tests/support/lib.sh"
# shellcheck source=/dev/null
. "$SOURCE/scripts/completion/cnnvp"

# completes WANTED WORD...: the last word's completions, with a space behind each.
completes() {
    wanted=$1
    shift
    COMP_WORDS=("$CNNVP" "$@")
    COMP_CWORD=$#
    _cnnvp
    [ "$(printf '%s ' "${COMPREPLY[@]}")" = "$wanted " ] || fail "$*: ${COMPREPLY[*]}, not $wanted"
}
completes "run report" r
completes "new-guest new-unit" new
completes "--output --objective --on-chip" run --o
completes "layer depth-first fused auto" run --schedule =
completes "fused" run --schedule = f
completes "truncate nearest stochastic floor" run --rounding ""
completes "" run --platform = n
completes "" run lenet
completes "" nothing --o
finish
