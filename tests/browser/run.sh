#!/bin/sh
# The status page in a real browser: chromium without a window, driven by selenium; skipped where
# one of them is missing, or runneld was built without HTTP. Debian: chromium, chromium-driver,
# python3-selenium.
#
# make check runs it in the build folder with srcdir set. There, too,
#
#     srcdir=.. ../tests/browser/run.sh screenshots ../contrib/screenshots
#
# takes the pictures that README.md shows.
set -eu

source=$(cd "${srcdir:-.}/tests/browser" && pwd)

skip() {
    echo "skipped: $*"
    exit 77
}

BUILD=$PWD
CHROMIUM=$(command -v chromium) || skip "chromium is not here"
CHROMEDRIVER=$(command -v chromedriver) || skip "chromedriver is not here (Debian: chromium-driver)"
export BUILD CHROMIUM CHROMEDRIVER
[ -x runneld ] || skip "runneld is not built"
[ -x runnel-http ] || skip "runneld is built without HTTP"

# Debian's selenium is for Debian's python, which need not be the first one.
for python in python3 /usr/bin/python3 ''; do
    [ -n "$python" ] || skip "selenium is not here (Debian: python3-selenium)"
    if "$python" -c 'import selenium, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
        break
    fi
done

# In a session of its own, nothing of which is left, and with one folder for what it writes.
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/runnel-browser.XXXXXX")
export TMPDIR
child=
finish() {
    [ -z "$child" ] || kill -KILL -- "-$child" 2>/dev/null || true
    wait
    rm -rf "$TMPDIR"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

# The source may be read-only.
export PYTHONDONTWRITEBYTECODE=1
if [ "${1:-}" = screenshots ]; then
    setsid "$python" "$source/screenshots.py" "$2" &
else
    setsid "$python" "$source/test_page.py" &
fi
child=$!
wait "$child"
