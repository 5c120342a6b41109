#!/bin/bash
# The module of README.md: built, loaded and talked to by README's own lines. Only its port is
# another, and the daemon runs in the background.
set -eu

builddir=$PWD
srcdir=$(cd "${srcdir:-.}" && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/runnel-readme.XXXXXX")
pid=
finish() {
    [ -z "$pid" ] || kill -INT "$pid" 2>/dev/null || true
    wait
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

# block LANGUAGE TEXT: the code block of README.md that holds the text.
block() {
    awk -v language="$1" -v text="$2" '
        $0 == "```" language { inside = 1; block = ""; next }
        /^```/ { if (inside && index(block, text)) printf "%s", block; inside = 0 }
        inside { block = block $0 "\n" }' "$srcdir/README.md"
}

cd "$folder"
ln -s "$builddir" build
ln -s "$srcdir/src" src
block c 'RNL_MODULE' >hello.c
block sh 'cat >hello.conf' | sed 's/:8889/:0/' >write-conf.sh
block sh 'build/runneld -F' | grep -v -e '-F' >build-module.sh
block sh 'build/runneld -F' | grep -e '-F' >serve.sh
block sh '/dev/tcp' >talk.sh
sh -e ./write-conf.sh
sh -e ./build-module.sh

read -r -a serve <serve.sh
"${serve[@]}" 2>log &
pid=$!
tries=0
until grep -q 'ready: ' log; do
    if ! kill -0 "$pid" 2>/dev/null || [ $((++tries)) -gt 200 ]; then
        cat log
        exit 1
    fi
    sleep 0.1
done

port=$(sed -n 's/.*listen main: listening on 127\.0\.0\.1:\([0-9]*\).*/\1/p' log)
sed -i "s/8889/$port/" talk.sh
answer=$(timeout 10 bash -e ./talk.sh) || true
if [ "$answer" != "hello, world" ]; then
    echo "the answer is '$answer'"
    cat log
    exit 1
fi
