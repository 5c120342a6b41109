#!/bin/sh
# The SysV script, as make install would install it but for its paths: each action with a daemon
# that runs and with one that does not, and the exit status that the Linux Standard Base gives it.
#
# make check runs it in the build folder.
set -eu

build=$PWD
folder=$(mktemp -d "${TMPDIR:-/tmp}/runnel-sysv.XXXXXX")
finish() {
    # The signal is for the one process that the pid file names.
    [ ! -s "$folder/run/pid" ] || kill -KILL "$(cat "$folder/run/pid")" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

export RUNNELD_DEFAULTS="$folder/defaults"
cat >"$folder/defaults" <<END
DAEMON=$build/runneld
CONF=$folder/conf
PIDFILE=$folder/run/pid
STOP_SECONDS=20
END

# write_conf LINE
write_conf() {
    cat >"$folder/conf" <<END
workers = 2
user = "$(id -un)"
module-dir = "$build/src/modules/.libs"
log = "$folder/log"
module echo { }
listen main { address = "127.0.0.1:0" modules = { echo } }
$1
END
}
good="pid-file = \"$folder/run/pid\""

fail() {
    echo "$*"
    cat "$folder/said" "$folder/log" 2>/dev/null
    exit 1
}

# expect STATUS ACTION TEXT: the text is in what it says.
expect() {
    got=0
    sh contrib/init/sysv/runneld "$2" >"$folder/said" 2>&1 || got=$?
    [ $got -eq "$1" ] || fail "$2: status $got, not $1"
    grep -q "$3" "$folder/said" || fail "$2 does not say: $3"
}

runs() {
    [ -s "$folder/run/pid" ] && [ -e "/proc/$(cat "$folder/run/pid")" ]
}

# gone PID: or over, and its parent has not asked for it yet.
gone() {
    [ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status"
}

# Nothing runs.
write_conf "$good"
expect 2 '' 'usage:'
expect 2 nonsense 'usage:'
expect 3 status 'does not run'
expect 0 stop 'does not run'
expect 7 reload 'does not run'
expect 7 force-reload 'does not run'
expect 0 configtest 'are good'
sh contrib/init/sysv/runneld try-restart || fail "try-restart: status $?"
! runs || fail "try-restart starts a daemon"

# It runs.
expect 0 start 'started, process'
first=$(cat "$folder/run/pid")
runs || fail "start leaves no process"
grep -q 'ready: 2 workers' "$folder/log" || fail "start returns before the daemon is ready"
expect 0 status "runs, process $first"
expect 0 start "runs already, process $first"
expect 0 reload 'reloaded'
expect 0 force-reload 'reloaded'
expect 0 restart 'started, process'
second=$(cat "$folder/run/pid")
[ "$second" != "$first" ] || fail "restart leaves the old process"
gone "$first" || fail "restart leaves the old process running"
expect 0 try-restart 'started, process'
second=$(cat "$folder/run/pid")

# A conf that is wrong disturbs nobody.
write_conf 'nonsense = 1'
expect 6 configtest 'nonsense: no such option'
expect 6 reload 'nonsense: no such option'
expect 6 restart 'nonsense: no such option'
expect 0 status "runs, process $second"
write_conf "$good"
expect 0 stop 'stopped'
gone "$second" || fail "stop returns before the end"
expect 3 status 'does not run'

# Starts that fail.
write_conf "pid-file = \"$folder/elsewhere\""
expect 6 start 'needs the line: pid-file = '
write_conf 'nonsense = 1'
expect 6 start 'nonsense: no such option'
rm "$folder/conf"
expect 6 start 'cannot be read'
write_conf "$good
listen other { address = \"192.0.2.1:9\" modules = { echo } }"
expect 1 start 'cannot listen on 192.0.2.1:9'
write_conf "$good"
echo "DAEMON=$folder/nowhere" >>"$folder/defaults"
expect 5 start 'is not installed'
expect 5 configtest 'is not installed'
sed -i '$d' "$folder/defaults"

# Whose number another process has now.
echo $$ >"$folder/run/pid"
expect 1 status 'has left'
expect 0 stop 'does not run'
expect 0 start 'started, process'

# Killed: the file stays.
first=$(cat "$folder/run/pid")
kill -KILL "$first"
tries=200
while ! gone "$first" && [ $tries -gt 0 ]; do
    tries=$((tries - 1))
    sleep 0.1
done
expect 1 status 'has left'
expect 0 start 'started, process'
expect 0 stop 'stopped'
expect 3 status 'does not run'
