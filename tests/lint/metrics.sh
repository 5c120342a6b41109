#!/bin/sh
# METRICS in runnelctl(8) explains each metric that runneld has, with its type and in its order, and
# none that it has not.
#
# make check runs it in the build folder, where tests/lint/metrics-list is, with srcdir set.
set -eu

dir=$(mktemp -d "${TMPDIR:-/tmp}/runnel-metrics.XXXXXX")
trap 'rm -rf "$dir"' EXIT

tests/lint/metrics-list | sed -n 's/^# TYPE //p' >"$dir/code"
# ".It Ic runnel_name Pq type"
sed -n '/^\.Sh METRICS/,/^\.Sh [^M]/s/^\.It Ic \([a-z_]*\) Pq \([a-z]*\)$/\1 \2/p' \
    "${srcdir:-.}/man/runnelctl.8" >"$dir/page"

if [ ! -s "$dir/code" ] || ! diff "$dir/code" "$dir/page"; then
    echo "METRICS in man/runnelctl.8 (>) and in src/master/metrics.c (<) differ"
    exit 1
fi
