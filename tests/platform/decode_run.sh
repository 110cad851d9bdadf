#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# decode_run.sh CNNVP PROTOC NETWORK GUEST-ELF: a run's trace, decoded by a third-party reader.
set -e
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" run "$3" -n 2 -q --trace "$work/run.pftrace"
"$2" --proto_path="$here" --decode=Trace perfetto.proto <"$work/run.pftrace" >"$work/run.txt"
/usr/bin/python3 "$here/check_decoded.py" "$work/run.txt" "$4"
