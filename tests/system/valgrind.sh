#!/bin/sh
# tests/system/valgrind.sh BUILD: the daemon of a build folder (without sanitizers) under
# valgrind, 50 connections x 50 requests, then a graceful stop. Fails when valgrind finds an
# error or a definite leak in any of its processes.
set -eu

build=$(cd "${1:?usage: tests/system/valgrind.sh BUILD}" && pwd)
command -v valgrind >/dev/null || {
    echo "skipped: valgrind is not here (Debian: valgrind)"
    exit 77
}

folder=$(mktemp -d "${TMPDIR:-/tmp}/runnel-valgrind.XXXXXX")
pid=
finish() {
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

fail() {
    cat "$folder/log" "$folder"/valgrind.* 2>/dev/null || true
    echo "$*"
    exit 1
}

cat >"$folder/conf" <<END
workers = 2
pid-file = "$folder/pid"
log = "$folder/log"
module-dir = "$build/src/modules/.libs"

module c10k { }

listen main {
    address = "127.0.0.1:0"
    modules = { c10k }
}
END

# In the background it returns when every worker is ready; each process has a log of its own.
valgrind --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
    --log-file="$folder/valgrind.%p" \
    "$build/runneld" -c "$folder/conf" || fail "runneld did not start"
pid=$(cat "$folder/pid")
port=$(sed -n 's/.*listen main: listening on 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$folder/log")
[ -n "$port" ] || fail "the log does not say which port it listens on"

"$build/runnel-bench" --connections 50 --requests 50 "127.0.0.1:$port" ||
    fail "requests failed"

kill -TERM "$pid"
tenths=0
while kill -0 "$pid" 2>/dev/null; do
    [ $tenths -lt 300 ] || fail "it did not stop in 30 s"
    sleep 0.1
    tenths=$((tenths + 1))
done
pid=

# Launcher, master, two workers.
n=0
for log in "$folder"/valgrind.*; do
    grep -q 'ERROR SUMMARY: 0 errors' "$log" || fail "valgrind has found an error in ${log##*.}"
    n=$((n + 1))
done
[ $n -ge 4 ] || fail "$n processes ran under valgrind, not 4"
echo "$n processes: no error, no definite leak"
