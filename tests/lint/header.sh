#!/bin/sh
# The public header compiles in the modules of others: as C11 and as C++17 and C++20, with strict
# warnings as errors, by each compiler that is here. Where the build has runneld, it takes what
# was compiled.
#
# make check runs it in the build folder with srcdir set.
set -eu

api=$(cd "${srcdir:-.}/src/api" && pwd)
builddir=$PWD
dir=$(mktemp -d "${TMPDIR:-/tmp}/runnel-header.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# A module in C: routes with all that the macros offer, a hook with a value to return.
cat >c.c <<'END'
#include <runnel/module.h>

static enum rnl_verdict serve(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	const struct iovec part = { (void *)(uintptr_t)msg->payload, msg->len };

	(void)arg;
	if (msg->len < 4)
		return rnl_malformed(conn, msg, "too short");
	if (rnl_sendv(conn, msg->id, &part, 1) != RNL_OK)
		return RNL_CLOSE;
	return rnl_send(conn, msg->id, msg->payload, msg->len) == RNL_OK ? RNL_DONE : RNL_CLOSE;
}

static enum rnl_decode decode(void *in, size_t len, size_t max, struct rnl_frame *frame, void *arg)
{
	(void)arg;
	frame->payload = in;
	frame->used = len;
	frame->len = len;
	return len > max ? RNL_TOO_LONG : RNL_FRAME;
}

static size_t encode(void *frame, uint32_t id, size_t len, void *arg)
{
	(void)frame;
	(void)id;
	(void)arg;
	return len;
}

static int configure(struct rnl_setup *setup)
{
	const struct rnl_route route = RNL_ON_RANGE(10, 19, serve);
	const struct rnl_framing framing = {
		.size = sizeof(framing), .name = "packet", .decode = decode, .encode = encode
	};

	if (rnl_add_framing(setup, &framing) != RNL_OK)
		return -1;
	if (rnl_option_number(setup, "limit") > 10)
		return rnl_refuse(setup, "limit: at most %d", 10);
	return rnl_add_route(setup, &route) == RNL_OK ? 0 : -1;
}

static const struct rnl_option options[] = {
	{ "limit", RNL_NUMBER, "5", 0, 100, "how much" },
};

static const struct rnl_route routes[] = {
	RNL_ON(1, serve),
	{ 0, UINT32_MAX, serve, NULL, RNL_BEFORE },
	RNL_ON_DEFAULT(serve),
};

RNL_MODULE(.version = "1.0", .options = options, .n_options = 1, .routes = routes,
	   .n_routes = 3, .configure = configure);
END

# The same in C++, as somebody who writes C++ would: fields in the order of the struct.
cat >cxx.cc <<'END'
#include <runnel/module.h>

namespace
{

struct talk {
	unsigned int n_messages = 0;
};

talk *talk_of(const rnl_conn *conn)
{
	return static_cast<talk *>(rnl_data(conn));
}

rnl_decode decode(void *in, size_t len, size_t max, rnl_frame *frame, void *)
{
	frame->payload = in;
	frame->used = frame->len = len;
	return len > max ? RNL_TOO_LONG : RNL_FRAME;
}

size_t encode(void *, uint32_t, size_t len, void *)
{
	return len;
}

int configure(rnl_setup *setup)
{
	rnl_framing framing = rnl_framing();

	framing.size = sizeof(framing);
	framing.name = "packet";
	framing.decode = decode;
	framing.encode = encode;
	if (rnl_add_framing(setup, &framing) != RNL_OK)
		return -1;
	if (rnl_option_number(setup, "limit") > 10)
		return rnl_refuse(setup, "limit: at most %d", 10);
	return 0;
}

void begin(rnl_conn *conn)
{
	rnl_set_data(conn, new talk);
}

void end(rnl_conn *conn)
{
	delete talk_of(conn);
}

rnl_verdict serve(rnl_conn *conn, const rnl_msg *msg, void *)
{
	talk_of(conn)->n_messages++;
	rnl_log(RNL_LOG_DEBUG, "message %u", talk_of(conn)->n_messages);
	return rnl_send(conn, msg->id, msg->payload, msg->len) == RNL_OK ? RNL_DONE : RNL_CLOSE;
}

const rnl_option options[] = {
	{ "limit", RNL_NUMBER, "5", 0, 100, "how much" },
};

const rnl_route routes[] = {
	RNL_ON(1, serve),
	RNL_ON_RANGE(10, 19, serve),
	RNL_ON_DEFAULT(serve),
};

}

RNL_MODULE(.version = "1.0", .options = options, .n_options = 1, .routes = routes,
	   .n_routes = 3, .configure = configure, .open = begin, .close = end);
END

warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wundef -Werror"

# compile COMPILER STANDARD SOURCE: to a module, hidden symbols and all, that runneld takes.
compile() {
    # A compiler may come with its options.
    # shellcheck disable=SC2086
    if ! $1 -std="$2" $warnings -fvisibility=hidden -fPIC -shared "-I$api" -o m.so "$3"; then
        echo "$1 -std=$2: module.h does not compile in $3"
        return 1
    fi
    [ -x "$builddir/runneld" ] || return 0
    printf 'module m { path = "%s/m.so" }\nlisten l { address = "127.0.0.1:0" modules = { m } }\n' \
        "$dir" >m.conf
    "$builddir/runneld" -t -c m.conf || {
        echo "$1 -std=$2: runneld does not take the module of $3"
        return 1
    }
}

status=0
for cc in "${CC:-cc}" clang; do
    command -v "${cc%% *}" >/dev/null || continue
    for std in c11 c17; do
        compile "$cc" $std c.c || status=1
    done
done

n_cxx=0
for cxx in "${CXX:-c++}" clang++; do
    command -v "${cxx%% *}" >/dev/null || continue
    n_cxx=$((n_cxx + 1))
    for std in c++17 c++20; do
        compile "$cxx" $std cxx.cc || status=1
    done
done
if [ $n_cxx -eq 0 ]; then
    echo "skipped: there is no C++ compiler here (Debian: g++)"
    [ $status -eq 0 ] && status=77
fi
exit $status
