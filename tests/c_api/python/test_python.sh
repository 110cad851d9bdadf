#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Python package of an installed copy: what it says of the library's structs, its calls beside the command, wrong
# arguments, and the example.
. "$SOURCE/tests/support/lib.sh"

cmake --install "$BUILD" --prefix "$work/usr" >install.log || fail "cmake --install"
PYTHONPATH=$work/usr/lib/python3/dist-packages
PYTHONDONTWRITEBYTECODE=1
CNNVP=$work/usr/bin/cnnvp
export PYTHONPATH PYTHONDONTWRITEBYTECODE
unset CNNVP_LIBRARY CNNVP_PRESETS CNNVP_NETWORKS CNNVP_GUEST
tests=$SOURCE/tests/c_api/python
if [ -x "$CLANG" ]; then
    /usr/bin/python3 "$tests/test_structs.py" "$SOURCE/c_api" "$CLANG" "$PYTHONPATH/cnnvp" "$SOURCE/tests/abi" ||
        fail "structs and functions"
fi
"$CNNVP" new-guest mine >made && make -C mine CNNVP="$CNNVP" >>made 2>&1 || fail "a program: $(cat made)"
# An array whose sums are wrong.
mkdir array && cp "$work/usr/share/cnnvp/examples/own_array/dot_product.yaml" array
sed '/^        status = cnnvp_fx16_compute/{n;s/^/    if (!unit->timing_only)\n        data.sums[0] ^= 0x5a5a5;\n/}' \
    "$work/usr/share/cnnvp/examples/own_array/dot_product.c" >array.c
# shellcheck disable=SC2046
cc -std=c11 -O2 -shared -fPIC array.c $(PKG_CONFIG_PATH=$(dirname "$(find "$work/usr" -name cnnvp-model.pc)") pkg-config --cflags --libs cnnvp-model) \
    -o array/libdot_product.so || fail "the wrong array is not built"
/usr/bin/python3 "$tests/test_cnnvp.py" "$CNNVP" "$SOURCE/tests/data" || fail "the package's calls"
/usr/bin/python3 "$tests/test_fuzz.py" || fail "wrong arguments"
# Moved, and without its library.
mv usr moved
PYTHONPATH=$work/moved/lib/python3/dist-packages
/usr/bin/python3 -c 'import cnnvp; cnnvp.run("lenet5", timing_only=True)' || fail "a copy that was moved"
mv moved/lib/libcnnvp.so.1 elsewhere.so
/usr/bin/python3 -c 'import cnnvp' 2>message && fail "there is no library"
grep -q '^ImportError: the library of cnnvp cannot be used: ' message || fail "without the library: $(cat message)"
CNNVP_LIBRARY=$work/elsewhere.so.1 /usr/bin/python3 -c 'import cnnvp' 2>message && fail "CNNVP_LIBRARY is not looked at"
mv elsewhere.so moved/lib/libcnnvp.so.1

# The example draws where matplotlib is installed.
if /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
    MPLBACKEND=Agg /usr/bin/python3 "$work/moved/share/cnnvp/examples/python/array_size.py" sizes.png >shown || fail "the example: $(cat shown)"
    [ "$(head -c 4 sizes.png | tail -c 3)" = PNG ] && [ "$(grep -c ' us ' shown)" -eq 4 ] || fail "the example: $(cat shown)"
fi
finish
