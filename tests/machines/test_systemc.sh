#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A SystemC that is not the system's, known by a CMake package (as SystemC 3 installs it) or by pkg-config: a program
# that is built by the installed cnnvp-static.pc, and the installed command itself, use that one and find it without help.
. "$SOURCE/tests/machines/lib.sh"

library=$(ldd "$CNNVP" | sed -n 's/.*libsystemc[^ ]* => \([^ ]*\).*/\1/p')
[ -n "$library" ] || { echo "SystemC is linked statically here"; exit 77; }
own=$work/systemc
mkdir -p "$own/include" "$own/lib/cmake/SystemCLanguage" "$own/pc"
cp -L "$library" "$own/lib/"
ln -s "$(basename "$library")" "$own/lib/libsystemc.so"
cat >"$own/lib/cmake/SystemCLanguage/SystemCLanguageConfig.cmake" <<CMAKE
add_library(SystemC::systemc SHARED IMPORTED)
set_target_properties(SystemC::systemc PROPERTIES IMPORTED_LOCATION $own/lib/libsystemc.so
  INTERFACE_INCLUDE_DIRECTORIES $own/include INTERFACE_COMPILE_DEFINITIONS "\$<\$<BOOL:>:ABSENT>;OWN_SYSTEMC")
CMAKE
cat >"$own/pc/systemc.pc" <<PC
Name: SystemC
Description: a copy
Version: 9.9.9
Libs: -L$own/lib -lsystemc
Libs.private: -lpthread
Cflags: -I$own/include -DOWN_SYSTEMC
PC
cat >version.c <<'C'
#include <stdio.h>
#include <cnnvp.h>
#ifdef WANTS_OWN
#ifndef OWN_SYSTEMC
#error "SystemC's definitions are missing"
#endif
#endif
int main(void)
{
    return puts(cnnvp_systemc_version()) < 0;
}
C

# install_pc FOLDER: what belongs to an installed cnnvp-static.pc. The library is that of the build.
install_pc() {
    mkdir -p "$1.usr/lib/pkgconfig"
    cp "$1/cmake/cnnvp-static.pc" "$1.usr/lib/pkgconfig/"
    ln -s "$BUILD/lib/libcnnvp.a" "$1.usr/lib/libcnnvp.a"
    mkdir "$1.usr/include"
    ln -s "$SOURCE/c_api" "$1.usr/include/cnnvp"
}

# by HOW CMAKE-ARGUMENT...
by() {
    how=$1
    shift
    configure "$SOURCE" "$how" -DBUILD_TESTING=OFF -DCMAKE_INSTALL_LIBDIR=lib "$@"
    install_pc "$how"
    pc=$work/$how.usr/lib/pkgconfig
    # shellcheck disable=SC2046
    PKG_CONFIG_PATH=$pc cc -std=c11 -DWANTS_OWN version.c \
        $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs cnnvp-static) -o "$how.program" || fail "$how: no build by pkg-config"
    ldd "$how.program" | grep -qF "=> $own/lib/" || fail "$how: the program has $(ldd "$how.program" | grep systemc)"
    ./"$how.program" >out || fail "$how: the program's status is $?"
    grep -rqF "NEW_RPATH \"$own/lib\"" "$how/sw/cli/cmake_install.cmake" ||
        grep -qF "RPATH \"$own/lib\"" "$how/sw/cli/cmake_install.cmake" ||
        fail "$how: the installed command has no run path to SystemC"
}

by cmake -DSystemCLanguage_DIR="$own/lib/cmake/SystemCLanguage"
PKG_CONFIG_PATH=$own/pc
export PKG_CONFIG_PATH
by pkgconfig -DCMAKE_DISABLE_FIND_PACKAGE_SystemCLanguage=ON

# The system's own is asked for by its version, and has no place.
unset PKG_CONFIG_PATH
if pkg-config --exists systemc; then
    configure "$SOURCE" system -DBUILD_TESTING=OFF -DCMAKE_DISABLE_FIND_PACKAGE_SystemCLanguage=ON
    grep -qF "systemc = $(pkg-config --modversion systemc) " system/cmake/cnnvp-static.pc || fail "no version of SystemC"
    grep -q 'rpath' system/cmake/cnnvp-static.pc && fail "a run path to the system's library"
fi
finish
