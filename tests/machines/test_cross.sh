#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A cross build, as far as it can be seen without another machine's compiler: what is only source is found beside the
# target's folders, nothing of the target runs unless there is an emulator, and what is left out is said.
. "$SOURCE/tests/machines/lib.sh"
cross="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_FIND_ROOT_PATH=/nowhere -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY
    -DZLIB_INCLUDE_DIR=/usr/include -DBUILD_TESTING=ON"

# said FOLDER TEXT: CMake's messages, whose lines are wrapped
said() { tr -s ' \n' ' ' <"$1.log" | grep -qF -- "$2" || fail "$1: nothing said of \"$2\": $(cat "$1.log")"; }

# shellcheck disable=SC2086 # a list of words
configure "$SOURCE" plain $cross
grep -q 'fstapi.c.o' plain/build.ninja || fail "FST was dropped where its sources are"
said plain "No tests: this machine cannot run them. Set CMAKE_CROSSCOMPILING_EMULATOR"
if command -v help2man >/dev/null; then
    said plain "No manual pages: help2man runs the program, which this machine cannot do."
    said plain "Set CMAKE_CROSSCOMPILING_EMULATOR, such as to"
fi
grep -q 'man/cnnvp' plain/build.ninja && fail "help2man would run the target's program"
grep -q 'bin/cnnvp_isa_header' plain/build.ninja && fail "the header's maker is the target's program"
ninja -C plain cnnvp_isa >ninja.log 2>&1 || fail "no cnnvp_isa.h: $(tail -n 5 ninja.log)"
cmp plain/include/cnnvp_isa.h "$BUILD/include/cnnvp_isa.h" || fail "another cnnvp_isa.h"

# shellcheck disable=SC2086
configure "$SOURCE" without $cross -DCNNVP_FST_FOLDER=
said without "There will be no .fst traces: GTKWave's fstapi.c was not found."
said without "apt-get install verilator"

# shellcheck disable=SC2086
configure "$SOURCE" emulated $cross "-DCMAKE_CROSSCOMPILING_EMULATOR=/usr/bin/env;EMULATED=in an emulator"
if command -v help2man >/dev/null; then
    mkdir -p emulated/bin
    printf '#!/bin/sh\necho "$EMULATED: $*"\n' >emulated/bin/cnnvp
    chmod +x emulated/bin/cnnvp
    [ "$(emulated/man/emulated/cnnvp run --help)" = "in an emulator: run --help" ] || fail "the emulator is not used"
    grep 'help2man' emulated/build.ninja | grep -q 'man/emulated/cnnvp' || fail "help2man does without the emulator"
fi
finish
