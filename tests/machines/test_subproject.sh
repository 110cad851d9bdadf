#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The project as a folder of another one: it configures with its tests, builds, and its guest program has the bytes of
# the build that is tested, though both folders are others.
. "$SOURCE/tests/machines/lib.sh"

mkdir outer
ln -s "$SOURCE" outer/inner
cat >outer/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(outer C CXX)
add_subdirectory(inner)
add_executable(outer outer.c)
target_link_libraries(outer PRIVATE cnnvp_bfp)
CMAKE
echo 'int main(void) { return 0; }' >outer/outer.c
configure outer build -DBUILD_TESTING=ON
cmake --build build --target outer cnnvp_guest cnnvp_isa >build.log 2>&1 || fail "no build: $(tail -n 20 build.log)"
cmp build/inner/share/cnnvp/cnnvp_guest.elf "$BUILD/share/cnnvp/cnnvp_guest.elf" ||
    fail "the guest program depends on where it is built"
# In another project these name that project's folders.
(cd "$SOURCE" && find CMakeLists.txt c_api models platform scripts sw tests -name CMakeLists.txt -o -name '*.cmake' -o -name '*.in') |
    while read -r file; do
        grep -Hn 'CMAKE_SOURCE_DIR\|CMAKE_BINARY_DIR' "$SOURCE/$file"
    done >found
[ ! -s found ] || fail "PROJECT_SOURCE_DIR or PROJECT_BINARY_DIR is meant: $(cat found)"
finish
