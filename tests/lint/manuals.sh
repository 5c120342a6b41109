#!/bin/sh
# Every manual is free of mandoc's warnings, and is installed: listed in a Makefile fragment. No path
# of the default installation is left in one that is installed elsewhere. Where groff is here, it has
# no warning either.
#
# make check runs it in the build folder with srcdir set.
set -eu

builddir=$PWD
dir=$(mktemp -d "${TMPDIR:-/tmp}/runnel-manuals.XXXXXX")
trap 'rm -rf "$dir"' EXIT
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

# As by a --prefix of another name.
if [ -f "$builddir/man/paths.sed" ]; then
    sed 's/^\(s|[^|]*|\).*/\1PREFIX|g/' "$builddir/man/paths.sed" >"$dir/elsewhere.sed"
    for page in $pages; do
        if sed -f "$dir/elsewhere.sed" "$page" | grep -n /usr/local; then
            echo "$page: man/room.mk does not replace these paths when it installs the page"
            status=1
        fi
        sed -f "$builddir/man/paths.sed" "$page" >"$dir/${page##*/}"
    done
fi

if ! command -v mandoc >/dev/null; then
    echo "skipped: mandoc is not here (Debian: mandoc)"
    [ $status -eq 0 ] && status=77
    exit $status
fi
# shellcheck disable=SC2086
mandoc -T lint -W warning $pages || status=1
for page in "$dir"/*.[1-9]; do
    [ ! -f "$page" ] || mandoc -T lint -W warning "$page" || status=1
done

# In a terminal of 80 columns, a table may have no room for its last one.
if groff -T ascii -mandoc /dev/null >/dev/null 2>&1; then
    for page in $pages; do
        told=$(groff -T ascii -mandoc "$page" 2>&1 >/dev/null)
        if [ -n "$told" ]; then
            echo "$told"
            status=1
        fi
    done
fi
exit $status
