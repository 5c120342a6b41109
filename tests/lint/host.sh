#!/bin/sh
# Each call of modules goes through a function host_NAME of src/module/host.c, which begins with
# ON_LOOP(): a call from a thread that is not the loop's ends the worker instead of breaking it.
#
# make check runs it with srcdir set.
set -eu

cd "${srcdir:-.}"
file=src/module/host.c

# From the definition to its first statement, which comes behind the declarations and blank lines.
awk '
/^const struct rnl_host host_table/ { in_table = 1 }
in_table && /^\t\.[a-z_]* = / {
    name = $1; value = $3
    sub(/^\./, "", name); sub(/,$/, "", value)
    if (name !~ /^(size|abi_major|abi_minor)$/)
        entry[value] = name
}
!in_table && match($0, /host_[a-z_]*\(/) && /^(static )?[a-z]/ {
    function_name = substr($0, RSTART, RLENGTH - 1)
}
/^}/ { function_name = "" }
function_name != "" && /^\tON_LOOP\(\);$/ && !called { is_guarded[function_name] = 1 }
/^{/ { called = 0 }
# A statement that is no declaration: a call, an assignment, a condition or the return.
function_name != "" && /^\t([a-z_]+\(|[a-z_>.-]+ = |if |for |while |switch |return)/ { called = 1 }
END {
    for (value in entry) {
        n++
        if (value !~ /^host_/) {
            print FILENAME ": ." entry[value] " = " value ": give it a function host_..."
            bad = 1
        } else if (!(value in is_guarded)) {
            print FILENAME ": " value "() does not begin with ON_LOOP()"
            bad = 1
        }
    }
    if (n == 0) {
        print FILENAME ": the table of functions was not found"
        bad = 1
    }
    exit bad
}' $file
