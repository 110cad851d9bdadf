#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints lines of dram_simulator.def: record.sh CHECKOUT BUILD PLACES, with a checkout of Ramulator 2.1 (c5b1c3a), a folder for what is
# compiled, and the program dram_places of this tree. Its libraries: libyaml-cpp-dev and libfmt-dev.
set -eu
checkout=$1 build=$2 places=$3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$build"
if [ ! -x "$build/drive" ]; then
    find "$checkout/src/ramulator" -name '*.cpp' ! -path '*/python/*' ! -path '*/processor/*' ! -path '*/plugin/*' \
        ! -path '*/memory_trace/*' ! -name 'blockhammer*' ! -name 'prac*' |
        (cd "$build" && xargs -P 2 -n 4 g++ -std=c++20 -O1 -fPIC -I"$checkout/src" -c)
    g++ -shared -o "$build/libramulator.so" "$build"/*.o -lyaml-cpp -lfmt
    g++ -std=c++20 -O2 -I"$checkout/src" -o "$build/drive" "$here/drive.cpp" -L"$build" -lramulator -lyaml-cpp -lfmt \
        -Wl,-rpath,"$build"
fi

# clocks KIND PRESET PSEUDO-CHANNELS PATTERN READS-ON-THEIR-WAY LEVELS HALVES TICKS
clocks() {
    [ -f "$build/$1.yaml" ] || python3 "$here/parts.py" "$checkout" "$1" >"$build/$1.yaml"
    "$places" "$2" "$3" 1 4 "$4" 8000 >"$build/places.txt"
    "$build/drive" "$build/$1.yaml" "$build/places.txt" "$5" "$6" "$7" "$8" | cut -d ' ' -f 1
}

for pattern in $("$places"); do
    name=$(echo "$pattern" | tr a-z A-Z)
    for most in 1 32; do
        echo "DRAM_PSEUDO(4, $name, $most, $(clocks hbm2-whole 4 2 $pattern $most 6 1 1), $(clocks hbm2 4 2 $pattern $most 6 2 1))"
        echo "DRAM_PSEUDO(7, $name, $most, $(clocks hbm3-whole 7 2 $pattern $most 7 1 2), $(clocks hbm3 7 2 $pattern $most 7 2 2))"
        case $pattern in *_layers)
            echo "DRAM_SIMULATOR(1, $name, $most, $(clocks ddr4 1 1 $pattern $most 6 1 1))"
            echo "DRAM_SIMULATOR(6, $name, $most, $(clocks lpddr5 6 1 $pattern $most 6 1 1))" ;;
        esac
    done
    echo "DRAM_WCK($name, $(clocks lpddr5-wck 6 1 $pattern 1 6 1 1), $(clocks lpddr5-wck 6 1 $pattern 32 6 1 1))"
done
