#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The core, and its tests with it, build on their own.
. "$SOURCE/tests/machines/lib.sh"

configure "$SOURCE/models/soc/cpu" core
configure "$SOURCE/tests/models/soc/cpu" tests -DCMAKE_BUILD_TYPE=Debug
ninja -C tests cpu_tests >ninja.log 2>&1 || fail "no build: $(tail -n 20 ninja.log)"
./tests/cpu_tests cpu_calls >tests.log 2>&1 || fail "$(cat tests.log)"
finish
