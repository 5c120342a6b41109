/*
 * What the conf says. Options live in one table (options.h); this file is what
 * the other rooms read: plain values, checked, with every default filled in.
 *
 * The conf is read where code of modules may be loaded (the checker, a process
 * of its own), and written out again in full as normalised text. The master
 * keeps that text: it is what the generation runs on, so a worker that is
 * started again later sees the conf of its generation and not the file of today.
 */
#ifndef RUNNEL_SETTINGS_SETTINGS_H
#define RUNNEL_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/log.h"
#include "base/status.h"

struct rnl_option;

#define SETTINGS_MAX_LISTENERS 64
#define SETTINGS_MAX_UPSTREAMS 64
#define SETTINGS_MAX_WORKERS 256
#define SETTINGS_MAX_THREADS 256

enum byte_order { ORDER_BIG, ORDER_LITTLE };
enum id_order { ID_ORDER_SAME, ID_ORDER_BIG, ID_ORDER_LITTLE };
enum terminator { TERMINATOR_LF, TERMINATOR_CRLF };

/* The bytes of a length, in the order of the option's words. */
enum length_size { LENGTH_SIZE_1, LENGTH_SIZE_2, LENGTH_SIZE_3, LENGTH_SIZE_4, LENGTH_SIZE_8 };

enum bad_checksum { BAD_CHECKSUM_CLOSE, BAD_CHECKSUM_SKIP };
enum unknown_message { UNKNOWN_IGNORE, UNKNOWN_CLOSE };
enum log_connections { LOG_CONNECTIONS_NONE, LOG_CONNECTIONS_ENDED, LOG_CONNECTIONS_ALL };
enum when_full { WHEN_FULL_PAUSE, WHEN_FULL_REFUSE, WHEN_FULL_CLOSE };

struct htlv_crc_settings {
	uint32_t head;
};

/* See src/wire/length_field.h. */
struct length_field_settings {
	uint32_t offset;
	enum length_size length;
	enum byte_order order;
	int64_t adjustment;
	uint32_t strip;
	uint32_t id_offset;
	uint32_t id_length;
	enum id_order id_order;
	uint32_t id;
};

struct line_settings {
	uint32_t id;
	enum terminator terminator;
};

struct listen_settings {
	char *name;
	char **addresses; /* "127.0.0.1:8888", "[::1]:8888"; at least one */
	size_t n_addresses;
	char **modules; /* names of module sections; at least one */
	size_t n_modules;
	char *framing;         /* a name that may be a module's framing */
	char *framing_place;   /* "path:line" of that, for those who know the modules */
	char *heartbeat_place; /* of heartbeat-id, or of heartbeat-interval, likewise */
	struct htlv_crc_settings
	    htlv_crc; /* of the framing that is called so; likewise below */
	struct length_field_settings length_field;
	struct line_settings line;
	enum unknown_message unknown_message;
	enum bad_checksum bad_checksum;
	enum when_full when_full;
	enum log_connections log_connections;
	uint32_t max_connections; /* over all workers; 0: auto */
	uint32_t max_message;     /* bytes of payload */
	uint32_t send_queue_messages;
	uint32_t send_queue_bytes;
	uint32_t send_timeout_ms; /* 0: none; likewise below */
	uint32_t idle_timeout_ms;
	uint32_t frame_timeout_ms;
	uint32_t linger_timeout_ms;
	uint32_t heartbeat_interval_ms;
	uint32_t heartbeat_timeout_ms;
	uint32_t heartbeat_id; /* of messages that say nothing else */
	uint32_t
	    tcp_notsent_lowat; /* bytes; 0: what the kernel does by itself; likewise below */
	uint32_t tcp_user_timeout_ms;
	uint32_t socket_send_buffer;
	uint32_t socket_receive_buffer;
};

/* Is there a message id for heartbeats? */
static inline bool listen_has_heartbeat(const struct listen_settings *listener)
{
	return (listener->heartbeat_interval_ms | listener->heartbeat_timeout_ms) != 0;
}
/* A connect section: where to connect to, and what holds of a connection once it is up. */
struct connect_settings {
	/* The addresses are the backends'; max_connections has no meaning. */
	struct listen_settings common;
	uint32_t connect_timeout_ms;
	uint32_t reconnect_min_ms, reconnect_max_ms; /* of the back-off */
	uint32_t tcp_keepalive_ms;                   /* 0: none */
};

/* The value of a module's own option. */
struct module_value {
	const struct rnl_option *option; /* borrowed from the module */
	int64_t number;                  /* of all but strings */
	char *string;
};

struct module_settings {
	char *name; /* the section's title */
	char *path; /* of the shared object: `path`, or name.so in module-dir */
	struct module_value *values; /* one for each option of the module, in its order */
	size_t n_values;
};

struct settings {
	uint32_t workers; /* at least 1; "auto" is resolved to the number of CPUs this process
			     may use */
	char **
	    worker_cpus; /* sets (cpus.h) that workers take in turn, or only "auto" or "none" */
	size_t n_worker_cpus;
	char *user;            /* empty: whoever starts the daemon */
	char *group;           /* empty: that of user */
	uint64_t core_dumps;   /* bytes; 0: none */
	char *pid_file;        /* NULL: none */
	char *control_socket;  /* NULL: none */
	char *control_group;   /* empty: none */
	char *metrics_address; /* empty: none */
	char **metrics_hosts;  /* names, or only an empty one */
	size_t n_metrics_hosts;
	char *metrics_program;
	char *module_dir;
	char *log;
	enum log_level log_level;
	enum log_format log_format;
	char *connection_log; /* "off", "log" or a path */
	uint32_t drain_timeout_ms;
	uint32_t watchdog_timeout_ms; /* 0: none; likewise below */
	uint32_t watchdog_adopt_ms;
	uint32_t slow_handler_ms;
	uint64_t worker_send_memory;     /* bytes of all send queues of a worker */
	uint32_t worker_threads;         /* most that a worker starts for jobs of modules */
	uint32_t worker_jobs;            /* jobs that a worker has at a time, at most */
	struct module_settings *modules; /* in the conf's order */
	size_t n_modules;
	struct listen_settings *listeners;
	size_t n_listeners;
	struct connect_settings *upstreams;
	size_t n_upstreams;
};

/*
 * Find the option table of a module: called once a module section, before the
 * sections' options are read. On failure fill in why, without file and line.
 */
typedef enum status settings_find_f(const struct module_settings *module,
    const struct rnl_option **options, size_t *n_options, struct reason *why, void *arg);

/*
 * Read a conf file, or text when it is not NULL (path is then only what errors
 * call it). With find, modules' options are checked strictly; with find NULL,
 * which only normalised text is fit for, they are passed over.
 * STATUS_INVALID: *why is "path:line: section: key: what" as far as it is known.
 * On success *settings is the caller's: settings_destroy(). While find is called it is there
 * already, with the options outside of sections. What depends on the machine, such as users, is
 * checked only of a file.
 */
enum status settings_load(const char *path, const char *text, settings_find_f *find, void *arg,
    struct settings **settings, struct reason *why) MUST_CHECK;

/*
 * The normalised conf: every option, in the table's order, with what is in force. It loads to
 * equal settings.
 */
enum status settings_dump(const struct settings *settings, FILE *out) MUST_CHECK;

/* How many bytes a length has. */
uint32_t settings_length_size(enum length_size size);

/* What `workers = auto` stands for: the CPUs that this process may use. */
uint32_t settings_auto_workers(void);

/* NULL: no such module section. Borrowed. */
const struct module_settings *settings_module(
    const struct settings *settings, const char *name);

/* Frees all and sets the pointer to NULL. */
void settings_destroy(struct settings **settings);

#endif
