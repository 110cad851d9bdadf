#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs missing packages, builds, runs all tests and linters, and counts the instructions of five runs. Then builds
# with clang, AddressSanitizer and UndefinedBehaviorSanitizer, runs the tests again (except those labelled `once` or
# `install`), and compares the results of both builds. The last line has the numbers of passed, failed and skipped
# tests. It may be run again at any time, from any folder.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/scripts/packages.sh"
cd "$source"
jobs=$(nproc)
. "$source/scripts/results.sh"

# run_tests FOLDER [CTEST-ARGUMENT...]: runs the tests of a build folder, and counts their results.
run_tests() {
    folder=$1
    shift
    # The pipe hides ctest's status, so `count` reads its summary. One job more than processors, since some tests mostly
    # wait.
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

# Another compiler gives other warnings. -O1 keeps tests of whole networks fast without hiding errors from the
# sanitizers. -g1 has the line numbers that they print.
cnnvp_configure build-clang-sanitize -DCMAKE_BUILD_TYPE=Debug -DCNNVP_SANITIZE=ON -DBUILD_TESTING=ON \
    -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_FLAGS=-O1 -DCMAKE_CXX_FLAGS=-O1 \
    -DCMAKE_C_FLAGS_DEBUG=-g1 -DCMAKE_CXX_FLAGS_DEBUG=-g1
cmake --build build-clang-sanitize --parallel "$jobs"
run_tests build-clang-sanitize -LE 'once|install'

check scripts/compare_builds.sh build build-clang-sanitize

summary
