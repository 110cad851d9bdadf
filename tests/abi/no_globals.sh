#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails when an object of the given archives has writable data. Tables with addresses in them are constant after loading
# (.data.rel.ro).
set -eu
found=$(for archive in "$@"; do
    objdump -h "$archive" | awk -v archive="$archive" '
        /file format/ { object = $1 }
        $2 ~ /^\.(data|bss|tdata|tbss)/ && $2 !~ /^\.data\.rel\.ro/ && $3 !~ /^0+$/ {
            print archive ": " object " section " $2 " has 0x" $3 " bytes"
        }'
    nm "$archive" 2>/dev/null | awk -v archive="$archive" '$2 == "C" { print archive ": common symbol " $3 }'
done)
if [ -n "$found" ]; then
    printf '%s\n' "$found" >&2
    echo "models keep their state in the instance: see c_api/cnnvp_model.h" >&2
    exit 1
fi
