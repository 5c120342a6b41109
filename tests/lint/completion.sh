#!/bin/sh
# The completions of bash and zsh know the commands and the long options that runnelctl -h shows,
# and no others; bash completes with them, and zsh, where it is here, can read its file.
#
# make check runs it in the build folder, where runnelctl is, with srcdir set.
set -eu

folder=${srcdir:-.}/contrib/completion
dir=$(mktemp -d "${TMPDIR:-/tmp}/runnel-completion.XXXXXX")
trap 'rm -rf "$dir"' EXIT
status=0

./runnelctl -h >"$dir/help"
sed -n '/^commands/,/^options/s/^  \([a-z-]*\) .*/\1/p' "$dir/help" | sort >"$dir/commands"
grep -o -e '--[a-z]*' "$dir/help" | sort >"$dir/options"
[ -s "$dir/commands" ] && [ -s "$dir/options" ] || status=1

# shellcheck disable=SC2016
complete='
. "$1"
words() {
    COMPREPLY=()
    _runnelctl runnelctl "$1" "$2"
    printf "%s\n" "${COMPREPLY[@]}" | sort
}
words "" runnelctl >"$2/bash-commands"
words -- runnelctl >"$2/bash-options"
words d log-level >"$2/bash-levels"
'
bash -c "$complete" bash "$folder/bash/runnelctl" "$dir"
[ "$(cat "$dir/bash-levels")" = debug ] || {
    echo "bash does not complete levels"
    status=1
}

sed -n "s/^    '\([a-z-]*\):.*'$/\1/p" "$folder/zsh/_runnelctl" | sort >"$dir/zsh-commands"
sed -n "s/^    .*,\(--[a-z]*\)}.*/\1/p" "$folder/zsh/_runnelctl" | sort >"$dir/zsh-options"
if command -v zsh >/dev/null; then
    zsh -n "$folder/zsh/_runnelctl" || status=1
fi

for shell in bash zsh; do
    for kind in commands options; do
        diff --label "runnelctl -h" "$dir/$kind" --label "$shell" "$dir/$shell-$kind" || status=1
    done
done
exit $status
