#!/bin/bash
# A client that is not ours: zinx's own, as released, against runneld; see main.go. It needs Go and
# zinx's module, from Go's cache or the module proxy, and is skipped without them.
#
# make check runs it in the build folder with srcdir set.
set -eu

builddir=$PWD
source=$(cd "${srcdir:-.}/tests/interop" && pwd)
page=$(cd "${srcdir:-.}/man" && pwd)/runnel-zinx.7
dir=$(mktemp -d "${TMPDIR:-/tmp}/runnel-interop.XXXXXX")
daemon=
finish() {
    [ -z "$daemon" ] || kill -INT "$daemon" 2>/dev/null || true
    wait
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

skip() {
    echo "skipped: $*"
    exit 77
}

command -v go >/dev/null || skip "Go is not here"
[ -x "$builddir/runneld" ] || skip "runneld is not built"
# The source may be read-only; no other version of Go is fetched.
cp "$source"/go.* "$source"/main.go "$dir"
cd "$dir"
export GOTOOLCHAIN=local GOFLAGS=-mod=readonly GOWORK=off
timeout 120 go mod download >download.log 2>&1 ||
    skip "zinx cannot be downloaded: $(tail -n 1 download.log)"
go build -o interop .

# runnel-zinx(7) leaves none of zinx's calls out: a section for each interface, an item that
# begins with the method or lists it.
status=0
zinx=$(go list -m -f '{{.Dir}}' github.com/aceld/zinx)
for interface in IServer IConnection IRequest IRouter IConnManager IHeartbeatChecker IInterceptor \
    Inotify IClient; do
    sed -n "/^type $interface interface {/,/^}/s/^\t\([A-Z][A-Za-z0-9]*\)(.*/\1/p" "$zinx"/ziface/*.go >methods
    [ -s methods ] || {
        echo "zinx has no interface $interface"
        status=1
    }
    sed -n "/^\.Sh ${interface^^}\$/,/^\.El/s/^\.It Ic //p" "$page" >items
    tr -d ',' <items | tr ' ' '\n' >known
    if grep -vxFf known methods >missing; then
        echo "$page: $interface lacks $(paste -sd ' ' missing)"
        status=1
    fi
done

cat >conf <<END
module-dir = "$builddir/src/modules/.libs"
module echo { }
module c10k { }
listen tlv { address = "127.0.0.1:0" modules = { echo } }
listen ltv { address = "127.0.0.1:0" modules = { echo } framing = ltv }
listen beats-tlv { address = "127.0.0.1:0" modules = { c10k } heartbeat-interval = 100ms }
listen beats-ltv {
    address = "127.0.0.1:0"
    modules = { c10k }
    framing = ltv
    heartbeat-interval = 100ms
}
END
"$builddir/runneld" -F -c conf 2>log &
daemon=$!
tries=200
until grep -q ' ready: ' log; do
    if ! kill -0 "$daemon" 2>/dev/null || [ $((tries -= 1)) -eq 0 ]; then
        cat log
        exit 1
    fi
    sleep 0.1
done

# Where zinx looks for a conf of its own.
echo '{}' >zinx.json
export ZINX_CONFIG_FILE_PATH=$dir/zinx.json
for framing in tlv ltv; do
    address=$(sed -n "s/.* listen $framing: listening on //p" log)
    beats=$(sed -n "s/.* listen beats-$framing: listening on //p" log)
    if ! timeout 300 ./interop -framing $framing "$address" >out 2>&1 ||
        ! timeout 300 ./interop -framing $framing -beats "$beats" >out 2>&1; then
        status=1
        echo "$framing:"
        grep '^interop: ' out || tail -n 20 out
    fi
done

kill -TERM "$daemon"
wait "$daemon" || status=1
daemon=
if grep -E ' (error|warn) worker ' log || ! grep -q ' oversize=0 ' log; then
    status=1
fi
[ $status -eq 0 ] || tail -n 20 log
[ $status -eq 0 ]
