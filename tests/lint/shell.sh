#!/bin/sh
# Every shell script of ours parses under the shell that its first line names, and shellcheck
# has nothing to say about it. A *.sh file without such a line is read in by others, as sh.
set -eu

cd "${srcdir:-.}"
status=0
checked=

# .ci stands in a clone, not in a tarball.
for file in $(find contrib tests conf .ci -type f 2>/dev/null | sort); do
    first=
    read -r first <"$file" 2>/dev/null || true
    case $first in
    '#!'*[/' ']sh | '#!'*[/' ']sh' '*) shell='sh' ;;
    '#!'*/openrc-run) shell='sh' ;;
    '#!'*[/' ']bash | '#!'*[/' ']bash' '*) shell='bash' ;;
    '#!'*) continue ;;
    *)
        case $file in
        *.sh) shell='sh' ;;
        *) continue ;;
        esac
        ;;
    esac
    $shell -n "$file" || status=1
    checked="$checked $file"
done

if ! command -v shellcheck >/dev/null; then
    echo "skipped: shellcheck is not here (Debian: shellcheck)"
    [ $status -eq 0 ] && status=77
    exit $status
fi
# shellcheck disable=SC2086
shellcheck -x -P SCRIPTDIR $checked || status=1
exit $status
