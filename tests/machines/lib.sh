# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of this folder.
. "$SOURCE/tests/support/lib.sh"

# configure SOURCE-FOLDER FOLDER [CMAKE-ARGUMENT...]: leaves what was said in FOLDER.log.
configure() {
    from=$1 folder=$2
    shift 2
    cmake -G Ninja -S "$from" -B "$folder" "$@" >"$folder.log" 2>&1 ||
        { fail "$folder is not configured: $(tail -n 20 "$folder.log")"; finish; }
}
