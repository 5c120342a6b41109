#!/bin/sh
# runnel-zinx(7) says no more than is so: a comment behind each item names a test that is there, or
# the item says why there is nothing; each call is in the header. tests/interop/run.sh holds it against zinx's interfaces.
#
# make check runs it with srcdir set.
set -eu

cd "${srcdir:-.}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/runnel-zinx.XXXXXX")
trap 'rm -rf "$dir"' EXIT
page=man/runnel-zinx.7

{
    grep -rhoE 'START_TEST\(\w+\)' tests/system | sed 's/.*(\(.*\))/\1/'
    echo run.sh
} >"$dir/tests"

awk -v page="$page" -v tests="$dir/tests" '
BEGIN {
    while ((getline name <tests) > 0)
        is_test[name] = 1
}
function finish() {
    if (item != "" && !is_told) {
        printf "%s:%d: %s has no comment with Test:, nor None:\n", page, line, item
        bad = 1
    }
    item = ""
}
/^\.Bl -column/ { in_table = 1 }
/^\.It / || /^\.El/ { finish(); is_told = 0 }
/^\.It Ic / && !in_table { item = $0; line = FNR; n++ }
/^None: / { is_told = 1 }
/^\.\\" Test: / {
    is_told = 1
    names = substr($0, 11)
    sub(/\.$/, "", names)
    n_names = split(names, list, ", ")
    for (i = 1; i <= n_names; i++) {
        if (!(list[i] in is_test)) {
            printf "%s:%d: there is no test %s\n", page, FNR, list[i]
            bad = 1
        }
    }
}
END { exit bad || n == 0 }
' "$page" || exit 1

status=0
grep -oE '\b(rnl|RNL)_[A-Za-z_]+' "$page" | sort -u >"$dir/names"
while read -r name; do
    grep -qwF "$name" src/api/runnel/module.h || {
        echo "$page: $name is not in module.h"
        status=1
    }
done <"$dir/names"
exit $status
