# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart.sh and test.sh: installs missing Debian packages. Needs neither network nor root if none is
# missing.

# Compilers and build tools; libraries; verilator for its writer of FST traces; the guest's compiler, its C library and
# make; Python with the digits (in python3-sklearn) and the exporter of VGG16 and other networks.
CNNVP_BUILD_PACKAGES="gcc g++ cmake ninja-build pkg-config help2man
    libsystemc-dev libfyaml-dev libjansson-dev libsqlite3-dev libxxhash-dev libzstd-dev zlib1g-dev libdw-dev
    libonnx-dev libprotobuf-c-dev protobuf-c-compiler
    verilator
    gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf make
    python3 python3-numpy python3-sklearn python3-onnx"
# Additional packages for the tests: the test library, what unpacks their data, other readers of the output files, a
# browser for the report pages, linters, and another compiler with its sanitizers.
# shellcheck disable=SC2034 # used by test.sh
CNNVP_TEST_PACKAGES="libcmocka-dev xz-utils protobuf-compiler qemu-system-misc gdb-multiarch sqlite3 chromium nodejs
    clang-format clang-tidy cppcheck clang libclang-rt-14-dev valgrind"

# cnnvp_missing PACKAGE...: prints the packages that are not installed, each after a space.
cnnvp_missing() {
    for package in "$@"; do
        case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) in
        "install ok installed") ;;
        *) printf ' %s' "$package" ;;
        esac
    done
}

# cnnvp_install PACKAGE...: installs the missing packages.
cnnvp_install() {
    missing=$(cnnvp_missing "$@")
    [ -n "$missing" ] || {
        echo "All packages are installed."
        return 0
    }
    echo "Installing:$missing"
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || {
            echo "These packages are missing, and there is no sudo. As root: apt-get install$missing" >&2
            return 1
        }
        as_root=sudo
    fi
    $as_root apt-get -q -o DPkg::Lock::Timeout=600 update
    # shellcheck disable=SC2086 # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 install \
        --no-install-recommends $missing
}

# cnnvp_configure BUILD-FOLDER [CMAKE-ARGUMENT...]: runs CMake. An existing build folder keeps its generator.
cnnvp_configure() {
    folder=$1
    shift
    if [ ! -f "$folder/CMakeCache.txt" ]; then
        set -- -G Ninja "$@"
        if command -v ccache >/dev/null; then
            set -- -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "$@"
        fi
    fi
    cmake -S "$source" -B "$folder" "$@"
}
