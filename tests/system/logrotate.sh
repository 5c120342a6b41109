#!/bin/sh
# logrotate, with the file that make install would install but for its paths: master and workers
# write to the new file, and to the old one no more.
#
# make check runs it in the build folder.
set -eu

PATH=$PATH:/usr/sbin
if ! command -v logrotate >/dev/null; then
    echo "skipped: logrotate is not here (Debian: logrotate)"
    exit 77
fi

build=$PWD
folder=$(mktemp -d "${TMPDIR:-/tmp}/runnel-logrotate.XXXXXX")
pid=
finish() {
    [ -z "$pid" ] || kill -INT "$pid" 2>/dev/null || true
    wait
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

mkdir -p "$folder/log/runnel" "$folder/run/runnel"
log=$folder/log/runnel/runneld.log
cat >"$folder/conf" <<END
workers = 2
user = "$(id -un)"
module-dir = "$build/src/modules/.libs"
log = "$log"
pid-file = "$folder/run/runnel/runneld.pid"
module echo { }
listen main { address = "127.0.0.1:0" modules = { echo } }
END

# await FILE TEXT
await() {
    tries=200
    until grep -q "$2" "$1" 2>/dev/null; do
        tries=$((tries - 1))
        if [ $tries -eq 0 ]; then
            echo "$1 does not say: $2"
            cat "$folder/said" "$folder/log/runnel"/* 2>/dev/null
            exit 1
        fi
        sleep 0.1
    done
}

# The paths of the installation, whatever they are, become those of the folder.
rotate() {
    sed -e "s|[^ \"]*/log/runnel/|$folder/log/runnel/|g" \
        -e "s|[^ \"]*/run/runnel/|$folder/run/runnel/|g" \
        -e "s|[^ ]*/sbin/runneld|$build/runneld|" \
        contrib/init/logrotate.d/runneld >"$folder/logrotate.conf"
    chmod 644 "$folder/logrotate.conf"
    logrotate --verbose --force --state "$folder/state" "$folder/logrotate.conf" \
        >"$folder/said" 2>&1 || {
        cat "$folder/said"
        exit 1
    }
}

"$build/runneld" -F -c "$folder/conf" &
pid=$!
await "$log" 'ready: 2 workers'
for _ in 1 2; do
    rotate
    for process in master 'worker 0' 'worker 1'; do
        await "$log" " $process\[.*: log file opened anew"
    done
done
await "$log.1" 'log file opened anew'
[ -e "$log.2.gz" ] || {
    echo "the oldest log is not compressed"
    exit 1
}

# Without a daemon, it does no harm.
kill -TERM "$pid"
wait "$pid"
pid=
rotate
