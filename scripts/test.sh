#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, runs all tests and the linters, and counts the instructions of five runs; then builds with clang, AddressSanitizer and
# UndefinedBehaviorSanitizer, runs the tests again (without those labelled `once`, and without the copy that is
# installed), and compares what the two builds compute. The last line says how many passed, failed and were skipped. May
# be run again at any time, from any folder.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/scripts/packages.sh"
cd "$source"
jobs=$(nproc)
. "$source/scripts/results.sh"

# run_tests FOLDER [CTEST-ARGUMENT...]
run_tests() {
    folder=$1
    shift
    # The pipe hides ctest's status; its summary says the same.
    # One more than processors: some tests wait for most of their time.
    ctest --test-dir "$folder" --output-on-failure --parallel $((jobs + 1)) --timeout 600 "$@" 2>&1 | tee "$folder/ctest.log"
    count "$folder/ctest.log" "$folder/Testing/Temporary/LastTest.log"
}

# shellcheck disable=SC2086 # a list of words
cnnvp_install $CNNVP_BUILD_PACKAGES $CNNVP_TEST_PACKAGES

cnnvp_configure build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_TESTING=ON
cmake --build build --parallel "$jobs"
run_tests build

check scripts/lint.sh build

check tests/bench/instructions.py build/bin/cnnvp

# Another compiler, for what it warns of. -O1: tests of whole networks stay quick, and the sanitizers see the same. -g1: lines
# are all that they print.
cnnvp_configure build-clang-sanitize -DCMAKE_BUILD_TYPE=Debug -DCNNVP_SANITIZE=ON -DBUILD_TESTING=ON \
    -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_FLAGS=-O1 -DCMAKE_CXX_FLAGS=-O1 \
    -DCMAKE_C_FLAGS_DEBUG=-g1 -DCMAKE_CXX_FLAGS_DEBUG=-g1
cmake --build build-clang-sanitize --parallel "$jobs"
run_tests build-clang-sanitize -LE 'once|install'

check scripts/compare_builds.sh build build-clang-sanitize

summary
