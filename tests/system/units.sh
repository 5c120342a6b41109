#!/bin/sh
# systemd takes the units, for the daemon of this build; and the other service files have all
# their paths.
#
# make check runs it in the build folder.
set -eu

folder=$(mktemp -d "${TMPDIR:-/tmp}/runnel-units.XXXXXX")
trap 'rm -rf "$folder"' EXIT
status=0

for file in contrib/init/*/run*; do
    if grep -n '@[a-z]*@' "$file"; then
        echo "$file: something was not replaced"
        status=1
    fi
done

if ! command -v systemd-analyze >/dev/null; then
    echo "skipped: systemd-analyze is not here (Debian: systemd)"
    [ $status -eq 0 ] && status=77
    exit $status
fi

# It looks for the program, and would look for the manual.
for unit in service socket; do
    sed "s|=/[^ ]*/runneld |=$PWD/runneld |" "contrib/init/systemd/runneld.$unit" \
        >"$folder/runneld.$unit"
done
systemd-analyze verify --man=no "$folder/runneld.service" "$folder/runneld.socket" \
    >"$folder/said" 2>&1 || status=1
# Units of the machine, which it reads too, are not ours.
grep runneld "$folder/said" && status=1
[ $status -eq 0 ] || cat "$folder/said"
exit $status
