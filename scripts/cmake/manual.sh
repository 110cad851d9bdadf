#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# manual.sh HELP2MAN PROGRAM COMMAND VERSION PAGE: makes the manual page of `cnnvp COMMAND` ("": of cnnvp), dated
# SOURCE_DATE_EPOCH. The one-line description comes from the list of commands that the program prints.
set -eu
help2man=$1 program=$2 command=$3 version=$4 page=$5
folder=$(dirname "$page")
mkdir -p "$folder/calls"
name=$(basename "$page" .1)
call=$folder/calls/$name # help2man takes the page's name from this file name
printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$program" "$command" >"$call"
chmod +x "$call"
about="a virtual platform for CNN accelerators"
[ -z "$command" ] || about=$("$program" --help | sed -n "s/^  $command  *//p")
[ -n "$about" ] || {
    echo "manual.sh: cnnvp --help does not list $command" >&2
    exit 1
}
"$help2man" --no-info --name="$about" --version-string="$version" --source="cnnvp $version" --output="$page" "$call"
