#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An installed copy that was moved afterwards: the program finds its presets and guest program from any folder, and a C
# program builds against the libraries by pkg-config and by CMake. BUILD is the build folder.
. "$SOURCE/tests/support/lib.sh"

cmake --install "$BUILD" --prefix "$work/first" >install.log || fail "cmake --install"
mv first moved
# Where something is not built nothing is installed: the same scripts, looking for one file elsewhere.
sed "s#$BUILD/lib/libcnnvp.a#$work/none.a#" "$BUILD/cmake/check_built.cmake" >check_built.cmake
sed "s#$BUILD/cmake/check_built.cmake#$work/check_built.cmake#" "$BUILD/cmake_install.cmake" >partial.cmake
cmake -DCMAKE_INSTALL_PREFIX="$work/partial" -P partial.cmake >partial.log 2>&1 && fail "an incomplete build is installed"
grep -q 'none.a is not built' partial.log && [ ! -e partial ] || fail "an incomplete build: $(cat partial.log)"
[ -s moved/share/doc/cnnvp/LICENSE ] && [ -s moved/share/cnnvp/examples/own_unit/adder.c ] || fail "no licence or examples"
CNNVP=$work/moved/bin/cnnvp
[ -x "$CNNVP" ] || fail "no program"
[ -s moved/share/cnnvp/cnnvp_guest.elf ] || fail "no guest program"
for header in cnnvp.h cnnvp_network.h cnnvp_asm.h cnnvp_memory.h cnnvp_model.h cnnvp_command.h; do
    [ -s moved/include/cnnvp/$header ] || fail "no $header"
done
# Pages lead to each other as in the tree; that of platform files is one of them, and README.md leads to it.
/usr/bin/python3 - "$SOURCE" moved/share/doc/cnnvp <<'PYTHON' || fail "installed pages"
import pathlib, re, sys
source, installed = (pathlib.Path(folder) for folder in sys.argv[1:])
found = set()
for page in installed.rglob("*.md"):
    for link in re.findall(r"\]\(([^)#:]+)[^)]*\)", page.read_text()):
        name = page.relative_to(installed).parent / link
        in_tree = source / name
        if (in_tree / "README.md").exists() or in_tree.suffix in (".md", ".png", ".svg"):
            assert (installed / name).exists(), (page, link)
            found.add((installed / name).resolve().relative_to(installed.resolve()).as_posix())
assert {"platform/presets", "sw/guest", "sw/explore/run_page.png", "models/documents.md"} <= found, found
for name in ("README.md", "platform/presets/README.md", "scripts/studies/array_shape.svg"):
    assert (installed / name).read_bytes() == (source / name).read_bytes(), name
PYTHON
if command -v help2man >/dev/null && [ -e "$BUILD/man/cnnvp.1" ]; then
    for command in $("$CNNVP" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        page=moved/share/man/man1/cnnvp-$command.1
        [ -s "$page" ] || fail "no manual page of $command"
        # What whatis finds, and the list of commands says; dated.
        about=$("$CNNVP" --help | sed -n "s/^  $command  *//p")
        [ -n "$about" ] && sed 's/\\-/-/g; s/\\&//g' "$page" | grep -qxF "cnnvp-$command - $about" ||
            fail "NAME of $page: $(sed -n 3,6p "$page")"
        sed -n 's/\\-/-/g; /^\.TH/p' "$page" | grep -Eq '^\.TH "?CNNVP-[A-Z-]+"? "?1"? "[A-Z][a-z]+ 20[2-9][0-9]" "cnnvp [0-9.]+"' ||
            fail "header of $page: $(grep '^\.TH' "$page")"
        if command -v lexgrog >/dev/null; then
            lexgrog "$page" | grep -q ": \"cnnvp-$command - " || fail "lexgrog: $(lexgrog "$page")"
        fi
    done
fi
[ -s moved/share/bash-completion/completions/cnnvp ] || fail "no completion for bash"
mkdir elsewhere && cd elsewhere || exit 1
expect 0 check nfu
expect 0 run lenet5 --timing-only
if grep -rlF "$work/first" "$work/moved"; then
    fail "an installed file holds the prefix"
fi

cat >drive.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <cnnvp.h>
int main(int argc, char **argv)
{
    struct cnnvp_error error;
    cnnvp_config *config = NULL;
    cnnvp_platform *platform = NULL;
    const struct cnnvp_platform_options options = {.struct_size = sizeof options};
    uint64_t rows = 0;
    uint32_t word = 0x12345678, back = 0;
    char presets[4096];
    if (cnnvp_installed_file("presets", presets, sizeof presets) != 0 || puts(presets) < 0)
        return 4;
    if (cnnvp_config_new(argv[1], &config, &error) || cnnvp_config_set(config, "pe_array.rows=4", &error) ||
        cnnvp_config_resolve(config, &error) || cnnvp_config_get(config, "pe_array.rows", &rows, NULL) ||
        cnnvp_platform_new(config, &options, &platform, &error))
        return fprintf(stderr, "%d: %s\n", argc, error.text), 1;
    if (cnnvp_platform_write(platform, 0x80001000, &word, 4) || cnnvp_platform_read(platform, 0x80001000, &back, 4))
        return 2;
    cnnvp_platform_free(platform);
    cnnvp_config_free(config);
    return rows == 4 && back == word ? 0 : 3;
}
C
pc=$(dirname "$(find "$work/moved" -name cnnvp.pc)")
preset=$work/moved/share/cnnvp/presets/nfu.yaml
PKG_CONFIG_PATH=$pc${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc -std=c11 drive.c $(pkg-config --cflags --libs cnnvp) -o drive ||
    fail "no build by pkg-config"
./drive nfu >shown || fail "the program built by pkg-config: status $?"
[ "$(cat shown)" = "$(realpath "$work/moved")/share/cnnvp/presets" ] || fail "presets of the shared library: $(cat shown)"
[ "$(ldd drive | grep -c cnnvp)" -eq 1 ] && ldd drive | grep -q "libcnnvp.so.1 => $work/moved/" || fail "libraries: $(ldd drive)"

# The installed example in plain C gives the numbers of the command.
# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Wpedantic -Werror "$work/moved/share/cnnvp/examples/c/design.c" $(pkg-config --cflags --libs cnnvp) -o design ||
    fail "no build of the example by pkg-config"
./design cpu.tcm_size=32KiB >shown || fail "the example: status $?, $(cat shown)"
expect 0 run lenet5 -n 4 -q -s cpu.tcm_size=32KiB --stats design.json
/usr/bin/python3 - <<'PYTHON' || fail "the example shows $(cat shown)"
import json, re
stats, shown = json.load(open("design.json")), open("shown").read()
said = dict(re.findall(r"^([a-z]+\.[\w.]+): (\d+)$", shown, re.M))
assert said == {"total.accel_cycles": str(stats["total"]["accel_cycles"]), "energy.total_pj": "%.0f" % stats["energy"]["total_pj"],
                "layers.C3.cycles": str(stats["layers"][2]["cycles"])}, said
steps = re.findall(r"^([\d.]+) us$", shown, re.M)
assert len(steps) > 2 and steps[0] == "20.00" and steps[-1] == "%.2f" % (stats["total"]["time_ps"] / 1e6), steps
assert len(re.findall(r"^image \d: class \d$", shown, re.M)) == 4 and "log 1: warning: 0 ps: cpu: the program needs" in shown
PYTHON
./design pe_array.row=1 2>message && fail "a wrong setting: status 0"
grep -q '^design: .*did you mean "rows"' message || fail "a wrong setting: $(cat message)"

# Names that ours has inside are other people's, too, in a program that is linked statically.
cat >names.c <<'C'
int dma_advance(void);
int LZ4_compress_default(void);
int fstWriterCreate(void);
int onnx__model_proto__unpack(void);
int rv32_decode(void);
int cnnvp_arena_alloc(void);
int dma_advance(void) { return 1; }
int LZ4_compress_default(void) { return 2; }
int fstWriterCreate(void) { return 3; }
int onnx__model_proto__unpack(void) { return 4; }
int rv32_decode(void) { return 5; }
int cnnvp_arena_alloc(void) { return 6; }
C
# shellcheck disable=SC2046
cc -std=c11 drive.c names.c $(pkg-config --cflags --libs cnnvp-static) -o static || fail "names that ours has, too"
ldd static | grep -q libcnnvp && fail "cnnvp-static.pc links the shared library"
./static "$preset" || fail "the program that has ours and its own names: status $?"
nm -g --defined-only "$(find "$work/moved" -name libcnnvp.a)" | awk 'NF == 3 && $3 !~ /^(cnnvp_|_ZNK?5cnnvp|_ZT[VIS]N5cnnvp|_ZTh[n0-9]*_N5cnnvp|sc_main|_Z7sc_mainiPPc)/' >names
[ ! -s names ] || fail "the static library shows $(head names)"
nm -g --defined-only static >names || fail "nm: status $?"
for name in dma_advance LZ4_compress_default cnnvp_arena_alloc; do
    [ "$(grep -c " $name\$" names)" -eq 1 ] || fail "$name in the program: $(grep " $name\$" names)"
done

systemc() { ldd "$1" | sed -n 's/.*\(libsystemc[^ ]* => [^ ]*\).*/\1/p'; }
[ "$(systemc drive)" = "$(systemc "$CNNVP")" ] && [ "$(systemc static)" = "$(systemc "$CNNVP")" ] && [ "$(systemc "$CNNVP")" = "$(systemc "$BUILD/bin/cnnvp")" ] ||
    fail "SystemC of the build, the installed copy, the program: $(systemc "$BUILD/bin/cnnvp"), $(systemc "$CNNVP")" \
        "$(systemc drive)"

cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(drive C CXX)
find_package(cnnvp REQUIRED COMPONENTS systemc)
add_executable(drive drive.c)
target_link_libraries(drive PRIVATE cnnvp::cnnvp)
add_executable(static drive.c)
set_target_properties(static PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(static PRIVATE cnnvp::systemc)
CMAKE
cmake -G Ninja -S . -B build -DCMAKE_PREFIX_PATH="$work/moved" >cmake.log 2>&1 && cmake --build build >>cmake.log 2>&1 ||
    fail "no build by CMake: $(tail -n 20 cmake.log)"
build/drive nfu >shown || fail "the program built by CMake: status $?"
build/static "$preset" || fail "the program built by CMake, statically: status $?"
finish
