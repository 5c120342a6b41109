#include "config.h"

#include <string.h>

#include "base/panic.h"

#include "settings/options.h"
#include "settings/settings.h"

#define KIB INT64_C(1024)
#define MIB (INT64_C(1024) * KIB)
#define GIB (INT64_C(1024) * MIB)
#define SECOND INT64_C(1000)
#define DAY (INT64_C(86400) * SECOND)

#define SIZE_OF(type, field) sizeof(((type *)0)->field)
#define INTO(type, field) .offset = offsetof(type, field), .size = SIZE_OF(type, field)
#define INTO_LIST(type, field)                            \
	.is_list = true, .offset = offsetof(type, field), \
	.count_offset = offsetof(type, n_##field)

#define GLOBAL(field) .section = OPTION_GLOBAL, INTO(struct settings, field)
#define GLOBAL_LIST(field) .section = OPTION_GLOBAL, INTO_LIST(struct settings, field)
#define MODULE(field) .section = OPTION_MODULE, INTO(struct module_settings, field)
#define LISTEN_ONLY(field) .section = OPTION_LISTEN, INTO(struct listen_settings, field)
#define LISTEN_ONLY_LIST(field) \
	.section = OPTION_LISTEN, INTO_LIST(struct listen_settings, field)
#define HTLV_CRC(field) .section = OPTION_HTLV_CRC, INTO(struct listen_settings, htlv_crc.field)
#define LENGTH_FIELD(field) \
	.section = OPTION_LENGTH_FIELD, INTO(struct listen_settings, length_field.field)
#define LINE(field) .section = OPTION_LINE, INTO(struct listen_settings, line.field)
/* Of a connect section as well. */
#define LISTEN(field) .is_shared = true, LISTEN_ONLY(field)
#define LISTEN_LIST(field) .is_shared = true, LISTEN_ONLY_LIST(field)
#define CONNECT(field) .section = OPTION_CONNECT, INTO(struct connect_settings, field)

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define RULE(kind, ...) .rule = { .type = VALUE_##kind, __VA_ARGS__ }
#define RANGE(low, high) .min = (low), .max = (high)
#define TIMEOUT(low) RULE(DURATION, RANGE(low, 30 * DAY))

/* The words of a choice stand in the order of the enum they are kept in. */
const struct option options[] = {
	{ "workers", "auto", "worker processes; auto: one for each CPU it may use",
	    RULE(NUMBER, RANGE(1, SETTINGS_MAX_WORKERS), .words = WORDS("auto")),
	    GLOBAL(workers) },
	{ "worker-cpu-affinity", "none",
	    "CPUs of each worker, in turn; auto: one of its own; none: any",
	    RULE(CPUS, .words = WORDS("auto", "none")), GLOBAL_LIST(worker_cpus) },
	{ "user", "", "user that workers run as when root starts them; empty: who starts them",
	    RULE(TEXT), GLOBAL(user) },
	{ "group", "", "their group; empty: the group of user", RULE(TEXT), GLOBAL(group) },
	{ "core-dumps", "off", "the largest core file of a worker that crashes; off: none",
	    RULE(SIZE, RANGE(1, 1024 * GIB), .words = WORDS("off")), GLOBAL(core_dumps) },
	{ "pid-file", "", "file that holds the master's process id; empty: none",
	    RULE(PATH, .words = WORDS("")), GLOBAL(pid_file) },
	{ "control-socket", "", "Unix socket that takes operators' requests; empty: none",
	    RULE(PATH, .words = WORDS("")), GLOBAL(control_socket) },
	{ "control-group", "", "group whose members may read over it; empty: none", RULE(TEXT),
	    GLOBAL(control_group) },
	{ "metrics-address", "", "where metrics are served over HTTP; empty: nowhere",
	    RULE(ADDRESS, .words = WORDS("")), GLOBAL(metrics_address) },
	{ "metrics-hosts", "", "host names of it that requests may use; empty: none",
	    RULE(TEXT), GLOBAL_LIST(metrics_hosts) },
	{ "metrics-program", HTTP_PROGRAM, "the program that serves it", RULE(PATH),
	    GLOBAL(metrics_program) },
	{ "module-dir", MODULE_DIR, "directory of the modules that are given without path",
	    RULE(PATH), GLOBAL(module_dir) },
	{ "log", "stderr", "where log lines go: stderr, syslog or a file",
	    RULE(PATH, .words = WORDS("stderr", "syslog")), GLOBAL(log) },
	{ "log-level", "info", "the least important lines that are logged",
	    RULE(CHOICE, .words = WORDS("error", "warn", "info", "debug")), GLOBAL(log_level) },
	{ "log-format", "text", "text, or one JSON object a line",
	    RULE(CHOICE, .words = WORDS("text", "json")), GLOBAL(log_format) },
	{ "connection-log", "off",
	    "where lines about connections go: nowhere, to the log, or to a file of their own",
	    RULE(PATH, .words = WORDS("off", "log")), GLOBAL(connection_log) },
	{ "drain-timeout", "30s", "how long a graceful stop waits for connections to end",
	    TIMEOUT(1), GLOBAL(drain_timeout_ms) },
	{ "watchdog-timeout", "10s",
	    "a worker whose loop does not come round for so long is killed; 0: never",
	    TIMEOUT(0), GLOBAL(watchdog_timeout_ms) },
	{ "watchdog-adopt", "2s",
	    "after so long another worker accepts connections for it; 0: never", TIMEOUT(0),
	    GLOBAL(watchdog_adopt_ms) },
	{ "slow-handler", "100ms", "a handler that runs for so long is logged; 0: none is",
	    TIMEOUT(0), GLOBAL(slow_handler_ms) },
	{ "worker-send-memory", "256M", "bytes of all send queues of a worker",
	    RULE(SIZE, RANGE(128, 1024 * GIB)), GLOBAL(worker_send_memory) },
	{ "worker-threads", "4", "threads of a worker for blocking work of modules",
	    RULE(NUMBER, RANGE(1, SETTINGS_MAX_THREADS)), GLOBAL(worker_threads) },
	{ "worker-jobs", "1024", "jobs for them that a worker has at a time",
	    RULE(NUMBER, RANGE(1, MIB)), GLOBAL(worker_jobs) },

	{ "path", "", "the shared object; empty: NAME.so in module-dir", RULE(OBJECT),
	    MODULE(path) },

	{ "address", NULL, "where to listen, one address or a list", RULE(ADDRESS),
	    LISTEN_ONLY_LIST(addresses) },
	{ "framing", "tlv", "how messages stand on the wire",
	    RULE(NAME, .words = WORDS("tlv", "ltv", "htlv-crc", "length-field", "line")),
	    LISTEN(framing) },
	{ "modules", NULL, "modules that handle the messages, in the order of their turn",
	    RULE(NAME), LISTEN_LIST(modules) },
	{ "max-message", "4096", "bytes of the longest payload that is taken",
	    RULE(SIZE, RANGE(1, 64 * MIB)), LISTEN(max_message) },
	{ "max-connections", "auto",
	    "connections over all workers; auto: what descriptors allow",
	    RULE(NUMBER, RANGE(1, 16 * MIB), .words = WORDS("auto")),
	    LISTEN_ONLY(max_connections) },
	{ "send-queue-messages", "1024", "messages that a connection's send queue holds",
	    RULE(NUMBER, RANGE(1, MIB)), LISTEN(send_queue_messages) },
	{ "send-queue-bytes", "1M",
	    "bytes that a connection's send queue holds, bookkeeping included",
	    RULE(SIZE, RANGE(128, GIB)), LISTEN(send_queue_bytes) },
	{ "when-full", "pause", "what happens to a connection whose send queue is full",
	    RULE(CHOICE, .words = WORDS("pause", "refuse", "close")), LISTEN_ONLY(when_full) },
	{ "send-timeout", "10s",
	    "close a connection that takes nothing of its output for so long", TIMEOUT(0),
	    LISTEN(send_timeout_ms) },
	{ "idle-timeout", "0", "close a connection over which nothing came or went for so long",
	    TIMEOUT(0), LISTEN(idle_timeout_ms) },
	{ "heartbeat-interval", "0", "send a heartbeat to each connection this often; 0: none",
	    TIMEOUT(0), LISTEN(heartbeat_interval_ms) },
	{ "heartbeat-timeout", "0", "close a connection whose peer is silent for so long",
	    TIMEOUT(0), LISTEN(heartbeat_timeout_ms) },
	{ "heartbeat-id", "99999", "message id of heartbeats",
	    RULE(NUMBER, RANGE(0, UINT32_MAX)), LISTEN(heartbeat_id) },
	{ "frame-timeout", "30s",
	    "close a connection that does not end a frame it began in time", TIMEOUT(0),
	    LISTEN(frame_timeout_ms) },
	{ "linger-timeout", "2s",
	    "how long a closed connection may take to read its last output", TIMEOUT(0),
	    LISTEN(linger_timeout_ms) },
	{ "tcp-notsent-lowat", "128k",
	    "bytes that the kernel holds unsent before it takes no more; 0: its own limit",
	    RULE(SIZE, RANGE(0, GIB)), LISTEN(tcp_notsent_lowat) },
	{ "tcp-user-timeout", "0",
	    "end a connection whose peer acknowledges nothing for so long; 0: as the kernel "
	    "does",
	    TIMEOUT(0), LISTEN(tcp_user_timeout_ms) },
	{ "socket-send-buffer", "0", "bytes of a socket's send buffer; 0: the kernel fits it",
	    RULE(SIZE, RANGE(0, GIB)), LISTEN(socket_send_buffer) },
	{ "socket-receive-buffer", "0",
	    "bytes of a socket's receive buffer; 0: the kernel fits it",
	    RULE(SIZE, RANGE(0, GIB)), LISTEN(socket_receive_buffer) },
	{ "log-connections", "ended",
	    "lines in connection-log: at the end of connections with traffic, or all",
	    RULE(CHOICE, .words = WORDS("none", "ended", "all")), LISTEN(log_connections) },
	{ "unknown-message", "ignore", "what happens on a message whose id has no handler",
	    RULE(CHOICE, .words = WORDS("ignore", "close")), LISTEN(unknown_message) },
	{ "bad-checksum", "close", "what happens on a message whose checksum is wrong",
	    RULE(CHOICE, .words = WORDS("close", "skip")), LISTEN(bad_checksum) },

	{ "address", NULL, "where to connect to, one address or a list", RULE(TARGET),
	    .section = OPTION_CONNECT, .is_list = true,
	    .offset = offsetof(struct connect_settings, common.addresses),
	    .count_offset = offsetof(struct connect_settings, common.n_addresses) },
	{ "when-full", "refuse", "what happens to a connection whose send queue is full",
	    RULE(CHOICE, .words = WORDS("pause", "refuse", "close")),
	    CONNECT(common.when_full) },
	{ "connect-timeout", "5s", "how long a connection may take to be made", TIMEOUT(1),
	    CONNECT(connect_timeout_ms) },
	{ "reconnect-min", "100ms", "the wait after the first failure to connect; it doubles",
	    TIMEOUT(1), CONNECT(reconnect_min_ms) },
	{ "reconnect-max", "10s", "the longest wait between two attempts to connect",
	    TIMEOUT(1), CONNECT(reconnect_max_ms) },
	{ "tcp-keepalive", "30s",
	    "ask a peer that is silent for so long whether it is there; 0: never", TIMEOUT(0),
	    CONNECT(tcp_keepalive_ms) },

	{ "head", "162", "the first byte of frames that are sent",
	    RULE(NUMBER, RANGE(0, UINT8_MAX)), HTLV_CRC(head) },

	{ "offset", "0", "where the length is in a frame", RULE(NUMBER, RANGE(0, KIB)),
	    LENGTH_FIELD(offset) },
	{ "length", "4", "bytes of the length",
	    RULE(CHOICE, .words = WORDS("1", "2", "3", "4", "8")), LENGTH_FIELD(length) },
	{ "order", "big", "order of the length's bytes",
	    RULE(CHOICE, .words = WORDS("big", "little")), LENGTH_FIELD(order) },
	{ "adjustment", "0", "what the length lacks of the bytes behind it",
	    RULE(NUMBER, RANGE(-64 * KIB, 64 * KIB)), LENGTH_FIELD(adjustment) },
	{ "strip", "0", "bytes at the front of a frame that are not in the payload",
	    RULE(NUMBER, RANGE(0, 2 * KIB)), LENGTH_FIELD(strip) },
	{ "id-offset", "0", "where the id is in a frame", RULE(NUMBER, RANGE(0, KIB)),
	    LENGTH_FIELD(id_offset) },
	{ "id-length", "0", "bytes of the id; 0: it is not in the frame",
	    RULE(NUMBER, RANGE(0, 4)), LENGTH_FIELD(id_length) },
	{ "id-order", "same", "order of the id's bytes; same: that of the length",
	    RULE(CHOICE, .words = WORDS("same", "big", "little")), LENGTH_FIELD(id_order) },
	{ "id", "0", "the id of all messages, where it is not in the frame",
	    RULE(NUMBER, RANGE(0, UINT32_MAX)), LENGTH_FIELD(id) },

	{ "id", "0", "the id of all messages", RULE(NUMBER, RANGE(0, UINT32_MAX)), LINE(id) },
	{ "terminator", "lf", "the end of lines that are sent: LF or CR LF",
	    RULE(CHOICE, .words = WORDS("lf", "crlf")), LINE(terminator) },
};

const size_t n_options = sizeof(options) / sizeof(options[0]);

_Static_assert(offsetof(struct connect_settings, common) == 0,
    "shared options are where a listen section has them");

bool option_is_in(const struct option *option, enum option_section section)
{
	return option->section == section || (section == OPTION_CONNECT && option->is_shared);
}

const struct option *option_find(enum option_section section, const char *name)
{
	for (size_t i = 0; i < n_options; i++) {
		if (option_is_in(&options[i], section) && strcmp(options[i].name, name) == 0)
			return &options[i];
	}
	return NULL;
}

const char *option_section_name(enum option_section section)
{
	static const char *const names[OPTION_N_SECTIONS] = {
		[OPTION_GLOBAL] = "",
		[OPTION_MODULE] = "module",
		[OPTION_LISTEN] = "listen",
		[OPTION_CONNECT] = "connect",
		[OPTION_HTLV_CRC] = "htlv-crc",
		[OPTION_LENGTH_FIELD] = "length-field",
		[OPTION_LINE] = "line",
	};

	return names[section];
}

/* memcpy, because a field's type is known by its size only. */
static void get(const void *base, size_t offset, void *value, size_t size)
{
	memcpy(value, (const char *)base + offset, size);
}

static void set(void *base, size_t offset, const void *value, size_t size)
{
	memcpy((char *)base + offset, value, size);
}

int64_t option_number(const struct option *option, const void *base)
{
	uint64_t wide;
	uint32_t narrow;

	if (option->size == sizeof(wide)) {
		get(base, option->offset, &wide, sizeof(wide));
		return (int64_t)wide;
	}
	get(base, option->offset, &narrow, sizeof(narrow));
	return narrow;
}

const char *option_text(const struct option *option, const void *base)
{
	const char *text;

	get(base, option->offset, &text, sizeof(text));
	return text;
}

char *const *option_list(const struct option *option, const void *base, size_t *n)
{
	char *const *list;

	get(base, option->offset, &list, sizeof(list));
	get(base, option->count_offset, n, sizeof(*n));
	return list;
}

void option_set_number(const struct option *option, void *base, int64_t number)
{
	uint64_t wide = (uint64_t)number;
	uint32_t narrow = (uint32_t)number;

	if (option->size == sizeof(wide)) {
		set(base, option->offset, &wide, sizeof(wide));
		return;
	}
	CHECK(option->size == sizeof(narrow) && number >= 0 && number <= UINT32_MAX);
	set(base, option->offset, &narrow, sizeof(narrow));
}

void option_set_text(const struct option *option, void *base, char *text)
{
	set(base, option->offset, &text, sizeof(text));
}

void option_set_list(const struct option *option, void *base, char **list, size_t n)
{
	set(base, option->offset, &list, sizeof(list));
	set(base, option->count_offset, &n, sizeof(n));
}
