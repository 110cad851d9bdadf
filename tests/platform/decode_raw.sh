#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# decode_raw.sh BENCH PROTOC: a trace of 2000 events has 1000 slices, to a third-party reader too.
set -e
"$1" 2000 protoc.pftrace
"$2" --decode_raw < protoc.pftrace > protoc.txt
test "$(grep -c '^    9: 1$' protoc.txt)" = 1000
test "$(grep -c '^    9: 2$' protoc.txt)" = 1000
rm protoc.pftrace protoc.txt
