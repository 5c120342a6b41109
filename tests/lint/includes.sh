#!/bin/sh
# Who includes whom. A room sees itself, the rooms below it, and api/; the order is
#
#     main > master > worker > module > conn > route > io > wire, settings, work, call > base
#
# modules/ see api/ only, like anybody's; bench/ sees base/ and wire/,
# ctl/ sees base/, settings/ and call/, http/ sees base/ and call/. A .c file begins with
# config.h, a header never has it, an include spells the room, no header only gathers other
# headers, and each header compiles alone, twice.
#
# make check runs it in the build folder, where config.h is, with srcdir and CC set.
set -eu

builddir=$PWD
cd "${srcdir:-.}"
found=$(mktemp "${TMPDIR:-/tmp}/runnel-lint.XXXXXX")
trap 'rm -f "$found"' EXIT

# Names in this tree have no spaces.
# shellcheck disable=SC2046
awk '
BEGIN {
    n = split("base 1 work 2 wire 2 settings 2 call 2 io 3 route 4 conn 5 module 6 worker 7 master 8 main 9", list, " ")
    for (i = 1; i < n; i += 2)
        rank[list[i]] = list[i + 1]
    sees["bench base"] = sees["bench wire"] = 1
    sees["http base"] = sees["http call"] = 1
    sees["ctl base"] = sees["ctl settings"] = sees["ctl call"] = 1
    rooms["bench"] = rooms["ctl"] = rooms["http"] = rooms["modules"] = rooms["api"] = 1
    for (room in rank)
        rooms[room] = 1
}

function complain(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text
}

# src/io/sendq.h and tests/unit/test_io.c belong to io, modules made for tests to modules; other
# tests belong to no room.
function room_of(path,    part) {
    split(path, part, "/")
    if (part[1] == "src") {
        sub(/\.c$/, "", part[2])
        return part[2]
    }
    if (path ~ /\/modules\//)
        return "modules"
    if (path ~ /^tests\/unit\/test_/) {
        sub(/^test_/, "", part[3])
        sub(/[_.].*$/, "", part[3])
        return part[3] in rooms ? part[3] : ""
    }
    return ""
}

function may_see(room, other) {
    if (other == room)
        return 1
    if ((room in rank) && (other in rank))
        return rank[other] < rank[room]
    return (room " " other) in sees
}

function finish_file() {
    if (is_header && n_includes > 1 && !has_content)
        printf "%s: only gathers other headers; include what is used where it is used\n", last_file
}

FNR == 1 {
    finish_file()
    last_file = FILENAME
    room = room_of(FILENAME)
    is_header = FILENAME ~ /\.h$/
    in_src = FILENAME ~ /^src\//
    n_includes = has_content = in_comment = 0
    if (in_src && !(room in rooms))
        complain("is in no room that this lint knows; name it in tests/lint/includes.sh")
}

{
    code = $0
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", code)
    if (in_comment) {
        if (code !~ /\*\//)
            next
        sub(/^.*\*\//, "", code)
        in_comment = 0
    }
    if (code ~ /\/\*/) {
        sub(/\/\*.*$/, "", code)
        in_comment = 1
    }
}

code ~ /^[ \t]*#[ \t]*include[ \t]*["<]/ {
    n_includes++
    name = code
    sub(/^[ \t]*#[ \t]*include[ \t]*["<]/, "", name)
    sub(/[">].*$/, "", name)
    is_ours = code ~ /include[ \t]*"/

    if (name == "config.h") {
        if (room == "modules")
            complain("a module is built without config.h, like anybody else")
        else if (is_header)
            complain("a header does not include config.h")
        else if (n_includes != 1)
            complain("config.h is not the first include")
        next
    }
    if (n_includes == 1 && !is_header && room != "modules")
        complain("the first include is not \"config.h\"")
    if (name ~ /^runnel\//) {
        if (is_ours)
            complain("spell it <" name ">, as a module does")
        next
    }
    if (!is_ours)
        next
    if (name !~ /\//) {
        if (in_src && room != "modules")
            complain("\"" name "\" does not spell its room")
        next
    }
    other = name
    sub(/\/.*$/, "", other)
    if (room == "modules" && (other in rooms))
        complain("a module includes <runnel/module.h> and system headers only, not " name)
    else if (room != "" && (other in rooms) && !may_see(room, other))
        complain(room " does not see " name ": a room includes itself and the rooms below it")
    next
}

code ~ /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif|undef)/ { next }
code ~ /^[ \t]*#[ \t]*define[ \t]+[A-Z0-9_]+_H[ \t]*$/ { next }
code !~ /^[ \t]*$/ { has_content = 1 }

END { finish_file() }
' $(find src tests -name '*.[ch]' | sort) >"$found"

for header in $(find src -name '*.h' | sort); do
    # What a source has before it: config.h; a user of the public header has nothing.
    case $header in
    src/api/*) set -- -Isrc/api -Wpedantic; first= ;;
    *) set -- "-I$builddir" -Isrc -Isrc/api; first='#include "config.h"' ;;
    esac
    if ! printf '%s\n#include "%s"\n#include "%s"\n' "$first" "$PWD/$header" "$PWD/$header" |
        ${CC:-cc} -std=gnu11 -fsyntax-only -Wall -Wextra -Werror "$@" -x c - 2>>"$found"; then
        echo "$header: does not compile alone, or not twice" >>"$found"
    fi
done

cat "$found"
[ ! -s "$found" ]
