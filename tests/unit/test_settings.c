/*
 * settings: good confs and what they mean, files, and the dump, which must load to
 * the same. Bad confs are in settings_bad.c.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "settings/address.h"
#include "settings/file.h"
#include "settings/options.h"
#include "settings/settings.h"

#include "settings_offer.h"

/* free() */
static char *dump(const struct settings *settings)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(settings_dump(settings, out), STATUS_OK);
	fclose(out);
	return text;
}

/* --- addresses --- */

#define PATH_53 "12345678901234567890123456789012345678901234567890123"
#define PATH_106 PATH_53 PATH_53

START_TEST(address_has_one_spelling)
{
	static const char *const good[][2] = {
		{ "127.0.0.1:8888", "127.0.0.1:8888" },
		{ "0.0.0.0:0", "0.0.0.0:0" },
		{ "255.255.255.255:65535", "255.255.255.255:65535" },
		{ "10.0.0.1:0080", "10.0.0.1:80" },
		{ "[::1]:8888", "[::1]:8888" },
		{ "[0:0:0:0:0:0:0:0]:1", "[::]:1" },
		{ "[2001:DB8::0001]:1", "[2001:db8::1]:1" },
		{ "[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535",
		    "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535" },
		{ "unix:/run/a b:0", "unix:/run/a b:0" },
		{ "unix:/" PATH_106, "unix:/" PATH_106 },
	};

	for (int i = 0; i < N_OF(good); i++) {
		struct sockaddr_storage address, again;
		char buf[ADDRESS_TEXT_SIZE];
		socklen_t len, len_again;

		ck_assert_int_eq(address_parse(good[i][0], &address, &len), STATUS_OK);
		ck_assert_str_eq(address_format(&address, buf), good[i][1]);
		ck_assert_int_eq(address_parse(buf, &again, &len_again), STATUS_OK);
		ck_assert_uint_eq(len, len_again);
		ck_assert_mem_eq(&address, &again, sizeof(address));
	}
}
END_TEST

START_TEST(address_is_refused)
{
	static const char *const bad[] = { "", ":", ":80", "127.0.0.1",
		"127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1: 1",
		"127.0.0.1:1 ", "127.0.0.1:0x10", "127.0.0.1:99999999999999999999", "127.0.0:1",
		"127.0.0.256:1", "localhost:1", "*:1", "::1:80", "[::1]", "[::1]80", "[::1:80",
		"::1]:80", "[]:80", "[127.0.0.1]:80", "[fe80::1%lo]:80", "]:80", "[:80",
		" 127.0.0.1:1", "unix:", "unix:/", "unix:run", "unix:@run", "unix/run",
		"unix:/1" PATH_106,
		"[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535000000000000" };

	for (int i = 0; i < N_OF(bad); i++) {
		struct sockaddr_storage address;
		socklen_t len;

		ck_assert_msg(address_parse(bad[i], &address, &len) == STATUS_INVALID,
		    "'%s' was taken", bad[i]);
	}
}
END_TEST

START_TEST(address_of_another_family_has_a_text)
{
	struct sockaddr_storage address = { .ss_family = AF_NETLINK };
	char buf[ADDRESS_TEXT_SIZE];

	ck_assert_str_eq(address_format(&address, buf), "unknown");
}
END_TEST

/* --- good confs --- */

START_TEST(defaults_are_in_force)
{
	struct settings *settings = load(MAIN C10K);
	const struct listen_settings *listener = &settings->listeners[0];

	ck_assert_ptr_null(settings->pid_file);
	ck_assert_ptr_null(settings->control_socket);
	ck_assert_str_eq(settings->control_group, "");
	ck_assert_str_eq(settings->module_dir, MODULE_DIR);
	ck_assert_str_eq(settings->log, "stderr");
	ck_assert_int_eq(settings->log_level, LOG_LEVEL_INFO);
	ck_assert_int_eq(settings->log_format, LOG_FORMAT_TEXT);
	ck_assert_str_eq(settings->connection_log, "off");
	ck_assert_uint_eq(settings->drain_timeout_ms, 30000);
	ck_assert_uint_eq(settings->worker_send_memory, 256 << 20);
	ck_assert_uint_eq(settings->worker_threads, 4);
	ck_assert_uint_eq(settings->worker_jobs, 1024);
	ck_assert_uint_eq(settings->n_modules, 1);
	ck_assert_str_eq(settings->modules[0].name, "c10k");
	ck_assert_str_eq(settings->modules[0].path, MODULE_DIR "/c10k.so");
	ck_assert_uint_eq(settings->n_listeners, 1);
	ck_assert_str_eq(listener->name, "main");
	ck_assert_uint_eq(listener->n_addresses, 1);
	ck_assert_str_eq(listener->addresses[0], "127.0.0.1:1");
	ck_assert_uint_eq(listener->n_modules, 1);
	ck_assert_str_eq(listener->modules[0], "c10k");
	ck_assert_str_eq(listener->framing, "tlv");
	ck_assert_str_eq(listener->framing_place, "t.conf:1");
	ck_assert_uint_eq(listener->htlv_crc.head, 0xa2);
	ck_assert_uint_eq(listener->length_field.offset, 0);
	ck_assert_uint_eq(settings_length_size(listener->length_field.length), 4);
	ck_assert_int_eq(listener->length_field.order, ORDER_BIG);
	ck_assert_int_eq(listener->length_field.adjustment, 0);
	ck_assert_uint_eq(listener->length_field.strip, 0);
	ck_assert_uint_eq(listener->length_field.id_offset, 0);
	ck_assert_uint_eq(listener->length_field.id_length, 0);
	ck_assert_int_eq(listener->length_field.id_order, ID_ORDER_SAME);
	ck_assert_uint_eq(listener->length_field.id, 0);
	ck_assert_uint_eq(listener->line.id, 0);
	ck_assert_int_eq(listener->line.terminator, TERMINATOR_LF);
	ck_assert_int_eq(listener->bad_checksum, BAD_CHECKSUM_CLOSE);
	ck_assert_int_eq(listener->unknown_message, UNKNOWN_IGNORE);
	ck_assert_int_eq(listener->when_full, WHEN_FULL_PAUSE);
	ck_assert_uint_eq(listener->max_connections, 0);
	ck_assert_uint_eq(listener->max_message, 4096);
	ck_assert_uint_eq(listener->send_queue_messages, 1024);
	ck_assert_uint_eq(listener->send_queue_bytes, 1 << 20);
	ck_assert_uint_eq(listener->send_timeout_ms, 10000);
	ck_assert_uint_eq(listener->idle_timeout_ms, 0);
	ck_assert_uint_eq(listener->heartbeat_interval_ms, 0);
	ck_assert_uint_eq(listener->heartbeat_timeout_ms, 0);
	ck_assert_uint_eq(listener->heartbeat_id, 99999);
	ck_assert_uint_eq(listener->frame_timeout_ms, 30000);
	ck_assert_uint_eq(listener->linger_timeout_ms, 2000);
	ck_assert_ptr_eq(settings_module(settings, "c10k"), &settings->modules[0]);
	ck_assert_ptr_null(settings_module(settings, "echo"));
	settings_destroy(&settings);
	ck_assert_ptr_null(settings);
}
END_TEST

/* Every option with a value that is not its default. */
static const char full[] =
    "workers = 7\nworker-cpu-affinity = { 3, 0-1, \"2,8191\" }\ncore-dumps = 2G\n"
    "user = mail\ngroup = 'our mail'\npid-file = \"/run/r.pid\"\nmodule-dir = "
    "/opt/modules\nlog = /var/log/r.log\n"
    "control-socket = /run/c.sock\ncontrol-group = adm\n"
    "log-level = debug\nlog-format = json\nconnection-log = /var/log/c.log\n"
    "drain-timeout = 5m\nworker-send-memory = 1G\n"
    "worker-threads = 256\nworker-jobs = 1048576\n"
    "module c10k { path = \"/opt/a b/c10k.so\" }\n"
    "module echo { }\n"
    "module game { level = -5 bytes = 1M pause = 1m is-open = false greeting = 'x' realm = r\n"
    "  score = 9223372036854775807 listen = 8 }\n"
    "listen \"a.B_c-9\" {\n"
    "  address = { 127.0.0.1:1, \"[::1]:2\", 0.0.0.0:0, 0.0.0.0:0, }\n"
    "  framing = ltv\n  modules = { echo, game, c10k }\n  max-message = 64M\n"
    "  max-connections = 16777216\n  send-queue-messages = 1048576\n  send-queue-bytes = 1G\n"
    "  when-full = refuse\n  send-timeout = 1s\n  idle-timeout = 30d\n  frame-timeout = 2h\n"
    "  heartbeat-interval = 20s\n  heartbeat-timeout = 1m\n  heartbeat-id = 4294967295\n"
    "  linger-timeout = 0\n  log-connections = all\n  unknown-message = close\n  bad-checksum "
    "= skip\n}\n"
    "listen other { address = [::1]:3 modules = { echo } when-full = close }\n"
    "connect game { address = { 127.0.0.1:1, \"[::1]:2\" } modules = { game }\n"
    "  framing = ltv max-message = 1k send-queue-messages = 9 send-queue-bytes = 64k\n"
    "  when-full = close log-connections = none\n  unknown-message = close send-timeout = 3s "
    "idle-timeout = 4s\n"
    "  connect-timeout = 5ms reconnect-min = 6ms reconnect-max = 7ms tcp-keepalive = 8s\n"
    "}\n";

START_TEST(every_option_of_an_upstream_is_kept)
{
	struct settings *settings = load(full);
	const struct connect_settings *upstream = &settings->upstreams[0];
	const struct listen_settings *common = &upstream->common;

	ck_assert_uint_eq(settings->n_upstreams, 1);
	ck_assert_str_eq(common->name, "game");
	ck_assert_uint_eq(common->n_addresses, 2);
	ck_assert_str_eq(common->addresses[1], "[::1]:2");
	ck_assert_uint_eq(common->n_modules, 1);
	ck_assert_str_eq(common->modules[0], "game");
	ck_assert_str_eq(common->framing, "ltv");
	ck_assert_uint_eq(common->max_message, 1024);
	ck_assert_uint_eq(common->send_queue_messages, 9);
	ck_assert_uint_eq(common->send_queue_bytes, 64 << 10);
	ck_assert_int_eq(common->when_full, WHEN_FULL_CLOSE);
	ck_assert_int_eq(common->log_connections, LOG_CONNECTIONS_NONE);
	ck_assert_int_eq(common->unknown_message, UNKNOWN_CLOSE);
	ck_assert_uint_eq(common->send_timeout_ms, 3000);
	ck_assert_uint_eq(common->idle_timeout_ms, 4000);
	ck_assert_uint_eq(upstream->connect_timeout_ms, 5);
	ck_assert_uint_eq(upstream->reconnect_min_ms, 6);
	ck_assert_uint_eq(upstream->reconnect_max_ms, 7);
	ck_assert_uint_eq(upstream->tcp_keepalive_ms, 8000);
	settings_destroy(&settings);
}
END_TEST

START_TEST(defaults_of_an_upstream_are_in_force)
{
	struct settings *settings =
	    load(MAIN C10K "connect game { address = 127.0.0.1:1 modules = c10k }");
	const struct connect_settings *upstream = &settings->upstreams[0];

	/* Two that pause for each other would wait for ever. */
	ck_assert_int_eq(upstream->common.when_full, WHEN_FULL_REFUSE);
	ck_assert_uint_eq(upstream->common.max_message, 4096);
	ck_assert_uint_eq(upstream->common.linger_timeout_ms, 2000);
	ck_assert_uint_eq(upstream->connect_timeout_ms, 5000);
	ck_assert_uint_eq(upstream->reconnect_min_ms, 100);
	ck_assert_uint_eq(upstream->reconnect_max_ms, 10000);
	ck_assert_uint_eq(upstream->tcp_keepalive_ms, 30000);
	settings_destroy(&settings);
}
END_TEST

START_TEST(every_option_is_kept)
{
	struct settings *settings = load(full);
	const struct listen_settings *listener = &settings->listeners[0];
	const struct module_value *values = settings->modules[2].values;

	ck_assert_uint_eq(settings->workers, 7);
	ck_assert_uint_eq(settings->n_worker_cpus, 3);
	ck_assert_str_eq(settings->worker_cpus[2], "2,8191");
	ck_assert_uint_eq(settings->core_dumps, UINT64_C(2) << 30);
	ck_assert_str_eq(settings->user, "mail");
	ck_assert_str_eq(settings->group, "our mail");
	ck_assert_str_eq(settings->pid_file, "/run/r.pid");
	ck_assert_str_eq(settings->control_socket, "/run/c.sock");
	ck_assert_str_eq(settings->control_group, "adm");
	ck_assert_str_eq(settings->module_dir, "/opt/modules");
	ck_assert_str_eq(settings->log, "/var/log/r.log");
	ck_assert_int_eq(settings->log_level, LOG_LEVEL_DEBUG);
	ck_assert_int_eq(settings->log_format, LOG_FORMAT_JSON);
	ck_assert_str_eq(settings->connection_log, "/var/log/c.log");
	ck_assert_uint_eq(settings->drain_timeout_ms, 300000);
	ck_assert_uint_eq(settings->worker_send_memory, 1 << 30);
	ck_assert_uint_eq(settings->worker_threads, 256);
	ck_assert_uint_eq(settings->worker_jobs, 1 << 20);
	ck_assert_uint_eq(settings->n_modules, 3);
	ck_assert_str_eq(settings->modules[0].path, "/opt/a b/c10k.so");
	ck_assert_str_eq(settings->modules[1].path, "/opt/modules/echo.so");
	ck_assert_uint_eq(settings->n_listeners, 2);
	ck_assert_str_eq(listener->name, "a.B_c-9");
	ck_assert_uint_eq(listener->n_addresses, 4);
	ck_assert_str_eq(listener->addresses[1], "[::1]:2");
	ck_assert_uint_eq(listener->n_modules, 3);
	ck_assert_str_eq(listener->modules[2], "c10k");
	ck_assert_str_eq(listener->framing, "ltv");
	ck_assert_int_eq(listener->bad_checksum, BAD_CHECKSUM_SKIP);
	ck_assert_int_eq(listener->unknown_message, UNKNOWN_CLOSE);
	ck_assert_int_eq(listener->when_full, WHEN_FULL_REFUSE);
	ck_assert_int_eq(settings->listeners[1].when_full, WHEN_FULL_CLOSE);
	ck_assert_uint_eq(listener->max_connections, 16777216);
	ck_assert_uint_eq(listener->max_message, 64 << 20);
	ck_assert_uint_eq(listener->send_queue_messages, 1 << 20);
	ck_assert_uint_eq(listener->send_queue_bytes, 1 << 30);
	ck_assert_uint_eq(listener->send_timeout_ms, 1000);
	ck_assert_uint_eq(listener->idle_timeout_ms, UINT32_C(2592000000));
	ck_assert_uint_eq(listener->heartbeat_interval_ms, 20000);
	ck_assert_uint_eq(listener->heartbeat_timeout_ms, 60000);
	ck_assert_uint_eq(listener->heartbeat_id, UINT32_MAX);
	ck_assert_uint_eq(listener->frame_timeout_ms, 7200000);
	ck_assert_uint_eq(listener->linger_timeout_ms, 0);
	ck_assert_uint_eq(settings->modules[2].n_values, GAME_N_OPTIONS);
	for (int i = 0; i < GAME_N_OPTIONS; i++)
		ck_assert_ptr_eq(values[i].option, &game_options[i]);
	ck_assert_int_eq(values[0].number, -5);
	ck_assert_int_eq(values[1].number, 1 << 20);
	ck_assert_int_eq(values[2].number, 60000);
	ck_assert_int_eq(values[3].number, 0);
	ck_assert_str_eq(values[4].string, "x");
	ck_assert_str_eq(values[5].string, "r");
	ck_assert_int_eq(values[6].number, INT64_MAX);
	ck_assert_int_eq(values[7].number, 8);
	settings_destroy(&settings);
}
END_TEST

START_TEST(module_defaults_are_in_force)
{
	struct settings *settings = load("module game { realm = '' }" C10K MAIN);
	const struct module_value *values = settings->modules[0].values;

	ck_assert_int_eq(values[0].number, 3);
	ck_assert_int_eq(values[1].number, 65536);
	ck_assert_int_eq(values[2].number, 1500);
	ck_assert_int_eq(values[3].number, 1);
	ck_assert_str_eq(values[4].string, "hello");
	ck_assert_str_eq(values[5].string, "");
	settings_destroy(&settings);
}
END_TEST

START_TEST(module_is_looked_up_once_a_section)
{
	struct settings *settings;
	unsigned int n_calls = 0;
	struct reason why;

	ck_assert_int_eq(settings_load("t.conf", C10K "module echo { }" MAIN, offer, &n_calls,
			     &settings, &why),
	    STATUS_OK);
	ck_assert_uint_eq(n_calls, 2);
	settings_destroy(&settings);
}
END_TEST

START_TEST(auto_is_the_cpus_of_this_process)
{
	struct settings *settings;
	cpu_set_t set;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	settings = load(MAIN C10K "workers = auto");
	ck_assert_uint_eq(settings->workers, CPU_COUNT(&set));
	settings_destroy(&settings);
	for (int cpu = 0, left = 1; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set) && left-- <= 0)
			CPU_CLR(cpu, &set);
	}
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	settings = load(MAIN C10K);
	ck_assert_uint_eq(settings->workers, 1);
	settings_destroy(&settings);
}
END_TEST

START_TEST(same_conf_however_it_is_laid_out)
{
	static const char short_one[] =
	    "workers=3 module c10k{}listen main{address=127.0.0.1:1 modules=c10k}";
	static const char remarks[] =
	    "# one\n// two\n/* three\n * four **/ workers /**/= /* 1 */ 3 # 4\n"
	    "module c10k // why\n{ # here\n}\n"
	    "listen /* name */ 'main' { address = { # first\n 127.0.0.1:1, /* last */ }\n"
	    "modules = {\nc10k\n} } # no newline at the end";
	static const char dos[] =
	    "\r\n\tworkers = \"3\"\r\n# dos\r\nmodule \"c10k\" {\r\n}\r\n"
	    "listen \"main\" {\r\naddress = \"127.0.0.1:01\"\r\nmodules = 'c10k'\r\n}\r\n";
	static const char *const layouts[] = { short_one, remarks, dos };
	char *expected = NULL;

	for (int i = 0; i < N_OF(layouts); i++) {
		struct settings *settings = load(layouts[i]);
		char *text = dump(settings);

		if (expected == NULL)
			expected = strdup(text);
		ck_assert_str_eq(text, expected);
		free(text);
		settings_destroy(&settings);
	}
	free(expected);
}
END_TEST

START_TEST(strings_are_read_as_they_are_written)
{
	static const struct {
		const char *written, *read;
	} strings[] = {
		{ "word", "word" },
		{ "a/b.c:d-e_f[g]@h%i~j", "a/b.c:d-e_f[g]@h%i~j" },
		{ "''", "" },
		{ "\"\"", "" },
		{ "\"a # b // c /* d */ { } = , ;\"", "a # b // c /* d */ { } = , ;" },
		{ "'a # b // c /* d */ { } = , ;'", "a # b // c /* d */ { } = , ;" },
		{ "\"\\\"\\\\\\'\\$\\n\\r\\t\\b\\f\\a\\e\\v\"", "\"\\'$\n\r\t\b\f\a\033\v" },
		{ "\"\\1\\12\\123\\377\"", "\1\12\123\377" },
		{ "\"\\x1\\x41f\\xff\\x0A\"", "\1Af\xff\n" },
		{ "'\\'\\\\\\n${HOME}\\x'", "'\\\\n${HOME}\\x" },
		{ "\"gr\xc3\xbc\xc3\x9f\t\"", "gr\xc3\xbc\xc3\x9f\t" },
		{ "\"$ $a $$\"", "$ $a $$" },
		{ "\"<${RUNNEL_TEST}>\"", "<a\"b${X}>" },
		{ "\"<${RUNNEL_UNSET}>\"", "<>" },
		{ "\"<${RUNNEL_UNSET:-as is}>\"", "<as is>" },
		{ "\"<${RUNNEL_TEST:-as is}>\"", "<a\"b${X}>" },
		{ "\"\\${RUNNEL_TEST}\"", "${RUNNEL_TEST}" },
	};

	setenv("RUNNEL_TEST", "a\"b${X}", 1);
	unsetenv("RUNNEL_UNSET");
	for (int i = 0; i < N_OF(strings); i++) {
		struct settings *settings;
		char *text;

		ck_assert_int_gt(
		    asprintf(&text, "module game { realm = %s }" C10K MAIN, strings[i].written),
		    0);
		settings = load(text);
		ck_assert_str_eq(settings->modules[0].values[5].string, strings[i].read);
		settings_destroy(&settings);
		free(text);
	}
}
END_TEST

/* --- files --- */

static char folder[sizeof("/tmp/runnel-settings-XXXXXX")];

static void make_folder(void)
{
	strcpy(folder, "/tmp/runnel-settings-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
	unlink("t.conf");
	ck_assert_int_eq(rmdir(folder), 0);
}

static void write_file(const char *bytes, size_t len)
{
	FILE *file = fopen("t.conf", "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
	fclose(file);
}

static void refuse_file(const char *path, const char *expected)
{
	struct settings *settings;
	struct reason why = { "" };

	ck_assert_int_eq(
	    settings_load(path, NULL, offer, NULL, &settings, &why), STATUS_INVALID);
	ck_assert_str_eq(why.text, expected);
	ck_assert_ptr_null(settings);
}

static void load_file(const char *path)
{
	struct settings *settings;
	struct reason why = { "" };

	ck_assert_msg(settings_load(path, NULL, offer, NULL, &settings, &why) == STATUS_OK,
	    "%s", why.text);
	settings_destroy(&settings);
}

START_TEST(file_is_loaded)
{
	static const char conf[] = MAIN C10K;

	write_file(conf, sizeof(conf) - 1);
	load_file("t.conf");
}
END_TEST

START_TEST(file_that_cannot_be_read_is_refused)
{
	static const char nul[] = "workers = 4\n\n# \0";
	bool is_root = geteuid() == 0;

	refuse_file("t.conf", "cannot open t.conf: No such file or directory");
	refuse_file("/", "cannot read /: Is a directory");
	refuse_file("t.conf/x", "cannot open t.conf/x: No such file or directory");
	write_file(nul, sizeof(nul) - 1);
	refuse_file("t.conf", "t.conf:3: a NUL byte, which no conf has");
	write_file("", 0);
	refuse_file("t.conf", "t.conf: no listen section; add one, see runnel.conf(5)");
	/* Root may read anything. */
	ck_assert_int_eq(chmod("t.conf", 0), 0);
	if (is_root)
		ck_assert_int_eq(seteuid(65534), 0);
	refuse_file("t.conf", "cannot open t.conf: Permission denied");
	if (is_root)
		ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* What an operator reads on stderr while a file is loaded; free(). */
static char *stderr_of_load(const char *path)
{
	int saved = dup(STDERR_FILENO);
	FILE *file = tmpfile();
	char *text = calloc(1, 1024);

	ck_assert(saved >= 0 && file != NULL && text != NULL);
	ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
	load_file(path);
	ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
	close(saved);
	rewind(file);
	ck_assert_uint_lt(fread(text, 1, 1023, file), 1023);
	fclose(file);
	return text;
}

START_TEST(module_that_no_listener_has_is_warned_of)
{
	static const char conf[] = MAIN C10K "\nmodule echo { }";
	char *text;

	write_file(conf, sizeof(conf) - 1);
	text = stderr_of_load("t.conf");
	ck_assert_str_eq(text, "runneld: t.conf:4: module 'echo': no listener has it\n");
	free(text);
	write_file(conf, sizeof(MAIN C10K) - 1);
	text = stderr_of_load("t.conf");
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

/* In module-dir, wherever that stands. */
START_TEST(object_may_be_a_name)
{
	struct settings *settings =
	    load(MAIN "module c10k { path = a.so.1 }\nmodule-dir = /opt/modules\n");

	ck_assert_str_eq(settings->modules[0].path, "/opt/modules/a.so.1");
	settings_destroy(&settings);
}
END_TEST

#define BEATEN_UPSTREAM                                                                \
	"}\nconnect a { address = 127.0.0.1:2 modules = c10k heartbeat-interval = 2s " \
	"heartbeat-timeout = 1s"

/* What a peer that answers heartbeats could not live up to. */
START_TEST(heartbeats_that_come_too_late_are_warned_of)
{
	static const char *const confs[] = {
		"heartbeat-interval = 10s heartbeat-timeout = 10s",
		"heartbeat-interval = 10s heartbeat-timeout = 11s",
		"heartbeat-timeout = 1s",
		BEATEN_UPSTREAM,
	};
	static const char *const places[] = { "1: listen 'main'", NULL, NULL,
		"2: connect 'a'" };

	for (int i = 0; i < N_OF(confs); i++) {
		char conf[256], expected[256] = "";
		char *text;

		if (places[i] != NULL)
			snprintf(expected, sizeof(expected),
			    "runneld: t.conf:%s: heartbeat-timeout is not longer than "
			    "heartbeat-interval: a peer that answers heartbeats is closed "
			    "before it can\n",
			    places[i]);
		snprintf(conf, sizeof(conf),
		    "listen main { address = 127.0.0.1:1 modules = c10k %s }\n" C10K, confs[i]);
		write_file(conf, strlen(conf));
		text = stderr_of_load("t.conf");
		ck_assert_str_eq(text, expected);
		free(text);
	}
}
END_TEST

START_TEST(file_has_a_greatest_length)
{
	static const char conf[] = MAIN C10K;
	char *bytes = malloc(FILE_MAX_BYTES + 1);

	ck_assert_ptr_nonnull(bytes);
	memset(bytes, '\n', FILE_MAX_BYTES + 1);
	memcpy(bytes, conf, sizeof(conf) - 1);
	write_file(bytes, FILE_MAX_BYTES);
	load_file("t.conf");
	write_file(bytes, FILE_MAX_BYTES + 1);
	refuse_file("t.conf", "t.conf: longer than 1048576 bytes, which no conf is");
	free(bytes);
}
END_TEST

START_TEST(pipe_is_loaded)
{
	static const char conf[] = MAIN C10K;
	char path[32];
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(write(fds[1], conf, sizeof(conf) - 1), sizeof(conf) - 1);
	close(fds[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	load_file(path);
	close(fds[0]);
}
END_TEST

/* --- the dump --- */

/* Returns what it dumps to, with modules' code and, in *bare, without; free() both. */
static char *dump_of_text(const char *conf, char **bare)
{
	struct settings *settings = load(conf);
	char *text = dump(settings);
	struct reason why;

	settings_destroy(&settings);
	ck_assert_int_eq(settings_load("dump", text, NULL, NULL, &settings, &why), STATUS_OK);
	*bare = dump(settings);
	settings_destroy(&settings);
	return text;
}

START_TEST(dump_loads_to_the_same)
{
	static const char *const confs[] = { MAIN C10K, full, settings_of_framings,
		"module game { realm = \"\\\"\\\\'${HOME}\\$ \\n\\t\\r\\x01\\x7f\\xff#{}=,\" "
		"greeting = '\"'} module c10k { path = '/ \"${A}\\\\' } " MAIN };

	for (int i = 0; i < N_OF(confs); i++) {
		char *bare, *bare_again;
		char *text = dump_of_text(confs[i], &bare);
		char *again = dump_of_text(text, &bare_again);

		ck_assert_str_eq(text, again);
		ck_assert_str_eq(bare, bare_again);
		free(bare_again);
		free(again);
		free(bare);
		free(text);
	}
}
END_TEST

START_TEST(dump_keeps_strings)
{
	static const char odd[] = "\"\\'${HOME}$ \n\t\r\b\f\a\033\v\1\177\377 # { } = ,";
	struct settings *settings = load("module game { realm = x } " C10K MAIN);
	char *text;

	free(settings->modules[0].values[5].string);
	settings->modules[0].values[5].string = strdup(odd);
	text = dump(settings);
	settings_destroy(&settings);
	settings = load(text);
	ck_assert_str_eq(settings->modules[0].values[5].string, odd);
	settings_destroy(&settings);
	free(text);
}
END_TEST

START_TEST(dump_shows_every_option)
{
	struct settings *settings =
	    load("workers = 3\n" C10K "module game { realm = r }\n" MAIN);
	char *text = dump(settings);

	ck_assert_str_eq(text, "workers = 3\n"
			       "worker-cpu-affinity = { \"none\" }\n"
			       "user = \"\"\n"
			       "group = \"\"\n"
			       "core-dumps = off\n"
			       "pid-file = \"\"\n"
			       "control-socket = \"\"\n"
			       "control-group = \"\"\n"
			       "metrics-address = \"\"\n"
			       "metrics-hosts = { \"\" }\n"
			       "metrics-program = \"" HTTP_PROGRAM "\"\n"
			       "module-dir = \"" MODULE_DIR "\"\n"
			       "log = \"stderr\"\n"
			       "log-level = info\n"
			       "log-format = text\n"
			       "connection-log = \"off\"\n"
			       "drain-timeout = 30s\n"
			       "watchdog-timeout = 10s\n"
			       "watchdog-adopt = 2s\n"
			       "slow-handler = 100ms\n"
			       "worker-send-memory = 256M\n"
			       "worker-threads = 4\n"
			       "worker-jobs = 1024\n"
			       "\n"
			       "module \"c10k\" {\n"
			       "\tpath = \"" MODULE_DIR "/c10k.so\"\n"
			       "}\n"
			       "\n"
			       "module \"game\" {\n"
			       "\tpath = \"" MODULE_DIR "/game.so\"\n"
			       "\tlevel = 3\n"
			       "\tbytes = 64k\n"
			       "\tpause = 1500ms\n"
			       "\tis-open = true\n"
			       "\tgreeting = \"hello\"\n"
			       "\trealm = \"r\"\n"
			       "\tscore = 0\n"
			       "\tlisten = 0\n"
			       "}\n"
			       "\n"
			       "listen \"main\" {\n"
			       "\taddress = { \"127.0.0.1:1\" }\n"
			       "\tframing = \"tlv\"\n"
			       "\tmodules = { \"c10k\" }\n"
			       "\tmax-message = 4k\n"
			       "\tmax-connections = auto\n"
			       "\tsend-queue-messages = 1024\n"
			       "\tsend-queue-bytes = 1M\n"
			       "\twhen-full = pause\n"
			       "\tsend-timeout = 10s\n"
			       "\tidle-timeout = 0\n"
			       "\theartbeat-interval = 0\n"
			       "\theartbeat-timeout = 0\n"
			       "\theartbeat-id = 99999\n"
			       "\tframe-timeout = 30s\n"
			       "\tlinger-timeout = 2s\n"
			       "\ttcp-notsent-lowat = 128k\n"
			       "\ttcp-user-timeout = 0\n"
			       "\tsocket-send-buffer = 0\n"
			       "\tsocket-receive-buffer = 0\n"
			       "\tlog-connections = ended\n"
			       "\tunknown-message = ignore\n"
			       "\tbad-checksum = close\n"
			       "}\n");
	free(text);
	settings_destroy(&settings);
}
END_TEST

START_TEST(dump_shows_the_section_of_the_framing)
{
	struct settings *settings = load(
	    C10K "listen main { address = 127.0.0.1:1 modules = c10k framing = length-field "
		 "length-field { length = 2 adjustment = -2 } }");
	char *text = dump(settings), *section = strstr(text, "\tlength-field {\n");

	ck_assert_ptr_nonnull(section);
	ck_assert_str_eq(section, "\tlength-field {\n"
				  "\t\toffset = 0\n"
				  "\t\tlength = 2\n"
				  "\t\torder = big\n"
				  "\t\tadjustment = -2\n"
				  "\t\tstrip = 0\n"
				  "\t\tid-offset = 0\n"
				  "\t\tid-length = 0\n"
				  "\t\tid-order = same\n"
				  "\t\tid = 0\n"
				  "\t}\n"
				  "}\n");
	free(text);
	settings_destroy(&settings);
}
END_TEST

START_TEST(dump_tells_that_it_cannot_be_written)
{
	struct settings *settings = load(MAIN C10K);
	FILE *out = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(settings_dump(settings, out), STATUS_ERRNO);
	ck_assert_int_eq(errno, ENOSPC);
	fclose(out);
	settings_destroy(&settings);
}
END_TEST

START_TEST(text_without_finder_passes_over_modules_options)
{
	struct reason why = { "" };
	struct settings *settings;

	ck_assert_int_eq(settings_load("t.conf", MAIN "module c10k { any = { 1, 2 } }", NULL,
			     NULL, &settings, &why),
	    STATUS_OK);
	ck_assert_uint_eq(settings->modules[0].n_values, 0);
	settings_destroy(&settings);
}
END_TEST

/* --- the sample --- */

/* In srcdir/conf, which `make check` names; free(). */
static char *read_sample(const char *name)
{
	const char *srcdir = getenv("srcdir");
	struct reason why = { "" };
	char *path, *text;

	ck_assert_int_gt(asprintf(&path, "%s/conf/%s", srcdir != NULL ? srcdir : ".", name), 0);
	ck_assert_msg(file_read(path, &text, &why) == STATUS_OK, "%s", why.text);
	free(path);
	return text;
}

START_TEST(sample_works_as_it_stands)
{
	char *sample = read_sample("runnel.conf");
	struct settings *settings = load(sample);

	ck_assert_uint_eq(settings->n_listeners, 1);
	ck_assert_str_eq(settings->listeners[0].addresses[0], "127.0.0.1:8888");
	settings_destroy(&settings);
	free(sample);
	sample = read_sample("minimal.conf");
	settings = load(sample);
	ck_assert_str_eq(settings->listeners[0].addresses[0], "127.0.0.1:8888");
	settings_destroy(&settings);
	free(sample);
}
END_TEST

/* What is commented out is "#" without a blank, and in force when the "#" is gone. */
START_TEST(sample_works_with_all_that_it_shows)
{
	char *sample = read_sample("runnel.conf");
	struct settings *settings;

	for (char *at = sample; *at != '\0'; at++) {
		if (at[0] == '#' && at[1] != ' ' && at[1] != '\n')
			*at = ' ';
	}
	settings = load(sample);
	ck_assert_uint_eq(settings->n_listeners, 5);
	ck_assert_str_eq(settings->listeners[1].name, "echo");
	ck_assert_str_eq(settings->listeners[1].addresses[0], "127.0.0.1:8889");
	settings_destroy(&settings);
	free(sample);
}
END_TEST

/* --- below --- */

START_TEST(table_is_in_order)
{
	for (size_t i = 0; i < n_options; i++) {
		const struct option *option = &options[i];

		ck_assert_ptr_eq(option_find(option->section, option->name), option);
		ck_assert_int_eq(option->is_list, option->count_offset != 0);
		ck_assert(!option->is_list || value_is_text(option->rule.type));
		ck_assert(value_is_text(option->rule.type) ||
			  option->size == sizeof(uint32_t) || option->size == sizeof(uint64_t));
		ck_assert_uint_gt(strlen(option->text), 0);
	}
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
	TCase *made = tcase_create(name);

	suite_add_tcase(suite, made);
	return made;
}

static void add_good(Suite *suite)
{
	TCase *good = add_case(suite, "good");

	tcase_add_test(good, defaults_are_in_force);
	tcase_add_test(good, every_option_is_kept);
	tcase_add_test(good, every_option_of_an_upstream_is_kept);
	tcase_add_test(good, defaults_of_an_upstream_are_in_force);
	tcase_add_test(good, module_defaults_are_in_force);
	tcase_add_test(good, module_is_looked_up_once_a_section);
	tcase_add_test(good, auto_is_the_cpus_of_this_process);
	tcase_add_test(good, same_conf_however_it_is_laid_out);
	tcase_add_test(good, strings_are_read_as_they_are_written);
	tcase_add_test(good, sample_works_as_it_stands);
	tcase_add_test(good, sample_works_with_all_that_it_shows);
}

int main(void)
{
	Suite *suite = suite_create("settings");
	TCase *below = add_case(suite, "below"), *file, *dumps;
	SRunner *runner;
	int n_failed;

	tcase_add_test(below, address_has_one_spelling);
	tcase_add_test(below, address_is_refused);
	tcase_add_test(below, address_of_another_family_has_a_text);
	tcase_add_test(below, table_is_in_order);
	add_good(suite);
	suite_add_tcase(suite, settings_bad_case());
	suite_add_tcase(suite, settings_framings_case());
	suite_add_tcase(suite, settings_marks_case());
	suite_add_tcase(suite, settings_peek_case());
	suite_add_tcase(suite, settings_cpus_case());
	file = add_case(suite, "file");
	tcase_add_checked_fixture(file, make_folder, remove_folder);
	tcase_add_test(file, file_is_loaded);
	tcase_add_test(file, file_that_cannot_be_read_is_refused);
	tcase_add_test(file, module_that_no_listener_has_is_warned_of);
	tcase_add_test(file, object_may_be_a_name);
	tcase_add_test(file, heartbeats_that_come_too_late_are_warned_of);
	tcase_add_test(file, file_has_a_greatest_length);
	tcase_add_test(file, pipe_is_loaded);
	dumps = add_case(suite, "dump");
	tcase_add_test(dumps, dump_loads_to_the_same);
	tcase_add_test(dumps, dump_keeps_strings);
	tcase_add_test(dumps, dump_shows_every_option);
	tcase_add_test(dumps, dump_shows_the_section_of_the_framing);
	tcase_add_test(dumps, dump_tells_that_it_cannot_be_written);
	tcase_add_test(dumps, text_without_finder_passes_over_modules_options);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
