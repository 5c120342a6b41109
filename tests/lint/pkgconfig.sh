#!/bin/sh
# What pkg-config says of runnel builds a module and names the folder where runneld looks for it:
# of an installation, made for the test, and of a build folder that is not installed.
#
# make check runs it in the build folder with srcdir set.
set -eu

builddir=$PWD
example=$(cd "${srcdir:-.}/contrib/examples" && pwd)/hello.c
dir=$(mktemp -d "${TMPDIR:-/tmp}/runnel-pkgconfig.XXXXXX")
trap 'rm -rf "$dir"' EXIT

command -v pkg-config >/dev/null || {
    echo "skipped: pkg-config is not here (Debian: pkgconf)"
    exit 77
}
unset PKG_CONFIG_PATH

status=0
fail() {
    echo "$*"
    status=1
}

# try WHAT: with the pkg-config variables that are set.
try() {
    pkg-config --validate runnel || fail "$1: runnel.pc is not valid"
    version=$(pkg-config --modversion runnel)
    grep -q "^#define PACKAGE_VERSION \"$version\"$" "$builddir/config.h" ||
        fail "$1: version $version is not that of config.h"
    # shellcheck disable=SC2046
    ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -shared -fPIC $(pkg-config --cflags runnel) \
        -o "$dir/hello.so" "$example" || fail "$1: a module does not compile"
}

# As in an installation below $dir: a prefix that the compiler does not search by itself.
make -s install-pkgincludeHEADERS install-pkgconfigDATA DESTDIR="$dir/root" >"$dir/log" 2>&1 ||
    fail "make install failed: $(cat "$dir/log")"
PKG_CONFIG_LIBDIR=$(dirname "$(find "$dir/root" -name runnel.pc)")
PKG_CONFIG_SYSROOT_DIR=$dir/root
PKG_CONFIG_DISABLE_UNINSTALLED=1
export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_DISABLE_UNINSTALLED
try "installed"
unset PKG_CONFIG_SYSROOT_DIR
modules=$(pkg-config --variable=moduledir runnel)
if [ -x runneld ] && ! ./runneld -V | grep -qxF "modules in $modules"; then
    fail "installed: moduledir is $modules, and runneld -V says: $(./runneld -V)"
fi

unset PKG_CONFIG_DISABLE_UNINSTALLED
PKG_CONFIG_LIBDIR=$builddir/src/api
try "not installed"
modules=$(pkg-config --variable=moduledir runnel)
if [ -x runneld ] && [ ! -e "$modules/echo.so" ]; then
    fail "not installed: there is no echo.so in $modules"
fi
exit $status
