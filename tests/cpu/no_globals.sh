#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A library of models must not hold writable data: no_globals.sh LIBRARY
# (.data.rel.ro, constants with addresses in them, is read-only once loaded.)
set -eu
found=$(size -A "$1" | awk '$1 ~ /^\.(data|bss|tdata|tbss)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0 { print $1, $2 }
                            $1 ~ /^COMMON/ && $2 > 0 { print $1, $2 }')
if [ -n "$found" ]; then
    echo "writable data in $1:"
    echo "$found"
    exit 1
fi
