#!/bin/sh
# embed.sh FILE...: print a C source that holds these files, see embedded.h.
set -eu

identifier() {
    basename "$1" | tr -c 'a-zA-Z0-9\n' '_'
}

printf '#include "config.h"\n\n#include "http/embedded.h"\n'
for file; do
    printf '\nstatic const unsigned char %s[] = {\n' "$(identifier "$file")"
    od -A n -v -t x1 <"$file" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
    printf '};\n'
done
printf '\nconst struct embedded_file embedded_files[] = {\n'
for file; do
    name=$(identifier "$file")
    printf '\t{ "%s", %s, sizeof(%s) },\n' "$(basename "$file")" "$name" "$name"
done
printf '};\nconst size_t n_embedded_files = sizeof(embedded_files) / sizeof(embedded_files[0]);\n'
