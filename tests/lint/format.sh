#!/bin/sh
# Every C file is as clang-format leaves it. Other versions than 14 lay some lines out
# differently, so only that one is asked.
set -eu

cd "${srcdir:-.}"
for clang_format in clang-format-14 clang-format; do
    case $($clang_format --version 2>/dev/null) in
    *"version 14."*) break ;;
    *) clang_format= ;;
    esac
done
if [ -z "$clang_format" ]; then
    echo "skipped: clang-format 14 is not here (Debian: clang-format-14)"
    exit 77
fi

find src tests contrib -name '*.[ch]' | sort | xargs "$clang_format" --dry-run -Werror
