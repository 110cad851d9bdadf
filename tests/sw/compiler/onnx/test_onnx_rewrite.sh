#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Operators that become others: their values, and what they are not.
. "$SOURCE/tests/support/lib.sh"

/usr/bin/python3 "$SOURCE/tests/sw/compiler/onnx/rewrite.py" "$CNNVP" || fail "values of operators that become others"
finish
