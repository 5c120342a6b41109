#!/bin/sh
# The dashboard of contrib/grafana and the alerts of contrib/prometheus use metrics that METRICS in
# runnelctl(8) has, and no others; what they are made of is whole. With promtool (Debian:
# prometheus; PROMTOOL names another) the alerts are checked and tested.
#
# make check runs it with srcdir set.
set -eu

cd "${srcdir:-.}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/runnel-alerts.XXXXXX")
trap 'rm -rf "$dir"' EXIT
status=0

# A histogram is read by its buckets, sum and count.
sed -n '/^\.Sh METRICS/,/^\.Sh [^M]/s/^\.It Ic \([a-z_]*\) Pq \([a-z]*\)$/\1 \2/p' man/runnelctl.8 |
    awk '{ print $1 }
        $2 == "histogram" { print $1 "_bucket"; print $1 "_sum"; print $1 "_count" }' |
    sort -u >"$dir/known"
[ -s "$dir/known" ] || status=1

for file in contrib/grafana/runnel.json contrib/prometheus/runnel-alerts.yml \
    contrib/prometheus/runnel-alerts-test.yml; do
    grep -o 'runnel_[a-z_]*' "$file" | sort -u >"$dir/used"
    if [ ! -s "$dir/used" ]; then
        echo "$file: no metrics are used"
        status=1
    fi
    comm -13 "$dir/known" "$dir/used" >"$dir/unknown"
    if [ -s "$dir/unknown" ]; then
        echo "$file: not in METRICS of runnelctl(8):"
        cat "$dir/unknown"
        status=1
    fi
done

# Each alert says what it is about, how bad it is and for how long it has to hold, and is tested.
awk '
function finish() {
    if (name != "" && (!has["expr"] || !has["for"] || !has["severity"] || !has["summary"] ||
        !has["description"])) {
        print "runnel-alerts.yml: " name " lacks expr, for, severity, summary or description"
        bad = 1
    }
    split("", has)
}
/^ *- alert:/ { finish(); name = $3; next }
/^ *[a-z]+:/ { key = $1; sub(/:/, "", key); has[key] = 1 }
END { finish(); exit bad }
' contrib/prometheus/runnel-alerts.yml || status=1
sed -n 's/^ *- alert: //p' contrib/prometheus/runnel-alerts.yml >"$dir/names"
while read -r name; do
    if ! grep -q "$name" contrib/prometheus/runnel-alerts-test.yml; then
        echo "runnel-alerts-test.yml: no test of $name"
        status=1
    fi
done <"$dir/names"

# The dashboard: JSON, each panel once and on its own place, with the data source that is chosen.
if command -v python3 >"$dir/python"; then
    python3 - contrib/grafana/runnel.json <<'END' || status=1
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    board = json.load(file)
ids, places, bad = set(), {}, []
names = {variable["name"] for variable in board["templating"]["list"]}
for panel in board["panels"]:
    title, place = panel["title"], panel["gridPos"]
    if panel["id"] in ids:
        bad.append(f"{title}: its id is taken")
    ids.add(panel["id"])
    for x in range(place["x"], place["x"] + place["w"]):
        for y in range(place["y"], place["y"] + place["h"]):
            if x >= 24 or (x, y) in places:
                bad.append(f"{title}: it lies on {places.get((x, y), 'the edge')}")
            places[x, y] = title
    if panel["type"] != "row" and not panel.get("description"):
        bad.append(f"{title}: no description")
    for part in [panel, *panel.get("targets", [])]:
        if panel["type"] != "row" and part["datasource"]["uid"] != "${datasource}":
            bad.append(f"{title}: a data source of its own")
for wanted in ["datasource", "job", "instance", "worker"]:
    if wanted not in names:
        bad.append(f"no variable {wanted}")
for line in sorted(set(bad)):
    print(f"{sys.argv[1]}: {line}")
sys.exit(len(bad) > 0)
END
else
    echo "skipped: the form of the dashboard (no python3)"
fi

if command -v "${PROMTOOL:-promtool}" >"$dir/promtool"; then
    cd contrib/prometheus
    "${PROMTOOL:-promtool}" check rules runnel-alerts.yml || status=1
    "${PROMTOOL:-promtool}" test rules runnel-alerts-test.yml || status=1
    "${PROMTOOL:-promtool}" check config --syntax-only scrape.yml || status=1
else
    echo "skipped: the tests of the alerts (no promtool; Debian: prometheus)"
fi
exit $status
