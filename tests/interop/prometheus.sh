#!/bin/bash
# A Prometheus scrapes runneld over HTTP: it takes all of it, and has what clients have done. It is
# skipped where prometheus (Debian: prometheus) is not here, or runneld is built without HTTP.
#
# make check runs it in the build folder with srcdir set.
set -eu

builddir=$PWD
dir=$(mktemp -d "${TMPDIR:-/tmp}/runnel-prometheus.XXXXXX")
daemon=
prometheus=
finish() {
    [ -z "$prometheus" ] || kill -TERM "$prometheus" 2>/dev/null || true
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

command -v prometheus >/dev/null || skip "prometheus is not here (Debian: prometheus)"
command -v python3 >/dev/null || skip "python3 is not here"
[ -x "$builddir/runnel-http" ] || skip "runneld is built without HTTP"
cd "$dir"

# await WHAT COMMAND...: until the command succeeds.
await() {
    local what=$1 tries=300
    shift
    until "$@"; do
        if [ $((tries -= 1)) -eq 0 ] || ! kill -0 "$daemon" ${prometheus:+"$prometheus"}; then
            echo "not within 30 s: $what"
            tail -n 20 log prometheus.log
            exit 1
        fi
        sleep 0.1
    done
}

cat >conf <<END
workers = 2
module-dir = "$builddir/src/modules/.libs"
metrics-address = "127.0.0.1:0"
metrics-program = "$builddir/runnel-http"
module c10k { }
listen main { address = "127.0.0.1:0" modules = { c10k } }
END
"$builddir/runneld" -F -c conf 2>log &
daemon=$!
: >prometheus.log
await "runneld is ready" grep -q ' ready: ' log
target=$(sed -n 's/.* metrics-address: listening on //p' log)
"$builddir/runnel-bench" --connections 20 --requests 50 \
    "$(sed -n 's/.* listen main: listening on //p' log)" >bench.log || {
    cat bench.log
    exit 1
}

cat >prometheus.yml <<END
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: runnel
    static_configs:
      - targets: ["$target"]
END
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
prometheus --config.file=prometheus.yml --storage.tsdb.path=data \
    --web.listen-address="127.0.0.1:$port" >prometheus.log 2>&1 &
prometheus=$!

# has QUERY VALUE: whether Prometheus answers it with one sample of this value.
has() {
    python3 - "$port" "$@" <<'END'
import json, sys, urllib.parse, urllib.request
port, query, value = sys.argv[1:]
url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
try:
    with urllib.request.urlopen(url, timeout=5) as answer:
        result = json.load(answer)["data"]["result"]
except OSError:
    sys.exit(1)
sys.exit([sample["value"][1] for sample in result] != [value])
END
}
await "the target is up" has 'up{job="runnel"}' 1
await "the frames of all clients are there" has 'sum(runnel_received_frames_total)' 1000
await "both workers are there" has 'count(runnel_received_frames_total)' 2
await "workers are ready" has 'runnel_workers_ready' 2

kill -TERM "$prometheus"
wait "$prometheus" || true
prometheus=
kill -TERM "$daemon"
wait "$daemon"
daemon=
if grep -E ' (error|warn) .*http' log; then
    exit 1
fi
