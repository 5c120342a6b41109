#!/bin/sh
# runneld(8) explains each counter that stands in the closing log lines, in their order, and none
# that does not.
#
# make check runs it with srcdir set.
set -eu

cd "${srcdir:-.}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/runnel-counters.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# Each name on a line of its own, after a mark that nothing else in the output has.
${CC:-cc} -E -P -Isrc -x c - >"$dir/code.i" <<'END'
#include "base/counters.h"
#define COUNTER(name, text) @name
#define REASON(name, text) @closed_##name
COUNTERS(COUNTER) CLOSE_REASONS(REASON)
END
grep -o '@ *[a-z_]*' "$dir/code.i" | tr -d '@ ' >"$dir/code"
sed -n '/^\.Sh COUNTERS/,/^\.Sh TIMES/s/^\.It Ic //p' man/runneld.8 >"$dir/page"

if [ ! -s "$dir/code" ] || ! diff "$dir/code" "$dir/page"; then
    echo "COUNTERS in man/runneld.8 (>) and in src/base/counters.h (<) differ"
    exit 1
fi
