#!/bin/bash
# runnel-tutorial(7), followed to the letter. The line before each literal display says what it is:
#
#     .\" file: NAME    the file NAME
#     .\" run           commands, of a shell that is the same from first to last
#     .\" serve         a command that serves until the next one, or the end; the one before it is
#                       ended as Ctrl-C would
#     .\" shows         what the commands before it have written
#
# Only the port is another.
#
# make check runs it in the build folder with srcdir set.
set -eu

# What waits for a reply that does not come ends as well.
[ -n "${TUTORIAL_HAS_LIMIT:-}" ] || TUTORIAL_HAS_LIMIT=1 exec timeout 120 "$0"

builddir=$PWD
page=$(cd "${srcdir:-.}/man" && pwd)/runnel-tutorial.7
dir=$(mktemp -d "${TMPDIR:-/tmp}/runnel-tutorial.XXXXXX")
daemon=
finish() {
    [ -z "$daemon" ] || kill -INT "$daemon" 2>/dev/null || true
    wait
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

for tool in cc pkg-config "$builddir/runneld"; do
    command -v "$tool" >/dev/null || {
        echo "skipped: $tool is not here"
        exit 77
    }
done

# Each display becomes a file STEP.KIND, and the name of a file STEP.name.
mkdir "$dir/steps" "$dir/home"
awk -v page="$page" -v to="$dir/steps/" '
function complain(text) {
    printf "%s:%d: %s\n", page, FNR, text
    bad = 1
}

/^\.\\" (file: .*|run|serve|shows)$/ {
    kind = $2
    sub(/:/, "", kind)
    name = $3
    marked = FNR
    next
}
/^\.Bd -literal/ {
    if (marked != FNR - 1)
        complain("a display without a line that says what it is")
    step = sprintf("%s%03d", to, ++n)
    if (kind == "file")
        print name >(step ".name")
    inside = 1
    next
}
/^\.Ed/ { inside = 0; next }
inside {
    gsub(/\\e/, "\001")
    if (/\\/)
        complain("an escape that tests/lint/tutorial.sh does not know")
    gsub(/\001/, "\\")
    print >(step "." kind)
}
END { exit bad }
' "$page"

export PATH="$builddir:$PATH" PKG_CONFIG_PATH="$builddir/src/api"
cd "$dir/home"
port=8888

fail() {
    echo "$page: $*"
    [ ! -e "$dir/log" ] || cat "$dir/log"
    exit 1
}

end_daemon() {
    [ -n "$daemon" ] || return 0
    kill -INT "$daemon"
    wait "$daemon" || fail "the daemon ended with status $?"
    daemon=
}

# serve COMMAND: until it is ready; any port will do.
serve() {
    end_daemon
    sed -i 's/:8888"/:0"/' ./*.conf
    local words tries=200
    read -r -a words <<<"$1"
    # What the one before has logged must not be taken for this one's.
    : >"$dir/log"
    "${words[@]}" 2>>"$dir/log" &
    daemon=$!
    until grep -q ' ready: ' "$dir/log"; do
        kill -0 "$daemon" 2>/dev/null || fail "the daemon does not start"
        [ $((tries -= 1)) -gt 0 ] || fail "the daemon is not ready"
        sleep 0.1
    done
    port=$(sed -n 's/.* listening on 127\.0\.0\.1://p' "$dir/log")
}

n_shown=0
for step in "$dir"/steps/*; do
    text=$(cat "$step")
    case $step in
    *.name) ;;
    *.file) printf '%s\n' "$text" >"$(cat "${step%.file}.name")" ;;
    *.run)
        # In this shell, for what the next step needs of it; a refusal is shown, not an end.
        set +e
        eval "${text//8888/$port}" >"$dir/shown" 2>&1
        set -e
        ;;
    *.serve) serve "$text" ;;
    *.shows)
        n_shown=$((n_shown + 1))
        printf '%s\n' "$text" | diff - "$dir/shown" || fail "not what the page shows (<)"
        ;;
    esac
done
end_daemon
[ $n_shown -gt 0 ] || fail "nothing is shown"
