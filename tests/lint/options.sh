#!/bin/sh
# Each option is in the table of src/settings, in runnel.conf(5) and in the annotated sample,
# in the same section, with the same default; the manual also has its values. What connect
# sections share with listen sections stands among the latter, and the manual names it among the
# former.
#
# make check runs it in the build folder, where tests/lint/options-list is, with srcdir set.
set -eu

srcdir=${srcdir:-.}
work=$(mktemp -d "${TMPDIR:-/tmp}/runnel-lint.XXXXXX")
trap 'rm -rf "$work"' EXIT

tests/lint/options-list | sort >"$work/table"
cut -f 1-3 "$work/table" >"$work/table-defaults"
tests/lint/options-list shared | sort >"$work/shared"

# In the manual: ".Sh DAEMON OPTIONS" and so on, ".It Ic name", and two lines of fixed form.
awk '
function finish() {
    if (name != "")
        print section "\t" name "\t" standard "\t" values
    name = standard = values = ""
}
/^\.Sh / || /^\.It / || /^\.El/ { finish() }
/^\.Sh / { section = $3 ~ /OPTIONS|SECTIONS/ ? tolower($2) : "" }
/^\.It Ic / && section != "" { name = $3 }
/^Default: / { standard = $0 }
/^Values: / { values = $0 }
' "$srcdir/man/runnel.conf.5" | sort >"$work/manual"
sed -n '/^These options are those of listen/,/^The others are:/s/^\.Ic \([a-z-]*\).*/\1/p' \
    "$srcdir/man/runnel.conf.5" | sort >"$work/manual-shared"

# In the sample: "name = default", or "#name = default"; the first of its kind counts.
awk -v shared="$(tr '\n' ' ' <"$work/shared")" '
/^#?(module|listen|connect) / { section = $1; sub(/^#/, "", section) }
/^#?}/ || /^#?(module|listen|connect) .*}/ { section = "" }
/^ +#?[a-z-]+ \{$/ { around = section; section = $1; sub(/^#/, "", section) }
/^ +#?}/ { section = around }
/^ *#?[a-z-]+ = / {
    name = $1
    sub(/^#/, "", name)
    standard = $0
    sub(/^[^=]*= /, "", standard)
    if (standard != "\"\"")
        gsub(/"/, "", standard)
    place = (section == "" ? "daemon" : section) "\t" name
    if (section == "connect" && index(" " shared, " " name " "))
        next
    if (!(place in seen))
        print place "\tDefault: " standard "."
    seen[place] = 1
}
' "$srcdir/conf/runnel.conf" | sort >"$work/sample"

# What has to be given has no default; the sample gives something.
awk -F '\t' '
NR == FNR { none[$1, $2] = $3 == "Default: none."; next }
none[$1, $2] { $3 = "Default: none." }
{ print $1 "\t" $2 "\t" $3 }
' "$work/table-defaults" "$work/sample" >"$work/sample-defaults"

status=0
diff -u --label "options.c" --label "runnel.conf(5)" "$work/table" "$work/manual" || status=1
diff -u --label "options.c" --label "conf/runnel.conf" \
    "$work/table-defaults" "$work/sample-defaults" || status=1
diff -u --label "options.c, shared" --label "runnel.conf(5), CONNECT SECTIONS" \
    "$work/shared" "$work/manual-shared" || status=1
[ -s "$work/table" ] && [ -s "$work/shared" ] || status=1
exit $status
