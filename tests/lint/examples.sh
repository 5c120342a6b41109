#!/bin/sh
# The examples of runnel_module(3) are what they claim to be. Each literal display of the page is
# named by the line before it,
#
#     .\" example: NAME
#
# and extracted into a file of that name. C compiles without a warning; where the build has
# runneld, the commands that build a module run, each conf is checked, and one daemon serves all
# modules, is talked to as the page says, and ends without a complaint.
#
# make check runs it in the build folder with srcdir set.
set -eu

builddir=$PWD
cd "${srcdir:-.}"
page=$PWD/man/runnel_module.3
api=$PWD/src/api
dir=$(mktemp -d "${TMPDIR:-/tmp}/runnel-examples.XXXXXX")
daemon=

trap '[ -z "$daemon" ] || kill -KILL "$daemon"; rm -rf "$dir"' EXIT
cd "$dir"

# Undo what the page escapes; #line makes the compiler name the page's line.
awk -v page="$page" '
function complain(text) {
    printf "%s:%d: %s\n", page, FNR, text
    bad = 1
}

/^\.\\" example: / { name = $3; named = FNR; next }
/^\.Bd -literal/ {
    if (named != FNR - 1) {
        complain("a display that no example: line names")
        name = "unnamed"
    }
    if (name in seen)
        complain("a second example " name)
    seen[name] = in_display = 1
    if (name ~ /\.c$/)
        printf "#line %d \"%s\"\n", FNR + 1, page >name
    next
}
/^\.Ed/ { in_display = 0; next }
in_display {
    gsub(/\\&/, "")
    gsub(/\\e/, "\001")
    if (/\\/)
        complain("an escape that tests/lint/examples.sh does not know")
    gsub(/\001/, "\\")
    print >name
}
END { exit bad }
' "$page"

status=0
fail() {
    echo "$*"
    status=1
}

n_modules=0
for source in *.c; do
    name=${source%.c}
    if ! ${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -shared "-I$api" \
        -o "$name.so" "$source"; then
        fail "example $source does not compile"
        continue
    fi
    n_modules=$((n_modules + 1))
    cat >>all.conf <<END
module $name { path = "$dir/$name.so" }
listen $name { address = "127.0.0.1:0" modules = { $name } }
END
    ! grep -q rnl_upstream_find "$source" || echo "$name" >>upstreams
done
# The upstreams that they look for: where nobody listens.
if [ -e upstreams ]; then
    echo "connect log { address = \"127.0.0.1:1\" modules = { $(paste -s -d , upstreams) } }" >>all.conf
fi
[ $n_modules -gt 0 ] || fail "the page has no module"
[ $status -eq 0 ] || exit $status

if [ ! -x "$builddir/runneld" ]; then
    echo "skipped: compiled $n_modules examples, but there is no runneld here to load them"
    exit 77
fi
PATH=$builddir:$PATH
export PATH PWD

# As somebody who has installed runnel would run it.
if command -v cc >/dev/null; then
    C_INCLUDE_PATH=$api sh -eu build.sh || fail "the commands of build.sh fail"
fi
for conf in *.conf; do
    runneld -t -c "$conf" || fail "example $conf is refused"
done

# Root is warned when it does not say that it means it.
echo "user = $(id -un)" >>all.conf
runneld -F -c all.conf 2>log &
daemon=$!
tries=200
until grep -q ' ready: ' log || ! kill -0 "$daemon" 2>/dev/null || [ $tries -eq 0 ]; do
    tries=$((tries - 1))
    sleep 0.1
done
if ! grep -q ' ready: ' log; then
    fail "the daemon with all examples is not ready"
elif command -v bash >/dev/null; then
    port=$(sed -n 's/.* listen hello: listening on 127\.0\.0\.1://p' log)
    said=$(sed "s/8888/$port/" talk.sh | timeout 10 bash -eu) || said=nothing
    [ "$said" = hello ] || fail "talk.sh got '$said' from the module hello"
fi
kill -TERM "$daemon" 2>/dev/null || true
if timeout 20 tail -s 0.1 --pid="$daemon" -f /dev/null; then
    wait "$daemon" || fail "the daemon with all examples ended with status $?"
    daemon=
else
    fail "the daemon with all examples does not end"
fi
! grep -E ' (error|warn) ' log | grep -v ' connect log: 127\.0\.0\.1:1: cannot connect' || fail "the daemon complained"
[ $status -eq 0 ] || cat log
exit $status
