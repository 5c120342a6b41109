/*
 * runnel/module.h - what a module of runneld sees. See runnel_module(3).
 *
 * A module is a shared object that defines one RNL_MODULE(...). It links against
 * nothing of runnel: every call goes through a table that the host hands over.
 * A module runs in a worker, a process with one event loop, and all of it runs in
 * the loop's thread, where nothing may block. What has to is given to rnl_work().
 *
 * First come the types, in the order in which a module meets them: what is answered,
 * messages and routes, callbacks, framings, options, and the module itself with its
 * hooks; then the table that calls go through, which no module looks at, and RNL_MODULE;
 * then the calls: setting up, the worker, sending, connections, names, upstreams,
 * timers, blocking work.
 *
 * ABI versions: a module runs on a host of the same major and of the same or a
 * later minor. 1.0 is the first.
 */
#ifndef RUNNEL_MODULE_H
#define RUNNEL_MODULE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RNL_EXPORT __attribute__((visibility("default")))
#define RNL_HIDDEN __attribute__((visibility("hidden")))
#define RNL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define RNL_EXPORT
#define RNL_HIDDEN
#define RNL_PRINTF(fmt, args)
#endif

/*
 * Fields by name are C's; in C++ before 20 they are an extension, and g++ misses those that are
 * left out. The module's author is not to be warned of either.
 */
#if defined(__cplusplus) && defined(__GNUC__)
#define RNL_FIELDS_BEGIN               \
	_Pragma("GCC diagnostic push") \
	    _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"") __extension__
#define RNL_FIELDS_END _Pragma("GCC diagnostic pop")
#else
#define RNL_FIELDS_BEGIN
#define RNL_FIELDS_END
#endif

#define RNL_ABI_MAJOR 1
#define RNL_ABI_MINOR 0

struct ev_loop;     /* of <ev.h> */
struct rnl_conn;    /* one connection; valid from its open hook to the end of its close hook */
struct rnl_setup;   /* the making of a worker; valid during the configure hook */
struct rnl_self;    /* the module as the host knows it */
struct rnl_shared;  /* a message for many connections of this worker */
struct rnl_counter; /* a metric that only grows; see rnl_add_counter */
struct rnl_gauge;   /* one that goes up and down */
struct rnl_timer;   /* a timer that runs; see rnl_start_timer */
struct rnl_host;    /* the host's functions */

/* --- What is answered --- */

/* What comes back from a send and from other calls that can be refused. */
enum rnl_status {
	RNL_OK = 0,
	RNL_EFULL = -1, /* the send queue or the worker's budget is full; nothing was queued */
	RNL_ETOOBIG =
	    -2, /* the message can never fit the queue, the framing, or the max-message of an
		   upstream; nothing was queued */
	RNL_ECLOSED = -3, /* the connection is closing; nothing was queued */
	RNL_ENOMEM = -4,  /* no memory; nothing was queued */
	RNL_EINVAL = -5,  /* an argument breaks a rule, or the framing has no way to say the
			     message; the host has logged which */
	RNL_ENOCONN = -6, /* this worker has no such connection */
};

/* What a handler wants done next. */
enum rnl_verdict {
	RNL_NEXT = 0,  /* go on with the next handler of the chain, if there is one */
	RNL_DONE = 1,  /* the message is dealt with; later handlers do not see it */
	RNL_CLOSE = 2, /* read no more, send what is queued, then close */
	RNL_ABORT = 3, /* close now; what is queued is dropped */
};

enum rnl_level { RNL_LOG_ERROR, RNL_LOG_WARN, RNL_LOG_INFO, RNL_LOG_DEBUG };

/* --- Messages, handlers and routes --- */

/* A message as a handler sees it: borrowed, gone when the handler returns. */
struct rnl_msg {
	size_t size;         /* of this struct */
	const void *payload; /* never NULL; not aligned */
	size_t len;          /* bytes of payload */
	uint32_t id;
	/*
	 * A value for the later handlers of the chain: *scratch is NULL for the first of them,
	 * and then what one of them has put there. What it points to is theirs.
	 */
	void **scratch;
};

/* arg is what the route was made with. */
typedef enum rnl_verdict rnl_handler_f(
    struct rnl_conn *conn, const struct rnl_msg *msg, void *arg);

/*
 * The place of a handler in the chain of an id. All "before" handlers run first,
 * in the order of the listener's modules, then the one handler proper, then all
 * "after" handlers, until one says RNL_DONE or more. RNL_DEFAULT is the handler proper of
 * those ids of its range that no RNL_HANDLE route of the listener has.
 */
enum rnl_stage { RNL_HANDLE = 0, RNL_BEFORE = 1, RNL_AFTER = 2, RNL_DEFAULT = 3 };

/*
 * Ids first to last, both included. Two RNL_HANDLE routes of one listener may not overlap, nor
 * two RNL_DEFAULT routes.
 */
struct rnl_route {
	uint32_t first, last;
	rnl_handler_f *handler;
	void *arg;
	enum rnl_stage stage;
};

/* One id. */
#define RNL_ON(id, handler)                             \
	{                                               \
		(id), (id), (handler), NULL, RNL_HANDLE \
	}
/* A range of ids; RNL_ON_RANGE(0, UINT32_MAX, handler) is every id. */
#define RNL_ON_RANGE(first, last, handler)                   \
	{                                                    \
		(first), (last), (handler), NULL, RNL_HANDLE \
	}
/* Every id that nobody else handles. */
#define RNL_ON_DEFAULT(handler)                             \
	{                                                   \
		0, UINT32_MAX, (handler), NULL, RNL_DEFAULT \
	}

/* --- What the host calls back --- */

/* What is done with each connection; arg is the caller's. */
typedef void rnl_visit_f(struct rnl_conn *conn, void *arg);

/* What is called when conn has ended; arg is what it was added with. See rnl_add_on_close. */
typedef void rnl_closed_f(struct rnl_conn *conn, void *arg);

/* What a timer calls; conn is NULL when it is bound to none. See rnl_start_timer. */
typedef void rnl_timer_f(struct rnl_timer *timer, struct rnl_conn *conn, void *arg);

/* Bytes of the longest key that rnl_bind_here() takes. */
#define RNL_MAX_KEY 255

/* What rnl_work() runs in another thread. It may block, and may call no function of this header.
 */
typedef void rnl_work_f(void *arg);

/* What is done with the result, on the loop. conn may be NULL; see rnl_work(). */
typedef void rnl_done_f(struct rnl_conn *conn, void *arg);

/* --- Framings --- */

/* What a framing finds at the start of the input. */
enum rnl_decode {
	RNL_FRAME = 0,    /* a whole frame; all of *frame is set */
	RNL_CORRUPT = 1,  /* one whose checksum is wrong; used is set, id and len for the log */
	RNL_MORE = 2,     /* the input ends within a frame */
	RNL_TOO_LONG = 3, /* the payload is longer than max_payload; id and len for the log */
	RNL_BAD = 4,      /* the input can be no frame; why is set */
};

/* Zero but for its size when decode is called. */
struct rnl_frame {
	size_t size;         /* of this struct */
	size_t used;         /* bytes of input that the frame takes; at least 1 */
	const void *payload; /* within these bytes */
	size_t len;          /* bytes of payload */
	uint32_t id;
	const char *why; /* for the log; not freed */
};

/*
 * How messages stand on the wire, where no framing of runneld's own is right. See
 * rnl_add_framing().
 */
struct rnl_framing {
	size_t size;      /* of this struct */
	const char *name; /* as listen sections name it: letters, digits, '.', '_' and '-' */

	/*
	 * Say what stands at in, of which len bytes are there, at least 1. It is asked again
	 * from the start of the frame when more has come, and has to say the same however
	 * the input was cut: keep nothing of a connection. A length is compared with
	 * max_payload before anything is added to it. With RNL_FRAME it may have changed the
	 * frame's own bytes, to undo a mask or escapes; otherwise it changes nothing.
	 */
	enum rnl_decode (*decode)(
	    void *in, size_t len, size_t max_payload, struct rnl_frame *frame, void *arg);

	/*
	 * Make a frame of the payload of len bytes that stands at frame + head; it may be
	 * moved. There is room for head + len + tail bytes. Returns the size of the frame,
	 * which begins at frame; 0: the framing has no way to say this, and the send returns
	 * RNL_EINVAL.
	 */
	size_t (*encode)(void *frame, uint32_t id, size_t len, void *arg);

	size_t head, tail;  /* what a frame may have beyond its payload, each at most 64 KiB */
	size_t max_payload; /* a longer one is not given to encode; 0: any */
	void *arg;          /* what both get */
	uint32_t max_id;    /* a greater one is never found, nor given to encode; 0: any */
};

/* --- Options --- */

/* An option that may stand in the module's section of runnel.conf. */
enum rnl_option_type {
	RNL_NUMBER,   /* decimal integer */
	RNL_SIZE,     /* "64k": bytes */
	RNL_DURATION, /* "10s": milliseconds */
	RNL_BOOL,     /* true or false: 1 or 0 */
	RNL_STRING,
};

struct rnl_option {
	const char *name; /* lower case, words joined by hyphens */
	enum rnl_option_type type;
	const char *standard; /* the default, as it would stand in the conf; NULL: the option
				 must be given */
	int64_t min, max; /* of all but RNL_STRING; both 0: any value that is not negative */
	const char *text; /* one line for people */
};

/* --- The module and its hooks --- */

/*
 * A module. All that is not set is NULL. The hooks run in the order they stand
 * here; a worker runs each in its own process.
 */
struct rnl_module {
	size_t size;                   /* of this struct; set by RNL_MODULE */
	uint16_t abi_major, abi_minor; /* set by RNL_MODULE */
	struct rnl_link
	    *link; /* set by RNL_MODULE; filled in by the host before any hook runs */

	const char *version; /* the module's own, for people */
	const struct rnl_option *options;
	size_t n_options;
	const struct rnl_route
	    *routes; /* those that need no option; see rnl_route_add for others */
	size_t n_routes;

	/*
	 * Check the options, make what the handlers need, add routes. Runs in every
	 * worker before it accepts, and in the process that checks the conf, which
	 * ends afterwards: so open no socket and start no watcher here. Returns 0,
	 * or -1 after rnl_refuse().
	 */
	int (*configure)(struct rnl_setup *setup);

	/*
	 * The worker's loop (rnl_loop) is made and nothing is accepted yet: start watchers
	 * here. Returns 0, or -1 after rnl_log(): the worker ends and is not started again.
	 */
	int (*start)(void);

	/*
	 * A connection was accepted on a listener that has this module, or made to an upstream
	 * that has it. It may be sent to, or closed.
	 */
	void (*open)(struct rnl_conn *conn);

	/*
	 * The queue of a connection that had refused a send (RNL_EFULL) has fallen to half.
	 * Once an episode.
	 */
	void (*writable)(struct rnl_conn *conn);

	/*
	 * It is time for a heartbeat (heartbeat-interval), to a client or to an upstream.
	 * RNL_NEXT: the next module of the listener makes it, and after the last the host
	 * sends a message of this id without payload. RNL_DONE: the module has sent what it
	 * wants, if anything.
	 */
	enum rnl_verdict (*heartbeat)(struct rnl_conn *conn, uint32_t id);

	/*
	 * Nothing has come from the peer for heartbeat-timeout, but for silent_ms. RNL_NEXT:
	 * the next module of the listener decides, and after the last the host closes.
	 * RNL_DONE: it stays, and is asked about again after as long a silence.
	 */
	enum rnl_verdict (*silent)(struct rnl_conn *conn, uint32_t silent_ms);

	/*
	 * Exactly once for each open: address, data and names are still valid, a send returns
	 * RNL_ECLOSED.
	 */
	void (*close)(struct rnl_conn *conn);

	/*
	 * Free data that was set by rnl_set_data(): when the connection has ended, after the
	 * close hooks and close callbacks of all modules; when it was handed over, after their
	 * moved hooks; and at once when other data is set. Never called with NULL.
	 */
	void (*free_data)(void *data);

	/*
	 * The worker is to end, and accepts no more: its connections are handed over (see
	 * save), or closed one after the other. Called once, before that begins. Not called
	 * when the worker has to end at once.
	 */
	void (*drain)(void);

	/*
	 * When other workers take over, as in a reload, a connection whose modules all have
	 * save and restore goes on in one of them, and its client notices nothing. It is asked
	 * between two messages, when nothing is queued for the connection: write to state, of
	 * size bytes, what the module has to know of conn, and return how many bytes that is.
	 * size is what the part of a message that has come, and the modules before, leave of
	 * 64 KiB.
	 * -1: not now; the connection stays, to be asked again, and is closed when its time is
	 * over. More than size is taken for that, and logged. Nothing may be sent.
	 */
	ptrdiff_t (*save)(struct rnl_conn *conn, void *state, size_t size);

	/*
	 * conn has been handed over: forget it, and free what is kept for it. Its close hook is
	 * called in the worker that has it at its end.
	 */
	void (*moved)(struct rnl_conn *conn);

	/*
	 * In the other worker, instead of open: state is what save wrote there, with another
	 * build of the module perhaps. In the same worker when the other one has died without
	 * it. Returns 0; -1: the connection cannot go on, which is logged, and is
	 * closed.
	 */
	int (*restore)(struct rnl_conn *conn, const void *state, size_t len);

	/*
	 * The worker has closed every connection and is about to end. After that, in
	 * destructors of static objects and functions of atexit(3), only rnl_log may be called.
	 */
	void (*stop)(void);
};

/* --- How calls reach the host --- */

/*
 * The host's functions. The table only grows at its end. Modules call the
 * inline functions behind it, which say what each does.
 */
struct rnl_host {
	size_t size;
	uint16_t abi_major, abi_minor;
	enum rnl_status (*send)(
	    struct rnl_conn *conn, uint32_t id, const void *payload, size_t len);
	enum rnl_status (*sendv)(
	    struct rnl_conn *conn, uint32_t id, const struct iovec *parts, size_t n_parts);
	enum rnl_status (*reserve)(struct rnl_conn *conn, size_t len, void **payload);
	enum rnl_status (*commit)(struct rnl_conn *conn, uint32_t id, size_t len);
	struct rnl_shared *(*shared_new)(uint32_t id, const void *payload, size_t len);
	enum rnl_status (*send_shared)(struct rnl_conn *conn, struct rnl_shared *shared);
	void (*shared_free)(struct rnl_shared *shared);
	void (*hold)(struct rnl_conn *conn);
	void (*release)(struct rnl_conn *conn);
	void (*pause)(struct rnl_conn *conn);
	void (*resume)(struct rnl_conn *conn);
	void (*close)(struct rnl_conn *conn);
	void (*abort)(struct rnl_conn *conn);
	uint64_t (*conn_id)(const struct rnl_conn *conn);
	struct rnl_conn *(*conn_find)(uint64_t id);
	void (*each)(struct rnl_self *self, rnl_visit_f *visit, void *arg);
	size_t (*count)(struct rnl_self *self);
	const char *(*conn_peer)(const struct rnl_conn *conn);
	const char *(*conn_local)(const struct rnl_conn *conn);
	const char *(*conn_listener)(const struct rnl_conn *conn);
	uint64_t (*conn_age_ms)(const struct rnl_conn *conn);
	uint32_t (*conn_idle_ms)(const struct rnl_conn *conn);
	int (*conn_is_upstream)(const struct rnl_conn *conn);
	void *(*data)(struct rnl_self *self, const struct rnl_conn *conn);
	void (*set_data)(struct rnl_self *self, struct rnl_conn *conn, void *data);
	enum rnl_status (*add_on_close)(struct rnl_self *self, struct rnl_conn *conn,
	    const void *key, rnl_closed_f *call, void *arg);
	void (*remove_on_close)(struct rnl_self *self, struct rnl_conn *conn, const void *key);
	enum rnl_status (*bind_here)(struct rnl_self *self, struct rnl_conn *conn,
	    const void *key, size_t key_len, struct rnl_conn **former);
	struct rnl_conn *(*find_here)(struct rnl_self *self, const void *key, size_t key_len);
	void (*unbind_here)(
	    struct rnl_self *self, struct rnl_conn *conn, const void *key, size_t key_len);
	struct rnl_timer *(*start_timer)(struct rnl_self *self, uint32_t after_ms,
	    uint32_t every_ms, rnl_timer_f *call, void *arg);
	struct rnl_timer *(*start_conn_timer)(struct rnl_self *self, struct rnl_conn *conn,
	    uint32_t after_ms, uint32_t every_ms, rnl_timer_f *call, void *arg);
	void (*stop_timer)(struct rnl_timer *timer);
	int64_t (*option_number)(struct rnl_setup *setup, const char *name);
	const char *(*option_string)(struct rnl_setup *setup, const char *name);
	enum rnl_status (*add_route)(struct rnl_setup *setup, const struct rnl_route *route);
	enum rnl_status (*add_framing)(
	    struct rnl_setup *setup, const struct rnl_framing *framing);
	enum rnl_status (*add_upstream_route)(
	    struct rnl_setup *setup, const struct rnl_route *route);
	int (*upstream_find)(struct rnl_setup *setup, const char *name, size_t *n_addresses);
	size_t (*upstream_max_message)(struct rnl_setup *setup, int upstream);
	const char *(*upstream_framing)(struct rnl_setup *setup, int upstream);
	size_t (*max_message)(struct rnl_setup *setup);
	struct rnl_conn *(*upstream_get)(int upstream, size_t i);
	struct rnl_conn *(*upstream_next)(int upstream);
	enum rnl_status (*add_counter)(struct rnl_setup *setup, const char *name,
	    const char *help, struct rnl_counter **counter);
	enum rnl_status (*add_gauge)(struct rnl_setup *setup, const char *name,
	    const char *help, struct rnl_gauge **gauge);
	void (*add_to_counter)(struct rnl_counter *counter, uint64_t n);
	void (*set_gauge)(struct rnl_gauge *gauge, double level);
	void (*add_to_gauge)(struct rnl_gauge *gauge, double by);
	int (*refuse)(struct rnl_setup *setup, const char *fmt, va_list args) RNL_PRINTF(2, 0);
	void (*malformed)(struct rnl_self *self, struct rnl_conn *conn,
	    const struct rnl_msg *msg, const char *why);
	void (*log)(struct rnl_self *self, enum rnl_level level, const char *fmt, va_list args)
	    RNL_PRINTF(3, 0);
	struct ev_loop *(*loop)(void);
	int (*worker)(void);
	enum rnl_status (*work)(struct rnl_self *self, struct rnl_conn *conn, uint64_t key,
	    rnl_work_f *work, rnl_done_f *done, void *arg);
};

struct rnl_link {
	const struct rnl_host *host;
	struct rnl_self *self;
};

extern RNL_HIDDEN struct rnl_link rnl_link;
extern RNL_EXPORT const struct rnl_module rnl_module;

/*
 * Once in a module, in one of its files, with the fields of struct rnl_module:
 *
 *     RNL_MODULE(.version = "1.0", .routes = routes, .n_routes = 2);
 *
 * C++ wants the fields in the order of the struct. No function below may be called before
 * configure, as from a constructor of a static object: there is nothing behind it yet.
 */
#define RNL_MODULE(...)                                                           \
	RNL_FIELDS_BEGIN                                                          \
	const struct rnl_module rnl_module = { .size = sizeof(struct rnl_module), \
		.abi_major = RNL_ABI_MAJOR,                                       \
		.abi_minor = RNL_ABI_MINOR,                                       \
		.link = &rnl_link,                                                \
		__VA_ARGS__ };                                                    \
	RNL_FIELDS_END                                                            \
	struct rnl_link rnl_link

/* --- Setting up: in the configure hook --- */

/*
 * The value of one of the module's options: a number, bytes, milliseconds, or 0 and 1. An
 * option that is not in the module's table, or is a string, ends the worker: it is a bug.
 */
static inline int64_t rnl_option_number(struct rnl_setup *setup, const char *name)
{
	return rnl_link.host->option_number(setup, name);
}

/* The same for RNL_STRING. Valid as long as the worker. */
static inline const char *rnl_option_string(struct rnl_setup *setup, const char *name)
{
	return rnl_link.host->option_string(setup, name);
}

/*
 * Add a route; the struct is copied. RNL_EINVAL: first is greater than last, or there is no
 * handler.
 */
static inline enum rnl_status rnl_add_route(
    struct rnl_setup *setup, const struct rnl_route *route)
{
	return rnl_link.host->add_route(setup, route);
}

/*
 * The same for messages that come from upstreams that have this module. Those that
 * rnl_add_route() and the module's table tell come from clients only.
 */
static inline enum rnl_status rnl_add_upstream_route(
    struct rnl_setup *setup, const struct rnl_route *route)
{
	return rnl_link.host->add_upstream_route(setup, route);
}

/*
 * In configure: supply a framing to the listeners that have this module; the struct and its name
 * are copied. They use it when their `framing` names it. Both functions are called in workers,
 * for each frame, and may call no function of the host but rnl_log(). What decode answers is
 * checked: a frame of no bytes, of more bytes than there are, with a payload that is not within
 * them, or a frame that goes on beyond max_payload + head + tail bytes ends the connection, and
 * the log says why.
 * RNL_EINVAL: the name is no name, or is taken; a function is missing; head or tail is too large.
 */
static inline enum rnl_status rnl_add_framing(
    struct rnl_setup *setup, const struct rnl_framing *framing)
{
	return rnl_link.host->add_framing(setup, framing);
}

/*
 * The upstream of that name, for rnl_upstream_get() and
 * rnl_upstream_next(), and how many addresses it has. -1:
 * there is no such connect section, or it does not list this module.
 */
static inline int rnl_upstream_find(
    struct rnl_setup *setup, const char *name, size_t *n_addresses)
{
	return rnl_link.host->upstream_find(setup, name, n_addresses);
}

/*
 * The max-message of an upstream's section: the longest payload that comes from there, and that
 * can be sent there. A longer one is RNL_ETOOBIG.
 */
static inline size_t rnl_upstream_max_message(struct rnl_setup *setup, int upstream)
{
	return rnl_link.host->upstream_max_message(setup, upstream);
}

/* The name of its framing, as the conf has it. Valid as long as the worker. */
static inline const char *rnl_upstream_framing(struct rnl_setup *setup, int upstream)
{
	return rnl_link.host->upstream_framing(setup, upstream);
}

/*
 * The longest payload that may come from a client: the greatest max-message of the listen
 * sections that list this module. 0: none does.
 */
static inline size_t rnl_max_message(struct rnl_setup *setup)
{
	return rnl_link.host->max_message(setup);
}

/*
 * In configure: have a counter among the daemon's metrics, as runnel_module_MODULE_NAME for each
 * worker; see METRICS in runnelctl(8). It starts at 0, only grows, and goes on when a worker is
 * replaced, in a reload, and in an upgrade. name: lower case letters, digits and '_', at most
 * 63, the last of them "_total". help: one line for people, at most 127 bytes of
 * UTF-8. Both are copied. RNL_EINVAL: one of them is not so, or the name is taken; the
 * host has logged which. RNL_EFULL: the modules of the conf have 64 metrics already. One that the
 * module did not have when the conf was checked is told from the next reload on.
 */
static inline enum rnl_status rnl_add_counter(
    struct rnl_setup *setup, const char *name, const char *help, struct rnl_counter **counter)
{
	return rnl_link.host->add_counter(setup, name, help, counter);
}

/*
 * The same for a level that goes up and down, whose name does not end in "_total". It is the
 * worker's own, and ends with it: the next one begins at 0.
 */
static inline enum rnl_status rnl_add_gauge(
    struct rnl_setup *setup, const char *name, const char *help, struct rnl_gauge **gauge)
{
	return rnl_link.host->add_gauge(setup, name, help, gauge);
}

/* In configure: say what is wrong, for the operator. Returns -1, for `return rnl_refuse(...)`.
 */
RNL_PRINTF(2, 3)
static inline int rnl_refuse(struct rnl_setup *setup, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	rnl_link.host->refuse(setup, fmt, args);
	va_end(args);
	return -1;
}

/* --- The worker --- */

/* The number of this worker's slot, from 0. */
static inline int rnl_worker(void)
{
	return rnl_link.host->worker();
}

/*
 * The worker's event loop, from the start hook on. Watchers of libev and of libraries that
 * speak it run in it.
 */
static inline struct ev_loop *rnl_loop(void)
{
	return rnl_link.host->loop();
}

/* One line in the daemon's log, with the module's name. */
RNL_PRINTF(2, 3)
static inline void rnl_log(enum rnl_level level, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	rnl_link.host->log(rnl_link.self, level, fmt, args);
	va_end(args);
}

/*
 * Count a message whose payload is not what it should be, and log why, at most once a second.
 * Returns RNL_DONE.
 */
static inline enum rnl_verdict rnl_malformed(
    struct rnl_conn *conn, const struct rnl_msg *msg, const char *why)
{
	rnl_link.host->malformed(rnl_link.self, conn, msg, why);
	return RNL_DONE;
}

/* From configure on. It costs an add to memory of the worker's own. */
static inline void rnl_counter_add(struct rnl_counter *counter, uint64_t n)
{
	rnl_link.host->add_to_counter(counter, n);
}

static inline void rnl_gauge_set(struct rnl_gauge *gauge, double level)
{
	rnl_link.host->set_gauge(gauge, level);
}

/* by may be negative. */
static inline void rnl_gauge_add(struct rnl_gauge *gauge, double by)
{
	rnl_link.host->add_to_gauge(gauge, by);
}

/* --- Sending --- */

/*
 * Queue one whole message for conn, or refuse it whole. The payload is copied. It
 * never blocks and calls no hook; the bytes leave when the handler has returned,
 * or before the loop sleeps. payload may be NULL when len is 0.
 */
static inline enum rnl_status rnl_send(
    struct rnl_conn *conn, uint32_t id, const void *payload, size_t len)
{
	return rnl_link.host->send(conn, id, payload, len);
}

/* The same, with the payload gathered from n_parts parts. */
static inline enum rnl_status rnl_sendv(
    struct rnl_conn *conn, uint32_t id, const struct iovec *parts, size_t n_parts)
{
	return rnl_link.host->sendv(conn, id, parts, n_parts);
}

/*
 * The same without a copy: find room for a payload of len bytes, write it to *payload, which is
 * not aligned, then commit. Nothing may be sent to conn in between, and the handler may not
 * return; a reservation that is not committed is forgotten.
 */
static inline enum rnl_status rnl_reserve(struct rnl_conn *conn, size_t len, void **payload)
{
	return rnl_link.host->reserve(conn, len, payload);
}

/* Queue the reserved message. len is what was reserved, or less. */
static inline enum rnl_status rnl_commit(struct rnl_conn *conn, uint32_t id, size_t len)
{
	return rnl_link.host->commit(conn, id, len);
}

/*
 * A message for many connections of this worker, in one copy. NULL: no memory, or the worker's
 * budget is used up. The module's until rnl_shared_free().
 */
static inline struct rnl_shared *rnl_shared_new(uint32_t id, const void *payload, size_t len)
{
	return rnl_link.host->shared_new(id, payload, len);
}

/* As rnl_send(): the connection's queue holds a reference and a few bytes of bookkeeping. */
static inline enum rnl_status rnl_send_shared(struct rnl_conn *conn, struct rnl_shared *shared)
{
	return rnl_link.host->send_shared(conn, shared);
}

/* The module is done with it; queues that hold it keep it until it is sent. */
static inline void rnl_shared_free(struct rnl_shared *shared)
{
	rnl_link.host->shared_free(shared);
}

/* --- Connections --- */

/*
 * Handle no more messages of conn after the present one, until rnl_resume(). They wait, at last
 * with the peer, and frame-timeout and heartbeat-timeout rest. A second call has no effect.
 */
static inline void rnl_pause(struct rnl_conn *conn)
{
	rnl_link.host->pause(conn);
}

/* Without effect on a connection that is not paused by a module. */
static inline void rnl_resume(struct rnl_conn *conn)
{
	rnl_link.host->resume(conn);
}

/*
 * A reply to conn is owed that will come later, from elsewhere: until rnl_release() was called
 * as often, conn is not closed because its peer has ended its side or because the worker ends,
 * and does not move. Everything else may close it: keep the id meanwhile, and find it again by
 * rnl_conn_find().
 */
static inline void rnl_hold(struct rnl_conn *conn)
{
	rnl_link.host->hold(conn);
}

/* To release what was not held ends the worker: it is a bug. */
static inline void rnl_release(struct rnl_conn *conn)
{
	rnl_link.host->release(conn);
}

/*
 * Read no more from conn, send what is queued, then close. The close hook runs later, from the
 * loop.
 */
static inline void rnl_close(struct rnl_conn *conn)
{
	rnl_link.host->close(conn);
}

/* Close conn without sending what is queued. The close hook runs later, from the loop. */
static inline void rnl_abort(struct rnl_conn *conn)
{
	rnl_link.host->abort(conn);
}

/* Unique over all workers and their replacements while the daemon runs; never 0. */
static inline uint64_t rnl_conn_id(const struct rnl_conn *conn)
{
	return rnl_link.host->conn_id(conn);
}

/* The connection of this worker that has the id, or NULL when it is gone or another worker's.
 */
static inline struct rnl_conn *rnl_conn_find(uint64_t id)
{
	return rnl_link.host->conn_find(id);
}

/*
 * Visit each connection of this worker whose listener has this module, closing ones too, but
 * none to an upstream. The visitor may send, close and abort. NULL visits none, and is logged.
 */
static inline void rnl_each(rnl_visit_f *visit, void *arg)
{
	rnl_link.host->each(rnl_link.self, visit, arg);
}

/* How many rnl_each() would visit. It counts them one by one. */
static inline size_t rnl_count(void)
{
	return rnl_link.host->count(rnl_link.self);
}

/*
 * "192.0.2.1:40000", "[2001:db8::1]:40000", or "unix:/path" of an upstream. Valid until the next
 * call of this function.
 */
static inline const char *rnl_conn_peer(const struct rnl_conn *conn)
{
	return rnl_link.host->conn_peer(conn);
}

/*
 * Our address, in the same form; "unix" of a Unix socket. Asks the kernel. Valid until the next
 * call of this function.
 */
static inline const char *rnl_conn_local(const struct rnl_conn *conn)
{
	return rnl_link.host->conn_local(conn);
}

/* The name of its listen or connect section. */
static inline const char *rnl_conn_listener(const struct rnl_conn *conn)
{
	return rnl_link.host->conn_listener(conn);
}

/* 1: the worker has made it, to an upstream; 0: it was accepted. */
static inline int rnl_conn_is_upstream(const struct rnl_conn *conn)
{
	return rnl_link.host->conn_is_upstream(conn);
}

/* How long ago it was accepted, to a tenth of a second. */
static inline uint64_t rnl_conn_age_ms(const struct rnl_conn *conn)
{
	return rnl_link.host->conn_age_ms(conn);
}

/* How long ago bytes came or went last, when the loop woke. Counts to 49 days. */
static inline uint32_t rnl_conn_idle_ms(const struct rnl_conn *conn)
{
	return rnl_link.host->conn_idle_ms(conn);
}

/*
 * This module's pointer for conn; NULL until set. What it points to is freed by free_data, or
 * where there is no such function by the module, in its close hook.
 */
static inline void *rnl_data(const struct rnl_conn *conn)
{
	return rnl_link.host->data(rnl_link.self, conn);
}

/* Other data that was set before is given to free_data. */
static inline void rnl_set_data(struct rnl_conn *conn, void *data)
{
	rnl_link.host->set_data(rnl_link.self, conn, data);
}

/*
 * Have a function called once when conn has ended: after the close hooks of all modules, with
 * all that is valid there, in the order of the calls of this. key is any pointer of the
 * module's, which is not looked into; what was added under it for conn before is replaced.
 * RNL_ECLOSED: conn has ended. RNL_EINVAL: call is NULL. RNL_ENOMEM.
 */
static inline enum rnl_status rnl_add_on_close(
    struct rnl_conn *conn, const void *key, rnl_closed_f *call, void *arg)
{
	return rnl_link.host->add_on_close(rnl_link.self, conn, key, call, arg);
}

/* Without effect when there is none under the key. */
static inline void rnl_remove_on_close(struct rnl_conn *conn, const void *key)
{
	rnl_link.host->remove_on_close(rnl_link.self, conn, key);
}

/* Hooks of a module that keeps nothing about a connection from one message to the next. */
static inline ptrdiff_t rnl_save_nothing(struct rnl_conn *conn, void *state, size_t size)
{
	(void)conn;
	(void)state;
	(void)size;
	return 0;
}

static inline int rnl_restore_nothing(struct rnl_conn *conn, const void *state, size_t len)
{
	(void)conn;
	(void)state;
	(void)len;
	return 0;
}

/* --- Names in this worker --- */

/*
 * Let a key of this module, key_len bytes (1 to RNL_MAX_KEY), which are copied, lead to conn, in
 * this worker: other workers do not know of it. A key leads to one connection. *former, unless
 * former is NULL, becomes the one that it led to before, which may be closing; NULL: none, or
 * conn. A connection may have many keys, and loses them when it has ended, after its close hooks.
 * RNL_ECLOSED: conn is closing. RNL_EINVAL: no key of such a length. RNL_ENOMEM. Then nothing
 * was changed.
 */
static inline enum rnl_status rnl_bind_here(
    struct rnl_conn *conn, const void *key, size_t key_len, struct rnl_conn **former)
{
	return rnl_link.host->bind_here(rnl_link.self, conn, key, key_len, former);
}

/* The connection of this worker that the key leads to, which may be closing; NULL: none. */
static inline struct rnl_conn *rnl_find_here(const void *key, size_t key_len)
{
	return rnl_link.host->find_here(rnl_link.self, key, key_len);
}

/* Without effect when the key does not lead to conn: a later login may have taken it. */
static inline void rnl_unbind_here(struct rnl_conn *conn, const void *key, size_t key_len)
{
	rnl_link.host->unbind_here(rnl_link.self, conn, key, key_len);
}

/* rnl_send() to whom the key leads in this worker. RNL_ENOCONN: to nobody. */
static inline enum rnl_status rnl_send_here(
    const void *key, size_t key_len, uint32_t id, const void *payload, size_t len)
{
	struct rnl_conn *conn = rnl_find_here(key, key_len);

	return conn != NULL ? rnl_send(conn, id, payload, len) : RNL_ENOCONN;
}

/* --- Upstreams --- */

/*
 * This worker's connection to address i of an upstream, in the order of the conf, from 0. NULL:
 * it is not up. An address or upstream that is not there ends the worker: it is a bug.
 */
static inline struct rnl_conn *rnl_upstream_get(int upstream, size_t i)
{
	return rnl_link.host->upstream_get(upstream, i);
}

/* In turn, the next connection to one of its addresses that is up. NULL: none is. */
static inline struct rnl_conn *rnl_upstream_next(int upstream)
{
	return rnl_link.host->upstream_next(upstream);
}

/* --- Timers --- */

/*
 * Call a function after after_ms, and then every every_ms, or only once when that is 0. Times
 * count from when the loop woke, in milliseconds. The timer is gone, and the pointer no longer
 * good, when it is stopped, when its only call has returned, or after the stop hook. From the
 * start hook on. NULL: no memory; or call is NULL, which is logged.
 */
static inline struct rnl_timer *rnl_start_timer(
    uint32_t after_ms, uint32_t every_ms, rnl_timer_f *call, void *arg)
{
	return rnl_link.host->start_timer(rnl_link.self, after_ms, every_ms, call, arg);
}

/*
 * The same for a connection. The timer is gone also when that has ended, after its close hooks;
 * until then it goes on, also while conn is closing. NULL, too: it has ended.
 */
static inline struct rnl_timer *rnl_start_conn_timer(
    struct rnl_conn *conn, uint32_t after_ms, uint32_t every_ms, rnl_timer_f *call, void *arg)
{
	return rnl_link.host->start_conn_timer(
	    rnl_link.self, conn, after_ms, every_ms, call, arg);
}

/* From anywhere, the timer's own call included. */
static inline void rnl_stop_timer(struct rnl_timer *timer)
{
	rnl_link.host->stop_timer(timer);
}

/* --- Blocking work --- */

/*
 * Have work(arg) called in another thread, where it may block, and then done(conn, arg) on the
 * loop. Jobs of this module with the same key begin one after the other in the order of the
 * calls, each when done of the one before it has returned; the key 0 means no order. With
 * rnl_conn_id(conn) as the key replies keep the order of the requests.
 *
 * done gets conn, or NULL when that has ended, or was NULL. arg is the job's until done is
 * called, exactly once; only a worker that ends without waiting for a job which runs does not
 * call it. done(NULL, arg) is also called, without work, when the worker ends before a thread has
 * begun the job.
 *
 * A connection that the peer or the worker ends stays open for the jobs it has; otherwise it
 * waits for none. From the start hook on. RNL_EFULL: the worker has worker-jobs jobs; RNL_ENOMEM:
 * no memory or no thread; RNL_ECLOSED: the worker is about to end; RNL_EINVAL: work or done is
 * NULL, or called in configure. Nothing is called then, and arg is the caller's still.
 */
static inline enum rnl_status rnl_work(
    struct rnl_conn *conn, uint64_t key, rnl_work_f *work, rnl_done_f *done, void *arg)
{
	return rnl_link.host->work(rnl_link.self, conn, key, work, done, arg);
}

#ifdef __cplusplus
}
#endif

#endif
