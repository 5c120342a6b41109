#!/bin/sh
# Every manual is free of mandoc's warnings, and is installed: listed in a Makefile fragment.
set -eu

cd "${srcdir:-.}"
pages=$(find man -name '*.[1-9]' 2>/dev/null | sort)
if [ -z "$pages" ]; then
    echo "skipped: there is no manual yet"
    exit 77
fi

fragments=$(find Makefile.am conf contrib man src tests -name Makefile.am -o -name '*.mk')
status=0
for page in $pages; do
    # shellcheck disable=SC2086
    if ! grep -qwF "$page" $fragments; then
        echo "$page: no Makefile.am or room.mk lists it in dist_man_MANS"
        status=1
    fi
done

if ! command -v mandoc >/dev/null; then
    echo "skipped: mandoc is not here (Debian: mandoc)"
    [ $status -eq 0 ] && status=77
    exit $status
fi
# shellcheck disable=SC2086
mandoc -T lint -W warning $pages || status=1
exit $status
